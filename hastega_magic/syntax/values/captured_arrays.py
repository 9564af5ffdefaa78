"""Captured arrays and lists inside functions: their elements and lengths, as nodes that read tables.

NotCompilable from each of these if what is captured does not hold numbers of one type.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from hastega_magic.errors import NotCompilable
from hastega_magic.ir.expr import Expr, const, leaf, make
from hastega_magic.syntax.values.graph import Graph
from hastega_magic.syntax.values.values import HOLDS_NUMPYS, Known, Symbolic, holds_numpys
from hastega_magic.types import BOOL, INT, Complex, ScalarType


def item(graph: Graph, table: Known, index: Expr) -> Symbolic:
    """An element of a captured array; a negative index counts from its end, as in Python.

    NotCompilable also for an index that is no int.
    """
    parts = _parts(graph, table)
    held: Any = table.value
    graph.numpy = graph.numpy or isinstance(held, np.ndarray)
    if len(parts) > 1:
        return Complex(_item(graph, part, index) for part in parts)
    return _item(graph, table, index)


def flat_item(graph: Graph, table: Known, place: Expr) -> Symbolic:
    """A number of a captured array of any dimensions, by its place among all of them."""
    held: Any = table.value
    graph.numpy = graph.numpy or isinstance(held, np.ndarray)
    return element(graph, table, place)


def element(graph: Graph, table: Known, place: Expr) -> Symbolic:
    """An element of an array that is gone through, by a number that is not negative."""
    parts = [_table(graph, part) for part in _parts(graph, table)]
    found = [make("gather", leaf("table", type_, slot), place) for slot, type_ in parts]
    return found[0] if len(found) == 1 else Complex(found)


def length(graph: Graph, table: Known) -> Expr:
    """len() of a captured array of one dimension."""
    part = _parts(graph, table)[0]
    slot, _ = _table(graph, part)
    return leaf("length", INT, slot)


def _table(graph: Graph, part: Known) -> tuple[int, ScalarType]:
    try:
        return graph.env.table(part.name, part.value)
    except NotCompilable:
        if holds_numpys(part.value):
            raise NotCompilable(HOLDS_NUMPYS) from None
        raise


def _parts(graph: Graph, table: Known) -> tuple[Known, ...]:
    """The arrays of real numbers that a captured array is made of: itself, or two of a complex one."""
    held: Any = table.value
    pairs = _holds_complex(held)
    if not pairs and not (isinstance(held, np.ndarray) and cast(Any, held).dtype.kind == "c"):
        return (table,)
    if id(table.value) not in graph.halves:
        array: Any = np.array(cast(Any, table.value)) if pairs else table.value
        halves = Known(array.real, table.name), Known(array.imag, table.name)
        graph.halves[id(table.value)] = table.value, halves
    return graph.halves[id(table.value)][1]


def _holds_complex(held: Any) -> bool:
    """Whether a list or tuple holds complex numbers; the first item says of most that it does not."""
    if not isinstance(held, (list, tuple)) or type(next(iter(cast(Any, held)), None)) is not complex:
        return False
    return set(map(type, cast(Any, held))) == {complex}


def _item(graph: Graph, table: Known, index: Expr) -> Expr:
    if index.type.is_float:
        raise NotCompilable(f"`{table.name}` is subscripted with a float")
    if index.type is BOOL and isinstance(table.value, np.ndarray):
        raise NotCompilable(f"`{table.name}` is subscripted with a bool, which NumPy takes for a mask")
    slot, type_ = _table(graph, table)
    place = graph.make("add", graph.counted(index), const(0)) if index.type is BOOL else index
    # It is used where it cannot overflow, so nothing has to be known of indices that are not negative.
    from_end = make("wrapping_add", place, leaf("length", INT, slot))
    negative = graph.make("lt", place, const(0))
    if negative.op == "const":
        place = from_end if negative.value else place
    else:
        place = graph.make("select", negative, from_end, place)
    return make("gather", leaf("table", type_, slot), place)


__all__ = ["element", "flat_item", "item", "length"]
