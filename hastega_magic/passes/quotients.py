"""Divisions by constants that a target makes of multiplications.

%3 = truediv %2, 5.0        %3 = divided_by %2, 5.0: codegen/llvm/divide.py has the steps
                            %3 = fma %2, 0.19999999999999998, (mul %2, 1.6653345369377347e-17)

The latter where the dividend was an int, which is no very small number (ir/reciprocal.py says of which divisors).
"""

from __future__ import annotations

import math

from hastega_magic.ir.expr import Expr, const, is_const, make
from hastega_magic.ir.reciprocal import reciprocal
from hastega_magic.ir.target import Target
from hastega_magic.types import FLOAT32

_DIVISORS = (2.0**-100, 2.0**100)
"""Sizes of divisors for which dividends of all ordinary sizes have exact remainders."""


def multiplies(target: Target) -> bool:
    """Whether the target's vectors have multiply-adds that round once."""
    return target.spelling == "llvm" and (target.vector_bits >= 256 or target.isa == "NEON")


_OF_INTS = frozenset({"int_to_float", "exact_float", "uint_to_float"})


def divided_by(node: Expr) -> Expr:
    """The node, multiplied, or as `divided_by`, where it divides a float64 by an ordinary constant."""
    if node.op not in ("truediv", "fdiv") or not node.type.is_float or node.type is FLOAT32:
        return node
    dividend, divisor = node.args
    if not is_const(divisor) or is_const(dividend):
        return node
    assert isinstance(divisor.value, (int, float))
    by = float(divisor.value)
    if not (math.isfinite(by) and _DIVISORS[0] <= abs(by) <= _DIVISORS[1]):
        return node
    if dividend.op in _OF_INTS and (parts := reciprocal(by)) is not None:
        high, low = map(const, parts)
        return make("fma", dividend, high, make("mul", dividend, low))
    return make("divided_by", dividend, divisor)
