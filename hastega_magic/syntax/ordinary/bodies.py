"""Functions made of the statements in a `for`: of what a turn computes, and of what it makes of what it is handed."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import cast

from hastega_magic.syntax.ordinary.rewriting import Shape, function_of, names_of, placed
from hastega_magic.syntax.reading.trees import copied

_STATES, _ELEMENT = "__states__", "__element__"
"""Parameters that are taken apart first."""


def shape_of(names: Sequence[str], read: Sequence[ast.AST]) -> Shape:
    """The names that are read there; one of them if none is."""
    found = {each.id for node in read for each in ast.walk(node) if isinstance(each, ast.Name)}
    kept = [name for name in names if name in found] or [*names[:1]]
    return kept[0] if len(kept) == 1 else tuple(kept)


def value_of(shape: Shape, place: ast.AST) -> ast.expr:
    """The names' values."""
    names: list[ast.expr] = [ast.Name(name, ast.Load()) for name in names_of(shape)]
    return placed(names[0] if isinstance(shape, str) else ast.Tuple(names, ast.Load()), cast(ast.expr, place))


def computed(name: str, shape: Shape, body: Sequence[ast.stmt], later: Shape) -> ast.Lambda | ast.FunctionDef:
    """The function of an element that computes what is read later. `name`: what it is called if it is no lambda."""
    result = value_of(later, body[-1])
    match body:
        case [ast.Assign(targets=[ast.Name(id=target)], value=value)] if target in names_of(later):
            parts = cast(ast.Tuple, result).elts if not isinstance(later, str) else [result]
            parts[names_of(later).index(target)] = value
            return function_of(shape, value if isinstance(later, str) else result)
        case _:
            return _of_element(name, shape, body, result)


def told(name: str, shape: Shape, body: Sequence[ast.stmt]) -> ast.FunctionDef:
    """The function of an element that gives what the statements return, and False where they do not."""
    return _of_element(name, shape, body, ast.copy_location(ast.Constant(False), body[-1]))


def kept(name: str, shape: Shape, body: Sequence[ast.stmt], items: Sequence[str]) -> ast.FunctionDef:
    """The function of an element that gives what the variables `items` are when the statements are over."""
    result = value_of(items[0] if len(items) == 1 else tuple(items), body[-1])
    return _of_element(name, shape, body, result)


def step(name: str, states: Sequence[str], shape: Shape, body: Sequence[ast.stmt]) -> ast.FunctionDef:
    """The function of what is handed on, and an element, that gives what is handed on then."""
    handed: Shape = states[0] if len(states) == 1 else tuple(states)
    parts = handed, shape
    called = [
        each if isinstance(each, str) else other
        for each, other in zip(parts, (_STATES, _ELEMENT), strict=True)
    ]
    return _defined(name, called, _apart(parts, called, body[0]), body, value_of(handed, body[-1]))


def _of_element(name: str, shape: Shape, body: Sequence[ast.stmt], result: ast.expr) -> ast.FunctionDef:
    """The function of an element, which stages call with its parts where it is taken apart."""
    parts = (shape,) if isinstance(shape, str) else shape
    called = [each if isinstance(each, str) else f"{_ELEMENT}{n}" for n, each in enumerate(parts)]
    return _defined(name, called, _apart(parts, called, body[0]), body, result)


def _apart(parts: Sequence[Shape], names: Sequence[str], place: ast.stmt) -> list[ast.stmt]:
    """`x, (y, z) = name` for each that is more than a name."""
    return [
        ast.copy_location(ast.Assign([_target(each)], ast.Name(name, ast.Load())), place)
        for each, name in zip(parts, names, strict=True)
        if not isinstance(each, str)
    ]


def _target(shape: Shape) -> ast.expr:
    if isinstance(shape, str):
        return ast.Name(shape, ast.Store())
    return ast.Tuple([_target(each) for each in shape], ast.Store())


def _defined(
    name: str, parameters: Sequence[str], first: list[ast.stmt], body: Sequence[ast.stmt], result: ast.expr
) -> ast.FunctionDef:
    arguments = ast.arguments([], [ast.arg(each) for each in parameters], None, [], [], None, [])
    ended = _Ended(result)
    statements = [*first, *(cast(ast.stmt, ended.visit(copied(each))) for each in body), ended.made(body[-1])]
    made = ast.FunctionDef(name, arguments, statements, [])
    ast.copy_location(made, body[0])
    made.end_lineno, made.end_col_offset = body[-1].end_lineno, body[-1].end_col_offset
    return ast.fix_missing_locations(made)


class _Ended(ast.NodeTransformer):
    """`return` in place of `continue`, but for that of loops inside."""

    def __init__(self, result: ast.expr) -> None:
        self.result = result

    def made(self, place: ast.stmt) -> ast.stmt:
        return ast.copy_location(ast.Return(copied(self.result)), place)

    def visit_Continue(self, node: ast.Continue) -> ast.AST:
        return self.made(node)

    def visit_For(self, node: ast.For) -> ast.AST:
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        return node


def with_functions(made: Sequence[ast.FunctionDef], statement: ast.stmt, shared: bool) -> ast.stmt:
    """One statement: the functions, what uses them, and their end. `shared`: others see it if they are left there."""
    over = ast.Delete([ast.Name(each.name, ast.Del()) for each in made])
    used: list[ast.stmt] = [ast.Try([statement], [], [], [over])] if shared else [statement, over]
    return ast.If(ast.Constant(True), [*made, *used], [])


__all__ = ["computed", "kept", "shape_of", "step", "told", "value_of", "with_functions"]
