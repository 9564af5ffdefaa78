"""One loop on an OpenCL device: chunks claimed by lanes, variants in turn, results gathered and widened."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, cast

import numpy as np
import pyopencl

from hastega_magic.ir import abi
from hastega_magic.ir.device import bus_storages
from hastega_magic.ir.kernel import Kernel
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.progress import Task
from hastega_magic.records import dataclass
from hastega_magic.runtime import threads
from hastega_magic.runtime.buffers import look_after
from hastega_magic.runtime.loop_result import LoopResult, Stretch, room
from hastega_magic.runtime.opencl import Device, DeviceError
from hastega_magic.runtime.opencl import lane as opencl_lane
from hastega_magic.runtime.opencl import resident as opencl_resident
from hastega_magic.runtime.opencl.chunk import ChunkRun
from hastega_magic.runtime.opencl.lane import Lane
from hastega_magic.runtime.opencl.ledger import TO_DEVICE, Ledger
from hastega_magic.runtime.opencl.plan import LEAST_CHUNK, SHARED_CHUNK, STAGING, Plan, chunks, cut, sizes
from hastega_magic.runtime.opencl.resident import Resident
from hastega_magic.runtime.sources import AnyArray, Column
from hastega_magic.runtime.tables import TableColumn
from hastega_magic.runtime.threads import default_threads
from hastega_magic.runtime.windows import Sought, window_of

cl: Any = cast(Any, pyopencl)

_AT_ONCE = 1 << 28
"""Elements of a chunk where nothing is transferred but partial results: a kernel of a few milliseconds."""

_PART = 0.25
"""Of a device's memory, what kept arrays may take where no limit is given."""

_SWITCH = 5e-5
"""Seconds after which a lane that waits for the interpreter gets it: each needs it for a few microseconds."""

_FULL = ("MEM_OBJECT_ALLOCATION_FAILURE", "OUT_OF_HOST_MEMORY", "OUT_OF_RESOURCES", "INVALID_BUFFER_SIZE")


@dataclass(frozen=True)
class Code:
    """A variant: its kernel, and its text in OpenCL C."""

    kernel: Kernel
    text: str
    contract: bool = False


class Stopped(Exception):
    """Another lane failed, or the user interrupted."""


@dataclass
class Launch:
    """A loop over columns. `variant(k)` gives the code of variant k < `variants`, generated when first needed.

    memory    bytes of the device that may be used (0: most of them); with a limit, memory is never shared
    compute   False: everything is transferred, nothing computed (the floor of the transfers' cost)
    wished    elements of a chunk, where nothing speaks against it (0: as many as the bus suggests)
    wanted    names of inputs, and `kept_slots` results, that the next launch may want to find on the device
    sought    the extremes among the results, which vast loops keep the blocks of, while they are run `in_windows`
    """

    device: Device
    columns: Sequence[Column]
    tables: Sequence[TableColumn]
    length: int
    variant: Callable[[int], Code]
    variants: int
    memory: int = 0
    threads: int = 0
    compute: bool = True
    wanted: frozenset[str] = frozenset()
    kept_slots: frozenset[int] = frozenset()
    ledger: Ledger = field(default_factory=Ledger)
    work: Task = field(default_factory=lambda: Task("opencl", 0))
    stretch: Stretch | None = None
    wished: int = 0
    sought: Sequence[Sought] = ()
    in_windows: bool = True
    chunk_limit: int = 0
    chunk: int = 0

    def run(self) -> LoopResult:
        """Run all chunks; DeviceError where the device fails or its memory does not suffice."""
        while True:
            self.chunk = 0
            try:
                return self._attempt()
            except cl.Error as error:
                full = isinstance(error, cl.MemoryError) or any(word in str(error) for word in _FULL)
                if not full:
                    self.device.reset()
                    sentence = f"{self.device.info.name} failed; the next cell starts it afresh"
                    raise DeviceError(sentence, str(error)) from None
                self.device.release()
                if self.chunk_limit and self.chunk <= BLOCK:
                    self.device.reset()
                    sentence = f"{self.device.info.name} has no memory left, even for one block at a time"
                    raise DeviceError(sentence, str(error)) from None
                # Failing before the first chunk, it had no room for whole inputs, which are then not kept.
                self.chunk_limit = max(BLOCK, self.chunk // 2) if self.chunk else SHARED_CHUNK

    @property
    def ends(self) -> tuple[int, int]:
        """The first element, and the end."""
        return (0, self.length) if self.stretch is None else (self.stretch.first, self.stretch.stop)

    @property
    def shared(self) -> bool:
        """Whether the device computes in the host's arrays."""
        return self.device.info.shares_memory(self.memory)

    @property
    def _sent_tables(self) -> int:
        """Bytes of the captured arrays that are not on the device yet."""
        sent = [table.data for table in self.tables if opencl_resident.known(self.device, table.data) is None]
        return 0 if self.shared else sum(data.nbytes for data in sent)

    def _spare(self) -> int:
        """Bytes that arrays kept on the device may take in all; of limited memory, what two small lanes leave."""
        if not self.memory:
            return int(self.device.info.memory * _PART)
        return self.memory - self._sent_tables - 2 * LEAST_CHUNK * sizes(self.variant(0).kernel, True).device

    def _plan(self, residents: Sequence[Resident | None], transfer: int, limit: int) -> Plan:
        """`limit`: bytes that lanes and captured arrays may take on the device (0: most of them)."""
        length = self.ends[1] - self.ends[0]
        plan = cut(
            self.device.info, self.variant(0).kernel, length, tables=self._sent_tables, memory=limit,
            transfer=transfer, threads=self.threads or default_threads(), shared=self.shared,
            chunk=self.wished,
        )  # fmt: skip
        if self._all_there(residents) and not abi.layout(self.variant(0).kernel).stores:
            blocks = min(-(-length // BLOCK), _AT_ONCE // BLOCK)
            return Plan(max(blocks, 1) * BLOCK, 1, plan.shared)
        if self.chunk_limit and plan.chunk > self.chunk_limit:
            return Plan(self.chunk_limit, 1, plan.shared)
        return plan

    def _attempt(self) -> LoopResult:
        self.variant(0)  # generating code is no part of the run, nor is trying out the bus
        transfer = 0 if self.shared else opencl_lane.transfer_size(self.device)
        began = time.perf_counter()
        self.ledger = Ledger()
        layout = abi.layout(self.variant(0).kernel)
        window = self._window(layout)
        result = self._room(layout, window)
        begin, end = self.ends
        resident = self.device.resident
        if self.memory and opencl_resident.taken(resident.values()) > self._spare():
            self.device.forget()
        if self.memory and (self.wanted or self.kept_slots):
            self.device.kept.clear()  # what stays is made before lanes are cut to what it leaves
        residents = self._residents()
        kept = self._kept_results(result)
        limit = self.memory and self.memory - opencl_resident.taken([*resident.values(), *kept.values()])
        plan = self._plan(residents, transfer, limit)
        if window:  # which is a power of two
            plan = Plan(
                min(window, 1 << (plan.chunk // BLOCK).bit_length() - 1) * BLOCK, plan.lanes, plan.shared
            )
        self.chunk = plan.chunk
        self._trim_lanes(plan, limit)
        at_once = window * BLOCK or max(1, end - begin)
        count = min(plan.lanes, max(1, -(-min(at_once, end - begin) // plan.chunk)))
        if self.device.info.pocl and (any(residents) or kept):
            count = 1  # parts of one buffer in several queues crash PoCL 3
        lanes = opencl_lane.take(self.device, count)
        tables, done = self._tables(lanes[0]), self.work.done
        for first in range(begin, max(end, begin + 1), at_once):
            run = ChunkRun(self, plan, result, Turns(len(lanes), begin), tables, residents, kept)
            self._through(run, lanes, chunks(plan, min(first + at_once, end), first), done + first - begin)
            if window and result.status.any():  # Python is to evaluate blocks
                opencl_lane.give(self.device, lanes)
                self.in_windows = False
                return self._attempt()
            if window:
                result.next_window()
        for each in residents:
            if each is not None and not each.complete:
                each.join(lanes[0])
        if self.stretch is None and not result.status.any():  # Python may replace elements of other blocks
            opencl_resident.add(self.device, kept.values(), lanes[0])
        opencl_lane.give(self.device, lanes)
        self.ledger.seconds = result.kernel_seconds = time.perf_counter() - began
        return result

    def _through(
        self, run: ChunkRun, lanes: Sequence[Lane], todo: Sequence[tuple[int, int]], done: float
    ) -> None:
        """The chunks of a list, on all lanes; `done`: elements before them."""
        turns, whole = run.turns, sum(stop - start for start, stop in todo)

        def tick() -> None:
            self.work.at(done + min(turns.claimed * run.plan.chunk, whole))
            look_after(run.result.arrays)

        try:
            _side_by_side(lambda lane: _claimed(run, lane, todo, turns), lanes, turns, tick)
        except BaseException:
            turns.stop()
            raise

    def _window(self, layout: abi.Layout) -> int:
        """How many blocks' partial results are to be there at a time; 0: all."""
        if not self.in_windows or layout.stores or self.stretch is not None:
            return 0
        return window_of(layout.folds, -(-self.length // BLOCK))

    def _residents(self) -> list[Resident | None]:
        """Whole inputs on the device, by column; none where its memory is short."""
        if self.shared or self.chunk_limit:
            return [None] * len(self.columns)
        return opencl_resident.prepare(
            self.device, self.columns, self.length, self.wanted, self._spare(), together=not self.memory
        )

    def _kept_results(self, result: LoopResult) -> dict[int, Resident]:
        """Room on the device for whole results, by slot, where a later loop reads them."""
        if self.shared or self.chunk_limit or not self.compute:
            return {}
        buses = bus_storages(self.variant(0).kernel, True)
        pairs = [
            (slot, buses[slot].name, result.arrays[slot])
            for slot in sorted(self.kept_slots) if result.groups[slot] is None
        ]  # fmt: skip
        return opencl_resident.room(self.device, pairs, self._spare())

    def _all_there(self, residents: Sequence[Resident | None]) -> bool:
        """Whether nothing has to be sent: all sources are ranges, or on the device already."""
        if self.shared or self.memory or self.chunk_limit:
            return False
        pairs = zip(self.columns, residents, strict=True)
        return all(
            column.source.kind == "range" or (each is not None and each.complete) for column, each in pairs
        )

    def _trim_lanes(self, plan: Plan, limit: int) -> None:
        """Kept lanes must not hold what a limit forbids; what they hold for a loop of another shape counts too."""
        kept: list[Lane] = self.device.kept
        kernel = self.variant(0).kernel
        each = sizes(kernel, True)
        shape = (plan.chunk, each.inward, tuple(storage.name for storage in bus_storages(kernel, True)))
        staged = sum(lane.staging_bytes for lane in kept)
        held = sum(lane.device_bytes for lane in kept) + plan.lanes * plan.chunk * each.device
        if shape != self.device.shape:
            staged += plan.lanes * plan.chunk * (each.inward + each.outward)
        if (limit and held > limit - self._sent_tables) or staged > STAGING:
            kept.clear()
        self.device.shape = shape

    def _room(self, layout: abi.Layout, window: int) -> LoopResult:
        found = room(layout, self.length, self.stretch, gathered=(window, self.sought))
        found.blocks_run = -(-(self.ends[1] - self.ends[0]) // BLOCK)
        return found

    def _tables(self, lane: Lane) -> list[Any]:
        """Captured arrays on the device, for all lanes."""
        flags, found = cl.mem_flags, list[Any]()
        for table in self.tables:
            data = table.data if len(table.data) else np.zeros(1, table.data.dtype)
            if self.shared:
                found.append(cl.Buffer(lane.context, flags.READ_ONLY | flags.USE_HOST_PTR, hostbuf=data))
                continue
            kept = opencl_resident.known(self.device, data)
            if kept is not None:
                found.append(kept.whole(lane, self.ledger))
                continue
            buffer = cl.Buffer(lane.context, flags.READ_ONLY, max(data.nbytes, 64))
            event = cl.enqueue_copy(lane.queue, buffer, data, is_blocking=True)
            self.ledger.device(TO_DEVICE, event, data.nbytes)
            found.append(buffer)
            if table.table.name in self.wanted and not self.chunk_limit:
                opencl_resident.add(self.device, [Resident(data, buffer, data.dtype.name)], lane)
        return found


class Turns:
    """Chunks are claimed in order; packed results are placed in that order, each after the one before."""

    def __init__(self, lanes: int, first: int = 0) -> None:
        """No chunk is claimed yet. `first`: where packed results begin."""
        self.lanes = lanes
        self._first = first
        self._next = 0
        self._placed = 0
        self._offsets: list[int] = []
        self._stopped = False
        self._changed = threading.Condition()

    @property
    def claimed(self) -> int:
        """Chunks that are done or under way."""
        return self._next

    def claim(self, count: int) -> int | None:
        """The next chunk's number; None where there is none, or the launch is to stop."""
        with self._changed:
            if self._stopped or self._next >= count:
                return None
            self._next += 1
            return self._next - 1

    def place(self, chunk: int, sizes: Sequence[int]) -> list[int]:
        """Where the chunk's packed elements begin, per group, once all earlier chunks said how many they have."""
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or self._placed == chunk)
            if self._stopped:
                raise Stopped
            starts = self._offsets or [self._first] * len(sizes)
            self._offsets = [start + size for start, size in zip(starts, sizes, strict=True)]
            self._placed += 1
            self._changed.notify_all()
            return starts

    def check(self) -> None:
        """Stopped where the launch is to stop."""
        if self._stopped:
            raise Stopped

    def stop(self) -> None:
        """No more chunks."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()


def _claimed(run: ChunkRun, lane: Lane, todo: Sequence[tuple[int, int]], turns: Turns) -> None:
    while (number := turns.claim(len(todo))) is not None:
        run.chunk(lane, number, *todo[number])


def _side_by_side(
    task: Callable[[Lane], None], lanes: Sequence[Lane], turns: Turns, tick: Callable[[], None]
) -> None:
    """The task on every lane, each on a thread of its own; the first failure, or Ctrl-C, stops them all.

    `tick` is called every 50 ms meanwhile.
    """
    failures: list[BaseException] = []

    def ended(number: int, error: BaseException | None) -> None:
        if error is not None:
            failures.append(error)
            turns.stop()

    usual = sys.getswitchinterval()
    if len(lanes) > 1:
        sys.setswitchinterval(min(usual, _SWITCH))
    try:
        threads.apart(lambda number: task(lanes[number]), len(lanes), "-opencl", turns.stop, tick, ended)
    finally:
        sys.setswitchinterval(usual)
    for error in sorted(failures, key=lambda each: isinstance(each, Stopped)):
        raise error


__all__ = ["AnyArray", "Code", "Launch", "Stopped", "Turns"]
