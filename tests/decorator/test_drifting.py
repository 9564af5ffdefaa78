"""Turns that go on with what an elementary function gives are Python's; elements that are made by one are not."""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

import pytest

from hastega_magic import hastega
from hastega_magic.compiler.fastpath.drifting import DRIFTS


def chaotic(xs: Any) -> Any:
    return reduce(lambda t, x: math.sin(t) * 3.9 + x, xs, 0.3)


def in_a_statement(xs: Any) -> Any:
    t = 0.3
    for x in xs:
        t = 3.9 * math.sin(t) + x
    return t


def of_another_variable(xs: Any) -> Any:
    a, b = 0.1, 0.2
    for x in xs:
        a = a * 0.5 + x
        b = b * 0.2 + math.exp(-a)
    return a, b


def in_turns_of_a_turn(xs: Any) -> Any:
    a, b = 0.1, 0.2
    for x in xs:
        for _ in range(3):
            b = math.cos(b) * x
        a += b
    return a, b


def of_elements(xs: Any) -> Any:
    s = q = 0.0
    for x in xs:
        s += x * 0.5
        q = q * 0.5 + abs(x)
    return s, q


def added(xs: Any) -> Any:
    t = 0.0
    for x in xs:
        t += math.exp(-x)
    return t


def polynomial(xs: Any) -> Any:
    t = 0.3
    for _ in xs:
        t = 3.9 * t * (1.0 - t)
    return t


@pytest.mark.parametrize("function", [chaotic, in_a_statement, of_another_variable, in_turns_of_a_turn])
def test_python_goes_on_with_what_is_only_nearly_the_same(function: Any) -> None:
    xs, made = [x / 1000 for x in range(1000)], hastega(function)
    for _ in range(3):
        assert made(xs) == function(xs)
    assert (
        DRIFTS in made.explain().to_text(width=200) or not made.explain().to_dict()["pipelines"][0]["loops"]
    )


@pytest.mark.parametrize("function", [of_elements, added, polynomial])
def test_loops_go_on_where_nothing_grows(function: Any) -> None:
    xs, made = [x / 1000 for x in range(1000)], hastega(function)
    assert made(xs) == pytest.approx(function(xs), rel=1e-15)
    assert "1 fused loop" in made.explain().to_text(width=200)
