"""Loops inside the turns of `for` statements with an `else`, which an `if` stands for where they are compiled."""

from __future__ import annotations

import math
from typing import Any

import pytest

from hastega_magic import hastega
from hastega_magic.compiler.fastpath import profitability
from tests.decorator.outcomes import outcome


def primes(n: int) -> list[int]:
    found = []
    for k in range(2, n):
        for d in range(2, math.isqrt(k) + 1):
            if k % d == 0:
                break
        else:
            found.append(k)
    return found


def without_factors(n: int) -> tuple[int, int]:
    many = others = 0
    for k in range(2, n):
        d = 2
        while d * d <= k:
            if k % d == 0:
                break
            d += 1
        else:
            many += k
            continue
        others += 1
    return many, others


def broken_by_what_is_inside(n: int) -> int:
    many = 0
    for k in range(2, n):
        for d in range(2, 5):
            for e in range(d, 6):
                if k % (d * e) == 0:
                    break
            else:
                many += 1
                continue
            break
        else:
            many -= 3
    return many


@pytest.mark.parametrize("function", [primes, without_factors, broken_by_what_is_inside])
def test_loops_inside_have_an_else(function: Any, loops: list[str]) -> None:
    decorated = hastega(function)
    for n in (3, 1000, 1001):
        assert outcome(decorated, n) == outcome(function, n)
    assert len(loops) == 2


def without(rows: list[list[int]], m: int) -> int:
    many = 0
    for row in rows:
        for x in row:
            if x == m:
                break
        else:
            many += 1
    return many


def test_python_is_tried_where_it_may_not_come_to_all_elements(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(profitability, "_SHORT", math.inf)  # however long the loop takes here
    decorated, rows = hastega(without), [[1, 7, *([1] * 300)]] * 600
    for _ in range(30):
        assert decorated(rows, 7) == 0
    codes = decorated.explain.__closure__[0].cell_contents.pipelines.values()
    assert any(size.tried for each in codes for size in each._profitability._sizes.values())
