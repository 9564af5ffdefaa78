"""`for` statements that add up, or collect in a new list: each is a pipeline, and Python's where that has no form.

    total = 0                  total = 0
    for x in range(n):         if LAID[7](range(n)) and LOOPED(7, (), (lambda x: f(x), ...), (TAKEN(), total), (0,)):
        total += f(x)              total = TAKEN()
                               else:
                                   for x in TAKEN(): ...
                                   if BEGAN: ENDED(7)

LOOPED lays down what the loop hands on. Where there is nothing, no statement has been run, and Python runs the loop as
it stands: what has happened when an element raises is what would have. What the loop goes through is evaluated once,
and laid down again for Python's loop; where it is names alone, they stand in its place, and WORTH in that of LAID.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, cast

from hastega_magic.records import dataclass
from hastega_magic.syntax.ordinary.beside import looked_at, may_be_laid, standing_for, taken
from hastega_magic.syntax.ordinary.bodies import computed, kept, shape_of, step, value_of, with_functions
from hastega_magic.syntax.ordinary.comprehension import comprehension, few_places, is_iterator, source_of
from hastega_magic.syntax.ordinary.grid_stores import GridStored
from hastega_magic.syntax.ordinary.parts import CALLEES, OPERANDS, HandsOn, Ordinary, Parts
from hastega_magic.syntax.ordinary.rewriting import (
    NoPipeline,
    Shape,
    all_placed,
    function_of,
    head_of,
    names_of,
    placed,
    target_shape,
)
from hastega_magic.syntax.ordinary.statements import given_names, in_statements
from hastega_magic.syntax.ordinary.trailing import is_constant
from hastega_magic.syntax.ordinary.turns import Condition, Part, Turn, added, element_of, parts_of, turn_of
from hastega_magic.syntax.ordinary.variables import AROUND, shared_by
from hastega_magic.syntax.ordinary.without_else import without_else
from hastega_magic.syntax.reading.text import Text
from hastega_magic.syntax.reading.trees import copied
from hastega_magic.syntax.site import BEGAN, ENDED, LAID, LOOPED, TAKEN, WORTH, Site, new_site_id


@dataclass
class _Loop:
    """A `for` statement as it becomes a pipeline.

    first        what it goes through, as code over the parts
    functions    definitions of those that are no expressions
    """

    node: ast.For
    turn: Turn
    parts: Parts
    number: int
    functions: list[ast.FunctionDef] = field(default_factory=list[ast.FunctionDef])
    first: ast.expr = field(default_factory=lambda: ast.Constant(None))
    initial: int | None = None
    into: int | None = None
    reads: int | None = None

    def clauses(self) -> None:
        """As that of several clauses, where nothing stands between one `for` and the next; NoPipeline elsewhere."""
        clauses, rest = list[ast.comprehension](), list[ast.stmt]([self.node])
        if self.turn.grid:
            self._in_grid(self.turn.grid)
            return
        while True:
            match rest:
                case [ast.For(target=target, iter=source, body=body)]:
                    pass
                case _:
                    break
            pieces, rest = parts_of(body, self.turn)
            tests = [each.test for each in pieces if isinstance(each, Condition)]
            if len(tests) < len(pieces) or (clauses and self.turn.concerns(source)):
                raise NoPipeline
            clauses.append(ast.comprehension(target, source, tests, 0))
        if len(clauses) < 2 or self.turn.last or self.turn.stores:
            raise NoPipeline
        names = [name for each in clauses for name in names_of(target_shape(each.target))]
        if {*names} & {*self.turn.states}:
            raise NoPipeline
        if self.turn.collected:
            held, element = element_of(rest)
            if not isinstance(held, ast.Constant):
                clauses[-1].ifs.append(held)
            self._over(clauses, cast(ast.expr, element))
            self.parts.step("to_list", rest[0], text="")
            return
        pair = added(rest, self.turn.states)
        if pair is None:
            shape = shape_of(names, rest)
            self._over(clauses, value_of(shape, rest[0]))
            self._reduce(shape, rest)
        else:
            self._over(clauses, pair[1])
            self._add(pair[0], rest[0])

    def _over(self, clauses: list[ast.comprehension], element: ast.expr) -> None:
        made = ast.copy_location(ast.GeneratorExp(element, clauses), self.node.iter)
        over = cast(ast.GeneratorExp, comprehension(made, self.parts, reduced=not self.turn.collected))
        self.first = over.generators[0].iter

    def alone(self) -> None:
        """As that of one clause."""
        parts, shape = self.parts, target_shape(self.node.target)
        pieces, rest = parts_of(self.node.body, self.turn)
        parts.apart = not isinstance(shape, str) and not is_iterator(self.node.iter)
        self.first = source_of(self.node.iter, shape, parts)
        if found := self.turn.stores:
            self._stored(shape, found.body, found.items, (*found.stores.roots, *found.keys), self.node.body)
            given = ast.Tuple([*map(copied, found.given)], ast.Load())
            self.into = self._variables(given, self.node.body, later=True)
            return
        for number, piece in enumerate(pieces):
            if isinstance(piece, Condition):
                self._stage("filter", function_of(shape, piece.test), piece.test)
                continue
            names = [*dict.fromkeys((*names_of(shape), *piece.names))]
            later = shape_of(names, [*_read_later(pieces[number + 1 :]), *rest])
            body = piece.statements
            made = computed(self._name(), shape, body, later)
            self._stage("map", made, _place(body), _text(parts.text, body))
            shape = later
        if self.turn.collected:
            held, element = element_of(rest)
            if not isinstance(held, ast.Constant):
                self._stage("filter", function_of(shape, held), held)
            if not (isinstance(element, ast.Name) and element.id == shape):
                self._stage("map", function_of(shape, cast(ast.expr, element)), cast(ast.expr, element))
            elif not parts.steps:
                raise NoPipeline("it hands its elements on as they are, in which Python is as fast")
            parts.step("to_list", rest[0], text="")
            if self.turn.shared:
                self.into = self._variables(ast.Name(self.turn.collected, ast.Load()), rest, later=True)
            return
        pair = added(rest, self.turn.states)
        if pair is None:
            self._reduce(shape, rest)
            return
        op, value = pair
        if not (isinstance(value, ast.Name) and value.id == shape):
            self._stage("map", function_of(shape, value), value)
        self._add(op, rest[0])

    def _in_grid(self, found: GridStored) -> None:
        """As that of two clauses, whose numbers are the element of each turn."""
        clauses = [ast.comprehension(each.target, each.iter, [], 0) for each in (self.node, found.inner)]
        self._over(clauses, value_of(found.numbers, found.inner.body[0]))
        self.parts.few_places = few_places(found.body)
        roots = found.stores.roots
        self._stored(found.numbers, found.body, found.items, roots, found.inner.body)
        self.into = self.reads

    def _stored(
        self,
        shape: Shape,
        body: Sequence[ast.stmt],
        items: Sequence[str],
        roots: Sequence[str],
        written: Sequence[ast.stmt],
    ) -> None:
        """What a turn stores, as its element. `roots`: the variables of what it stores into."""
        self._stage(
            "map", kept(self._name(), shape, body, items), _place(written), _text(self.parts.text, written)
        )
        if len(items) == 1:  # which is made a list, unless it is stored into an array
            self.parts.step("to_list", written[0], text="")
        own = {
            *names_of(shape),
            *roots,
            *(name for each in in_statements(written) for name in given_names(each)),
        }
        read = {each.id for node in written for each in ast.walk(node) if isinstance(each, ast.Name)} - own
        names: list[ast.expr] = [ast.Name(name, ast.Load()) for name in (*roots, *sorted(read))]
        self.reads = self._variables(ast.Tuple(names, ast.Load()), written, later=True)

    def _variables(self, before: ast.expr, place: Sequence[ast.stmt], later: bool) -> int:
        """The operand that is what variables are in front of the loop; `later`: a function that gives it."""
        nothing = ast.arguments([], [], None, [], [], None, [])
        given = ast.Lambda(nothing, before) if later else before
        return self.parts.operand(placed(given, _place(place)), source=False)[0]

    def _name(self) -> str:
        return f"__hastega_turn_{self.number}_{len(self.functions)}__"

    def _stage(
        self, name: str, made: ast.Lambda | ast.FunctionDef, place: ast.AST, text: str | None = None
    ) -> None:
        self.parts.step(name, place, ("function", self._function(made)), text=text)

    def _function(self, made: ast.Lambda | ast.FunctionDef) -> int:
        if isinstance(made, ast.Lambda):
            return self.parts.function(made, made=True)[0]
        self.functions.append(made)
        return self.parts.defined(made)

    def _add(self, op: ast.operator, statement: ast.stmt) -> None:
        """`total += value`."""
        (name,) = self.turn.states
        total, value = ast.Name(name, ast.Load()), ast.Name(f"__{name}_value__", ast.Load())
        code = placed(ast.BinOp(total, op, value), _place([statement]))
        self._hand_on(function_of((name, value.id), code), [statement])

    def _reduce(self, shape: Shape, rest: Sequence[ast.stmt]) -> None:
        """What the rest makes of the variables that are handed on, and an element."""
        self._hand_on(step(self._name(), self.turn.states, shape, rest), rest)

    def _hand_on(self, made: ast.Lambda | ast.FunctionDef, rest: Sequence[ast.stmt]) -> None:
        states: list[ast.expr] = [ast.Name(name, ast.Load()) for name in self.turn.states]
        before = states[0] if len(states) == 1 else ast.Tuple(states, ast.Load())
        self.initial = self._variables(before, rest, later=self.turn.shared)
        arguments = ("function", self._function(made)), ("operand", self.initial)
        self.parts.step("reduce", _place(rest), *arguments, text=_text(self.parts.text, rest))


def looped(
    node: ast.For,
    text: Text,
    visit: Callable[[ast.expr], Any],
    inside: Callable[[ast.For], Any],
    refuse: Callable[[ast.expr, str], None],
) -> tuple[Ordinary, ast.stmt] | None:
    """The statement as a pipeline, and what stands for it; None if it is none, for which `refuse` is told a reason.

    `visit` rewrites an expression, `inside` what stands in the statement, which Python runs where the pipeline cannot
    be compiled.
    """
    around = getattr(node, AROUND, None)
    if around is None or node.orelse:
        return None
    plain = copy.copy(node)
    plain.body, names = without_else(node.body)
    if names:
        around = replace(around, own=around.own | names)
    try:
        found = _found(plain, turn_of(plain, around), text)
        once, again = _evaluated(found)
    except NoPipeline as error:
        if str(error):
            refuse(head_of(node), str(error))
        return None
    parts, turn = found.parts, found.turn
    site = parts.site(node, found.number, f"{text.segment(head_of(node))}: ...")
    roots = parts.read(parts.operands[0])
    asked = tuple(n for n, (kind, each) in enumerate(once) if kind == OPERANDS and each in parts.sources)
    after = dict if turn.collected and turn.kind == "dict" else None
    breaks = any(isinstance(each, ast.Break) for each in ast.walk(node))
    backwards = max(0, len(turn.again) - 1)
    variables = turn.states or (turn.collected,)
    stores = turn.grid or turn.stores
    handed = HandsOn(
        found.initial, variables, turn.last, breaks, backwards, found.into, stores and stores.stores, found.reads,
        turn.ends,
    )  # fmt: skip
    ordinary = parts.ordinary(
        site, roots, asked, after, hands_on=handed, shared=shared_by(node, around, turn.collected)
    )
    return ordinary, _statement(node, found, site, once, again, visit, inside)


def _statement(
    node: ast.For,
    found: _Loop,
    site: Site,
    once: Mapping[tuple[str, int], ast.expr],
    again: bool,
    visit: Callable[[ast.expr], Any],
    inside: Callable[[ast.For], Any],
) -> ast.stmt:
    """The statement that stands for `node`. `once`: what is evaluated once; `again`: or again, where it stands."""
    parts = found.parts
    asked = [visit(copied(each)) for each in once.values()]
    standing = {place: each if again else taken(each) for place, each in once.items()}
    if not again:
        parts.callees[:] = [standing[CALLEES, n] for n in range(len(parts.callees))]
    parts.operands[:] = [standing.setdefault((OPERANDS, n), each) for n, each in enumerate(parts.operands)]
    laid: list[ast.expr] = [ast.Constant(number) for kind, number in once if kind == OPERANDS]
    relaid = ast.Constant(None) if again else ast.Tuple(laid, ast.Load())
    worth = looked_at(WORTH if again else LAID, ast.Constant(site.id), asked)
    tried = _call(LOOPED, *parts.arguments(site, visit), relaid)
    loop = copy.copy(node)
    loop.iter = standing_for(found.first, standing)
    # Of a table no row has a loop of its own, which would cost more than it saves.
    pythons = loop if found.turn.grid else inside(loop)
    first, *further = found.turn.again or ((),)
    done: list[ast.stmt] = [_backwards(node, each) for each in reversed(further)]
    done.append(ast.Assign([_handed(node, found.turn)], _call(TAKEN)))
    if found.turn.ends:
        last = copied(cast(ast.For, pythons))
        last.iter = _call(TAKEN)
        done = [last]
    let_go: list[ast.expr] = [ast.Name(name, ast.Store()) for name in found.turn.dropped]
    if let_go:
        done.append(ast.Assign(let_go, ast.Constant(None)))
    done += map(copied, first)
    timed = ast.If(ast.Name(BEGAN, ast.Load()), [ast.Expr(_call(ENDED, ast.Constant(site.id)))], [])
    otherwise: list[ast.stmt] = [pythons, timed]
    made: ast.stmt = ast.If(ast.BoolOp(ast.And(), [worth, tried]), done, otherwise)
    if found.functions:
        made = with_functions(found.functions, made, found.turn.shared)
    return all_placed(made, node)


def _backwards(node: ast.For, body: Sequence[ast.stmt]) -> ast.stmt:
    """The statements for the last element that they do not skip."""
    return ast.For(copied(node.target), _call(TAKEN), [*map(copied, body), ast.Break()], [])


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), [*arguments], [])


def _found(node: ast.For, turn: Turn, text: Text) -> _Loop:
    """As that of several clauses, or else of one; NoPipeline, with the reason of that one, where it is neither."""
    number = new_site_id()
    found = _Loop(node, turn, Parts(text), number)
    try:
        found.clauses()
    except NoPipeline:
        if turn.grid is not None:
            raise
        found = _Loop(node, turn, Parts(text), number)
        found.alone()
    if found.parts.is_few():
        raise NoPipeline
    parts = found.parts
    if turn.last and not _is_operand(found.first) and (parts.strict or parts.windows or parts.later):
        raise NoPipeline("its variable is read behind it, and is no element, nor several side by side")
    return found


def _is_operand(code: ast.expr) -> bool:
    match code:
        case ast.Subscript(value=ast.Name(id=name)):
            return name == OPERANDS
        case _:
            return False


def _evaluated(found: _Loop) -> tuple[dict[tuple[str, int], ast.expr], bool]:
    """What is evaluated once, in Python's order, and whether it may be evaluated again, as it is names alone."""
    parts = found.parts
    given = {(CALLEES, n): each for n, each in enumerate(parts.callees)}
    given |= {
        (OPERANDS, n): each
        for n, each in enumerate(parts.operands)
        if n not in (found.initial, found.into, found.reads)
    }
    once = {place: each for place, each in given.items() if not is_constant(each)}
    again = all(isinstance(each, ast.Name) for each in once.values())
    if not again and not may_be_laid(once, found.first):
        raise NoPipeline("Python evaluates some of what it goes through when an iterator has been made")
    return once, again


def _handed(node: ast.For, turn: Turn) -> ast.expr:
    """The variables that are given what the loop hands on."""
    names = turn.states or (() if turn.shared or turn.stores or turn.grid else (turn.collected,))
    targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in names]
    if turn.last:
        targets.append(copied(node.target))
    return targets[0] if len(targets) == 1 else ast.Tuple(targets, ast.Store())


def _read_later(pieces: Sequence[Part]) -> list[ast.AST]:
    return [
        node for each in pieces for node in ([each.test] if isinstance(each, Condition) else each.statements)
    ]


def _place(body: Sequence[ast.stmt]) -> ast.expr:
    """The statements, as a place."""
    made = ast.copy_location(ast.Constant(None), body[0])
    made.end_lineno, made.end_col_offset = body[-1].end_lineno, body[-1].end_col_offset
    return made


def _text(text: Text, body: Sequence[ast.stmt]) -> str:
    """The statements as they are written, in one line."""
    return "; ".join(filter(None, (" ".join(text.segment(each).split()) for each in body)))


__all__ = ["looped"]
