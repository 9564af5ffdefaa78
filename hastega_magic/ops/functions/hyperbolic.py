"""Rows: sinh, cosh, tanh, from exp(x) - 1 and its rounding errors."""

from __future__ import annotations

import math

import numpy as np

from hastega_magic.ops.functions.exp import Reduced, clamped, power_of_two, small_expm1
from hastega_magic.ops.functions.kit import Flag, Real, divided, fast_two_sum, quotient, rows, two_sum, where

_ONE_SIDED = 40.0
"""Beyond, exp(-|x|) is nothing beside exp(|x|)."""
_CLAMP = 710.6
"""Here the result is infinite, and exp(x) / 4 is not."""


def tanh(x: Real) -> Real:
    """E / (E + 1) for E = (exp(2·|x|) - 1) / 2, with the quotient corrected for the low parts."""
    size = abs(x)
    doubled = clamped(size + size, 0.0, 60.0)
    high, low = small_expm1(doubled, 1)
    top, top_low = fast_two_sum(high, low)
    bottom, bottom_low = two_sum(top, 1.0)
    result = quotient(top, top_low, bottom, bottom_low + top_low)
    return where(size < 2.0**-28, x, result.with_sign_of(x))


def sinh(x: Real) -> Real:
    """2·(Q + Q / (4·Q + 1)) for Q = (exp(|x|) - 1) / 4, which does not overflow before the result does."""
    size = abs(x)
    high, low = small_expm1(clamped(size, 0.0, _CLAMP), 2)
    top, top_low = fast_two_sum(high, low)
    bottom, bottom_low = two_sum(top * 4.0, 1.0)
    other, other_low = divided(top, top_low, bottom, top_low.fma(4.0, bottom_low))
    beside = size < _ONE_SIDED
    total, lost = fast_two_sum(top, where(beside, other, 0.0))
    half = total + (lost + where(beside, top_low + other_low, top_low))
    return where(size < 2.0**-28, x, (half + half).with_sign_of(x))


def cosh(x: Real) -> Real:
    """2·(Q + 1 / (16·Q)) for Q = exp(|x|) / 4."""
    parts = Reduced(clamped(abs(x), 0.0, _CLAMP))
    scale = power_of_two(parts.shifted, 1021)
    one_more = 1.0 + parts.r
    lost = parts.r - (one_more - 1.0)
    high, low = fast_two_sum(scale * one_more, scale * (lost + parts.tail()))
    total, rest = fast_two_sum(high, 0.0625 / high)
    half = total + (rest + low)
    return half + half


_LARGEST = 710.4758600739439
"""The float64 nearest below log(2^1025), where sinh and cosh overflow."""


def _raises(x: Real) -> Flag:
    return (abs(x) > _LARGEST) & (abs(x) < math.inf)


ROWS = (
    *rows("sinh", sinh, math.sinh, np.sinh, _raises),
    *rows("cosh", cosh, math.cosh, np.cosh, _raises),
    *rows("tanh", tanh, math.tanh, np.tanh),
)
