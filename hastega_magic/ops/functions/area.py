"""Rows: asinh, acosh, atanh, as logarithms of 1 + t with t as a number and a much smaller one."""

from __future__ import annotations

import math

import numpy as np

from hastega_magic.ops.functions.kit import (
    Flag,
    Real,
    divided,
    fast_two_sum,
    rows,
    two_product,
    two_sum,
    where,
)
from hastega_magic.ops.functions.log import log_of_sum

_LARGE = 2.0**28
"""From here on x² + 1 and x² - 1 are x² for the logarithm: log(2·x) is left."""
_SMALL = 2.0**-28
"""Below, asinh(x) and atanh(x) are x."""


def _root(square: Real, low: Real) -> tuple[Real, Real]:
    """The square root of a sum, likewise."""
    root = square.unary("fsqrt")
    rest = ((-root).fma(root, square) + low) * (0.5 / root)
    return root, where(root.equals(0.0), 0.0, rest)


def _logarithm(size: Real, large: Flag, t: Real, t_low: Real) -> Real:
    """log(1 + t), or log(2 · size) where that is large."""
    u, lost = two_sum(t, 1.0)
    return log_of_sum(where(large, size, u), where(large, 0.0, lost + t_low), where(large, 1.0, 0.0))


def asinh(x: Real) -> Real:
    """The logarithm for t = s + s² / (1 + √(1 + s²)), s = |x|."""
    size = abs(x)
    large = size > _LARGE
    s = where(large, 1.0, size)
    square, square_low = two_product(s, s)
    total, lost = two_sum(square, 1.0)
    root, root_low = _root(total, lost + square_low)
    bottom, bottom_low = fast_two_sum(root, x.constant(1.0))
    more, more_low = divided(square, square_low, bottom, bottom_low + root_low)
    t, t_low = fast_two_sum(s, more)
    result = where(size < math.inf, _logarithm(size, large, t, t_low + more_low), size)
    return where(size < _SMALL, x, result.with_sign_of(x))


def acosh(x: Real) -> Real:
    """The logarithm for t = (x - 1) + √(x² - 1)."""
    large = x > _LARGE
    s = where(large, 2.0, x)
    square, square_low = two_product(s, s)
    total, lost = two_sum(square, -1.0)
    total, lost = fast_two_sum(total, lost + square_low)
    root, root_low = _root(total, lost)
    less, less_low = two_sum(s, -1.0)
    t, t_low = fast_two_sum(root, less)
    result = _logarithm(x, large, t, t_low + (root_low + less_low))
    return where((x >= 1.0) & (x < math.inf), result, where(x < 1.0, math.nan, x))


def atanh(x: Real) -> Real:
    """Half the logarithm for t = 2·s / (1 - s), s = |x|."""
    size = abs(x)
    s = where(size < 1.0, size, 0.5)
    bottom = 1.0 - s
    t, t_low = divided(s + s, x.constant(0.0), bottom, (1.0 - bottom) - s)
    u, lost = two_sum(t, 1.0)
    result = log_of_sum(u, lost + t_low) * 0.5
    outside = where(size.equals(1.0), math.inf, math.nan)
    return where(size < _SMALL, x, where(size < 1.0, result, outside).with_sign_of(x))


def _acosh_raises(x: Real) -> Flag:
    return x < 1.0


def _atanh_raises(x: Real) -> Flag:
    return abs(x) >= 1.0


ROWS = (
    *rows("asinh", asinh, math.asinh, np.arcsinh),
    *rows("acosh", acosh, math.acosh, np.arccosh, _acosh_raises),
    *rows("atanh", atanh, math.atanh, np.arctanh, _atanh_raises),
)
