"""Pipelines as they are written: where each stands in its text, and its stages."""

from __future__ import annotations

import ast
import itertools
from dataclasses import field
from typing import Literal

from hastega_magic.errors import NOWHERE, Span
from hastega_magic.records import dataclass

BIND, RUN, TRY = "__hastega_bind__", "__hastega_run__", "__hastega_try__"
"""The names that rewritten code calls: f(site id, source, (callee or None, args, kwargs), ...). Ordinary code: TRY."""

BOXED = "__hastega_boxed__"
"""The name that it calls to know whether `sum(xs)` is worth that: f(xs), true of arrays and columns of many numbers."""

WORTH, LAID, TAKEN = "__hastega_worth__", "__hastega_laid__", "__hastega_taken__"
"""The names that it calls to know whether it is worth trying: f[site id](*callees, *functions, *operands), of functions
those that are names. LAID lays these down, in any case, for TAKEN to take, one after the other: f()."""

LOOPED, BEGAN, ENDED = "__hastega_looped__", "__hastega_began__", "__hastega_ended__"
"""The names that a `for` statement calls: f(site id, callees, functions, operands, which of these Python's loop takes
again), true where what the loop hands on is laid down; and f(site id), where Python's loop is over. BEGAN is empty
where nobody takes the time of any."""

SOUGHT = "__hastega_sought__"
"""The name that a `for` statement which searches calls, as TRY: it gives what is to be gone through."""

METHODS = {
    RUN: "run", TRY: "attempt", BOXED: "boxed", WORTH: "worth", LAID: "laid", TAKEN: "taken", LOOPED: "looped",
    BEGAN: "began", ENDED: "ended", SOUGHT: "sought",
}  # fmt: skip
"""What has these names, but for BIND: attributes of the hooks of a cell, or of a decorated function."""

_ids = itertools.count(1)


def is_ours(name: str) -> bool:
    """Whether rewritten code has the name from here, and not from the user."""
    return name.startswith("__hastega_")


def new_site_id() -> int:
    """A number that no other site of the process has."""
    return next(_ids)


@dataclass(frozen=True)
class StageSite:
    """A stage as written. `known`: it is of the table, and its callee is None when it is bound.

    `name` is the stage's name, or the text of the callee; `span` counts in lines and columns of the cell.
    """

    name: str
    text: str
    span: Span
    known: bool
    fixed: bool = False
    """Whether all that it is given are constants, as they stand in the text."""


@dataclass(frozen=True)
class Doubt:
    """A part of a pipeline that Python hardly reads as it was meant, and the sentence that asks about it."""

    kind: Literal["comparison", "start"]
    """Whether `&` or `|` stands between comparisons, or `_` where a stage takes what it begins with."""
    sentence: str


@dataclass(frozen=True)
class Site:
    """A pipeline as written; `id` is the first argument of its call, different for every site of a process.

    `source` is its rewritten expression, written at `source_span`, `bind_expression` the call that evaluates source
    and arguments (of statements; None elsewhere).
    """

    id: int
    text: str
    span: Span
    source_text: str
    stages: tuple[StageSite, ...]
    source_name: str | None
    source: ast.expr = field(compare=False, repr=False)
    bind_expression: ast.Expression | None = field(default=None, compare=False, repr=False)
    source_span: Span = NOWHERE
    moving: frozenset[str] = frozenset()
    """Names that a loop around it binds: what it captures of them is another number each time."""
    doubts: tuple[Doubt, ...] = ()
    """What its text hardly means as it stands."""
