"""What was perhaps meant where Python could not evaluate the source or an argument of a pipeline.

1 + xs |> sum         `|>` binds weaker than `+`: write `1 + (xs |> sum)`
xs |> map(f())        a stage is given the function itself: write `map(f)`
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from hastega_magic.errors import Span
from hastega_magic.syntax.hints import marked, ran_text
from hastega_magic.syntax.reading.pipe import parse
from hastega_magic.syntax.reading.text import Text
from hastega_magic.syntax.site import Site, StageSite
from hastega_magic.syntax.stages import STAGES, function_arguments

_BESIDE = re.compile(
    r"unsupported operand type\(s\) for .*: '(?:int|float|complex|bool)' and '(?!(?:int|float|No))"
)
"""What Python says of a number and what a pipeline may go through."""

_LONGEST = 60
"""A form that is longer is not shown."""


def note_misplaced(error: TypeError, sites: Iterable[Site], text: str, ran: Span) -> None:
    """Note what is said of the piece of a pipeline that ran when the error came, and mark it."""
    for site in sites:
        said = _of_source(site) if ran == site.source_span and _BESIDE.match(str(error)) else None
        for stage in site.stages if said is None else ():
            if ran.within(stage.span):
                said = _of_function(stage, ran_text(text, ran), error)
        if said is not None:
            error.add_note(f"hastega: {said}")
            error.add_note(marked(text, ran, ran.end_col - ran.col))
            return


def _of_source(site: Site) -> str | None:
    """The operator that took the source before the pipe did."""
    source = _expression(site.source_text)
    if not isinstance(source, ast.BinOp) or not site.text.startswith(site.source_text):  # in parentheses
        return None
    text = Text(site.source_text)
    left, right = text.cut(text.span(source.left)), text.cut(text.span(source.right))
    between = site.source_text[len(left) : len(site.source_text) - len(right)].strip()
    written = f"{left} {between} ({right}{site.text[len(site.source_text) :]})"
    meant = f"write `{written}`" if len(written) <= _LONGEST else "the pipeline stands in parentheses"
    plain = between.isascii() and not set(between) & set("() ")
    return f"`|>` binds weaker than `{between}`: for the pipeline alone {meant}" if plain else None


def _of_function(stage: StageSite, ran: str, error: TypeError) -> str | None:
    """What a stage is given in place of a function."""
    call = _expression(stage.text)
    if not stage.known and re.search(r"\b_\b", ran):
        return (
            f"`_` stands for the element in stages alone, and `{stage.name}` is none: write `lambda x: ...`"
        )
    if not stage.known or not isinstance(call, ast.Call):
        return None
    text = Text(stage.text)
    for given in function_arguments(STAGES[stage.name], call):
        if text.cut(text.span(given)) != ran:
            continue
        if isinstance(given, ast.Call) and not given.args and not given.keywords:
            if str(error).endswith("object is not callable"):
                return None
            function = text.cut(text.span(given.func))
            return f"a stage is given the function itself: write `{stage.text.replace(ran, function, 1)}`"
        if not isinstance(given, ast.Call):
            return (
                f"`{stage.name}` takes a function: write it with `_` for the element, or as `lambda x: ...`"
            )
    return None


def _expression(text: str) -> ast.expr | None:
    try:
        [statement] = parse(text).body
    except (SyntaxError, ValueError):
        return None
    return statement.value if isinstance(statement, ast.Expr) else None


__all__ = ["note_misplaced"]
