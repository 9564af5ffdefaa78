"""`match` inside functions: patterns become conditions and names, cases a chain of branches."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from hastega_magic.errors import NOWHERE, NotCompilable
from hastega_magic.ir.expr import Expr
from hastega_magic.syntax.operations.comparisons import equal, identical
from hastega_magic.syntax.values.branches import Names, both, choice, merged, opposite
from hastega_magic.syntax.values.graph import Graph
from hastega_magic.syntax.values.values import FALSE, NONE, TRUE, Symbolic, items_in, known, number

if TYPE_CHECKING:
    from hastega_magic.syntax.functions.flow import Flow


def match_statement(flow: Flow, statement: ast.Match) -> Expr:
    """Evaluate the statement; the condition under which control goes on behind it."""
    subject = flow.frame.evaluate(statement.subject)
    flow.frame.graph.keep(subject)
    return _cases(flow, subject, statement.cases)


def _cases(flow: Flow, subject: Symbolic, cases: Sequence[ast.match_case]) -> Expr:
    if not cases:
        return TRUE
    graph, frame, case = flow.frame.graph, flow.frame, cases[0]
    before, bound = dict(frame.names), Names()
    matched = _placed(flow, case.pattern, subject, bound)
    graph.keep(matched)
    if matched is FALSE:
        return _cases(flow, subject, cases[1:])
    if not bound.keys().isdisjoint(frame.cells):
        raise NotCompilable("a pattern gives a variable a value that inner functions assign")
    frame.names = {**before, **bound}
    taken = matched
    if case.guard is not None:
        with graph.under(matched):
            holds = frame.condition(case.guard)
            graph.keep(holds)
        taken = both(matched, holds)
    if taken is TRUE:
        return flow.block(case.body)
    tried = dict(frame.names)
    if taken is FALSE:
        frame.names = merged(graph, matched, tried, before)
        return _cases(flow, subject, cases[1:])
    with graph.under(taken):
        yes = flow.block(case.body)
    names, frame.names = frame.names, merged(graph, matched, tried, before)
    with graph.under(opposite(taken)):
        no = _cases(flow, subject, cases[1:])
    if no is FALSE:
        frame.names = names
    elif yes is not FALSE:
        frame.names = merged(graph, taken, names, frame.names)
    return choice(taken, yes, no)


def _placed(flow: Flow, pattern: ast.pattern, subject: Symbolic, bound: Names) -> Expr:
    """The condition of a pattern; what cannot be compiled has the pattern's place."""
    try:
        return _pattern(flow, pattern, subject, bound)
    except NotCompilable as error:
        if error.reason.span == NOWHERE and flow.frame.in_cell:
            place = flow.frame.syntax.places.span(pattern)
            raise NotCompilable(error.reason.text, place) from None
        raise


def _pattern(flow: Flow, pattern: ast.pattern, subject: Symbolic, bound: Names) -> Expr:
    """Whether the subject matches; `bound` gets the names that it gives values."""
    graph = flow.frame.graph
    match pattern:
        case ast.MatchValue(value=value):
            return equal(graph, subject, flow.frame.evaluate(value))
        case ast.MatchSingleton(value=value):
            return identical(subject, NONE if value is None else known(value, str(value)))
        case ast.MatchAs(pattern=inner, name=name):
            matched = TRUE if inner is None else _pattern(flow, inner, subject, bound)
            if name is not None:
                bound[name] = subject
            return matched
        case ast.MatchOr(patterns=patterns):
            return _alternatives(flow, patterns, subject, bound)
        case ast.MatchSequence(patterns=patterns):
            return _sequence(flow, patterns, subject, bound)
        case ast.MatchMapping():
            _refuse_objects(subject)
            return FALSE
        case _:
            raise NotCompilable("a pattern that asks for a class is not compiled: compare values in a guard")


def _alternatives(flow: Flow, patterns: Sequence[ast.pattern], subject: Symbolic, bound: Names) -> Expr:
    graph = flow.frame.graph
    matched, names = FALSE, Names()
    for pattern in patterns:
        own = Names()
        matches = graph.either(
            matched, lambda pattern=pattern, own=own: _pattern(flow, pattern, subject, own)
        )
        for name, value in own.items():
            names[name] = value if name not in names else _one(graph, matched, names[name], value)
        matched = matches
    bound |= names
    return matched


def _one(graph: Graph, condition: Expr, yes: Symbolic, no: Symbolic) -> Symbolic:
    return yes if condition is TRUE else no if condition is FALSE else graph.choose(condition, yes, no)


def _sequence(flow: Flow, patterns: Sequence[ast.pattern], subject: Symbolic, bound: Names) -> Expr:
    items = items_in(subject)
    if items is None:
        _refuse_objects(subject)
        return FALSE
    starred = [place for place, each in enumerate(patterns) if isinstance(each, ast.MatchStar)]
    if starred:
        (place,) = starred
        if cast(ast.MatchStar, patterns[place]).name is not None:
            raise NotCompilable("`*` in a pattern makes a list: only `*_` is compiled")
        behind = len(patterns) - place - 1
        if len(items) < place + behind:
            return FALSE
        patterns = [*patterns[:place], *patterns[place + 1 :]]
        items = (*items[:place], *items[len(items) - behind :])
    if len(items) != len(patterns):
        return FALSE
    matched = TRUE
    for pattern, item in zip(patterns, items, strict=True):
        matched = flow.frame.graph.both(
            matched, lambda pattern=pattern, item=item: _pattern(flow, pattern, item, bound)
        )
    return matched


def _refuse_objects(subject: Symbolic) -> None:
    """A number is no sequence and no mapping; of other things that is not known."""
    if subject is not NONE:
        number(subject)
