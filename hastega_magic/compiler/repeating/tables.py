"""Captured arrays that are others in each run: code reads their memory, and takes for granted only what kind they are.

for turn in range(1000):
board = range(n) |> map(lambda k: rule(board, k))    `board` is another array in each turn
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hastega_magic.compiler.repeating.slots import Again
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.records import dataclass
from hastega_magic.runtime.sources import AnyArray
from hastega_magic.runtime.tables import TableColumn, described_table
from hastega_magic.syntax.closures.captured import Captured


@dataclass(frozen=True)
class Varied:
    """A captured array. `reads`: the variables that hold it, all of them the same one."""

    slot: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    reads: tuple[Callable[[Sequence[Any]], Any], ...]

    def now(self, arguments: Sequence[object]) -> AnyArray:
        """The array of this run; Again if it is of another kind, or the variables hold several."""
        array = self.reads[0](arguments)
        if type(array) is not np.ndarray or array.dtype != self.dtype or array.shape != self.shape:
            raise Again
        flags = array.flags
        if not (flags.c_contiguous and flags.aligned):
            raise Again
        for read in self.reads[1:]:
            if read(arguments) is not array:
                raise Again
        return array


def captured_arrays(workspace: Workspace) -> list[AnyArray]:
    """The arrays among what the loops of a workspace read anywhere."""
    return [each for each in workspace.captured if type(each) is np.ndarray]


def varied(known: Captured, workspace: Workspace) -> tuple[Varied, ...]:
    """Those that may be others in each run."""
    found: list[Varied] = []
    slots = {id(value): slot for slot, value in enumerate(workspace.captured)}
    for array in captured_arrays(workspace):
        reads = known.arrays.get(id(array))
        if reads:
            found.append(Varied(slots[id(array)], array.dtype, array.shape, reads))
    return tuple(found)


def tables_now(
    tables: Sequence[TableColumn], arrays: Sequence[Varied], arguments: Sequence[object]
) -> list[TableColumn]:
    """The captured arrays of this run, by slot."""
    now = list(tables)
    for each in arrays:
        now[each.slot] = described_table(each.now(arguments), now[each.slot].table.name)
    return now


__all__ = ["Varied", "captured_arrays", "tables_now", "varied"]
