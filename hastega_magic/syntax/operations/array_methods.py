"""Methods of short parts of captured arrays: `a[i - 2:i + 3].mean()`, `m[i].max()`.

Their items are taken in the order in which NumPy takes them, so that sums of floats have its bits. Of up to seven, as
many are taken as there are; a longer part that is cut off at the end of its array is NumPy's.

Source: pairwise summation of NumPy (`loops_utils.h.src`), which adds up to seven items one after the other, and up to
128 in eight sums side by side.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard, cast

import numpy as np

from hastega_magic.errors import NotCompilable
from hastega_magic.ir.expr import Expr, const
from hastega_magic.syntax.operations.generators import SUM, Consumer, gone_through
from hastega_magic.syntax.operations.stretches import Cut, cut, is_cut, stretch
from hastega_magic.syntax.values.dimensions import Part
from hastega_magic.syntax.values.graph import Graph
from hastega_magic.syntax.values.values import SHORT, Known, Symbolic, number

if TYPE_CHECKING:
    from hastega_magic.syntax.functions.expressions import Frame

_SIDE_BY_SIDE = 8
_DTYPES = frozenset({np.dtype(np.float64), np.dtype(np.int64)})
"""Of whose items sums are of that type, too, and are computed in it."""


def method_of_part(frame: Frame, call: ast.Call) -> Symbolic | None:
    """What such a method gives; None where it is none. NotCompilable where it is another of an array's part."""
    found = _method(frame, call)
    callee = cast(ast.Attribute, call.func)
    if found is None and isinstance(callee.value, ast.Subscript) and is_cut(frame, callee.value):
        whole = frame.peek(callee.value.value)
        if isinstance(whole, Known) and isinstance(whole.value, np.ndarray):
            raise NotCompilable(f"`.{callee.attr}(...)` of a part of an array is left to NumPy")
    return found


def _method(frame: Frame, call: ast.Call) -> Symbolic | None:
    """The same; None for any other."""
    callee = cast(ast.Attribute, call.func)
    reduction = _REDUCTIONS.get(callee.attr)
    if reduction is None or call.args or not isinstance(callee.value, ast.Subscript):
        return None
    freedom = _freedom(call) if callee.attr in _OF_FREEDOM else None
    if freedom is None and call.keywords:
        return None
    if (
        callee.attr in _OF_FEW
        and is_cut(frame, callee.value)
        and (part := _short(frame, callee.value)) is not None
    ):
        return _of_some(frame, call, part)
    items = _items(frame, callee.value)
    if items is None or (freedom is not None and len(items) <= freedom):
        return None
    return reduction(frame.graph, items, *([freedom] if freedom else []))


def _short(frame: Frame, part: ast.Subscript) -> Cut | None:
    """A part of an array that has seven items at the most, and may have fewer."""
    if not _is_array(frame.peek(part.value)):
        return None
    found = cut(frame, part)
    return found if found.some and found.most is not None and found.most < _SIDE_BY_SIDE else None


def _of_some(frame: Frame, call: ast.Call, part: Cut) -> Symbolic:
    """What the method gives of as many items as there are."""
    callee = cast(ast.Attribute, call.func)
    held = cast("np.ndarray[Any, Any]", part.table.value)
    start = const(0) if callee.attr == "sum" and held.dtype.kind == "i" else const(0.0)
    found = gone_through(frame, _OF_FEW[callee.attr], callee.value, call, start)
    if callee.attr != "mean":
        return found
    return frame.graph.make("truediv", found, part.length(frame.graph))


def _freedom(call: ast.Call) -> int | None:
    """What is written as `ddof`, 0 or 1; None for anything else."""
    match call.keywords:
        case []:
            return 0
        case [ast.keyword(arg="ddof", value=ast.Constant(value=0 | 1 as given))] if type(given) is int:
            return given
        case _:
            return None


def _items(frame: Frame, part: ast.Subscript) -> Sequence[Expr] | None:
    """The items of a part of an array: one to 64 ints or floats."""
    if is_cut(frame, part):
        owner, bounds = frame.evaluate(part.value), cast(ast.Slice, part.slice)
        if not _is_array(owner) or bounds.lower is None or bounds.upper is None:
            return None
        lower, upper = (number(frame.evaluate(each)) for each in (bounds.lower, bounds.upper))
        found = stretch(frame.graph, owner, lower, upper)
    elif isinstance(part.slice, ast.Slice) or not _is_row(frame.peek(part)):
        return None
    else:
        row = cast(Part, cast(Known, frame.evaluate(part)).value)
        found = tuple(row.item(frame.graph, const(each)) for each in range(row.shape[0]))
    frame.graph.numpy = True
    return [number(each) for each in cast("tuple[Symbolic, ...]", found)]


def _is_array(value: Symbolic | None) -> TypeGuard[Known]:
    held = value.value if isinstance(value, Known) else None
    return isinstance(held, np.ndarray) and cast("np.ndarray[Any, Any]", held).dtype in _DTYPES


def _is_row(value: Symbolic | None) -> bool:
    held = value.value if isinstance(value, Known) else None
    return (
        isinstance(held, Part) and _is_array(held.table) and len(held.shape) == 1 and held.shape[0] <= SHORT
    )


def _sum(graph: Graph, items: Sequence[Expr]) -> Expr:
    """NumPy begins with zero, to which it adds what it makes of the items."""
    if items[0].type.is_integral:
        return functools.reduce(lambda a, b: graph.make("add", a, b), items)
    return graph.make("add", const(0.0), _pairwise(graph, items))


def _pairwise(graph: Graph, items: Sequence[Expr]) -> Expr:
    def add(a: Expr, b: Expr) -> Expr:
        return graph.make("add", a, b)

    whole = len(items) - len(items) % _SIDE_BY_SIDE
    if not whole:
        return functools.reduce(add, items)
    sums = [functools.reduce(add, items[n:whole:_SIDE_BY_SIDE]) for n in range(_SIDE_BY_SIDE)]
    while len(sums) > 1:
        sums = [add(a, b) for a, b in zip(sums[::2], sums[1::2], strict=True)]
    return functools.reduce(add, items[whole:], sums[0])


def _mean(graph: Graph, items: Sequence[Expr]) -> Expr:
    return graph.make("truediv", _sum(graph, _floats(graph, items)), const(len(items)))


def _floats(graph: Graph, items: Sequence[Expr]) -> list[Expr]:
    """The items as NumPy adds them for a mean."""
    return [graph.make("add", each, const(0.0)) if each.type.is_integral else each for each in items]


def _variance(graph: Graph, items: Sequence[Expr], freedom: int = 0) -> Expr:
    mean = _mean(graph, items)
    apart = [graph.make("sub", each, mean) for each in _floats(graph, items)]
    squares = [graph.make("mul", each, each) for each in apart]
    return graph.make("truediv", _sum(graph, squares), const(len(items) - freedom))


def _deviation(graph: Graph, items: Sequence[Expr], freedom: int = 0) -> Expr:
    return graph.make("fsqrt", _variance(graph, items, freedom))


def _extreme(op: str) -> Callable[[Graph, Sequence[Expr]], Expr]:
    return lambda graph, items: functools.reduce(lambda a, b: graph.make(op, a, b), items)


_REDUCTIONS: Mapping[str, Callable[..., Expr]] = {
    "sum": _sum,
    "mean": _mean,
    "var": _variance,
    "std": _deviation,
    "max": _extreme("np_larger"),
    "min": _extreme("np_smaller"),
}


def _step(op: str) -> Consumer:
    text = "TOTAL = ITEM if TOTAL is None else BETTER(TOTAL, ITEM)"
    return Consumer(
        "TOTAL = None", text, "return TOTAL", {"BETTER": lambda graph, args: graph.make(op, *args)}
    )


_OF_FEW = {"sum": SUM, "mean": SUM, "max": _step("np_larger"), "min": _step("np_smaller")}
_OF_FREEDOM = frozenset({"var", "std"})
"""Those that divide by the number of items less `ddof`."""

__all__ = ["method_of_part"]
