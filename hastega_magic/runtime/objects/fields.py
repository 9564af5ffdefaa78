"""Lists of tuples of numbers as columns: the numbers of one field, side by side with those of the others.

So are lists of lists of the same form, where what is done with a row is the same for both.

    [(1, 0.5), (2, 0.25)] |> map(lambda n, x: n * x)        [1, 2] |> zip([0.5, 0.25]) |> map(lambda n, x: n * x)

Of many tuples native code reads the fields, a stretch at a time, as it reads lists (lists.py).
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from typing import Any, cast, overload

import numpy as np
import numpy.typing as npt

from hastega_magic.forking import held_while_forking
from hastega_magic.records import dataclass
from hastega_magic.runtime.objects import lists
from hastega_magic.runtime.objects.lists import WORTH, Reader, code_of, read_by, reads

_AnyArray = npt.NDArray[Any]
_Row = tuple[object, ...] | list[object]
_Rows = list[_Row] | tuple[_Row, ...]

MOST = 16
"""Numbers in a tuple that become columns."""

_TYPES = (int, float, bool)

_FIELD = """
  %row.type.at = getelementptr i8, ptr %element, i64 8
  %row.type = load ptr, ptr %row.type.at
  %tuple.at = getelementptr i64, ptr %words, i64 6
  %tuple = load ptr, ptr %tuple.at
  %is.row = icmp eq ptr %row.type, %tuple
  br i1 %is.row, label %row, label %end
row:
  %width.at = getelementptr i8, ptr %element, i64 16
  %width = load i64, ptr %width.at
  %asked.at = getelementptr i64, ptr %words, i64 7
  %asked = load i64, ptr %asked.at
  %is.wide = icmp eq i64 %width, %asked
  br i1 %is.wide, label %field, label %end
field:
  %place.at = getelementptr i64, ptr %words, i64 8
  %place = load i64, ptr %place.at
  {numbers}
  %item.at = getelementptr i8, ptr %numbers, i64 %place
  %item = load ptr, ptr %item.at
"""

_NUMBERS = {
    tuple: "%numbers = getelementptr i8, ptr %element, i64 0",
    list: "%numbers.at = getelementptr i8, ptr %element, i64 24\n  %numbers = load ptr, ptr %numbers.at",
}
"""Where the numbers of a row are from."""

_lock = held_while_forking(threading.Lock())


@dataclass(frozen=True, slots=True, eq=False)
class Field(Sequence[object]):
    """The numbers at one place of many tuples, or of many lists, each of so many."""

    rows: _Rows
    place: int
    width: int

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> object: ...
    @overload
    def __getitem__(self, index: slice) -> Field: ...
    def __getitem__(self, index: int | slice) -> object:
        if isinstance(index, slice):
            return Field(self.rows[index], self.place, self.width)
        return self.rows[index][self.place]

    def listed(self) -> list[object]:
        """The numbers."""
        return [row[self.place] for row in self.rows]

    @property
    def row(self) -> type:
        """What its rows are, tuple or list: the first one says it for all."""
        return type(next(iter(self.rows), ()))  # another thread may empty the list at any time


class _Reader(Reader):
    """Native code that goes through the numbers of a field of rows of a type."""

    def __init__(self, type_: type, code: str, row: type) -> None:
        super().__init__(type_, code, _FIELD.replace("{numbers}", _NUMBERS[row]))
        self._row, self._before = row, tuple.__basicsize__ if row is tuple else 0

    def held(self, data: Sequence[object]) -> Sequence[object]:
        return cast(Field, data).rows

    def more(self, data: Sequence[object]) -> tuple[int, ...]:
        field = cast(Field, data)
        return id(self._row), field.width, self._before + 8 * field.place


def read(data: Sequence[object], type_: type, out: _AnyArray, first: int = 0) -> bool:
    """`lists.read` of a list, or `read_field`: whether elements from `first` on are such numbers, and in `out`."""
    if isinstance(data, Field):
        return read_field(data, type_, out, first)
    return lists.read(data, type_, out, first=first)


def read_field(field: Field, type_: type, out: _AnyArray | None, first: int = 0) -> bool:
    """Whether rows from `first` on, as many as `out` has room for, have such a number there; then it is in `out`.

    False, too, where this cannot be told here. `out` None: of all rows, and the types alone.
    """
    return read_by(_reader_of(type_, out is not None, field.row), field, out, first=first)


def _reader_of(type_: type, values: bool, row: type) -> _Reader | None:
    if type_ not in _TYPES or row not in _NUMBERS:
        return None
    with _lock:
        return _reader(type_, values, row)


@cache
def _reader(type_: type, values: bool, row: type) -> _Reader | None:
    """Code for a type, or for types alone, tried before it is used; None where it does not do."""
    code = code_of(type_, values)
    try:
        found = None if code is None else _Reader(type_, code, row)
    except RuntimeError:
        return None

    def second(values: Sequence[Any]) -> Field:
        return Field([row(("", each)) for each in values], 1, 2)

    def third(values: Sequence[Any]) -> Field:
        return Field(tuple(row((None, [], each, each)) for each in values), 2, 4)

    if found is None or not reads(found, values, second, third):
        return None
    long, other = row((1, found.type(1), 1)), tuple if row is list else list
    rows: list[Any] = [long, other((1, found.type(1)))]
    wrong = [Field([row((1, found.type(1))), each], 1, 2) for each in rows]
    return None if any(found.read(each, 0, 2, np.zeros(2, found.dtype)) for each in wrong) else found


def columns(rows: object, look: bool = True, lists: bool = False) -> tuple[Sequence[object], ...] | None:
    """The fields of a list or tuple of tuples, each of numbers of one type; None for anything else.

    The numbers themselves of few tuples, `Field`s of many. `look` False: whoever reads them looks at their types, and
    of many tuples at those as well. `lists`: of lists too, where nothing tells these from tuples.
    """
    if type(rows) not in (list, tuple):
        return None
    found = cast(_Rows, rows)
    first = found[0] if found else None
    row = type(first)
    if row is not tuple and not (lists and row is list):
        return None
    numbers = cast("Sequence[object]", first)
    width = len(numbers)
    if not 1 < width <= MOST or any(type(each) not in _TYPES for each in numbers):
        return None
    if len(found) >= WORTH:
        fields = tuple(Field(found, place, width) for place in range(width))
        return fields if not look or all(map(_is_plain, fields)) else None
    if set(map(type, found)) != {row}:
        return None
    try:
        few = tuple(zip(*found, strict=True))
    except ValueError:  # not all are of one length
        return None
    return few if not look or all(len(set(map(type, column))) == 1 for column in few) else None


def _is_plain(field: Field) -> bool:
    """Whether it is of rows of one kind alone, and of numbers of one type."""
    kind, its_row = type(field[0]), field.row
    if _reader_of(kind, False, its_row) is not None:
        return read_field(field, kind, None)
    return all(
        type(row) is its_row and len(row) == field.width and type(row[field.place]) is kind
        for row in field.rows
    )


__all__ = ["MOST", "Field", "columns", "read", "read_field"]
