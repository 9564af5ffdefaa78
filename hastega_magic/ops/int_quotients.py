"""Row: the quotient of two ints as a float, which Python rounds once, however large they are.

Up to 2^53 float64 holds both, and divides them so. A larger dividend is taken as a = h + l, l its ten lowest bits;
float64 holds all of h, too. q = h / b leaves the exact remainder h - q·b (one fused multiply-add), so that the
quotient is q + t with t = (h - q·b + l) / b. For |b| <= 2^40 the sum in brackets has at most 53 bits, and is exact.
Where q + t is not itself in the middle of two floats, t is further from what would bring it there than its rounding
moves it: let u be the distance from q to the next float; then |t| < 1024 u, such places are multiples of u / 4, and
t·b is one of u, or of 1; so t is at least u / 4b from them, more than 2^-53 |t|. So the last addition rounds as Python
does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hastega_magic.ops.convert import EXACT_FLOAT, is_larger
from hastega_magic.ops.row import Builder, Op, fixed, untyped
from hastega_magic.types import FLOAT, INT

MOST_DIVISOR = 1 << 40
"""Divisors up to which dividends beyond 2^53 are divided here."""

_LOWEST = 1023


def _trouble(b: Builder, args: Sequence[Any]) -> Any:
    dividend, divisor = args
    both = b.op("and", is_larger(b, dividend, EXACT_FLOAT), is_larger(b, divisor, MOST_DIVISOR))
    too_large = b.op("or", both, is_larger(b, divisor, EXACT_FLOAT))
    return b.op("or", b.op("eq", divisor, b.const(0)), too_large)


def _expand(b: Builder, args: Sequence[Any]) -> Any:
    dividend, divisor = args[0], b.op("int_to_float", args[1])
    if b.range_of(dividend).at_most(EXACT_FLOAT):
        return b.op("fdiv", b.op("int_to_float", dividend), divisor)
    large = is_larger(b, dividend, EXACT_FLOAT)
    low = b.op("and", dividend, b.op("select", large, b.const(_LOWEST), b.const(0)))
    high = b.op("int_to_float", b.op("wrapping_sub", dividend, low))
    quotient = b.op("fdiv", high, divisor)
    rest = b.op("fma", b.op("neg", quotient), divisor, high)
    more = b.op("fdiv", b.op("add", rest, b.op("int_to_float", low)), divisor)
    return b.op("select", large, b.op("add", quotient, more), quotient)


def _numpy(a: Any, b: Any) -> Any:
    """float64 rounds what is beyond 2^53, so that Python divides it."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found: npt.NDArray[Any] = np.asarray(np.true_divide(a, b))
    pairs: Any = np.broadcast_arrays(a, b)
    large = np.zeros(found.shape, bool)
    for each in pairs:
        large |= (each > EXACT_FLOAT) | (each < -EXACT_FLOAT)
    large &= pairs[1] != 0
    dividends, divisors = (each[large].tolist() for each in pairs)
    found[large] = [x / y for x, y in zip(dividends, divisors, strict=True)]
    return found


ROWS = (
    Op("int_truediv", 2, untyped.truediv, fixed((INT, INT), FLOAT), "/", _numpy, expand=_expand, trouble=_trouble),
)  # fmt: skip
