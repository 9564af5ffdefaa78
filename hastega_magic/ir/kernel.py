"""Level 3, Kernel: the loop as the machine runs it. Loads, guards, accumulations and stores under a Schedule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TypeVar

from hastega_magic.errors import Span
from hastega_magic.interval import Interval
from hastega_magic.ir.expr import Expr
from hastega_magic.ir.origins import Origins
from hastega_magic.ir.pipeline import Source, Table
from hastega_magic.ir.schedule import Schedule
from hastega_magic.records import dataclass
from hastega_magic.types import INT, RESULT_STORAGE, ScalarType

TURN_NEEDS_PYTHON = "turns of a loop that need Python"
"""Why the guard is there that every loop inside a kernel has."""

OK, VIOLATED, TROUBLE, LATE = 0, 1, 2, 3
"""What a block reports: done; the source left the interval this variant assumes; Python must evaluate it.

LATE, on devices that cannot be asked to stop: it made as many turns of loops as it may in one launch.
"""


@dataclass(frozen=True)
class Assume:
    """The variant is right only where the loaded value lies in the interval; other blocks report `status`."""

    load: Expr
    interval: Interval
    status: int


@dataclass(frozen=True)
class Guard:
    """Where the condition holds for an element, its block reports TROUBLE."""

    condition: Expr
    reason: str


@dataclass(frozen=True)
class Product:
    """A step of an integer product in 128 bits: nodes over leaves that stand for what they are called.

    The value so far is excess · 2^64 + low, both of them int64. The step multiplies by `factor`, an int64; where
    `trouble` holds, 128 bits may not hold the product.
    """

    low: Expr
    excess: Expr
    factor: Expr
    new_low: Expr
    new_excess: Expr
    trouble: Expr

    def roots(self) -> list[Expr]:
        """The nodes of a step."""
        return [self.new_low, self.new_excess, self.trouble]


@dataclass(frozen=True)
class Accumulate:
    """Fold the value of each element under the mask into the block's partial result.

    kind: "add", "mul", "min", "max", "and", "or", "xor" or "count". `wide`: an integer sum that a block of int64
    might not hold is left in two words: 2^32 times the first, signed, plus the second.
    `product`: how an integer product goes on. `high`: the extremes of integers that 128 bits hold are folded in
    two words, of which `value` is the low one, and this what is beyond it: the integer is high · 2^64 + value.
    """

    kind: str
    value: Expr
    mask: Expr | None
    wide: bool = field(default=False, compare=False)
    product: Product | None = field(default=None, compare=False)
    high: Expr | None = None

    @property
    def words(self) -> int:
        """How many 8-byte words a block's partial result takes.

        An integer sum is split at bit 32, wide or not; what is folded in 128 bits has its excess, then its low word.
        """
        halves = self.kind in ("add", "mul") and self.value.type is INT
        return 2 if halves or self.high is not None else 1


@dataclass(frozen=True)
class Step:
    """The value so far and an element (leaves), what becomes of them, and when Python must do it.

    Of complex numbers each has two parts. `init`: slots of the sources that hold the starting value's; empty: the first
    element is the first value.
    """

    totals: tuple[Expr, ...]
    elements: tuple[Expr, ...]
    results: tuple[Expr, ...]
    guards: tuple[Expr, ...]
    init: tuple[int, ...] = ()
    given: tuple[tuple[Expr, int], ...] = ()
    """Captured numbers that it reads, as leaves, and the slots of the sources that hold them."""

    def roots(self) -> list[Expr]:
        """The nodes of a step."""
        return [*self.results, *self.guards]


@dataclass(frozen=True)
class Factor:
    """What an affine step multiplies the value so far by: a constant, or what captured numbers (`given`) come to.

    The same for all elements. Where a guard is true, or rows cannot be computed with it (ir/affine.py), there are no
    results: they are NaN. `doubtful`: which zeros are no results either; of some factors all.
    """

    value: Expr
    guards: tuple[Expr, ...] = ()
    given: tuple[tuple[Expr, int], ...] = ()
    doubtful: str = ""


@dataclass(frozen=True)
class Store:
    """Write the value to result number `slot`: at the element's own place, or, with a mask, densely packed.

    running: "cumsum" (running sums are written instead), "affine" (`factor` times the value so far, plus the value:
    from what source `init` holds on, if any; blocks with results that are not finite, or doubtful, report VIOLATED),
    "scan" (every value of `step`), "fold" (its last value alone, at place 0), or "".

    A step has as many stores, one after the other, as its elements or its values have parts, whichever are more: store
    number `part` of them holds that part of both. So has an element of which the `fields` lie side by side in memory,
    one record after the other: they are written together.
    """

    slot: int
    value: Expr
    mask: Expr | None
    running: str = ""
    step: Step | None = None
    factor: Factor | None = None
    init: int | None = None
    part: int = 0
    fields: int = 1
    wraps: bool = False
    """Whether running sums of integers wrap around; else a block in which one leaves int64 reports TROUBLE."""

    @property
    def type(self) -> ScalarType:
        """What is written: values, or what a step makes of them."""
        return self.value.type if self.step is None or not self.written else self.step.totals[self.part].type

    @property
    def in_place(self) -> bool:
        """Whether what is written has room where the element lies; numbers of NumPy's and of Python's are alike."""
        return RESULT_STORAGE[self.type] is RESULT_STORAGE[self.value.type]

    @property
    def written(self) -> bool:
        """Whether there is a result; a step's values may have fewer parts than its elements."""
        return self.step is None or self.part < len(self.step.totals)


MOST_FIELDS = 4
"""Numbers of an element that are put together in registers."""


def are_fields(types: Sequence[ScalarType]) -> bool:
    """Whether the numbers of an element may be stored as one record: several, of one size."""
    sizes = {RESULT_STORAGE[each].size for each in types}
    return 2 <= len(types) <= MOST_FIELDS and len(sizes) == 1


ROW_BY_ROW = frozenset({"cumsum", "affine"})
"""Running values that are computed in rows (ir/scan.py)."""

Statement = Assume | Guard | Accumulate | Store
T = TypeVar("T", Assume, Guard, Accumulate, Store)


def nodes_of(statement: Statement) -> list[Expr]:
    """The nodes that a statement uses."""
    match statement:
        case Assume(load=node) | Guard(condition=node):
            return [node]
        case Accumulate(value=value, mask=mask, high=high):
            return [node for node in (mask, high, value) if node is not None]
        case Store(value=value, mask=mask):
            return [value] if mask is None else [mask, value]


def in_any_order(statement: Statement) -> bool:
    """Whether elements may be done in any order, of which floats would tell, and have places of their own."""
    if isinstance(statement, Accumulate):
        return statement.kind != "mul" and not statement.value.type.is_float
    return not isinstance(statement, Store) or (statement.mask is None and not statement.running)


@dataclass(frozen=True)
class Kernel:
    """One loop. `body` in the order it is emitted; `ranges`, `spans` and `origins` as in Fused.

    `serves`: for each statement of the body the numbers of the loop's outputs that it is there for. `located`: the
    generated text is to say which line of the printed kernel its instructions come from, where it can.
    """

    sources: tuple[Source, ...]
    tables: tuple[Table, ...]
    body: tuple[Statement, ...]
    schedule: Schedule
    ranges: Mapping[Expr, Interval] = field(default_factory=dict[Expr, Interval], compare=False)
    spans: Mapping[Expr, tuple[Span, ...]] = field(
        default_factory=dict[Expr, tuple[Span, ...]], compare=False
    )
    origins: Origins = field(default_factory=dict[Expr, tuple[Expr, ...]], compare=False)
    serves: tuple[tuple[int, ...], ...] = field(default=(), compare=False)
    located: bool = field(default=True, compare=False)

    def of(self, kind: type[T]) -> list[T]:
        """The statements of one kind, in order."""
        return [statement for statement in self.body if isinstance(statement, kind)]

    def roots(self) -> list[Expr]:
        """The nodes that statements use."""
        return [node for statement in self.body for node in nodes_of(statement)]
