"""Comprehensions with several `for` clauses: a loop over places, of which each names an element of every clause.

    [x * y for x in xs for y in ys if x < y]

    range(len(xs) * len(ys)) |> map(lambda place: (xs[place // len(ys)], ys[place % len(ys)]))
        |> filter(lambda x, y: x < y) |> map(lambda x, y: x * y) |> to_list

A range that depends on elements further out has as many places as the longest one of its like; those beyond its end
are left out:

    for i in range(n) for j in range(i, n)    ... |> map(lambda i, j: (i, i + j)) |> filter(lambda i, j: j < n)

Python evaluates what an inner clause goes through anew for each outer element, and not before there is one. So this
has to be an expression of which nobody can tell when, or how often, it was evaluated (`_Looked`).
"""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Sequence
from dataclasses import field
from typing import cast

from hastega_magic.records import dataclass
from hastega_magic.syntax.ordinary.parts import Clause, Column, Given, Nest, Parts, written_places
from hastega_magic.syntax.ordinary.rewriting import (
    NoPipeline,
    Shape,
    call,
    function,
    function_of,
    names_of,
    placed,
    target_shape,
)  # fmt: skip
from hastega_magic.syntax.reading.trees import copied

_BUILTINS = {name: getattr(builtins, name) for name in
             ("range", "len", "min", "max", "abs", "zip", "enumerate", "reversed", "int", "round")}  # fmt: skip
_EXACT: tuple[type[ast.operator], ...] = (
    ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.LShift, ast.RShift, ast.BitAnd, ast.BitOr, ast.BitXor,
)  # fmt: skip
"""Operators that give an int of ints."""

_EXACT_CALLS = frozenset({"min", "max", "abs"})


@dataclass
class _Looked:
    """What inner clauses read: each variable in the order in which it was met."""

    own: Sequence[str]
    builtins: list[str] = field(default_factory=list[str])
    numbers: list[str] = field(default_factory=list[str])
    sequences: list[str] = field(default_factory=list[str])
    lengths: list[str] = field(default_factory=list[str])
    held: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    """Items of sequences whose lengths are read, as in `len(rows[0])`."""

    def called(self, node: ast.expr) -> str:
        """The name of Python's function that is called; NoPipeline for others."""
        name = node.id if isinstance(node, ast.Name) else ""
        if name not in _BUILTINS or name in self.own:
            raise NoPipeline(_evaluated_often(node))
        _once(self.builtins, name)
        return name

    def iterable(self, node: ast.expr) -> None:
        """NoPipeline unless it is an expression that may be evaluated once, at any time."""
        match node:
            case ast.Name(id=name):
                self._not_own(name)
            case ast.Subscript(value=ast.Name(id=name), slice=index):
                self._sequence(name)
                bounds = (index.lower, index.upper, index.step) if isinstance(index, ast.Slice) else (index,)
                for bound in bounds:
                    if bound is not None:
                        self.number(bound)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                for item in items:
                    self.number(item)
            case ast.Call(func=ast.Name(id="range") as callee, args=args, keywords=[]):
                self.called(callee)
                for arg in args:
                    self.number(arg)
            case _:
                raise NoPipeline(_evaluated_often(node))

    def number(self, node: ast.expr, among: Sequence[str] = (), exact: bool = False) -> None:
        """NoPipeline unless it is arithmetic. `among`: names of elements that may stand in it; `exact`: of ints."""
        match node:
            case ast.Constant(value=value) if type(value) in (int, bool) or (
                type(value) is float and not exact
            ):
                pass
            case ast.Name(id=name):
                if name not in among:
                    self._not_own(name)
                    _once(self.numbers, name)
            case ast.BinOp(left=left, right=right) if _arithmetic(node, exact):
                for each in (left, right):
                    self.number(each, among, exact)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                self.number(operand, among, exact)
            case ast.Call(func=ast.Name(id="len") as callee, args=[ast.Name(id=name)], keywords=[]):
                self.called(callee)
                self._sequence(name)
                if exact:
                    _once(self.lengths, name)
            case ast.Call(
                func=ast.Name(id="len") as callee,
                args=[ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=int(place)))],
                keywords=[],
            ) if not exact:
                self.called(callee)
                self._sequence(name)
                if (name, place) not in self.held:
                    self.held.append((name, place))
            case ast.Call(func=ast.Name(id=name) as callee, args=[_, *_] as args, keywords=[]) if (
                name in _EXACT_CALLS or (not exact and name in ("int", "round"))
            ):
                self.called(callee)
                for arg in args:
                    self.number(arg, among, exact)
            case _:
                raise NoPipeline(_evaluated_often(node))

    def _sequence(self, name: str) -> None:
        self._not_own(name)
        _once(self.sequences, name)

    def _not_own(self, name: str) -> None:
        if name in self.own:
            raise NoPipeline(
                f"an inner `for` goes through `{name}`, an element, and only numbers are compiled"
            )


def _arithmetic(node: ast.BinOp, exact: bool) -> bool:
    return isinstance(node.op, _EXACT) or (not exact and isinstance(node.op, (ast.Div, ast.Pow)))


def _once(names: list[str], name: str) -> None:
    if name not in names:
        names.append(name)


def _evaluated_often(node: ast.expr) -> str:
    return f"Python evaluates `{ast.unparse(node)}` for each outer element, which may be noticed"


def nested(
    generators: Sequence[ast.comprehension], parts: Parts
) -> tuple[list[ast.comprehension], list[str]]:
    """The clauses as steps; the code of the clauses over the parts, and the names of what elements then are."""
    if any(each.is_async for each in generators):
        raise NoPipeline("it awaits its elements")
    shapes = [target_shape(each.target) for each in generators]
    own = [name for shape in shapes for name in names_of(shape)]
    if len(set(own)) < len(own):
        raise NoPipeline("a name stands twice in its targets")
    looked = _Looked(own)
    first, columns = _columns(generators[0].iter, shapes[0], _Now(parts))
    clauses = [Clause(tuple(names_of(shapes[0])), tuple(columns))]
    for generator, shape in zip(generators[1:], shapes[1:], strict=True):
        known = [name for clause in clauses for name in clause.names]
        clauses.append(_clause(generator.iter, shape, known, parts, looked))
    names = [*own, *(_length(name) for name in looked.lengths)]
    parts.nest = _nest(clauses, looked, parts, _places(generators, parts))
    parts.written = written_places([each.iter for each in generators])
    waiting = set(own)
    for generator, clause in zip(generators, clauses, strict=True):
        waiting.difference_update(clause.names)
        if clause.within is not None:
            _beyond_left_out(generator, names, parts)
        for condition in generator.ifs:
            if waiting & _read(condition):
                raise NoPipeline("a condition reads a name that is bound further in")
            place, _ = parts.function(function_of(tuple(names), condition), made=True)
            parts.step("filter", condition, ("function", place))
    code = [ast.comprehension(generators[0].target, first, generators[0].ifs, 0), *generators[1:]]
    return code, names


def _places(generators: Sequence[ast.comprehension], parts: Parts) -> ast.expr:
    """The step from a place to the elements that it names; where it stands in the text."""
    inner = [ast.unparse(ast.comprehension(each.target, each.iter, [], 0)).strip() for each in generators[1:]]
    where = copy.copy(generators[1].target)
    last = generators[-1].iter
    where.end_lineno, where.end_col_offset = last.end_lineno, last.end_col_offset
    parts.step("map", where, ("nest", 0), text=" ".join(inner))
    return where


def _length(name: str) -> str:
    """What the length of a sequence is called among the names."""
    return f"__len_{name}__"


def _nest(clauses: Sequence[Clause], looked: _Looked, parts: Parts, place: ast.expr) -> Nest:
    def values(names: Sequence[str]) -> int:
        code = ast.Tuple([ast.Name(name, ast.Load()) for name in names], ast.Load())
        return parts.function(placed(function([], code), place), made=True)[0]

    expected = tuple(_BUILTINS[name] for name in looked.builtins)
    lengths = tuple(looked.sequences.index(name) for name in looked.lengths)
    called, numbers, sequences = map(values, (looked.builtins, looked.numbers, looked.sequences))
    held = tuple((looked.sequences.index(name), place) for name, place in looked.held)
    return Nest(tuple(clauses), (called, expected), numbers, sequences, lengths, place, held)


def _clause(node: ast.expr, shape: Shape, known: Sequence[str], parts: Parts, looked: _Looked) -> Clause:
    """An inner clause."""
    read = [name for name in known if name in _read(node)]
    names = tuple(names_of(shape))
    if not read or not _is_range(node):
        return Clause(names, tuple(_columns(node, shape, _Later(parts, looked))[1]))
    if not isinstance(shape, str):
        raise NoPipeline("its elements are taken apart, which numbers cannot be")
    called = cast(ast.Call, node)
    looked.called(called.func)
    for arg in called.args[:2]:
        looked.number(arg, known, exact=True)
    _step(called)
    number, _ = parts.function(function_of(tuple(read), node), made=True)
    return Clause(names, within=number, reads=tuple(known.index(name) for name in read))


def _is_range(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="range"), args=[_, *_] as args, keywords=[]):
            return len(args) <= 3 and not any(isinstance(arg, ast.Starred) for arg in args)
        case _:
            return False


def _step(node: ast.Call) -> int:
    """The step of a range, which has to be known to tell where it ends."""
    if len(node.args) < 3:
        return 1
    try:
        step = ast.literal_eval(node.args[2])
    except (ValueError, TypeError):
        step = 0
    if type(step) is not int or not step:
        raise NoPipeline("an inner range depends on an element, and its step is no constant")
    return step


def _read(node: ast.expr) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _beyond_left_out(generator: ast.comprehension, names: Sequence[str], parts: Parts) -> None:
    """The numbers of a range that depends on other elements, from how far they are from its start."""
    node, target = cast(ast.Call, generator.iter), cast(ast.Name, generator.target)
    step = _step(node)
    bounds = [cast(ast.expr, _Lengths().visit(copied(arg))) for arg in node.args[:2]]
    start, stop = bounds if len(bounds) > 1 else (None, bounds[0])
    value: ast.expr = ast.Name(target.id, ast.Load())
    if step != 1:
        value = ast.BinOp(ast.Constant(step), ast.Mult(), value)
    if start is not None:
        value = ast.BinOp(start, ast.Add(), value)
    if not isinstance(value, ast.Name):
        moved: list[ast.expr] = [value if name == target.id else ast.Name(name, ast.Load()) for name in names]
        code = placed(ast.Tuple(moved, ast.Load()), node)
        place, _ = parts.function(_function(names, code), made=True)
        parts.step("map", node, ("function", place))
    within = ast.Compare(ast.Name(target.id, ast.Load()), [ast.Lt() if step > 0 else ast.Gt()], [stop])
    place, _ = parts.function(_function(names, placed(within, node)), made=True)
    parts.step("filter", node, ("function", place))


def _function(names: Sequence[str], code: ast.expr) -> ast.Lambda:
    return cast(ast.Lambda, placed(function(names, code), code))


class _Lengths(ast.NodeTransformer):
    """`len(xs)` as a name of its own."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]):
                return ast.copy_location(ast.Name(_length(name), ast.Load()), node)
            case _:
                return self.generic_visit(node)


# What clauses go through


@dataclass
class _Now:
    """Of the first clause, whose parts Python evaluates before all else."""

    parts: Parts
    begun: bool = False
    """An iterator has been made, which may tell when what comes behind it is evaluated."""

    def callee(self, node: ast.expr) -> ast.expr:
        return self.parts.callee(node, _BUILTINS[cast(ast.Name, node).id])

    def value(self, node: ast.expr, source: bool) -> tuple[Given, ast.expr]:
        if self.begun and source and not isinstance(node, ast.Name):
            raise NoPipeline(f"Python evaluates `{ast.unparse(node)}` when an iterator has been made")
        number, code = self.parts.behind(node) if self.begun else self.parts.operand(node, source)
        return ("operand", number), code


@dataclass
class _Later:
    """Of the other clauses."""

    parts: Parts
    looked: _Looked
    begun: bool = False

    def callee(self, node: ast.expr) -> ast.expr:
        self.looked.called(node)
        return node

    def value(self, node: ast.expr, source: bool) -> tuple[Given, ast.expr]:
        (self.looked.iterable if source else self.looked.number)(node)
        number, _ = self.parts.function(function_of((), node), made=True)
        return ("function", number), node


def _columns(node: ast.expr, shape: Shape, given: _Now | _Later) -> tuple[ast.expr, list[Column]]:
    """The code of what a clause goes through, over the parts, and a column for each name of its target."""
    match node:
        case ast.Call(func=ast.Name(id="zip"), args=[_, _, *_] as args, keywords=[]):
            if isinstance(shape, str) or len(shape) != len(args):
                raise NoPipeline("its elements are tuples")
            code = given.callee(node.func)
            found = [_columns(arg, part, given) for arg, part in zip(args, shape, strict=True)]
            columns = [column for _, several in found for column in several]
            given.begun = True
            return call(code, [each for each, _ in found], node), columns
        case ast.Call(func=ast.Name(id="zip"), args=[ast.Starred(value=rows)], keywords=[]):
            if not isinstance(shape, str):
                raise NoPipeline("its elements are tuples of as many items as there are rows")
            callee = given.callee(node.func)
            place, code = given.value(rows, source=True)
            given.begun = True
            starred = ast.copy_location(ast.Starred(code, ast.Load()), rows)
            return call(callee, [starred], node), [Column("columns", place)]
        case ast.Call(func=ast.Name(id="enumerate"), args=[elements, *start], keywords=[]) if len(start) < 2:
            if isinstance(shape, str) or len(shape) != 2 or not isinstance(shape[0], str):
                raise NoPipeline("its elements are tuples")
            code = given.callee(node.func)
            inner, columns = _columns(elements, shape[1], given)
            begin, args = None, [inner]
            if start:
                begin, first = given.value(start[0], source=False)
                args.append(first)
            given.begun = True
            return call(code, args, node), [Column("count", begin), *columns]
        case ast.Call(func=ast.Name(id="reversed"), args=[elements], keywords=[]):
            backwards = True
        case _:
            elements, backwards = node, False
    if not isinstance(shape, str) and (len(shape) < 2 or any(isinstance(part, tuple) for part in shape)):
        raise NoPipeline("its elements are taken apart otherwise than tuples of numbers can be")
    if isinstance(elements, ast.Starred):
        raise NoPipeline
    callee = given.callee(cast(ast.Call, node).func) if backwards else None
    place, code = given.value(elements, source=True)
    given.begun |= backwards
    columns = (
        [Column("items", place, backwards)]
        if isinstance(shape, str)
        else [Column("field", place, backwards, number, len(shape)) for number in range(len(shape))]
    )
    return (code if callee is None else call(callee, [code], node)), columns


__all__ = ["nested"]
