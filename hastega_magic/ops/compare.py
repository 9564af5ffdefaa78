"""Rows: comparisons, bit operations, logic and selection."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from hastega_magic import interval
from hastega_magic.errors import MixedTypes
from hastega_magic.interval import BIT, Interval
from hastega_magic.ops.row import Builder, Op, Signature, bitwise, comparison, fixed, integers, untyped
from hastega_magic.types import BOOL, INT, ScalarType, promote

TURNED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
"""A comparison, and that of its operands the other way round."""

_COMMUTES = frozenset({"commutative", "associative"})
_COUNTS = Interval(0, 63)


def _compare(name: str, symbol: str, python: Any, numpy: Any, signed: str, ordered: str, unsigned: str) -> Op:
    return Op(
        name, 2, python, comparison, symbol, numpy, lambda a, b: BIT,
        llvm={"int": f"icmp {signed} {{t}} {{0}}, {{1}}", "float": f"fcmp {ordered} {{t}} {{0}}, {{1}}",
              "bool": f"icmp {unsigned} {{t}} {{0}}, {{1}}"},
        opencl=dict.fromkeys(("int", "float", "bool"), f"{{0}} {symbol} {{1}}"), spellings=(python, numpy),
    )  # fmt: skip


def _selection(types: tuple[ScalarType, ...]) -> Signature:
    _, yes, no = types
    if yes.is_float != no.is_float:
        raise MixedTypes("the result would be an int for some elements and a float for others")
    if yes.is_integral and yes != no:
        raise MixedTypes("the result would be a bool for some elements and an int for others")
    if yes.is_float and {yes, no} & {ScalarType.FLOAT32} and yes != no:
        raise MixedTypes("the result would be float32 for some elements and float64 for others")
    result = promote(yes, no)
    return Signature((BOOL, result, result), result)


def _shift_left_overflow(b: Builder, args: Sequence[Any]) -> Any:
    x, count = args
    safe = _machine_count(b, count)
    shifted = b.op("ashr", b.op("wrapping_shl", x, safe), safe)
    too_far = b.op("and", b.op("gt", count, b.const(63)), b.op("ne", x, b.const(0)))
    return b.op("or", b.op("ne", shifted, x), too_far)


def _machine_count(b: Builder, count: Any) -> Any:
    """A count that the machine's shifts accept; 63 stands for all others."""
    return count if b.range_of(count).within(_COUNTS) else b.op("umin", count, b.const(63))


def _shift_left(b: Builder, args: Sequence[Any]) -> Any:
    x, count = args
    shifted = b.op("wrapping_shl", x, _machine_count(b, count))
    if b.range_of(count).within(_COUNTS):
        return shifted
    return b.op("select", b.op("gt", count, b.const(63)), b.const(0), shifted)


def _shift_right(b: Builder, args: Sequence[Any]) -> Any:
    return b.op("ashr", args[0], _machine_count(b, args[1]))


def _negative_count(b: Builder, args: Sequence[Any]) -> Any:
    return b.op("lt", args[1], b.const(0))


def _bit(name: str, symbol: str, python: Any, numpy: Any, rule: Any) -> Op:
    text = f"{name} {{r}} {{0}}, {{1}}"
    return Op(
        name, 2, python, bitwise, symbol, numpy, rule, llvm={"int": text, "bool": text},
        opencl={"int": f"{{0}} {symbol} {{1}}", "bool": f"{{0}} {symbol} {{1}}"},
        spellings=(python, numpy), traits=_COMMUTES,
    )  # fmt: skip


ROWS = (
    _compare("eq", "==", operator.eq, np.equal, "eq", "oeq", "eq"),
    _compare("ne", "!=", operator.ne, np.not_equal, "ne", "une", "ne"),
    _compare("lt", "<", operator.lt, np.less, "slt", "olt", "ult"),
    _compare("le", "<=", operator.le, np.less_equal, "sle", "ole", "ule"),
    _compare("gt", ">", operator.gt, np.greater, "sgt", "ogt", "ugt"),
    _compare("ge", ">=", operator.ge, np.greater_equal, "sge", "oge", "uge"),
    _bit("and", "&", untyped.and_, np.bitwise_and, interval.bit_and),
    _bit("or", "|", untyped.or_, np.bitwise_or, interval.bit_or),
    _bit("xor", "^", untyped.xor, np.bitwise_xor, interval.bit_or),
    Op("invert", 1, operator.invert, integers, "~", np.invert, interval.invert,
       llvm={"int": "xor {r} {0}, {ones}"}, opencl={"int": "~{0}"}, spellings=(operator.invert, np.invert)),
    Op("shl", 2, untyped.lshift, integers, "<<", np.left_shift, interval.shift_left,
       expand=_shift_left, trouble=_negative_count,
       overflow=_shift_left_overflow, spellings=(untyped.lshift, np.left_shift)),
    Op("shr", 2, untyped.rshift, integers, ">>", np.right_shift, interval.shift_right,
       expand=_shift_right, trouble=_negative_count, spellings=(untyped.rshift, np.right_shift)),
    Op("not", 1, operator.not_, fixed((BOOL,), BOOL), "not ", np.logical_not, lambda a: BIT,
       llvm={"bool": "xor {r} {0}, {ones}"}, opencl={"bool": "!{0}"}, spellings=(operator.not_,)),
    Op("select", 3, lambda c, yes, no: yes if c else no, _selection, "", np.where,
       lambda c, yes, no: yes.join(no),
       llvm=dict.fromkeys(("bool", "int", "float"), "select {t0} {0}, {r} {1}, {r} {2}"),
       opencl=dict.fromkeys(("bool", "int", "float"), "{0} ? {1} : {2}")),
    Op("bool_to_int", 1, int, fixed((BOOL,), INT), "int", lambda a: np.asarray(a).astype(np.int64),
       lambda a: BIT,
       llvm={"bool": "zext {t} {0} to {r}"}, opencl={"bool": "{0} & 1L"}),
)  # fmt: skip
