"""Lists of Python's or NumPy's numbers made from arrays by native code: one pass, at the speed of memory.

`array.tolist()` and `list(array)` call functions for every element. Objects made here are laid out as CPython and NumPy
lay them out, in memory of Python's own allocator, so that they are freed like any others; the layouts are tried before
they are used, and where they are not as expected, nothing here is.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from functools import cache
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from hastega_magic.forking import held_while_forking
from hastega_magic.runtime import cpu
from hastega_magic.runtime.objects.lists import WORTH, layout
from hastega_magic.runtime.objects.words import written_out

_AnyArray = npt.NDArray[Any]

PIECE = 1 << 20
"""Elements made at a time: some milliseconds, after which signals are answered."""

KEPT = 128
"""Halves of a MiB of Python's memory that dead results leave to the next one: fresh pages cost more than the objects in
them."""

_HALF = 19
_SAMPLED = 1 << 13
"""Of so many objects in a row one may be kept. Python's allocator asks for 1 MiB at a time, wherever it lies: one
of the halves that addresses are counted in lies in it whole, with the object that is kept there."""

_ITEMS, _COUNT, _DATA, _TYPE, _SMALL, _MALLOC, _DONE = range(7)
NAN, WORDS = 10, 11
"""Words that the code is given, of which some are there for code that makes no objects (reused.py); and the one that it
sets where an object of Python's float is NaN."""

_SMALLEST, _LARGEST = -5, 1024 if sys.version_info >= (3, 15) else 256
"""Ints of which there is one object each."""

_ENTRY = """
define void @hastega(ptr %words, ptr %scratch) {
entry:
  %items = word ptr of %words at 0
  %count = word i64 of %words at 1
  %data = word ptr of %words at 2
  %type = word ptr of %words at 3
  %small = word ptr of %words at 4
  %malloc = word ptr of %words at 5
  %done.at = getelementptr i64, ptr %words, i64 6
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %more ]
  %over = icmp sge i64 %i, %count
  br i1 %over, label %end, label %look
look:
  %value.at = getelementptr {width}, ptr %data, i64 %i
  %value = load {width}, ptr %value.at
"""

_PLAIN = """
  %new = call ptr %malloc(i64 24)
  %none = icmp eq ptr %new, null
  br i1 %none, label %end, label %fill
fill:
  store i64 1, ptr %new
  %type.of = getelementptr i8, ptr %new, i64 8
  store ptr %type, ptr %type.of
  %at = getelementptr i8, ptr %new, i64 16
  store {width} %value, ptr %at
  {look}
more:
  %object = phi ptr [ %new, {from} ]
"""

_LOOK_FOR_NAN = """%float = bitcast i64 %value to double
  %odd = fcmp uno double %float, %float
  br i1 %odd, label %note, label %more
note:
  %nan.at = getelementptr i64, ptr %words, i64 {nan}
  store i64 1, ptr %nan.at
  br label %more"""

_INT = """
  %above = sub i64 %value, {smallest}
  %is.small = icmp ult i64 %above, {smalls}
  br i1 %is.small, label %known, label %make
known:
  %known.at = getelementptr ptr, ptr %small, i64 %above
  %old = load ptr, ptr %known.at
  {share}
  br label %more
make:
  %negative = icmp slt i64 %value, 0
  %minus = sub i64 0, %value
  %magnitude = select i1 %negative, i64 %minus, i64 %value
  %second = lshr i64 %magnitude, 30
  %third = lshr i64 %magnitude, 60
  %has.second = icmp ne i64 %second, 0
  %has.third = icmp ne i64 %third, 0
  %one.more = zext i1 %has.second to i64
  %two.more = zext i1 %has.third to i64
  %more.digits = add i64 %one.more, %two.more
  %digits = add i64 %more.digits, 1
  ; Room for two digits, which is what a block of the allocator has for one; both are stored at once.
  %bytes = select i1 %has.third, i64 36, i64 32
  %new = call ptr %malloc(i64 %bytes)
  %none = icmp eq ptr %new, null
  br i1 %none, label %end, label %fill
fill:
  store i64 1, ptr %new
  %type.of = getelementptr i8, ptr %new, i64 8
  store ptr %type, ptr %type.of
  {size}
  %size.at = getelementptr i8, ptr %new, i64 16
  store i64 %size, ptr %size.at
  %low = and i64 %magnitude, 1073741823
  %middle = and i64 %second, 1073741823
  %middle.up = shl i64 %middle, 32
  %both = or i64 %low, %middle.up
  %both.at = getelementptr i8, ptr %new, i64 24
  store i64 %both, ptr %both.at
  br i1 %has.third, label %put.third, label %more
put.third:
  %third32 = trunc i64 %third to i32
  %third.at = getelementptr i8, ptr %new, i64 32
  store i32 %third32, ptr %third.at
  br label %more
more:
  %object = phi ptr [ %old, %known ], [ %new, %fill ], [ %new, %put.third ]
"""

_END = """
  %object.at = getelementptr ptr, ptr %items, i64 %i
  store ptr %object, ptr %object.at
  %next = add i64 %i, 1
  br label %head
end:
  store i64 %i, ptr %done.at
  ret void
}
"""

_SIZES = {
    # As in lists.py. Small ints are counted like others up to 3.11, and immortal from 3.12 on.
    "signed": "%opposite = sub i64 0, %digits\n  %size = select i1 %negative, i64 %opposite, i64 %digits",
    "tagged": "%count.up = shl i64 %digits, 3\n  %sign = select i1 %negative, i64 2, i64 0\n"
    "  %size = or i64 %count.up, %sign",
}
_SHARED = {
    "signed": "%uses = load i64, ptr %old\n  %used = add i64 %uses, 1\n  store i64 %used, ptr %old",
    "tagged": "",
}

_lock = held_while_forking(threading.Lock())


class Maker:
    """Native code that makes objects of one type from elements of one dtype."""

    def __init__(self, dtype: np.dtype[Any], type_: type, code: str) -> None:
        self.type = type_
        text = written_out(_ENTRY + code + _END).replace("{width}", f"i{8 * dtype.itemsize}")
        self._program = cpu.compile_text(text)
        self.address = ctypes.cast(self._program.function, ctypes.c_void_p).value or 0
        prototype: Any = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)  # keeps the GIL
        self._call = prototype(self.address)
        self._malloc = ctypes.cast(ctypes.pythonapi.PyObject_Malloc, ctypes.c_void_p).value or 0
        smalls = range(_SMALLEST, _LARGEST + 1)
        self._small = (ctypes.c_int64 * len(smalls))(*map(id, smalls))

    def words(self) -> Any:
        """What the code is given, in part: where objects go, how many, and the elements are the caller's to fill in."""
        words = (ctypes.c_int64 * WORDS)()
        words[_TYPE], words[_SMALL], words[_MALLOC] = (
            id(self.type),
            ctypes.addressof(self._small),
            self._malloc,
        )
        return words

    def make(self, array: _AnyArray) -> list[Any]:
        """The elements as objects; MemoryError where there is no room for them."""
        made = _new_list(len(array))
        items = ctypes.c_int64.from_address(id(made) + 24).value
        words = self.words()
        for start in range(0, len(array), PIECE):
            count = min(PIECE, len(array) - start)
            words[_ITEMS], words[_COUNT] = items + 8 * start, count
            words[_DATA] = array.ctypes.data + start * array.itemsize
            self._call(ctypes.addressof(words), None)
            if words[_DONE] != count:
                raise MemoryError
        return made


_new_list = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_ssize_t)(("PyList_New", ctypes.pythonapi))
"""A list of so many places that are yet to be filled."""


@cache
def _maker(dtype: np.dtype[Any], scalars: bool) -> Maker | None:
    """Code for a dtype, tried on values that tell layouts apart; None where it does not do."""
    form = layout()
    if form is None or not dtype.isnative:
        return None
    type_ = dtype.type if scalars else {"i8": int, "f8": float}.get(dtype.str[1:])
    if type_ is None or (scalars and (dtype.kind not in "iuf" or not _plain(type_))):
        return None
    look = _LOOK_FOR_NAN.replace("{nan}", str(NAN)) if type_ is float else "br label %more"
    code = _PLAIN.replace("{look}", look).replace(
        "{from}", "%fill ], [ %new, %note" if type_ is float else "%fill"
    )
    if type_ is int:
        code = _INT.replace("{size}", _SIZES[form]).replace("{share}", _SHARED[form])
        code = code.replace("{smallest}", str(_SMALLEST)).replace("{smalls}", str(_LARGEST - _SMALLEST + 1))
    sample = _sample(dtype)
    expected: list[Any] = list(sample) if scalars else cast("list[Any]", sample.tolist())
    try:
        found = Maker(dtype, type_, code)
    except (RuntimeError, AttributeError):
        return None
    made = found.make(sample)
    return found if _seen(made) == _seen(expected) else None


def _seen(objects: list[Any]) -> list[tuple[object, str, int]]:
    return [(each.__class__, repr(each), sys.getrefcount(each)) for each in objects]


def _plain(type_: type) -> bool:
    """Whether its objects are a header and a value of up to eight bytes, of a type that is never freed."""
    flags = type_.__flags__
    return (
        type_.__basicsize__ == 24
        and not type_.__itemsize__
        and not flags & (1 << 14)
        and not flags & (1 << 9)
    )


def _sample(dtype: np.dtype[Any]) -> _AnyArray:
    if dtype.kind == "f":
        return np.array([0.0, -0.0, 1.5, np.inf, np.nan, -(2.0**-20)], dtype)
    limits = np.iinfo(dtype)
    values = [
        sign * (1 << bits) + off
        for bits in (0, 8, 29, 30, 59, 60, 62)
        for off in (-1, 0, 1)
        for sign in (1, -1)
    ]
    values += [_LARGEST + 1, _SMALLEST - 1, limits.min, limits.max]
    shared = range(_SMALLEST, _LARGEST + 1)
    return np.array(
        [each for each in values if limits.min <= each <= limits.max and each not in shared], dtype
    )


def maker(dtype: np.dtype[Any], scalars: bool = False) -> Maker | None:
    """Code that makes objects of elements, as `listed` says; None where there is none."""
    with _lock:
        return _maker(dtype, scalars)


_kept: dict[int, object] = {}


def keep(made: list[Any]) -> None:
    """Hold one object in each half of a MiB that the others lie in, so that it stays with Python when they die.

    Where the last results lay counts: other objects may have come to where the first ones did.
    """
    if len(made) < 4 * _SAMPLED:
        return
    for each in made[_SAMPLED // 2 :: _SAMPLED]:
        if each.__class__ is not int or not _SMALLEST <= each <= _LARGEST:
            half = id(each) >> _HALF
            _kept.pop(half, None)
            _kept[half] = each
    for half in [*_kept][: max(0, len(_kept) - KEPT)]:
        _kept.pop(half, None)


def forget() -> None:
    """Let go of memory that is kept for the next result."""
    _kept.clear()


def listed(array: _AnyArray, scalars: bool = False) -> list[Any]:
    """The elements of a 1-D array as Python's numbers (`tolist`), or as NumPy's scalars (`list`): a new list.

    Floats and complex numbers that are narrower than Python's are NumPy's in any case. Elements of a structured array
    are tuples. MemoryError where there is no room for them.
    """
    scalars = scalars or array.dtype.type in (np.float32, np.complex64)
    if array.dtype.names and not scalars:
        return list(
            zip(*(listed(np.ascontiguousarray(array[name])) for name in array.dtype.names), strict=True)
        )
    if len(array) >= WORTH and array.ndim == 1 and array.flags.c_contiguous:
        code = maker(array.dtype, scalars)
        if code is not None:
            made = code.make(array)
            keep(made)
            return made
    return list(array) if scalars else cast("list[Any]", array.tolist())


__all__ = ["Maker", "forget", "keep", "listed", "maker"]
