"""Rows: conversions between number types, and rounding.

Between int64 and float64 some machines have no instruction for vectors (AVX2, SSE). There a number is put into the low
bits of a float's mantissa, or read from them: 2^52 and 3 · 2^51 have the places of 2^51 and below in them.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from hastega_magic.interval import BIT, INT64, Interval
from hastega_magic.ops.row import Builder, Op, Signature, fixed, float_predicate, ufunc_float
from hastega_magic.types import FLOAT, FLOAT32, FLOAT64, INT, ScalarType

EXACT_FLOAT = 1 << 53
"""Integers up to this magnitude are float64 values."""

NUMPY_INTEGERS: tuple[type, ...] = tuple({np.dtype(code).type for code in np.typecodes["AllInteger"]})
"""NumPy's integers, without its durations: `np.integer` has `timedelta64` among its subclasses."""

_INT64_SPAN = 2.0**63

WHOLE = 1 << 51
"""`whole_to_int` is for whole numbers below this magnitude."""

_LOW = (1 << 32) - 1
_ONES, _ONES_BITS = 2.0**52, 0x4330000000000000
"""A float whose last place is 1, and its bits."""
_SIGNED, _SIGNED_BITS = 1.5 * 2.0**52, 0x4338000000000000
"""The same with room for what is taken away."""
_HIGH_BITS = 0x4530000080000000
"""Of the float whose last place is 2^32, with room for 2^31 of these."""
_BOTH = 2.0**84 + 2.0**63 + 2.0**52


def _expand_int_to_float(b: Builder, args: Sequence[Any]) -> Any:
    """Put the bits in the mantissa; of more than fit there, put the halves into one each, whose sum is rounded once."""
    (x,) = args
    if b.range_of(x).within(Interval(-WHOLE, WHOLE - 1)):
        shifted = b.op("wrapping_add", x, b.const(_SIGNED_BITS))
        return b.op("sub", b.op("bits_float", shifted), b.const(_SIGNED))
    high = b.op("xor", b.op("lshr", x, b.const(32)), b.const(_HIGH_BITS))
    low = b.op("or", b.op("and", x, b.const(_LOW)), b.const(_ONES_BITS))
    return b.op("add", b.op("sub", b.op("bits_float", high), b.const(_BOTH)), b.op("bits_float", low))


def _not_whole(b: Builder, args: Sequence[Any]) -> Any:
    (x,) = args
    whole = b.op("eq", x, b.op("trunc", x))
    return b.op("not", b.op("and", whole, b.op("le", b.op("fabs", x), b.const(float(WHOLE)))))


def _expand_whole_to_int(b: Builder, args: Sequence[Any]) -> Any:
    shifted = b.op("float_bits", b.op("add", args[0], b.const(_SIGNED)))
    return b.op("wrapping_sub", shifted, b.const(_SIGNED_BITS))


def halves_to_int(b: Builder, whole: Any) -> Any:
    """The low 64 bits of a whole float64 from -2^63 to below 2^64, whose halves fit into a mantissa each."""
    above = b.op("floor", b.op("mul", whole, b.const(2.0**-32)))
    below = b.op("fma", above, b.const(-(2.0**32)), whole)
    high = b.op("wrapping_shl", b.op("float_bits", b.op("add", above, b.const(_SIGNED))), b.const(32))
    low = b.op("xor", b.op("float_bits", b.op("add", below, b.const(_ONES))), b.const(_ONES_BITS))
    return b.op("or", high, low)


def _expand_float_to_int(b: Builder, args: Sequence[Any]) -> Any:
    (x,) = args
    if x.type is FLOAT32:
        x = b.op("to_float64", x)
    return halves_to_int(b, b.op("trunc", x))


def _not_in_int64(b: Builder, args: Sequence[Any]) -> Any:
    return b.op("not", b.op("lt", b.op("fabs", args[0]), b.const(_INT64_SPAN, args[0].type)))


def is_larger(b: Builder, node: Any, limit: int) -> Any:
    """Whether an int is beyond the limit, to either side."""
    if b.range_of(node).at_most(limit):
        return b.const(False)
    return b.op("or", b.op("lt", node, b.const(-limit)), b.op("gt", node, b.const(limit)))


def _not_exact(b: Builder, args: Sequence[Any]) -> Any:
    return is_larger(b, args[0], EXACT_FLOAT)


def _float_to_int(types: tuple[ScalarType, ...]) -> Signature:
    """A float in (float32 stays), an int out."""
    signature = ufunc_float(types)
    return Signature(signature.operands, INT)


def _rounded(name: str, python: Any, rounding: str, numpy: Any, spelling: object, written: str = "") -> Op:
    """A float made an int: int(), math.floor(), math.ceil(), round()."""

    def expand(b: Builder, args: Sequence[Any]) -> Any:
        inside = b.op("lt", b.op("fabs", args[0]), b.const(_INT64_SPAN, args[0].type))
        safe = b.op("select", inside, args[0], b.const(0.0, args[0].type))
        return b.op("float_to_int", b.op(rounding, safe) if rounding else safe)

    return Op(
        name, 1, python, _float_to_int, "", lambda a: numpy(a).astype(np.int64), lambda a: INT64,
        expand=expand, trouble=_not_in_int64, spellings=(spelling,),
        written=written,
    )  # fmt: skip


def _exact_float(value: int) -> float:
    """The same number, which a comparison with an int needs; OverflowError where float64 has none."""
    found = float(value)
    if found != value:
        raise OverflowError(f"no float64 is {value}")
    return found


def _round_ufunc(name: str, numpy: Any, opencl: str) -> Op:
    return Op(
        name, 1, lambda a: float(numpy(a)), ufunc_float, "", numpy,
        llvm={"float": f"call {{r}} @llvm.{name}.{{m}}({{t}} {{0}})"},
        opencl={"float": f"{opencl}({{0}})"}, spellings=(numpy,),
    )  # fmt: skip


ROWS = (
    Op("int_to_float", 1, float, fixed((INT,), FLOAT), "float", lambda a: np.asarray(a).astype(np.float64),
       llvm={"int": "sitofp {t} {0} to {r}"}, opencl={"int": "convert_double({0})"},
       expand=_expand_int_to_float),
    Op("exact_float", 1, _exact_float, fixed((INT,), FLOAT), "float", lambda a: np.asarray(a).astype(np.float64),
       llvm={"int": "sitofp {t} {0} to {r}"}, opencl={"int": "convert_double({0})"},
       expand=_expand_int_to_float, trouble=_not_exact),
    Op("to_float32", 1, lambda a: float(np.float32(a)), fixed((FLOAT,), FLOAT32), "float32",
       lambda a: np.asarray(a).astype(np.float32), llvm={"float": "fptrunc {t} {0} to {r}"},
       opencl={"float": "convert_float({0})"}),
    Op("to_float64", 1, float, fixed((FLOAT32,), FLOAT64), "float64",
       lambda a: np.asarray(a).astype(np.float64),
       llvm={"float": "fpext {t} {0} to {r}"}, opencl={"float": "convert_double({0})"}),
    Op("float_to_int", 1, int, _float_to_int, "int", lambda a: np.trunc(a).astype(np.int64), lambda a: INT64,
       llvm={"float": "fptosi {t} {0} to {r}"}, opencl={"float": "convert_long({0})"},
       expand=_expand_float_to_int, trouble=_not_in_int64),
    # Of a whole float64 below WHOLE, as lowering makes them.
    Op("whole_to_int", 1, int, fixed((FLOAT,), INT), "int", lambda a: np.asarray(a).astype(np.int64),
       lambda a: Interval(-WHOLE, WHOLE), llvm={"float": "fptosi {t} {0} to {r}"},
       opencl={"float": "convert_long({0})"}, expand=_expand_whole_to_int, trouble=_not_whole),
    _rounded("int", int, "", np.trunc, math.trunc),
    _rounded("floor_int", math.floor, "floor", np.floor, math.floor, "floor"),
    _rounded("ceil_int", math.ceil, "ceil", np.ceil, math.ceil, "ceil"),
    _rounded("round_int", round, "rint", np.rint, round, "round"),
    _round_ufunc("floor", np.floor, "floor"),
    _round_ufunc("ceil", np.ceil, "ceil"),
    _round_ufunc("trunc", np.trunc, "trunc"),
    _round_ufunc("rint", np.rint, "rint"),
    Op("fabs", 1, math.fabs, ufunc_float, "", np.fabs, llvm={"float": "call {r} @llvm.fabs.{m}({t} {0})"},
       opencl={"float": "fabs({0})"}, spellings=(np.fabs,)),
    Op("isnan", 1, math.isnan, float_predicate, "", np.isnan, lambda a: BIT,
       expand=lambda b, args: b.op("ne", args[0], args[0]), spellings=(math.isnan, np.isnan)),
    Op("isinf", 1, math.isinf, float_predicate, "", np.isinf, lambda a: BIT,
       expand=lambda b, args: b.op("eq", b.op("fabs", args[0]), b.const(math.inf, args[0].type)),
       spellings=(math.isinf, np.isinf)),
    Op("isfinite", 1, math.isfinite, float_predicate, "", np.isfinite, lambda a: BIT,
       expand=lambda b, args: b.op("lt", b.op("fabs", args[0]), b.const(math.inf, args[0].type)),
       spellings=(math.isfinite, np.isfinite)),
    Op("truth", 1, operator.truth, float_predicate, "bool", lambda a: np.asarray(a) != 0, lambda a: BIT,
       expand=lambda b, args: b.op("ne", args[0], b.const(0.0, args[0].type))),
)  # fmt: skip

__all__ = ["EXACT_FLOAT", "FLOAT64", "NUMPY_INTEGERS", "ROWS", "WHOLE", "halves_to_int"]
