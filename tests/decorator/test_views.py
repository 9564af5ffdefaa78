"""Ordinary code over what dicts show of themselves."""

from __future__ import annotations

import math
from collections import Counter, OrderedDict
from typing import Any

import pytest

from hastega_magic import hastega
from hastega_magic.compiler.fastpath import operands, profitability

N = 3000


def squares(d: Any) -> Any:
    return sum(v * v for v in d.values())


def chosen(d: Any) -> Any:
    return [v * 2 + 1 for v in d.values() if v % 3]


def odd(d: Any) -> Any:
    return sum(k for k in d.keys() if k % 2)  # noqa: SIM118 -- as it is written


def beside(d: Any) -> Any:
    return [k - v for k, v in zip(d, d.values())]  # noqa: B905


def both(d: Any) -> Any:
    return [k * v for k, v in d.items()]


def numbered(d: Any) -> Any:
    return [i * v for i, v in enumerate(d.values())]


def backwards(d: Any) -> Any:
    return [v + 1 for v in reversed(d.values())]


def negative(d: Any) -> Any:
    return any(v < 0 for v in d.values())


FUNCTIONS = [squares, chosen, odd, beside, both, numbered, backwards, negative]


class Odd(dict[Any, Any]):
    def values(self) -> Any:
        return [1, 2, 3] * 200

    def __iter__(self) -> Any:
        return iter([5] * 300)


DICTS: dict[str, Any] = {
    "ints": {i: i + 1 for i in range(N)},
    "floats": {i: i / 2 for i in range(N)},
    "texts": {str(i): i for i in range(N)},
    "kinds": {i: i if i % 2 else i / 2 for i in range(N)},
    "of a class": Odd((i, i) for i in range(N)),
    "ordered": OrderedDict((i, -i) for i in range(N)),
    "counted": Counter({i: i % 7 for i in range(N)}),
    "large": dict.fromkeys(range(N), 2**70),
    "none": dict.fromkeys(range(N)),
    "few": {1: 2},
    "nothing": {},
}


def outcome(function: Any, given: Any) -> Any:
    try:
        found = function(given)
    except Exception as error:
        return type(error), str(error)
    return type(found), repr(found)


@pytest.mark.parametrize("name", DICTS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_results_are_pythons(function: Any, name: str) -> None:
    decorated = hastega(function)
    for _ in range(3):
        assert outcome(decorated, DICTS[name]) == outcome(function, DICTS[name])


@pytest.mark.parametrize("function", [squares, chosen, odd, numbered, backwards, negative])
def test_it_is_one_loop(function: Any) -> None:
    decorated: Any = hastega(on="simd")(function)
    given = {i: i + 1 for i in range(N)}
    decorated(given)
    assert "1 fused loop" in str(decorated.explain())
    given[7] = 10**6
    assert decorated(given) == function(given)


def test_where_python_is_taken_no_list_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    listed = operands._listed
    monkeypatch.setattr(operands, "_listed", lambda view: made.append(view) or listed(view))
    monkeypatch.setattr(profitability, "_SHORT", math.inf)

    def positive(d: Any) -> Any:
        return any(v > 0 for v in d.values())

    decorated = hastega(positive)
    given = dict.fromkeys(range(20_000), 1)
    for _ in range(6):
        assert decorated(given)
    made.clear()
    for _ in range(3):
        assert decorated(given)
    assert not made
