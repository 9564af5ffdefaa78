"""Slices of captured lists and tuples from a number on, whose length is a constant: `xs[i - 1:i + 2]` has three items.

Python cuts a slice off at the ends of the list, and counts negative bounds from its end. An element for which one of
these would happen is Python's.
"""

from __future__ import annotations

from typing import cast

from hastega_magic.errors import NotCompilable
from hastega_magic.ir.expr import Expr, const, is_const
from hastega_magic.syntax.values import captured_arrays
from hastega_magic.syntax.values.graph import Graph
from hastega_magic.syntax.values.values import SHORT, Known, Symbolic, required
from hastega_magic.types import BOOL


def stretch(graph: Graph, table: Known, lower: Expr, upper: Expr) -> Symbolic:
    """The items of the list or tuple between two places; NotCompilable where their number is no constant."""
    lower, upper = graph.counted(lower), graph.counted(upper)
    if any(not bound.type.is_integral or bound.type is BOOL for bound in (lower, upper)):
        raise NotCompilable(f"`{table.name}` is sliced by something that is no int")
    (start, before), (end, behind) = _apart(lower), _apart(upper)
    count = behind - before
    if start is not end or not 0 < count <= SHORT:
        raise NotCompilable(
            f"a slice of `{table.name}` is taken whose length is no constant, or not 1 to {SHORT}"
        )
    first = graph.make("ge", lower, const(0))
    last = graph.make("le", upper, captured_arrays.length(graph, table))
    lower = cast(Expr, required(lower, graph.make("and", first, last)))
    places = [graph.make("add", lower, const(each)) if each else lower for each in range(count)]
    items = tuple(captured_arrays.element(graph, table, place) for place in places)
    return graph.store.new(items, table.name) if type(table.value) is list else items


def _apart(bound: Expr) -> tuple[Expr | None, int]:
    """A sum as what is no constant in it, and its constant."""
    constant = 0
    while bound.op in ("add", "sub"):
        left, right = bound.args
        if is_const(right):
            bound, constant = left, constant + (_number(right) if bound.op == "add" else -_number(right))
        elif bound.op == "add" and is_const(left):
            bound, constant = right, constant + _number(left)
        else:
            break
    return (None, constant + _number(bound)) if is_const(bound) else (bound, constant)


def _number(node: Expr) -> int:
    return cast(int, node.value)


__all__ = ["stretch"]
