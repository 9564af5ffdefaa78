"""`zip(xs, ys, strict=True)` in ordinary code: compiled where the lengths are one, Python's error where they differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hastega_magic import hastega


def products(xs: Any, ys: Any) -> Any:
    return [x * y for x, y in zip(xs, ys, strict=True)]


def dot(xs: Any, ys: Any) -> Any:
    return sum(x * y for x, y in zip(xs, ys, strict=True))


def alike(xs: Any, ys: Any) -> Any:
    return all(x + 1 > y for x, y in zip(xs, ys, strict=True))


def numbered(xs: Any, ys: Any) -> Any:
    return sum(n * x - y for n, (x, y) in enumerate(zip(xs, ys, strict=True)))


def whole(xs: Any, ys: Any) -> Any:
    return {t[0] - t[1] for t in zip(xs, ys, strict=True) if t[0] > 3}


def shortest(xs: Any, ys: Any) -> Any:
    return [x * y for x, y in zip(xs, ys, strict=False)]


FUNCTIONS = [products, dot, alike, numbered, whole, shortest]
SOURCES = {
    "lists": (list(range(900)), [x / 4 for x in range(900)]),
    "arrays": (np.arange(900), np.arange(900) * 3),
    "a range": (range(900), list(range(900))),
}


def outcome(function: Any, *given: Any) -> Any:
    try:
        found = function(*given)
    except ValueError as error:
        return type(error), str(error)
    return found, type(found)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("given", SOURCES.values(), ids=SOURCES)
def test_of_one_length_it_is_compiled(function: Any, given: Any) -> None:
    decorated = hastega(function)
    for _ in range(3):
        assert outcome(decorated, *given) == outcome(function, *given)
    if function is not whole or given is not SOURCES["arrays"]:
        assert "1 fused loop" in str(decorated.explain())


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("given", SOURCES.values(), ids=SOURCES)
def test_of_others_python_raises(function: Any, given: Any) -> None:
    decorated, (xs, ys) = hastega(function), given
    for pair in ((xs, ys), (xs[:-1], ys), (xs, ys), (xs, ys[:-2]), (xs[:5], ys[:4]), (xs, ys)):
        assert outcome(decorated, *pair) == outcome(function, *pair)
    assert outcome(decorated, xs, iter(ys)) == outcome(function, xs, iter(ys))
    assert outcome(decorated, xs, iter(ys[1:])) == outcome(function, xs, iter(ys[1:]))
    if function not in (shortest, alike):
        with pytest.raises(ValueError, match="zip"):
            decorated(xs, ys[:-1])


def test_an_element_that_raises_comes_first() -> None:
    def quotients(xs: list[int], ys: list[int]) -> list[int]:
        return [x // y for x, y in zip(xs, ys, strict=True)]

    decorated = hastega(quotients)
    assert decorated([7] * 900, [2] * 900) == [3] * 900
    with pytest.raises(ZeroDivisionError):
        decorated([7] * 900, [2, 0] * 300)


def test_strict_may_be_found_out_as_it_runs() -> None:
    def pairs(xs: list[int], ys: list[int], strict: bool) -> list[int]:
        return [x + y for x, y in zip(xs, ys, strict=strict)]

    decorated = hastega(pairs)
    assert decorated([1] * 900, [2] * 901, False) == [3] * 900
    with pytest.raises(ValueError, match="longer"):
        decorated([1] * 900, [2] * 901, True)
