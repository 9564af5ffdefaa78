"""Value-range inference: an interval for every integer node, from the sources towards the results.

    x: load 0, an element of range(1, 100)     %0: int [1, 99]
    x * (x + 1) % 7                            %1: int [2, 100]   %2: int [2, 9900]   %3: int [0, 6]

A node whose interval leaves int64 needs an overflow guard; past the guard its interval is clamped to int64.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import field

from hastega_magic import interval
from hastega_magic.interval import BIT, INT64, TOP, Interval, point
from hastega_magic.ir.expr import Expr, postorder
from hastega_magic.ops import OPS
from hastega_magic.passes.infer_loops import Inference
from hastega_magic.records import dataclass
from hastega_magic.types import BOOL, INT

MAX_LENGTH = 1 << 48
"""No array is longer: a bound for element numbers."""


@dataclass(frozen=True)
class Leaves:
    """The intervals of leaves: of sources and of tables by slot."""

    sources: tuple[Interval | None, ...]
    tables: tuple[Interval | None, ...] = ()
    index: Interval = field(default=Interval(0, MAX_LENGTH))


def leaf_range(node: Expr, leaves: Leaves) -> Interval:
    """The interval of a leaf."""
    match node.op:
        case "const":
            return point(int(node.value)) if isinstance(node.value, int) else TOP
        case "load":
            assert isinstance(node.value, int)
            return leaves.sources[node.value] or TOP
        case "table":
            assert isinstance(node.value, int)
            return leaves.tables[node.value] or TOP
        case "index":
            return leaves.index
        case "length":
            return Interval(0, MAX_LENGTH)
        case _:
            return TOP


def exact_range(node: Expr, operands: list[Interval], leaves: Leaves) -> Interval:
    """The interval of the mathematical value, given the operands' intervals."""
    if not node.args:
        return leaf_range(node, leaves)
    if node.type is BOOL and node.op != "select":
        return BIT
    if node.op == "gather":
        return operands[0]
    if node.op == "mul" and node.args[0] is node.args[1]:
        return interval.square(operands[0])
    row = OPS.get(node.op)  # none for what a loop gives
    return row.range(*operands) if row is not None and row.range is not None else TOP


def node_range(node: Expr, leaves: Leaves, known: MutableMapping[Expr, Interval]) -> Interval:
    """The int64-clamped interval of a node, computed as far as it is not known."""
    if node in known or node.type not in (INT, BOOL):
        return known.get(node, TOP)
    if node.type is BOOL and node.args and node.op != "select":
        return BIT  # whatever stands below it
    for each in postorder([node], known):
        if each.type in (INT, BOOL):
            operands = [known.get(arg, TOP) for arg in each.args]
            known[each] = exact_range(each, operands, leaves).meet(INT64)
    return known.get(node, TOP)


def inference(
    roots: Iterable[Expr],
    leaves: Leaves,
    assumed: Mapping[int, Interval] | None = None,
    limit: int | None = None,
) -> Inference:
    """Intervals of all integer nodes (clamped to int64), and the nodes that may overflow int64.

    `assumed` narrows the intervals of sources by slot, as a guard on the source makes them true; within `limit` the
    state of loops is assumed to be held.
    """
    if assumed:
        narrowed = tuple(
            old.meet(assumed[slot]) if old is not None and slot in assumed else old
            for slot, old in enumerate(leaves.sources)
        )
        leaves = Leaves(narrowed, leaves.tables, leaves.index)
    return Inference(roots, lambda node, operands: exact_range(node, operands, leaves), limit)
