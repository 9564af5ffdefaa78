"""What a `for` inside a function iterates over: ranges, tuples, captured arrays, and these zipped or turned round."""

from __future__ import annotations

import ast
import builtins
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, cast

import numpy as np

from hastega_magic.errors import NotCompilable
from hastega_magic.interval import INT64
from hastega_magic.ir.expr import Expr, const, convert, is_const, make
from hastega_magic.ops.machine import wrap64
from hastega_magic.records import dataclass
from hastega_magic.syntax.functions.expressions import Frame
from hastega_magic.syntax.operations.applying import apply
from hastega_magic.syntax.operations.lists import listed
from hastega_magic.syntax.operations.mappings import mapping
from hastega_magic.syntax.operations.stretches import FEW, cut, is_cut
from hastega_magic.syntax.reading.functions import described
from hastega_magic.syntax.values import captured_arrays
from hastega_magic.syntax.values.dimensions import whole
from hastega_magic.syntax.values.graph import Graph
from hastega_magic.syntax.values.neighbours import Neighbours
from hastega_magic.syntax.values.values import TRUE, Known, Range, Symbolic, members, number
from hastega_magic.types import BOOL, INT, Composite

MANY = 64
"""Items of a tuple, which need not be numbers, that are written out."""


_ZERO = const(0)


def _itself(place: Expr) -> Symbolic:
    return place


@dataclass(frozen=True)
class Items:
    """The items of a loop: written out if they are `known`, else those at start, start + step, ... before stop."""

    known: tuple[Symbolic, ...] | None = None
    start: Expr = _ZERO
    stop: Expr = _ZERO
    step: int = 1
    item: Callable[[Expr], Symbolic] = _itself
    parts: tuple[Items, ...] = ()
    some: bool = False
    """Whether there is an item, whatever the ends are."""
    most: int | None = None
    """How many items there are at the most, where these few turns are to be written out."""

    @property
    def ends(self) -> Iterator[Expr]:
        """What is computed before the first turn."""
        yield from (self.start, self.stop)
        for part in self.parts:
            yield from part.ends

    @property
    def certain(self) -> bool:
        """Whether there is known to be a first item."""
        return is_const(self.start) and is_const(self.stop) and bool(self.range)

    @property
    def range(self) -> range:
        """The places, where they are constants."""
        start, stop = self.start.value, self.stop.value
        assert isinstance(start, int)
        assert isinstance(stop, int)
        return range(start, stop, self.step)

    def at(self, graph: Graph, place: Expr) -> Expr:
        """Whether there is an item at a place, which is not before the start."""
        if self.some and place is self.start:
            return TRUE
        return graph.make("lt" if self.step > 0 else "gt", place, self.stop)

    def after(self, place: Expr) -> Expr:
        """The next place: what it is beyond int64 is not looked at."""
        if place.op == "const" and isinstance(place.value, int):
            return const(wrap64(place.value + self.step))
        return make("wrapping_add", place, const(self.step))

    def behind(self, graph: Graph, place: Expr) -> Expr:
        """Whether there is an item behind the one at a place."""
        if abs(self.step) == 1 or (self.certain and self.range[-1] + self.step in INT64):
            return self.at(graph, self.after(place))
        # The next place may be beyond int64, and what is left is no negative number.
        ends = (self.stop, place) if self.step > 0 else (place, self.stop)
        return graph.make("ult", const(abs(self.step)), graph.make("wrapping_sub", *ends))


def items_of(frame: Frame, iterable: ast.expr) -> Items:
    """The items of an iterable; NotCompilable, with a sentence, for what is none of these."""
    return _few(_items(frame, iterable))


def _items(frame: Frame, iterable: ast.expr) -> Items:
    if is_cut(frame, iterable):
        part = cut(frame, cast(ast.Subscript, iterable))
        ends = part.start, part.stop, 1
        return Items(None, *ends, lambda at: part.item(frame.graph, at), some=part.some, most=part.most)
    if isinstance(iterable, ast.Call):
        function = frame.peek(iterable)
        made = _ITERATORS.get(id(function.value)) if isinstance(function, Known) else None
        if made is not None and not any(isinstance(arg, ast.Starred) for arg in iterable.args):
            named = {keyword.arg: keyword.value for keyword in iterable.keywords}
            return made(frame, iterable.args, named)
    return _items_in(frame, frame.evaluate(iterable))


def _items_in(frame: Frame, value: Symbolic) -> Items:
    frame.graph.keep(value)
    if isinstance(value, Composite):
        raise NotCompilable("a loop over a number: Python raises TypeError")
    parts = members(value)
    if (held := listed(value)) is not None:
        frame.graph.store.walked.add(held.key)
    if parts is not None:
        if len(parts) > MANY:
            raise NotCompilable(f"a loop over a tuple of {len(parts)} items is not compiled: an array's is")
        return Items(parts)
    if (mapped := mapping(value)) is not None:
        return Items(tuple(map(const, mapped)))
    if isinstance(value, Known):
        held = cast(Any, value.value)
        if isinstance(held, Range):
            return Items(None, held.start, held.stop, held.step)
        if isinstance(held, Neighbours):
            beside = held
            some = beside.some and not is_const(beside.length)  # a last chunk has fewer, but not none
            return Items(None, const(0), beside.length, 1, lambda at: beside.item(frame.graph, at), some=some)
        if isinstance(held, builtins.range):
            return Items(None, const(held.start), const(held.stop), held.step)
        if (part := whole(value)) is not None:
            return Items(None, const(0), const(part.shape[0]), 1, lambda at: part.item(frame.graph, at))
        if type(held) is list or (type(held) is np.ndarray and cast("np.ndarray[Any, Any]", held).ndim == 1):
            table, length = value, captured_arrays.length(frame.graph, value)
            return Items(None, const(0), length, 1, lambda at: captured_arrays.item(frame.graph, table, at))
        raise NotCompilable(f"a loop over `{value.name}`, {described(value.value)}, is not compiled")
    number(value)
    raise NotCompilable("a loop over a number: Python raises TypeError")


def _few(items: Items) -> Items:
    """A short range is written out."""
    if items.known is None and is_const(items.start) and is_const(items.stop):
        places = items.range
        if not places[FEW:]:  # its length may be more than len() can tell
            return Items(tuple(items.item(const(place)) for place in places))
        if places[0] not in INT64 or places[-1] + items.step not in INT64:
            raise NotCompilable("a `range` beyond 64 bits")
    return items


# Ranges


def range_of(graph: Graph, args: Sequence[Symbolic]) -> Range:
    """What a call of `range` gives."""
    if not 1 <= len(args) <= 3:
        raise NotCompilable("`range` takes one to three arguments")
    parts = [_integer(graph, arg) for arg in args]
    start, stop = (const(0), parts[0]) if len(parts) == 1 else parts[:2]
    step = parts[2] if len(parts) == 3 else const(1)
    if not is_const(step) or not isinstance(step.value, int):
        raise NotCompilable("the step of a `range` inside a function has to be a constant")
    if step.value == 0:
        raise NotCompilable("the step of a `range` is zero: Python raises ValueError")
    graph.keep((start, stop))
    return Range(start, stop, step.value)


def _integer(graph: Graph, value: Symbolic) -> Expr:
    node = graph.counted(number(value))
    if node.type not in (INT, BOOL):
        raise NotCompilable("`range` needs integers")
    return convert(node, INT)


def range_length(graph: Graph, given: Range) -> Expr:
    """len() of a range, which is not negative."""
    if is_const(given.start) and is_const(given.stop):
        return const(len(range(cast(int, given.start.value), cast(int, given.stop.value), given.step)))
    ends = (given.stop, given.start) if given.step > 0 else (given.start, given.stop)
    distance = graph.make("sub", *ends) if not is_const(ends[1], 0) else ends[0]
    size = abs(given.step)
    if size > 1:
        distance = graph.make("floordiv", graph.make("add", distance, const(size - 1)), const(size))
    return graph.make("max", distance, const(0))


def in_range(graph: Graph, value: Expr, given: Range) -> Expr:
    """Whether a number is one of a range's."""
    whole: Expr | None = None
    if value.type.is_float:
        whole = graph.make("eq", graph.make("floor", value), value)
    first, last = ("ge", "lt") if given.step > 0 else ("le", "gt")

    def placed() -> Expr:
        exact = graph.make("floor_int", value) if value.type.is_float else value
        distance = graph.make("sub", exact, given.start)
        return graph.make("eq", graph.make("mod", distance, const(given.step)), const(0))

    def within() -> Expr:
        end = graph.make(last, value, given.stop)
        return end if abs(given.step) == 1 else graph.both(end, placed)

    inside = graph.both(graph.make(first, value, given.start), within)
    return inside if whole is None else graph.both(whole, lambda: inside)


# Calls that give iterators


def _numbered(frame: Frame, args: Sequence[ast.expr], named: dict[str | None, ast.expr]) -> Items:
    first = args[1] if len(args) == 2 else named.get("start")
    if not 1 <= len(args) <= 2 or set(named) - {"start"} or (len(args) == 2 and named):
        raise NotCompilable("`enumerate` takes one iterable, and a start")
    start = const(0) if first is None else _integer(frame.graph, frame.evaluate(first))
    items = _items(frame, args[0])
    if items.known is not None:
        add = functools.partial(frame.graph.make, "add", start)
        return Items(tuple((add(const(place)), item) for place, item in enumerate(items.known)))
    length, item = _from_zero(frame.graph, items)
    graph = frame.graph

    def numbered(place: Expr) -> Symbolic:
        return (place if is_const(start, 0) else graph.make("add", start, place), item(place))

    return Items(None, const(0), length, 1, numbered, (items,), most=items.most)


def _zipped(frame: Frame, args: Sequence[ast.expr], named: dict[str | None, ast.expr]) -> Items:
    strict = _is_strict(named)
    if not args:
        raise NotCompilable("`zip` is compiled with iterables")
    parts = [_items(frame, arg) for arg in args]
    short = [known for part in parts if (known := _few(part).known) is not None]
    if len(short) == len(parts):
        _check_lengths(map(len, short), strict)
        return Items(tuple(zip(*short, strict=False)))
    few = [len(part.known) if part.known is not None else part.most for part in parts]
    most = min((each for each in few if each is not None), default=None)
    if any(part.known is not None for part in parts) and (most is None or most > FEW):
        raise NotCompilable(
            f"a tuple of more than {FEW} items is zipped with a loop of unknown length: an array's is compiled"
        )
    pairs = [_from_zero(frame.graph, part) for part in parts]
    _check_lengths((length for length, _ in pairs), strict)
    length = functools.reduce(lambda a, b: frame.graph.make("min", a, b), [length for length, _ in pairs])

    def items(place: Expr) -> Symbolic:
        return tuple(item(place) for _, item in pairs)

    return Items(None, const(0), length, 1, items, tuple(parts), most=most)


def _is_strict(named: dict[str | None, ast.expr]) -> bool:
    given = named.get("strict", ast.Constant(False))
    if set(named) - {"strict"} or not isinstance(given, ast.Constant):
        raise NotCompilable("`zip` is compiled with iterables, and `strict` as a constant")
    return bool(given.value)


def _check_lengths(lengths: Iterable[object], strict: bool) -> None:
    """NotCompilable unless `strict` is known to hold: of numbers, or of nodes, of which equal ones are one object."""
    if strict and len(set(lengths)) > 1:
        raise NotCompilable("`zip` with `strict` is compiled of iterables that are known to be of one length")


def _reversed(frame: Frame, args: Sequence[ast.expr], named: dict[str | None, ast.expr]) -> Items:
    if named or len(args) != 1:
        raise NotCompilable("`reversed` takes one argument")
    if isinstance(args[0], ast.Call):
        function = frame.peek(args[0])
        if isinstance(function, Known) and id(function.value) in _ITERATORS:
            raise NotCompilable("an iterator is reversed: Python raises TypeError")
    items = _items(frame, args[0])
    if items.known is not None:
        return Items(items.known[::-1])
    graph = frame.graph
    if abs(items.step) == 1:
        one = const(items.step)
        first, behind = graph.make("sub", items.stop, one), graph.make("sub", items.start, one)
        return Items(None, first, behind, -items.step, items.item, (items,), most=items.most)
    length, item = _from_zero(graph, items)
    return Items(None, graph.make("sub", length, const(1)), const(-1), -1, item, (items,), most=items.most)


def _from_zero(graph: Graph, items: Items) -> tuple[Expr, Callable[[Expr], Symbolic]]:
    """How many items there are, and the item of a number that counts from zero."""
    if (known := items.known) is not None:  # beside others, and written out: its places are constants
        return const(len(known)), lambda place: known[cast(int, place.value)]
    length = range_length(graph, Range(items.start, items.stop, items.step))
    if is_const(items.start, 0) and items.step == 1:
        return length, items.item

    def item(place: Expr) -> Symbolic:
        far = place if items.step == 1 else graph.make("mul", place, const(items.step))
        return items.item(graph.make("add", items.start, far))

    return length, item


def _mapped(frame: Frame, args: Sequence[ast.expr], named: dict[str | None, ast.expr]) -> Items:
    if named or len(args) < 2:
        raise NotCompilable("`map` takes a function and iterables")
    graph, function = frame.graph, frame.evaluate(args[0])
    several = len(args) > 2
    items = _zipped(frame, args[1:], {}) if several else _items(frame, args[1])

    def applied(item: Symbolic) -> Symbolic:
        began = graph.store.clock
        found = apply(graph, function, *(cast("tuple[Symbolic, ...]", item) if several else (item,)))
        if graph.store.changed_since(began):
            raise NotCompilable("`map` calls a function that changes what is around it")
        return found

    if items.known is not None:
        return Items(tuple(map(applied, items.known)))
    given = items.item

    def called(place: Expr) -> Symbolic:
        return applied(given(place))

    ends = items.start, items.stop, items.step
    return Items(None, *ends, called, (items,), items.some, items.most)


_ITERATORS: dict[int, Callable[[Frame, Sequence[ast.expr], dict[str | None, ast.expr]], Items]] = {
    id(builtins.enumerate): _numbered,
    id(builtins.zip): _zipped,
    id(builtins.map): _mapped,
    id(builtins.reversed): _reversed,
}
