"""Level 1, Pipeline: what the user wrote. A source, stages with scalar functions, and what becomes of the elements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hastega_magic.errors import NOWHERE, Span
from hastega_magic.interval import Interval
from hastega_magic.ir.expr import Expr, Value
from hastega_magic.types import ScalarType, Storage


@dataclass(frozen=True)
class Source:
    """Where elements come from.

    name      as in the user's text
    kind      "range", "array" (any buffer with a stride), "list" (converted in pieces), "result" (the
    elements of the
              statement `name` of the same group)
    type      what an element is to functions
    interval  proved values: of a range its own; of an array its storage's limits
    storage   how an array lies in memory (None: a range)
    layout    "dense", "strided" or "swapped" (strided, other byte order)
    key       the identity of the object behind it: the same key is the same elements
    """

    name: str
    kind: str
    type: ScalarType
    interval: Interval | None
    storage: Storage | None = None
    layout: str = "dense"
    key: int = field(default=0, compare=False)
    length: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Table:
    """A captured array that functions subscript; its length is a run-time value."""

    name: str
    storage: Storage
    key: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Fn:
    """A user's function as a graph: parameters (leaves), result, and what it computes without using it.

    `effects` holds pairs (condition, node): nodes that Python evaluates though the result does not need
    them; they
    matter because they may raise. `spans`: the places in the cell that nodes come from.
    """

    params: Value
    result: Value
    effects: tuple[tuple[Expr | None, Expr], ...] = ()
    text: str = ""
    span: Span = NOWHERE
    spans: Mapping[Expr, tuple[Span, ...]] = field(
        default_factory=dict[Expr, tuple[Span, ...]], compare=False
    )


@dataclass(frozen=True)
class Stage:
    """One step. kind: "map", "filter" (with fn), "zip" (sources), "enumerate" (number: the start)."""

    kind: str
    text: str
    span: Span = NOWHERE
    fn: Fn | None = None
    sources: tuple[Source, ...] = ()
    number: int = 0


@dataclass(frozen=True)
class Sink:
    """What becomes of the elements: "array", "to_list", or a reduction.

    Reductions are sum, prod, min, max, count, mean, any, all, and the
    associative operators of `reduce`: "reduce_add" and so on, with the starting value kept outside).
    """

    kind: str
    text: str = ""
    span: Span = NOWHERE


@dataclass(frozen=True)
class Pipeline:
    """`name` is the variable assigned, or "" for an expression; `source_span`: where its source is written."""

    name: str
    source: Source
    stages: tuple[Stage, ...]
    sink: Sink
    tables: tuple[Table, ...] = ()
    span: Span = NOWHERE
    source_span: Span = NOWHERE
