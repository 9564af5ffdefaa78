"""Windows and chunks of many elements: functions over a place, whose neighbours are items of an array.

xs |> window(100) |> map(sum)        range(len(xs) - 99) |> map(the sum of xs[i : i + 100])
xs |> chunk(100) |> map(sum)         range(-(-len(xs) // 100)) |> map(the sum of xs[100 * i : 100 * i + 100])
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import FunctionType
from typing import Any, cast

from hastega_magic.errors import NotCompilable
from hastega_magic.ir.expr import Expr, const, is_const
from hastega_magic.ir.items import Items
from hastega_magic.records import dataclass
from hastega_magic.syntax.reading.functions import name_of
from hastega_magic.syntax.values import captured_arrays
from hastega_magic.syntax.values.graph import Graph
from hastega_magic.syntax.values.values import Known, Sized, Symbolic, required


@dataclass(frozen=True, eq=False)
class Over:
    """A function of a tuple as one of a place: number k has the `size` elements from `step` · k on, at the end fewer.

    `taken` makes Python's numbers of a part of the data, `called` calls the function with a tuple as stages do.
    """

    function: Callable[..., object]
    data: Sequence[Any]
    size: int
    step: int
    taken: Callable[[Any], Iterable[object]]
    called: Callable[..., object]

    def __call__(self, place: int) -> object:
        """What the function gives for the tuple at a place."""
        return self.called(self.given(place))

    def given(self, place: int) -> tuple[Any, ...]:
        """The tuple at a place."""
        first = place * self.step
        return tuple(self.taken(self.data[first : first + self.size]))

    @property
    def places(self) -> int:
        """How many there are."""
        if self.step > 1:
            return -(-len(self.data) // self.step)
        return max(0, len(self.data) - self.size + 1)


@dataclass(frozen=True, eq=False)
class Neighbours(Sized):
    """What the function is given: `length` items of an array or a range, from number `first` on; a Known holds it."""

    table: Known
    first: Expr
    some: bool
    """Whether there is one in any case, where the length is no constant."""

    def item(self, graph: Graph, at: Expr) -> Symbolic:
        """The item of a number that is none below zero and below the length."""
        place = graph.make("add", self.first, at)
        held = self.table.value
        if isinstance(held, range):
            return graph.make("add", graph.make("mul", place, const(held.step)), const(held.start))
        if isinstance(held, (list, tuple)) and isinstance(held[0], (list, tuple)):
            # Of equally long ones the numbers would be read as if they stood side by side.
            kind = "lists" if isinstance(held[0], list) else "tuples"
            raise NotCompilable(f"{self.table.name} holds {kind}, not numbers")
        return captured_arrays.element(graph, self.table, place)

    def some_item(self, graph: Graph, at: Expr) -> Symbolic:
        """The item of any number; a negative one counts from the end, and beyond the ends Python raises."""
        if is_const(at) and is_const(self.length):
            place, size = cast(int, at.value), cast(int, self.length.value)
            if not -size <= place < size:
                raise NotCompilable("a tuple is subscripted beyond its end")
            return self.item(graph, const(place % size))
        below = graph.make("lt", at, const(0))
        place = graph.choose(below, graph.make("add", at, self.length), at)
        inside = graph.make("and", graph.make("ge", place, const(0)), graph.make("lt", place, self.length))
        return self.item(graph, cast(Expr, required(cast(Expr, place), inside)))

    def part(self, graph: Graph, where: slice) -> Neighbours:
        """A slice with constant ends and no step."""
        if where.step not in (None, 1):
            raise NotCompilable(f"a slice with a step is taken of a part of {self.table.name}")
        if not is_const(self.length):
            start, stop = (self._end(graph, end, self.length) for end in (where.start or 0, where.stop))
            length = graph.make("max", graph.make("sub", stop, start), const(0))
            first = graph.make("add", self.first, start)
            if not (isinstance(self.table.value, Items) and self.table.value.kind is int):
                # Else `sum` would be an int for some elements and a float for others.
                first = cast(Expr, required(first, graph.make("gt", length, const(0))))
            return Neighbours(length, self.table, first, some=False)
        start, stop, _ = where.indices(cast(int, self.length.value))
        first = graph.make("add", self.first, const(start))
        return Neighbours(const(max(0, stop - start)), self.table, first, some=stop > start)

    @staticmethod
    def _end(graph: Graph, end: int | None, length: Expr) -> Expr:
        """Where a slice begins or ends, which Python cuts off at the ends."""
        if end is None:
            return length
        if end < 0:
            return graph.make("max", graph.make("add", length, const(end)), const(0))
        return graph.make("min", length, const(end)) if end else const(0)


def spelled(function: Callable[..., object]) -> FunctionType:
    """The function, or one that calls it: of those that use up what they are given."""
    found = function if isinstance(function, FunctionType) else _SPELLED.get(id(function))
    if found is None:
        raise NotCompilable(f"`{name_of(function)}` of a tuple of this size has no compiled form")
    return found


def neighbours(graph: Graph, over: Over, place: Expr) -> Known:
    """The argument at a place."""
    name = "the window" if over.step == 1 else "the chunk"
    first = place if over.step == 1 else graph.make("mul", place, const(over.step))
    length = const(over.size)
    if len(over.data) % over.step:
        length = graph.make("min", length, graph.make("sub", const(len(over.data)), first))
    return Known(Neighbours(length, Known(over.data, name), first, some=True), name)


def _sum(items: Any) -> Any:
    return sum(items)


def _min(items: Any) -> Any:
    return min(items)


def _max(items: Any) -> Any:
    return max(items)


def _any(items: Any) -> Any:
    return any(items)


def _all(items: Any) -> Any:
    return all(items)


def _len(items: Any) -> Any:
    return len(items)


def _prod(items: Any) -> Any:
    return math.prod(items)


_SPELLED: Mapping[int, FunctionType] = {
    id(builtins.sum): _sum, id(builtins.min): _min, id(builtins.max): _max, id(builtins.any): _any,
    id(builtins.all): _all, id(builtins.len): _len, id(math.prod): _prod,
}  # fmt: skip

__all__ = ["Neighbours", "Over", "neighbours", "spelled"]
