"""What a `for` inside a function iterates over: a range, a tuple, or a captured array."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from hastega_magic.errors import NotCompilable
from hastega_magic.interval import INT64
from hastega_magic.ir.expr import Expr, const, convert, is_const
from hastega_magic.syntax.expressions import Frame
from hastega_magic.syntax.functions import described
from hastega_magic.syntax.graph import Known, Symbolic, captured_tuple, number
from hastega_magic.types import BOOL, INT, Complex

FEW = 8
"""Turns of a loop over a range that are written out; more become a loop in the kernel."""

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


def items_of(frame: Frame, iterable: ast.expr) -> Items:
    """The items of an iterable; NotCompilable, with a sentence, for what is none of these."""
    if isinstance(iterable, ast.Call):
        function = frame.evaluate(iterable.func)
        if isinstance(function, Known) and function.value is builtins.range:
            if iterable.keywords or not 1 <= len(iterable.args) <= 3:
                raise NotCompilable("`range` takes one to three arguments")
            return _range([_integer(frame, arg) for arg in iterable.args])
        if isinstance(function, Known) and function.value is builtins.enumerate and len(iterable.args) == 1:
            return _numbered(items_of(frame, iterable.args[0]))
    value = frame.evaluate(iterable)
    frame.graph.keep(value)
    if isinstance(value, Complex):
        raise NotCompilable("a loop over a number: Python raises TypeError")
    parts = value if isinstance(value, tuple) else captured_tuple(value)
    if parts is not None:
        if len(parts) > MANY:
            raise NotCompilable(f"a loop over a tuple of {len(parts)} items is not compiled")
        return Items(parts)
    if isinstance(value, Known):
        held = cast(Any, value.value)
        if isinstance(held, builtins.range):
            return _range([const(part) for part in (held.start, held.stop, held.step)])
        if isinstance(held, np.ndarray) and cast("np.ndarray[Any, Any]", held).ndim == 1:
            table = value
            return Items(None, const(0), frame.graph.length(table), 1, lambda at: frame.graph.item(table, at))
        raise NotCompilable(f"a loop over `{value.name}`, {described(value.value)}, is not compiled")
    raise NotCompilable("a loop over a number: Python raises TypeError")


def _integer(frame: Frame, node: ast.expr) -> Expr:
    value = number(frame.evaluate(node))
    frame.graph.keep(value)
    if value.type not in (INT, BOOL):
        raise NotCompilable("`range` needs integers")
    return convert(value, INT)


def _range(parts: Sequence[Expr]) -> Items:
    start, stop = (const(0), parts[0]) if len(parts) == 1 else parts[:2]
    step = parts[2] if len(parts) == 3 else const(1)
    if not is_const(step) or not isinstance(step.value, int):
        raise NotCompilable("the step of a `range` inside a function has to be a constant")
    if step.value == 0:
        raise NotCompilable("the step of a `range` is zero: Python raises ValueError")
    found = Items(None, start, stop, step.value)
    if is_const(start) and is_const(stop):
        places = found.range
        if not places[FEW:]:  # its length may be more than len() can tell
            return Items(tuple(const(place) for place in places))
        if places[0] not in INT64 or places[-1] + step.value not in INT64:
            raise NotCompilable("a `range` beyond 64 bits")
    return found


def _numbered(items: Items) -> Items:
    if items.known is not None:
        return Items(tuple((const(place), item) for place, item in enumerate(items.known)))
    if items.step != 1 or not is_const(items.start, 0):
        raise NotCompilable("`enumerate` of such a range is not compiled")
    item = items.item
    return Items(None, items.start, items.stop, 1, lambda place: (place, item(place)))
