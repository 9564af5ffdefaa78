"""Calls of functions that call others, as `min` by a key and `functools.reduce`; and named tuples, which calls make."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from hastega_magic.errors import NotCompilable
from hastega_magic.syntax.closures.attributes import is_named_tuple
from hastega_magic.syntax.operations import lists
from hastega_magic.syntax.operations.comparisons import compared
from hastega_magic.syntax.values.graph import Graph
from hastega_magic.syntax.values.values import NONE, Known, Record, Symbolic, is_none, known, members

if TYPE_CHECKING:
    from hastega_magic.syntax.functions.expressions import Frame


def apply(graph: Graph, function: Symbolic, *args: Symbolic) -> Symbolic:
    """What a call gives, which Python makes here."""
    from hastega_magic.syntax.operations.calls import call  # which calls what is here

    found = call(graph, function, args, {})
    graph.keep(found)
    return found


def optimum(
    graph: Graph, callee: Known, args: Sequence[Symbolic], kwargs: Mapping[str, Symbolic]
) -> Symbolic:
    """`min` or `max` with what is given by name: a key, and what there is where there are no items."""
    from hastega_magic.syntax.operations.calls import call  # which calls what is here

    items = members(args[0]) if len(args) == 1 else args
    known = {"key", "default"} if len(args) == 1 else {"key"}
    if not kwargs.keys() <= known or items is None:
        raise NotCompilable(f"`{callee.name}` is called with keyword arguments")
    if not items and "default" in kwargs:
        return kwargs["default"]
    if is_none(key := kwargs.get("key", NONE)):
        return call(graph, callee, args, {})
    return _by_key(graph, callee.value, items, key)


def _by_key(graph: Graph, function: object, items: Sequence[Symbolic], key: Symbolic) -> Symbolic:
    """The first one with the smallest or largest key."""
    if not items:
        raise NotCompilable("`min` or `max` by a key of something that is no tuple or list with items")
    op = ast.Lt() if function is builtins.min else ast.Gt()
    best, least = items[0], apply(graph, key, items[0])
    for item in items[1:]:
        value = apply(graph, key, item)
        other = compared(graph, op, value, least)
        graph.keep(other)
        best, least = graph.choose(other, item, best), graph.choose(other, value, least)
    return best


def reduced(frame: Frame, node: ast.Call) -> Symbolic:
    """`functools.reduce` over items of which there are a known number, or with a start."""
    if (
        node.keywords
        or not 2 <= len(node.args) <= 3
        or any(isinstance(each, ast.Starred) for each in node.args)
    ):
        raise NotCompilable("`reduce` takes a function, an iterable, and a start")
    function = frame.evaluate(node.args[0])
    source = node.args[1]
    if isinstance(source, (ast.GeneratorExp, ast.ListComp)):
        items = members(lists.comprehension(frame, source)) or ()
    elif len(node.args) == 3 and not _is_short(frame, source):
        return _in_turns(frame, node, function)
    else:
        items = lists.all_items(frame, source)
    total = [frame.evaluate(each) for each in node.args[2:]]
    for item in items:
        total = [apply(frame.graph, function, total[0], item)] if total else [item]
    if not total:
        raise NotCompilable("`reduce` of no items without a start: Python raises TypeError")
    return total[0]


def _is_short(frame: Frame, source: ast.expr) -> bool:
    names = dict(frame.names)
    try:
        lists.all_items(frame, source)
    except NotCompilable:
        return False
    finally:
        frame.names = names
    return True


def _in_turns(frame: Frame, node: ast.Call, function: Symbolic) -> Symbolic:
    from hastega_magic.syntax.operations.generators import evaluated, own, template

    body = template("TOTAL = DEFAULT\nfor ITEM in ITEMS:\n    TOTAL = STEP(TOTAL, ITEM)\nreturn TOTAL", node)
    loop = cast(ast.For, body[1])
    loop.iter = node.args[1]
    return evaluated(frame, node, body, {own("STEP"): function, own("DEFAULT"): frame.evaluate(node.args[2])})


# Named tuples


def named_tuple(kind: Any, name: str, args: Sequence[Symbolic], named: Mapping[str, Symbolic]) -> Known:
    """What a call of such a class makes."""
    fields = cast("tuple[str, ...]", kind._fields)
    given = dict(zip(fields, args, strict=False))
    if len(args) > len(fields) or given.keys() & named.keys() or not named.keys() <= set(fields):
        raise NotCompilable(f"`{name}` takes other arguments")
    values = cast("tuple[Any, ...]", kind.__new__.__defaults__ or ())
    defaults = {
        field: known(value, name)
        for field, value in zip(fields[len(fields) - len(values) :], values, strict=True)
    }
    found = {**defaults, **given, **named}
    if found.keys() != set(fields):
        raise NotCompilable(f"`{name}` is called without all of its arguments")
    return Known(Record(kind, tuple(found[field] for field in fields)), name)


def field(record: Record, name: str) -> Symbolic | None:
    """The value of a field; None where there is none of that name."""
    fields = cast("tuple[str, ...]", cast(Any, record.kind)._fields)
    return record.items[fields.index(name)] if name in fields else None


__all__ = ["apply", "field", "is_named_tuple", "named_tuple", "optimum", "reduced"]
