"""What a `for` statement does in each turn, taken apart: what it passes over, what it computes, and what it keeps.

y = f(x)                        a part that computes variables of the turn
if y < 0: continue              a condition
total += y                      the rest, that hands a variable on to the next turn, or collects an element
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import cast

from hastega_magic.records import dataclass
from hastega_magic.syntax.ordinary.grid_stores import GridStored, stored_in_grid
from hastega_magic.syntax.ordinary.parts import UNWRITTEN
from hastega_magic.syntax.ordinary.refused import check
from hastega_magic.syntax.ordinary.rewriting import NoPipeline, all_placed
from hastega_magic.syntax.ordinary.statements import (
    evaluated,
    given_names,
    in_statements,
    may_go_on,
    names_alone,
)
from hastega_magic.syntax.ordinary.stores import Stored, is_heavy, root_of, stored_by
from hastega_magic.syntax.ordinary.variables import Around, New, definitely, read_first, stored


@dataclass(frozen=True)
class Turn:
    """The variables of a `for` statement's turns.

    states      what one turn hands on to the next, or to what stands behind the loop
    collected   what elements are collected in; "" if they are not
    kind        what that is
    last        whether the element of the last turn is read behind the loop
    dropped     what has a value in front of the loop, and another in a turn, and is not read behind it
    again       what gives other variables their values of the last turn that does, from its element alone: first
                statements of each turn, then those of turns for which one condition holds, then two, and so on
    shared      whether the variables are a cell's: they may have no value, and others may hold what is collected in
    stores      what turns store into, if they do
    grid        the same of two nested statements; `ends`: whether the last outer turn is Python's, for its variables
    """

    states: tuple[str, ...]
    collected: str = ""
    kind: New = "list"
    last: bool = False
    dropped: tuple[str, ...] = ()
    again: tuple[tuple[ast.stmt, ...], ...] = ()
    shared: bool = False
    stores: Stored | None = None
    grid: GridStored | None = None
    ends: bool = False

    def concerns(self, node: ast.AST) -> bool:
        """Whether anything that is handed on, collected or stored into stands in the code."""
        names = {*self.states, self.collected, *(self.stores.stores.roots if self.stores else ())}
        return any(isinstance(each, ast.Name) and each.id in names for each in ast.walk(node))


@dataclass(frozen=True)
class Condition:
    """The turn goes on where this holds."""

    test: ast.expr


@dataclass(frozen=True)
class Computed:
    """Statements that give variables of the turn a value."""

    statements: tuple[ast.stmt, ...]
    names: tuple[str, ...]


Part = Condition | Computed


def turn_of(node: ast.For, around: Around) -> Turn:
    """The variables of its turns; NoPipeline where something is done there that loops do not compute.

    A reason is told only where numbers or elements are all that comes of it.
    """
    _check(node.body)
    body = [*in_statements(node.body)]
    assigned = tuple(dict.fromkeys(name for each in body for name in given_names(each)))
    targets = stored([node.target])
    if not {*assigned, *targets} <= around.own or targets & {*assigned} & around.behind:
        raise NoPipeline
    if around.shared and any(isinstance(each, ast.AnnAssign) for each in body):
        raise NoPipeline  # a cell's annotations are evaluated, and kept
    first = read_first(node.body, around.own)
    if grid := _in_grid(node, body, around):
        return _of_grid(node, grid, first, frozenset(assigned), around)
    collected, kind, stores = _what_collects(node, body, around)
    if stores and around.inner and not is_heavy(node.body):
        raise NoPipeline("it stores little that takes long, often: Python is as fast")
    if stores and targets & {*assigned}:
        raise NoPipeline
    again, settled = _from_element(node, Turn(tuple(first - targets), collected, stores=stores), around)
    kept = first | (around.behind - settled)
    states = tuple(each for each in assigned if each in kept and each not in targets)
    if not states and not collected and not stores:
        raise NoPipeline
    for each in evaluated(node.body):
        check(each, targets)
    if states and (collected or stores):
        raise NoPipeline(f"it collects elements, and hands `{states[0]}` on as well")
    for name in states:
        if name not in around.before and not around.shared:
            read = "" if name in first else "is read behind it, and "
            raise NoPipeline(f"`{name}` {read}may have no value in front of it")
    last = bool(targets & around.behind)
    dropped = around.before.intersection(targets.union(assigned) if not last else assigned).difference(states)
    dropped -= settled
    return Turn(states, collected, kind, last, tuple(sorted(dropped)), again, around.shared, stores)


def _from_element(
    node: ast.For, turn: Turn, around: Around
) -> tuple[tuple[tuple[ast.stmt, ...], ...], frozenset[str]]:
    """The statements that have nothing to do with other turns, as `Turn` has them, and what they give values.

    `turn`: what is handed on from turn to turn, or kept. What is compiled has no side effects, so that Python may run
    these once more when the loop is over. Those of cells: in functions hardly anything is read behind loops.
    """
    if not around.shared:
        return (), frozenset[str]()
    parts, rest = parts_of(node.body, turn)
    levels: list[tuple[ast.stmt, ...]] = []
    given: list[frozenset[str]] = []
    before: list[ast.stmt] = []
    own: list[ast.stmt] = []
    for each in (*parts, None):
        if isinstance(each, Computed):
            own += each.statements
            continue
        levels.append((*before, *own))
        given.append(stored(own))
        if isinstance(each, Condition):
            skips = ast.If(ast.UnaryOp(ast.Not(), each.test), [ast.Continue()], [])
            before, own = [*before, *own, all_placed(skips, node)], []
    twice = {name for name, times in Counter(chain(*given, stored(rest))).items() if times > 1}
    if twice:
        return _from_element(node, replace(turn, states=(*turn.states, *twice)), around)
    settled = definitely(
        [each for part in parts if isinstance(part, Computed) for each in part.statements], around.own
    )
    first, *further = levels
    return (first, *(level for level, names in zip(further, given[1:], strict=True) if names)), settled


def _of_grid(
    node: ast.For, grid: GridStored, first: frozenset[str], assigned: frozenset[str], around: Around
) -> Turn:
    """As `turn_of`. `first`: what is read before it has a value; `assigned`: what turns give one."""
    targets = stored([node.target, grid.inner.target])
    if first.difference(targets) & assigned:
        raise NoPipeline("it stores elements, and hands a variable on as well")
    for each in evaluated(node.body):
        check(each, targets)
    behind = around.behind & (assigned | targets)
    surely = targets
    if not may_go_on(grid.inner.body):
        surely |= definitely(grid.inner.body, around.own)
    if not behind <= surely:
        raise NoPipeline("a variable is read behind it that not each turn gives a value")
    dropped = tuple(sorted(around.before & (assigned | targets) - behind))
    return Turn((), dropped=dropped, shared=around.shared, grid=grid, ends=bool(behind))


def _in_grid(node: ast.For, body: Sequence[ast.stmt], around: Around) -> GridStored | None:
    """What two nested statements store into tables, if that is all that they do."""
    names = {_collected(each) for each in body} - {""}
    appends = any(isinstance(each, ast.Expr) for each in body)
    return None if appends or names & around.new.keys() else stored_in_grid(node, names)


def _what_collects(node: ast.For, body: Sequence[ast.stmt], around: Around) -> tuple[str, New, Stored | None]:
    """The variable that elements are collected in, "" if there is none, and what it holds; or what is stored into."""
    collecting = [each for each in body if _collected(each)]
    names = {_collected(each) for each in collecting}
    if not names:
        return "", "list", None
    appending = {_collected(each) for each in collecting if isinstance(each, ast.Expr)}
    if not names & (appending | around.new.keys()):
        return "", "list", stored_by(node, names)
    for name in sorted(names):
        if name not in around.new:
            raise NoPipeline(f"`{name}` is not made, and empty, in front of it: others may know of it")
    if len(names) > 1:
        raise NoPipeline("it collects elements in several variables")
    (name,) = names
    if any(_in_part(each) for each in collecting):
        raise NoPipeline
    standing = [each for each in ast.walk(node) if isinstance(each, ast.Name) and each.id == name]
    if len(standing) > len(collecting) or any(_kind(each) != around.new[name] for each in collecting):
        raise NoPipeline
    return name, around.new[name], None


def parts_of(body: Sequence[ast.stmt], turn: Turn) -> tuple[list[Part], list[ast.stmt]]:
    """What comes before the first statement that has to do with what is handed on or collected, and the rest."""
    found: list[Part] = []
    rest = [each for each in body if not isinstance(each, ast.Pass)]
    while rest:
        first, *others = rest
        match first:
            case ast.If(test=test, body=[ast.Continue()], orelse=[]) if others and not turn.concerns(test):
                found.append(Condition(_made(ast.UnaryOp(ast.Not(), test), test)))
            case ast.If(test=test, body=inner, orelse=[]) if not others and not turn.concerns(test):
                found.append(Condition(test))
                others = [each for each in inner if not isinstance(each, ast.Pass)]
            case _ if others and not turn.concerns(first) and not _goes_on(first):
                names = tuple(
                    dict.fromkeys(name for each in in_statements([first]) for name in given_names(each))
                )
                before = found.pop() if found and isinstance(found[-1], Computed) else Computed((), ())
                assert isinstance(before, Computed)
                found.append(Computed((*before.statements, first), (*before.names, *names)))
            case _:
                break
        rest = others
    return found, rest


def _goes_on(node: ast.stmt) -> bool:
    """Whether `continue` stands in it that ends the turn."""
    if isinstance(node, ast.If):
        return any(map(_goes_on, (*node.body, *node.orelse)))
    return isinstance(node, ast.Continue)


def element_of(rest: Sequence[ast.stmt]) -> tuple[ast.expr, ast.expr | None]:
    """Where the statements collect an element, and which; NoPipeline where they do anything else.

    The element is that of the turns that collect one: what it is elsewhere is all the same.
    """
    match rest:
        case [ast.Expr(value=ast.Call(args=[element]) as value)]:
            return _constant(True, value), element
        case [ast.Assign(targets=[ast.Subscript(slice=key)], value=value)]:
            return _constant(True, value), ast.copy_location(ast.Tuple([key, value], ast.Load()), value)
        case [ast.If(test=test, body=body, orelse=other)]:
            (first, one), (second, two) = element_of(body), element_of(other or [ast.Pass()])
            chosen = _made(ast.IfExp(test, one, two), test) if one and two else one or two
            return either(test, first, second), chosen
        case [ast.Pass()]:
            return ast.Constant(False), None
        case _:
            raise NoPipeline("an element is collected in the midst of a turn, or several are")


def either(test: ast.expr, first: ast.expr, second: ast.expr) -> ast.expr:
    """`first if test else second`, shorter where these are constants."""
    made: ast.expr
    match first, second:
        case ast.Constant(value=bool(one)), ast.Constant(value=bool(two)):
            made = _constant(one, test) if one == two else test if one else ast.UnaryOp(ast.Not(), test)
        case ast.Constant(value=True), _:
            made = ast.BoolOp(ast.Or(), [test, second])
        case _:
            made = ast.IfExp(test, first, second)
    return made if made is test else _made(made, test)


def _made(node: ast.expr, place: ast.expr) -> ast.expr:
    """An expression made of what stands there."""
    setattr(node, UNWRITTEN, True)
    return ast.copy_location(node, place)


def _constant(value: bool, place: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Constant(value), place)


def added(rest: Sequence[ast.stmt], states: Sequence[str]) -> tuple[ast.operator, ast.expr] | None:
    """`total += E`, where that is all that is done, and `total` is not read in E: the operator, and E."""
    match rest:
        case [ast.AugAssign(target=ast.Name(id=name), op=op, value=value)]:
            left = name
        case [ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp(ast.Name(id=left), op, value))]:
            pass
        case _:
            return None
    inside = any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(value))
    return (op, value) if [left] == [name] == [*states] and not inside else None


def _check(body: Sequence[ast.stmt], inner: bool = False) -> None:
    """NoPipeline for statements that no loop computes."""
    for each in body:
        match each:
            case ast.Assign(targets=[target]) if names_alone(target) or _collected(each):
                pass
            case ast.AugAssign() if _collected(each):
                pass
            case ast.AugAssign(target=ast.Name()) | ast.AnnAssign(target=ast.Name(), value=ast.expr()):
                pass
            case ast.If(body=first, orelse=second):
                _check([*first, *second], inner)
            case ast.For(target=target, body=turn, orelse=[]) if names_alone(target):
                _check(turn, inner=True)
            case ast.While(body=turn, orelse=[]):
                _check(turn, inner=True)
            case ast.Continue() | ast.Pass():
                pass
            case ast.Break() if inner:
                pass
            case ast.Expr() if _collected(each):
                pass
            case _:
                raise NoPipeline


def _collected(node: ast.stmt) -> str:
    """The variable that the statement collects an element in; "" if it does nothing of the kind."""
    match node:
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[element], keywords=[]
            )
        ) if not isinstance(element, ast.Starred):
            return name
        case ast.Assign(targets=[target]) | ast.AugAssign(target=target):
            return root_of(target)
        case _:
            return ""


def _in_part(node: ast.stmt) -> bool:
    """Whether it stores into a part of a variable, as `a[k][i] = x` does."""
    return isinstance(node, ast.Assign) and isinstance(
        cast(ast.Subscript, node.targets[0]).value, ast.Subscript
    )


def _kind(node: ast.stmt) -> New:
    return "list" if isinstance(node, ast.Expr) else "dict"


__all__ = [
    "Computed",
    "Condition",
    "Part",
    "Turn",
    "added",
    "either",
    "element_of",
    "parts_of",
    "turn_of",
]
