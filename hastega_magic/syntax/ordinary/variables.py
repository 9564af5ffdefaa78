"""A function's variables around its `for` statements: which have a value before one, and are read behind it.

Both are the usual analyses of data flow, over statements instead of a graph: definite assignment forwards, liveness
backwards (Aho, Lam, Sethi and Ullman, Compilers, 2nd edition, section 9.2). Where Python may jump from anywhere, as in
`try` and `with`, what is read there counts as read behind every statement inside.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Literal, cast

from hastega_magic.records import dataclass
from hastega_magic.syntax.reading.names import binds, own_names, parameters_of, reads

AROUND = "hastega_around"
"""An attribute of `for` statements: their `Around`."""

_READS_THE_FRAME = frozenset({
    "locals", "vars", "dir", "eval", "exec", "breakpoint", "_getframe", "currentframe", "f_locals", "set_trace",
    "query", "evaluate",
})  # fmt: skip
"""Names of functions and attributes that may lead to all variables: the last two are those of pandas and numexpr."""

_CONSUME = frozenset(
    {"sum", "min", "max", "any", "all", "list", "tuple", "set", "frozenset", "dict", "sorted", "len"}
)
"""Functions of Python's that have done with a generator when they give a value."""

New = Literal["list", "dict"]


@dataclass(frozen=True)
class Around:
    """What is known of a function's variables where a `for` statement stands in it.

    before   those that have a value
    behind   those whose value may be read when it is over
    new      those that hold an empty list or dict of which nobody else knows
    own      all that nobody else sees: no other function's, and read by no name but theirs
    shared   whether they are those of a cell, which functions that are defined elsewhere may read as well
    inner    whether it stands in another loop
    """

    before: frozenset[str]
    behind: frozenset[str]
    new: Mapping[str, New]
    own: frozenset[str]
    shared: bool = False
    inner: bool = False


def note_variables(function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    """Give each `for` statement of a function, but not of functions inside, its `Around`."""
    loops = [each for each in _own_nodes(function.body) if isinstance(each, ast.For)]
    if not loops or any(map(_may_look_around, _own_nodes(function.body))):
        return
    own = own_names(function) - _seen_elsewhere(function.body)
    forwards, backwards = _Forwards(own), _Backwards(own)
    forwards.block(function.body, own.intersection(parameters_of(function)), {})
    backwards.block(function.body, frozenset())
    inner = _inner(loops, function.body)
    for loop in loops:
        before, new = forwards.found[loop]
        setattr(loop, AROUND, Around(before, backwards.found[loop], new, own, inner=loop in inner))


def note_cell_variables(body: list[ast.stmt]) -> None:
    """The same for the statements of a cell: all of its variables may be read behind it.

    Which have a value in front of it is only known when it runs. What is new may be known to somebody all the same, as
    functions that are called in between can read it.
    """
    loops = [each for each in _own_nodes(body) if isinstance(each, ast.For)]
    if not loops:
        return
    nothing = ast.arguments([], [], None, [], [], None, [])
    own = own_names(ast.FunctionDef("", nothing, body, [])) - _seen_elsewhere(body)
    forwards = _Forwards(own)
    forwards.block(body, frozenset(), {})
    inner = _inner(loops, body)
    for loop in loops:
        known = Around(frozenset(), own, forwards.found[loop][1], own, shared=True, inner=loop in inner)
        setattr(loop, AROUND, known)


def _inner(loops: Iterable[ast.For], body: Iterable[ast.AST]) -> set[ast.AST]:
    """Which of the loops stand in another one."""
    outer = [*loops, *(each for each in _own_nodes(body) if isinstance(each, (ast.While, ast.AsyncFor)))]
    return {each for loop in outer for part in loop.body for each in ast.walk(part)}


def _own_nodes(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All nodes but those of functions and classes inside."""
    todo: list[ast.AST] = [*body]
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            todo += ast.iter_child_nodes(node)


def _names(body: Iterable[ast.AST]) -> frozenset[str]:
    return frozenset(each.id for node in body for each in ast.walk(node) if isinstance(each, ast.Name))


def _may_look_around(node: ast.AST) -> bool:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in _READS_THE_FRAME
        case _:
            return False


def _touched(node: ast.AST) -> frozenset[str]:
    """All names that stand there, or are given a value."""
    return _names([node]) | binds(node)


def _seen_elsewhere(body: Iterable[ast.AST]) -> frozenset[str]:
    """Names that other functions and generators may read at any time, or that may lose their value."""
    found: set[str] = set()
    consumed: set[ast.AST] = set()
    for node in _own_nodes(body):
        match node:
            case ast.Call(func=ast.Name(id=name), args=[ast.GeneratorExp() as given, *_]) if name in _CONSUME:
                consumed.add(given)
            case ast.GeneratorExp() if node not in consumed:
                found |= reads(node)
            case ast.Lambda() | ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found |= reads(node).union(*(_declared(each) for each in ast.walk(node)))
            case ast.Nonlocal() | ast.Global():
                found |= _declared(node)
            case ast.ExceptHandler(name=str(name)) | ast.Name(id=name, ctx=ast.Del()):
                found.add(name)
            case _:
                pass
    return frozenset(found)


def _declared(node: ast.AST) -> frozenset[str]:
    return frozenset(node.names) if isinstance(node, (ast.Nonlocal, ast.Global)) else frozenset()


def shared_by(node: ast.For, around: Around, collected: str = "") -> frozenset[str]:
    """The variables that turns of the loop give a value, or fill, and that functions defined elsewhere may read."""
    return stored([node]).union([collected] if collected else []) if around.shared else frozenset()


def read_first(body: list[ast.stmt], own: frozenset[str]) -> frozenset[str]:
    """The variables that the statements may read before they give them a value."""
    return _Backwards(own).block(body, frozenset())


def stored(targets: Iterable[ast.AST]) -> frozenset[str]:
    """The names that assignments to these give a value."""
    walked = (each for target in targets for each in ast.walk(target))
    return frozenset(each.id for each in walked if isinstance(each, ast.Name) and not _is_read(each))


def _is_read(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Load)


def _assigned(statement: ast.stmt) -> frozenset[str]:
    """The names that certainly have a value when a simple statement is over."""
    match statement:
        case ast.Assign(targets=targets):
            return stored(targets)
        case ast.AugAssign(target=target):
            return stored([target])
        case ast.AnnAssign(target=target, value=ast.expr()):
            return stored([target])
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return frozenset({name})
        case _:
            return frozenset()


def _new(statement: ast.stmt) -> dict[str, New]:
    """The variables that a statement gives an empty list or dict, and which of the two."""
    match statement:
        case (
            ast.Assign(targets=[ast.Name() as target], value=value)
            | ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value)
        ):
            pairs: list[tuple[ast.expr, ast.expr]] = [(target, value)]
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(
            targets
        ) == len(values):
            pairs = [*zip(targets, values, strict=True)]
        case _:
            return {}
    found: dict[str, New] = {}
    for target, value in pairs:
        match target, value:
            case ast.Name(id=name), ast.List(elts=[]):
                found[name] = "list"
            case ast.Name(id=name), ast.Dict(keys=[]):
                found[name] = "dict"
            case _:
                found = {name: kind for name, kind in found.items() if name not in stored([target])}
    return found


@dataclass
class _Forwards:
    """Which variables have a value before each `for` statement, and which hold something new."""

    own: frozenset[str]
    found: dict[ast.For, tuple[frozenset[str], dict[str, New]]] = field(
        default_factory=dict[ast.For, "tuple[frozenset[str], dict[str, New]]"]
    )

    def block(self, body: Iterable[ast.stmt], have: frozenset[str], new: dict[str, New]) -> frozenset[str]:
        """Which have one behind the block: all of them where nothing goes on there."""
        new = {**new}
        for each in body:
            have = self._statement(each, have, new)
            new = _without(new, each)
            new |= {name: kind for name, kind in _new(each).items() if name in self.own}
        return have

    def _statement(self, node: ast.stmt, have: frozenset[str], new: dict[str, New]) -> frozenset[str]:
        match node:
            case ast.Return() | ast.Raise() | ast.Break() | ast.Continue():
                return self.own
            case ast.If(test=test, body=body, orelse=other):
                known = _without(new, test)
                return self.block(body, have, known) & self.block(other, have, known)
            case ast.For(target=target, iter=source, body=body, orelse=other):
                self.found[node] = have, _without(new, source)
                self.block(body, have | stored([target]), {})
                self.block(other, have, {})
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                within = stored(filter(None, (each.optional_vars for each in items)))
                self.block(body, have | within, {})
            case _:
                for part in _blocks(node):
                    self.block(part, have, {})
                return have | (_assigned(node) & self.own)
        return have


def _without(new: Mapping[str, New], node: ast.AST) -> dict[str, New]:
    """Those that are still new when the code has run."""
    touched = _touched(node)
    return {name: kind for name, kind in new.items() if name not in touched}


def definitely(body: Iterable[ast.stmt], own: frozenset[str]) -> frozenset[str]:
    """The variables that the statements give a value in any case."""
    return _Forwards(own).block(body, frozenset(), {})


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The blocks of a compound statement that is no function or class."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return
    for _, part in ast.iter_fields(node):
        parts = cast("list[object]", part) if isinstance(part, list) else []
        block = [each for each in parts if isinstance(each, ast.stmt)]
        if block:
            yield block
        for each in parts:
            if isinstance(each, (ast.ExceptHandler, ast.match_case)):
                yield from _blocks(each)


def _heads(node: ast.AST) -> Iterator[ast.AST]:
    """What a compound statement evaluates outside of its blocks."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, (ast.ExceptHandler, ast.match_case)):
            yield from _heads(each)
        elif not isinstance(each, ast.stmt):
            yield each


@dataclass
class _Backwards:
    """Which variables may be read behind each `for` statement."""

    own: frozenset[str]
    found: dict[ast.For, frozenset[str]] = field(default_factory=dict[ast.For, frozenset[str]])
    always: frozenset[str] = frozenset()
    """Those that may be read at any time, where an exception leads to."""

    def block(
        self,
        body: list[ast.stmt],
        live: frozenset[str],
        ended: frozenset[str] = frozenset(),
        again: frozenset[str] = frozenset(),
    ) -> frozenset[str]:
        """Which may be read from the beginning of a block on. `ended`, `again`: behind `break`, and `continue`."""
        for each in reversed(body):
            live = self._statement(each, live, ended, again) | self.always
        return live

    def _statement(
        self, node: ast.stmt, live: frozenset[str], ended: frozenset[str], again: frozenset[str]
    ) -> frozenset[str]:
        match node:
            case ast.Return() | ast.Raise():
                return self._read(node)
            case ast.Break():
                return ended
            case ast.Continue():
                return again
            case ast.If(test=test, body=body, orelse=other):
                either = self.block(body, live, ended, again) | self.block(other, live, ended, again)
                return self._read(test) | either
            case (
                ast.For(target=target, body=body, orelse=other)
                | ast.AsyncFor(target=target, body=body, orelse=other)
            ):
                if isinstance(node, ast.For):
                    self.found[node] = self.found.get(node, frozenset()) | live | self.always
                head = self.block(other, live, ended, again)
                head |= self._turns(body, head, live, stored([target]), frozenset())
                return head | self._read(node.iter)
            case ast.While(test=test, body=body, orelse=other):
                head = self._read(test) | self.block(other, live, ended, again)
                return head | self._turns(body, head, live, frozenset(), self._read(test))
            case ast.Assign() | ast.AnnAssign(value=ast.expr()):
                return (live - _assigned(node)) | self._read(node)
            case _:
                return self._others(node, live, ended, again)

    def _turns(
        self,
        body: list[ast.stmt],
        head: frozenset[str],
        ended: frozenset[str],
        bound: frozenset[str],
        tested: frozenset[str],
    ) -> frozenset[str]:
        """Which a loop's turns may read of what was there before it."""
        while True:
            found = head | tested | (self.block(body, head, ended, head) - bound)
            if found == head:
                return head
            head = found

    def _others(
        self, node: ast.stmt, live: frozenset[str], ended: frozenset[str], again: frozenset[str]
    ) -> frozenset[str]:
        """Of a statement whose blocks may be left at any place, and of all that has none."""
        blocks = [*_blocks(node)]
        if not blocks:
            return live | self._read(node)
        # What `try` may lead to stands in its other blocks.
        others = blocks[1:] if isinstance(node, (ast.Try, ast.TryStar)) else []
        reached = live.union(ended, again, *(self._read(each) for block in others for each in block))
        outer, self.always = self.always, self.always | reached
        found = self.always.union(*map(self._read, _heads(node)))
        for each in blocks:
            found |= self.block(each, self.always, ended, again)
        self.always = outer
        return found

    def _read(self, node: ast.AST) -> frozenset[str]:
        return self.own & reads(node)


__all__ = [
    "AROUND",
    "Around",
    "New",
    "definitely",
    "note_cell_variables",
    "note_variables",
    "read_first",
    "shared_by",
    "stored",
]
