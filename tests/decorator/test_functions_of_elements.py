"""Lambdas and lists that a call takes are made for each element, and compiled: `reduce(lambda a, k: a * x + k, c)`."""

import functools
import math
from collections.abc import Callable
from typing import Any

import pytest

from hastega_magic import hastega

XS = [x * 37 % 101 - 50 for x in range(600)]
COEFFICIENTS = (3, -2, 1)


def horner(xs: list[int]) -> list[int]:
    return [functools.reduce(lambda a, k: a * x + k, COEFFICIENTS, 0) for x in xs]


def nearest(xs: list[int]) -> list[int]:
    return [min((-40, 0, 30), key=lambda p: abs(p - x)) for x in xs]


def called(xs: list[int]) -> list[int]:
    return [twice(lambda y: y * x, x + 1) for x in xs]  # noqa: B023


def twice(function: Callable[[int], int], x: int) -> int:
    return function(function(x))


def mapped(xs: list[int]) -> int:
    return sum(sum(map(lambda k: k * x, COEFFICIENTS)) for x in xs)  # noqa: C417


def listed(xs: list[int]) -> list[float]:
    return [math.sqrt(sum([(x - k) ** 2 for k in COEFFICIENTS])) for x in xs]


def kept(xs: list[int]) -> list[int]:
    found: list[Callable[[], int]] = []
    counts = [found.append(lambda: x) or len(found) for x in xs]  # noqa: B023
    return [*counts, found[0](), found[-1]()]


def handed_on(xs: list[int]) -> list[bool]:
    return [callable(same(lambda: x)) for x in xs]  # noqa: B023


def same(value: Any) -> Any:
    return value


@pytest.mark.parametrize("function", [horner, nearest, called, mapped, listed, kept, handed_on])
def test_they_give_what_python_gives(function: Callable[[list[int]], Any]) -> None:
    decorated = hastega(function, on="simd")
    for begin in (0, 100, 0):
        found, expected = decorated(XS[begin:]), function(XS[begin:])
        assert found == expected
        assert type(found) is type(expected)


@pytest.mark.parametrize("function", [horner, nearest, called, mapped, listed])
def test_they_are_compiled(function: Callable[[list[int]], Any]) -> None:
    decorated = hastega(function, on="simd")
    decorated(XS)
    assert "fused loop" in str(decorated.explain())
