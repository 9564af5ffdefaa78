"""One loop on the CPU: words filled in, pieces run, results and partial results gathered."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from typing import Any, Protocol

import numpy as np

from hastega_magic.errors import NotCompilable
from hastega_magic.ir import abi
from hastega_magic.ir.kernel import VIOLATED, Kernel
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.progress import Task
from hastega_magic.records import dataclass
from hastega_magic.runtime import cpu, threads
from hastega_magic.runtime.addresses import address_of
from hastega_magic.runtime.buffers import fresh_bytes, look_after
from hastega_magic.runtime.cpu import Program
from hastega_magic.runtime.cpu.pool import Call, together
from hastega_magic.runtime.cpu.traversal import backwards
from hastega_magic.runtime.loop_result import LoopResult, Stretch, blocks_of, room
from hastega_magic.runtime.sources import PIECE, AnyArray, Column, overlapping, streamed
from hastega_magic.runtime.tables import TableColumn
from hastega_magic.runtime.windows import Sought, window_of

_LEAST = 16 * BLOCK
"""Elements of lists that are converted at a time at least."""


class Variant(Protocol):
    """One body of a loop, loaded."""

    @property
    def kernel(self) -> Kernel:
        """Its loop form."""
        ...

    @property
    def program(self) -> Any:
        """What the back end's `load` gave."""
        ...


@dataclass
class Launch:
    """A loop over columns, ready to be run by one variant after the other; `work` hears of the elements done."""

    columns: Sequence[Column]
    tables: Sequence[TableColumn]
    length: int
    thread_count: int
    clock: Callable[[], float]
    work: Task
    stretch: Stretch | None = None
    result: LoopResult | None = field(default=None)
    _done: int = 0
    _shared: AnyArray | None = None
    """What the windows so far have left, as to running values."""

    @property
    def ends(self) -> tuple[int, int]:
        """The first element that is run, and the end: of a window, if the result has one."""
        if self.result is not None and self.result.window and self.stretch is None:
            first = self.result.begin * BLOCK
            return first, min(first + self.result.window * BLOCK, self.length)
        return (0, self.length) if self.stretch is None else (self.stretch.first, self.stretch.stop)

    def anew(self, kernel: Kernel, program: Program) -> LoopResult:
        """Run the kernel over all blocks, into a new result."""
        self.result = self._shared = None
        return self.run(kernel, program)

    def open(self, kernel: Kernel, sought: Sequence[Sought]) -> bool:
        """Whether the loop is so vast that it is to be run window by window; there is room for the first one then."""
        plan, self.result, self._shared = abi.layout(kernel), None, None
        listed = any(column.source.kind == "list" for column in self.columns)
        stored = any(store.running != "fold" for store in plan.stores)
        if stored or self.stretch is not None or listed or streamed(self.columns) is not None:
            return False
        window = window_of(plan.folds, -(-self.length // BLOCK))
        self.result = room(plan, self.length, gathered=(window, sought)) if window else None
        return window > 0

    def run(self, kernel: Kernel, program: Program, blocks: AnyArray | None = None) -> LoopResult:
        """Run the kernel over all blocks, or over the given ones, into the same result."""
        plan = abi.layout(kernel)
        if self.result is None or (blocks is None and not self.result.window):
            most = streamed(self.columns) is not None
            self.result = room(plan, self.length, self.stretch, self._beside(), most=most)
        result, at, end = self.result, 0, self.ends[1]
        positions = np.zeros(plan.shared_words, np.int64) if self._shared is None else self._shared
        if result.window and plan.group_count:
            self._shared = positions
        for start, stop in self._pieces():
            at = stop
            listed = None
            if blocks is not None:
                first, last = start // BLOCK, -(-stop // BLOCK)
                listed = blocks[(blocks >= first) & (blocks < last)] - first
                if not len(listed):
                    continue
            self.run_piece(plan, program, start, stop, listed, positions)
            look_after(result.arrays)
        if at < end and streamed(self.columns) is not None:
            result.ends_at(at)
        return result

    def _beside(self) -> list[tuple[int, int]]:
        """Address and stride of the arrays that are read where they lie."""
        arrays = [
            each.data for each in self.columns if isinstance(each.data, np.ndarray) and each.data.ndim == 1
        ]
        return [(each.ctypes.data, each.strides[0]) for each in arrays]

    def _pieces(self) -> Iterator[tuple[int, int]]:
        """The elements part by part: some at a time where they are converted, or computed by a loop before this one."""
        begin, end = self.ends
        reading = streamed(self.columns)
        if reading is None:
            listed = sum(column.source.kind == "list" for column in self.columns)
            # Of several lists as much memory as of one.
            piece = max(_LEAST, PIECE // listed // BLOCK * BLOCK) if listed else max(end - begin, 1)
            yield from ((start, min(start + piece, end)) for start in range(begin, end, piece))
            return
        reading.restart()
        stop = min(end, reading.draw())  # what is left out may raise, even if all is
        while begin < stop:
            yield begin, stop
            begin = stop
            if stop < end:
                stop = min(end, reading.draw())

    def run_piece(
        self,
        plan: abi.Layout,
        program: Program,
        start: int,
        stop: int,
        listed: AnyArray | None,
        shared: AnyArray,
    ) -> None:
        """Run the kernel over elements `start` to `stop`, or over the listed ones of their blocks.

        `shared`: what the pieces before have left, as to running values and places in results.
        """
        assert self.result is not None
        result, first = self.result, start // BLOCK - self.result.begin
        began, compiled = self.clock(), cpu.compiled()
        words = np.zeros(plan.words, np.int64)
        alive: list[AnyArray] = []
        for slot, pair in enumerate(self._source_words(start, stop, alive)):
            words[plan.source(slot) : plan.source(slot) + 2] = pair
        for slot, table in enumerate(self.tables):
            place = plan.table(slot)
            words[place : place + 3] = (table.data.ctypes.data, table.data.itemsize, len(table.data))
        blocks = -(-(stop - start) // BLOCK) if listed is None else len(listed)
        words[abi.LENGTH], words[abi.BLOCKS], words[abi.ORIGIN] = stop - start, blocks, start
        words[abi.BLOCK_LIST] = 0 if listed is None else listed.ctypes.data
        words[abi.STATUS] = address_of(result.status) + first
        words[abi.SHARED] = address_of(shared)
        words[abi.COUNTS] = address_of(result.kept) + first * result.kept.strides[0]
        for number, array in enumerate(result.arrays):
            first_place = self.ends[0] if plan.groups[number] is not None else start
            if plan.stores[number].running == "fold":
                first_place = result.before
            words[plan.store(number)] = array.ctypes.data + (first_place - result.before) * array.strides[0]
        for number, partial in enumerate(result.partials):
            words[plan.fold(number)] = address_of(partial) + first * partial.strides[0]
        shared[abi.NEXT] = shared[abi.TURN] = shared[abi.FLAGS] = 0
        if not plan.group_count:
            shared[abi.CLAIMS :] = 0
        compiled = cpu.compiled() - compiled  # what goes through lists
        seconds = self._call(plan, program, words, shared, blocks)
        result.compile_seconds += compiled
        result.convert_seconds += self.clock() - began - seconds - compiled
        result.kernel_seconds += seconds
        result.blocks_run += blocks
        self._done += min(blocks * BLOCK, stop - start)
        self.work.at(self._done)

    def _source_words(self, start: int, stop: int, alive: list[AnyArray]) -> Iterator[tuple[int, int]]:
        """Of each source its address and stride, or its start and step."""
        assert self.result is not None
        read = overlapping(self.columns, start, stop)
        self.result.moved_in += read.nbytes
        for slot, column in enumerate(self.columns):
            if isinstance(column.data, range):
                yield column.data.start + start * column.data.step, column.data.step
                continue
            known = read.arrays.get(slot)
            array = column.array(start, stop) if known is None else known
            if len(array) < stop - start:
                raise NotCompilable(f"`{column.source.name}` changed size while it was gone through")
            alive.append(array)
            if known is None and column.source.kind == "list" and not isinstance(column.data, np.ndarray):
                self.result.moved_in += array.nbytes  # converted just now
            yield array.ctypes.data, array.strides[0]

    def _call(
        self, plan: abi.Layout, program: Program, words: AnyArray, shared: AnyArray, blocks: int
    ) -> float:
        """The seconds of the native code, with waking the threads and waiting for them."""
        count = max(1, min(self.thread_count, blocks))
        words[abi.HANDED] = plan.handed(blocks, count)
        words[abi.OTHERS], words[abi.SPAN] = plan.parts(blocks, count)
        words[abi.BACK] = plan.sources > 0 and backwards(plan, int(words[plan.source(0)]), blocks)
        scratch = [scratch_of(plan, number) for number in range(count)]
        address = ctypes.c_void_p(address_of(words))
        places = [place for _, place in scratch]

        def ask_to_stop() -> None:
            shared[abi.STOP] = 1

        def tick() -> None:
            # Who looks for more counts on beyond the end of a part.
            parts = np.minimum(shared[abi.CLAIMS :: abi.LINE], words[abi.SPAN]).sum()
            claimed = int(shared[abi.NEXT] if plan.group_count else parts)
            self.work.at(self._done + min(claimed, blocks) * BLOCK)
            look_after(results)

        assert self.result is not None
        results = self.result.arrays
        new = any(map(fresh_bytes, results))
        expected = program.pace.expected(blocks, count, new)
        soon = (
            not plan.lasting and expected < threads.SOON
        )  # where elements make turns, others may make many more
        began = self.clock()
        make(Call(program, address, places), blocks, ask_to_stop, tick, short=not plan.lasting, soon=soon)
        seconds = self.clock() - began
        if blocks:
            program.pace.note(seconds, blocks, count)
        return seconds

    def violated(self) -> AnyArray:
        """Numbers of the blocks whose elements left what the last variant assumed."""
        assert self.result is not None
        begin, end = self.ends[0] // BLOCK, -(-self.ends[1] // BLOCK)
        status = self.result.status[begin - self.result.begin : end - self.result.begin]
        return begin + blocks_of(status, VIOLATED)


def scratch_of(plan: abi.Layout, number: int) -> tuple[AnyArray, ctypes.c_void_p]:
    """Scratch for the thread of this number: its memory, and where in it the thread's own begins."""
    memory = np.empty(plan.scratch_bytes + abi.ALIGNMENT, np.uint8)
    address = abi.aligned(address_of(memory))
    ctypes.c_int64.from_address(address).value = number
    return memory, ctypes.c_void_p(address)


def make(
    call: Call,
    blocks: int,
    ask_to_stop: Callable[[], None],
    tick: Callable[[], None] = lambda: None,
    *,
    short: bool = True,
    soon: bool = False,
) -> bool:
    """Make a call on as many threads as it has places, as `threads.run`; by a crew if `soon`, and whether it was."""
    program, words, places = call.program, call.words, call.places
    if soon and not threads.here(len(places), blocks, short=short) and together(call):
        return True

    def task(number: int) -> None:
        program.function(words, places[number])

    threads.run(task, len(places), blocks, ask_to_stop, tick, short=short, soon=soon)
    return False
