"""Lists of the objects that a list holds already: of those of its elements that a loop kept as they are.

    [x for x in xs if x > 3]     numbers of a chunk   5 1 4 7 1 9     as the loop read them
                                 kept                 5 4 7 9         in their order, as it stored them

Both are gone through side by side: where the next number kept is that of an element, its object is one of the result's.
No object is made, and NaN stays the very one that it was, by which `in` and `==` tell it.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from hastega_magic.ir.expr import Expr, postorder
from hastega_magic.ir.kernel import Kernel, Store
from hastega_magic.runtime import cpu
from hastega_magic.runtime.objects.boxes import WORDS
from hastega_magic.runtime.objects.lists import ADDRESS, head_of, layout
from hastega_magic.runtime.objects.words import written_out

# As of `boxes.Maker`, then the elements' objects, how many, and their numbers.
_ITEMS, _COUNT, _DATA, _DONE, _GIVEN, _LENGTH, _NUMBERS = 0, 1, 2, 6, 7, 8, 9

_TEXT = """
define void @hastega(ptr %words, ptr %scratch) {
entry:
  %items = word ptr of %words at 0
  %count = word i64 of %words at 1
  %data = word ptr of %words at 2
  %done.at = getelementptr i64, ptr %words, i64 6
  %given = word ptr of %words at 7
  %length = word i64 of %words at 8
  %numbers = word ptr of %words at 9
  %eight = mul i64 %count, 8
  %rare = icmp ult i64 %eight, %length
  br i1 %rare, label %seek, label %head
; Where few are kept, each is sought: what the processor foresees then is that it is not the next one.
seek:
  %found = phi i64 [ 0, %entry ], [ %found.next, %take ]
  %from = phi i64 [ 0, %entry ], [ %from.next, %take ]
  %all = icmp sge i64 %found, %count
  br i1 %all, label %count.them, label %want
want:
  %sought.at = getelementptr i64, ptr %data, i64 %found
  %sought = load i64, ptr %sought.at
  br label %try
try:
  %t = phi i64 [ %from, %want ], [ %t.next, %other ]
  %out = icmp sge i64 %t, %length
  br i1 %out, label %count.them, label %compare
compare:
  %tried.at = getelementptr i64, ptr %numbers, i64 %t
  %tried = load i64, ptr %tried.at
  %hit = icmp eq i64 %tried, %sought
  br i1 %hit, label %take, label %other
other:
  %t.next = add i64 %t, 1
  br label %try
take:
  %taken.at = getelementptr ptr, ptr %given, i64 %t
  %taken = load ptr, ptr %taken.at
  %place.at = getelementptr ptr, ptr %items, i64 %found
  store ptr %taken, ptr %place.at
  %found.next = add i64 %found, 1
  %from.next = add i64 %t, 1
  br label %seek
head:
  %i = phi i64 [ 0, %entry ], [ %i.next, %look ]
  %kept = phi i64 [ 0, %entry ], [ %kept.next, %look ]
  %wanted = icmp slt i64 %kept, %count
  %there = icmp slt i64 %i, %length
  %both = and i1 %wanted, %there
  br i1 %both, label %look, label %count.them
look:
  %number.at = getelementptr i64, ptr %numbers, i64 %i
  %number = load i64, ptr %number.at
  %next.at = getelementptr i64, ptr %data, i64 %kept
  %next = load i64, ptr %next.at
  %object.at = getelementptr ptr, ptr %given, i64 %i
  %object = load ptr, ptr %object.at
  %item.at = getelementptr ptr, ptr %items, i64 %kept
  store ptr %object, ptr %item.at
  %same = icmp eq i64 %number, %next
  %one = zext i1 %same to i64
  %kept.next = add i64 %kept, %one
  %i.next = add i64 %i, 1
  br label %head
count.them:
  %have = phi i64 [ %kept, %head ], [ %found, %seek ], [ %found, %try ]
  br label %counted
counted:
  %k = phi i64 [ 0, %count.them ], [ %k.next, %used ]
  %over = icmp sge i64 %k, %have
  br i1 %over, label %end, label %use
use:
  %each.at = getelementptr ptr, ptr %items, i64 %k
  %each = load ptr, ptr %each.at
  {share}
used:
  %k.next = add i64 %k, 1
  br label %counted
end:
  store i64 %have, ptr %done.at
  ret void
}
"""

_SHARES = {
    # As in boxes.py. From 3.12 on, of 32 bits the uppermost says that an object is immortal, and not counted.
    "signed": """%uses = load i64, ptr %each
  %uses.now = add i64 %uses, 1
  store i64 %uses.now, ptr %each
  br label %used""",
    "tagged": """%uses = load i32, ptr %each
  %immortal = icmp slt i32 %uses, 0
  br i1 %immortal, label %used, label %mortal
mortal:
  %uses.now = add i32 %uses, 1
  store i32 %uses.now, ptr %each
  br label %used""",
}


class Picker:
    """The native code, where `boxes.Maker` makes objects instead."""

    def __init__(self, form: str) -> None:
        self._program = cpu.compile_text(written_out(_TEXT.replace("{share}", _SHARES[form])))
        self.address = ctypes.cast(self._program.function, ctypes.c_void_p).value or 0

    def words(self) -> Any:
        """What the code is given: all is the caller's to fill in."""
        return (ctypes.c_int64 * WORDS)()


@cache
def picker() -> Picker | None:
    """The code, tried on some objects; None where it does not do. Not for two threads at once."""
    form = layout()
    if form is None:
        return None
    try:
        found = Picker(form)
    except RuntimeError:
        return None
    tried: list[list[int]] = [[0, 2, 3], [0, 4], [17], []]
    return found if all(_picks(found, places) for places in tried) else None


def _picks(found: Picker, places: Sequence[int]) -> bool:
    given: list[Any] = [float(each) for each in range(10**6, 10**6 + 18)]
    numbers, made = np.array(given), [None] * len(places)
    data, words = numbers[[*places]], found.words()
    words[_ITEMS], words[_COUNT], words[_DATA] = head_of(made)[ADDRESS], len(places), data.ctypes.data
    words[_GIVEN], words[_LENGTH], words[_NUMBERS] = head_of(given)[ADDRESS], len(given), numbers.ctypes.data
    before = [*map(sys.getrefcount, given)]
    prototype: Any = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)  # keeps the GIL
    prototype(found.address)(ctypes.addressof(words), None)
    more = [now - each for now, each in zip(map(sys.getrefcount, given), before, strict=True)]
    same = [*map(id, made)] == [id(given[place]) for place in places]
    return same and words[_DONE] == len(places) and more == [place in places for place in range(len(given))]


def kept_whole(kernel: Kernel) -> int | None:
    """The slot of the source whose elements, unchanged, are the loop's result; None if it gives others.

    Whether one is kept must be decided by itself: equal ones are told from each other by nothing else.
    """
    (store,) = (each for each in kernel.body if isinstance(each, Store))
    own = store.value
    if own.op != "load" or store.running or _one(kernel, own):
        return None
    leaves = [] if store.mask is None else [each for each in postorder([store.mask]) if not each.args]
    if any(
        each.op == "index" or (each.op == "load" and each is not own and not _one(kernel, each))
        for each in leaves
    ):
        return None
    return own.value if isinstance(own.value, int) else None


def _one(kernel: Kernel, load: Expr) -> bool:
    """Whether it is one number for all elements."""
    return isinstance(load.value, int) and kernel.sources[load.value].layout == "scalar"


__all__ = ["Picker", "kept_whole", "picker"]
