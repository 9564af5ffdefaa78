"""Captured arrays of several dimensions and lists of lists: their numbers one after the other, and where one stands.

image[i, j]  of shape (h, w)      the number at i · w + j, where -h <= i < h and -w <= j < w

Shapes are constants of the code; each index is looked at on its own, as Python does, and counts from the end if it is
negative.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from hastega_magic.errors import NotCompilable
from hastega_magic.ir.expr import Expr, const, convert, is_const, make
from hastega_magic.records import dataclass
from hastega_magic.syntax.values import captured_arrays
from hastega_magic.syntax.values.graph import Graph
from hastega_magic.syntax.values.values import Known, Symbolic, number
from hastega_magic.types import BOOL, INT


@dataclass(frozen=True, eq=False)
class Part:
    """What indices leave of an array: a number at `place` for each of the `shape`; a Known holds it.

    `inside`: the conditions that none of the indices is out of bounds.
    """

    table: Known
    shape: tuple[int, ...]
    place: Expr
    inside: tuple[Expr, ...] = ()

    @property
    def of_numpy(self) -> bool:
        """Whether it is an array, not a list."""
        return isinstance(self.table.value, np.ndarray)

    def item(self, graph: Graph, at: Expr) -> Symbolic:
        """The item of a number, which may be any."""
        return self.moved(graph, at).settled(graph)

    def moved(self, graph: Graph, at: Expr) -> Part:
        """The part that is the item of a number."""
        index = self._index(graph, at)
        size, rest = self.shape[0], math.prod(self.shape[1:])
        if is_const(index):
            place = cast(int, index.value)
            inside = const(-size <= place < size)
            index = const(place % size if inside.value else 0)
        else:
            inside = graph.make(
                "and", graph.make("ge", index, const(-size)), graph.make("lt", index, const(size))
            )
            from_end = make("wrapping_add", index, const(size))  # used where it cannot overflow
            index = cast(Expr, graph.choose(graph.make("lt", index, const(0)), from_end, index))
        return Part(self.table, self.shape[1:], _moved(self.place, index, rest), (*self.inside, inside))

    def settled(self, graph: Graph) -> Symbolic:
        """A number, or a part that exists: Python raises here where an index is out of bounds."""
        if not all(self.shape):  # of no numbers none is looked up
            raise NotCompilable(f"`{self.table.name}` has a dimension of no items")
        inside = functools.reduce(lambda a, b: graph.make("and", a, b), self.inside, const(True))
        found = captured_arrays.flat_item(
            graph, self.table, cast(Expr, graph.choose(inside, self.place, const(-1)))
        )
        if not self.shape:
            return found
        if not is_const(inside):
            graph.keep(found)
        elif not inside.value:
            raise NotCompilable(
                f"`{self.table.name}` is subscripted beyond its end: Python raises IndexError"
            )
        return Known(Part(self.table, self.shape, self.place), self.table.name)

    def _index(self, graph: Graph, at: Expr) -> Expr:
        if at.type.is_float:
            raise NotCompilable(f"`{self.table.name}` is subscripted with a float")
        if at.type is BOOL and self.of_numpy:
            raise NotCompilable(
                f"`{self.table.name}` is subscripted with a bool, which NumPy takes for a mask"
            )
        return convert(graph.counted(at), INT)


def _moved(place: Expr, index: Expr, by: int) -> Expr:
    """`place + index * by`, of numbers that are within an array; else nobody looks at it."""
    if is_const(index):
        far: Expr = const(cast(int, index.value) * by)
    else:
        far = index if by == 1 else make("wrapping_mul", index, const(by))
    if is_const(place, 0):
        return far
    if is_const(place) and is_const(far):
        return const(cast(int, place.value) + cast(int, far.value))
    return place if is_const(far, 0) else make("wrapping_add", place, far)


def whole(value: Symbolic) -> Part | None:
    """A captured array, list or tuple of several dimensions, or what indices leave of one; None for all else."""
    if not isinstance(value, Known):
        return None
    if isinstance(value.value, Part):
        return value.value
    shape = shape_of(value.value)
    return None if shape is None else Part(value, shape, const(0))


def shape_of(data: object) -> tuple[int, ...] | None:
    """The shape of what has several dimensions; None for all else.

    That is an array, or a list of equally long lists of objects of one type.
    """
    if type(data) is np.ndarray:
        array = cast("np.ndarray[Any, Any]", data)
        return array.shape if array.ndim > 1 else None
    if type(data) not in (list, tuple):
        return None
    rows = cast("Sequence[object]", data)
    shape = (len(rows),)
    while rows and all(type(row) in (list, tuple) for row in rows):
        lengths = {len(row) for row in cast("Sequence[Sequence[object]]", rows)}
        if len(lengths) != 1:
            return None
        shape = *shape, lengths.pop()
        rows = [item for row in cast("Sequence[Sequence[object]]", rows) for item in row]
    return shape if len(shape) > 1 and len(set(map(type, rows))) < 2 else None


def item_of(graph: Graph, part: Part, indices: Sequence[Symbolic]) -> Symbolic:
    """What `part[i, j, ...]` is: a number, or a part of fewer dimensions."""
    if len(indices) > len(part.shape):
        raise NotCompilable(
            f"`{part.table.name}` has fewer dimensions than indices: Python raises IndexError"
        )
    if len(indices) > 1 and not part.of_numpy:
        raise NotCompilable(
            f"`{part.table.name}` is a list, and subscripted with a tuple: Python raises TypeError"
        )
    for index in indices:
        part = part.moved(graph, number(index))
    return part.settled(graph)


ATTRIBUTES = frozenset({"shape", "size", "ndim"})
"""Attributes of arrays that are known."""


def attribute_of_array(graph: Graph, value: Known, name: str) -> Symbolic | None:
    """What such an attribute of an array, or of a part of one, is; None for other objects."""
    part = whole(value)
    if part is not None and part.of_numpy:
        shape: tuple[Expr, ...] = tuple(map(const, part.shape))
        length = const(math.prod(part.shape))
    elif type(value.value) is np.ndarray and cast("np.ndarray[Any, Any]", value.value).ndim == 1:
        length = captured_arrays.length(graph, value)
        shape = (length,)
    else:
        return None
    return {"shape": shape, "size": length, "ndim": const(len(shape))}[name]


__all__ = ["ATTRIBUTES", "Part", "attribute_of_array", "item_of", "shape_of", "whole"]
