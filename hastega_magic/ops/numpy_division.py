"""Rows: NumPy's quotients and remainders, which have values where Python raises ZeroDivisionError.

Of floats NumPy does what CPython does otherwise. Of integers a division by zero gives 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hastega_magic import interval
from hastega_magic.interval import INT64, INT64_MIN, Interval
from hastega_magic.ops.elementary import expand_float_floordiv, expand_float_fmod, expand_float_mod
from hastega_magic.ops.integer_division import divide
from hastega_magic.ops.numpy_functions import of_numbers
from hastega_magic.ops.row import Builder, Op, arithmetic
from hastega_magic.types import FLOAT32

_ZERO = Interval(0, 0)
Rule = Callable[[Builder, Sequence[Any]], Any]


def _is_zero(b: Builder, y: Any) -> Any:
    return b.op("eq", y, b.const(0.0 if y.type.is_float else 0, y.type))


def _trouble(b: Builder, args: Sequence[Any]) -> Any:
    """Where the quotient of floats is not exact, or an infinite one may be meant; of ints where it is 2^63."""
    x, y = args
    if not x.type.is_float:
        return b.op("and", b.op("eq", x, b.const(INT64_MIN)), b.op("eq", y, b.const(-1)))
    bound = b.const(2.0**24 if y.type is FLOAT32 else 2.0**53, y.type)
    large = b.op("not", b.op("lt", b.op("fabs", b.op("fdiv", x, y)), bound))
    infinite = b.op("eq", b.op("fabs", y), b.const(math.inf, y.type))
    undefined = b.op("or", b.op("isnan", x), b.op("isnan", y))
    usual = b.op("not", b.op("or", _is_zero(b, y), undefined))
    return b.op("and", usual, b.op("or", large, infinite))


def _expansion(of_floats: Rule, by_zero: Rule, of_ints: Rule) -> Rule:
    def expand(b: Builder, args: Sequence[Any]) -> Any:
        x, y = args
        if x.type.is_float:
            found, other = of_floats(b, args), by_zero(b, args)
        else:
            found, other = of_ints(b, args), b.const(0)
        return b.op("select", _is_zero(b, y), other, found)

    return expand


def _undefined(b: Builder, args: Sequence[Any]) -> Any:
    return b.const(math.nan, args[0].type)


def _truncated(b: Builder, args: Sequence[Any]) -> Any:
    """What is left of a quotient that is cut off has the dividend's sign."""
    x, y = args
    zero = b.const(0)
    remainder = divide(b, x, y)[1]
    crossed = b.op("ne", b.op("lt", remainder, zero), b.op("lt", x, zero))
    wrong = b.op("and", b.op("ne", remainder, zero), crossed)
    return b.op("select", wrong, b.op("wrapping_sub", remainder, y), remainder)


def _quotients(a: Interval, b: Interval) -> Interval:
    found = interval.floordiv(a, b).join(_ZERO)
    return found.join(INT64) if INT64_MIN in a and -1 in b else found


def _remainders(a: Interval, b: Interval) -> Interval:
    return interval.mod(a, b).join(_ZERO)


def _rest(a: Interval, b: Interval) -> Interval:
    """No further from zero than the dividend, on its side."""
    return a.join(_ZERO)


ROWS = (
    Op("np_floor_divide", 2, of_numbers(np.floor_divide), arithmetic, "", np.floor_divide, _quotients,
       expand=_expansion(expand_float_floordiv, lambda b, args: b.op("fdiv", *args),
                         lambda b, args: divide(b, *args)[0]),
       trouble=_trouble, spellings=(np.floor_divide,)),
    Op("np_remainder", 2, of_numbers(np.remainder), arithmetic, "", np.remainder, _remainders,
       expand=_expansion(expand_float_mod, _undefined, lambda b, args: divide(b, *args)[1]),
       trouble=_trouble, spellings=(np.remainder,)),
    Op("np_fmod", 2, of_numbers(np.fmod), arithmetic, "", np.fmod, _rest,
       expand=_expansion(expand_float_fmod, _undefined, _truncated), trouble=_trouble, spellings=(np.fmod,)),
)  # fmt: skip
