"""Subscripts inside functions: parts of tuples, and elements of captured arrays."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, cast

from hastega_magic.errors import NotCompilable
from hastega_magic.ir.expr import Expr, const, convert, is_const
from hastega_magic.ir.rows import Rows
from hastega_magic.syntax.operations.lists import listed
from hastega_magic.syntax.operations.mappings import item, mapping
from hastega_magic.syntax.operations.stretches import stretch
from hastega_magic.syntax.reading.functions import described
from hastega_magic.syntax.values import captured_arrays
from hastega_magic.syntax.values.dimensions import item_of, whole
from hastega_magic.syntax.values.graph import Graph
from hastega_magic.syntax.values.neighbours import Neighbours
from hastega_magic.syntax.values.rows import row
from hastega_magic.syntax.values.values import (
    Known,
    Record,
    Symbolic,
    captured_tuple,
    items_in,
    number,
    required,
    written_out,
)
from hastega_magic.types import INT, Composite

if TYPE_CHECKING:
    from hastega_magic.syntax.functions.expressions import Frame

_NO_ARRAYS: tuple[type[object], ...] = (str, bytes, set, frozenset)

_MANY = 64
"""Items of a tuple that a number may choose from."""


def subscript(frame: Frame, value: Symbolic, index: ast.expr, by_name: bool = False) -> Symbolic:
    """The value of `value[index]`. `by_name`: the value is what a variable around the function holds, a list."""
    if isinstance(index, ast.Slice):
        return _slice(frame, value, index, by_name)
    if isinstance(index, ast.Tuple) and any(isinstance(part, ast.Slice) for part in index.elts):
        raise NotCompilable(f"a slice of {_named(value)} is taken")
    place = frame.evaluate(index)
    held = listed(value)
    items = captured_tuple(value) if _is_const_index(place) else None
    items = items if held is None else held.items  # which evaluating the index may have changed
    if (isinstance(value, tuple) and not isinstance(value, Composite)) or _is_record(value):
        items = items_in(value)
    if items is not None:
        return _part(frame.graph, items, place)
    if isinstance(value, Known) and isinstance(value.value, Neighbours):
        at = frame.graph.counted(number(place))
        if not at.type.is_integral:
            raise NotCompilable("a tuple is subscripted with a float")
        return value.value.some_item(frame.graph, convert(at, INT))
    if isinstance(value, Known):
        return _captured_item(frame, value, place, by_name)
    raise NotCompilable("a number is subscripted")


def _is_record(value: Symbolic) -> bool:
    return isinstance(value, Known) and isinstance(value.value, Record)


def _slice(frame: Frame, value: Symbolic, index: ast.Slice, by_name: bool) -> Symbolic:
    """A part of a tuple or list, by constants; what is left out was evaluated all the same."""
    bounds = index.lower, index.upper, index.step
    parts = [None if each is None else frame.evaluate(each) for each in bounds]
    lower, upper, step = parts
    captured = isinstance(value, Known) and type(value.value) in (list, tuple)
    constant = all(each is None or _is_const_index(each) for each in parts)
    if captured and not constant and lower is not None and upper is not None and step is None:
        found = stretch(frame.graph, cast(Known, value), number(lower), number(upper))
        if by_name:
            frame.graph.read_by_item(cast(Known, value).value)
        return found
    where = slice(*(None if each is None else _constant_index(frame, each) for each in parts))
    held, items = listed(value), items_in(value)
    if held is not None:
        return frame.graph.store.new(held.items[where], cast(Known, value).name)
    if items is not None:
        frame.graph.keep(items)
        return items[where]
    if isinstance(value, Known) and isinstance(value.value, Neighbours):
        return Known(value.value.part(frame.graph, where), value.name)
    raise NotCompilable(f"a slice of {_named(value)} is taken")


def _named(value: Symbolic) -> str:
    return f"`{value.name}`" if isinstance(value, Known) else "a number"


def _captured_item(frame: Frame, value: Known, place: Symbolic, by_name: bool) -> Symbolic:
    """An element of a captured array or list, or a part of one that has several dimensions."""
    if isinstance(value.value, Rows):
        return row(frame.graph, value.value, place)
    indices = place if isinstance(place, tuple) and not isinstance(place, Composite) else (place,)
    if (part := whole(value)) is not None:
        numbers = item_of(frame.graph, part, indices)
        if by_name:  # what is left of it stands for numbers, whichever these are
            frame.graph.read_by_item(value.value)
        return numbers
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
        return some_part(frame.graph, spread, frame.graph.counted(place))  # of several types, or lengths
    if isinstance(value.value, _NO_ARRAYS):
        raise NotCompilable(f"`{value.name}` is {described(value.value)}, not an array of numbers")
    found = captured_arrays.item(frame.graph, value, number(place))
    if by_name:
        frame.graph.read_by_item(value.value)
    return found


def _part(graph: Graph, items: tuple[Symbolic, ...], place: Symbolic) -> Symbolic:
    """An element of a tuple; what is left out was evaluated all the same."""
    graph.keep(items)
    if isinstance(place, Expr):
        graph.counted(place)
    if isinstance(place, Expr) and place.type.is_integral and not is_const(place):
        return some_part(graph, items, place)
    if not _is_const_index(place):
        raise NotCompilable("a tuple is subscripted with something that is no constant")
    at = cast(int, cast(Expr, place).value)
    if not -len(items) <= at < len(items):
        raise NotCompilable("a tuple is subscripted beyond its end")
    return items[at]


def some_part(graph: Graph, items: tuple[Symbolic, ...], place: Expr) -> Symbolic:
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


def _constant_index(frame: Frame, place: Symbolic) -> int:
    if not _is_const_index(place):
        raise NotCompilable("a tuple is subscripted with something that is no constant")
    return cast(int, frame.graph.counted(cast(Expr, place)).value)


def _is_const_index(value: Symbolic) -> bool:
    """Whether the value is an integer constant."""
    return isinstance(value, Expr) and is_const(value) and value.type.is_integral
