"""Slices of captured lists and tuples from a number on: `xs[i - 1:i + 2]`.

Python cuts a slice off at the ends of the list, and counts negative bounds from its end. What is gone through once, as
by `sum(xs[i:i + 5])`, may have any length (`Cut`). Of others the length has to be a constant (`stretch`), and an
element for which Python would cut is Python's.
"""

from __future__ import annotations

import ast
import itertools
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from hastega_magic.errors import NotCompilable
from hastega_magic.ir.expr import Expr, const, convert, is_const, make
from hastega_magic.records import dataclass
from hastega_magic.syntax.values import captured_arrays
from hastega_magic.syntax.values.dimensions import whole
from hastega_magic.syntax.values.graph import Graph
from hastega_magic.syntax.values.values import SHORT, Known, Symbolic, number, required
from hastega_magic.types import BOOL, INT

if TYPE_CHECKING:
    from hastega_magic.syntax.functions.expressions import Frame


FEW = 8
"""Turns of a loop over a range, or a slice, that are written out; more become a loop in the kernel."""


@dataclass(frozen=True)
class Cut:
    """The part of a captured list or array from place `start` on, before `stop`, both from 0 to its length.

    `most`: how many items it has at the most; None where that is not known, or more than are written out.
    """

    table: Known
    start: Expr
    stop: Expr
    most: int | None
    some: bool = False
    """Whether there is an item: an element for which there is none is Python's."""

    def item(self, graph: Graph, place: Expr) -> Symbolic:
        """The item at a place of the list."""
        return captured_arrays.flat_item(graph, self.table, place)

    def length(self, graph: Graph) -> Expr:
        """How many items there are."""
        return graph.make("max", graph.make("sub", self.stop, self.start), const(0))


def is_cut(frame: Frame, node: ast.expr) -> bool:
    """Whether it is a slice of a captured list, tuple or array of one dimension, by bounds that are no constants."""
    if frame.graph.whole or not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Slice):
        return False
    bounds = [each for each in (node.slice.lower, node.slice.upper) if each is not None]
    if node.slice.step is not None or all(_is_constant(frame, each) for each in bounds):
        return False
    owner = frame.peek(node.value) if isinstance(node.value, (ast.Name, ast.Attribute)) else None
    held: Any = owner.value if isinstance(owner, Known) else None
    return type(held) in (list, tuple) or (type(held) is np.ndarray and held.ndim == 1)


def _is_constant(frame: Frame, bound: ast.expr) -> bool:
    value = None if isinstance(bound, ast.Call) else frame.peek(bound)
    return isinstance(value, Expr) and is_const(value)


def cut(frame: Frame, node: ast.Subscript) -> Cut:
    """The part that a slice for which `is_cut` gives; NotCompilable where the list holds no numbers of one type."""
    graph, before = frame.graph, frame.graph.lists
    table = cast(Known, frame.evaluate(node.value))
    _check(table)
    by_name = isinstance(node.value, ast.Name) and graph.lists > before
    given = cast(ast.Slice, node.slice)
    lower, upper = (
        None if each is None else _bound(graph, table, frame.evaluate(each))
        for each in (given.lower, given.upper)
    )
    if by_name:
        graph.read_by_item(table.value)
    length = captured_arrays.length(graph, table)
    start = const(0) if lower is None else _within(graph, lower, length)
    stop = length if upper is None else _within(graph, upper, length)
    count = None if lower is None or upper is None else _most(lower, upper)
    some = count is not None and not _is_of_ints(graph, table, start)
    if some:  # else `sum` would be an int for some elements and a float for others
        start = cast(Expr, required(start, graph.make("lt", start, stop)))
    # Loops over NumPy's numbers are left to NumPy: more of them are written out.
    few = SHORT if isinstance(table.value, np.ndarray) else FEW
    return Cut(table, start, stop, count if count is not None and count <= few else None, some)


def _check(table: Known) -> None:
    """NotCompilable where the items are rows, whose numbers stand one after the other."""
    if whole(table) is not None:
        raise NotCompilable(
            f"a part of `{table.name}`, which holds rows, is taken by bounds that are no constants"
        )


def _is_of_ints(graph: Graph, table: Known, place: Expr) -> bool:
    """Whether items are Python's ints, as `sum` of none is."""
    item = captured_arrays.flat_item(graph, table, place)
    return isinstance(item, Expr) and item.type.is_integral and not isinstance(table.value, np.ndarray)


def _bound(graph: Graph, table: Known, value: Symbolic) -> Expr:
    bound = graph.counted(number(value))
    if not bound.type.is_integral:
        raise NotCompilable(f"`{table.name}` is sliced by something that is no int")
    return convert(bound, INT) if bound.type is BOOL else bound


def _within(graph: Graph, bound: Expr, length: Expr) -> Expr:
    """The place that a bound stands for: from the end where it is negative, and never outside."""
    near = graph.make("min", bound, length)
    # It is used where it cannot overflow, so nothing has to be known of bounds that are not negative.
    far = graph.make("max", make("wrapping_add", bound, length), const(0))
    return cast(Expr, graph.choose(graph.make("lt", bound, const(0)), far, near))


def _count(lower: Expr, upper: Expr) -> int | None:
    """By how much the bounds differ, where that is a constant above zero."""
    (start, before), (end, behind) = _apart(lower), _apart(upper)
    return behind - before if start is end and behind > before else None


def _most(lower: Expr, upper: Expr) -> int | None:
    """By how much the bounds differ at the most: `max(0, i - 2)` is no less than `i - 2`."""
    pairs = itertools.product(_any_of("max", lower), _any_of("min", upper))
    return min((count for pair in pairs if (count := _count(*pair)) is not None), default=None)


def _any_of(op: str, bound: Expr) -> tuple[Expr, ...]:
    return (bound, *bound.args) if bound.op == op else (bound,)


def stretch(graph: Graph, table: Known, lower: Expr, upper: Expr) -> Symbolic:
    """The items of the list or tuple between two places; NotCompilable where their number is no constant."""
    _check(table)
    lower, upper = graph.counted(lower), graph.counted(upper)
    if any(not bound.type.is_integral or bound.type is BOOL for bound in (lower, upper)):
        raise NotCompilable(f"`{table.name}` is sliced by something that is no int")
    count = _count(lower, upper)
    if count is None or count > SHORT:
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


__all__ = ["FEW", "Cut", "cut", "is_cut", "stretch"]
