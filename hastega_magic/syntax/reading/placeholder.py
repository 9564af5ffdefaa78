"""The placeholder: in `map(22 * _ + 1)` the argument is short for `lambda _: 22 * _ + 1`.

Both the plan of a cell and the search for a function's text read trees through `expand`, so that a function
object and its tree agree about places.
"""

from __future__ import annotations

import ast
import re
from typing import cast

from hastega_magic.errors import CellSyntaxError
from hastega_magic.syntax.reading.names import reads
from hastega_magic.syntax.reading.pipe import is_pipe, spine
from hastega_magic.syntax.reading.text import Text
from hastega_magic.syntax.reading.trees import Transformer
from hastega_magic.syntax.stages import STAGES, function_arguments

PLACEHOLDER = "_"


def expand(tree: ast.Module, text: Text, filename: str) -> ast.Module:
    """The tree with a lambda for each stage function that is written with `_`, at the same places.

    Changes the tree. CellSyntaxError where a stage's function takes more than one element.
    """
    if _WRITTEN.search(text.text):
        _Expand(text, filename).visit(tree)
    return tree


_WRITTEN = re.compile(r"\b_\b")


def _holds_placeholder(node: ast.AST) -> bool:
    """Whether `_` occurs, outside functions that are written out."""
    match node:
        case ast.Name(id=name):
            return name == PLACEHOLDER
        case ast.Lambda():
            return False
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return PLACEHOLDER in reads(node)
        case ast.BinOp() if is_pipe(node):
            steps = spine(node)
            return any(_holds_placeholder(part) for part in (steps[0].left, *(step.right for step in steps)))
        case _:
            return any(_holds_placeholder(child) for child in ast.iter_child_nodes(node))


class _Expand(Transformer):
    def __init__(self, text: Text, filename: str) -> None:
        self.text = text
        self.filename = filename

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if not is_pipe(node):
            return self.generic_visit(node)
        # In a loop: a pipeline of many stages is as deep a tree.
        steps = spine(node)
        steps[0].left = cast("ast.expr", self.visit(steps[0].left))
        for step in steps:
            step.right = cast(
                "ast.expr", self.visit(step.right)
            )  # inner pipelines first: their `_` is theirs
            self._stage(step.right)
        return node

    def _stage(self, stage: ast.expr) -> None:
        if not isinstance(stage, ast.Call) or not isinstance(stage.func, ast.Name):
            return
        row = STAGES.get(stage.func.id)
        if row is None:
            return
        for argument in function_arguments(row, stage):
            if not _holds_placeholder(argument):
                continue
            if row.name in ("reduce", "scan"):
                message = f"{row.name} takes a function of two values: write `lambda total, x: ...`"
                raise CellSyntaxError(message, self.text.text, self.text.span(argument), self.filename)
            _replace(stage, argument, _function_of(argument))


def _function_of(body: ast.expr) -> ast.Lambda:
    parameter = ast.copy_location(ast.arg(PLACEHOLDER), body)
    arguments = ast.arguments([], [parameter], None, [], [], None, [])
    return ast.copy_location(ast.Lambda(arguments, body), body)


def _replace(call: ast.Call, old: ast.expr, new: ast.expr) -> None:
    call.args = [new if arg is old else arg for arg in call.args]
    for keyword in call.keywords:
        if keyword.value is old:
            keyword.value = new
