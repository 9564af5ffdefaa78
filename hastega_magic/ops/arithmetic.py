"""Rows: addition to power, minimum and maximum."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from hastega_magic import interval
from hastega_magic.interval import INT64_MAX, INT64_MIN
from hastega_magic.ops.row import Builder, Op, arithmetic, division, one_kind, ufunc_float, untyped
from hastega_magic.types import FLOAT32

_COMMUTES = frozenset({"commutative", "associative"})


def _sign_of_both(b: Builder, left: Any, right: Any) -> Any:
    return b.op("lt", b.op("and", left, right), b.const(0))


def _add_overflow(b: Builder, args: Sequence[Any]) -> Any:
    x, y = args
    result = b.op("wrapping_add", x, y)
    return _sign_of_both(b, b.op("xor", x, result), b.op("xor", y, result))


def _sub_overflow(b: Builder, args: Sequence[Any]) -> Any:
    x, y = args
    result = b.op("wrapping_sub", x, y)
    return _sign_of_both(b, b.op("xor", x, y), b.op("xor", x, result))


def _mul_overflow(b: Builder, args: Sequence[Any]) -> Any:
    # Two conversions and a product err by at most 3 · 2^-53, so a bound 2^-40 below 2^63 misses no overflow.
    product = b.op("mul", b.op("int_to_float", args[0]), b.op("int_to_float", args[1]))
    return b.op("ge", b.op("fabs", product), b.const(float(INT64_MAX) * (1 - 2.0**-40)))


def _is_minimum(b: Builder, args: Sequence[Any]) -> Any:
    return b.op("eq", args[0], b.const(INT64_MIN))


def _zero_divisor(b: Builder, args: Sequence[Any]) -> Any:
    if args[1].type is FLOAT32:  # NumPy's scalars divide by zero without an exception
        return b.const(False)
    return b.op("eq", args[1], b.const(0, args[1].type))


def _square(a: Any) -> Any:
    """The product, which may differ from libm's pow in the last bit (of a tie); overflow as float ** 2."""
    result = a * a
    if isinstance(result, float) and math.isinf(result) and math.isfinite(a):
        return a**2
    return result


def _sqr_trouble(b: Builder, args: Sequence[Any]) -> Any:
    x = args[0]
    if x.type is FLOAT32:
        return b.const(False)
    finite = b.op("lt", b.op("fabs", x), b.const(math.inf, x.type))
    infinite = b.op("eq", b.op("mul", x, x), b.const(math.inf, x.type))
    return b.op("and", finite, infinite)


ROWS = (
    Op("add", 2, operator.add, arithmetic, "+", np.add, interval.add,
       llvm={"int": "add {r} {0}, {1}", "float": "fadd {r} {0}, {1}"},
       opencl={"int": "{0} + {1}", "float": "{0} + {1}"},
       overflow=_add_overflow, spellings=(operator.add, np.add), traits=_COMMUTES),
    Op("sub", 2, operator.sub, arithmetic, "-", np.subtract, interval.sub,
       llvm={"int": "sub {r} {0}, {1}", "float": "fsub {r} {0}, {1}"},
       opencl={"int": "{0} - {1}", "float": "{0} - {1}"},
       overflow=_sub_overflow, spellings=(operator.sub, np.subtract)),
    Op("mul", 2, operator.mul, arithmetic, "*", np.multiply, interval.mul,
       llvm={"int": "mul {r} {0}, {1}", "float": "fmul {r} {0}, {1}"},
       opencl={"int": "{0} * {1}", "float": "{0} * {1}"},
       overflow=_mul_overflow, spellings=(operator.mul, np.multiply), traits=_COMMUTES),
    Op("neg", 1, operator.neg, arithmetic, "-", np.negative, interval.neg,
       llvm={"int": "sub {r} zeroinitializer, {0}", "float": "fneg {r} {0}"},
       opencl={"int": "-{0}", "float": "-{0}"},
       overflow=_is_minimum, spellings=(operator.neg, np.negative)),
    Op("pos", 1, operator.pos, arithmetic, "+", np.positive, lambda a: a, expand=lambda b, args: args[0],
       spellings=(operator.pos, np.positive)),
    Op("abs", 1, abs, arithmetic, "", np.abs, interval.absolute,
       llvm={"int": "call {r} @llvm.abs.{m}({t} {0}, i1 false)", "float": "call {r} @llvm.fabs.{m}({t} {0})"},
       opencl={"int": "as_long(abs({0}))", "float": "fabs({0})"}, overflow=_is_minimum,
       spellings=(abs, operator.abs, np.absolute)),
    Op("truediv", 2, untyped.truediv, division, "/", np.true_divide,
       llvm={"float": "fdiv {r} {0}, {1}"}, opencl={"float": "{0} / {1}"}, trouble=_zero_divisor,
       spellings=(untyped.truediv,)),
    Op("fdiv", 2, lambda a, b: float(np.float64(a) / np.float64(b)), division, "/", np.true_divide,
       llvm={"float": "fdiv {r} {0}, {1}"}, opencl={"float": "{0} / {1}"}, spellings=(np.true_divide,)),
    Op("sqr", 1, _square, ufunc_float, "", np.square, expand=lambda b, args: b.op("mul", args[0], args[0]),
       trouble=_sqr_trouble, written="**", traits=frozenset({"approximate"})),
    Op("min", 2, min, one_kind, "", None, interval.minimum,
       llvm={"int": "call {r} @llvm.smin.{m}({t} {0}, {t} {1})"}, opencl={"int": "min({0}, {1})"},
       expand=lambda b, args: b.op("select", b.op("lt", args[1], args[0]), args[1], args[0]),
       spellings=(min,)),
    Op("max", 2, max, one_kind, "", None, interval.maximum,
       llvm={"int": "call {r} @llvm.smax.{m}({t} {0}, {t} {1})"}, opencl={"int": "max({0}, {1})"},
       expand=lambda b, args: b.op("select", b.op("gt", args[1], args[0]), args[1], args[0]),
       spellings=(max,)),
)  # fmt: skip
