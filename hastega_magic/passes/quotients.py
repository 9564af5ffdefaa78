"""Divisions by constants that a target makes of multiplications.

%3 = truediv %2, 5.0        %3 = divided_by %2, 5.0: codegen/llvm/divide.py has the steps
"""

from __future__ import annotations

import math

from hastega_magic.ir.expr import Expr, is_const, make
from hastega_magic.ir.target import Target
from hastega_magic.types import FLOAT32

_DIVISORS = (2.0**-100, 2.0**100)
"""Sizes of divisors for which dividends of all ordinary sizes have exact remainders."""


def multiplies(target: Target) -> bool:
    """Whether the target's vectors have multiply-adds that round once."""
    return target.spelling == "llvm" and (target.vector_bits >= 256 or target.isa == "NEON")


def divided_by(node: Expr) -> Expr:
    """The node, as `divided_by` where it divides a float64 by an ordinary constant."""
    if node.op not in ("truediv", "fdiv") or not node.type.is_float or node.type is FLOAT32:
        return node
    dividend, divisor = node.args
    if not is_const(divisor) or is_const(dividend):
        return node
    assert isinstance(divisor.value, (int, float))
    size = abs(float(divisor.value))
    ordinary = math.isfinite(size) and _DIVISORS[0] <= size <= _DIVISORS[1]
    return make("divided_by", dividend, divisor) if ordinary else node
