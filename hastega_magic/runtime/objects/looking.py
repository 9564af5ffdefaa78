"""What rewritten code calls most often, as functions of native code: looks at few elements, and values laid down.

A call of one takes some 30 ns, where a function of Python's takes ten times as long. The layouts of objects are
CPython's, and are tried before they are used, as for lists (`lists.py`).
"""

from __future__ import annotations

import ctypes
import threading
from array import array
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from hastega_magic.forking import held_while_forking
from hastega_magic.runtime import cpu
from hastega_magic.runtime.objects.lists import layout
from hastega_magic.runtime.objects.look_words import (
    COUNT,
    FEW,
    MOST_PLACES,
    PAUSE,
    PLACES,
    RUNS,
    STATE,
    WORTH,
    counter,
)
from hastega_magic.runtime.objects.words import written_out

_TOP, _LIST, _TUPLE, _FALSE, _SIZE, _CLEAR, _THREAD, _INCREF, _CALL, _TAKEN, _KINDS = range(11)
_FIRST, _ROOM = 24, 4096
"""Of the state: where the values begin that are laid down, each behind its thread, and how many there may be. Before
them stand the types of `_SIZED`."""

_NO: dict[None, None] = {}
_SIZED = (
    range, tuple, str, bytes, bytearray, array, dict, set, frozenset,
    type(_NO.keys()), type(_NO.values()), type(_NO.items()),
)  # fmt: skip
"""Beside lists: what shows to nobody that it is asked for its length."""

_TEXT = f"""
define void @hastega(ptr %words, ptr %scratch) {{
  %second = getelementptr ptr, ptr %words, i64 1
  %third = getelementptr ptr, ptr %words, i64 2
  %fourth = getelementptr ptr, ptr %words, i64 3
  store ptr @look, ptr %words
  store ptr @laid, ptr %second
  store ptr @lay, ptr %third
  store ptr @taken, ptr %fourth
  ret void
}}

define internal ptr @false(ptr %state) {{
  %false = word ptr of %state at {_FALSE}
  %incref = word ptr of %state at {_INCREF}
  call void %incref(ptr %false)
  ret ptr %false
}}

define internal ptr @look(ptr %self, ptr %args, i64 %nargs) {{
entry:
  %own = word ptr of %self at 3
  %state = word ptr of %own at {STATE}
  %few = word i64 of %own at {FEW}
  %count = word i64 of %own at {COUNT}
  %list = word ptr of %state at {_LIST}
  %tuple = word ptr of %state at {_TUPLE}
  %pause = word i64 of %own at {PAUSE}
  %paused = icmp sgt i64 %pause, 0
  br i1 %paused, label %rest, label %head
rest:
  %fewer = sub i64 %pause, 1
  store i64 %fewer, ptr %pause.at
  br label %so
head:
  %n = phi i64 [ 0, %entry ], [ %next, %more ]
  %over = icmp sge i64 %n, %count
  br i1 %over, label %usual, label %one
one:
  %at = add i64 %n, {PLACES}
  %place.at = getelementptr i64, ptr %own, i64 %at
  %place = load i64, ptr %place.at
  %object.at = getelementptr ptr, ptr %args, i64 %place
  %object = load ptr, ptr %object.at
  %type = word ptr of %object at 1
  %is.list = icmp eq ptr %type, %list
  br i1 %is.list, label %listed, label %other
listed:
  %length = word i64 of %object at 2
  %is.short = icmp slt i64 %length, %few
  br i1 %is.short, label %short, label %more
short:
  %items = word ptr of %object at 3
  br label %rows
rows:
  %row = phi i64 [ 0, %short ], [ %later, %added ]
  %total = phi i64 [ 0, %short ], [ %sum, %added ]
  %rows.over = icmp sge i64 %row, %length
  br i1 %rows.over, label %so, label %row.is
row.is:
  %item.at = getelementptr ptr, ptr %items, i64 %row
  %item = load ptr, ptr %item.at
  %kind = word ptr of %item at 1
  %of.lists = icmp eq ptr %kind, %list
  %of.tuples = icmp eq ptr %kind, %tuple
  %of.rows = or i1 %of.lists, %of.tuples
  br i1 %of.rows, label %counting, label %no.row
counting:
  %inside = word i64 of %item at 2
  br label %added
no.row:
  %first.row = icmp eq i64 %row, 0
  br i1 %first.row, label %so, label %added
added:
  %numbers.in = phi i64 [ %inside, %counting ], [ 1, %no.row ]
  %sum = add i64 %total, %numbers.in
  %later = add i64 %row, 1
  %many = icmp sge i64 %sum, %few
  br i1 %many, label %more, label %rows
other:
  %known = phi i64 [ {_KINDS}, %one ], [ %next.known, %another ]
  %is.none = icmp eq i64 %known, {_KINDS + len(_SIZED)}
  br i1 %is.none, label %more, label %another
another:
  %next.known = add i64 %known, 1
  %known.at = getelementptr ptr, ptr %state, i64 %known
  %kind.of = load ptr, ptr %known.at
  %is.it = icmp eq ptr %type, %kind.of
  br i1 %is.it, label %sized, label %other
sized:
  %size = word ptr of %state at {_SIZE}
  %numbers = call i64 %size(ptr %object)
  %is.long = icmp slt i64 %numbers, 0
  br i1 %is.long, label %long, label %counted
long:
  %clear = word ptr of %state at {_CLEAR}
  call void %clear()
  br label %more
counted:
  %are.few = icmp slt i64 %numbers, %few
  br i1 %are.few, label %so, label %more
more:
  %next = add i64 %n, 1
  br label %head
so:
  %runs = word i64 of %own at {RUNS}
  %ran = add i64 %runs, 1
  store i64 %ran, ptr %runs.at
  %found = call ptr @false(ptr %state)
  ret ptr %found
usual:
  %worth = word ptr of %own at {WORTH}
  %call = word ptr of %state at {_CALL}
  %answer = call ptr %call(ptr %worth, ptr %args, i64 %nargs, ptr null)
  ret ptr %answer
}}

; The last of the values is laid down first. Where there is no room, those are forgotten that have lain longest: Ctrl-C
; came before they were taken.
define internal void @down(ptr %state, ptr %args, i64 %nargs) {{
entry:
  %thread.of = word ptr of %state at {_THREAD}
  %thread = call ptr %thread.of()
  %incref = word ptr of %state at {_INCREF}
  %top = word i64 of %state at {_TOP}
  %filled = add i64 %top, %nargs
  %room = icmp sle i64 %filled, {_ROOM}
  br i1 %room, label %head, label %full
full:
  %to = getelementptr i64, ptr %state, i64 {_FIRST}
  %old = mul i64 %nargs, 2
  %from = getelementptr i64, ptr %to, i64 %old
  %left = sub i64 %top, %nargs
  %bytes = mul i64 %left, 16
  call void @llvm.memmove.p0.p0.i64(ptr %to, ptr %from, i64 %bytes, i1 false)
  br label %head
head:
  %place = phi i64 [ %top, %entry ], [ %left, %full ], [ %above, %one ]
  %n = phi i64 [ %nargs, %entry ], [ %nargs, %full ], [ %before, %one ]
  %over = icmp eq i64 %n, 0
  br i1 %over, label %end, label %one
one:
  %before = sub i64 %n, 1
  %value.at = getelementptr ptr, ptr %args, i64 %before
  %value = load ptr, ptr %value.at
  call void %incref(ptr %value)
  %twice = mul i64 %place, 2
  %word = add i64 %twice, {_FIRST}
  %whose = getelementptr ptr, ptr %state, i64 %word
  %what = getelementptr ptr, ptr %whose, i64 1
  store ptr %thread, ptr %whose
  store ptr %value, ptr %what
  %above = add i64 %place, 1
  br label %head
end:
  store i64 %place, ptr %top.at
  ret void
}}

define internal ptr @laid(ptr %self, ptr %args, i64 %nargs) {{
  %answer = call ptr @look(ptr %self, ptr %args, i64 %nargs)
  %raised = icmp eq ptr %answer, null
  br i1 %raised, label %end, label %answered
answered:
  %own = word ptr of %self at 3
  %state = word ptr of %own at {STATE}
  call void @down(ptr %state, ptr %args, i64 %nargs)
  br label %end
end:
  ret ptr %answer
}}

define internal ptr @lay(ptr %self, ptr %args, i64 %nargs) {{
  %state = word ptr of %self at 3
  call void @down(ptr %state, ptr %args, i64 %nargs)
  %answer = call ptr @false(ptr %state)
  ret ptr %answer
}}

; The last that this thread has laid down; those above are of threads that wait for their turn.
define internal ptr @taken(ptr %self, ptr %nothing) {{
entry:
  %state = word ptr of %self at 3
  %thread.of = word ptr of %state at {_THREAD}
  %thread = call ptr %thread.of()
  %top = word i64 of %state at {_TOP}
  br label %head
head:
  %n = phi i64 [ %top, %entry ], [ %below, %one ]
  %over = icmp eq i64 %n, 0
  br i1 %over, label %none, label %one
one:
  %below = sub i64 %n, 1
  %twice = mul i64 %below, 2
  %word = add i64 %twice, {_FIRST}
  %whose = getelementptr ptr, ptr %state, i64 %word
  %its = load ptr, ptr %whose
  %is.ours = icmp eq ptr %its, %thread
  br i1 %is.ours, label %found, label %head
found:
  %what = getelementptr ptr, ptr %whose, i64 1
  %value = load ptr, ptr %what
  %last = sub i64 %top, 1
  store i64 %last, ptr %top.at
  %above = getelementptr ptr, ptr %whose, i64 2
  %higher = sub i64 %top, %n
  %bytes = mul i64 %higher, 16
  %is.last = icmp eq i64 %bytes, 0
  br i1 %is.last, label %end, label %move
move:
  call void @llvm.memmove.p0.p0.i64(ptr %whose, ptr %above, i64 %bytes, i1 false)
  br label %end
end:
  ret ptr %value
none:
  %python = word ptr of %state at {_TAKEN}
  %call = word ptr of %state at {_CALL}
  %answer = call ptr %call(ptr %python, ptr null, i64 0, ptr null)
  ret ptr %answer
}}

declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
"""


class _Method(ctypes.Structure):
    """`PyMethodDef`, which a function of native code refers to as long as it lives."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("text", ctypes.c_char_p),
    )


_FASTCALL, _NOARGS = 0x80, 0x04
_function: Any = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.POINTER(_Method), ctypes.py_object, ctypes.py_object
)(("PyCFunction_NewEx", ctypes.pythonapi))


def _api(name: str) -> int:
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


class Looking:
    """The native functions. `lay` lays its arguments down, the first to be taken next, and `taken` takes one.

    What a thread has laid down is taken by it alone. Where it has laid nothing, `taken` gives what `before` gives.
    """

    def __init__(self, before: Callable[[], object]) -> None:
        self._program = cpu.compile_text(written_out(_TEXT))
        functions = (ctypes.c_void_p * 4)()
        self._program.function(ctypes.addressof(functions), None)
        self._state = array("q", bytes(8 * (_FIRST + 2 * _ROOM)))
        known = {
            _LIST: id(list), _TUPLE: id(tuple), _FALSE: id(False), _SIZE: _api("PyObject_Size"),
            _CLEAR: _api("PyErr_Clear"), _THREAD: _api("PyThreadState_Get"), _INCREF: _api("Py_IncRef"),
            _CALL: _api("PyObject_Vectorcall"), _TAKEN: id(before),
        }  # fmt: skip
        known |= {_KINDS + number: id(each) for number, each in enumerate(_SIZED)}
        for place, word in known.items():
            self._state[place] = word
        self._before = before
        named = zip((b"look", b"laid", b"lay", b"taken"), functions, strict=True)
        flags = (_FASTCALL, _FASTCALL, _FASTCALL, _NOARGS)
        self._methods = [_Method(name, at, flag, None) for (name, at), flag in zip(named, flags, strict=True)]
        _, _, lay, taken = self._methods
        self.lay: Callable[..., object] = _function(ctypes.byref(lay), self._state, self)
        self.taken: Callable[[], Any] = _function(ctypes.byref(taken), self._state, self)

    def look(
        self, known: array[int], few: int, places: Sequence[int], worth: Callable[..., bool], laying: bool
    ) -> Callable[..., bool]:
        """False where an argument at one of the places, a list or one of `_SIZED`, has fewer than `few`, and count it.

        So it answers, too, while `PAUSE` counts down. A list of rows has as many elements as these. Elsewhere `worth`,
        called with all arguments, decides. `known`: a `counter` of its own; `places`: `MOST_PLACES` at most; `laying`:
        the arguments are laid down, too.
        """
        assert len(places) <= MOST_PLACES
        known[STATE], known[FEW], known[COUNT] = self._state.buffer_info()[0], few, len(places)
        for number, place in enumerate(places):
            known[PLACES + number] = place
        known[WORTH] = id(worth)
        return _function(ctypes.byref(self._methods[laying]), known, (self, worth))


def _works(found: Looking) -> bool:
    """Whether objects lie in memory as its code expects."""
    asked: list[object] = []

    def worth(*given: object) -> bool:
        asked.append(given)
        return True

    known = counter()
    look = found.look(known, 4, (1,), worth, laying=False)
    few: list[object] = [
        [], [1, 2, 3], [[1], (1,), 2], range(3), range(0), (), "abc", b"a", {1: 2}, {1}, {1: 2}.items()
    ]  # fmt: skip
    many: list[object] = [
        [1] * 4, [[1] * 4], [(1, 2), 1, (1,)], range(4), range(10**30), (1,) * 4, "abcd", None, iter([1]),
        array("q", [1] * 4),
    ]  # fmt: skip
    expected = [False] * len(few) + [True] * len(many)
    if [look(None, each) for each in (*few, *many)] != expected:
        return False
    if asked != [(None, each) for each in many] or known[RUNS] != len(few):
        return False
    laid = found.look(counter(), 4, (0,), worth, laying=True)
    first, second = object(), object()
    laid([first], second)
    taken = found.taken(), found.taken()
    return taken == ([first], second)


_lock = held_while_forking(threading.Lock())


def looking(before: Callable[[], object]) -> Looking | None:
    """The functions; None where objects lie in memory otherwise. `before`: as in `Looking`, of the first call."""
    with _lock:
        return _looking(before)


@cache
def _looking(before: Callable[[], object]) -> Looking | None:
    if layout() is None:
        return None
    try:
        found = Looking(before)
    except (RuntimeError, AttributeError):
        return None
    return found if _works(found) else None


__all__ = ["Looking", "looking"]
