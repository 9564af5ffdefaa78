"""What stands behind a generator, in a call of what takes all of its elements, where a loop makes these first.

    sorted((f(x) for x in xs), key=itemgetter(1))     min((f(x) for x in xs), key=lambda value: -value)

Python evaluates it before the first element: that may change nothing. `min` and `max` call the function between two
elements, and `sum` adds to what it begins with: that may change nothing either.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from hastega_magic.syntax.ordinary.trailing import KEPT, Root, is_constant, noticed, roots

_OF_MODULES = frozenset({"math", "operator"})


def roots_behind(node: ast.Call, consumer: object) -> list[Root]:
    """What variables have to hold, for the arguments behind the first to change nothing; NoPipeline if they may."""
    found: list[Root] = []
    for each in (*node.args[1:], *(named.value for named in node.keywords)):
        found += roots(each)
        if consumer is sum and not is_constant(each):
            raise noticed(each)
    for named in node.keywords:
        if named.arg is None:
            raise noticed(named.value)
        if named.arg == "key" and consumer in (min, max):
            found += _quiet(named.value)
    return found


def _quiet(node: ast.expr) -> Iterator[Root]:
    """What variables have to hold, for its calls to change nothing; NoPipeline where that cannot be told."""
    match node:
        case ast.Constant(value=None):
            pass
        case ast.Name(id=name):
            yield Root(name, kind="function")
        case ast.Attribute(value=ast.Name(id=name), attr=attribute):
            yield Root(name, None, attribute, "function")
        case ast.Call(func=ast.Name(id="itemgetter" as name), args=args, keywords=[]) if all(
            map(is_constant, args)
        ):
            yield Root(name, KEPT[name])
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="operator" as module), attr="itemgetter" as name),
            args=args,
            keywords=[],
        ) if all(map(is_constant, args)):
            yield Root(module, KEPT[name], name)
        case ast.Lambda(args=ast.arguments([], args, None, [], [], None, []), body=body):
            yield from _value(body, {each.arg for each in args})
        case _:
            raise noticed(node)


def _value(node: ast.expr, own: Collection[str]) -> Iterator[Root]:
    """The same of what a function of these names computes, of numbers and tuples of them."""
    parts: list[ast.expr] = []
    match node:
        case ast.Constant():
            pass
        case ast.Name(id=name):
            if name not in own:
                yield Root(name, kind="number")
        case ast.BinOp(left=left, right=right):
            parts = [left, right]
        case ast.UnaryOp(operand=operand):
            parts = [operand]
        case ast.BoolOp(values=parts) | ast.Tuple(elts=parts):
            pass
        case ast.IfExp(test=test, body=body, orelse=other):
            parts = [test, body, other]
        case ast.Compare(left=left, comparators=others):
            parts = [left]
            for each in others:
                yield from _items(each, own)
        case ast.Subscript(value=value, slice=index):
            yield from _items(value, own)
            parts = [index]
        case ast.Call(func=ast.Name(id=name), args=parts, keywords=[]) if name not in own:
            yield Root(name, kind="function")
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id=name), attr=attribute), args=parts, keywords=[]
        ) if name in _OF_MODULES:
            yield Root(name, None, attribute, "function")
        case _:
            raise noticed(node)
    for each in parts:
        yield from _value(each, own)


def _items(node: ast.expr, own: Collection[str]) -> Iterator[Root]:
    """The same of what an item is taken of, or something looked for in."""
    if isinstance(node, ast.Name) and node.id not in own:
        yield Root(node.id, kind="items")
    else:
        yield from _value(node, own)


__all__ = ["roots_behind"]
