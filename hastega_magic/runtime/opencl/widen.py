"""Copies of narrow integers into wide ones, with streaming stores: a result is not read again here.

int32 [1, -2, 3] → int64 [1, -2, 3]
"""

from __future__ import annotations

import ctypes
import threading
from functools import cache

import numpy as np

from hastega_magic.forking import held_while_forking
from hastega_magic.ir.abi import ENTRY
from hastega_magic.runtime.cpu import Program, compile_text
from hastega_magic.runtime.sources import AnyArray

_LANES = 8
_ALIGNED = 64
_FEW = 1 << 14
"""Up to so many elements the call costs more than it saves."""

_LOCK = held_while_forking(threading.Lock())
_BITS = {"int8": 8, "int16": 16, "int32": 32}


def copy(into: AnyArray, part: AnyArray) -> None:
    """Copy `part` to `into`, arrays of one shape; integers may become wider. Releases the GIL for large ones."""
    bits = _BITS.get(part.dtype.name)
    dense = into.flags.c_contiguous and part.flags.c_contiguous and into.dtype == np.int64
    where, size = into.ctypes.data, into.size
    if bits is None or not dense or size < _FEW or where % _ALIGNED:
        np.copyto(into, part, casting="unsafe")
        return
    whole = size - size % _LANES
    words = (ctypes.c_int64 * 3)(part.ctypes.data, where, whole)
    with _LOCK:  # two threads must not make the same program: one of the two would be thrown away in use
        program = _program(bits)
    program.function(ctypes.addressof(words), 0)
    np.copyto(into.reshape(-1)[whole:], part.reshape(-1)[whole:])


@cache
def _program(bits: int) -> Program:
    return compile_text(_TEXT.format(entry=ENTRY, bits=bits, lanes=_LANES, align=bits // 8, wide=_ALIGNED))


_TEXT = """
define void @{entry}(ptr %words, ptr %scratch) {{
entry:
  %source = load ptr, ptr %words
  %second = getelementptr i64, ptr %words, i64 1
  %into = load ptr, ptr %second
  %third = getelementptr i64, ptr %words, i64 2
  %count = load i64, ptr %third
  br label %turn
turn:
  %i = phi i64 [0, %entry], [%next, %turn]
  %from = getelementptr i{bits}, ptr %source, i64 %i
  %narrow = load <{lanes} x i{bits}>, ptr %from, align {align}
  %wide = sext <{lanes} x i{bits}> %narrow to <{lanes} x i64>
  %to = getelementptr i64, ptr %into, i64 %i
  store <{lanes} x i64> %wide, ptr %to, align {wide}, !nontemporal !0
  %next = add i64 %i, {lanes}
  %more = icmp slt i64 %next, %count
  br i1 %more, label %turn, label %end
end:
  ret void
}}
!0 = !{{i32 1}}
"""
