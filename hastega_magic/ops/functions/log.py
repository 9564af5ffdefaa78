"""Rows: log, log1p, log2, log10."""

from __future__ import annotations

import math

import numpy as np

from hastega_magic.ops.functions.kit import (
    Flag,
    Real,
    Whole,
    fast_two_sum,
    polynomial,
    rows,
    two_product,
    two_sum,
    where,
)
from hastega_magic.records import dataclass

LN2_HIGH, LN2_LOW = 0.6931471805598903, 5.497923018708371e-14
"""log(2) to 95 bits; n · high is exact for |n| ≤ 2^11."""
_LOG10_2_HIGH, _LOG10_2_LOW = 0.30102999566395283, 2.8363394551044964e-14
"""log10(2), likewise."""
_LOG2_E = 1.4426950408889634, 2.0355273740931033e-17
_LOG10_E = 0.4342944819032518, 1.098319650216765e-17

_LOG = (
    0.6666666666666666, 0.39999999999782837, 0.2857142867158628, 0.22222205068422018, 0.18183256054335106,
    0.153213600256531, 0.14727435399219876,
)  # fmt: skip
"""log(1 + f) = 2·s + s·z·p(z) for s = f/(2 + f), z = s² ≤ 0.0295: tools/minimax.py log, z·p to 2^-58."""

_SQRT_HALF = 0x3FE6A09E667F3BCD
_ONE = 1023 << 52
_MANTISSA = (1 << 52) - 1
_TWO_52 = 0x433 << 52


@dataclass(frozen=True)
class Split:
    """A positive number as 2^exponent · (1 + fraction), fraction from √½ - 1 to √2 - 1, exact."""

    exponent: Real
    fraction: Real
    biased: Whole
    """exponent + 1023, of a normal number."""


def split(x: Real, subnormal: bool = True) -> Split:
    """The parts of a positive number; `subnormal`: whether it may be one."""
    bias: Real | float = 2.0**52 + 1023
    if subnormal:
        tiny = x < 2.0**-1022
        x = where(tiny, x * 2.0**54, x)
        bias = where(tiny, 2.0**52 + 1077, 2.0**52 + 1023)
    moved = x.bits() + (_ONE - _SQRT_HALF)
    biased = moved >> 52
    mantissa = ((moved & _MANTISSA) + _SQRT_HALF).real()
    return Split((biased | _TWO_52).real() - bias, mantissa - 1.0, biased)


class Logarithm:
    """log(1 + f) = f - square + rest, square = f²/2 rounded."""

    def __init__(self, f: Real) -> None:
        self.f = f
        self.half = f * 0.5
        self.square = self.half * f
        self.s = f / (f + 2.0)
        z = self.s * self.s
        self.rest = self.s * z.fma(polynomial(z, _LOG), self.square)

    def scaled(self, factor: tuple[float, float]) -> tuple[Real, Real]:
        """The logarithm times a factor of two parts, as a number and a much smaller one."""
        high, lost = fast_two_sum(self.f, -self.square)
        low = (lost - self.half.fma(self.f, -self.square)) + self.rest
        value, error = two_product(high, factor[0])
        return value, error + high.fma(factor[1], low * factor[0])


def _special(x: Real, zero: float, result: Real) -> Real:
    """NaN below the pole, -inf at it, and what is not finite unchanged."""
    other = where(x < zero, math.nan, where(x.equals(zero), -math.inf, x))
    return where((x > zero) & (x < math.inf), result, other)


def log(x: Real) -> Real:
    """The exponent's part plus the fraction's, the large numbers added exactly."""
    parts = split(x)
    series = Logarithm(parts.fraction)
    high, low = fast_two_sum(parts.exponent * LN2_HIGH, series.f)
    correction = parts.exponent.fma(LN2_LOW, series.rest)
    return _special(x, 0.0, high + (low - (series.square - correction)))


def log1p(x: Real) -> Real:
    """The logarithm of 1 + x rounded, and what the rounding lost."""
    u, lost = two_sum(x, 1.0)
    return where(abs(x) < 2.0**-54, x, _special(x, -1.0, log_of_sum(u, lost)))


def log_of_sum(u: Real, lost: Real, more: Real | None = None) -> Real:
    """log(2^more · (u + lost)) for a normal u and a much smaller number: log(u) plus that times the derivative 1/u."""
    parts = split(u, subnormal=False)
    series = Logarithm(parts.fraction)
    # 2^(1 - exponent), which is zero, not subnormal, at the largest exponent: there the loss is nothing.
    moved = (lost * 0.5) * (_complement(parts.biased) << 52).real()
    # 1 / (1 + f) = 1 - 2·s + 2·s² - 2·s³ ..., of which three terms are enough for a correction.
    double = series.s + series.s
    slope = (-double).fma(series.s, double)
    moved = (-moved).fma(slope, moved)
    exponent = parts.exponent if more is None else parts.exponent + more
    high, low = fast_two_sum(exponent * LN2_HIGH, series.f)
    correction = exponent.fma(LN2_LOW, series.rest)
    return high + ((low + moved) - (series.square - correction))


def _complement(biased: Whole) -> Whole:
    """2047 - biased, for an exponent of eleven bits."""
    return biased ^ 2047


def log2(x: Real) -> Real:
    """Exponent + log(1 + fraction) / log(2)."""
    parts = split(x)
    value, rest = Logarithm(parts.fraction).scaled(_LOG2_E)
    high, low = fast_two_sum(parts.exponent, value)
    return _special(x, 0.0, high + (low + rest))


def log10(x: Real) -> Real:
    """The exponent's part plus the fraction's, which is divided by the logarithm of ten."""
    parts = split(x)
    value, rest = Logarithm(parts.fraction).scaled(_LOG10_E)
    high, low = fast_two_sum(parts.exponent * _LOG10_2_HIGH, value)
    return _special(x, 0.0, high + (low + parts.exponent.fma(_LOG10_2_LOW, rest)))


def _log_raises(x: Real) -> Flag:
    return x <= 0.0


def _log1p_raises(x: Real) -> Flag:
    return x <= -1.0


ROWS = (
    *rows("log", log, math.log, np.log, _log_raises),
    *rows("log1p", log1p, math.log1p, np.log1p, _log1p_raises),
    *rows("log2", log2, math.log2, np.log2, _log_raises),
    *rows("log10", log10, math.log10, np.log10, _log_raises),
)
