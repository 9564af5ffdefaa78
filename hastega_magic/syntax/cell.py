"""The plan of a cell: its statements in order, of which pipelines are known for what they are."""

from __future__ import annotations
import __future__

import ast
import functools
import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from types import CodeType

from hastega_magic.errors import CellSyntaxError, Span
from hastega_magic.records import dataclass
from hastega_magic.syntax.ordinary.parts import Ordinary
from hastega_magic.syntax.ordinary.variables import note_cell_variables
from hastega_magic.syntax.reading.functions import know
from hastega_magic.syntax.reading.names import reads
from hastega_magic.syntax.reading.pipe import ends_with_semicolon, normalise, parse
from hastega_magic.syntax.reading.placeholder import expand
from hastega_magic.syntax.reading.text import Text
from hastega_magic.syntax.rewriter import PipelineStatement, Plain, Rewriter, callables_bound
from hastega_magic.syntax.site import Site

FUTURES: int = functools.reduce(
    int.__or__, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)
"""The flags of code that `from __future__ import ...` sets, which compilers take as well."""


@dataclass(frozen=True)
class CellPlan:
    """A cell: its items in order, and every site in it by id (those inside functions too)."""

    items: tuple[Plain | PipelineStatement, ...]
    sites: dict[int, Site]
    text: str
    filename: str
    ordinary: dict[int, Ordinary]
    """Ordinary code that is a pipeline, by the number of its site."""
    lasting: frozenset[int]
    """Which of it stands in functions, and may run when the cell is over."""
    futures: int = 0
    """Those of `FUTURES` that the cell sets."""

    def read_from(self, place: int) -> frozenset[str]:
        """Names that pipelines read from item `place` on, up to the next statement that is Python's to run."""
        found: frozenset[str] = frozenset()
        for item in self.items[place:]:
            if not isinstance(item, PipelineStatement) or item.site.bind_expression is None:
                break
            found |= reads(item.site.bind_expression)
        return found


def _deleted(statement: ast.stmt) -> Iterator[str]:
    """The names that mean from here on what they do elsewhere."""
    if isinstance(statement, ast.Delete):
        named = (each for target in statement.targets for each in ast.walk(target))
        yield from (each.id for each in named if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Del))


def plan(
    text: str, filename: str = "<cell>", shadowed: Collection[str] = (), shows: str = "last_expr"
) -> CellPlan:
    """The plan of a cell's text.

    `shadowed`: stage names that mean something else in the user's namespace. `shows`: which values are displayed, as
    IPython's `ast_node_interactivity` has it: "all", "last" and "last_expr", "last_expr_or_assign", "none".
    CellSyntaxError, with the user's own line and a caret, for all that can be seen to be wrong in the text.
    """
    text = normalise(text)
    places = Text(text)
    tree = expand(parse(text, filename), places, filename)
    rewriter = Rewriter(places, filename, frozenset(shadowed))
    items: list[Plain | PipelineStatement] = []
    if shows == "last_expr_or_assign":
        tree.body += [ast.fix_missing_locations(ast.Expr(each)) for each in _assigned(tree.body)]
    note_cell_variables(tree.body)
    shown = _shown(tree.body, "none" if ends_with_semicolon(text) else shows)
    for statement in tree.body:
        items += rewriter.statement(statement)
        rewriter.shadowed = rewriter.shadowed.difference(_deleted(statement)) | callables_bound(statement)
        if statement in shown and (isinstance(statement, ast.Expr) or isinstance(items[-1], Plain)):
            items[-1] = replace(items[-1], shown=True)
    futures = _compiled_flags(items, text, filename) & FUTURES
    if not rewriter.ordinary and not rewriter.rewritten:
        know(places, rewriter.functions)  # they are as they were read
    lasting = frozenset(rewriter.lasting)
    return CellPlan(tuple(items), rewriter.sites, text, filename, rewriter.ordinary, lasting, futures)


def _assigned(body: Sequence[ast.stmt]) -> list[ast.Name]:
    """The variable that the last statement assigns, if it is one, to be read."""
    match body[-1:]:
        case [
            ast.Assign(targets=[ast.Name() as name])
            | ast.AugAssign(target=ast.Name() as name)
            | ast.AnnAssign(target=ast.Name() as name)
        ]:
            return [ast.copy_location(ast.Name(name.id, ast.Load()), name)]
        case _:
            return []


def _shown(body: Sequence[ast.stmt], shows: str) -> Sequence[ast.stmt]:
    """The statements of which something is displayed: as if typed at a prompt, or as values."""
    if shows in ("all", "none"):
        return body if shows == "all" else ()
    return [each for each in body[-1:] if shows == "last" or isinstance(each, ast.Expr)]


def _compiled_flags(items: list[Plain | PipelineStatement], text: str, filename: str) -> int:
    """The flags of the whole as code. Here is told what only the compiler refuses, such as `return` in no function."""
    module = ast.Module([item.node for item in items], [])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python gives them when the statements are run
            flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
            code: CodeType = compile(module, filename, "exec", flags, dont_inherit=True)
    except SyntaxError as error:
        line, col = error.lineno or 1, max((error.offset or 1) - 1, 0)
        width = max((error.end_offset or 0) - 1 - col, 1) if error.end_lineno == line else 1
        span = Span(line, col, line, col + width)
        raise CellSyntaxError(error.msg, text, span, filename) from None
    except (ValueError, RecursionError) as error:
        message = f"the cell cannot be compiled: {error}"
        raise CellSyntaxError(message, text, Span(1, 0, 1, 1), filename) from None
    return code.co_flags


__all__ = ["FUTURES", "CellPlan", "plan"]
