"""Lists that are built inside functions: of known length, one value beside the other, as those of tuples are.

a = [0] * 3                 a: three values, which stand in the store (syntax/values/store.py)
a[x % 3] = 5                each of them becomes 5 where x % 3 is its place
a.append(x)                 a: four values
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar, cast

from hastega_magic.errors import NotCompilable
from hastega_magic.ir.expr import Expr, const, is_const
from hastega_magic.syntax.values.graph import Graph
from hastega_magic.syntax.values.values import (
    NONE,
    SHORT,
    Known,
    Listed,
    Symbolic,
    items_in,
    members,
    number,
    required,
)
from hastega_magic.types import Composite

if TYPE_CHECKING:
    from hastega_magic.syntax.functions.expressions import Frame

ITERABLES: tuple[object, ...] = (
    builtins.range,
    builtins.zip,
    builtins.enumerate,
    builtins.reversed,
    builtins.map,
)
"""What gives something to iterate over."""

_T = TypeVar("_T")


def listed(value: Symbolic | None) -> Listed | None:
    """The list that was built here; None for everything else."""
    held = value.value if isinstance(value, Known) else None
    return held if isinstance(held, Listed) else None


def spliced(frame: Frame, nodes: Iterable[ast.expr]) -> tuple[Symbolic, ...]:
    """The values of expressions, those behind a `*` one by one."""
    found: list[Symbolic] = []
    for node in nodes:
        if not isinstance(node, ast.Starred):
            found.append(frame.evaluate(node))
            continue
        items = all_items(frame, node.value)
        frame.graph.keep(items)
        found += items
    return tuple(found)


def all_items(frame: Frame, node: ast.expr) -> tuple[Symbolic, ...]:
    """The items of a tuple, a list, or of something else that has a known number."""
    if not any(isinstance(each, (ast.Call, ast.NamedExpr)) for each in ast.walk(node)):
        items = members(frame.evaluate(node))
        return every(frame, node) if items is None else items
    if isinstance(node, ast.Call) and is_iterable(frame, node):
        return every(frame, node)
    items = members(frame.evaluate(node))
    if items is None:
        raise NotCompilable("something stands behind `*` of which the number of items is not known")
    return items


def is_iterable(frame: Frame, node: ast.Call) -> bool:
    """Whether the call is one of these."""
    made = frame.peek(node)
    return isinstance(made, Known) and any(made.value is each for each in ITERABLES)


def every(frame: Frame, node: ast.expr) -> tuple[Symbolic, ...]:
    """All items of an iterable; NotCompilable where their number is not known, or there are many."""
    from hastega_magic.syntax.functions.iterate import (
        items_of,  # which evaluates expressions with this module
    )

    with frame.graph.whole_slices():
        items = items_of(frame, node)
    if items.known is not None:
        return items.known
    if not items.certain or len(items.range) > SHORT:
        raise NotCompilable(f"a list is built whose length is not known, or beyond {SHORT}")
    return tuple(items.item(const(place)) for place in items.range)


def display(frame: Frame, node: ast.List) -> Known:
    """`[a, b, *c]`."""
    return _new(frame.graph, spliced(frame, node.elts))


def _new(graph: Graph, items: tuple[Symbolic, ...]) -> Known:
    if len(items) > SHORT:
        raise NotCompilable(f"a list of {len(items)} items is built: of up to {SHORT} it is compiled")
    graph.keep(items)
    return graph.store.new(items)


def comprehension(frame: Frame, node: ast.ListComp | ast.GeneratorExp) -> Known:
    """The list that a comprehension makes, over items of which there are a known number."""
    from hastega_magic.syntax.functions.flow import assign  # which evaluates expressions with this module

    if any(isinstance(each, ast.NamedExpr) for each in ast.walk(node)):
        raise NotCompilable("an assignment inside a comprehension is not compiled")
    found: list[Symbolic] = []
    inner = frame.within({})

    def go(outside: Frame, clauses: Sequence[ast.comprehension]) -> None:
        if not clauses:
            found.append(inner.evaluate(node.elt))
            frame.graph.keep(found[-1])
            if len(found) > SHORT:
                raise NotCompilable(f"a list of more than {SHORT} items is built")
            return
        first, *rest = clauses
        if first.is_async:
            raise NotCompilable("an asynchronous comprehension is not compiled")
        items, start = walked(outside, lambda: every(outside, first.iter))
        for item in items:
            assign(inner, first.target, item)
            if all(_decided(inner, test) for test in first.ifs):
                go(inner, rest)
            start()

    with frame.graph.store.running(inner):
        go(inner, node.generators)
    return _new(frame.graph, tuple(found))


def walked(frame: Frame, items: Callable[[], _T]) -> tuple[_T, Callable[[], None]]:
    """The items of what is gone through, and a check that no list among it has been changed since."""
    store = frame.graph.store
    outside, store.walked = store.walked, set()
    found = items()
    lists, store.walked = store.walked, outside
    began = store.clock

    def check() -> None:
        if lists & store.changed_since(began):
            raise NotCompilable("a list is changed while a loop goes through it")

    return found, check


def _decided(frame: Frame, test: ast.expr) -> bool:
    condition = frame.condition(test)
    if not is_const(condition):
        raise NotCompilable("a list is built whose length depends on the element")
    return bool(condition.value)


# Changes


def assign_item(frame: Frame, target: ast.Subscript, value: Symbolic) -> None:
    """`a[i] = value`."""
    found = listed(frame.evaluate(target.value))
    if found is None or isinstance(target.slice, ast.Slice):
        raise NotCompilable("an element is assigned: observation prevents optimisation")
    _put(frame.graph, found, number(frame.evaluate(target.slice)), lambda _: value)


def change_item(frame: Frame, target: ast.Subscript, change: Callable[[Symbolic], Symbolic]) -> None:
    """`a[i] += value`: list and index are evaluated once, and before the value."""
    found = listed(frame.evaluate(target.value))
    if found is None or isinstance(target.slice, ast.Slice):
        raise NotCompilable("an element is assigned: observation prevents optimisation")
    _put(frame.graph, found, number(frame.evaluate(target.slice)), change)


def _put(graph: Graph, held: Listed, place: Expr, change: Callable[[Symbolic], Symbolic]) -> None:
    from hastega_magic.syntax.operations.subscripts import some_part  # which reads lists with this module

    items = held.items
    size = len(items)
    graph.counted(place)
    if not place.type.is_integral or not size:
        raise NotCompilable("a list is subscripted with a float, or is empty: Python raises")
    graph.keep(place)
    if is_const(place):
        at = int(cast(int, place.value))
        if not -size <= at < size:
            raise NotCompilable("an element beyond a list's end is assigned: Python raises IndexError")
        value = change(items[at])
        graph.store.replace(
            held, tuple(value if k == at % size else item for k, item in enumerate(held.items))
        )
        return
    value = change(some_part(graph, items, place))
    within = graph.make("and", graph.make("ge", place, const(-size)), graph.make("lt", place, const(size)))
    graph.keep(required(place, within))
    new: list[Symbolic] = []
    for k, item in enumerate(held.items):
        here = graph.make("or", graph.make("eq", place, const(k)), graph.make("eq", place, const(k - size)))
        new.append(graph.choose(here, value, item))
    graph.store.replace(held, tuple(new))


def extend(graph: Graph, held: Listed, value: Symbolic) -> None:
    """`a += value`."""
    items = members(value)
    if items is None:
        raise NotCompilable("a list is extended by something that is no tuple or list")
    _fill(graph, held, (*held.items, *items))


def _fill(graph: Graph, held: Listed, items: tuple[Symbolic, ...]) -> None:
    if len(items) > SHORT:
        raise NotCompilable(f"a list grows beyond {SHORT} items: of up to {SHORT} it is compiled")
    graph.store.replace(held, items)


def _place(graph: Graph, args: Sequence[Symbolic], default: int) -> int:
    if not args:
        return default
    node = graph.counted(number(args[0]))
    if not is_const(node) or not node.type.is_integral:
        raise NotCompilable("an item is taken from a list, or put into it, at a place that is no constant")
    return int(cast(int, node.value))


def _append(graph: Graph, held: Listed, args: Sequence[Symbolic]) -> Symbolic:
    _fill(graph, held, (*held.items, args[0]))
    return NONE


def _extend(graph: Graph, held: Listed, args: Sequence[Symbolic]) -> Symbolic:
    extend(graph, held, args[0])
    return NONE


def _insert(graph: Graph, held: Listed, args: Sequence[Symbolic]) -> Symbolic:
    items = list(held.items)
    items.insert(_place(graph, args, 0), args[1])
    _fill(graph, held, tuple(items))
    return NONE


def _pop(graph: Graph, held: Listed, args: Sequence[Symbolic]) -> Symbolic:
    items, at = list(held.items), _place(graph, args, -1)
    if not -len(items) <= at < len(items):
        raise NotCompilable("an item beyond a list's end is taken: Python raises IndexError")
    found = items.pop(at)
    graph.store.replace(held, tuple(items))
    return found


def _reverse(graph: Graph, held: Listed, args: Sequence[Symbolic]) -> Symbolic:
    graph.store.replace(held, held.items[::-1])
    return NONE


def _clear(graph: Graph, held: Listed, args: Sequence[Symbolic]) -> Symbolic:
    graph.store.replace(held, ())
    return NONE


def _copy(graph: Graph, held: Listed, args: Sequence[Symbolic]) -> Symbolic:
    return _new(graph, held.items)


_METHODS: Mapping[str, tuple[Callable[[Graph, Listed, Sequence[Symbolic]], Symbolic], tuple[int, ...]]] = {
    "append": (_append, (1,)), "extend": (_extend, (1,)), "insert": (_insert, (2,)), "pop": (_pop, (0, 1)),
    "reverse": (_reverse, (0,)), "clear": (_clear, (0,)), "copy": (_copy, (0,)),
}  # fmt: skip
"""Methods of lists, and with how many arguments."""


def is_method(held: Listed | None, name: str, arguments: int) -> bool:
    """Whether a call of this method of a list is compiled."""
    return held is not None and name in _METHODS and arguments in _METHODS[name][1]


def method(graph: Graph, held: Listed, name: str, args: Sequence[Symbolic]) -> Symbolic:
    """What calling a method of a list gives."""
    return _METHODS[name][0](graph, held, args)


# Other lists of lists and tuples


def repeated(graph: Graph, left: Symbolic, right: Symbolic) -> Symbolic | None:
    """`[0] * 4`, or with a tuple; None where neither side is one."""
    value, times = (left, right) if isinstance(right, Expr) else (right, left)
    held = listed(value)
    items = items_in(value) if held is None else held.items
    if items is None or not isinstance(times, Expr):
        return None
    if not is_const(times) or not times.type.is_integral:
        raise NotCompilable("a list or tuple is repeated a number of times that is no constant")
    count = max(0, int(cast(int, graph.counted(times).value)))
    if count * len(items) > SHORT:
        raise NotCompilable(f"a list of more than {SHORT} items is built")
    return items * count if held is None else _new(graph, items * count)


def joined(graph: Graph, left: Symbolic, right: Symbolic) -> Symbolic | None:
    """`[1] + [2]`; None where one of them is no list that is built here."""
    one, other = listed(left), listed(right)
    return None if one is None or other is None else _new(graph, one.items + other.items)


def made(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    """`list(...)`."""
    return _new(graph, _only(args))


def as_tuple(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    """`tuple(...)`."""
    return _only(args)


def _only(args: Sequence[Symbolic]) -> tuple[Symbolic, ...]:
    if not args:
        return ()
    items = members(args[0]) if len(args) == 1 and not isinstance(args[0], Composite) else None
    if items is None:
        raise NotCompilable(
            "`list` or `tuple` of something that has no known number of items is not compiled"
        )
    return items
