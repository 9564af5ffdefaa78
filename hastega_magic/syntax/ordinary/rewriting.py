"""Pieces of syntax trees: functions of an element, calls, subscripts, at the places of what they stand for."""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from hastega_magic.syntax.reading.trees import copied


class NoPipeline(Exception):
    """It is no pipeline, or one that could not be compiled anyway."""


Shape = str | tuple["Shape", ...]
"""What a comprehension's target takes an element apart to."""


def target_shape(node: ast.expr) -> Shape:
    """The names of a target; NoPipeline for a target that is more than names.

    Of a name that stands there several times, as `_` does, the last one has the value: the others are called otherwise.
    """
    shape = _shape(node)
    last = {name: place for place, name in enumerate(names_of(shape))}
    return shape if len(last) == len(names_of(shape)) else _told_apart(shape, last, itertools.count())


def _told_apart(shape: Shape, last: Mapping[str, int], places: Iterator[int]) -> Shape:
    if not isinstance(shape, str):
        return tuple(_told_apart(part, last, places) for part in shape)
    place = next(places)
    return shape if last[shape] == place else f"__hastega_{place}_{shape}__"


def _shape(node: ast.expr) -> Shape:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Tuple(elts=items) | ast.List(elts=items):
            if not items or any(isinstance(item, ast.Starred) for item in items):
                raise NoPipeline
            return tuple(_shape(item) for item in items)
        case _:
            raise NoPipeline


def names_of(shape: Shape) -> list[str]:
    """All names, from left to right."""
    return [shape] if isinstance(shape, str) else [name for part in shape for name in names_of(part)]


def function_of(shape: Shape, body: ast.expr) -> ast.Lambda:
    """A function of the element: of its parts, where the target takes it apart."""
    parameters: list[str] = []
    inside: dict[str, ast.expr] = {}
    for number, part in enumerate((shape,) if isinstance(shape, str) else shape):
        if isinstance(part, str):
            parameters.append(part)
        else:
            name = f"__element_{number}__"
            parameters.append(name)
            _inside(part, ast.Name(name, ast.Load()), inside)
    code = copied(body)
    if inside:
        code = cast(ast.expr, _Substitute(inside).visit(code))
    return cast(ast.Lambda, placed(function(parameters, code), body))


def _inside(shape: Shape, code: ast.expr, found: dict[str, ast.expr]) -> None:
    """The names that an element's part is taken apart to, as subscripts of it."""
    if isinstance(shape, str):
        found[shape] = code
        return
    for number, part in enumerate(shape):
        _inside(part, ast.Subscript(copied(code), ast.Constant(number), ast.Load()), found)


class _Substitute(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, ast.expr]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return placed(copied(self.names[node.id]), node) if node.id in self.names else node


def function(parameters: Sequence[str], body: ast.expr) -> ast.Lambda:
    """A lambda."""
    arguments = ast.arguments([], [ast.arg(name) for name in parameters], None, [], [], None, [])
    return ast.Lambda(arguments, body)


def item(name: str, number: int, place: ast.expr) -> ast.expr:
    """`name[number]`."""
    return placed(ast.Subscript(ast.Name(name, ast.Load()), ast.Constant(number), ast.Load()), place)


def call(
    callee: ast.expr, args: list[ast.expr], place: ast.expr, keywords: Sequence[ast.keyword] = ()
) -> ast.expr:
    """A call."""
    return placed(ast.Call(callee, args, [*keywords]), place)


def placed(node: ast.expr, place: ast.expr) -> ast.expr:
    """The code with places of its own where it has none: those of what it stands for."""
    for each in ast.walk(node):
        if isinstance(each, (ast.expr, ast.arg)) and getattr(each, "lineno", None) is None:
            ast.copy_location(each, place)
    return node


def all_placed(made: ast.stmt, place: ast.stmt) -> ast.stmt:
    """Code with places where it has none: those of the head of what it stands for."""
    first = ast.copy_location(ast.Pass(), place)
    first.end_lineno, first.end_col_offset = place.lineno, place.col_offset
    for each in ast.walk(made):
        if isinstance(each, (ast.expr, ast.stmt, ast.arg)) and getattr(each, "lineno", None) is None:
            ast.copy_location(each, first)
    return made


def head_of(node: ast.For) -> ast.expr:
    """The head of the statement, as a place."""
    made = copy.copy(node.iter)
    made.lineno, made.col_offset = node.lineno, node.col_offset
    return made


__all__ = [
    "NoPipeline",
    "Shape",
    "all_placed",
    "call",
    "function",
    "function_of",
    "head_of",
    "item",
    "names_of",
    "placed",
    "target_shape",
]
