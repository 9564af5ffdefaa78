"""Ints beside floats as Python has them, where the machine needs no look at how large the ints are.

    x < 0.5       x < 1            an int is compared with an int, whatever float64 makes of it
    x / 1e9       float(x) / 1e9   the float rounds the int first in Python, too
    x / 1024      float(x) / 1024  a power of two rounds nothing after that
    x / 10        int_truediv      ops/int_quotients.py

Elsewhere ints are made floats by `exact_float`, which leaves those beyond 2^53 to Python.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from hastega_magic.interval import INT64
from hastega_magic.ir.expr import Expr, const, convert, make
from hastega_magic.ops.compare import TURNED
from hastega_magic.types import FLOAT, FLOAT64, INT

_FLOATS = (FLOAT, FLOAT64)

_ORDER = {"lt": (True, False), "le": (True, False), "gt": (False, True), "ge": (False, True)}
"""Whether an int is so related to +inf, and to -inf."""


def beside_infinity(op: str, operands: Sequence[Expr]) -> Expr | None:
    """What an int gives that is compared with an infinite constant: it needs not be a float for that."""
    if len(operands) != 2 or op not in (*_ORDER, "eq", "ne"):
        return None
    left, right = operands
    if left.op == "const":
        left, right, op = right, left, TURNED[op]
    value = right.value
    if (
        not left.type.is_integral
        or right.op != "const"
        or not isinstance(value, float)
        or not math.isinf(value)
    ):
        return None
    return const(op == "ne") if op in ("eq", "ne") else const(_ORDER[op][value < 0])


def beside_float(op: str, operands: Sequence[Expr]) -> Expr | None:
    """The comparison or quotient in such operators; None where ints have to be looked at, and for other operators."""
    if op == "truediv":
        return _quotient(*operands)
    if op not in TURNED:
        return None
    left, right = operands
    if left.op == "const" and left.type is FLOAT:
        op, left, right = TURNED[op], right, left
    # NumPy's float64 rounds the int that it is compared with.
    if left.op == "const" or left.type is not INT or right.op != "const" or right.type is not FLOAT:
        return None
    assert isinstance(right.value, float)
    return _compared(op, left, right.value)


def _compared(op: str, node: Expr, bound: float) -> Expr | None:
    """An int beside the whole number that decides as the bound does; None where there is none within 64 bits."""
    if not math.isfinite(bound) or (op in ("eq", "ne") and not bound.is_integer()):
        return None
    whole = math.ceil(bound) if op in ("lt", "ge") else math.floor(bound)
    return make(op, node, const(whole)) if whole in INT64 else None


def _quotient(dividend: Expr, divisor: Expr) -> Expr | None:
    types = {dividend.type, divisor.type}
    if INT not in types or not types <= {INT, *_FLOATS}:
        return None
    if types == {INT} and not _is_power_of_two(divisor):
        return make("int_truediv", dividend, divisor)
    return make("truediv", convert(dividend, FLOAT), convert(divisor, FLOAT))


def _is_power_of_two(node: Expr) -> bool:
    if node.op != "const":
        return False
    assert isinstance(node.value, int)
    return node.value in INT64 and abs(node.value).bit_count() == 1


__all__ = ["beside_float", "beside_infinity"]
