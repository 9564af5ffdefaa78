"""Conversions between integers and floats, for vectors of machines that have no instruction for them (AVX2).

    %3 = int_to_float %2        %2 in [0, 10^6]         %4 = wrapping_add %2, 0x4338000000000000
                                                        %3 = sub (bits_float %4), 1.5·2^52

LLVM would convert each element by itself. What takes their place stands in the rows (`ops/convert.py`), by ranges.
The last step of lowering: whether there are few operations in a loop, or only multiply-adds, is asked before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hastega_magic.interval import Interval
from hastega_magic.ir.expr import Expr, is_const
from hastega_magic.ir.loop import changed, everything
from hastega_magic.ir.target import Target
from hastega_magic.ops import OPS
from hastega_magic.passes.builder import GraphBuilder
from hastega_magic.passes.infer import Leaves

_CONVERSIONS = frozenset({"int_to_float", "exact_float", "float_to_int", "whole_to_int", "float_to_uint"})


def converted(
    roots: Sequence[Expr], leaves: Leaves, ranges: Mapping[Expr, Interval], target: Target, lanes: int
) -> dict[Expr, Expr]:
    """What each node below the roots, and in the bodies of loops, becomes; the node itself where nothing changes."""
    if lanes == 1 or target.converts:
        return {node: node for node in everything(roots)}
    builder = GraphBuilder(leaves, ranges)
    new: dict[Expr, Expr] = {}
    for node in everything(roots):
        rebuilt = changed(node, tuple(new[arg] for arg in node.args), new)
        if node in builder.ranges:
            builder.ranges.setdefault(rebuilt, builder.ranges[node])
        if rebuilt.op in _CONVERSIONS and not is_const(rebuilt.args[0]):
            expand = OPS[rebuilt.op].expand
            assert expand is not None
            rebuilt = expand(builder, rebuilt.args)
        new[node] = rebuilt
    return new


__all__ = ["converted"]
