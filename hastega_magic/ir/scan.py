"""The fixed shape of running float sums: the same bits whatever the vector width, threads or back end.

Rows of 8 elements are summed by lanes 1, 2 and 4 apart (missing elements count as -0.0); the row's sums are added to
the sum of the block's rows before it; these to the sum of all blocks before. A block has 4096 elements.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hastega_magic.ir.schedule import BLOCK

ROW = 8
"""Elements that are summed side by side."""

SAFE_BITS = 50
"""Ints of so many bits cannot overflow within a block; larger ones are left to Python."""

Floats = npt.NDArray[np.floating[Any]]


def running_sums(values: Floats) -> Floats:
    """The sum of the elements so far, at each of them: shape and dtype as the values'."""
    rows = -(-len(values) // ROW)
    grid = np.full((rows, ROW), -0.0, values.dtype)
    grid.reshape(-1)[: len(values)] = values
    with np.errstate(all="ignore"):
        for apart in (1, 2, 4):
            moved = np.full_like(grid, -0.0)
            moved[:, apart:] = grid[:, :-apart]
            grid = grid + moved
        carry, rows_of_block = values.dtype.type(0), BLOCK // ROW
        for start in range(0, rows, rows_of_block):
            block = grid[start : start + rows_of_block]
            before = np.concatenate([[values.dtype.type(-0.0)], block[:, -1]]).astype(values.dtype)
            totals = np.add.accumulate(before)  # one after the other
            block += totals[:-1, None]
            block += carry
            carry = carry + totals[-1]
    return grid.reshape(-1)[: len(values)]
