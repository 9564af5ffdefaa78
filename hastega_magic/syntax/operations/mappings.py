"""Dicts of a few numbers inside functions, captured or written out.

{0: 5, 1: 7}[x]        5 if x == 0 else 7, where x is one of both; else Python raises KeyError
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from hastega_magic.errors import NotCompilable
from hastega_magic.ir.expr import Expr, const, is_const
from hastega_magic.syntax.closures.contained import Number
from hastega_magic.syntax.values.graph import Graph
from hastega_magic.syntax.values.values import (
    FALSE,
    NONE,
    SHORT,
    Built,
    Known,
    Symbolic,
    known_item,
    number,
    required,
    written_out,
)

if TYPE_CHECKING:
    from hastega_magic.syntax.functions.expressions import Frame


def built(frame: Frame, node: ast.Dict) -> Known:
    """A dict that is written out; of equal keys the last one's value counts."""
    found: dict[Number, Symbolic] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            raise NotCompilable("`**` in a dict is not compiled")
        place, item = frame.evaluate(key), frame.evaluate(value)
        if not isinstance(place, Expr) or not is_const(place):
            raise NotCompilable("a dict is built whose keys are no constant numbers")
        frame.graph.keep(item)
        found[cast(Number, place.value)] = item
    return Known(Built(_checked(found, "the dict")), "the dict")


def mapping(value: Symbolic) -> Mapping[Number, Symbolic] | None:
    """The items of a dict; None for everything else."""
    held: Any = value.value if isinstance(value, Known) else None
    if isinstance(held, Built):
        return held.items
    if type(held) is not dict:
        return None
    name = cast(Known, value).name
    captured = cast("dict[Any, object]", held)
    if len(captured) > SHORT:
        raise NotCompilable(f"`{name}` is a dict of {len(captured)} items: of up to {SHORT} it is compiled")
    return _checked({key: written_out(known_item(item, name)) for key, item in captured.items()}, f"`{name}`")


def _checked(items: dict[Any, Symbolic], name: str) -> Mapping[Number, Symbolic]:
    if any(type(key) not in (bool, int, float) or math.isnan(key) for key in items):
        raise NotCompilable(f"the keys of {name} are not all numbers, and only such dicts are compiled")
    return items


def item(graph: Graph, items: Mapping[Number, Symbolic], key: Symbolic) -> Symbolic:
    """`d[key]`; Python raises where it is not there."""
    place, there, found = _looked_up(graph, items, key)
    if found is None:
        raise NotCompilable("an empty dict is subscripted: Python raises KeyError")
    graph.keep(required(place, there))
    return found


def _get(graph: Graph, items: Mapping[Number, Symbolic], args: Sequence[Symbolic]) -> Symbolic:
    if not 1 <= len(args) <= 2:
        raise NotCompilable("`get` of a dict takes a key, and a default")
    _, there, found = _looked_up(graph, items, args[0])
    default = args[1] if len(args) == 2 else NONE
    return default if found is None else graph.choose(there, found, default)


def _looked_up(
    graph: Graph, items: Mapping[Number, Symbolic], key: Symbolic
) -> tuple[Expr, Expr, Symbolic | None]:
    """The key, whether it is there, and its value; None of an empty dict."""
    graph.only_python("a dict")
    place = number(key)
    graph.keep(place)
    there: Expr = FALSE
    found: Symbolic | None = None
    for each, value in reversed(tuple(items.items())):
        here = graph.make("eq", place, const(each))
        there = graph.make("or", here, there)
        found = value if found is None else graph.choose(here, value, found)
    return place, there, found


METHODS = frozenset({"get", "keys", "values", "items"})
"""Those of dicts that are compiled."""


def method(graph: Graph, items: Mapping[Number, Symbolic], name: str, args: Sequence[Symbolic]) -> Symbolic:
    """What calling a method gives; of views, a tuple."""
    if name == "get":
        return _get(graph, items, args)
    if args:
        raise NotCompilable(f"`{name}` of a dict takes no arguments")
    pairs = tuple((const(key), value) for key, value in items.items())
    return pairs if name == "items" else tuple(pair[name == "values"] for pair in pairs)


__all__ = ["METHODS", "built", "item", "mapping", "method"]
