"""Captured arrays and lists that are others in each run: code reads memory, and takes for granted only its kind.

for turn in range(1000):
board = range(n) |> map(lambda k: rule(board, k))    `board` is another array in each turn
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.fastpath.slots import DoesNotFit
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import NotCompilable
from hastega_magic.records import changed, dataclass
from hastega_magic.runtime.cpu.direct import DirectCall
from hastega_magic.runtime.objects import lists
from hastega_magic.runtime.objects.rows import numbers_of, row_reader
from hastega_magic.runtime.sources import AnyArray
from hastega_magic.runtime.tables import TableColumn, described_table
from hastega_magic.syntax.closures.captured import Captured
from hastega_magic.syntax.values.dimensions import shape_of


@dataclass(frozen=True)
class Varied:
    """A captured array. `reads`: the variables that hold it, all of them the same one."""

    slot: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    reads: tuple[Callable[[Sequence[Any]], Any], ...]

    def now(self, arguments: Sequence[object]) -> AnyArray:
        """The array of this run; DoesNotFit if it is of another kind, or the variables hold several."""
        array = self.reads[0](arguments)
        if type(array) is not np.ndarray or array.dtype != self.dtype or array.shape != self.shape:
            raise DoesNotFit
        flags = array.flags
        if not (flags.c_contiguous and flags.aligned):
            raise DoesNotFit
        for read in self.reads[1:]:
            if read(arguments) is not array:
                raise DoesNotFit
        return array

    def enter(self, direct: DirectCall, arguments: Sequence[object]) -> object:
        """Have a loop, whose lock is held, read that of this run; what is to stay until it ends."""
        array = self.now(arguments)
        direct.reads(self.slot, array)
        return array


@dataclass(frozen=True)
class VariedList(Varied):
    """A captured list of numbers, of which functions look up items alone. It may have any length."""

    intake: lists.Intake

    def now(self, arguments: Sequence[object]) -> AnyArray:
        """Its numbers in this run; DoesNotFit if they are of another kind, or the variables hold several."""
        data = self.held(arguments)
        array = np.empty(len(data), self.dtype)
        if not data or not lists.read(data, self.intake.type, array):
            raise DoesNotFit
        return array

    def enter(self, direct: DirectCall, arguments: Sequence[object]) -> object:
        """Have a loop, whose lock is held, read those of this run, in memory that is kept if they are few."""
        data, intake = self.held(arguments), self.intake
        count = len(data)
        if not 0 < count <= lists.SHORT:
            return super().enter(direct, arguments)
        if not intake.read(data, count):
            raise DoesNotFit
        direct.points(self.slot, intake.address, intake.size, count)
        return None

    def held(self, arguments: Sequence[object]) -> list[object]:
        """The list of this run."""
        return _held(self, arguments)


@dataclass(frozen=True)
class VariedRows(Varied):
    """A captured list of equally long rows of numbers, of which functions look up items of items alone."""

    ends: AnyArray
    """How many numbers there are as far as each row's end, shape (rows,)."""

    def now(self, arguments: Sequence[object]) -> AnyArray:
        """Its numbers in this run, one row after the other; DoesNotFit if they are of another kind, or shape."""
        data = _held(self, arguments)
        numbers = numbers_of(data, bounds=True) if len(data) == len(self.ends) else None
        if numbers is None or numbers.bounds is None or numbers.flat.dtype != self.dtype:
            raise DoesNotFit
        if not np.array_equal(numbers.bounds[1:], self.ends):
            raise DoesNotFit
        return numbers.flat


def _held(known: Varied, arguments: Sequence[object]) -> list[object]:
    """The list that its variables hold in this run."""
    data = known.reads[0](arguments)
    if type(data) is not list:
        raise DoesNotFit
    for read in known.reads[1:]:
        if read(arguments) is not data:
            raise DoesNotFit
    return cast("list[object]", data)


def captured_lists(workspace: Workspace) -> list[object]:
    """The lists of numbers, and of rows of these, of which functions look up items alone; native code can read them."""
    pairs = zip(workspace.captured, workspace.table_columns, strict=True)
    return [
        value
        for value, column in pairs
        if type(value) is list
        and not workspace.lists[id(cast(object, value))]
        and (type_ := lists.TYPES.get(column.data.dtype.name)) is not None
        and _is_readable(cast(object, value), type_)
    ]


def _is_readable(value: object, type_: type) -> bool:
    """Whether native code reads the numbers of this type in a list of them, or of rows of them."""
    if shape_of(value) is None:
        return lists.reader(type_) is not None
    return _rows_in(value) is not None and row_reader(type_) is not None


def _rows_in(value: object) -> tuple[int, int] | None:
    """How many rows a list of these has, and numbers in each; None for a list of numbers, or of rows of rows."""
    match shape_of(value):
        case (rows, numbers):
            return rows, numbers
        case _:
            return None


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
    for slot, each in enumerate(workspace.captured):
        reads = known.arrays.get(id(each))
        if reads and type(each) is list:
            dtype, rows = workspace.table_columns[slot].data.dtype, _rows_in(cast(object, each))
            if rows is not None:
                ends = np.arange(1, rows[0] + 1) * rows[1]
                found.append(VariedRows(slot, dtype, rows, reads, ends))
                continue
            reader = lists.reader(lists.TYPES[dtype.name])
            assert reader is not None
            found.append(VariedList(slot, dtype, (), reads, lists.Intake(reader)))
    return tuple(found)


def without_varied(tables: Sequence[TableColumn], arrays: Sequence[Varied]) -> list[TableColumn]:
    """The captured arrays and lists, by slot, with no elements in those that may be others in each run."""
    kept = list(tables)
    for each in arrays:
        kept[each.slot] = changed(kept[each.slot], data=np.empty(0, each.dtype))
    return kept


def tables_now(
    tables: Sequence[TableColumn], arrays: Sequence[Varied], arguments: Sequence[object]
) -> list[TableColumn]:
    """The captured arrays and lists of this run, by slot."""
    now = list(tables)
    for each in arrays:
        if isinstance(each, VariedRows):
            now[each.slot] = changed(now[each.slot], data=each.now(arguments))
            continue
        data = each.held(arguments) if isinstance(each, VariedList) else each.now(arguments)
        try:
            found = described_table(data, now[each.slot].table.name)
        except NotCompilable:
            raise DoesNotFit from None
        if found.data.dtype != each.dtype:
            raise DoesNotFit
        now[each.slot] = found
    return now


__all__ = ["Varied", "captured_arrays", "captured_lists", "tables_now", "varied", "without_varied"]
