"""Row: math.hypot of two numbers, with CPython's bits.

CPython scales by a power of two, adds squares in pieces that lose nothing, and corrects the root once. Up to 3.11 it
takes squares apart by splitting factors in halves, and sums what is left over in another order than since.
"""

from __future__ import annotations

import math
import sys

import numpy as np

from hastega_magic.ops.functions_kit import (
    Flag,
    Real,
    Whole,
    condition,
    expansion,
    fast_two_sum,
    two_product,
    where,
)
from hastega_magic.ops.row import Op, math_float

_HALVES = 2.0**27 + 1
_SMALLEST, _LARGEST = 2.0**-1021, 2.0**1022
"""Between these a number's reciprocal power of two is a normal number."""


def _scales(largest: Real) -> tuple[Real, Real]:
    """The powers of two that bring a number to at least a half and below one, and back."""
    exponent = largest.bits() >> 52
    down = (Whole(largest.builder, largest.builder.const(2045)) - exponent) << 52
    return down.real(), ((exponent + 1) << 52).real()


def _norm(x: Real, y: Real, back: Real) -> Real:
    """Numbers below one: since 3.12."""
    one = Real(x.builder, x.builder.const(1.0))
    total, products, sums = one, None, None
    for each in (x, y):
        square, rest = two_product(each, each)
        total, lost = fast_two_sum(total, square)
        products = rest + 0.0 if products is None else products + rest
        sums = lost + 0.0 if sums is None else sums + lost
    assert products is not None
    assert sums is not None
    root = _sqrt(total - 1.0 + (products + sums))
    square, rest = two_product(-root, root)
    total, lost = fast_two_sum(total, square)
    left = total - 1.0 + ((products + rest) + (sums + lost))
    return (root + left / (root * 2.0)) * back


def _norm_by_halves(x: Real, y: Real, back: Real) -> Real:
    """Numbers below one: up to 3.11."""
    zero = Real(x.builder, x.builder.const(0.0))
    total, first, second, third = Real(x.builder, x.builder.const(1.0)), zero, zero, zero

    def added(total: Real, part: Real, lost: Real) -> tuple[Real, Real]:
        new = total + part
        return new, lost + ((total - new) + part)

    for each in (x, y):
        high, low = _halves(each)
        total, first = added(total, high * high, first)
        total, second = added(total, high * 2.0 * low, second)
        third = third + low * low
    root = _sqrt(total - 1.0 + (first + second + third))
    high, low = _halves(root)
    total, first = added(total, (-high) * high, first)
    total, second = added(total, high * -2.0 * low, second)
    total, third = added(total, (-low) * low, third)
    left = total - 1.0 + (first + second + third)
    return (root + left / (root * 2.0)) * back


def _halves(x: Real) -> tuple[Real, Real]:
    moved = x * _HALVES
    high = moved - (moved - x)
    return high, x - high


def _sqrt(x: Real) -> Real:
    return x.unary("fsqrt")


def _hypot(x: Real, y: Real) -> Real:
    x, y = abs(x), abs(y)
    largest = where(x > y, x, y)
    usual = (largest >= _SMALLEST) & (largest < _LARGEST)
    down, back = _scales(where(usual, largest, 1.0))
    norms = {True: _norm, False: _norm_by_halves}
    found = norms[sys.version_info >= (3, 12)](x * down, y * down, back)
    undefined = x.differs(x) | y.differs(y)
    infinite = x.equals(math.inf) | y.equals(math.inf)
    value = where(undefined, math.nan, where(largest.equals(0.0), 0.0, found))
    return where(infinite, math.inf, value)


def _unusual(x: Real, y: Real) -> Flag:
    """Where scaling would leave the normal numbers: Python computes such elements."""
    x, y = abs(x), abs(y)
    largest = where(x > y, x, y)
    tiny = (largest < _SMALLEST) & (largest > 0.0)
    return tiny | ((largest >= _LARGEST) & (largest < math.inf))


ROWS = (
    Op("hypot", 2, math.hypot, math_float, numpy=np.hypot, expand=expansion(_hypot), trouble=condition(_unusual),
       spellings=(math.hypot,), traits=frozenset({"commutative"})),
)  # fmt: skip
