"""One chunk on one lane: sources in, the variants' kernels, packing, results out."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyopencl

from hastega_magic.ir import abi
from hastega_magic.ir.device import ENTRY, GROUP, bus_storages, partial_name
from hastega_magic.ir.kernel import VIOLATED, Kernel
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.runtime.launch import LoopResult
from hastega_magic.runtime.opencl_lane import Lane
from hastega_magic.runtime.opencl_ledger import (
    COMPILE,
    CONVERT_IN,
    CONVERT_OUT,
    FROM_DEVICE,
    KERNEL,
    TO_DEVICE,
)
from hastega_magic.runtime.opencl_plan import Plan
from hastega_magic.runtime.opencl_resident import Resident
from hastega_magic.runtime.sources import AnyArray, Column

if TYPE_CHECKING:
    from hastega_magic.runtime.opencl_launch import Code, Launch, Turns

cl: Any = cast(Any, pyopencl)


@dataclass(frozen=True)
class _Form:
    """What of a variant decides where its results lie."""

    bus: tuple[str, ...]
    groups: tuple[int | None, ...]
    words: tuple[int, ...]


@dataclass
class ChunkRun:
    """Runs chunks of a launch into its result. Shared: buffers are views of host arrays."""

    launch: Launch
    plan: Plan
    result: LoopResult
    turns: Turns
    tables: list[Any]
    residents: list[Resident | None]
    kept: dict[int, Resident]
    """Results that stay on the device, by slot."""

    def chunk(self, lane: Lane, number: int, start: int, stop: int) -> None:
        """Elements `start` to `stop`, to their places in the result."""
        work = _Chunk(self, lane, number, start, stop)
        try:
            work.run()
        except BaseException:
            with contextlib.suppress(cl.Error):
                lane.queue.finish()  # what is under way must not outlive the host memory that it uses
            raise


class _Chunk:
    def __init__(self, run: ChunkRun, lane: Lane, number: int, start: int, stop: int) -> None:
        self.run_ = run
        self.launch, self.result, self.lane = run.launch, run.result, lane
        self.ledger = run.launch.ledger
        self.shared = run.plan.shared and not run.launch.memory
        self.number, self.start, self.stop = number, start, stop
        self.length = stop - start
        self.blocks = -(-self.length // BLOCK)
        self.first = start // BLOCK
        self.alive: list[object] = []
        self.events: list[tuple[str, Any, int]] = []

    def run(self) -> None:
        sources = [self._source(slot, column) for slot, column in enumerate(self.launch.columns)]
        code = self.launch.variant(0)
        form, buffers = self._form(code.kernel), self._buffers(code.kernel)
        status = np.zeros(self.blocks, np.uint8)
        self._kernel(code, sources, buffers, None)
        self._read(buffers["status"], status)
        for variant in range(1, self.launch.variants):
            violated = np.flatnonzero(status == VIOLATED).astype(np.int64)
            if not len(violated):
                break
            code = self.launch.variant(variant)
            listed: AnyArray | None = violated
            if self._form(code.kernel) != form:  # results lie elsewhere: all blocks again
                form, buffers, listed = self._form(code.kernel), self._buffers(code.kernel), None
            self._kernel(code, sources, buffers, listed)
            self._read(buffers["status"], status)
        self._finish(code, buffers, status)
        for phase, event, size in self.events:
            self.ledger.device(phase, event, size)

    def _form(self, kernel: Kernel) -> _Form:
        layout = abi.layout(kernel)
        bus = tuple(storage.name for storage in bus_storages(kernel, not self.shared))
        return _Form(bus, layout.groups, tuple(fold.words for fold in layout.folds))

    # Sources

    def _source(self, slot: int, column: Column) -> list[Any]:
        data = column.data
        if isinstance(data, range):
            return [np.int64(data.start + self.start * data.step), np.int64(data.step)]
        began = time.perf_counter()
        array = column.array(self.start, self.stop)
        if self.shared:
            return [self._wrapped(array, began)]
        resident = self.run_.residents[slot]
        if resident is not None and resident.complete:
            resident.whole(self.lane, self.ledger)
            return [resident.region(self.start, self.stop)]
        assert column.source.storage is not None
        name = column.source.storage.name
        staged = self.lane.staging(f"in{slot}", self.run_.plan.chunk, name)[: self.length]
        np.copyto(staged, array)
        self.ledger.host(CONVERT_IN, began, time.perf_counter(), staged.nbytes)
        if resident is not None:
            buffer = resident.region(self.start, self.stop)
        else:
            buffer = self.lane.buffer(f"in{slot}", self.run_.plan.chunk * staged.itemsize)
        event = cl.enqueue_copy(self.lane.queue, buffer, staged, is_blocking=False)
        self.events.append((TO_DEVICE, event, staged.nbytes))
        return [buffer]

    def _wrapped(self, array: AnyArray, began: float) -> Any:
        """The array as a buffer; copied only if it is not dense and in this machine's byte order."""
        if array.flags.c_contiguous and array.flags.aligned and array.dtype.isnative:
            return self._host_buffer(array)
        dense = array.astype(array.dtype.newbyteorder("="), order="C", copy=True)
        self.ledger.host(CONVERT_IN, began, time.perf_counter(), dense.nbytes)
        return self._host_buffer(dense)

    def _host_buffer(self, array: AnyArray) -> Any:
        """A buffer over a host array, which must stay alive as long."""
        writable = array if array.flags.writeable else np.asarray(_Writable(array))
        self.alive += [array, writable]
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
        return cl.Buffer(self.lane.context, flags, hostbuf=writable)

    # Results' buffers

    def _buffers(self, kernel: Kernel) -> dict[str, Any]:
        layout, chunk = abi.layout(kernel), self.run_.plan.chunk
        blocks = chunk // BLOCK
        found: dict[str, Any] = {"status": self.lane.buffer("status", blocks)}
        for slot, storage in enumerate(bus_storages(kernel, not self.shared)):
            if self.shared and layout.groups[slot] is None:
                found[f"r{slot}"] = self._host_buffer(self.result.arrays[slot][self.start : self.stop])
            elif slot in self.run_.kept and self.run_.kept[slot].is_for(storage.name):
                found[f"r{slot}"] = self.run_.kept[slot].region(self.start, self.stop)
            else:
                found[f"r{slot}"] = self.lane.buffer(f"r{slot}", chunk * storage.size)
        for group in range(layout.group_count):
            found[f"c{group}"] = self.lane.buffer(f"c{group}", blocks * GROUP * 8)
            found[f"kept{group}"] = self.lane.buffer(f"kept{group}", blocks * 8)
        for number, fold in enumerate(layout.folds):
            found[f"p{number}"] = self.lane.buffer(f"p{number}", blocks * fold.words * 8)
        return found

    def _read(self, buffer: Any, into: AnyArray) -> None:
        event = cl.enqueue_copy(self.lane.queue, into, buffer, is_blocking=True)
        if not self.shared:
            self.events.append((FROM_DEVICE, event, into.nbytes))

    def _sent(self, name: str, words: AnyArray) -> Any:
        """A word per block, on the device."""
        buffer = self.lane.buffer(name, self.run_.plan.chunk // BLOCK * 8)
        event = cl.enqueue_copy(self.lane.queue, buffer, words, is_blocking=True)
        if not self.shared:
            self.events.append((TO_DEVICE, event, words.nbytes))
        return buffer

    # Kernels

    def _kernel(
        self, code: Code, sources: list[list[Any]], buffers: dict[str, Any], listed: AnyArray | None
    ) -> None:
        if not self.launch.compute:
            cl.enqueue_fill_buffer(self.lane.queue, buffers["status"], np.uint8(0), 0, self.blocks)
            return
        blocks = self.blocks if listed is None else len(listed)
        lists = None
        if listed is not None:
            lists = self._sent("list", listed)
        arguments: list[Any] = [
            np.int64(self.length),
            np.int64(self.start),
            np.int64(0),
            lists,
            buffers["status"],
        ]
        for source in sources:
            arguments += source
        for table, buffer in zip(self.launch.tables, self.run_.tables, strict=True):
            arguments += [buffer, np.int64(len(table.data))]
        layout = abi.layout(code.kernel)
        arguments += [buffers[f"r{slot}"] for slot in range(len(layout.stores))]
        for group in range(layout.group_count):
            arguments += [buffers[f"c{group}"], buffers[f"kept{group}"]]
        arguments += [buffers[f"p{number}"] for number in range(len(layout.folds))]
        self._enqueue(code, ENTRY, blocks, arguments)

    def _enqueue(self, code: Code, name: str, blocks: int, arguments: list[Any]) -> None:
        kernel = self.lane.kernel(code.text, code.contract, name)
        kernel.set_args(*arguments)
        grouped = self.launch.device.info.kind != "cpu"
        size, local = (blocks * GROUP, (GROUP,)) if grouped else (blocks, (1,))
        if self.launch.device.is_first(code.text, name, code.contract):
            event = self._first(kernel, size, local)
        else:
            event = cl.enqueue_nd_range_kernel(self.lane.queue, kernel, (size,), local)
        self.events.append((KERNEL, event, 0))

    def _first(self, kernel: Any, size: int, local: tuple[int]) -> Any:
        """Drivers compile the rest of a kernel when it is first run: time that is not the kernel's."""
        with self.launch.device.lock:
            self.lane.queue.finish()
            began = time.perf_counter()
            event = cl.enqueue_nd_range_kernel(self.lane.queue, kernel, (size,), local)
            event.wait()
            ran = (event.profile.end - event.profile.start) * 1e-9
        ended = time.perf_counter()
        self.ledger.host(COMPILE, began, max(began, ended - ran), 0)
        return event

    # What comes back

    def _finish(self, code: Code, buffers: dict[str, Any], status: AnyArray) -> None:
        layout = abi.layout(code.kernel)
        window = slice(self.first, self.first + self.blocks)
        self.result.status[window] = status
        staged: list[tuple[AnyArray, AnyArray]] = []  # where to, where from
        for number, fold in enumerate(layout.folds):
            part = np.empty((self.blocks, fold.words), partial_name(fold))
            self._copy_back(buffers[f"p{number}"], part)
            staged.append((self.result.partials[number][window], part))
        starts, counts = self._places(layout, buffers)
        for slot, storage in enumerate(bus_storages(code.kernel, not self.shared)):
            group = layout.groups[slot]
            if group is None:
                if not self.shared:
                    staged.append(
                        self._result(slot, storage.name, buffers[f"r{slot}"], self.start, self.length)
                    )
                continue
            begin, count = starts[group], counts[group]
            if not count:
                continue
            packed = self._packed(code, slot, storage.size, group, buffers, begin, count)
            if packed is not None:
                staged.append(self._result(slot, storage.name, packed, begin, count))
        self.lane.queue.finish()
        began = time.perf_counter()
        for into, part in staged:
            np.copyto(into, part, casting="unsafe")
        moved = sum(part.nbytes for _, part in staged)
        if not self.shared:
            self.ledger.host(CONVERT_OUT, began, time.perf_counter(), moved)

    def _copy_back(self, buffer: Any, into: AnyArray) -> None:
        event = cl.enqueue_copy(self.lane.queue, into, buffer, is_blocking=False)
        if not self.shared:
            self.events.append((FROM_DEVICE, event, into.nbytes))

    def _result(
        self, slot: int, dtype: str, buffer: Any, begin: int, count: int
    ) -> tuple[AnyArray, AnyArray]:
        staged = self.lane.staging(f"out{slot}", self.run_.plan.chunk, dtype)[:count]
        self._copy_back(buffer, staged)
        return self.result.arrays[slot][begin : begin + count], staged

    def _places(self, layout: abi.Layout, buffers: dict[str, Any]) -> tuple[list[int], list[int]]:
        """Where the chunk's packed elements go, and how many there are, per group."""
        groups = layout.group_count
        if not groups:
            return [], []
        kept = np.zeros((groups, self.blocks), np.int64)
        for group in range(groups):
            if self.launch.compute:
                self._read(buffers[f"kept{group}"], kept[group])
        self.result.kept[self.first : self.first + self.blocks, :groups] = kept.T
        counts = [int(count) for count in kept.sum(axis=1)]
        starts = self.run_.turns.place(self.number, counts)
        for group in range(groups):
            ends = np.cumsum(kept[group])
            firsts = ends - kept[group]
            buffers[f"starts{group}"] = self._sent(f"starts{group}", firsts)
        return starts, counts

    def _packed(
        self, code: Code, slot: int, size: int, group: int, buffers: dict[str, Any], begin: int, count: int
    ) -> Any:
        """The kept elements of a store together: in a device buffer, or (None) in the result itself."""
        if self.shared:
            into = self._host_buffer(self.result.arrays[slot][begin : begin + count])
        else:
            into = self.lane.buffer(f"packed{slot}", self.run_.plan.chunk * size)
        arguments = [
            np.int64(self.length), buffers[f"c{group}"], buffers[f"starts{group}"], buffers[f"r{slot}"], into,
        ]  # fmt: skip
        self._enqueue(code, f"pack{size}", self.blocks, arguments)
        return None if self.shared else into


class _Writable:
    """A read-only array's memory for an interface that asks for writable memory and does not write."""

    def __init__(self, array: AnyArray) -> None:
        self._array = array
        pointer = array.__array_interface__["data"][0]
        self.__array_interface__ = {
            "shape": array.shape, "typestr": array.dtype.str, "data": (pointer, False), "version": 3,
        }  # fmt: skip
