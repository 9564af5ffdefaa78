"""Level 1, Pipeline: what the user wrote. A source, stages with scalar functions, and what becomes of the elements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from hastega_magic.errors import NOWHERE, Span
from hastega_magic.interval import Interval
from hastega_magic.ir.expr import Expr, Value, flatten
from hastega_magic.records import dataclass
from hastega_magic.types import FLOAT32, Complex, Either, ScalarType, Storage

FIRST_PARAMETER = 1 << 20
"""Parameters from this number on stand for captured numbers; those of elements are far below."""


MOST_APART = 8
"""Elements from one to the next where whole vectors are read, and what is between them is left out."""

_STRIDES = {"dense": 1, "turned": -1, "even": 2, "odd": 2} | {
    f"{number} apart": number for number in range(2, MOST_APART + 1)
}

_MOST_BESIDE = 3
"""Of chunks, whose elements are as many sources, each of which would read all; those of larger ones are gathered."""


def stride_of(layout: str) -> int | None:
    """Elements from one to the next, if native code takes that for granted; else it is asked for with each run."""
    return _STRIDES.get(layout)


@dataclass(frozen=True)
class Source:
    """Where elements come from.

    name      as in the user's text
    kind      "range", "array" (any buffer with a stride), "list" (converted in pieces), "stream" (computed in pieces by
              the loop before), "result" (the elements of the statement `name` of the same group)
    type      what an element is to functions
    interval  proved values: of a range its own; of an array its storage's limits
    storage   how an array lies in memory (None: a range)
    layout    "dense", "turned" (dense from the last element on), "2 apart" to "8 apart" (each second to eighth element
              of dense ones), "strided" (otherwise), "swapped" (strided, other byte order), "even" or "odd" (every other
              number of dense pairs, from the first or the second on), or "scalar" (one number, for all elements)
    key       the identity of the object behind it: the same key is the same elements
    length    how many elements there are; of a stream and a result at most
    parts     of complex numbers, whose `type` is that of a part, the sources of both parts: loops read these; of
              numbers of two types (results of the same group alone) those of an Either, `type` being the higher one
    beside    its elements are those of another source of the loop, a few places on, and come into the caches with them
    """

    name: str
    kind: str
    type: ScalarType
    interval: Interval | None
    storage: Storage | None = None
    layout: str = "dense"
    key: int = field(default=0, compare=False)
    length: int = field(default=0, compare=False)
    parts: tuple[Source, ...] = ()
    beside: bool = False

    @property
    def structure(self) -> object:
        """The types of an element."""
        if not self.parts:
            return self.type
        return (Complex if len(self.parts) == 2 else Either)(part.type for part in self.parts)

    @property
    def fresh(self) -> int:
        """Bytes that memory gives for an element: none of a range, of one number for all, of neighbours in a window."""
        came = self.layout == "scalar" or (self.beside and self.layout not in ("strided", "swapped"))
        return 0 if self.storage is None or came else self.storage.size * max(1, self.apart)

    @property
    def apart(self) -> int:
        """Of elements that lie so far apart how far that is; else 0."""
        return (stride_of(self.layout) or 0) if self.layout.endswith(" apart") else 0

    @property
    def vectors(self) -> int:
        """How many vectors are read for one of its elements, which are so far apart; 0 where they are gathered."""
        stride = stride_of(self.layout)
        if stride is None or (self.beside and self.apart > _MOST_BESIDE):
            return 0
        return abs(stride)

    @property
    def type_name(self) -> str:
        """The type of an element in one word."""
        if not self.parts:
            return self.type.value
        if len(self.parts) > 2:
            return " or ".join(part.type.value for part in self.parts[1:])
        return "complex64" if self.type is FLOAT32 else "complex"


@dataclass(frozen=True)
class Table:
    """A captured array that functions subscript; its length is a run-time value."""

    name: str
    storage: Storage
    key: int = field(default=0, compare=False)


@dataclass(frozen=True)
class Fn:
    """A user's function as a graph: parameters (leaves), result, and what it computes without using it.

    `effects` holds pairs (condition, node): nodes that Python evaluates though the result does not need them; they
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

    def roots(self) -> list[Expr]:
        """The results, and what is evaluated beside them."""
        return [*flatten(self.result), *(node for pair in self.effects for node in pair if node is not None)]


@dataclass(frozen=True)
class Stage:
    """One step. kind: "map", "filter" (with fn), "zip" (sources), "enumerate", "index" or "window".

    An "enumerate" counts from `number` on by `stride`. After "index" the element is its own number in the loop. After a
    "window" it is a tuple of `number` neighbours, `stride` elements of the sources apart; `sources` are those so far,
    moved on by one element, then by two, and so on.
    """

    kind: str
    text: str
    span: Span = NOWHERE
    fn: Fn | None = None
    sources: tuple[Source, ...] = ()
    number: int = 0
    stride: int = 1


RUNNING_SINKS = frozenset({"cumsum", "affine", "scan", "fold"})
"""Sinks whose value at an element depends on the one before: running sums, every value of a function, the last one."""

ELEMENT_SINKS = frozenset({"array", "to_list", "first", "last", "bincount", "complex_prod"}) | RUNNING_SINKS
"""Sinks for which the loop stores something for elements."""

MIXED_SINKS = frozenset({"sum", "mean", "min", "max"})
"""Reductions that have a form over ints and floats among each other: both are reduced by themselves first."""


@dataclass(frozen=True)
class Sink:
    """What becomes of the elements: one of ELEMENT_SINKS, or a reduction.

    Complex products ("complex_prod") are of stored elements, since their factors are pairs.
    Reductions are sum, prod, min, max, count, mean, any, all, argmin, argmax, var and std (over squared deviations from
    the mean), first_index and last_index (the number of the first or last element, None without any), and the
    associative operators of `reduce`: "reduce_add" and so on, with the starting value kept outside. Var and std divide
    by the number of elements less `ddof`. A scan or fold applies `fn` to the value so far and an element, in the order
    of the elements, from `init` on (one source for each number of a tuple; none: from the first element); both may be
    complex, or tuples. "affine" is a scan in a variant of a loop, over what its elements add to `factor` times the
    value so far, with `doubtful` zeros (ir/affine.py). `wraps`: integers that go from one element to the
    next wrap around.
    """

    kind: str
    text: str = ""
    span: Span = NOWHERE
    ddof: float = 0.0
    fn: Fn | None = None
    init: tuple[Source, ...] = ()
    factor: Expr | None = None
    doubtful: str = ""
    wraps: bool = False


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
    parameters: tuple[tuple[Expr, Source], ...] = ()
    """Captured numbers that change from run to run: what stands for them in functions, and where they lie."""

    @property
    def others(self) -> tuple[Source, ...]:
        """The sources of the stages, in their order."""
        return tuple(source for stage in self.stages for source in stage.sources)

    @property
    def sources(self) -> tuple[Source, ...]:
        """What it goes over: its own source and those of the stages."""
        return self.source, *self.others
