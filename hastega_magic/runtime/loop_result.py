"""What a loop leaves, whichever back end runs it: results, partial results, statuses; and memory for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from hastega_magic.ir import abi
from hastega_magic.ir.kernel import Store
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.records import dataclass
from hastega_magic.runtime.buffers import allocate
from hastega_magic.runtime.sources import AnyArray
from hastega_magic.runtime.windows import Gathered, Sought
from hastega_magic.types import RESULT_STORAGE


@dataclass
class LoopResult:
    """What a loop left: result arrays by store slot (packed ones with spare room), partial results, and statuses.

    `partials[k]` belongs to accumulation k: shape (blocks, words), int64 or float. `kept[b, g]` counts the
    elements that block b packed in group g, where there are groups. `convert_seconds`: before native code, for it to
    have its arguments; `compile_seconds`: for what goes through lists of a kind, the first time.
    """

    length: int
    arrays: list[AnyArray]
    partials: list[AnyArray]
    status: AnyArray
    kept: AnyArray
    groups: tuple[int | None, ...]
    moved_in: int = 0
    convert_seconds: float = 0.0
    compile_seconds: float = 0.0
    kernel_seconds: float = 0.0
    blocks_run: int = 0
    before: int = 0
    """Elements of results that are in the arrays no more: these begin with the next ones."""
    totals: Sequence[int | float] = ()
    """Sums of those partial results of which they were asked for."""
    window: int = 0
    """Blocks of which statuses and partial results are there at a time; 0: all."""
    begin: int = 0
    """The first of those."""
    gathered: Gathered | None = None
    """What the partial results of the blocks before them fold to."""
    numbers: AnyArray | None = None
    """Of the blocks that partial results are of, where windows left few; None: of all, in their order."""
    packed: AnyArray | int = 0
    """By group the elements that the blocks of the windows before packed."""

    def packed_length(self, slot: int) -> int:
        """How many elements store `slot` holds."""
        group = self.groups[slot]
        return self.length if group is None else int(self.kept[:, group].sum())

    def next_window(self) -> bool:
        """The window's blocks are done, without trouble; whether there are others behind them."""
        assert self.gathered is not None
        blocks = min(self.window, -(-self.length // BLOCK) - self.begin)
        self.gathered.take([rows[:blocks] for rows in self.partials], self.begin)
        self.packed = self.packed + self.kept[:blocks].sum(axis=0, keepdims=True)
        self.begin += self.window
        if self.begin * BLOCK < self.length:
            return True
        self.partials, self.numbers = self.gathered.rows()
        self.kept = np.asarray(self.packed)
        self.status = np.zeros(len(self.numbers), np.uint8)
        self.window, self.begin, self.gathered = 0, 0, None
        return False

    def ends_at(self, length: int) -> None:
        """There were fewer elements than there is room for."""
        blocks = -(-length // BLOCK)
        self.length, self.status, self.kept = length, self.status[:blocks], self.kept[:blocks]
        self.partials = [partial[:blocks] for partial in self.partials]


@dataclass(frozen=True)
class Stretch:
    """Elements `first` to `stop` of a loop, run alone, into the memory of the whole loop's result.

    `first` is a multiple of the block, and so is `stop`, unless it is the loop's end. Packed results of a stretch begin
    at place `first` of their arrays.
    """

    first: int
    stop: int
    result: LoopResult


def room(
    plan: abi.Layout,
    length: int,
    stretch: Stretch | None = None,
    beside: Sequence[tuple[int, int]] = (),
    gathered: tuple[int, Sequence[Sought]] = (0, ()),
    *,
    most: bool = False,
) -> LoopResult:
    """Memory for what a kernel of this layout leaves of `length` elements; of a stretch, it is there already.

    `most`: there may be fewer elements. `beside`: address and stride in bytes of what it reads meanwhile. `gathered`:
    the blocks of a window, unless 0, and the extremes that are sought.
    """
    window, sought = gathered if stretch is None else (stretch.result.window, ())
    blocks = window or -(-length // BLOCK)
    kept = np.zeros((blocks, plan.group_count) if plan.group_count else (1, 1), np.int64)
    if stretch is not None:
        return replace(
            stretch.result, kept=kept, groups=plan.groups, moved_in=0, convert_seconds=0.0, kernel_seconds=0.0,
            compile_seconds=0.0, blocks_run=0,
        )  # fmt: skip
    arrays: list[AnyArray] = []
    for stores in plan.rooms:
        size = sum(RESULT_STORAGE[store.type].size for store in stores)
        near = [address for address, stride in beside if stride == size]
        whole = min(length, 1) if stores[0].running == "fold" else length
        packed = any(store.mask is not None for store in stores)
        arrays += results(stores, whole, near, packed=most or packed)
    partials = [
        np.zeros((blocks, fold.words), _partial_type(fold.kind, fold.value.type.value)) for fold in plan.folds
    ]
    found = LoopResult(length, arrays, partials, np.zeros(blocks, np.uint8), kept, plan.groups, window=window)
    found.gathered = Gathered(plan.folds, sought) if window else None
    return found


def results(
    stores: Sequence[Store], length: int, near: Sequence[int] = (), *, packed: bool = False
) -> list[AnyArray]:
    """Memory for `length` results of stores that share it; `near`: what is read beside, as `allocate` has it."""
    if len(stores) == 1:
        return [allocate(length, RESULT_STORAGE[stores[0].type].name, near, packed=packed)]
    record = record_of(stores)
    whole = allocate(length * record.itemsize, "uint8", near, packed=packed).view(record)
    return [whole[field] for field in record.names or ()]


def record_of(stores: Sequence[Store]) -> np.dtype[Any]:
    """The dtype of the records that such stores write."""
    return _record(tuple(RESULT_STORAGE[store.type].name for store in stores))


@cache
def _record(names: tuple[str, ...]) -> np.dtype[Any]:
    return np.dtype([(f"f{number}", name) for number, name in enumerate(names)])


def blocks_of(status: AnyArray, kind: int) -> AnyArray:
    """Numbers of the blocks with that status, which mostly none has: bytes are searched in no time."""
    if kind not in status.tobytes():
        return _NONE
    return np.flatnonzero(status == kind).astype(np.int64)


_NONE = np.zeros(0, np.int64)


def _partial_type(kind: str, type_: str) -> str:
    if kind == "count" or not type_.startswith("float"):
        return "int64"
    return "float64"


__all__ = ["LoopResult", "Stretch", "blocks_of", "record_of", "results", "room"]
