"""A kernel called over many elements on several threads, in words and scratch that are kept: for loops that run again.

What `runtime/launch.py` does, where it will take no longer than `threads.SOON`: nobody has to be told how far it has
come. Sources lie in memory or are ranges.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Sequence

import numpy as np

from hastega_magic.ir import abi
from hastega_magic.ir.kernel import Kernel
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.runtime import threads
from hastega_magic.runtime.cpu import Program
from hastega_magic.runtime.launch import LoopResult, room
from hastega_magic.runtime.sources import TableColumn


class Spread:
    """One variant of a loop without turns. Not for two threads at once: whoever runs it holds its `lock`."""

    def __init__(
        self, kernel: Kernel, program: Program, tables: Sequence[TableColumn], thread_count: int
    ) -> None:
        self.lock = threading.Lock()
        plan = self._plan = abi.layout(kernel)
        self._program = program
        self._threads = thread_count
        self._tables = tables  # their memory must stay
        self._words = np.zeros(plan.words, np.int64)
        self._address = ctypes.c_void_p(self._words.ctypes.data)
        for slot, table in enumerate(tables):
            place = plan.table(slot)
            self._words[place : place + 3] = table.data.ctypes.data, table.data.itemsize, len(table.data)
        self._first_source = plan.source(0)
        self._shared = np.zeros(plan.shared_words, np.int64)
        self._words[abi.SHARED] = self._shared.ctypes.data
        self._scratch = [np.empty(plan.scratch_bytes + abi.ALIGNMENT, np.uint8) for _ in range(thread_count)]
        self._places = [ctypes.c_void_p(abi.aligned(each.ctypes.data)) for each in self._scratch]

    def soon(self, length: int) -> bool:
        """Whether so many elements will take no longer than `threads.SOON`, as far as is known."""
        blocks = -(-length // BLOCK)
        return self._program.pace.expected(blocks, min(self._threads, blocks)) < threads.SOON

    def run(self, operands: Sequence[int], length: int) -> LoopResult | None:
        """What the loop left of `length` elements, at least one; None where a block was not computed.

        `operands`: for each source its address and stride in bytes, or start and step of a range.
        """
        plan, words, shared = self._plan, self._words, self._shared
        result, blocks = room(plan, length), -(-length // BLOCK)
        count = min(self._threads, blocks)
        words[self._first_source : self._first_source + len(operands)] = operands
        words[abi.LENGTH], words[abi.BLOCKS], words[abi.HANDED] = length, blocks, plan.handed(blocks, count)
        words[abi.STATUS], words[abi.COUNTS] = result.status.ctypes.data, result.kept.ctypes.data
        for number, array in enumerate(result.arrays):
            words[plan.store(number)] = array.ctypes.data
        for number, partial in enumerate(result.partials):
            words[plan.fold(number)] = partial.ctypes.data
        shared[:] = 0

        def task(number: int) -> None:
            self._program.function(self._address, self._places[number])

        def ask_to_stop() -> None:
            shared[abi.STOP] = 1

        began = time.perf_counter()
        threads.run(task, count, blocks, ask_to_stop, soon=True)
        self._program.pace.note(time.perf_counter() - began, blocks, count)
        return None if shared[abi.FLAGS] else result


__all__ = ["Spread"]
