"""Ordinary code where somebody has put other functions in the place of Python's own, which this package calls too."""

from __future__ import annotations

import builtins
from typing import Any

import pytest

from hastega_magic import hastega


def doubled(xs: Any) -> Any:
    return sorted(x * 2 for x in xs)


def added(xs: Any) -> Any:
    return [x + y for x in xs if x % 3 for y in (1, 2)]


def rows(xs: Any) -> Any:
    return [[x * y for y in xs[:60]] for x in xs[:60]]


@pytest.mark.parametrize("function", [doubled, added, rows])
@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("range", lambda *bounds: [1, 2] * 400),
        ("zip", lambda *given: [(1, 2)]),
        ("enumerate", lambda *given: [(0, 1)]),
        ("len", lambda given: 3),
        ("sum", lambda *given: 5),
        ("min", lambda *given, **named: 5),
        ("max", lambda *given, **named: 5),
        ("map", lambda *given: [5]),
    ],
)
def test_python_runs_the_code(function: Any, name: str, other: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    decorated, xs = hastega(function), list(range(3000))
    expected = function(xs)
    for _ in range(2):
        assert decorated(xs) == expected
    with monkeypatch.context() as patched:
        patched.setattr(builtins, name, other)
        found = decorated(xs)
    assert found == expected
    assert "builtin" in str(decorated.explain()) or "fewer" in str(decorated.explain())
    assert decorated(xs) == expected
