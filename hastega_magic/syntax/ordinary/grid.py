"""A list of lists, one comprehension inside another: the same of two clauses, of which the list is cut into rows.

[[x * y for y in ys] for x in xs]         [x * y for x in xs for y in ys], of which len(ys) are a row
[[x + 1 for x in row] for row in rows]    [x + 1 for row in rows for x in row], of which each row has as many
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from typing import cast

from hastega_magic.syntax.ordinary.comprehension import SEEN, comprehension, few_places
from hastega_magic.syntax.ordinary.parts import Parts
from hastega_magic.syntax.ordinary.rewriting import NoPipeline
from hastega_magic.syntax.reading.trees import copied
from hastega_magic.syntax.site import LAID, TAKEN, WORTH


def rows_of(node: ast.ListComp) -> ast.ListComp | None:
    """The comprehension of each row, where it is one whose list may be cut out of that of all rows; else None."""
    match node:
        case ast.ListComp(
            generators=[ast.comprehension(ifs=[], is_async=0)],
            elt=ast.ListComp(generators=[ast.comprehension(ifs=[], is_async=0)]) as inner,
        ):
            return inner
        case _:
            return None


def grid(node: ast.ListComp, inner: ast.ListComp, parts: Parts) -> ast.expr:
    """The comprehension over its parts, of which `inner` makes the rows."""
    flat = ast.copy_location(ast.ListComp(inner.elt, [*node.generators, *inner.generators]), node)
    over = cast(ast.ListComp, comprehension(flat, parts))
    if parts.nest is not None and any(each.within is not None for each in parts.nest.clauses):
        raise NoPipeline("its rows are of different lengths")
    parts.cut, parts.few_places = True, few_places([flat.elt])
    made, row = copy.copy(node), copy.copy(inner)
    setattr(made, SEEN, True)
    outermost, *rest = over.generators
    made.generators, row.generators = [outermost], rest
    made.elt = row
    return made


def as_it_stands(code: ast.expr) -> ast.expr:
    """The same code of few elements, of which no row is worth a look of its own."""
    match code:
        case ast.ListComp(
            elt=ast.IfExp(test=ast.Call(func=ast.Name(id=name), args=[_, *given]), orelse=row)
        ) if name in (WORTH, LAID) and isinstance(row, ast.ListComp):
            made = copy.copy(code)
            made.elt = row if name == WORTH else _given(row, given)
            return made
        case _:
            return code


def _given(row: ast.ListComp, given: Sequence[ast.expr]) -> ast.ListComp:
    """A row that goes through what would have been laid down."""
    made, clause = copy.copy(row), copy.copy(row.generators[0])
    clause.iter = cast(ast.expr, _Given(given).visit(copied(clause.iter)))
    made.generators = [clause, *row.generators[1:]]
    return made


class _Given(ast.NodeTransformer):
    """What would be taken, in the order in which it is."""

    def __init__(self, given: Sequence[ast.expr]) -> None:
        self.given = iter(given)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(func=ast.Name(id=name)) if name == TAKEN:
                return copied(next(self.given))
            case _:
                return self.generic_visit(node)


__all__ = ["as_it_stands", "grid", "rows_of"]
