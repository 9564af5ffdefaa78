"""Rows of numbers, which are lists or tuples of any length, as functions of their places read them."""

from __future__ import annotations

from typing import cast

from hastega_magic.errors import NotCompilable
from hastega_magic.ir.expr import Expr, const
from hastega_magic.ir.rows import Rows
from hastega_magic.syntax.values import captured_arrays
from hastega_magic.syntax.values.graph import Graph
from hastega_magic.syntax.values.neighbours import Neighbours
from hastega_magic.syntax.values.values import Known, Symbolic


def row(graph: Graph, rows: Rows, place: Symbolic) -> Known:
    """The row at a place."""
    if not isinstance(place, Expr):
        raise NotCompilable(f"a row of `{rows.name}` is taken by something that is no int")
    table, name = Known(rows.values, rows.name), f"a row of {rows.name}"
    if rows.width is not None:
        first = graph.make("mul", place, const(rows.width))
        return Known(Neighbours(const(rows.width), table, first, some=True), name)
    bounds = Known(rows.bounds, f"{rows.name} begin")
    first = cast(Expr, captured_arrays.element(graph, bounds, place))
    behind = cast(Expr, captured_arrays.element(graph, bounds, graph.make("add", place, const(1))))
    length = graph.make("sub", behind, first)
    if rows.values.kind is not int and not rows.filled:
        raise NotCompilable(f"some of `{rows.name}` are empty, of which `sum` would be an int beside floats")
    return Known(Neighbours(length, table, first, rows.filled), name)


__all__ = ["row"]
