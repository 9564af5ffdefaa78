"""Rows: floating-point functions beyond arithmetic, and Python's % and // on floats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hastega_magic.ops.row import Builder, Op, math_float, numpy_float

_EXACT_QUOTIENT = 2.0**53


def _negative(b: Builder, args: Sequence[Any]) -> Any:
    return b.op("lt", args[0], b.const(0.0, args[0].type))


def _float_sqrt(a: float) -> float:
    return float(np.sqrt(np.float64(a)))


def float_quotient_trouble(b: Builder, args: Sequence[Any]) -> Any:
    """Where the quotient of a float // or % is not exact: zero, infinite or tiny divisors."""
    x, y = args
    zero = b.op("eq", y, b.const(0.0, y.type))
    infinite = b.op("eq", b.op("fabs", y), b.const(math.inf, y.type))
    bound = _EXACT_QUOTIENT if y.type.value != "float32" else 2.0**24
    large = b.op("ge", b.op("fabs", b.op("fdiv", x, y)), b.const(bound, y.type))
    return b.op("or", b.op("or", zero, infinite), large)


def _fmod(b: Builder, x: Any, y: Any) -> Any:
    """C's fmod where the quotient is below 2^53: one truncated division, a fused remainder, one correction.

    The remainder x - q·y is a multiple of the smaller operand's last place, at most |y|: the fma is exact.
    """
    zero = b.const(0.0, x.type)
    remainder = b.op("fma", b.op("neg", b.op("trunc", b.op("fdiv", x, y))), y, x)
    wrong = b.op(
        "and", b.op("ne", remainder, zero), b.op("ne", b.op("lt", remainder, zero), b.op("lt", x, zero))
    )
    return b.op("select", wrong, b.op("add", remainder, b.op("copysign", y, x)), remainder)


def expand_float_fmod(b: Builder, args: Sequence[Any]) -> Any:
    """Lower C's fmod; nothing that is left has the dividend's sign."""
    x, y = args
    remainder, zero = _fmod(b, x, y), b.const(0.0, x.type)
    return b.op("select", b.op("eq", remainder, zero), b.op("copysign", zero, x), remainder)


def _shifted(b: Builder, remainder: Any, y: Any) -> Any:
    zero = b.const(0.0, y.type)
    other_sign = b.op("ne", b.op("lt", remainder, zero), b.op("lt", y, zero))
    return b.op("and", b.op("ne", remainder, zero), other_sign)


def expand_float_mod(b: Builder, args: Sequence[Any]) -> Any:
    """Lower float % float as CPython's float_rem: fmod, then the divisor's sign."""
    x, y = args
    remainder = _fmod(b, x, y)
    zero = b.const(0.0, y.type)
    signed_zero = b.op("select", b.op("eq", remainder, zero), b.op("copysign", zero, y), remainder)
    return b.op("select", _shifted(b, remainder, y), b.op("add", remainder, y), signed_zero)


def expand_float_floordiv(b: Builder, args: Sequence[Any]) -> Any:
    """Lower float // float as CPython's _float_div_mod."""
    x, y = args
    remainder = _fmod(b, x, y)
    one, zero = b.const(1.0, x.type), b.const(0.0, x.type)
    quotient = b.op("fdiv", b.op("sub", x, remainder), y)
    quotient = b.op("select", _shifted(b, remainder, y), b.op("sub", quotient, one), quotient)
    floor = b.op("floor", quotient)
    half = b.op("gt", b.op("sub", quotient, floor), b.const(0.5, x.type))
    floor = b.op("select", half, b.op("add", floor, one), floor)
    return b.op("select", b.op("eq", quotient, zero), b.op("copysign", zero, b.op("fdiv", x, y)), floor)


ROWS = (
    Op("sqrt", 1, math.sqrt, math_float, "", np.sqrt, llvm={"float": "call {r} @llvm.sqrt.{m}({t} {0})"},
       opencl={"float": "sqrt({0})"}, trouble=_negative, spellings=(math.sqrt,)),
    Op("fsqrt", 1, _float_sqrt, numpy_float, "", np.sqrt, llvm={"float": "call {r} @llvm.sqrt.{m}({t} {0})"},
       opencl={"float": "sqrt({0})"}, spellings=(np.sqrt,)),
    Op("math_fabs", 1, math.fabs, math_float, "", np.fabs, expand=lambda b, args: b.op("fabs", args[0]),
       spellings=(math.fabs,)),
    Op("copysign", 2, math.copysign, numpy_float, "", np.copysign,
       llvm={"float": "call {r} @llvm.copysign.{m}({t} {0}, {t} {1})"},
       opencl={"float": "copysign({0}, {1})"}, spellings=(np.copysign,)),
    Op("math_fmod", 2, math.fmod, math_float, "", np.fmod, expand=expand_float_fmod, trouble=float_quotient_trouble,
       spellings=(math.fmod,)),
    Op("math_copysign", 2, math.copysign, math_float, "", np.copysign,
       expand=lambda b, args: b.op("copysign", args[0], args[1]), spellings=(math.copysign,)),
)  # fmt: skip
