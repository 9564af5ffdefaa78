"""Rows: exp, expm1, exp2."""

from __future__ import annotations

import math

import numpy as np

from hastega_magic.ops.functions.kit import (
    SHIFT,
    Flag,
    Real,
    fast_two_sum,
    polynomial,
    rows,
    two_product,
    two_sum,
    where,
)

LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 0.6931471805599453, 2.3190468138462996e-17
"""log(2) to 107 bits."""

EXP = (
    0.5, 0.1666666666666667, 0.041666666666666685, 0.008333333333326025, 0.0013888888888874238,
    0.00019841269875204795, 2.4801587347709435e-05, 2.755725491395855e-06, 2.755725256540502e-07,
    2.5105418986992562e-08, 2.092170397144677e-09,
)  # fmt: skip
"""exp(r) = 1 + r + r²·p(r) for |r| ≤ log(2)/2: tools/minimax.py exp, p to 2^-58.6."""


class Reduced:
    """x (+ low) = n·log(2) + r + low: `shifted` has n in its low bits."""

    def __init__(self, x: Real, low: Real | None = None) -> None:
        self.shifted = x.fma(LOG2_E, SHIFT)
        self.n = self.shifted - SHIFT
        near = self.n.fma(-LN2_HIGH, x)  # exact: it has no bits below 2^-54 and is less than 1/2
        self.r = self.n.fma(-LN2_LOW, near)
        rest = self.n.fma(-LN2_LOW, near - self.r)
        self.low = rest
        if low is not None:  # it may be many places of r
            self.r, self.low = fast_two_sum(self.r, rest + low)

    def tail(self) -> Real:
        """exp(r + low) - 1 - r."""
        scaled = self.low.fma(self.r, self.low)
        return (self.r * self.r).fma(polynomial(self.r, EXP), scaled)

    def times(self, factor: Real) -> Real:
        """2^n · factor, in two steps, so that only the last rounds where the result is subnormal or infinite."""
        half = self.n.fma(0.5, SHIFT)
        rest = (self.n - (half - SHIFT)) + SHIFT
        return (factor * power_of_two(half, 1023)) * power_of_two(rest, 1023)


def power_of_two(shifted: Real, bias: int) -> Real:
    """2^(n + bias - 1023) for the n in the low bits."""
    return ((shifted.bits() + bias) << 52).real()


def clamped(x: Real, low: float, high: float) -> Real:
    """X within the bounds; NaN stays."""
    raised = where(x < low, low, x)
    return where(raised > high, high, raised)


def exp(x: Real) -> Real:
    """The exponential of r, times 2^n."""
    parts = Reduced(clamped(x, -746.0, 710.0))
    return parts.times(polynomial(parts.r, (1.0, 1.0, *EXP)))


def exp_of_sum(high: Real, low: Real) -> Real:
    """exp(high + low), |low| far below 1; high within ±746."""
    parts = Reduced(high, low)
    total = 1.0 + parts.r
    return parts.times(total + ((parts.r - (total - 1.0)) + parts.tail()))


def exp2(x: Real) -> Real:
    """2^n · exp(f·log(2))."""
    inside = clamped(x, -1076.0, 1025.0)
    shifted = inside + SHIFT
    n = shifted - SHIFT
    fraction = inside - n
    r, low = two_product(fraction, LN2_HIGH)
    low = fraction.fma(LN2_LOW, low)
    tail = (r * r).fma(polynomial(r, EXP), low)
    half = n.fma(0.5, SHIFT)
    rest = (n - (half - SHIFT)) + SHIFT
    return ((1.0 + (r + tail)) * power_of_two(half, 1023)) * power_of_two(rest, 1023)


def small_expm1(x: Real, places: int) -> tuple[Real, Real]:
    """(exp(x) - 1) / 2^places as a number and a much smaller one; x within -60 and 710."""
    parts = Reduced(x)
    scale = power_of_two(parts.shifted, 1023 - places)
    one_more = 1.0 + parts.r
    lost = parts.r - (one_more - 1.0)
    high, error = two_sum(scale * one_more, -(2.0**-places))
    return high, scale.fma(lost + parts.tail(), error)


def expm1(x: Real) -> Real:
    """exp(x) - 1; x itself where it is so small that the rest is nothing (and may be subnormal)."""
    high, low = small_expm1(clamped(x, -60.0, 710.0), 1)
    half = high + low
    return where(abs(x) < 2.0**-54, x, half + half)


_LARGEST = 709.782712893384
"""The float64 nearest below log(2^1024)."""


def _exp_raises(x: Real) -> Flag:
    return (x > _LARGEST) & (x < math.inf)


def _exp2_raises(x: Real) -> Flag:
    return (x >= 1024.0) & (x < math.inf)


ROWS = (
    *rows("exp", exp, math.exp, np.exp, _exp_raises),
    *rows("expm1", expm1, math.expm1, np.expm1, _exp_raises),
    *rows("exp2", exp2, math.exp2, np.exp2, _exp2_raises),
)
