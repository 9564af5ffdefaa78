"""Rows: what CPython computes with complex numbers by more than one operator, over their parts.

Products and sums of complex numbers are plain operators on the parts. Quotients follow Smith (CACM 5, 1962), absolute
values the C library's hypot (Borges, arXiv 1904.09481), as CPython's do, bit by bit.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from hastega_magic.ops.row import Builder, Op, fixed
from hastega_magic.types import FLOAT

_SCALE, _LARGE, _TINY, _APART = 2.0**600, 2.0**511, 2.0**-459, 2.0**54
_NEAR_OVERFLOW = 1.2e308
"""Smaller parts have an absolute value that float64 holds."""


# Quotients


def _zero_divisor(b: Builder, args: Sequence[Any]) -> Any:
    zero = b.const(0.0)
    return b.op("and", b.op("eq", args[2], zero), b.op("eq", args[3], zero))


def _scaled(b: Builder, args: Sequence[Any]) -> tuple[Any, Any, Any]:
    """Which part of the divisor is larger, the ratio of its parts, and what is divided by."""
    _, _, c, d = args
    first = b.op("ge", b.op("fabs", c), b.op("fabs", d))
    large, small = b.op("select", first, c, d), b.op("select", first, d, c)
    ratio = b.op("fdiv", small, large)
    return first, ratio, b.op("add", large, b.op("mul", small, ratio))


def _unknown(b: Builder, *parts: Any) -> Any:
    """Whether both parts are NaN, where Python, since 3.14, may find an infinity or a zero (C11, annex G.5.1)."""
    return b.op("and", *(b.op("ne", part, part) for part in parts))


_RECOVERS = sys.version_info >= (3, 14)
"""Whether Python does."""


def _quotient_trouble(b: Builder, args: Sequence[Any]) -> Any:
    zero = _zero_divisor(b, args)
    return (
        b.op("or", zero, _unknown(b, _quotient_real(b, args), _quotient_imag(b, args))) if _RECOVERS else zero
    )


def _quotient_real(b: Builder, args: Sequence[Any]) -> Any:
    x, y, _, _ = args
    first, ratio, divisor = _scaled(b, args)
    left = b.op("select", first, x, b.op("mul", x, ratio))
    right = b.op("select", first, b.op("mul", y, ratio), y)
    return b.op("fdiv", b.op("add", left, right), divisor)


def _quotient_imag(b: Builder, args: Sequence[Any]) -> Any:
    x, y, _, _ = args
    first, ratio, divisor = _scaled(b, args)
    left = b.op("select", first, y, b.op("mul", y, ratio))
    right = b.op("select", first, b.op("mul", x, ratio), x)
    return b.op("fdiv", b.op("sub", left, right), divisor)


# Quotients of a real number, and products, as they are since Python 3.14


def real_quotient(a: float, c: float, d: float) -> complex:
    """`a / complex(c, d)`, but for infinities that Python recovers; ZeroDivisionError where both parts are zero."""
    if abs(c) >= abs(d):
        ratio = d / c
        divisor = c + d * ratio
        return complex(a / divisor, -a * ratio / divisor)
    if abs(d) >= abs(c):
        ratio = c / d
        divisor = c * ratio + d
        return complex(a * ratio / divisor, -a / divisor)
    return complex(math.nan, math.nan)


def _real_quotient_real(b: Builder, args: Sequence[Any]) -> Any:
    first, ratio, divisor = _scaled(b, (None, *args))
    x = args[0]
    return b.op("fdiv", b.op("select", first, x, b.op("mul", x, ratio)), divisor)


def _real_quotient_imag(b: Builder, args: Sequence[Any]) -> Any:
    first, ratio, divisor = _scaled(b, (None, *args))
    x = b.op("neg", args[0])
    return b.op("fdiv", b.op("select", first, b.op("mul", x, ratio), x), divisor)


def _real_quotient_trouble(b: Builder, args: Sequence[Any]) -> Any:
    unknown = _unknown(b, _real_quotient_real(b, args), _real_quotient_imag(b, args))
    return b.op("or", _zero_divisor(b, (None, *args)), unknown)


def _product_real(b: Builder, args: Sequence[Any]) -> Any:
    x, y, c, d = args
    return b.op("sub", b.op("mul", x, c), b.op("mul", y, d))


def _product_imag(b: Builder, args: Sequence[Any]) -> Any:
    x, y, c, d = args
    return b.op("add", b.op("mul", x, d), b.op("mul", y, c))


def _product_trouble(b: Builder, args: Sequence[Any]) -> Any:
    return _unknown(b, _product_real(b, args), _product_imag(b, args))


# Absolute values


def absolute(a: float, b: float) -> float:
    """The absolute value of a complex number; OverflowError where float64 does not hold it."""
    x, y = abs(float(a)), abs(float(b))
    if math.isinf(x) or math.isinf(y):
        return math.inf
    large, small = (y, x) if x < y else (x, y)
    if large >= small * _APART:
        found = large + small
    else:
        scale = 1 / _SCALE if large > _LARGE else _SCALE if small < _TINY else 1.0
        found = _hypotenuse(large * scale, small * scale) / scale
    if math.isinf(found):
        raise OverflowError("absolute value too large")
    return found


def _hypotenuse(x: float, y: float) -> float:
    """The hypotenuse for x >= y, which neither overflows nor underflows: the root, corrected by what it has lost."""
    root = math.sqrt(x * x + y * y)
    if root <= 2.0 * y:
        rest = root - y
        lost = x * (2.0 * rest - x) + (rest - 2.0 * (x - y)) * rest
    else:
        rest = root - x
        lost = 2.0 * rest * (x - 2.0 * y) + ((4.0 * rest - y) * y + rest * rest)
    return root - lost / (2.0 * root)


def _expand_absolute(b: Builder, args: Sequence[Any]) -> Any:
    infinity, one, two = b.const(math.inf), b.const(1.0), b.const(2.0)
    x, y = (b.op("fabs", arg) for arg in args)
    less = b.op("lt", x, y)
    large, small = b.op("select", less, y, x), b.op("select", less, x, y)
    high, low = b.op("gt", large, b.const(_LARGE)), b.op("lt", small, b.const(_TINY))
    up, down = b.const(_SCALE), b.const(1 / _SCALE)
    scale = b.op("select", high, down, b.op("select", low, up, one))
    back = b.op("select", high, up, b.op("select", low, down, one))
    p, q = b.op("mul", large, scale), b.op("mul", small, scale)
    root = b.op("fsqrt", b.op("add", b.op("mul", p, p), b.op("mul", q, q)))
    near = b.op("le", root, b.op("mul", two, q))
    rest = b.op("sub", root, b.op("select", near, q, p))
    twice = b.op("mul", two, rest)
    one_near = b.op("mul", p, b.op("sub", twice, p))
    two_near = b.op("mul", b.op("sub", rest, b.op("mul", two, b.op("sub", p, q))), rest)
    one_far = b.op("mul", twice, b.op("sub", p, b.op("mul", two, q)))
    two_far = b.op("mul", b.op("sub", b.op("mul", b.const(4.0), rest), q), q)
    two_far = b.op("add", two_far, b.op("mul", rest, rest))
    lost = b.op("add", b.op("select", near, one_near, one_far), b.op("select", near, two_near, two_far))
    exact = b.op("mul", b.op("sub", root, b.op("fdiv", lost, b.op("mul", two, root))), back)
    apart = b.op("ge", large, b.op("mul", small, b.const(_APART)))
    found = b.op("select", apart, b.op("add", large, small), exact)
    infinite = b.op("or", b.op("eq", x, infinity), b.op("eq", y, infinity))
    return b.op("select", infinite, infinity, found)


def _absolute_trouble(b: Builder, args: Sequence[Any]) -> Any:
    near = [_between(b, arg, _NEAR_OVERFLOW) for arg in args]
    return b.op("or", *near)


def _between(b: Builder, x: Any, least: float) -> Any:
    size = b.op("fabs", x)
    return b.op("and", b.op("gt", size, b.const(least)), b.op("lt", size, b.const(math.inf)))


def _like_the_library() -> bool:
    """Whether CPython's `abs` gives the same bits here: not every C library has this hypot."""
    values = (0.1, 1 / 3, 0.7, 1.9, 2.3, 1e-5, 3e150, 7e-200)
    return all(absolute(x, y * 1.1) == abs(complex(x, y * 1.1)) for x in values for y in values)


# Powers


def _finite(a: float, b: float) -> float:
    if math.isinf(a) or math.isinf(b):
        raise OverflowError("complex exponentiation")
    return a


def _infinite(b: Builder, args: Sequence[Any]) -> Any:
    infinity = b.const(math.inf)
    return b.op("or", *(b.op("eq", b.op("fabs", arg), infinity) for arg in args))


_FOUR, _THREE, _TWO = (fixed((FLOAT,) * count, FLOAT) for count in (4, 3, 2))

ROWS = (
    Op("complex_quotient_real", 4, lambda a, b, c, d: (complex(a, b) / complex(c, d)).real, _FOUR, "", None,
       expand=_quotient_real, trouble=_quotient_trouble, written="/"),
    Op("complex_quotient_imag", 4, lambda a, b, c, d: (complex(a, b) / complex(c, d)).imag, _FOUR, "", None,
       expand=_quotient_imag, trouble=_quotient_trouble, written="/"),
    Op("real_by_complex_real", 3, lambda a, c, d: real_quotient(a, c, d).real, _THREE, "", None,
       expand=_real_quotient_real, trouble=_real_quotient_trouble, written="/"),
    Op("real_by_complex_imag", 3, lambda a, c, d: real_quotient(a, c, d).imag, _THREE, "", None,
       expand=_real_quotient_imag, trouble=_real_quotient_trouble, written="/"),
    Op("complex_product_real", 4, lambda a, b, c, d: (complex(a, b) * complex(c, d)).real, _FOUR, "", None,
       expand=_product_real, trouble=_product_trouble, written="*"),
    Op("complex_product_imag", 4, lambda a, b, c, d: (complex(a, b) * complex(c, d)).imag, _FOUR, "", None,
       expand=_product_imag, trouble=_product_trouble, written="*"),
    Op("complex_abs", 2, absolute, _TWO, "", np.hypot, expand=_expand_absolute, trouble=_absolute_trouble,
       written="abs", traits=frozenset() if _like_the_library() else frozenset({"approximate"})),
    # The first of two parts, of which Python lets none be infinite.
    Op("complex_finite", 2, _finite, _TWO, "", lambda a, b: a, expand=lambda b, args: args[0], trouble=_infinite,
       reason="complex numbers that are not finite"),
)  # fmt: skip
