"""Rows: Python's floor division and modulo, and their lowering to vectors without a scalar division.

Ranges decide. Where both operands are below 2^53, a float64 quotient and a fused remainder are exact up to one
correction; a constant divisor needs only its reciprocal. The full int64 range takes the quotient twice, by one
reciprocal. Machines that estimate reciprocals refine them, which takes a quarter of a division's time. Where one
element waits for what the one before gave, the machine has it sooner by its own division, or by the products that stand
for one by a constant.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from hastega_magic import interval
from hastega_magic.interval import INT64_MIN, Interval
from hastega_magic.ops.convert import WHOLE
from hastega_magic.ops.elementary import expand_float_floordiv, expand_float_mod, float_quotient_trouble
from hastega_magic.ops.row import Builder, Op, arithmetic, fixed, untyped
from hastega_magic.types import INT

EXACT = (1 << 53) - 1
"""Operands up to which one float64 division finds the quotient."""

_UNDER = 1 - 2.0**-50
"""Makes a quotient by a reciprocal an underestimate: two conversions, a division and two products err by less."""

_UNDER_REFINED = 1 - 2.0**-40
"""The same for a refined estimate, which errs by less than 2^-41."""

_NEAR = 1 << 40
"""Dividends up to which a product with a refined estimate is within a quarter of the quotient."""


def _trouble(b: Builder, args: Sequence[Any]) -> Any:
    if args[1].type.is_float:
        return float_quotient_trouble(b, args)
    return b.op("eq", args[1], b.const(0))


def _floordiv_overflow(b: Builder, args: Sequence[Any]) -> Any:
    return b.op("and", b.op("eq", args[0], b.const(INT64_MIN)), b.op("eq", args[1], b.const(-1)))


def expand_floordiv(b: Builder, args: Sequence[Any]) -> Any:
    """Lower x // y."""
    return expand_float_floordiv(b, args) if args[0].type.is_float else divide(b, args[0], args[1])[0]


def expand_mod(b: Builder, args: Sequence[Any]) -> Any:
    """Lower x % y."""
    return expand_float_mod(b, args) if args[0].type.is_float else divide(b, args[0], args[1])[1]


def divide(b: Builder, x: Any, y: Any) -> tuple[Any, Any]:
    """Floor quotient and remainder of int64 nodes; lanes where y is zero give some value and never trap."""
    if b.serial:
        return _by_machine(b, x, y)
    divisor = b.range_of(y)
    constant = divisor.lo if divisor.lo == divisor.hi else None
    small = b.range_of(x).at_most(EXACT) and divisor.at_most(EXACT)
    if constant is not None and constant < 0:
        quotient, remainder = divide(b, b.op("neg", x), b.const(-constant)) if small else _wide(b, x, y)
        return (quotient, b.op("neg", remainder)) if small else (quotient, remainder)
    if constant and small and constant > 2:
        return _by_constant(b, x, constant)
    safe = y if 0 not in divisor else b.op("select", b.op("eq", y, b.const(0)), b.const(1), y)
    return _small(b, x, safe, divisor) if small else _wide(b, x, safe)


def _by_machine(b: Builder, x: Any, y: Any) -> tuple[Any, Any]:
    """One division, which truncates; it is not asked for what may trap, a division by 0 or of -2^63 by -1.

    Ranges do not say that a divisor is none of these: they hold where the node is demanded and no guard fires, and what
    a finished turn or a wrapped sum leaves is divided by all the same. `ult` is not decided by them.
    """
    dividend, divisor, zero = b.range_of(x), b.range_of(y), b.const(0)
    negated = b.op("eq", y, b.const(-1))
    if divisor.lo is not None and divisor.lo == divisor.hi and divisor.lo not in (0, -1):
        safe = b.const(divisor.lo)
    else:
        traps = b.op("ult", b.op("wrapping_add", y, b.const(1)), b.const(2))
        safe = b.op("select", traps, b.const(1), y)
    quotient, remainder = b.op("truncated_div", x, safe), b.op("truncated_mod", x, safe)
    if -1 in divisor:
        quotient = b.op("select", negated, b.op("wrapping_sub", zero, x), quotient)
    if _least(dividend) >= 0 and _least(divisor) >= 0:
        return quotient, remainder
    wrong = b.op("lt", remainder, zero)
    if _least(divisor) < 0:
        wrong = b.op("and", b.op("ne", remainder, zero), b.op("ne", wrong, b.op("lt", y, zero)))
    quotient = b.op("select", wrong, b.op("wrapping_sub", quotient, b.const(1)), quotient)
    return quotient, b.op("select", wrong, b.op("wrapping_add", remainder, y), remainder)


def _least(of: Interval) -> int:
    return INT64_MIN if of.lo is None else of.lo


def _by_constant(b: Builder, x: Any, divisor: int) -> tuple[Any, Any]:
    """Reciprocal, rounded to nearest: the remainder is about ±divisor/2, so one correction suffices."""
    value, size = b.op("int_to_float", x), b.const(float(divisor))
    quotient = b.op("rint", b.op("mul", value, b.const(1.0 / divisor)))
    remainder = b.op("fma", b.op("neg", quotient), size, value)
    negative = b.op("lt", remainder, b.const(0.0))
    quotient = b.op("select", negative, b.op("sub", quotient, b.const(1.0)), quotient)
    remainder = b.op("select", negative, b.op("add", remainder, size), remainder)
    return _to_int(b, quotient, b.range_of(x), divisor), _to_int(b, remainder, interval.point(divisor))


def _to_int(b: Builder, whole: Any, bound: Interval, divisor: int = 1) -> Any:
    """A whole float of at most the bound's magnitude, which is divided, and one more."""
    small = bound.at_most((WHOLE - 2) * divisor)
    return b.op("whole_to_int" if small else "float_to_int", whole)


def _refined(b: Builder, size: Any, goal: float = 1.0) -> Any:
    """`goal` / size by an estimate within 2^-14 of 1 / size and one cubic step, to within 2^-41."""
    estimate = b.op("reciprocal_estimate", size)
    error = b.op("fma", b.op("neg", size), estimate, b.const(goal))
    return b.op("fma", estimate, b.op("fma", error, error, error), estimate)


def _small_quotient(b: Builder, x: Any, value: Any, size: Any) -> Any:
    """An integer that is the floor of value / size or one more; what is rounded never crosses an integer.

    That holds for IEEE's division, and for a product with a refined reciprocal to which what it leaves is added: that
    errs by less than 2^-30 of a last place before it is rounded, and by nothing if the quotient is an integer.
    """
    if not b.estimates:
        return b.op("floor", b.op("fdiv", value, size))
    reciprocal = _refined(b, size)
    quotient = b.op("mul", value, reciprocal)
    if b.range_of(x).at_most(_NEAR):
        return b.op("rint", quotient)
    rest = b.op("fma", b.op("neg", quotient), size, value)
    return b.op("floor", b.op("fma", rest, reciprocal, quotient))


def _small(b: Builder, x: Any, y: Any, divisor: Interval) -> tuple[Any, Any]:
    """The quotient in float64 is right or one too large."""
    value, size, zero = b.op("int_to_float", x), b.op("int_to_float", y), b.const(0.0)
    quotient = _small_quotient(b, x, value, size)
    remainder = b.op("fma", b.op("neg", quotient), size, value)
    if divisor.lo is not None and divisor.lo >= 0:
        wrong = b.op("lt", remainder, zero)
    else:
        crossed = b.op("ne", b.op("lt", remainder, zero), b.op("lt", size, zero))
        wrong = b.op("and", b.op("ne", remainder, zero), crossed)
    quotient = b.op("select", wrong, b.op("sub", quotient, b.const(1.0)), quotient)
    remainder = b.op("select", wrong, b.op("add", remainder, size), remainder)
    return _to_int(b, quotient, b.range_of(x)), _to_int(b, remainder, divisor)


def _wide(b: Builder, x: Any, y: Any) -> tuple[Any, Any]:
    """Magnitudes up to 2^63: an underestimated quotient, its remainder divided again, one correction, signs.

    Every step keeps remainder ≥ 0 and below 2^64, so wrapping arithmetic is exact. The first leaves less than
    2^26 times the divisor, the second less than twice.
    """
    zero, one = b.const(0), b.const(1)
    negative_x, negative_y = b.op("lt", x, zero), b.op("lt", y, zero)
    size_x = b.op("select", negative_x, b.op("wrapping_sub", zero, x), x)
    size_y = b.op("select", negative_y, b.op("wrapping_sub", zero, y), y)
    divisor = b.op("uint_to_float", size_y)
    if b.estimates:
        reciprocal = _refined(b, divisor, _UNDER_REFINED)
    else:
        reciprocal = b.op("mul", b.op("fdiv", b.const(1.0), divisor), b.const(_UNDER))
    quotient, remainder = zero, size_x
    for _ in range(2):
        part = b.op("float_to_uint", b.op("mul", b.op("uint_to_float", remainder), reciprocal))
        quotient = b.op("wrapping_add", quotient, part)
        remainder = b.op("wrapping_sub", remainder, b.op("wrapping_mul", part, size_y))
    fits = b.op("ult", remainder, size_y)
    quotient = b.op("select", fits, quotient, b.op("wrapping_add", quotient, one))
    remainder = b.op("select", fits, remainder, b.op("wrapping_sub", remainder, size_y))
    opposite = b.op("ne", negative_x, negative_y)
    quotient = b.op("select", opposite, b.op("wrapping_sub", zero, quotient), quotient)
    remainder = b.op("select", negative_x, b.op("wrapping_sub", zero, remainder), remainder)
    borrow = b.op("and", opposite, b.op("ne", remainder, zero))
    quotient = b.op("select", borrow, b.op("wrapping_sub", quotient, one), quotient)
    remainder = b.op("select", borrow, b.op("wrapping_add", remainder, y), remainder)
    return quotient, remainder


def _truncated(a: int, b: int) -> tuple[int, int]:
    if a == INT64_MIN and b == -1:
        raise OverflowError("no int64 holds the quotient")
    remainder = abs(a) % abs(b)
    remainder = -remainder if a < 0 else remainder
    return (a - remainder) // b, remainder


def _truncated_trouble(b: Builder, args: Sequence[Any]) -> Any:
    return b.op("or", _trouble(b, args), _floordiv_overflow(b, args))


def _quotients(a: Interval, b: Interval) -> Interval:
    """Where the floor is negative, one more at most, and not above 0."""
    floors = interval.floordiv(a, b)
    return floors if floors.hi is None or floors.hi >= 0 else Interval(floors.lo, floors.hi + 1)


def _remainders(a: Interval, b: Interval) -> Interval:
    """Of the dividend's sign, and smaller than the divisor."""
    known = [a.magnitude, None if b.magnitude is None else max(b.magnitude - 1, 0)]
    most = min((each for each in known if each is not None), default=None)
    below = None if most is None else -most
    return Interval(0 if _least(a) >= 0 else below, 0 if a.hi is not None and a.hi <= 0 else most)


ROWS = (
    Op("floordiv", 2, untyped.floordiv, arithmetic, "//", np.floor_divide, interval.floordiv,
       expand=expand_floordiv, trouble=_trouble, overflow=_floordiv_overflow, spellings=(untyped.floordiv,)),
    Op("mod", 2, operator.mod, arithmetic, "%", np.remainder, interval.mod,
       expand=expand_mod, trouble=_trouble, spellings=(operator.mod,)),
    Op("truncated_div", 2, lambda a, b: _truncated(a, b)[0], fixed((INT, INT), INT), "", None, _quotients,
       {"int": "sdiv {t} {0}, {1}"}, {"int": "{0} / {1}"}, trouble=_truncated_trouble, written="//"),
    Op("truncated_mod", 2, lambda a, b: _truncated(a, b)[1], fixed((INT, INT), INT), "", None, _remainders,
       {"int": "srem {t} {0}, {1}"}, {"int": "{0} % {1}"}, trouble=_truncated_trouble, written="%"),
)  # fmt: skip
