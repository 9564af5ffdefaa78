"""Rows: `round` to a number of digits, which CPython does on the exact decimal value (David Gay's dtoa, mode 3).

A float times a power of ten up to 10^22, or divided by one, is a rounded number and what is exactly left of it, by one
fused operation. The rounded number lies on the same side of a half as the exact one, or on it: then what is left
decides, and if nothing is left, the even neighbour.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hastega_magic.errors import NotCompilable
from hastega_magic.ops.functions.kit import Real, two_product, where
from hastega_magic.ops.row import Builder, Op, Signature
from hastega_magic.types import FLOAT, FLOAT32, ScalarType, promote

MOST_DIGITS = 22
"""Powers of ten are exact floats up to this one."""

_DIGITS = {float(10**digits): digits for digits in range(MOST_DIGITS + 1)}
_WHOLE, _NEXT_WHOLE = 2.0**52, 2.0**53
"""From the first on floats are whole numbers, from the second on every second one of these."""


def _nearest(value: Real, rest: Real) -> Real:
    """The whole number that is nearest to the sum; of two the even one. The value is the rounded sum."""
    whole = value.unary("rint")
    over = value - whole
    up = over.equals(0.5) & (rest > 0.0)
    down = over.equals(-0.5) & (rest < 0.0)
    return where(up, whole + 1.0, where(down, whole - 1.0, whole))


def _expand_decimals(b: Builder, args: Sequence[Any]) -> Any:
    """Digits behind the point. From 2^53 / 10^digits on, the nearest decimal is nearest to the number itself."""
    x, power = (Real(b, arg) for arg in args)
    scaled, rest = two_product(x, power)
    half = scaled * 0.5
    tie = abs(rest).equals(0.5) & half.unary("rint").differs(half)  # of an odd number beyond 2^52
    whole = where(tie, scaled + (rest + rest), _nearest(scaled, rest))
    return where(abs(scaled) < _NEXT_WHOLE, whole / power, x).term


def _expand_tens(b: Builder, args: Sequence[Any]) -> Any:
    """Digits before the point become zeros."""
    x, power = (Real(b, arg) for arg in args)
    scaled = x / power
    return where(abs(scaled) < _WHOLE, _nearest(scaled, (-scaled).fma(power, x)) * power, x).term


def _large(b: Builder, args: Sequence[Any]) -> Any:
    """Where the quotient has no place for a half."""
    x, power = (Real(b, arg) for arg in args)
    return ((abs(x / power) >= _WHOLE) & (abs(x) < float("inf"))).term


def _signature(types: tuple[ScalarType, ...]) -> Signature:
    """Floats of 64 bits, of which the first says whether the result is weak."""
    result = promote(FLOAT, types[0])
    if result is FLOAT32:
        raise NotCompilable("`round` of float32 to digits is left to NumPy")
    return Signature((result, FLOAT), result)


ROWS = (
    Op("round_decimals", 2, lambda x, power: round(x, _DIGITS[power]), _signature,
       expand=_expand_decimals),
    Op("round_tens", 2, lambda x, power: round(x, -_DIGITS[power]), _signature,
       expand=_expand_tens, trouble=_large, reason="floats beyond 2^52 that are rounded to tens"),
)  # fmt: skip
"""The second operand is 10 to the number of digits, a constant."""

__all__ = ["MOST_DIGITS", "ROWS"]
