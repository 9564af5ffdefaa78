"""A kernel called over many elements on several threads, in words and scratch that are kept: for loops that run again.

What `launch.py` does, where it will take no longer than `threads.BRIEF`: nobody has to be told how far it has
come. Sources lie in memory or are ranges.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from hastega_magic.ir import abi
from hastega_magic.ir.kernel import Kernel
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.runtime import threads
from hastega_magic.runtime.addresses import address_of, words_of
from hastega_magic.runtime.buffers import fresh_bytes, needs_fresh
from hastega_magic.runtime.cpu import Program
from hastega_magic.runtime.cpu.call_words import CallWords
from hastega_magic.runtime.cpu.launch import make, scratch_of
from hastega_magic.runtime.cpu.pool import Call
from hastega_magic.runtime.cpu.traversal import backwards
from hastega_magic.runtime.loop_result import LoopResult, room
from hastega_magic.runtime.sources import Column
from hastega_magic.runtime.tables import TableColumn
from hastega_magic.types import RESULT_STORAGE

if TYPE_CHECKING:
    from hastega_magic.runtime.cpu.folding import Totals


class ThreadedCall(CallWords):
    """One variant of a loop whose blocks end soon. Not for two threads at once (`take`)."""

    def __init__(
        self, plan: abi.Layout, program: Program, tables: Sequence[TableColumn], thread_count: int
    ) -> None:
        super().__init__(plan, tables)
        self._program = program
        self._threads = thread_count
        self._address = ctypes.c_void_p(ctypes.addressof(self._words))
        self._first_source = plan.source(0)
        self._shared = (ctypes.c_int64 * plan.shared_words)()
        self._words[abi.SHARED] = ctypes.addressof(self._shared)
        self._scratch = [scratch_of(plan, number) for number in range(thread_count)]
        self._places = [place for _, place in self._scratch]
        self._result: LoopResult | None = None
        """That of the last run, where the next may be left in its place."""
        self._blocks = 0
        self._call: Call | None = None
        self._totals: Totals | None = None
        self.helped = 0
        """Threads of a crew that the last run called."""
        self.whole = False
        """Whether the last run computed every block."""

    def run(
        self, operands: Sequence[int], length: int, *, again: bool = False, sums: Sequence[int] = ()
    ) -> LoopResult:
        """What the loop left of `length` elements, at least one.

        `operands`: for each source its address and stride in bytes, or start and step of a range. `again`: what is left
        is read before the next run, which may leave its own in the same memory. `sums`: the partial results of which
        the totals are to be there, unless a block was not computed.
        """
        started = time.perf_counter()
        self._words[self._first_source : self._first_source + len(operands)] = operands
        result, self._result = self._result, None
        call, totals = self._call, None
        if result is None or result.length != length or call is None:
            result, call = self._room(length, operands)
        elif sums:
            totals = self._totals
            if totals is None or not totals.code:
                totals = self._to_be_made(call, result, sums)
        self._words[abi.BACK] = backwards(self._plan, operands[0], self._blocks)
        ctypes.memset(self._shared, 0, ctypes.sizeof(self._shared))
        pace = self._program.pace
        new = bool(result.arrays) and any(map(fresh_bytes, result.arrays))
        expected = pace.expected(self._blocks, len(call.places), new)
        began = time.perf_counter()
        joined = make(call, self._blocks, self._ask_to_stop, soon=expected < threads.SOON)
        seconds = time.perf_counter() - began
        self.helped = call.helpers if joined else 0
        pace.note(seconds, self._blocks, len(call.places))
        result.convert_seconds, result.kernel_seconds = began - started, seconds
        result.blocks_run = self._blocks
        self.whole = not self._shared[abi.FLAGS]
        if self.whole:
            if totals is None:
                from hastega_magic.runtime.cpu.folding import total

                result.totals = [total(result.partials[number]) for number in sums]
            else:
                result.totals = totals.get(made=joined and totals.code != 0)
            if again and not result.arrays:  # no status was written
                self._result = result
        return result

    def _ask_to_stop(self) -> None:
        self._shared[abi.STOP] = 1

    def _room(self, length: int, operands: Sequence[int]) -> tuple[LoopResult, Call]:
        """Memory for what the loop leaves, entered among the words, and the call that leaves it there."""
        beside = list(zip(operands[::2], operands[1::2], strict=True))
        plan, words, result = self._plan, self._words, room(self._plan, length, beside=beside)
        blocks = self._blocks = -(-length // BLOCK)
        count = min(self._threads, blocks)
        call = self._call = Call(self._program, self._address, self._places[:count])
        self._totals = None
        words[abi.LENGTH], words[abi.BLOCKS] = length, blocks
        words[abi.HANDED] = plan.handed(blocks, count)
        words[abi.OTHERS], words[abi.SPAN] = plan.parts(blocks, count)
        words[abi.STATUS], words[abi.COUNTS] = address_of(result.status), address_of(result.kept)
        for number, array in enumerate(result.arrays):
            words[plan.store(number)] = words_of(array)[0]
        for number, partial in enumerate(result.partials):
            words[plan.fold(number)] = address_of(partial)
        return result, call

    def _to_be_made(self, call: Call, result: LoopResult, sums: Sequence[int]) -> Totals:
        """The totals of partial results that are left in the same memory again, which who leads the call makes.

        A program's loop has one output, so that it is always the totals of the same ones.
        """
        if self._totals is None:
            from hastega_magic.runtime.cpu.folding import Totals

            self._totals = Totals([result.partials[number] for number in sums])
        self._totals.prepare()
        call.fold(self._totals.code, self._totals.address)
        return self._totals


def is_brief(plan: abi.Layout, program: Program, length: int, thread_count: int) -> bool:
    """Whether so many elements will take no longer than `threads.BRIEF`, as far as is known."""
    blocks, new = -(-length // BLOCK), False
    for each in plan.stores:
        new |= needs_fresh(length * np.dtype(RESULT_STORAGE[each.type].name).itemsize)
    return program.pace.expected(blocks, min(thread_count, blocks), new) < threads.BRIEF


def take(
    kept: dict[int, ThreadedCall],
    plan: abi.Layout,
    program: Program,
    tables: Sequence[TableColumn],
    thread_count: int,
) -> ThreadedCall:
    """The words that are kept, by the number of threads, for whoever comes first, who is to put them back.

    An interrupt in between loses them, and the next one to come makes others; a lock would stay taken.
    """
    return kept.pop(thread_count, None) or ThreadedCall(plan, program, tables, thread_count)


def soon(
    kernel: Kernel, program: Program, columns: Sequence[Column], length: int, thread_count: int
) -> LoopResult | None:
    """What the loop leaves of arrays and ranges, where it is known to be brief; else None."""
    plan = abi.layout(kernel)
    if length <= threads.SMALL_BLOCKS * BLOCK or not is_brief(plan, program, length, thread_count):
        return None
    if plan.lasting or any(not isinstance(column.data, (np.ndarray, range)) for column in columns):
        return None
    spread = take(program.kept, plan, program, (), thread_count)
    try:
        return spread.run([word for column in columns for word in words_of(column.data)], length)
    finally:
        program.kept[thread_count] = spread


__all__ = ["ThreadedCall", "is_brief", "soon", "take"]
