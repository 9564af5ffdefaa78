"""Ranges of what Python computes: not clamped to int64, so that they hold where a guard has fired as well.

    %1 = mul %0, 4      %0: any int64      inferred, past a guard: [-2^63, 2^63)      exact: [-2^65, 2^65)

A node may be decided, and go, only by these: the guard that makes the others true goes with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hastega_magic.interval import INT64, TOP, Interval
from hastega_magic.ir.expr import Expr
from hastega_magic.ir.loop import everything, iteration
from hastega_magic.passes.infer import Leaves, exact_range
from hastega_magic.passes.infer_loops import Inference
from hastega_magic.types import BOOL, INT

_LONGEST = 4096
"""Bits beyond which a bound is as good as none: chains of squares would make it longer than memory."""


def exact_ranges(
    roots: Iterable[Expr],
    leaves: Leaves,
    found: Inference,
    clamped: Callable[[Expr, Interval], Interval] = lambda _, exact: exact,
) -> dict[Expr, Interval]:
    """Of all integer nodes, those inside loops included. `clamped` may say what is known of a node besides."""
    roots = list(roots)
    of_loops = _states(roots, found)
    ranges: dict[Expr, Interval] = {}
    for node in everything(roots):
        if node.type in (INT, BOOL):
            if node.op in ("carry", "outer", "result"):
                exact = of_loops.get(node, TOP)
            else:
                exact = exact_range(node, [ranges.get(arg, TOP) for arg in node.args], leaves)
            ranges[node] = clamped(node, _bounded(exact))
    return ranges


def _states(roots: list[Expr], found: Inference) -> dict[Expr, Interval]:
    """The leaves and results of loops in which nothing leaves int64; of others nothing is known."""
    known: dict[Expr, Interval] = {}
    nodes = list(everything(roots))
    sound = {
        node
        for node in nodes
        if node.op == "turns" and not any(each in found.overflowing for each in everything([node]))
    }
    for node in nodes:
        if node in sound:
            body = iteration(node)
            known.update((leaf, found.ranges.get(leaf, INT64)) for leaf in (*body.state, *body.outer))
        elif node.op == "result" and node.args[0] in sound:
            known[node] = found.ranges.get(node, INT64)
    return known


def _bounded(exact: Interval) -> Interval:
    most = exact.magnitude
    return exact if most is None or most.bit_length() <= _LONGEST else TOP


__all__ = ["exact_ranges"]
