"""Expressions that Python evaluates when an iterator has been made: what a sum begins with, `default=`, `key=`.

    sum((f(x) for x in E), START)     E, then iter(E), then START

The iterator may be one of the user's own, or fail, and it knows how long what it goes through is. So START has to be
an expression whose evaluation changes nothing: then nobody can tell when it was evaluated, if iterators over E are
Python's own and START has a value; and whatever is otherwise, Python evaluates all of it where it stands.
"""

from __future__ import annotations

import ast
import functools
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hastega_magic.records import dataclass
from hastega_magic.syntax.ordinary.rewriting import NoPipeline

_IN_CLASS = "hastega_in_class"
"""An attribute of what stands in a class, of whose variables functions know nothing."""

_untyped: Any = operator  # its stub leaves some functions without types
_NUMBERS = (bool, int, float, complex)
_SIGNS: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert, ast.Not: operator.not_,
}  # fmt: skip
_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: _untyped.add, ast.Sub: _untyped.sub, ast.Mult: _untyped.mul, ast.Div: _untyped.truediv,
    ast.FloorDiv: _untyped.floordiv, ast.Mod: _untyped.mod,
}  # fmt: skip
_GROWING: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Pow: _untyped.pow, ast.LShift: _untyped.lshift,
}  # fmt: skip
_MOST = 1 << 10
"""Exponents whose powers are looked at."""

_MADE: Mapping[str, object] = {
    each.__name__: each for each in (bool, int, float, complex, str, tuple, list, dict, set)
}
"""What is made of constants unnoticed."""

KEPT: Mapping[str, object] = {
    "itemgetter": operator.itemgetter, "attrgetter": operator.attrgetter, "methodcaller": operator.methodcaller,
    "partial": functools.partial, "cmp_to_key": functools.cmp_to_key,
}  # fmt: skip
"""What keeps what it is given for later calls, and asks nothing of it."""


@dataclass(frozen=True)
class Root:
    """What a variable has to hold, for an expression to change nothing.

    expected    the object that it is, or its attribute; None where any will do
    attribute   what is read from it; "" if it is taken as it is
    kind        what that has to be: "number", one of Python's, "items", a container of Python's or a number,
                "function", one that changes nothing whatever it is called with; "" where any will do
    """

    name: str
    expected: object | None = None
    attribute: str = ""
    kind: str = ""


def is_constant(node: ast.expr) -> bool:
    """Whether it has the same value wherever it stands, and has one."""
    if isinstance(node, ast.Tuple):
        return all(is_constant(each) for each in node.elts)
    if isinstance(node, ast.Constant):
        return True
    try:
        _number(node)
    except (ArithmeticError, TypeError, ValueError):
        return False
    return True


def _number(node: ast.expr) -> Any:
    """The value of arithmetic with constants; ValueError for all else."""
    match node:
        case ast.Constant(value=value) if type(value) in _NUMBERS:
            return value
        case ast.UnaryOp(op=op, operand=operand):
            return _SIGNS[type(op)](_number(operand))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_number(left), _number(right))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _GROWING:
            base, exponent = _number(left), _number(right)
            if abs(exponent) <= _MOST and abs(base) <= _MOST:
                return _GROWING[type(op)](base, exponent)
        case _:
            pass
    raise ValueError


def roots(node: ast.expr) -> Iterator[Root]:
    """What variables have to hold, for its evaluation to change nothing; NoPipeline where that cannot be told."""
    match node:
        case ast.Name():
            pass
        case ast.Tuple(elts=items) | ast.List(elts=items):
            for item in items:
                yield from roots(item)
        case ast.Dict(keys=keys, values=values) if all(isinstance(key, ast.Constant) for key in keys):
            for value in values:
                yield from roots(value)
        case ast.Lambda(args=args):
            for default in (*args.defaults, *args.kw_defaults):
                if default is not None:
                    yield from roots(default)
        case ast.Attribute(value=ast.Name(id=name), attr=attribute):
            yield Root(name, None, attribute)
        case ast.Call(func=callee, args=args, keywords=keywords) if all(each.arg for each in keywords):
            yield from _called(callee, [*args, *(each.value for each in keywords)], node)
        case _ if is_constant(node):
            pass
        case ast.UnaryOp() | ast.BinOp():
            yield from _numbers(node)
        case _:
            raise noticed(node)


def _numbers(node: ast.expr) -> Iterator[Root]:
    """The same of arithmetic, with numbers of Python's alone."""
    match node:
        case ast.Name(id=name):
            yield Root(name, kind="number")
        case ast.Attribute(value=ast.Name(id=name), attr=attribute):
            yield Root(name, None, attribute, "number")
        case ast.Call(func=ast.Name(id="int" | "float")):
            yield from roots(node)
        case ast.UnaryOp(operand=operand):
            yield from _numbers(operand)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            yield from _numbers(left)
            yield from _numbers(right)
        case _ if is_constant(node) and not isinstance(node, ast.Tuple):
            pass
        case _:
            raise noticed(node)


def _called(callee: ast.expr, args: list[ast.expr], node: ast.expr) -> Iterator[Root]:
    match callee:
        case ast.Name(id=name) if name in _MADE and all(is_constant(each) for each in args):
            yield Root(name, _MADE[name])
        case ast.Name(id=name) if name in KEPT:
            yield Root(name, KEPT[name])
            for each in args:
                yield from roots(each)
        case ast.Attribute(value=ast.Name(id=module), attr=name) if name in KEPT:
            yield Root(module, KEPT[name], name)
            for each in args:
                yield from roots(each)
        case _:
            raise noticed(node)


def noticed(node: ast.expr) -> NoPipeline:
    """Of an expression that may change something."""
    return NoPipeline(
        f"Python evaluates `{ast.unparse(node)}` when an iterator has been made, which may be noticed"
    )


def mark_class(node: ast.ClassDef) -> None:
    """Mark what is evaluated where the class's variables are known: what functions cannot be asked for."""
    waiting: list[ast.AST] = [*node.body]
    while waiting:
        each = waiting.pop()
        setattr(each, _IN_CLASS, True)
        if isinstance(each, ast.Lambda):
            waiting.append(each.args)
        elif isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)):
            waiting += [*each.decorator_list, each.args, *([each.returns] if each.returns else [])]
        else:
            waiting += ast.iter_child_nodes(each)


def in_class(node: ast.expr) -> bool:
    """Whether it is evaluated where a class's variables are known."""
    return getattr(node, _IN_CLASS, False)


__all__ = ["KEPT", "Root", "in_class", "is_constant", "mark_class", "noticed", "roots"]
