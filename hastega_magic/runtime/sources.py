"""Where elements come from: Python objects described for the compiler, and their memory for kernels."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from hastega_magic.errors import BeyondInt64, NotCompilable
from hastega_magic.interval import Interval
from hastega_magic.ir.pipeline import Source, stride_of
from hastega_magic.progress import task
from hastega_magic.records import dataclass
from hastega_magic.runtime.addresses import name_of
from hastega_magic.runtime.buffer_protocol import BUFFERS, in_memory
from hastega_magic.runtime.columnar import Pieces, is_columnar, memory_of, not_read
from hastega_magic.runtime.objects import lists, wide
from hastega_magic.runtime.objects.fields import Field
from hastega_magic.runtime.objects.parts import Part, part_of, read, read_once
from hastega_magic.runtime.python_calls import iterated
from hastega_magic.runtime.special_methods import gives_array, has
from hastega_magic.runtime.stream import Stream
from hastega_magic.runtime.strided import Paired, Reading, Strided, strided
from hastega_magic.types import (
    BOOL,
    COMPLEX_STORAGES,
    FLOAT,
    FLOAT32,
    INT,
    RESULT_STORAGE,
    STORAGES,
    Complex,
    ScalarType,
    Storage,
    is_redefined,
)

AnyArray = npt.NDArray[Any]

PIECE = 1 << 20
"""Elements of a list that are converted at a time (8 MiB)."""
_TRIED = 4096
"""Of ints: NumPy looks at the types of all first, and what has larger ones than 64 bits hold seldom begins without."""
_WIDE = "`{}` holds integers beyond 64 bits"
_LIST_STORAGE: dict[type, tuple[Storage, ScalarType]] = {
    int: (STORAGES["int64"], INT),
    bool: (STORAGES["bool"], BOOL),
    float: (STORAGES["float64"], FLOAT),
    np.float32: (STORAGES["float32"], STORAGES["float32"].scalar),
}


class Unlike(Exception):
    """An element is not of the type that was taken for granted, or does not fit."""


@dataclass(frozen=True)
class Column:
    """A source's elements: a range, an array, pieces of arrays, Python numbers of one type in a row, or a stream."""

    source: Source
    data: range | AnyArray | Sequence[object] | Stream | Strided | Paired
    checked: bool = True
    """Whether all elements were seen to be of the type; else that is found out when they are converted."""

    def view(self, start: int, step: int, count: int) -> Column:
        """Elements start, start + step, ...: `count` of them, or as many as there are; of an array without copying.

        They are of the same type, even if there are none.
        """
        if isinstance(self.data, Paired):
            return _complex_rows(self.data.view(start, step, count), self.source.name)
        if isinstance(self.data, (Stream, Strided)):
            row = strided(self.data, start, step, count)
            layout = "dense" if row.step == 1 else "strided"
            return Column(replace(self.source, key=id(row), layout=layout, length=len(row)), row)
        if self.source.layout == "scalar":
            numbers: Any = np.broadcast_to(self.array(0, min(count, 1)), count)
            return Column(replace(self.source, length=count), numbers)
        found = self._elements(start, step, count)
        if isinstance(found, range):
            return described(found, self.source.name)
        source, kept = self.source, cast("AnyArray | Sequence[object]", found)
        if isinstance(self.data, Pieces) and not isinstance(kept, Pieces):
            source = replace(source, kind="array")
        if source.parts:
            return _complex(cast(AnyArray, kept), source.name, id(kept))
        layout = source.layout
        if isinstance(kept, np.ndarray):
            layout = layout_of(kept)
        return replace(self, source=replace(source, key=id(kept), layout=layout, length=len(kept)), data=kept)

    def _elements(self, start: int, step: int, count: int) -> object:
        part = part_of(self.data, start, step, count) if count >= lists.WORTH else None
        if part is not None:
            return part
        stop = start + step * count
        found: Any = self.data[start : None if stop < 0 else stop : step] if count else self.data[0:0]
        # All empty tuples are one object, and sources are told apart by identity.
        return list[object]() if type(found) is tuple and not found else cast(object, found)

    def array(self, start: int, stop: int) -> AnyArray:
        """Elements `start` to `stop` as a NumPy array: a view of an array or of one of several, else new memory.

        BeyondInt64 for a Python int that int64 does not hold; Unlike for an element of another type.
        """
        if self.source.kind == "list" and wide.is_still_there(self.data, self.source.name, start, stop):
            raise BeyondInt64(_WIDE.format(self.source.name))
        known = self._read(start, stop)
        if known is not None:
            return known
        found = self.data[start:stop]
        if isinstance(found, np.ndarray):
            return found
        if isinstance(found, Pieces):
            return found.array(0, len(found))
        if isinstance(found, range):
            return np.arange(found.start, found.stop, found.step, dtype=np.int64)
        return self._converted(found, start)

    def _read(self, start: int, stop: int) -> AnyArray | None:
        """Elements of a long list by native code; None where it cannot."""
        storage = self.source.storage
        found = None if storage is None else read(self.data, storage.name, start, stop)
        if found is None and not self.checked:
            raise Unlike
        return found

    def _converted(self, part: Sequence[object], first: int) -> AnyArray:
        """Python's numbers as an array, piece by piece: a piece takes some milliseconds, so that Ctrl-C is answered."""
        assert self.source.storage is not None
        dtype = self.source.storage.name
        if isinstance(part, Field):
            part = part.listed()
        size, piece = _TRIED if self.source.type is INT else PIECE, part
        try:
            if len(part) <= size:
                return np.array(part, dtype=dtype)
            whole = np.empty(len(part), dtype)
            with task(f"convert {self.source.name}", len(part)) as work:
                for start in range(0, len(part), size):
                    piece = part[start : start + size]
                    whole[start : start + size] = np.array(piece, dtype=dtype)
                    first += len(piece)
                    work.at(start + len(piece))
            return whole
        except OverflowError:
            wide.found(piece, self.source.name, first)
            raise BeyondInt64(_WIDE.format(self.source.name)) from None


class Overlapping(NamedTuple):
    """Elements of columns that are parts of one list, by the column's number, and the bytes that were made of it."""

    arrays: dict[int, AnyArray]
    nbytes: int


def overlapping(columns: Sequence[Column], start: int, stop: int) -> Overlapping:
    """Elements `start` to `stop` of those columns that are parts of one list, as of windows or chunks: read once."""
    lying: dict[tuple[int, str], dict[int, Part]] = {}
    for number, column in enumerate(columns):
        data, storage = column.data, column.source.storage
        if isinstance(data, Part) and storage is not None:
            lying.setdefault((id(data.whole), storage.name), {})[number] = data
    found, nbytes = dict[int, AnyArray](), 0
    for (_, dtype), numbered in lying.items():
        read = read_once([*numbered.values()], dtype, start, stop) if len(numbered) > 1 else None
        if read is not None:
            arrays, more = read
            found, nbytes = found | dict(zip(numbered, arrays, strict=True)), nbytes + more
    return Overlapping(found, nbytes)


def stretched(column: Column, start: int, stop: int) -> Any:
    """Elements `start` to `stop` of a column, as its data are: memory of an array, a part of a stream."""
    data = column.data
    if isinstance(data, Paired):
        return data.view(start, 1, stop - start)
    if isinstance(data, (Stream, Strided)):
        return strided(data, start, 1, stop - start)
    return data[start:stop]


def taken(data: Sequence[object], source: Source) -> Column:
    """A long list or tuple whose elements are taken to be like those of an earlier one."""
    return Column(replace(source, key=id(data), length=len(data)), data, checked=False)


def streamed(columns: Sequence[Column]) -> Reading | None:
    """How the stream among the columns of a loop, of which there is one at most, is gone through."""
    rows = [column.data for column in columns if isinstance(column.data, (Stream, Strided))]
    return Reading(rows) if rows else None


def halves(column: Column) -> list[Column]:
    """The columns of the real and the imaginary parts; none for numbers that are real."""
    if not column.source.parts:
        return []
    array = cast(Any, column.data)
    return [
        Column(part, data) for part, data in zip(column.source.parts, (array.real, array.imag), strict=True)
    ]


def number(name: str, value: object, type_: ScalarType | Complex, length: int) -> Column:
    """A number as a column that has it for every element, and holds it once."""
    scalar: ScalarType = type_.real if isinstance(type_, Complex) else type_
    storage, parts = RESULT_STORAGE[scalar], ()
    whole = storage
    if isinstance(type_, Complex):
        whole = COMPLEX_STORAGES["complex64" if scalar is FLOAT32 else "complex128"]
    data = np.broadcast_to(np.array([value], whole.name), length)
    if isinstance(type_, Complex):
        parts = tuple(
            Source(f"{name}.{part}", "array", scalar, None, storage, "scalar", hash((id(data), part)), length)
            for part in ("real", "imag")
        )
    return Column(Source(name, "array", scalar, None, whole, "scalar", id(data), length, parts), data)


def described(data: object, name: str) -> Column:
    """The object as a column; NotCompilable where elements are not numbers of one type; else what iterating raises."""
    if isinstance(data, range):
        return _range(data, name)
    if is_redefined(data):
        raise NotCompilable(f"the source is a {type(data).__name__}, a subclass with rules of its own")
    if isinstance(data, BUFFERS):
        return _buffer(cast("bytes", data), name)
    if isinstance(data, np.ndarray):
        return _array(cast(AnyArray, data), name, id(cast(object, data)))
    if type(data) in (list, tuple):  # a subclass may iterate in a way of its own
        return of_list(cast("Sequence[object]", data), name)
    if isinstance(data, (Stream, Strided)):
        alike = _array(np.empty(0, data.dtype), name, id(data))
        return Column(replace(alike.source, kind="stream", length=len(data)), data)
    if isinstance(data, Paired):
        return _complex_rows(data, name)
    if isinstance(data, Field):
        return _of_kind(data, name, type(data[0]))
    if is_columnar(data):
        return _numbers(memory_of(data, name), name, id(data))
    if gives_array(data):
        return _array(np.asarray(data), name, id(data))
    if not has(data, "__iter__"):  # what has it may show how often it is asked
        iterated(data)
    raise NotCompilable(not_read(data))


def _range(data: range, name: str) -> Column:
    if not data:
        return Column(Source(name, "range", INT, Interval(0, 0), key=id(data)), data)
    if data[0] == data[-1]:  # one number, whose step, that of `range(6)[:: 10**30]`, leads nowhere
        data = range(data[0], data[0] + 1)
    interval = Interval(min(data[0], data[-1]), max(data[0], data[-1]))
    if not interval.fits_int64 or not -(1 << 62) < data.step < 1 << 62:
        raise BeyondInt64(f"`{name}` leaves 64 bits")
    key = (data.start << 160) + (data.stop << 80) + data.step  # hash(-1) == hash(-2)
    return Column(Source(name, "range", INT, interval, key=key, length=len(data)), data)


def _buffer(data: bytes | bytearray | memoryview, name: str) -> Column:
    return _numbers(in_memory(data), name, id(data))


def _numbers(data: AnyArray | Pieces, name: str, key: int) -> Column:
    """An array, or several that a loop reads as lists are: stretch by stretch."""
    if not isinstance(data, Pieces):
        return _array(data, name, key)
    storage = STORAGES[name_of(data.dtype)]
    limits = storage.limits
    interval = None if limits is None else Interval(*limits)
    return Column(Source(name, "list", storage.scalar, interval, storage, "dense", key, len(data)), data)


def _array(data: AnyArray, name: str, key: int) -> Column:
    if data.ndim == 0:
        iterated(data)  # raises Python's own TypeError
    if type(data) is not np.ndarray:
        raise NotCompilable(f"the source is a {type(data).__name__}, a subclass with rules of its own")
    if data.ndim != 1:
        raise NotCompilable(f"the source has {data.ndim} dimensions, of which `.ravel()` makes one")
    if name_of(data.dtype) in COMPLEX_STORAGES:
        return _complex(data, name, key)
    storage = STORAGES.get(name_of(data.dtype))
    if storage is None:
        raise NotCompilable(f"elements of type {data.dtype} are not compiled")
    limits = storage.limits
    interval = None if limits is None else Interval(*limits)
    source = Source(name, "array", storage.scalar, interval, storage, layout_of(data), key, len(data))
    return Column(source, data)


def layout_of(data: AnyArray) -> str:
    """How the numbers of an array lie in memory, as `Source.layout`."""
    if not data.dtype.isnative:
        return "swapped"
    if not data.flags.aligned:
        return "strided"
    if data.flags.c_contiguous:
        return "dense"
    if data.strides[0] == -data.itemsize:
        return "turned"
    apart, rest = divmod(data.strides[0], data.itemsize)
    found = f"{apart} apart"
    return "strided" if rest or stride_of(found) is None else found


def _complex(data: AnyArray, name: str, key: int) -> Column:
    """An array of complex numbers, whose parts loops read as two arrays."""
    pairs = COMPLEX_STORAGES[name_of(data.dtype)]
    dense = data.flags.c_contiguous and data.flags.aligned and data.dtype.isnative
    type_, storage = (FLOAT32, "float32") if pairs.scalar is FLOAT32 else (FLOAT, "float64")
    parts: list[Source] = []
    for part, layout in (("real", "even"), ("imag", "odd")):
        found = layout if dense else "strided" if data.dtype.isnative else "swapped"
        own = hash((key, part))
        parts.append(Source(f"{name}.{part}", "array", type_, None, STORAGES[storage], found, own, len(data)))
    layout = parts[0].layout if not dense else "dense"
    return Column(Source(name, "array", type_, None, pairs, layout, key, len(data), tuple(parts)), data)


def _complex_rows(data: Paired, name: str) -> Column:
    """Complex numbers of a stream."""
    alike = _complex(np.empty(0, data.dtype), name, id(data)).source
    layout = "dense" if data.real.step == 1 else "strided"
    parts = tuple(replace(part, kind="stream", layout=layout, length=len(data)) for part in alike.parts)
    return Column(replace(alike, kind="stream", layout=layout, length=len(data), parts=parts), data)


def of_list(data: Sequence[object], name: str) -> Column:
    """A list or another row of numbers of one type; NotCompilable for elements of other kinds."""
    same = lists.alike(data) if len(data) >= lists.WORTH else 0
    if same and same == len(data):
        return _of_kind(data, name, type(data[0]))
    elements = iter(data)
    kinds = set(map(type, itertools.islice(elements, _FEW)))
    kinds.update(map(type, data[same : same + _FEW]))
    with task(f"read {name}", len(data)) as work:
        for start in range(_FEW, len(data), PIECE):
            if len(kinds) > 1 or kinds.isdisjoint(_TOLD_APART):  # whatever else there is
                break
            kinds.update(map(type, itertools.islice(elements, PIECE)))
            work.at(start + PIECE)
    if not kinds:
        kinds = {int}
    if kinds in ({complex}, {np.complex64}):
        return _complex(np.array(data), name, id(data))
    if len(kinds) > 1 or not kinds <= _LIST_STORAGE.keys():
        raise NotCompilable(_of_other_kinds(kinds))
    return _of_kind(data, name, kinds.pop())


_TOLD_APART = frozenset({*_LIST_STORAGE, complex, np.complex64, tuple})
"""Types of which it counts whether all elements have them."""
_FEW = 1024


def _of_other_kinds(kinds: set[type]) -> str:
    names = ", ".join(sorted(kind.__name__ for kind in kinds))
    if kinds <= {np.dtype(each).type for each in (*STORAGES, *COMPLEX_STORAGES)}:
        return f"the elements are NumPy's scalars ({names}), not Python's numbers: those of a NumPy array are compiled"
    if kinds == {tuple}:
        return "of tuples, those are compiled that are of one length, where something is computed of their numbers"
    if len(kinds) == 1:
        return f"elements of type {names} are not compiled"
    return f"the elements are of these types: {names}; numbers of one type are compiled"


def _of_kind(data: Sequence[object], name: str, kind: type) -> Column:
    storage, scalar = _LIST_STORAGE[kind]
    limits = storage.limits
    interval = None if limits is None else Interval(*limits)
    return Column(Source(name, "list", scalar, interval, storage, "dense", id(data), len(data)), data)
