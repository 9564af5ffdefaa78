"""Rows: atan, atan2, asin, acos, as the angle of a point in one of eight sectors."""

from __future__ import annotations

import math

import numpy as np

from hastega_magic.ops.functions.kit import (
    Flag,
    Real,
    fast_two_sum,
    polynomial,
    rows,
    two_product,
    where,
)
from hastega_magic.records import dataclass

_QUARTER_PI = 0.7853981633974483, 3.061616997868383e-17
_TAN_EIGHTH_PI = 0.41421356237309503

_ATAN = (
    -0.3333333333333333, 0.199999999999987, -0.14285714285489115, 0.11111111093373324, -0.09090908304424965,
    0.07692285917891979, -0.06666268265139356, 0.05877388543257262, -0.05220558599810475, 0.04511616209439625,
    -0.03364874002426387, 0.015360485268522692,
)  # fmt: skip
"""atan(t) = t + t·z·p(z), z = t², |t| ≤ tan(π/8): tools/minimax.py atan, z·p to 2^-61."""


@dataclass(frozen=True)
class Side:
    """A length as a number and a much smaller one."""

    high: Real
    low: Real | None = None

    def plus(self, other: Side, sign: float) -> tuple[Real, Real]:
        """The sum with (or without, sign -1) a shorter one."""
        total, lost = fast_two_sum(self.high, other.high if sign > 0 else -other.high)
        for part, factor in ((self.low, 1.0), (other.low, sign)):
            if part is not None:
                lost = lost + part if factor > 0 else lost - part
        return total, lost


def angle(short: Side, long: Side, swapped: Flag, left: Flag | None) -> Real:
    """The angle of a point from its sides, 0 ≤ short ≤ long > 0, neither huge nor tiny.

    `swapped`: the short side is the horizontal one; `left`: the point lies on the left.
    """
    near_diagonal = short.high > long.high * _TAN_EIGHTH_PI
    total, total_low = long.plus(short, 1.0)
    difference, difference_low = long.plus(short, -1.0)
    top = where(near_diagonal, -difference, short.high)
    top_low = where(near_diagonal, -difference_low, 0.0 if short.low is None else short.low)
    bottom = where(near_diagonal, total, long.high)
    bottom_low = where(near_diagonal, total_low, 0.0 if long.low is None else long.low)
    inverse = 1.0 / bottom
    t = top * inverse
    t_low = ((-t).fma(bottom, top) + (-t).fma(bottom_low, top_low)) * inverse
    z = t * t
    rest = (z * t).fma(polynomial(z, _ATAN), (-z).fma(t_low, t_low))
    eighths = where(near_diagonal, 1.0, 0.0)
    eighths = where(swapped, 2.0 - eighths, eighths)
    sign = where(swapped, -1.0, 1.0)
    if left is not None:
        eighths = where(left, 4.0 - eighths, eighths)
        sign = where(left, -sign, sign)
    base, base_low = two_product(eighths, _QUARTER_PI[0])
    base_low = eighths.fma(_QUARTER_PI[1], base_low)
    high, lost = fast_two_sum(base, t * sign)
    return high + (lost + rest.fma(sign, base_low))


def atan(x: Real) -> Real:
    """The angle of (1, x)."""
    size = abs(x)
    size = where(size > 2.0**100, 2.0**100, size)
    steep = size > 1.0
    one = where(steep, 1.0, size)
    result = angle(Side(one), Side(where(steep, size, 1.0)), steep, None)
    return where(abs(x) < 2.0**-28, x, result.with_sign_of(x))


def atan2(y: Real, x: Real) -> Real:
    """The angle of (x, y); a quotient that is tiny is itself the angle."""
    height, width = abs(y), abs(x)
    steep = height > width
    short, long = where(steep, width, height), where(steep, height, width)
    infinite = long.equals(math.inf)
    # Two zeros count as (1, 0), two infinities as (1, 1), one infinity as (1, 0).
    flat = infinite | long.equals(0.0)
    short = where(flat, where(short.equals(math.inf), 1.0, 0.0), short)
    long = where(flat, 1.0, long)
    left = _negative(x)
    ratio = short / long
    scale = where(long > 2.0**500, 2.0**-600, where(long < 2.0**-400, 2.0**600, 1.0))
    result = angle(Side(short * scale), Side(long * scale), steep, left)
    flat_right = (ratio < 2.0**-28) & _not(steep | left)
    value = where(flat_right, ratio, result).with_sign_of(y)
    return where(x.differs(x) | y.differs(y), math.nan, value)


def _negative(x: Real) -> Flag:
    """Whether the sign bit is set: of -0.0 too."""
    return (x.bits() >> 63).differs(0)


def _not(flag: Flag) -> Flag:
    return Flag(flag.builder, flag.builder.op("not", flag.term))


def _other_side(size: Real) -> Side:
    """sqrt(1 - size²) for a size up to 1."""
    less, more = 1.0 - size, 1.0 + size
    less_low, more_low = (1.0 - less) - size, (1.0 - more) + size
    square, square_low = two_product(less, more)
    square_low = square_low + less.fma(more_low, less_low * more)
    root = square.unary("fsqrt")
    rest = ((-root).fma(root, square) + square_low) * (0.5 / root)
    return Side(root, where(root.equals(0.0), 0.0, rest))


def _sides(x: Real) -> tuple[Real, Side, Flag]:
    size = abs(x)
    return size, _other_side(size), size > 0.7071067811865476


def asin(x: Real) -> Real:
    """The angle of (sqrt(1 - x²), x)."""
    size, other, steep = _sides(x)
    result = _right_angle(Side(size), other, steep, None)
    return where(size < 2.0**-28, x, result.with_sign_of(x))


def acos(x: Real) -> Real:
    """The angle of (x, sqrt(1 - x²))."""
    size, other, flat = _sides(x)
    return _right_angle(other, Side(size), _not(flat), x < 0.0)


def _right_angle(vertical: Side, horizontal: Side, steep: Flag, left: Flag | None) -> Real:
    def chosen(yes: Side, no: Side) -> Side:
        lows = [0.0 if side.low is None else side.low for side in (yes, no)]
        return Side(where(steep, yes.high, no.high), where(steep, lows[0], lows[1]))

    return angle(chosen(horizontal, vertical), chosen(vertical, horizontal), steep, left)


def _outside(x: Real) -> Flag:
    return abs(x) > 1.0


ROWS = (
    *rows("atan", atan, math.atan, np.arctan),
    *rows("atan2", atan2, math.atan2, np.arctan2, arity=2),
    *rows("asin", asin, math.asin, np.arcsin, _outside),
    *rows("acos", acos, math.acos, np.arccos, _outside),
)
