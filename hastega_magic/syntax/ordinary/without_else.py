"""Loops inside a turn without `else`, which runs where no `break` has ended them.

for d in range(2, k):        ended = False
    if k % d == 0:           for d in range(2, k):
        break                    if k % d == 0:
else:                                ended = True
    out.append(k)                    break
                             if not ended:
                                 out.append(k)
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence


def without_else(body: Sequence[ast.stmt]) -> tuple[list[ast.stmt], frozenset[str]]:
    """The statements with no `else` of a loop in them, and the names of the variables that stand for it."""
    made = _Without()
    return made.block(body), frozenset(made.names)


class _Without:
    def __init__(self) -> None:
        self.names: list[str] = []

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        return [made for each in body for made in self._statement(each)]

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        match node:
            case ast.If():
                made = copy.copy(node)
                made.body, made.orelse = self.block(node.body), self.block(node.orelse)
                return [made]
            case ast.For() | ast.While():
                return self._loop(node)
            case _:
                return [node]

    def _loop(self, node: ast.For | ast.While) -> list[ast.stmt]:
        made = copy.copy(node)
        made.body, made.orelse = self.block(node.body), []
        if not node.orelse:
            return [made]
        name = f"__hastega_ended_{len(self.names)}__"
        self.names.append(name)
        made.body = _noted(made.body, name)
        test = ast.UnaryOp(ast.Not(), ast.Name(name, ast.Load()))
        behind = ast.copy_location(ast.If(test, self.block(node.orelse), []), node.orelse[0])
        behind.end_lineno, behind.end_col_offset = node.orelse[-1].end_lineno, node.orelse[-1].end_col_offset
        return [_assigned(name, False, node), made, ast.fix_missing_locations(behind)]


def _noted(body: Sequence[ast.stmt], name: str) -> list[ast.stmt]:
    """The statements of a loop with its `break` noted."""
    found: list[ast.stmt] = []
    for each in body:
        match each:
            case ast.Break():
                found += [_assigned(name, True, each), each]
            case ast.If(body=first, orelse=second):
                made = copy.copy(each)
                made.body, made.orelse = _noted(first, name), _noted(second, name)
                found.append(made)
            case _:
                found.append(each)
    return found


def _assigned(name: str, value: bool, place: ast.stmt) -> ast.stmt:
    """An assignment that is written nowhere, at the beginning of what it stands for."""
    made = ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value))
    start = ast.copy_location(ast.Pass(), place)
    start.end_lineno, start.end_col_offset = place.lineno, place.col_offset
    for each in (made, made.targets[0], made.value):
        ast.copy_location(each, start)
    return made


__all__ = ["without_else"]
