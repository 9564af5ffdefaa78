"""`for` statements that search: each turn ends the loop, or does nothing that anybody sees.

    for d in range(2, n):          for d in (SOUGHT(7, ...) if LAID[7](range(2, n)) else TAKEN()):
        if n % d == 0:                 if n % d == 0:
            return d                       return d

What a turn comes to is a function of the element, that says whether it ends the loop: `lambda d: n % d == 0`. Python's
loop stays as it stands, and goes through what SOUGHT gives: the elements from one on that is not behind the first that
ends it. So whatever that turn does is Python's, and all variables have what its last turn gives them.
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

from hastega_magic.syntax.ordinary.beside import beside
from hastega_magic.syntax.ordinary.bodies import told, with_functions
from hastega_magic.syntax.ordinary.comprehension import source_of
from hastega_magic.syntax.ordinary.parts import CALLEES, FUNCTIONS, OPERANDS, Ordinary, Parts, Step
from hastega_magic.syntax.ordinary.refused import check
from hastega_magic.syntax.ordinary.rewriting import (
    NoPipeline,
    all_placed,
    function,
    function_of,
    head_of,
    target_shape,
)
from hastega_magic.syntax.ordinary.statements import evaluated, given_names, in_statements, names_alone
from hastega_magic.syntax.ordinary.turns import either
from hastega_magic.syntax.ordinary.variables import AROUND, Around, read_first, shared_by, stored
from hastega_magic.syntax.ordinary.without_else import without_else
from hastega_magic.syntax.reading.names import reads
from hastega_magic.syntax.reading.text import Text
from hastega_magic.syntax.site import SOUGHT, new_site_id


def sought(
    node: ast.For, text: Text, visit: Callable[[ast.expr], Any], inside: Callable[[ast.For], Any]
) -> tuple[Ordinary, ast.stmt] | None:
    """The statement as one that searches, and what stands for it; None if it does not.

    `visit` rewrites an expression, `inside` what stands in the statement, which Python runs in any case.
    """
    around = getattr(node, AROUND, None)
    if around is None:
        return None
    try:
        body, names = without_else(node.body)
        turn = _turn(body)
        _check(node, turn, replace(around, own=around.own | names))
        return _made(node, turn, text, visit, inside, shared_by(node, around))
    except NoPipeline:
        return None


def _made(
    node: ast.For,
    turn: list[ast.stmt],
    text: Text,
    visit: Callable[[ast.expr], Any],
    inside: Callable[[ast.For], Any],
    shared: frozenset[str],
) -> tuple[Ordinary, ast.stmt]:
    number, parts, shape = new_site_id(), Parts(text), target_shape(node.target)
    code = source_of(node.iter, shape, parts)
    if parts.strict or parts.windows or parts.backwards or parts.later or parts.is_few():
        raise NoPipeline
    _count_from_somewhere(parts, node.iter)
    test = _test(turn)
    ends = told(f"__hastega_turn_{number}__", shape, turn) if test is None else function_of(shape, test)
    made = parts.function(ends, made=True)[0] if isinstance(ends, ast.Lambda) else parts.defined(ends)
    parts.step(
        "map", node.iter, ("function", made), text="what ends it" if test is None else ast.unparse(test)
    )
    parts.step("any", node.iter, text="")
    parts.picks = True
    head = head_of(node)
    site = parts.site(node, number, f"{text.segment(head)}: ...")
    arguments = [*parts.arguments(site, visit), function([CALLEES, FUNCTIONS, OPERANDS], code)]
    tried = ast.Call(ast.Name(SOUGHT, ast.Load()), arguments, [])
    functions, tried.args[2] = tried.args[2], ast.Tuple([], ast.Load())  # which Python's loop has none of
    standing, asked = beside(tried, code, [], parts.sources)
    if standing is tried:
        raise NoPipeline
    tried.args[2] = functions
    loop = copy.copy(node)
    loop.iter = ast.copy_location(ast.Constant(None), node.iter)  # what stands there is rewritten already
    loop = cast(ast.For, inside(loop))
    loop.iter = standing
    statement: ast.stmt = loop
    if isinstance(ends, ast.FunctionDef):
        statement = with_functions([ends], loop, bool(shared))
    return parts.ordinary(site, None, asked, None, seeks=True, shared=shared), all_placed(statement, node)


def _count_from_somewhere(parts: Parts, place: ast.expr) -> None:
    """Let `enumerate` count from an operand, so that it can count from further on."""
    for number, step in enumerate(parts.steps):
        if step.stage == "enumerate" and not step.arguments:
            begin, _ = parts.operand(ast.copy_location(ast.Constant(0), place), source=False)
            parts.steps[number] = Step("enumerate", (("operand", begin),))


def _check(node: ast.For, turn: Sequence[ast.stmt], around: Around) -> None:
    """NoPipeline where turns that do not end the loop are missed by those that come later, or by what comes behind."""
    assigned = {name for each in in_statements(turn) for name in given_names(each)}
    targets = stored([node.target])
    if not assigned | targets <= around.own or not any(
        isinstance(each, ast.Return) for each in in_statements(turn)
    ):
        raise NoPipeline
    for each in evaluated(turn):
        check(each, targets)
    ours = assigned - targets
    if ours & read_first(node.body, around.own):
        raise NoPipeline
    # The last turn is Python's, and gives these a value whatever it does.
    always = {name for each in itertools.takewhile(_is_assignment, node.body) for name in given_names(each)}
    behind = around.behind.union(around.before, *map(reads, node.orelse))
    if (ours - always) & behind:
        raise NoPipeline


def _is_assignment(node: ast.stmt) -> bool:
    return isinstance(node, (ast.Assign, ast.AnnAssign))


def _turn(body: Sequence[ast.stmt], inner: bool = False) -> list[ast.stmt]:
    """The statements as those of a function that says whether the turn ends the loop.

    Of a block that ends it in any case nothing is evaluated. `inner`: of a loop inside, whose `break` and `continue`
    are its own. NoPipeline where a turn does more than to compute and to end the loop.
    """
    made: list[ast.stmt] = []
    for number, each in enumerate(body):
        if _ends(body[number:], inner):
            return [*made, ast.copy_location(ast.Return(ast.copy_location(ast.Constant(True), each)), each)]
        match each:
            case ast.Assign(targets=[target]) if names_alone(target):
                made.append(each)
            case ast.AugAssign(target=ast.Name()) | ast.AnnAssign(target=ast.Name(), value=ast.expr()):
                made.append(each)
            case ast.Pass() | ast.Continue():
                made.append(each)
            case ast.Break() if inner:
                made.append(each)
            case ast.If(test=test, body=first, orelse=second):
                made.append(ast.copy_location(ast.If(test, _turn(first, inner), _turn(second, inner)), each))
            case ast.For(target=target, iter=source, body=turn, orelse=[]) if names_alone(target):
                made.append(ast.copy_location(ast.For(target, source, _turn(turn, inner=True), []), each))
            case ast.While(test=test, body=turn, orelse=[]):
                made.append(ast.copy_location(ast.While(test, _turn(turn, inner=True), []), each))
            case _:
                raise NoPipeline
    return made


def _ends(body: Sequence[ast.stmt], inner: bool) -> bool:
    """Whether the statements end the loop in any case, whatever they do before. `inner`: as in `_turn`."""
    if any(_leads_on(each, inner) for each in body):
        return False
    match body[-1]:
        case ast.Return() | ast.Raise() | ast.Break():
            return True
        case ast.If(body=first, orelse=[_, *_] as second):
            return _ends(first, inner) and _ends(second, inner)
        case _:
            return False


def _leads_on(node: ast.AST, inner: bool) -> bool:
    """Whether a `continue` stands in it, or a `break` of a loop inside the turn, that is of no loop further in."""
    match node:
        case ast.Continue():
            return True
        case ast.Break():
            return inner
        case ast.For(orelse=other) | ast.While(orelse=other) | ast.AsyncFor(orelse=other):
            return any(_leads_on(each, inner) for each in other)
        case ast.stmt() | ast.ExceptHandler() | ast.match_case() if not isinstance(
            node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        ):
            return any(_leads_on(each, inner) for each in ast.iter_child_nodes(node))
        case _:
            return False


def _test(turn: Sequence[ast.stmt]) -> ast.expr | None:
    """The function's value as an expression, where it computes nothing else."""
    match turn:
        case []:
            return ast.Constant(False)
        case [ast.Return(value=value), *_]:
            return value
        case [ast.Continue(), *_]:
            return ast.Constant(False)
        case [ast.Pass(), *rest]:
            return _test(rest)
        case [ast.If(test=test, body=body, orelse=[]), *rest] if isinstance(
            body[-1], (ast.Return, ast.Continue)
        ):
            first, second = _test(body), _test(rest)
        case [ast.If(test=test, body=body, orelse=other)]:
            first, second = _test(body), _test(other)
        case _:
            return None
    if first is None or second is None:
        return None
    return either(test, first, second)


__all__ = ["sought"]
