"""Numbers of one type drawn from an iterator by native code: asked for, read and let go, without a list of them.

    while True: element = PyIter_Next(iterator); its type? -> its number into the array

It ends with the iterator, or with the first element of another type, or beyond 64 bits: nothing is drawn behind that.
So it does with the first one that comes with another value of a variable, of those that are to be watched.
What goes through the objects is that of lists.py, with its trials of their layout.
"""

from __future__ import annotations

import ctypes
import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from types import CellType
from typing import Any

import numpy as np
import numpy.typing as npt

from hastega_magic.forking import held_while_forking
from hastega_magic.runtime import cpu
from hastega_magic.runtime.objects.lists import DTYPES, SAMPLES, code_of
from hastega_magic.runtime.objects.words import written_out

_ITERATOR, _COUNT, _OUT, _TYPE, _DONE, _TRUE, _NEXT, _RELEASE, _LAST, _FIND, _MANY, _WATCHED = range(12)

Variable = tuple[dict[str, Any], str, object] | tuple[CellType, None, object]
"""A name in a namespace, or a cell, and its value."""

_ENTRY = """
define void @hastega(ptr %words, ptr %scratch) {
entry:
  %iterator = word ptr of %words at 0
  %count = word i64 of %words at 1
  %out = word ptr of %words at 2
  %type = word ptr of %words at 3
  %done.at = getelementptr i64, ptr %words, i64 4
  %true = word ptr of %words at 5
  %ask = word ptr of %words at 6
  %release = word ptr of %words at 7
  %last.at = getelementptr i64, ptr %words, i64 8
  %find = word ptr of %words at 9
  %v.many = word i64 of %words at 10
  %watched = word ptr of %words at 11
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %more ]
  %over = icmp sge i64 %i, %count
  br i1 %over, label %end, label %draw
draw:
  %item = call ptr %ask(ptr %iterator)
  store ptr %item, ptr %last.at
  %none = icmp eq ptr %item, null
  br i1 %none, label %end, label %look
look:
  %its.at = getelementptr i8, ptr %item, i64 8
  %its = load ptr, ptr %its.at
  %fits = icmp eq ptr %its, %type
  br i1 %fits, label %watch, label %end
watch:
  %w = phi i64 [ 0, %look ], [ %w.next, %found ]
  %v.all = icmp sge i64 %w, %v.many
  br i1 %v.all, label %read, label %variable
variable:
  %v.where.at = getelementptr {ptr, ptr, ptr}, ptr %watched, i64 %w
  %v.name.at = getelementptr {ptr, ptr, ptr}, ptr %watched, i64 %w, i32 1
  %v.value.at = getelementptr {ptr, ptr, ptr}, ptr %watched, i64 %w, i32 2
  %v.where = load ptr, ptr %v.where.at
  %v.name = load ptr, ptr %v.name.at
  %v.value = load ptr, ptr %v.value.at
  %v.cell = icmp eq ptr %v.name, null
  br i1 %v.cell, label %of.cell, label %of.name
of.cell:
  %in.cell = load ptr, ptr %v.where
  br label %found
of.name:
  %in.scope = call ptr %find(ptr %v.where, ptr %v.name)
  br label %found
found:
  %v.now = phi ptr [ %in.cell, %of.cell ], [ %in.scope, %of.name ]
  %w.next = add i64 %w, 1
  %v.same = icmp eq ptr %v.now, %v.value
  br i1 %v.same, label %watch, label %end
read:
"""

_END = """
more:
  store ptr null, ptr %last.at
  call void %release(ptr %item)
  %next = add i64 %i, 1
  br label %head
end:
  store i64 %i, ptr %done.at
  ret void
}
"""


class Drawer:
    """Native code that draws elements of one type."""

    def __init__(self, type_: type, code: str) -> None:
        self.type, self.dtype = type_, np.dtype(DTYPES[type_])
        self._program = cpu.compile_text(written_out(_ENTRY + code + _END))
        # Python raises what the iterator has raised, when the code comes back; and it keeps the GIL.
        prototype: Any = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
        self._call = prototype(ctypes.cast(self._program.function, ctypes.c_void_p).value or 0)
        calls = [_address(name) for name in ("PyIter_Next", "Py_DecRef", "PyDict_GetItemWithError")]
        self._words = [0, 0, 0, id(type_), 0, id(True), *calls[:2], 0, calls[2], 0, 0]

    def draw(
        self, elements: Iterator[object], count: int, watched: Sequence[Variable] = ()
    ) -> tuple[npt.NDArray[Any], list[object]]:
        """Up to so many elements, as many as are of the type and fit 64 bits, and the one that is not, if it was drawn.

        Or that came when one of the variables was another object; `watched`: those for which `can_watch` is true.
        Shape (drawn,), int64, float64 or bool. What the iterator raises propagates: what was drawn before it is lost.
        """
        out = np.empty(count, self.dtype)
        words = (ctypes.c_int64 * len(self._words))(*self._words)
        words[_ITERATOR], words[_COUNT], words[_OUT] = id(elements), count, out.ctypes.data
        table = (ctypes.c_int64 * (3 * len(watched)))(*itertools.chain.from_iterable(map(_entry, watched)))
        words[_MANY], words[_WATCHED] = len(watched), ctypes.addressof(table)
        self._call(ctypes.addressof(words), None)
        odd = [_owned(words[_LAST])] if words[_LAST] else []
        return out[: words[_DONE]], odd


def _address(name: str) -> int:
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


def can_watch(variable: Variable) -> bool:
    """Whether native code reads the variable as Python does."""
    where, name, value = variable
    if type(where) is CellType:
        return _in_cell(where).value == id(value)
    return type(where) is dict and type(name) is str and name in where and where[name] is value


def _entry(variable: Variable) -> tuple[int, int, int]:
    where, name, value = variable
    if name is None:
        return ctypes.addressof(_in_cell(where)), 0, id(value)
    return id(where), id(name), id(value)


def _in_cell(cell: object) -> ctypes.c_void_p:
    """Where a cell has its object: behind what all objects begin with."""
    return ctypes.c_void_p.from_address(id(cell) + object.__basicsize__)


def _owned(address: int) -> object:
    """The object at an address, with the reference that the code has left there."""
    found = ctypes.cast(address, ctypes.py_object).value
    _release(address)
    return found


_release: Any = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(("Py_DecRef", ctypes.pythonapi))
_lock = held_while_forking(threading.Lock())


def drawer(type_: type) -> Drawer | None:
    """Code that draws numbers of a type, tried on values that tell layouts apart; None where there is none."""
    with _lock:
        return _drawer(type_) if type_ in DTYPES else None


@cache
def _drawer(type_: type) -> Drawer | None:
    code = code_of(type_, values=True)
    try:
        found = None if code is None else Drawer(type_, code)
    except (RuntimeError, AttributeError):
        return None
    return found if found is not None and _draws(found, SAMPLES[type_]) else None


def _draws(found: Drawer, sample: Sequence[object]) -> bool:
    """Whether it draws these as they are, ends where they end, and stops at another one."""
    wrong: list[Callable[[], object]] = [object, list, lambda: None, lambda: 1 << 64]
    for make in wrong:
        other, elements = make(), iter(())
        elements = itertools.chain(sample, [other], sample)
        drawn, odd = found.draw(elements, 2 * len(sample))
        rest = list(elements)
        if _seen(drawn) != _seen(sample) or len(odd) != 1 or odd[0] is not other or rest != list(sample):
            return False
    drawn, odd = found.draw(iter(sample), 2 * len(sample))
    return _seen(drawn) == _seen(sample) and not odd


def _seen(values: Any) -> list[str]:
    return [repr(each) for each in (values.tolist() if isinstance(values, np.ndarray) else values)]


__all__ = ["Drawer", "Variable", "can_watch", "drawer"]
