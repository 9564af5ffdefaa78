"""Rows: math.hypot of two to four numbers, with CPython's bits, and np.hypot.

CPython scales by a power of two, adds squares in pieces that lose nothing, and corrects the root once. Up to 3.11 it
takes squares apart by splitting factors in halves, and sums what is left over in another order than since.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Sequence

import numpy as np

from hastega_magic.ops.functions.kit import (
    Flag,
    Real,
    Whole,
    condition,
    expansion,
    fast_two_sum,
    two_product,
    ufunc_row,
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


def _norm(numbers: Sequence[Real], back: Real) -> Real:
    """Numbers below one: since 3.12."""
    one = back.constant(1.0)
    total, products, sums = one, None, None
    for each in numbers:
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


def _norm_by_halves(numbers: Sequence[Real], back: Real) -> Real:
    """Numbers below one: up to 3.11."""
    zero = back.constant(0.0)
    total, first, second, third = back.constant(1.0), zero, zero, zero

    def added(total: Real, part: Real, lost: Real) -> tuple[Real, Real]:
        new = total + part
        return new, lost + ((total - new) + part)

    for each in numbers:
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


def _largest(numbers: Sequence[Real]) -> Real:
    """The largest number; NaN is none."""
    found = where(numbers[0] >= 0.0, numbers[0], 0.0)
    for each in numbers[1:]:
        found = where(each > found, each, found)
    return found


def _special(numbers: Sequence[Real], largest: Real, found: Real) -> Real:
    """Infinite where a number is, even beside NaN; zero of zeros."""
    undefined = functools.reduce(lambda one, other: one | other, (each.differs(each) for each in numbers))
    value = where(undefined, math.nan, where(largest.equals(0.0), 0.0, found))
    return where(largest.equals(math.inf), math.inf, value)


def _hypot(*given: Real) -> Real:
    numbers = list(map(abs, given))
    largest = _largest(numbers)
    usual = (largest >= _SMALLEST) & (largest < _LARGEST)
    down, back = _scales(where(usual, largest, 1.0))
    norms = {True: _norm, False: _norm_by_halves}
    found = norms[sys.version_info >= (3, 12)]([each * down for each in numbers], back)
    return _special(numbers, largest, found)


def _unusual(*given: Real) -> Flag:
    """Where scaling would leave the normal numbers: Python computes such elements."""
    largest = _largest(list(map(abs, given)))
    tiny = (largest < _SMALLEST) & (largest > 0.0)
    return tiny | ((largest >= _LARGEST) & (largest < math.inf))


def np_hypot(x: Real, y: Real) -> Real:
    """The root of the exact sum of squares, with one correction, scaled where squares would leave the format."""
    numbers = [abs(x), abs(y)]
    largest = _largest(numbers)
    scale = where(largest > 2.0**510, 2.0**-600, where(largest < 2.0**-400, 2.0**600, 1.0))
    first_larger = numbers[0] > numbers[1]
    large, small = where(first_larger, *numbers) * scale, where(first_larger, *numbers[::-1]) * scale
    (first, first_low), (second, second_low) = two_product(large, large), two_product(small, small)
    total, lost = fast_two_sum(first, second)
    root = _sqrt(total)
    rest = (-root).fma(root, total) + (lost + (first_low + second_low))
    return _special(numbers, largest, (root + rest * (0.5 / root)) / scale)


HYPOTS = ("hypot", "hypot3", "hypot4")
"""The rows of two, three and four numbers."""

ROWS = (
    *(Op(name, count, math.hypot, math_float, numpy=np.hypot if count == 2 else None, expand=expansion(_hypot),
         trouble=condition(_unusual), spellings=(math.hypot,) if count == 2 else (),
         written="hypot", traits=frozenset({"commutative"} if count == 2 else ()))
      for count, name in enumerate(HYPOTS, 2)),
    ufunc_row("np_hypot", np_hypot, np.hypot, arity=2),
)  # fmt: skip
