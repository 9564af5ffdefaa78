"""What was perhaps meant, where a pipeline reads a name that nobody has defined."""

from __future__ import annotations

import ast
import difflib
import math
from collections.abc import Iterable

from hastega_magic.errors import CellSyntaxError
from hastega_magic.syntax.literals import DTYPES
from hastega_magic.syntax.names import reads
from hastega_magic.syntax.pipe import parse
from hastega_magic.syntax.site import Site
from hastega_magic.syntax.stages import STAGES, function_arguments, suggest


def hint(error: NameError, sites: Iterable[Site]) -> None:
    """Add a note to the error: the stage of a similar name, or how a stage's function is written."""
    name = error.name
    if not name:
        return
    if name == "_":
        error.add_note(
            "hastega: `_` stands for the element in stages behind `|>`: is one written as `|` or `>` here?"
        )
        return
    for stage in (stage for site in sites for stage in site.stages):
        if not stage.known and stage.name == name:
            near = f"map(math.{name})" if callable(getattr(math, name, None)) else suggest(name)
            meant = f": did you mean {near}?" if near else ", and no function of that name is defined"
            error.add_note(f"hastega: `{name}` is no stage{meant}")
            return
        if stage.known and stage.name == "astype" and (near := difflib.get_close_matches(name, DTYPES, n=1)):
            error.add_note(f"hastega: types are written as strings: `astype({near[0]!r})`")
            return
        if stage.known and _is_function_over(stage.text, name):
            better = f"`{stage.name}(lambda {name}: ...)`, or call the element `_`"
            error.add_note(f"hastega: `{stage.text}` takes a function: write {better}")
            return


def _is_function_over(stage: str, name: str) -> bool:
    """Whether the stage's function is written as an expression over this name."""
    try:
        [statement] = parse(stage).body
    except (CellSyntaxError, ValueError):
        return False
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id not in STAGES:
        return False
    given = function_arguments(STAGES[call.func.id], call)
    plain = [each for each in given if not isinstance(each, (ast.Name, ast.Lambda))]
    return any(name in reads(each) and "_" not in reads(each) for each in plain)


__all__ = ["hint"]
