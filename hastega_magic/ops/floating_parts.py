"""Rows: parts and neighbours of floats, and what is computed with them exactly: all with the bits of CPython and NumPy.

What math and NumPy both have are two rows: the former gives Python's floats, the latter keeps float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hastega_magic.errors import NotCompilable
from hastega_magic.interval import BIT, Interval
from hastega_magic.ops.elementary import float_quotient_trouble
from hastega_magic.ops.functions.kit import Flag, Real, Whole, expansion, where
from hastega_magic.ops.row import Builder, Op, Signature, fixed, math_float, numpy_float
from hastega_magic.types import BOOL, FLOAT, FLOAT32, INT, ScalarType

_MANTISSA, _HALF = (1 << 52) - 1, 1022 << 52
_LEAST, _MOST = 5e-324, 1.7976931348623157e308
_LEAST32, _NORMAL32, _MOST32 = 2.0**-149, 2.0**-126, (2.0 - 2.0**-23) * 2.0**127
_PLACE32 = 1 << 29
"""A place of float32 in the bits of float64."""
_FARTHEST = 1100
"""By more places no float is moved without becoming zero or infinite, once it is at least a half and below 1."""


# Parts


def _fraction(x: Real) -> Real:
    whole = where(abs(x).equals(math.inf), x, x.unary("trunc"))
    return where(abs(x).equals(math.inf), 0.0, x - whole).with_sign_of(x)


def _modf_fraction(x: Any) -> Any:
    return np.modf(x)[0]


_expand_fraction = expansion(_fraction)


def _moved(x: Real) -> tuple[Flag, Real, Whole]:
    """Whether the number has an exponent, its bits scaled to a normal number's, and what that adds to the exponent."""
    usual = (abs(x) > 0.0) & (abs(x) < math.inf)
    tiny = abs(x) < 2.0**-1022
    moved = where(tiny, x * 2.0**54, x)
    more = where(tiny, 2.0**52 + 54, 2.0**52).bits() & _MANTISSA
    return usual, moved, more


def _mantissa(x: Real) -> Real:
    usual, moved, _ = _moved(x)
    return where(usual, ((moved.bits() & _MANTISSA) | _HALF).real().with_sign_of(x), x)


def _exponent(x: Real) -> Whole:
    """Of a number that is neither zero nor infinite nor NaN."""
    _, moved, more = _moved(x)
    return ((moved.bits() >> 52) & 2047) - more - 1022


def _expand_exponent(b: Builder, args: Sequence[Any]) -> Any:
    x = Real(b, args[0])
    usual, _, _ = _moved(x)
    return b.op("select", usual.term, _exponent(x).term, b.const(0))


def _ldexp(b: Builder, args: Sequence[Any]) -> Any:
    """The mantissa times two powers of two, of which only the second may round."""
    x = Real(b, b.op("to_float64", args[0]) if args[0].type is FLOAT32 else args[0])
    usual, _, _ = _moved(x)
    # Sums of exponents stay in 64 bits if the larger one is cut off before.
    places = b.op("min", b.op("max", args[1], b.const(-4 * _FARTHEST)), b.const(4 * _FARTHEST))
    places = b.op("wrapping_add", places, _exponent(x).term)
    places = b.op("min", b.op("max", places, b.const(-_FARTHEST)), b.const(_FARTHEST))
    half = Whole(b, b.op("ashr", places, b.const(1)))
    rest = Whole(b, b.op("wrapping_sub", places, half.term))
    first, second = (((each + 1023) << 52).real() for each in (half, rest))
    result = where(usual, _mantissa(x) * first * second, x).term
    return b.op("to_float32", result) if args[0].type is FLOAT32 else result


def _ldexp_raises(b: Builder, args: Sequence[Any]) -> Any:
    result = Real(b, _ldexp(b, args))
    return (abs(result).equals(math.inf) & (abs(Real(b, args[0])) < math.inf)).term


def _places(name: str, rule: Callable[[tuple[ScalarType, ...]], Signature]) -> Callable[..., Signature]:
    """A float, and an int as a number of places."""

    def signature(types: tuple[ScalarType, ...]) -> Signature:
        if types[1].is_float:
            raise NotCompilable(f"`{name}` by a float: Python raises TypeError")
        value = rule(types[:1])
        return Signature((value.operands[0], INT), value.result)

    return signature


def _np_ldexp(x: Any, places: int) -> Any:
    return _like(x, np.ldexp(x, max(min(places, 1 << 30), -1 << 30)))


# Neighbours


def _nextafter(x: Real, y: Real) -> Real:
    """The bits of the neighbour away from zero are one more."""
    outwards = (y > x) & (x > 0.0) | (y < x) & (x < 0.0)
    bits = x.bits()
    moved = _chosen(outwards, bits + 1, bits - 1).real()
    moved = where(x.equals(0.0), x.constant(_LEAST).with_sign_of(y), moved)
    return _next(x, y, moved)


def _nextafter32(x: Real, y: Real) -> Real:
    """The same for float32 numbers that are held in 64 bits; subnormal ones have one distance."""
    outwards = (y > x) & (x > 0.0) | (y < x) & (x < 0.0)
    bits = x.bits()
    moved = _chosen(outwards, bits + _PLACE32, bits - _PLACE32).real()
    near = (abs(x) < _NORMAL32) | (abs(x).equals(_NORMAL32) & ((x > 0.0) & (y < x) | (x < 0.0) & (y > x)))
    step = where(y > x, _LEAST32, -_LEAST32)
    beside = x + step
    beside = where(beside.equals(0.0), beside.with_sign_of(x), beside)
    moved = where(abs(x).equals(math.inf), x.constant(_MOST32).with_sign_of(x), where(near, beside, moved))
    return _next(x, y, moved)


def _next(x: Real, y: Real, moved: Real) -> Real:
    return where(x.equals(y), y, where(x.differs(x) | y.differs(y), math.nan, moved))


def _expand_nextafter(b: Builder, args: Sequence[Any]) -> Any:
    return expansion(_nextafter32 if args[0].type is FLOAT32 else _nextafter)(b, args)


def _expand_spacing(b: Builder, args: Sequence[Any]) -> Any:
    """The distance to the next number away from zero, of the largest one infinite, with the sign."""

    def spacing(x: Real) -> Real:
        outside = x.constant(math.inf).with_sign_of(where(x.equals(0.0), 1.0, x))
        neighbour = _nextafter32 if args[0].type is FLOAT32 else _nextafter
        limit = _MOST32 if args[0].type is FLOAT32 else _MOST
        next_one = where(abs(x) >= limit, outside, neighbour(x, outside))
        return next_one - x

    return expansion(spacing)(b, args)


def _ulp(x: Real) -> Real:
    """The distance to the next larger number, of the largest one to the one before."""
    size = abs(x)
    bits = size.bits()
    distance = where(size.equals(_MOST), size - (bits - 1).real(), (bits + 1).real() - size)
    return where(size < math.inf, distance, size)


def _signbit(b: Builder, args: Sequence[Any]) -> Any:
    x = b.op("to_float64", args[0]) if args[0].type is FLOAT32 else args[0]
    return b.op("lt", b.op("float_bits", x), b.const(0))


# Arithmetic


def _remainder(x: Real, y: Real) -> Real:
    """IEEE's remainder, where the quotient is below 2^53.

    The rounded quotient's nearest integer is wrong only where rounding made an integer and a half of it: then more than
    half the divisor is left.
    """
    whole = (x / y).unary("rint")
    rest = (-whole).fma(y, x)
    size = abs(rest)
    rest = where(size > abs(y) - size, rest - abs(y).with_sign_of(rest), rest)
    return where(rest.equals(0.0), rest.with_sign_of(x), rest)


def _chosen(flag: Flag, yes: Whole, no: Whole) -> Whole:
    return Whole(flag.builder, flag.builder.op("select", flag.term, yes.term, no.term))


def _like(x: Any, found: Any) -> Any:
    """A Python float of a float64, as Python's numbers give it."""
    return found if type(x) is np.float32 else float(found)


def _over(ufunc: Callable[..., Any]) -> Callable[..., Any]:
    """What it gives over Python's floats, as one of these."""

    def python(*args: Any) -> Any:
        return _like(args[0], ufunc(*args))

    return python


def _two(
    name: str, function: Any, ufunc: Any, above: float, below: float, spellings: tuple[object, ...]
) -> tuple[Op, ...]:
    """A product with the quotient of two constants, which float32 has a quotient of its own of."""
    single = float(np.float32(above) / np.float32(below))

    def expand(b: Builder, args: Sequence[Any]) -> Any:
        type_ = args[0].type
        return b.op("mul", args[0], b.const(single if type_ is FLOAT32 else above / below, type_))

    return (
        Op(f"math_{name}", 1, function, math_float, numpy=ufunc, expand=expand, spellings=(function,)),
        Op(name, 1, _over(ufunc), numpy_float, numpy=ufunc, expand=expand, spellings=spellings),
    )


def _predicate(types: tuple[ScalarType, ...]) -> Signature:
    return Signature(numpy_float(types).operands, BOOL)


_EXPONENTS = Interval(-1073, 1024)

ROWS = (
    *_two("degrees", math.degrees, np.degrees, 180.0, math.pi, (np.degrees, np.rad2deg)),
    *_two("radians", math.radians, np.radians, math.pi, 180.0, (np.radians, np.deg2rad)),
    Op("math_modf_fraction", 1, lambda x: math.modf(x)[0], math_float, numpy=_modf_fraction,
       expand=_expand_fraction),
    Op("math_modf_whole", 1, lambda x: math.modf(x)[1], math_float, numpy=np.trunc,
       expand=lambda b, args: b.op("trunc", args[0])),
    Op("modf_fraction", 1, _over(_modf_fraction), numpy_float, numpy=_modf_fraction,
       expand=_expand_fraction),
    Op("modf_whole", 1, _over(np.trunc), numpy_float, numpy=np.trunc,
       expand=lambda b, args: b.op("trunc", args[0])),
    Op("math_frexp_mantissa", 1, lambda x: math.frexp(x)[0], math_float, numpy=lambda x: np.frexp(x)[0],
       expand=expansion(_mantissa)),
    Op("math_frexp_exponent", 1, lambda x: math.frexp(x)[1], fixed((FLOAT,), INT), "",
       lambda x: np.frexp(x)[1].astype(np.int64), lambda x: _EXPONENTS, expand=_expand_exponent),
    Op("math_ldexp", 2, math.ldexp, _places("math.ldexp", math_float), expand=_ldexp, trouble=_ldexp_raises,
       spellings=(math.ldexp,)),
    Op("ldexp", 2, _np_ldexp, _places("np.ldexp", numpy_float), numpy=np.ldexp, expand=_ldexp,
       spellings=(np.ldexp,)),
    Op("math_nextafter", 2, math.nextafter, math_float, numpy=np.nextafter, expand=_expand_nextafter,
       spellings=(math.nextafter,)),
    Op("nextafter", 2, _over(np.nextafter), numpy_float, numpy=np.nextafter, expand=_expand_nextafter,
       spellings=(np.nextafter,)),
    Op("math_ulp", 1, math.ulp, math_float, expand=expansion(_ulp), spellings=(math.ulp,)),
    Op("spacing", 1, _over(np.spacing), numpy_float, numpy=np.spacing, expand=_expand_spacing,
       spellings=(np.spacing,)),
    Op("signbit", 1, lambda x: bool(np.signbit(x)), _predicate, "", np.signbit, lambda x: BIT, expand=_signbit,
       spellings=(np.signbit,)),
    Op("math_remainder", 2, math.remainder, math_float, expand=expansion(_remainder),
       trouble=float_quotient_trouble, spellings=(math.remainder,)),
)  # fmt: skip
