"""Rows: functions of NumPy that Python's own do not mean: extremes and limits, signs, steps, powers of ints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hastega_magic import interval
from hastega_magic.errors import NotCompilable
from hastega_magic.interval import INT64, Interval
from hastega_magic.ops.integers import expand_power, power_beyond, power_range
from hastega_magic.ops.row import Builder, Op, Signature, integers, numpy_float
from hastega_magic.types import BOOL, ScalarType, promote

_UNIT = Interval(-1, 1)
untyped: Any = np


def _common(types: tuple[ScalarType, ...]) -> Signature:
    """Operands of any kind, which become one."""
    result = promote(*types)
    return Signature((result,) * len(types), result)


def _number(types: tuple[ScalarType, ...]) -> Signature:
    """The same of one number; NumPy has no signs of bools."""
    if types == (BOOL,):
        raise NotCompilable("`np.sign` of a bool: NumPy raises TypeError")
    return _common(types)


def of_numbers(ufunc: np.ufunc) -> Callable[..., Any]:
    """What it gives over Python's numbers, as one of these."""

    def python(*args: Any) -> Any:
        found: Any = ufunc(*args)
        # Of integers beyond 64 bits NumPy makes Python's own.
        return found if type(found) in (np.float32, int) else found.item()

    return python


def _extremum(op: str, better: str) -> Callable[[Builder, Sequence[Any]], Any]:
    """The better of two; of equal ones the second, which zeros of two signs tell."""

    def expand(b: Builder, args: Sequence[Any]) -> Any:
        x, y = args
        if x.type is BOOL:
            return b.op("or" if op == "max" else "and", x, y)
        if not x.type.is_float:
            return b.op(op, x, y)
        first = b.op("or", b.op(better, x, y), b.op("isnan", x))
        return b.op("select", first, x, y)

    return expand


def _sign(b: Builder, args: Sequence[Any]) -> Any:
    (x,) = args
    zero, one, minus = (b.const(float(each) if x.type.is_float else each, x.type) for each in (0, 1, -1))
    of_zero = b.op("select", b.op("eq", x, zero), zero, x) if x.type.is_float else zero  # NaN stays
    return b.op("select", b.op("gt", x, zero), one, b.op("select", b.op("lt", x, zero), minus, of_zero))


# Extremes of which numbers beside NaN win, and limits


def _ignoring(better: Callable[[Any, Any], bool]) -> Callable[[Any, Any], Any]:
    """Of two numbers the first, unless it is NaN or the second is better."""

    def python(x: Any, y: Any) -> Any:
        return _as_one(x if better(x, y) or y != y else y, x, y)

    return python


def _expand_ignoring(op: str, better: str) -> Callable[[Builder, Sequence[Any]], Any]:
    def expand(b: Builder, args: Sequence[Any]) -> Any:
        x, y = args
        if not x.type.is_float:
            return b.op("or" if op == "max" else "and", x, y) if x.type is BOOL else b.op(op, x, y)
        return b.op("select", b.op("or", b.op(better, x, y), b.op("isnan", y)), x, y)

    return expand


def _limited(worse: Callable[[Any, Any], bool]) -> Callable[[Any, Any], Any]:
    """The number, or the limit where it is beyond; NaN wins."""

    def python(x: Any, limit: Any) -> Any:
        return _as_one(limit if worse(x, limit) or limit != limit else x, x, limit)

    return python


def _expand_limited(op: str, worse: str) -> Callable[[Builder, Sequence[Any]], Any]:
    def expand(b: Builder, args: Sequence[Any]) -> Any:
        x, limit = args
        if not x.type.is_float:
            return b.op(op, x, limit)
        return b.op("select", b.op("or", b.op(worse, x, limit), b.op("isnan", limit)), limit, x)

    return expand


def _first_if(test: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The same over arrays."""

    def numpy(x: Any, y: Any) -> Any:
        return untyped.where(test(x, y), x, y)

    return numpy


def _as_one(found: Any, *given: Any) -> Any:
    """As a number of the operands' common type."""
    return int(found) if type(found) is bool and int in map(type, given) else found


def _two_zeros(function: Callable[[Any, Any], Any]) -> Callable[[Builder, Sequence[Any]], Any] | None:
    """Zeros of two signs, unless this NumPy gives the first of them: that depends on versions and machines."""
    signed = [(kind(one), kind(-one)) for kind in (float, np.float32) for one in (0.0, -0.0)]
    if all(np.signbit(function(x, y)) == np.signbit(x) for x, y in signed):
        return None
    return _zeros_of_two_signs


def _zeros_of_two_signs(b: Builder, args: Sequence[Any]) -> Any:
    x, y = args
    if not x.type.is_float:
        return b.const(False)
    zero = b.const(0.0, x.type)
    zeros = b.op("and", b.op("eq", x, zero), b.op("eq", y, zero))
    return b.op("and", zeros, b.op("ne", b.op("signbit", x), b.op("signbit", y)))


def _better(test: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The first of two where the test holds, or it is no number: of the type that it has, NumPy's too."""
    return lambda x, y: x if x != x or test(x, y) else y


def _numbers(types: tuple[ScalarType, ...]) -> Signature:
    """Operands of any kind but bools alone, which become one."""
    if set(types) == {BOOL}:
        raise NotCompilable("of bools `np.clip` is left to NumPy")
    return _common(types)


# Steps, reciprocals and powers of ints


def _heaviside(b: Builder, args: Sequence[Any]) -> Any:
    x, middle = args
    zero, one = b.const(0.0, x.type), b.const(1.0, x.type)
    inner = b.op("select", b.op("eq", x, zero), middle, x)  # NaN stays
    return b.op("select", b.op("gt", x, zero), one, b.op("select", b.op("lt", x, zero), zero, inner))


def _of_floats(types: tuple[ScalarType, ...]) -> Signature:
    if not types[0].is_float:
        raise NotCompilable("`np.reciprocal` of ints is an int, and 0 for nearly all: NumPy computes it")
    return _common(types)


def _power_trouble(b: Builder, args: Sequence[Any]) -> Any:
    """Where NumPy raises, or wraps around."""
    return b.op("or", b.op("lt", args[1], b.const(0)), power_beyond(b, args))


def _powers(base: Interval, exponent: Interval) -> Interval:
    found = power_range(base, exponent)
    return found if found.fits_int64 else found.join(INT64)


def _int_power(types: tuple[ScalarType, ...]) -> Signature:
    if set(types) == {BOOL}:
        raise NotCompilable("`np.power` of bools is left to NumPy")
    return integers(types)


ROWS = (
    Op("np_maximum", 2, of_numbers(np.maximum), _common, "", np.maximum, interval.maximum,
       expand=_extremum("max", "gt"), spellings=(np.maximum,)),
    Op("np_minimum", 2, of_numbers(np.minimum), _common, "", np.minimum, interval.minimum,
       expand=_extremum("min", "lt"), spellings=(np.minimum,)),
    # A step of `.max()` and `.min()`: which zero is left of two depends on how many items NumPy takes at once.
    Op("np_larger", 2, _better(lambda x, y: x > y), _common, "", np.maximum, interval.maximum,
       expand=_extremum("max", "gt"), trouble=_zeros_of_two_signs),
    Op("np_smaller", 2, _better(lambda x, y: x < y), _common, "", np.minimum, interval.minimum,
       expand=_extremum("min", "lt"), trouble=_zeros_of_two_signs),
    Op("np_sign", 1, of_numbers(np.sign), _number, "", np.sign, lambda a: _UNIT, expand=_sign, spellings=(np.sign,)),
    Op("np_fmax", 2, _ignoring(lambda x, y: x >= y), _common, "",
       _first_if(lambda x, y: (x >= y) | (y != y)), interval.maximum, expand=_expand_ignoring("max", "ge"),
       trouble=_two_zeros(np.fmax), spellings=(np.fmax,)),
    Op("np_fmin", 2, _ignoring(lambda x, y: x <= y), _common, "",
       _first_if(lambda x, y: (x <= y) | (y != y)), interval.minimum, expand=_expand_ignoring("min", "le"),
       trouble=_two_zeros(np.fmin), spellings=(np.fmin,)),
    # The halves of np.clip between two limits; with one it is np.maximum or np.minimum.
    Op("np_at_least", 2, _limited(lambda x, low: x < low), _numbers, "",
       _first_if(lambda x, low: ~((x < low) | (low != low))), interval.maximum,
       expand=_expand_limited("max", "lt"), trouble=_two_zeros(lambda x, low: np.clip(x, low, 1.0))),
    Op("np_at_most", 2, _limited(lambda x, high: x > high), _numbers, "",
       _first_if(lambda x, high: ~((x > high) | (high != high))), interval.minimum,
       expand=_expand_limited("min", "gt"), trouble=_two_zeros(lambda x, high: np.clip(x, -1.0, high))),
    Op("heaviside", 2, of_numbers(np.heaviside), numpy_float, "", np.heaviside, expand=_heaviside,
       spellings=(np.heaviside,)),
    Op("reciprocal", 1, of_numbers(np.reciprocal), _of_floats, "", np.reciprocal,
       expand=lambda b, args: b.op("fdiv", b.const(1.0, args[0].type), args[0]), spellings=(np.reciprocal,)),
    Op("np_power", 2, of_numbers(np.power), _int_power, "", None, _powers, expand=expand_power,
       trouble=_power_trouble, reason="powers beyond 64 bits, or to a negative number"),
)  # fmt: skip
