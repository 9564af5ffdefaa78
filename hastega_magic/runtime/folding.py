"""Blocks' partial results folded to one, in native code once that is there.

Over data that went through the caches a call of NumPy finds its own code gone from them: that is 30 to 50 µs each
time. The code here is a few cache lines. It is compiled when first asked for, in the background.
"""

from __future__ import annotations

import ctypes
from functools import cached_property
from typing import cast

import numpy as np

from hastega_magic.ir.reduction import tree_sum
from hastega_magic.runtime import cpu, folding_text
from hastega_magic.runtime.addresses import words_of
from hastega_magic.runtime.folding_text import LANES
from hastega_magic.runtime.later import Later
from hastega_magic.runtime.sources import AnyArray

_FEW = 8
"""Blocks whose results are added by Python: calls of anything else take longer."""

_MANY = 1 << 18
"""Blocks of which the halves, sums of 4096 words of 32 bits each, add up to what 63 bits hold."""

_MOST = 1 << 30
"""Blocks of which the halves of any integers do."""

_LOW = (1 << 32) - 1
_INT64, _FLOAT64 = np.dtype(np.int64), np.dtype(np.float64)
_Function = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)
_Words = ctypes.c_int64 * (4 * LANES)


class _Native:
    """`call(numbers, how many, results)`, which holds the GIL: it takes microseconds."""

    def __init__(self, text: str) -> None:
        self._program = cpu.compile_text(text)  # its code must stay
        self.call = _Function(self._program.address)


_integers = Later(lambda: _Native(folding_text.integers()))
_tree = Later(lambda: _Native(folding_text.tree()))


class Folding:
    """Folds an array of partial results: shape (blocks, words), int64 or float, contents as they are when it is asked.

    `again`: other arrays will follow, or this one with other contents, so that native code is worth being made. Not for
    two threads at once.
    """

    def __init__(self, partials: AnyArray, *, again: bool = False) -> None:
        self._partials, self._again = partials, again
        self._blocks, self._columns = partials.shape

    def exact_sums(self) -> list[int]:
        """The sum of each column of integers, however large; two or more are halves of sums of 4096 elements."""
        if self._blocks <= _FEW:
            rows = cast("list[list[int]]", self._partials.tolist())
            return [sum(column) for column in zip(*rows, strict=True)] or [0] * self._columns
        native = _integers.ask() if self._again else _integers.made
        if native is None or self._columns not in (1, 2, 4, 8) or not self._fits(_INT64):
            return [self._column_sum(number) for number in range(self._columns)]
        memory, columns = self._memory, self._columns
        native.call(self._address, self._blocks * columns, self._at)
        high = memory[columns : 2 * columns]
        low = memory[2 * LANES + columns : 2 * (LANES + columns)]
        return [(upper << 32) + lower for upper, lower in zip(high, low, strict=True)]

    def tree_sum(self) -> float:
        """The sum of one column of floats as `ir.reduction` has it; float32 is added as such."""
        native = _tree.ask() if self._again else _tree.made
        if native is None or not self._blocks or not self._fits(_FLOAT64):
            return float(tree_sum(self._partials[:, 0]))
        native.call(self._address, self._blocks, self._at)
        return 0.0 + ctypes.c_double.from_buffer(self._memory).value

    def _fits(self, dtype: np.dtype[np.int64] | np.dtype[np.float64]) -> bool:
        partials = self._partials
        return partials.dtype == dtype and partials.flags.c_contiguous and self._blocks <= _MOST

    def _column_sum(self, number: int) -> int:
        column = self._partials[:, number]
        if self._columns > 1 and self._blocks <= _MANY:
            return int(np.add.reduce(column))
        return (int((column >> 32).sum()) << 32) + int((column & _LOW).sum())

    @cached_property
    def _address(self) -> int:
        return words_of(self._partials)[0]

    @cached_property
    def _memory(self) -> ctypes.Array[ctypes.c_int64]:
        return _Words()

    @cached_property
    def _at(self) -> int:
        return ctypes.addressof(self._memory)


__all__ = ["Folding"]
