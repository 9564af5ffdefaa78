"""The sources of a statement that runs again: whether a run's operands are like those of the first, and their words."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.execute import Execution
from hastega_magic.compiler.workspace import Parameter, Workspace
from hastega_magic.errors import NotCompilable
from hastega_magic.interval import INT64, Interval
from hastega_magic.ir.expr import Expr
from hastega_magic.ir.pipeline import Source, stride_of
from hastega_magic.records import changed, dataclass
from hastega_magic.runtime.addresses import words_of
from hastega_magic.runtime.buffer_protocol import BUFFERS, in_memory
from hastega_magic.runtime.columnar import numbers
from hastega_magic.runtime.objects.fields import Field, read
from hastega_magic.runtime.objects.lists import SHORT, TYPES, WORTH, Intake, Reader, reader
from hastega_magic.runtime.sources import AnyArray, Column
from hastega_magic.syntax.closures.captured import Free
from hastega_magic.syntax.closures.contained import Where
from hastega_magic.syntax.closures.numbers import counted
from hastega_magic.types import FLOAT, FLOAT32, FLOAT64, INT, ScalarType


class DoesNotFit(Exception):
    """What is known of an earlier run is of no use for this one: the statement is to be run as for the first time."""


@dataclass
class Slot:
    """A source of the loop; one that can be had over other objects is of a class below, which knows their kind.

    `operand`: which of the statement's sources (0: the source, then `zip`'s and `dot`'s).
    """

    operand: int
    source: Source
    interval: Interval | None
    """What the compiled code takes for granted."""
    reader: Reader | None = None
    """Of lists: native code that reads their elements, and looks at the types."""
    intake: Intake | None = None
    """Where they are read to."""

    def length(self, data: Any) -> int:
        """The number of elements; DoesNotFit if the object is of another kind."""
        raise DoesNotFit

    def now(self, data: Any, workspace: Workspace) -> Source:
        """The description of this run's elements."""
        return workspace.source(data, self.source.name)

    def read(self, data: Any, length: int, alive: list[object]) -> tuple[int, int]:
        """Address and stride, or start and step, of the first `length` elements of an operand, or of a part of one.

        DoesNotFit if they are of another kind. Those of lists stay until the next call, others as long as what is put
        into `alive`.
        """
        return words_of(data)


@dataclass
class _OfArray(Slot):
    """Arrays of one type and layout."""

    def __post_init__(self) -> None:
        """Look the layout's conditions up once."""
        self._dtype = None if self.source.storage is None else np.dtype(self.source.storage.name)
        self._dense, stride = self.source.layout == "dense", stride_of(self.source.layout)
        self._bytes = None if stride is None or self._dtype is None else stride * self._dtype.itemsize

    def length(self, data: Any) -> int:
        if type(data) is not np.ndarray or data.ndim != 1:
            raise DoesNotFit
        array: AnyArray = data
        flags = array.flags
        if array.dtype != self._dtype or (flags.c_contiguous and flags.aligned) != self._dense:
            raise DoesNotFit
        if self._bytes is not None and not (flags.aligned and array.strides[0] == self._bytes):
            raise DoesNotFit
        return len(array)

    def now(self, data: Any, workspace: Workspace) -> Source:
        if self.source.parts:
            return super().now(data, workspace)
        array: AnyArray = data  # `length` has seen that
        column = Column(changed(self.source, key=id(array), length=len(array)), array)
        workspace.keep(column)
        return column.source


@dataclass
class _OfRange(Slot):
    """Ranges within what the code takes for granted."""

    def length(self, data: Any) -> int:
        if type(data) is not range or not data or self.interval is None:
            raise DoesNotFit
        first, last = data[0], data[-1]
        if first > last:
            first, last = last, first
        lo, hi = self.interval.lo, self.interval.hi
        if (lo is not None and first < lo) or (hi is not None and last > hi) or abs(data.step) >= 1 << 62:
            raise DoesNotFit
        return len(data)


@dataclass
class _OfList(Slot):
    """Lists and tuples of numbers of one type, and fields of objects."""

    def __post_init__(self) -> None:
        """Make room for a few elements."""
        assert self.source.storage is not None
        self._dtype = self.source.storage.name
        type_ = TYPES.get(self._dtype)
        self._types = {type_}
        self.reader = None if type_ is None else reader(type_)
        if self.reader is not None:
            self.intake = Intake(self.reader)

    def length(self, data: Any) -> int:
        if type(data) is Field:
            if self.reader is None or type(data[0]) is not self.reader.type:
                raise DoesNotFit
        elif type(data) not in _SEQUENCES:
            raise DoesNotFit
        elif self.intake is not None:
            # Another thread may empty a list at any time.
            if not (head := data[:1]) or type(head[0]) is not self.intake.type:
                raise DoesNotFit
        elif not data or set(map(type, data)) != self._types:
            raise DoesNotFit
        return len(data)

    def now(self, data: Any, workspace: Workspace) -> Source:
        if self.reader is not None and len(data) >= WORTH:
            return workspace.taken(data, self.source)
        return super().now(data, workspace)

    def read(self, data: Any, length: int, alive: list[object]) -> tuple[int, int]:
        if length <= SHORT and self.intake is not None and type(data) is not Field:
            if not self.intake.read(data, length):
                raise DoesNotFit
            return self.intake.address, self.intake.size
        if self.reader is not None:
            array = np.empty(length, self._dtype)
            if not read(data, self.reader.type, array):
                raise DoesNotFit
        else:
            try:
                array = np.array(data, self._dtype)
            except OverflowError:
                raise DoesNotFit from None
            if len(array) < length:  # another thread has made it shorter
                raise DoesNotFit
        alive.append(array)
        return array.ctypes.data, array.itemsize


_KINDS: Mapping[str, type[Slot]] = {"array": _OfArray, "range": _OfRange, "list": _OfList}


@dataclass
class Number:
    """A captured number that is given to the loop: how it is read, and what it may be."""

    where: Where
    interval: Interval | None
    room: Any
    """The memory that the loop reads."""
    key: int
    """Of its source."""
    node: Expr
    """What stands for it in functions."""
    part: str = ""
    """Of complex numbers the attribute that it is."""
    free: Free | None = None

    def words(self, arguments: Sequence[object]) -> tuple[int, int]:
        """Its address, and that it is the same for all elements; DoesNotFit if it is of another kind."""
        self.room.value = self.value(arguments)
        return ctypes.addressof(self.room), 0

    def alone(self, arguments: Sequence[object], alive: list[object]) -> tuple[int, int]:
        """The same in memory that no other run uses, which lives as long as what is put into `alive`."""
        room = type(self.room)(self.value(arguments))
        alive.append(room)
        return ctypes.addressof(room), 0

    def value(self, arguments: Sequence[object]) -> Any:
        """What it is; DoesNotFit if it is of another kind."""
        assert self.free is not None
        value = self.free.read(arguments)
        if not self._holds(value):
            raise DoesNotFit
        return getattr(value, self.part) if self.part else counted(value)

    def now(self, source: Source, arguments: Sequence[object], length: int, workspace: Workspace) -> Source:
        """The description of what it is in this run. `source`: that of another one."""
        found = Parameter(self.where, self.node, self.value(arguments), part=self.part)
        workspace.parameters.append(found)
        column = Column(changed(source, key=id(found), length=length), found.column(length, source.type).data)
        workspace.keep(column)
        return column.source

    def fits(self, arguments: Sequence[object]) -> bool:
        """Whether it is of the kind that the code is for."""
        return self.free is not None and self._holds(self.free.read(arguments))

    def _holds(self, value: Any) -> bool:
        assert self.free is not None
        return type(value) is self.free.type and (self.interval is None or value in self.interval)


_SEQUENCES = frozenset({list, tuple})
_PLAIN = frozenset({range, list, tuple, np.ndarray})


def owners_of(
    operands: Sequence[object], workspace: Workspace
) -> tuple[dict[tuple[str, int], int], tuple[tuple[int, int], ...]] | None:
    """Which operand has the elements of a kind and key, and which ones are the same; None for one without numbers."""
    owners: dict[tuple[str, int], int] = {}
    twins: list[tuple[int, int]] = []
    for number, operand in enumerate(operands):
        try:
            source = workspace.source(operand)
        except NotCompilable:
            return None
        key = source.kind, source.key
        if key in owners:
            twins.append((owners[key], number))
        else:
            owners[key] = number
    return owners, tuple(twins)


_ROOMS: Mapping[ScalarType, type[Any]] = {
    INT: ctypes.c_int64, FLOAT: ctypes.c_double, FLOAT64: ctypes.c_double, FLOAT32: ctypes.c_float,
}  # fmt: skip


def numbers_of(workspace: Workspace, execution: Execution) -> dict[int, Number]:
    """By key of its source each captured number that is given to the loop."""
    found = {
        id(each): _number(each, id(each), each.node.type, each.interval) for each in workspace.parameters
    }
    for source in execution.fused.sources:
        if source.layout == "scalar" and (begun := workspace.starts.get(source.key)) is not None:
            interval = None if begun.interval is None else INT64
            found[source.key] = _number(begun, source.key, source.type, interval)
    return found


def _number(given: Parameter, key: int, type_: ScalarType, interval: Interval | None) -> Number:
    return Number(given.where, interval, _ROOMS[type_](), key, given.node, given.part)


def slots_of(
    owners: Mapping[tuple[str, int], int],
    numbers: Mapping[int, Number],
    steady: Mapping[int, AnyArray],
    execution: Execution,
) -> tuple[Slot | Number | AnyArray, ...] | None:
    """What each source of the loop is; None where one is not all of an operand.

    `steady`: by key of their sources numbers that are the same in all runs, in memory.
    """
    found: list[Slot | Number | AnyArray] = []
    leaves = execution.compiled.state.leaves.sources
    for slot, source in enumerate(execution.fused.sources):
        key = source.kind, source.key
        if source.layout == "scalar" and source.key in numbers:
            found.append(numbers[source.key])
            continue
        if source.layout == "scalar" and source.key in steady:
            found.append(steady[source.key])
            continue
        if key not in owners or source.layout != "dense" or source.parts:
            return None
        found.append(slot_of(owners[key], source, leaves[slot] if slot < len(leaves) else None))
    if sum(isinstance(each, Slot) for each in found) != len(owners):
        return None
    return tuple(found)


def slot_of(operand: int, source: Source, interval: Interval | None) -> Slot:
    """The source, as one of the statement's."""
    return _KINDS.get(source.kind, Slot)(operand, replace(source, key=0), interval)


def as_arrays(operands: list[Any]) -> None:
    """In place of Series, Arrow arrays and buffers the arrays that they are; of the same object the same."""
    found: dict[int, object] = {}
    for number, operand in enumerate(operands):
        if type(operand) not in _PLAIN:
            key = id(operand)
            if key not in found:
                found[key] = _as_array(operand)
            operands[number] = found[key]


def _as_array(operand: object) -> object:
    if not isinstance(operand, BUFFERS):
        return numbers(operand)
    try:
        return in_memory(cast(Any, operand))
    except NotCompilable:
        return cast(object, operand)


def equal_ranges(a: object, b: object) -> bool:
    """Whether both are ranges, and the same numbers are written into them."""
    return type(a) is range and type(b) is range and (a.start, a.stop, a.step) == (b.start, b.stop, b.step)


__all__ = [
    "DoesNotFit", "Number", "Slot", "as_arrays", "equal_ranges", "numbers_of", "owners_of", "slot_of", "slots_of",
]  # fmt: skip
