"""What the statements of a turn give values, and evaluate."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence


def names_alone(target: ast.expr) -> bool:
    """Whether a target is names, or tuples of such."""
    if isinstance(target, ast.Tuple):
        return all(map(names_alone, target.elts))
    return isinstance(target, ast.Name)


def in_statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements, those inside others behind them."""
    for each in body:
        yield each
        if isinstance(each, (ast.If, ast.For, ast.While)):
            yield from in_statements((*each.body, *each.orelse))


def given_names(node: ast.stmt) -> list[str]:
    """The names that the statement itself gives a value, from left to right."""
    match node:
        case ast.Assign(targets=targets):
            pass
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target) | ast.For(target=target):
            targets = [target]
        case _:
            return []
    walked = (each for target in targets for each in ast.walk(target))
    return [each.id for each in walked if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]


def may_go_on(body: Iterable[ast.stmt]) -> bool:
    """Whether `continue` stands among the statements, or inside them, behind which they may leave others out."""
    return any(isinstance(each, ast.Continue) for part in body for each in ast.walk(part))


def evaluated(body: Sequence[ast.stmt]) -> Iterator[ast.expr]:
    """What the statements evaluate."""
    for each in in_statements(body):
        match each:
            case ast.Expr(value=ast.Call(args=args)):
                yield from args
            case (
                ast.Assign(targets=[ast.Subscript(value=whole, slice=key)], value=value)
                | ast.AugAssign(target=ast.Subscript(value=whole, slice=key), value=value)
            ):
                yield from (whole, key, value)
            case (
                ast.Assign(value=value)
                | ast.AugAssign(value=value)
                | ast.AnnAssign(value=ast.expr() as value)
            ):
                yield value
            case ast.If(test=value) | ast.While(test=value) | ast.For(iter=value):
                yield value
            case _:
                pass


__all__ = ["evaluated", "given_names", "in_statements", "may_go_on", "names_alone"]
