"""Rows: powers and roots of ints, their bits, and values that may be missing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hastega_magic import interval
from hastega_magic.interval import INT64, INT64_MAX, Interval
from hastega_magic.ops.machine import wrap64
from hastega_magic.ops.row import Builder, Op, Signature, fixed, integers, untyped
from hastega_magic.types import BOOL, INT, ScalarType

_LARGEST_ROOT = math.isqrt(INT64_MAX)
_SQUARINGS = 6
"""Exponents beyond 2^6 - 1 leave 64 bits, unless the base is -1, 0 or 1."""
_MODULUS = 1 << 64


def _negative(b: Builder, args: Sequence[Any]) -> Any:
    return b.op("lt", args[-1], b.const(0))


# Powers


def _power(base: int, exponent: int) -> int:
    """The power; ValueError where it is a float, for Python's function to have it as one."""
    found: Any = base**exponent  # which may be by zero
    if exponent < 0:
        raise ValueError("the power is no int")
    return found


def power_range(base: Interval, exponent: Interval) -> Interval:
    """The range of powers of ints."""
    lo = max(exponent.lo or 0, 0)
    if exponent.hi is None or exponent.hi > 64 or exponent.hi < lo:
        return Interval(0, None) if base.lo is not None and base.lo >= 0 else interval.TOP
    result = interval.power(base, lo)
    for each in range(lo + 1, exponent.hi + 1):
        result = result.join(interval.power(base, each))
    return result


def _products(b: Builder, base: Any, exponent: Any, one: Any, squarings: int = _SQUARINGS) -> Any:
    """The product of the squares that the exponent's bits name."""
    result, square = one, base
    for number in range(squarings):
        bit = b.op("ne", b.op("and", exponent, b.const(1 << number)), b.const(0))
        multiply = "mul" if one.type.is_float else "wrapping_mul"
        result = b.op("select", bit, b.op(multiply, result, square), result)
        square = b.op(multiply, square, square)
    return result


def _few(b: Builder, exponent: Any) -> Any:
    """An exponent below 64 that gives -1, 0 and 1 the same power."""
    if b.range_of(exponent).within(Interval(0, 63)):
        return exponent
    odd = b.op("and", exponent, b.const(1))
    large = b.op("gt", exponent, b.const(63))
    return b.op("and", b.op("select", large, b.op("add", odd, b.const(62)), exponent), b.const(63))


def expand_power(b: Builder, args: Sequence[Any]) -> Any:
    """Lower a power of ints with an exponent that is not negative."""
    return _products(b, args[0], _few(b, args[1]), b.const(1))


def power_beyond(b: Builder, args: Sequence[Any]) -> Any:
    """Where a power leaves 64 bits."""
    # 13 roundings, of which squaring doubles earlier ones, err by less than 2^-45.
    size = b.op("fabs", b.op("int_to_float", args[0]))
    estimate = _products(b, size, _few(b, args[1]), b.const(1.0))
    beyond = b.op("ge", estimate, b.const(float(INT64_MAX) * (1 - 2.0**-40)))
    many = b.op("and", b.op("gt", args[1], b.const(63)), b.op("gt", size, b.const(1.0)))
    return b.op("or", beyond, many)


def _wrapping_power(base: int, exponent: int) -> int:
    return wrap64(pow(base, exponent, _MODULUS)) if exponent >= 0 else _power(base, exponent)


def _expand_wrapping_power(b: Builder, args: Sequence[Any]) -> Any:
    """Bits of the exponent beyond the sixth count here, where what leaves 64 bits is not left to Python."""
    largest = b.range_of(args[1]).meet(Interval(0, INT64_MAX)).hi
    assert largest is not None
    return _products(b, args[0], args[1], b.const(1), largest.bit_length())


# Roots and bits


def _root(value: int) -> int:
    return math.isqrt(value)


def _root_range(a: Interval) -> Interval:
    lo = 0 if a.lo is None else math.isqrt(max(a.lo, 0))
    return Interval(lo, None if a.hi is None else math.isqrt(max(a.hi, 0)))


def _int_root(b: Builder, args: Sequence[Any]) -> Any:
    """The float's root is off by one at most, as it has 53 bits, and the root 32."""
    value = b.op("max", args[0], b.const(0))
    guess = b.op("float_to_int", b.op("fsqrt", b.op("int_to_float", value)))
    guess = b.op("min", guess, b.const(_LARGEST_ROOT))
    high = b.op("gt", b.op("wrapping_mul", guess, guess), value)
    guess = b.op("select", high, b.op("wrapping_sub", guess, b.const(1)), guess)
    rest = b.op("wrapping_sub", value, b.op("wrapping_mul", guess, guess))
    low = b.op("gt", rest, b.op("wrapping_add", guess, guess))
    return b.op("select", low, b.op("wrapping_add", guess, b.const(1)), guess)


def _size(b: Builder, value: Any) -> Any:
    """Its magnitude as a machine word, which for the smallest int64 is 2^63."""
    if (lo := b.range_of(value).lo) is not None and lo >= 0:
        return value
    return b.op("select", b.op("lt", value, b.const(0)), b.op("wrapping_sub", b.const(0), value), value)


def _bit_length(b: Builder, args: Sequence[Any]) -> Any:
    return b.op("wrapping_sub", b.const(64), b.op("leading_zeros", _size(b, args[0])))


def _bit_length_range(a: Interval) -> Interval:
    if a.lo is None or a.hi is None:
        return Interval(0, None)
    ends = abs(a.lo).bit_length(), abs(a.hi).bit_length()
    return Interval(0 if 0 in a else min(ends), max(ends))


def _bit_count_range(a: Interval) -> Interval:
    return Interval(0, _bit_length_range(a).hi)


# Values that may be missing


def _as_given(types: tuple[ScalarType, ...]) -> Signature:
    return Signature((types[0], BOOL), types[0])


def _required(value: Any, there: bool) -> Any:
    if not there:
        raise ValueError("there is no value")
    return value


ROWS = (
    Op("pow", 2, _power, integers, "**", lambda a, b: np.power(a, np.maximum(b, 0)), power_range,
       expand=expand_power, trouble=_negative, overflow=power_beyond, spellings=(pow, untyped.pow)),
    # The power modulo 2^64.
    Op("wrapping_pow", 2, _wrapping_power, fixed((INT, INT), INT), "", lambda a, b: np.power(a, np.maximum(b, 0)),
       lambda base, exponent: INT64, expand=_expand_wrapping_power, trouble=_negative, written="**"),
    Op("isqrt", 1, _root, integers, "", None, _root_range, expand=_int_root, trouble=_negative,
       spellings=(math.isqrt,)),
    Op("bit_length", 1, int.bit_length, integers, "", None, _bit_length_range, expand=_bit_length,
       spellings=(int.bit_length,)),
    Op("bit_count", 1, int.bit_count, integers, "", None, _bit_count_range,
       expand=lambda b, args: b.op("ones", _size(b, args[0])), spellings=(int.bit_count,)),
    # The value where the condition holds; Python does the element where it does not.
    Op("required", 2, _required, _as_given, "", lambda a, there: a, lambda a, there: a,
       expand=lambda b, args: args[0], trouble=lambda b, args: b.op("not", args[1]),
       reason="values that not every element has"),
)  # fmt: skip
