"""Subscripts inside functions: parts of tuples, and elements of captured arrays."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, cast

from hastega_magic.errors import NotCompilable
from hastega_magic.ir.expr import Expr, const, convert, is_const
from hastega_magic.syntax.dimensions import item_of, whole
from hastega_magic.syntax.functions import described
from hastega_magic.syntax.graph import Graph
from hastega_magic.syntax.mappings import item, mapping
from hastega_magic.syntax.neighbours import Neighbours
from hastega_magic.syntax.values import Known, Listed, Symbolic, captured_tuple, number, required, written_out
from hastega_magic.types import INT, Composite

if TYPE_CHECKING:
    from hastega_magic.syntax.expressions import Frame

_NO_ARRAYS: tuple[type[object], ...] = (str, bytes, set, frozenset)

_MANY = 64
"""Items of a tuple that a number may choose from."""


def subscript(frame: Frame, value: Symbolic, index: ast.expr) -> Symbolic:
    """The value of `value[index]`."""
    if isinstance(value, Known) and isinstance(value.value, Listed):
        found = _part(frame, value.value.items, index)
        return (
            Known(Listed(found), value.name)
            if isinstance(index, ast.Slice) and isinstance(found, tuple)
            else found
        )
    items = captured_tuple(value)
    if items is not None and (isinstance(index, ast.Slice) or _is_const_index(frame.evaluate(index))):
        return _part(frame, items, index)
    if isinstance(value, tuple) and not isinstance(value, Composite):
        return _part(frame, value, index)
    if isinstance(value, Known) and isinstance(value.value, Neighbours):
        if isinstance(index, ast.Slice):
            return Known(value.value.part(frame.graph, _bounds(frame, index)), value.name)
        place = number(frame.evaluate(index))
        if not place.type.is_integral:
            raise NotCompilable("a tuple is subscripted with a float")
        return value.value.some_item(frame.graph, convert(place, INT))
    if isinstance(value, Known):
        return _captured_item(frame, value, index)
    raise NotCompilable("a number is subscripted")


def _captured_item(frame: Frame, value: Known, index: ast.expr) -> Symbolic:
    """An element of a captured array or list, or a part of one that has several dimensions."""
    parts = index.elts if isinstance(index, ast.Tuple) else (index,)
    if any(isinstance(part, (ast.Slice, ast.Starred)) for part in parts):
        raise NotCompilable(f"a slice of `{value.name}` is taken")
    place = frame.evaluate(index)
    indices = place if isinstance(place, tuple) and not isinstance(place, Composite) else (place,)
    if (part := whole(value)) is not None:
        return item_of(frame.graph, part, indices)
    if (items := mapping(value)) is not None:
        return item(frame.graph, items, place)
    if indices is place:
        raise NotCompilable(f"`{value.name}`, {described(value.value)}, is subscripted with a tuple")
    spread = written_out(value)
    if (
        isinstance(spread, tuple)
        and isinstance(place, Expr)
        and all(isinstance(each, tuple) for each in spread)
    ):
        return _some_part(frame.graph, spread, place)  # of several types, or lengths
    if isinstance(value.value, _NO_ARRAYS):
        raise NotCompilable(f"`{value.name}` is {described(value.value)}, not an array of numbers")
    return frame.graph.item(value, number(place))


def _part(frame: Frame, items: tuple[Symbolic, ...], index: ast.expr) -> Symbolic:
    """An element or a slice of a tuple, by constants; what is left out was evaluated all the same."""
    frame.graph.keep(items)
    if isinstance(index, ast.Slice):
        return items[_bounds(frame, index)]
    where = frame.evaluate(index)
    if isinstance(where, Expr) and where.type.is_integral and not is_const(where):
        return _some_part(frame.graph, items, where)
    place = _constant_index(frame, index)
    if not -len(items) <= place < len(items):
        raise NotCompilable("a tuple is subscripted beyond its end")
    return items[place]


def _bounds(frame: Frame, index: ast.Slice) -> slice:
    return slice(*(part and _constant_index(frame, part) for part in (index.lower, index.upper, index.step)))


def _some_part(graph: Graph, items: tuple[Symbolic, ...], place: Expr) -> Symbolic:
    """An element of a tuple by a number that is not known yet; beyond its end Python raises."""
    size = len(items)
    if not 0 < size <= _MANY:
        raise NotCompilable(f"a tuple of {size} items is subscripted with something that is no constant")
    within = graph.make("and", graph.make("ge", place, const(-size)), graph.make("lt", place, const(size)))
    graph.keep(required(place, within))
    result = items[-1]
    for at in range(size - 2, -1, -1):
        here = graph.make("or", graph.make("eq", place, const(at)), graph.make("eq", place, const(at - size)))
        result = graph.choose(here, items[at], result)
    return result


def _constant_index(frame: Frame, node: ast.expr) -> int:
    place = frame.evaluate(node)
    if not _is_const_index(place):
        raise NotCompilable("a tuple is subscripted with something that is no constant")
    return cast(int, cast(Expr, place).value)


def _is_const_index(value: Symbolic) -> bool:
    """Whether the value is an integer constant."""
    return isinstance(value, Expr) and is_const(value) and value.type.is_integral
