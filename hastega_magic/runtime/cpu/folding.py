"""Sums of blocks' partial results in native code, once that is there: for loops that run again.

Over data that went through the caches a call of NumPy finds its own code gone from them: that is 30 to 50 µs each
time. The code here is some cache lines, and who leads a call (`pool.py`) may go on with it. It is compiled when first
asked for, in the background, where vectors can be loaded in part (AVX2, AVX-512); elsewhere NumPy does the same.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from hastega_magic.runtime import cpu, results
from hastega_magic.runtime.addresses import address_of
from hastega_magic.runtime.background import Later
from hastega_magic.runtime.cpu import folding_text
from hastega_magic.runtime.sources import AnyArray

_LOW = (1 << 64) - 1
_INT64, _FLOAT64 = np.dtype(np.int64), np.dtype(np.float64)

native = Later(lambda: cpu.compile_text(folding_text.text()))


class Totals:
    """The sums of arrays of partial results, as those are when it is asked; not for two threads at once.

    partials   shape (blocks, 1), int64 or float64, or (blocks, 2): int64 halves. Their memory is used again and again.
    """

    def __init__(self, partials: Sequence[AnyArray]) -> None:
        self._partials = partials
        self._results = (ctypes.c_int64 * (2 * len(partials)))()
        self._floats = [
            ctypes.c_double.from_buffer(self._results, 16 * number) if array.dtype == _FLOAT64 else None
            for number, array in enumerate(partials)
        ]
        self._program: cpu.Program | None = None  # its code must stay
        self._list: ctypes.Array[ctypes.c_int64] | None = None
        self.code = self.address = 0
        """Native code that makes them, and its first argument; 0 until `prepare` finds that there is some."""

    def prepare(self) -> None:
        """Look whether native code is there; if not, it will be."""
        program = native.ask() if cpu.host().vector_bits >= 256 else None
        kinds = [_kind(each) for each in self._partials]
        if program is None or 0 in kinds:
            return
        words, result = list[int](), ctypes.addressof(self._results)
        for kind, array in zip(kinds, self._partials, strict=True):
            words += [kind, address_of(array), array.size, result]
            result += 16
        self._list = (ctypes.c_int64 * (len(words) + 1))(*words)
        self.address = ctypes.addressof(self._list)
        self._program, self.code = program, program.address

    def get(self, *, made: bool) -> list[int | float]:
        """Exact sums of integers, sums of floats by the fixed tree. `made`: by `code`, already."""
        if not made:
            if self._program is None:
                return [total(each) for each in self._partials]
            self._program.function(self.address, None)
        words = self._results
        return [
            (words[2 * number + 1] << 64) + (words[2 * number] & _LOW) if each is None else 0.0 + each.value
            for number, each in enumerate(self._floats)
        ]


def _kind(array: AnyArray) -> int:
    """How the array is folded; 0 where it is left to NumPy."""
    blocks, columns = array.shape
    if not blocks or not array.flags.c_contiguous:
        return 0
    if array.dtype == _FLOAT64:
        return folding_text.TREE if columns == 1 else 0
    if array.dtype != _INT64 or columns > 2 or blocks > results.MANY:
        return 0
    return folding_text.INTEGERS if columns == 1 else folding_text.HALVES


def total(array: AnyArray) -> int | float:
    """The same of one array, without native code."""
    return results.float_sum(array[:, 0], True) if array.dtype.kind == "f" else results.exact_sum(array)


__all__ = ["Totals", "native", "total"]
