"""Captured arrays and lists of numbers, which functions subscript: described for the compiler, in contiguous memory."""

from __future__ import annotations

import array
from collections.abc import Sequence
from typing import cast

import numpy as np

from hastega_magic.errors import BeyondInt64, NotCompilable
from hastega_magic.interval import INT64
from hastega_magic.ir.items import Items
from hastega_magic.ir.pipeline import Table
from hastega_magic.records import dataclass
from hastega_magic.runtime.sources import AnyArray, described, of_list
from hastega_magic.types import INT, RESULT_STORAGE, ScalarType


@dataclass(frozen=True)
class TableColumn:
    """A captured array in contiguous memory, or ints as objects. `numpys`: functions read NumPy's scalars from it."""

    table: Table
    scalar: ScalarType
    data: AnyArray
    numpys: bool = False


_DIMENSIONED = (np.ndarray, np.generic, memoryview)


def described_table(data: object, name: str, wide: bool = False) -> TableColumn:
    """A captured array or list of numbers; NotCompilable if it is neither.

    Of arrays of several dimensions, and of lists of lists, the numbers stand one after the other. `wide`: ints of which
    no int64 holds some are objects, which no loop reads.
    """
    if issubclass(type(data), _DIMENSIONED) and cast(AnyArray, data).ndim == 0:
        raise NotCompilable(f"`{name}` has no dimensions, and holds a single value")
    if isinstance(data, Items):
        return TableColumn(Table(name, data.storage, id(data)), data.scalar, data.array)
    if isinstance(data, (list, tuple)):
        rows = _flat(cast("Sequence[object]", data))
        column = of_list(rows, name)
        if column.source.parts:
            raise NotCompilable(f"`{name}` holds lists of complex numbers")
        try:
            values = column.array(0, len(column.data))
        except BeyondInt64 as error:
            if wide:
                return _of_objects(rows, cast(object, data), name)
            raise NotCompilable(error.reason.text) from None
    elif isinstance(data, (np.ndarray, array.array, bytes, bytearray, memoryview)):
        column = described(_in_a_row(cast(AnyArray, data)), name)
        values = column.array(0, len(column.data))
        if values.dtype.name == "uint64" and len(values) and values.max() not in INT64:
            if wide:
                return _of_objects(values.tolist(), cast(object, data), name)
            raise NotCompilable(f"`{name}` holds integers beyond 64 bits")
    else:
        raise NotCompilable(f"`{name}` is a {type(data).__name__}, not an array of numbers")
    storage = column.source.storage
    assert storage is not None
    dense = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))
    numpys = isinstance(data, np.ndarray)
    return TableColumn(Table(name, storage, id(cast(object, data))), column.source.type, dense, numpys)


def _of_objects(numbers: Sequence[object], data: object, name: str) -> TableColumn:
    objects = np.empty(len(numbers), object)
    objects[:] = numbers
    table = Table(name, RESULT_STORAGE[INT], id(data))
    return TableColumn(table, INT, objects, isinstance(data, np.ndarray))


def _flat(data: Sequence[object]) -> Sequence[object]:
    """The numbers of equally long lists one after the other."""
    while len(data) and all(type(each) in (list, tuple) for each in data):
        rows = cast("Sequence[Sequence[object]]", data)
        if len({len(row) for row in rows}) > 1:
            break
        data = [item for row in rows for item in row]
    return data


def _in_a_row(data: AnyArray) -> AnyArray:
    return data.reshape(-1) if type(data) is np.ndarray and data.ndim > 1 else data
