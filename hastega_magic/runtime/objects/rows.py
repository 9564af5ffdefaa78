"""Lists of lists of Python's numbers, read row after row by native code into one array.

    [[1, 2], [], [3]]        1 2 3, and where each row begins and ends: 0 2 2 3

Rows are lists or tuples, of any lengths; what goes through their numbers is that of lists.py.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from functools import cache
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from hastega_magic.forking import held_while_forking
from hastega_magic.records import dataclass
from hastega_magic.runtime import cpu
from hastega_magic.runtime.objects.lists import (
    ADDRESS,
    DTYPES,
    END,
    ENTRY,
    ITEM,
    LENGTH,
    SAMPLES,
    code_of,
    head_of,
)
from hastega_magic.runtime.objects.words import written_out

_AnyArray = npt.NDArray[Any]

_PIECE = 1 << 20
"""Numbers after which a call comes back, with which row it is at: signals are answered between two calls."""

_ROWS, _COUNT, _OUT, _TYPE, _DONE, _TRUE, _LIST, _TUPLE, _OF_TUPLE, _ROOM, _TOTAL, _BOUNDS, _SIZE, _PIECES = (
    range(14)
)

_OUTER = """
define void @hastega(ptr %words, ptr %scratch) {
entry:
  %rows = word ptr of %words at 0
  %many = word i64 of %words at 1
  %out = word ptr of %words at 2
  %type = word i64 of %words at 3
  %done.at = getelementptr i64, ptr %words, i64 4
  %true = word i64 of %words at 5
  %list = word ptr of %words at 6
  %tuple = word ptr of %words at 7
  %of.tuple = word i64 of %words at 8
  %room = word i64 of %words at 9
  %total = word i64 of %words at 10
  %bounds = word ptr of %words at 11
  %size = word i64 of %words at 12
  %most = word i64 of %words at 13
  %begin = load i64, ptr %done.at
  %inner = alloca [6 x i64]
  %inner.count = getelementptr i64, ptr %inner, i64 1
  %inner.out = getelementptr i64, ptr %inner, i64 2
  %inner.type = getelementptr i64, ptr %inner, i64 3
  %inner.done = getelementptr i64, ptr %inner, i64 4
  %inner.true = getelementptr i64, ptr %inner, i64 5
  store i64 %type, ptr %inner.type
  store i64 %true, ptr %inner.true
  %no.numbers = icmp eq ptr %out, null
  br label %head
head:
  %i = phi i64 [ %begin, %entry ], [ %next, %more ]
  %sum = phi i64 [ %total, %entry ], [ %sum.next, %more ]
  %ends = icmp sge i64 %i, %many
  %paused = icmp sge i64 %sum, %most
  %over = or i1 %ends, %paused
  br i1 %over, label %end, label %look
look:
  %row.at = getelementptr ptr, ptr %rows, i64 %i
  %row = load ptr, ptr %row.at
  %row.type.at = getelementptr i8, ptr %row, i64 8
  %row.type = load ptr, ptr %row.type.at
  %length.at = getelementptr i8, ptr %row, i64 16
  %length = load i64, ptr %length.at
  %is.list = icmp eq ptr %row.type, %list
  %is.tuple = icmp eq ptr %row.type, %tuple
  %is.row = or i1 %is.list, %is.tuple
  %sum.next = add i64 %sum, %length
  %fits = icmp sle i64 %sum.next, %room
  %good = and i1 %is.row, %fits
  br i1 %good, label %bound, label %end
bound:
  %no.bounds = icmp eq ptr %bounds, null
  br i1 %no.bounds, label %read, label %note
note:
  %bound.at = getelementptr i64, ptr %bounds, i64 %i
  %behind.at = getelementptr i64, ptr %bound.at, i64 1
  store i64 %sum.next, ptr %behind.at
  br label %read
read:
  br i1 %no.numbers, label %more, label %numbers
numbers:
  %listed.at = getelementptr i8, ptr %row, i64 24
  %listed = load ptr, ptr %listed.at
  %tupled = getelementptr i8, ptr %row, i64 %of.tuple
  %items = select i1 %is.list, ptr %listed, ptr %tupled
  store ptr %items, ptr %inner
  store i64 %length, ptr %inner.count
  %offset = mul i64 %sum, %size
  %place = getelementptr i8, ptr %out, i64 %offset
  store ptr %place, ptr %inner.out
  call void @numbers(ptr %inner, ptr %scratch)
  %got = load i64, ptr %inner.done
  %all = icmp eq i64 %got, %length
  br i1 %all, label %more, label %end
more:
  %next = add i64 %i, 1
  br label %head
end:
  store i64 %i, ptr %done.at
  store i64 %sum, ptr %total.at
  ret void
}
"""


@dataclass(frozen=True, eq=False)
class Numbers:
    """The numbers of rows: of row n those of `flat` from `bounds[n]` on, before `bounds[n + 1]`.

    flat    shape (numbers,), int64, float64 or bool
    bounds  shape (rows + 1,), int64, from 0 on; None where nobody asked
    """

    flat: _AnyArray
    bounds: _AnyArray | None


class RowReader:
    """Native code that goes through rows of numbers of one type."""

    def __init__(self, type_: type, code: str) -> None:
        self.type, self.dtype = type_, np.dtype(DTYPES[type_])
        inner = (ENTRY.replace("{item}", ITEM) + code + END).replace(
            "define void @hastega", "define internal void @numbers"
        )
        self._program = cpu.compile_text(written_out(inner + _OUTER))
        # Not as other native code, which lets go of the GIL: nobody may change a list meanwhile.
        prototype: Any = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
        self._call = prototype(ctypes.cast(self._program.function, ctypes.c_void_p).value or 0)

    def count(self, rows: Sequence[object], many: int) -> int | None:
        """How many numbers the first `many` have if these are lists and tuples, whatever is in them; None otherwise."""
        return self._through(rows, many, None, None, 1 << 62)

    def read(self, rows: Sequence[object], many: int, flat: _AnyArray, bounds: _AnyArray | None) -> bool:
        """Whether these hold numbers of the type alone, as many as `flat` has room for; then they are there."""
        if bounds is not None:
            bounds[0] = 0
        return self._through(rows, many, flat, bounds, len(flat)) == len(flat)

    def _through(
        self, rows: Sequence[object], many: int, flat: _AnyArray | None, bounds: _AnyArray | None, room: int
    ) -> int | None:
        words = (ctypes.c_int64 * 14)()
        words[_TYPE], words[_TRUE], words[_LIST], words[_TUPLE] = id(self.type), id(True), id(list), id(tuple)
        words[_OF_TUPLE], words[_ROOM], words[_SIZE] = tuple.__basicsize__, room, self.dtype.itemsize
        words[_OUT] = 0 if flat is None else flat.ctypes.data
        words[_BOUNDS] = 0 if bounds is None else bounds.ctypes.data
        at = ctypes.addressof(words)
        while words[_DONE] < many:
            before = words[_DONE]
            words[_COUNT], words[_PIECES] = many, words[_TOTAL] + _PIECE
            head = head_of(rows)
            # Another thread may have made the list shorter. From here to the call nothing gives it a turn.
            if head[LENGTH] < many:
                return None
            words[_ROWS] = head[ADDRESS]
            self._call(at, None)
            if words[_DONE] == before:
                return None
        return words[_TOTAL]


_lock = held_while_forking(threading.Lock())


def row_reader(type_: type) -> RowReader | None:
    """Code that reads rows of numbers of a type, tried on some; None where there is none."""
    if type_ not in DTYPES:
        return None
    with _lock:
        return _reader(type_)


@cache
def _reader(type_: type) -> RowReader | None:
    code = code_of(type_, values=True)
    try:
        found = None if code is None else RowReader(type_, code)
    except RuntimeError:
        return None
    return found if found is not None and _reads(found, SAMPLES[type_]) else None


def _reads(found: RowReader, sample: Sequence[object]) -> bool:
    """Whether it reads these as they are, in rows of any form, and nothing else."""
    rows: list[object] = [list(sample), (), tuple(sample), [], [sample[0]]]
    numbers = [*sample, *sample, sample[0]]
    flat, bounds = np.zeros(len(numbers), found.dtype), np.zeros(len(rows) + 1, np.int64)
    ends = [0, len(sample), len(sample), 2 * len(sample), 2 * len(sample), len(numbers)]
    if found.count(rows, len(rows)) != len(numbers) or not found.read(tuple(rows), len(rows), flat, bounds):
        return False
    if list(map(repr, flat.tolist())) != list(map(repr, numbers)) or bounds.tolist() != ends:
        return False
    wrong: list[object] = [[None], 5, {1}, [()]]
    return not any(
        found.read([*rows, each], len(rows) + 1, np.zeros(len(numbers) + 1, found.dtype), None)
        for each in wrong
    )


def numbers_of(rows: object, bounds: bool = False, least: int = 0) -> Numbers | None:
    """The numbers of a list or tuple of rows; None where they are not all of one type that native code reads.

    Or where there are fewer than `least`. `bounds`: with where each row begins and ends.
    """
    if type(rows) not in (list, tuple):
        return None
    held = cast("Sequence[Any]", rows)
    many = len(held)  # another thread may make it longer, or shorter, at any time
    first: Any = next((row for row in held if type(row) not in (list, tuple) or row), None)
    number: Any = next(iter(first), None) if type(first) in (list, tuple) else None
    code = row_reader(cast("type[Any]", type(number)))
    count = None if code is None else code.count(held, many)
    if code is None or count is None or count < least:
        return None
    flat = np.empty(count, code.dtype)
    ends = np.empty(many + 1, np.int64) if bounds else None
    return Numbers(flat, ends) if code.read(held, many, flat, ends) else None


__all__ = ["Numbers", "RowReader", "numbers_of", "row_reader"]
