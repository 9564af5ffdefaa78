"""Partial results of vast loops: of a window of blocks at a time, and what those of the blocks before it fold to.

A range of 10^11 numbers has 24 million blocks. Where nobody asks which block gave what, as sums do not, the partial
results of a window are folded into 64 rows before the next window's take their place. Row r stands for the blocks
whose number is r modulo 64, as lanes of the fixed tree do (`ir/reduction.py`): floats have the bits of all rows folded
at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hastega_magic.ir.kernel import Accumulate
from hastega_magic.ir.reduction import tree_lanes
from hastega_magic.ir.schedule import VIRTUAL_LANES
from hastega_magic.runtime.results import exact_sum
from hastega_magic.runtime.sources import AnyArray
from hastega_magic.types import FLOAT32

ROWS = VIRTUAL_LANES

WORDS = 1 << 21
"""Of partial results that are there at a time: 16 MiB, and as much again while they are folded."""

_REPEATED = {"min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or}
"""Folds in which a value may take part any number of times."""


def window_of(folds: Sequence[Accumulate], blocks: int) -> int:
    """How many blocks a window of so many is to have, a power of two and at least 64; 0 where it is to have all."""
    words = sum(fold.words for fold in folds)
    most = max(ROWS, 1 << (WORDS // max(1, words)).bit_length() - 1)
    return most if blocks > most and all(map(_is_known, folds)) else 0


def _is_known(fold: Accumulate) -> bool:
    """Products overflow any number of bits, and extremes of floats are looked for again where they were found."""
    if fold.kind in ("add", "count"):
        return True
    return (
        (fold.kind in _REPEATED or fold.kind == "xor") and fold.high is None and not fold.value.type.is_float
    )


def joined(fold: Accumulate, before: AnyArray | None, rows: AnyArray) -> AnyArray:
    """What partial results fold to behind those that folded to `before`.

    before, result   shape (64, words), int64 or float64, or objects: exact ints
    rows             shape (blocks, words), int64 or float64
    """
    parts = [rows] if before is None else [before, rows]
    if fold.kind == "count":
        return _in_first_row([sum(int(part.sum()) for part in parts)], "int64")
    if fold.kind == "add" and fold.value.type.is_float:
        column = np.concatenate([part[:, 0] for part in parts])
        if fold.value.type is FLOAT32:
            column = column.astype(np.float32)
        return tree_lanes(column).astype(np.float64)[:, np.newaxis]
    if fold.kind == "add":
        total = sum(map(exact_sum, parts))
        return _in_first_row([total >> 32, total & ((1 << 32) - 1)], "object")
    if fold.kind == "xor":
        return _in_first_row([np.bitwise_xor.reduce(np.concatenate(parts)[:, 0])], "int64")
    each = [_REPEATED[fold.kind].reduce(part[:, 0]) for part in parts]
    return np.full((ROWS, 1), _REPEATED[fold.kind].reduce(each), "int64")


def _in_first_row(words: Sequence[object], dtype: str) -> AnyArray:
    found: AnyArray = np.zeros((ROWS, len(words)), dtype)
    found[0] = words
    return found


__all__ = ["ROWS", "WORDS", "joined", "window_of"]
