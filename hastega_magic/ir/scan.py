"""The fixed shape of running floats: the same bits whatever the vector width, threads or back end.

Rows of 8 elements are summed by lanes 1, 2 and 4 apart (missing elements count as -0.0); the row's sums are added to
the sum of the block's rows before it; these to the sum of all blocks before. A block has 4096 elements.

An affine step (ir/affine.py), acc' = factor * acc + x, is computed in the same rows, where what comes from lanes 1, 2
and 4 to the left is multiplied by that power of the factor. Eight rows are a row of rows, whose last values are
combined in the same way; then one row of rows after the other, from the value before it. Without a starting value that
is a missing element too.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from hastega_magic.ir.affine import all_in_doubt
from hastega_magic.ir.reduction import Floats
from hastega_magic.ir.schedule import BLOCK

ROW = 8
"""Elements that are summed side by side."""

SAFE_BITS = 50
"""Ints of so many bits cannot overflow within a block; larger ones are left to Python."""

Number = TypeVar("Number", float, str)


def powers(factor: Number, times: Callable[[Number, Number], Number]) -> tuple[Number, ...]:
    """The factor to the powers 1 to 8, by squaring; `times` gives the product of two of them."""
    second = times(factor, factor)
    fourth = times(second, second)
    third = times(second, factor)
    return (factor, second, third, fourth, *(times(fourth, each) for each in (factor, second, third, fourth)))


def running_affine(values: Floats, factor: float, start: float = -0.0, doubtful: str = "") -> Floats | None:
    """The value so far times the factor, plus the element, from `start` on: shape and dtype as the values' (float64).

    None where a result is not finite, or a zero that is `doubtful` (ir/affine.py): what follows it, or its sign, is
    right only in the order of the elements.
    """
    power = np.array(powers(factor, operator.mul))
    further = np.array(powers(float(power[-1]), operator.mul))
    grid = np.full((-(-len(values) // ROW**2), ROW, ROW), -0.0)
    grid.reshape(-1)[: len(values)] = values
    with np.errstate(all="ignore"):
        grid = _combined(grid, power)
        lasts = _combined(grid[:, :, -1], further)
        starts = np.empty((len(grid), 1))
        for number in range(len(grid)):
            starts[number] = start
            start = start * further[-1] + lasts[number, -1]
        before = starts * np.concatenate([[1.0], further[:-1]]) + _moved(lasts, 1)
        found = (before[:, :, None] * power + grid).reshape(-1)[: len(values)]
    everywhere = all_in_doubt(factor, doubtful)
    in_doubt = (found == 0) & (everywhere | (np.signbit(found) & (doubtful == "negative")))
    return found if (np.isfinite(found) & ~in_doubt).all() else None


def _combined(rows: Floats, power: Floats) -> Floats:
    """Each place of a row with what lies to the left of it, times powers of the factor."""
    for apart in (1, 2, 4):
        rows = rows + _moved(rows, apart) * power[apart - 1]
    return rows


def _moved(rows: Floats, apart: int) -> Floats:
    """So many places to the right, where missing elements come in."""
    found = np.full_like(rows, -0.0)
    found[..., apart:] = rows[..., :-apart]
    return found


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
