"""Partial results of vast loops: of a window of blocks at a time, and what those of the blocks before it fold to.

A range of 10^11 numbers has 24 million blocks, of which a sum needs none. So the partial results of a window are folded
into 64 rows before the next window's take their place: row r stands for the blocks whose number is r modulo 64, as
lanes of the fixed tree do (`ir/reduction.py`), and floats have the bits of all rows folded at once. Extremes may be
looked for again in the block that gave them, so their rows are those of blocks: the first one with any element, and
the first one with the extreme.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from hastega_magic.ir.kernel import Accumulate
from hastega_magic.ir.reduction import PROD_NEUTRAL, SUM_NEUTRAL, tree_lanes
from hastega_magic.ir.schedule import VIRTUAL_LANES
from hastega_magic.runtime.results import exact_product, exact_sum, first_best
from hastega_magic.runtime.sources import AnyArray
from hastega_magic.types import FLOAT32

LANES = VIRTUAL_LANES

WORDS = 1 << 21
"""Of partial results that are there at a time: 16 MiB, and as much again while they are folded."""

_LOW = (1 << 32) - 1
_OFTEN = {"min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or}
"""Folds in which a value may take part any number of times."""


class Sought(NamedTuple):
    """An extreme: the numbers of its accumulation and of the one that counts its elements; the least, or greatest."""

    value: int
    counts: int
    least: bool


def window_of(folds: Sequence[Accumulate], blocks: int) -> int:
    """How many blocks a window of so many is to have, a power of two and at least 64; 0 where it is to have all."""
    words = sum(fold.words for fold in folds)
    most = max(LANES, 1 << (WORDS // max(1, words)).bit_length() - 1)
    return most if blocks > most else 0


class Gathered:
    """What the partial results of the windows so far fold to."""

    def __init__(self, folds: Sequence[Accumulate], sought: Sequence[Sought]) -> None:
        """No window is done yet."""
        self._folds, self._sought = folds, sought
        self._values = {each.value for each in sought}
        self._lanes: list[AnyArray | None] = [None] * len(folds)
        self._numbers: AnyArray = np.zeros(0, np.int64)
        """Blocks whose own partial results are kept."""
        self._rows: dict[int, AnyArray] = {}
        """By accumulation."""

    def take(self, partials: Sequence[AnyArray], begin: int) -> None:
        """The partial results of a window's blocks, the first of which has that number, a multiple of 64."""
        for number, (fold, rows) in enumerate(zip(self._folds, partials, strict=True)):
            if number not in self._values:
                self._lanes[number] = _joined(fold, self._lanes[number], rows)
        if not self._sought:
            return
        there = {number: partials[number] for each in self._sought for number in (each.value, each.counts)}
        found = self._wanted(there)
        numbers = np.concatenate([self._numbers, begin + found])
        there = {
            number: np.concatenate([self._rows[number], rows[found]]) if self._rows else rows[found]
            for number, rows in there.items()
        }
        found = self._wanted(there)
        self._numbers, self._rows = numbers[found], {number: rows[found] for number, rows in there.items()}

    def _wanted(self, rows: Mapping[int, AnyArray]) -> AnyArray:
        """The rows of the first blocks with any element, and of the first with an extreme, in their order."""
        found = set[int]()
        for each in self._sought:
            live = np.flatnonzero(rows[each.counts][:, 0] > 0)
            if len(live):
                found |= {int(live[0]), int(live[first_best(rows[each.value][live], each.least)])}
        return np.array(sorted(found), np.int64)

    def rows(self) -> tuple[list[AnyArray], AnyArray]:
        """All of it as partial results, and the numbers of the blocks that rows stand for: -1 for those of lanes."""
        counts, count = {each.counts for each in self._sought}, len(self._numbers)
        found: list[AnyArray] = []
        for number, (fold, lanes) in enumerate(zip(self._folds, self._lanes, strict=True)):
            own = self._rows.get(number)
            if lanes is None:  # no block, no count
                assert own is not None
                found.append(np.concatenate([np.zeros((LANES, fold.words), own.dtype), own]))
                continue
            rows = np.concatenate([lanes, np.full((count, fold.words), _neutral(fold, lanes), lanes.dtype)])
            if number in counts:
                assert own is not None
                rows[0], rows[LANES:] = 0, own
                if (own > 0).any():  # with which the others are counted
                    rows[LANES + int(np.flatnonzero(own > 0)[0])] += lanes[0] - own.sum()
            found.append(rows)
        return found, np.concatenate([np.full(LANES, -1), self._numbers])


def _joined(fold: Accumulate, before: AnyArray | None, rows: AnyArray) -> AnyArray:
    """What partial results fold to behind those that folded to `before`.

    before, result   shape (64, words), int64 or float64, or objects: exact ints
    rows             shape (blocks, words), int64 or float64
    """
    parts = [rows] if before is None else [before, rows]
    if fold.kind in ("add", "mul") and fold.value.type.is_float:
        column = np.concatenate([part[:, 0] for part in parts])
        if fold.value.type is FLOAT32:
            column = column.astype(np.float32)
        return tree_lanes(column, fold.kind == "mul").astype(np.float64)[:, np.newaxis]
    match fold.kind:
        case "count":
            return _with_first(np.zeros((LANES, 1), np.int64), [sum(int(part.sum()) for part in parts)])
        case "add":
            total = sum(map(exact_sum, parts))
            return _with_first(np.zeros((LANES, 2), object), [total >> 32, total & _LOW])
        case "mul":
            neutral: AnyArray = np.full((LANES, 2), (0, 1), object)
            return _with_first(neutral, [0, math.prod(map(exact_product, parts))])
        case "xor":
            found = np.bitwise_xor.reduce(np.concatenate(parts)[:, 0])
            return _with_first(np.zeros((LANES, 1), np.int64), [found])
        case _:
            often = _OFTEN[fold.kind]
            return np.full((LANES, 1), often.reduce([often.reduce(part[:, 0]) for part in parts]), np.int64)


def _with_first(rows: AnyArray, words: Sequence[object]) -> AnyArray:
    rows[0] = words
    return rows


def _neutral(fold: Accumulate, lanes: AnyArray) -> object:
    """The words of a row that changes nothing behind those of the lanes."""
    if fold.kind in _OFTEN:
        return lanes[0, 0]
    if fold.value.type.is_float and fold.kind != "count":
        return PROD_NEUTRAL if fold.kind == "mul" else SUM_NEUTRAL
    return (0, 1) if fold.kind == "mul" else 0


__all__ = ["LANES", "WORDS", "Gathered", "Sought", "window_of"]
