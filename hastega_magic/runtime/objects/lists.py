"""Lists and tuples of Python numbers read by native code: one pass over the objects, at the speed of memory.

Python's own ways into an array (`numpy.array`) call a function for every element. The layout of ints is CPython's and
changes between versions, so it is tried before it is used; where it is not as expected, nothing here is used.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
import threading
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from hastega_magic.forking import held_while_forking
from hastega_magic.runtime import cpu
from hastega_magic.runtime.objects.words import written_out

_AnyArray = npt.NDArray[Any]

WORTH = 2048
"""Elements below which the code is not compiled for their sake."""

SHORT = 2048
"""Elements of a list up to which the memory that it is read into is kept."""

_ITEMS, _COUNT, _OUT, _TYPE, _DONE, _TRUE = range(6)

ENTRY = """
define void @hastega(ptr %words, ptr %scratch) {
entry:
  %items = word ptr of %words at 0
  %count = word i64 of %words at 1
  %out = word ptr of %words at 2
  %type = word ptr of %words at 3
  %done.at = getelementptr i64, ptr %words, i64 4
  %true = word ptr of %words at 5
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %more ]
  %over = icmp sge i64 %i, %count
  br i1 %over, label %end, label %look
look:
  %element.at = getelementptr ptr, ptr %items, i64 %i
  %element = load ptr, ptr %element.at
  {item}
  %its.at = getelementptr i8, ptr %item, i64 8
  %its = load ptr, ptr %its.at
  %fits = icmp eq ptr %its, %type
  br i1 %fits, label %read, label %end
read:
"""
ITEM = "%item = getelementptr i8, ptr %element, i64 0"

_INT = """
  %size.at = getelementptr i8, ptr %item, i64 16
  %tag = load i64, ptr %size.at
  {size}
  %negative = icmp slt i64 %size, 0
  %minus = sub i64 0, %size
  %digits = select i1 %negative, i64 %minus, i64 %size
  ; Both digits at once, without a branch that nobody can foresee: objects take whole words, so that the second one's
  ; place is there where there is none.
  %first.at = getelementptr i8, ptr %item, i64 24
  %pair = load i64, ptr %first.at, align 8
  %first = and i64 %pair, 4294967295
  %beside = lshr i64 %pair, 2
  %second.up = and i64 %beside, -1073741824
  %wide = or i64 %first, %second.up
  %is.none = icmp eq i64 %digits, 0
  %short = icmp ule i64 %digits, 1
  %little = select i1 %is.none, i64 0, i64 %first
  %both = select i1 %short, i64 %little, i64 %wide
  %is.two = icmp ule i64 %digits, 2
  br i1 %is.two, label %sign, label %three
three:
  %is.three = icmp eq i64 %digits, 3
  br i1 %is.three, label %third, label %end
third:
  %third.at = getelementptr i8, ptr %item, i64 32
  %third32 = load i32, ptr %third.at, align 4
  %third.value = zext i32 %third32 to i64
  %holds = icmp ult i64 %third.value, 8
  %third.up = shl i64 %third.value, 60
  %all = or i64 %both, %third.up
  br i1 %holds, label %sign, label %least
least:
  %is.eight = icmp eq i64 %third.value, 8
  %is.least = icmp eq i64 %both, 0
  %so = and i1 %is.eight, %is.least
  %exactly = and i1 %so, %negative
  br i1 %exactly, label %store, label %end
sign:
  %magnitude = phi i64 [ %both, %read ], [ %all, %third ]
  %opposite = sub i64 0, %magnitude
  %signed = select i1 %negative, i64 %opposite, i64 %magnitude
  br label %store
store:
  %value = phi i64 [ %signed, %sign ], [ -9223372036854775808, %least ]
  %value.at = getelementptr i64, ptr %out, i64 %i
  store i64 %value, ptr %value.at
  br label %more
"""

_SIZES = {
    # 3.11: a signed count of digits. From 3.12 on: the count above three bits, of which two hold 1 - sign.
    "signed": "%size = add i64 %tag, 0",
    "tagged": "%many = lshr i64 %tag, 3\n  %bits = and i64 %tag, 3\n  %sgn = sub i64 1, %bits\n"
    "  %size = mul i64 %many, %sgn",
}

_FLOAT = """
  %float.at = getelementptr i8, ptr %item, i64 16
  %float = load i64, ptr %float.at
  %value.at = getelementptr i64, ptr %out, i64 %i
  store i64 %float, ptr %value.at
  br label %more
"""

_BOOL = """
  %bit = icmp eq ptr %item, %true
  %byte = zext i1 %bit to i8
  %value.at = getelementptr i8, ptr %out, i64 %i
  store i8 %byte, ptr %value.at
  br label %more
"""

_NOTHING = """
  br label %more
"""

END = """
more:
  %next = add i64 %i, 1
  br label %head
end:
  store i64 %i, ptr %done.at
  ret void
}
"""

DTYPES = {int: "int64", float: "float64", bool: "bool"}
"""Of arrays that numbers of a type go to."""
TYPES: dict[str, type] = {dtype: type_ for type_, dtype in DTYPES.items()}
"""Of the numbers in a list that an array of a dtype is made of."""

_Head = ctypes.c_int64 * 4
"""A list: reference count, type, length; then the address of its items."""
LENGTH, ADDRESS = 2, 3
"""Words of a list: its length, and the address of its items."""
_OF_TUPLE = tuple.__basicsize__
"""Of a tuple: what goes before its items, a hash among it since 3.14."""

_lock = held_while_forking(threading.Lock())


class Reader:
    """Native code that goes through the objects of one type. `item`: how it comes from an element to such an object."""

    def __init__(self, type_: type, code: str, item: str = ITEM) -> None:
        self.type = type_
        self.dtype = np.dtype(DTYPES[type_])
        self._program = cpu.compile_text(written_out(ENTRY.replace("{item}", item) + code + END))
        self.address = ctypes.cast(self._program.function, ctypes.c_void_p).value or 0
        # Not as other native code, which lets go of the GIL: nobody may change the list meanwhile.
        prototype: Any = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
        self.call = prototype(self.address)

    def read(self, data: Sequence[object], start: int, stop: int, out: _AnyArray | None) -> bool:
        """Whether elements `start` to `stop` are all of the type, and fit; then they are in `out`."""
        return stop <= start or self.count(data, start, stop, out) == stop - start

    def count(self, data: Sequence[object], start: int, stop: int, out: _AnyArray | None) -> int:
        """How many elements from `start` on, up to `stop`, are of the type, and fit: these are in `out`."""
        more = self.more(data)
        words = (ctypes.c_int64 * (6 + len(more)))(*self.words(0 if out is None else out.ctypes.data), *more)
        held, at = self.held(data), ctypes.addressof(words)
        head = head_of(held)
        words[_COUNT] = stop - start
        # Another thread may have made a list shorter. From here to the call nothing gives it a turn.
        if head[LENGTH] < stop:
            return 0
        words[_ITEMS] = head[ADDRESS] + 8 * start
        self.call(at, None)
        return words[_DONE]

    def words(self, out: int) -> tuple[int, ...]:
        """What the code is given: no elements yet, and the address that numbers go to."""
        return 0, 0, out, id(self.type), 0, id(True)

    def held(self, data: Sequence[object]) -> Sequence[object]:
        """The list or tuple that has the elements."""
        return data

    def more(self, data: Sequence[object]) -> tuple[int, ...]:
        """Further words that the code reads."""
        return ()


class Intake:
    """Memory that short lists are read into, one after the other: not for two threads at once."""

    def __init__(self, reader: Reader) -> None:
        """Of numbers as the reader reads them."""
        self.type, self.size = reader.type, reader.dtype.itemsize
        self.address = 0
        """Of the numbers, once there are some."""
        self._memory: object = None
        self._words = (ctypes.c_int64 * 6)(*reader.words(0))
        self._at, self._call = ctypes.addressof(self._words), reader.call

    def read(self, data: Sequence[object], length: int) -> bool:
        """Whether the first `length` elements, at most `SHORT`, are all of the type and fit: then they are there."""
        if not self.address:
            self.room()
        words, head = self._words, head_of(data)
        words[_COUNT] = length
        # Another thread may have made a list shorter. From here to the call nothing gives it a turn.
        if head[LENGTH] < length:
            return False
        words[_ITEMS] = head[ADDRESS]
        self._call(self._at, None)
        return words[_DONE] == length

    def written(self, data: str, kind: type, name: Callable[[object], str]) -> tuple[list[str], str]:
        """What `read` does, over variables `data`, of this very type, and `length`: statements, then a condition.

        `name`: of an object in them.
        """
        self.room()
        words, at = name(self._words), f"id({data})"
        if kind is list:  # whose length and address are read as in `read`
            count, items = f"length if head[{LENGTH}] >= length else 0", f"head[{ADDRESS}]"
            head = [f"head = {name(_Head.from_address)}({at})"]
        else:
            count, items, head = "length", f"{at} + {_OF_TUPLE}", []
        lines = [
            *head,
            f"{words}[{_COUNT}] = {count}",
            f"{words}[{_ITEMS}] = {items}",
            f"{name(self._call)}({name(self._at)}, None)",
        ]
        return lines, f"{words}[{_DONE}] == length"

    def room(self) -> int:
        """The address that numbers go to."""
        if not self.address:
            memory = self._memory = (ctypes.c_uint8 * (SHORT * self.size))()
            self.address = self._words[_OUT] = ctypes.addressof(memory)
        return self.address


def head_of(data: Sequence[object]) -> Sequence[int]:
    """The first words of a list, as they are at any time, or what they would be of a tuple."""
    if isinstance(data, list):
        return cast("Sequence[int]", _Head.from_address(id(data)))
    return 0, 0, len(data), id(data) + _OF_TUPLE


def layout() -> str | None:
    """How ints lie in memory; None where that is not known."""
    known = sys.implementation.name == "cpython" and (3, 11) <= sys.version_info[:2] <= (3, 15)
    odd = hasattr(sys, "getobjects") or sysconfig.get_config_var("Py_GIL_DISABLED")
    if not known or odd or ctypes.sizeof(ctypes.c_void_p) != 8 or sys.int_info.bits_per_digit != 30:
        return None
    sample = [1, 2, 3]
    length = ctypes.c_int64.from_address(id(sample) + 16).value
    kind = ctypes.c_int64.from_address(id(sample) + 8).value
    return ("signed" if sys.version_info < (3, 12) else "tagged") if (length, kind) == (3, id(list)) else None


@cache
def _reader(type_: type, values: bool) -> Reader | None:
    """Code for a type, or for types alone, tried on values that tell layouts apart; None where it does not do."""
    code = code_of(type_, values)
    try:
        found = None if code is None else Reader(type_, code)
    except RuntimeError:
        return None
    return found if found is not None and reads(found, values, list, tuple) else None


def code_of(type_: type, values: bool) -> str | None:
    """What goes through objects of a type, or looks at their types alone; None where their layout is not known."""
    form = layout()
    if form is None or not values:
        return None if form is None else _NOTHING
    return {int: _INT.replace("{size}", _SIZES[form]), float: _FLOAT, bool: _BOOL}[type_]


def reads(found: Reader, values: bool, *made: Callable[[Sequence[Any]], Sequence[Any]]) -> bool:
    """Whether it reads what these make of numbers of its type, and nothing else."""
    sample = SAMPLES[found.type]
    for data in (make(sample) for make in made):
        out = np.zeros(len(sample), found.dtype)
        if not found.read(data, 0, len(sample), out):
            return False
        if values and list(map(repr, out.tolist())) != list(map(repr, sample)):
            return False
    wrong = [*sample, None]
    return not found.read(made[0](wrong), 0, len(wrong), np.zeros(len(wrong), found.dtype))


SAMPLES: dict[type, list[Any]] = {
    int: [0, 1, -1, 255, -(2**30), 2**30 - 1, 2**30, 2**59 + 5, -(2**60) - 7, 2**63 - 1, -(2**63)],
    float: [0.0, -0.0, 1.5, float("inf"), 5e-324],
    bool: [True, False, True],
}
"""Numbers that tell layouts apart."""


def read(
    data: Sequence[object], type_: type, out: _AnyArray | None, piece: int = 1 << 20, first: int = 0
) -> bool:
    """Whether elements from `first` on are of the type, and fit; then they are in `out`, if there is one.

    All of them, or as many as `out` has room for; a piece at a time, between which signals are answered. False, too,
    where this cannot be told here.
    """
    return read_by(reader(type_, values=out is not None), data, out, piece, first)


def read_by(
    code: Reader | None, data: Sequence[object], out: _AnyArray | None, piece: int = 1 << 20, first: int = 0
) -> bool:
    """The same by this code; False if there is none."""
    if code is None:
        return False
    stop = len(data) if out is None else first + len(out)
    for start in range(first, stop, piece):
        place = None if out is None else out[start - first : start - first + piece]
        if not code.read(data, start, min(start + piece, stop), place):
            return False
    return True


def alike(data: Sequence[object], piece: int = 1 << 20, most: int = sys.maxsize) -> int:
    """How many elements up to the first of another type have that of the first; 0 where this cannot be told here.

    No more than `most` are looked at.
    """
    code, found = reader(type(data[0]), values=False), 0
    if code is not None:
        end = min(len(data), most)
        for start in range(0, end, piece):
            stop = min(start + piece, end)
            found += code.count(data, start, stop, None)
            if found < stop:
                break
    return found


def reader(type_: type, values: bool = True) -> Reader | None:
    """Code that reads numbers of the type, or looks whether all are of it; None where there is none."""
    if type_ not in DTYPES:
        return None
    with _lock:
        return _reader(type_, values)


__all__ = [
    "ADDRESS", "DTYPES", "LENGTH", "SAMPLES", "SHORT", "TYPES", "WORTH", "Intake", "Reader", "alike", "code_of",
    "head_of", "layout", "read", "read_by", "reader", "reads",
]  # fmt: skip
