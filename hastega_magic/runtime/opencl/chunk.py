"""One chunk on one lane: the variants' kernels, packing, results out."""

from __future__ import annotations

import contextlib
import time
from dataclasses import field
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyopencl

from hastega_magic.ir import abi
from hastega_magic.ir.device import ENTRY, GROUP, bus_storages, partial_name
from hastega_magic.ir.kernel import LATE, TROUBLE, VIOLATED
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.records import dataclass
from hastega_magic.runtime.loop_result import LoopResult
from hastega_magic.runtime.opencl import time_slices, widen
from hastega_magic.runtime.opencl.forms import Back, Form
from hastega_magic.runtime.opencl.inputs import Inputs
from hastega_magic.runtime.opencl.lane import Lane
from hastega_magic.runtime.opencl.ledger import (
    COMPILE,
    CONVERT_OUT,
    FROM_DEVICE,
    KERNEL,
    TO_DEVICE,
)
from hastega_magic.runtime.opencl.plan import Plan
from hastega_magic.runtime.opencl.resident import Resident
from hastega_magic.runtime.signals import held_back
from hastega_magic.runtime.sources import AnyArray

if TYPE_CHECKING:
    from hastega_magic.runtime.opencl.launch import Code, Launch, Turns

cl: Any = cast(Any, pyopencl)


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
    forms: dict[int, Form] = field(default_factory=dict[int, Form])

    def form(self, variant: int) -> Form:
        """The variant's form. Two lanes may work out the same one at once."""
        found = self.forms.get(variant)
        if found is None:
            code = self.launch.variant(variant)
            layout = abi.layout(code.kernel)
            bus = tuple(bus_storages(code.kernel, not (self.plan.shared and not self.launch.memory)))
            found = self.forms[variant] = Form(code, layout, bus, tuple(map(partial_name, layout.folds)))
        return found

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
        self.first = start // BLOCK - run.result.begin
        self.alive: list[object] = []
        self.aside: dict[int, AnyArray] = {}
        """By slot results whose places are not beside each other."""
        self.events: list[tuple[str, Any, int]] = []

    def run(self) -> None:
        sources = Inputs(self.run_, self.lane, self.start, self.stop, self.alive, self.events).given()
        form = self.run_.form(0)
        buffers = self._buffers(form)
        back = self._ran(form, sources, buffers, None)
        for variant in range(1, self.launch.variants):
            violated = np.flatnonzero(back.status == VIOLATED).astype(np.int64)
            if not len(violated):
                break
            before, form = form, self.run_.form(variant)
            listed: AnyArray | None = violated
            if not form.same_places(before):  # all blocks again
                buffers, listed = self._buffers(form), None
            back = self._ran(form, sources, buffers, listed)
        self._finish(form, buffers, back)
        for phase, event, size in self.events:
            self.ledger.device(phase, event, size)

    # Results' buffers

    def _over(self, array: AnyArray) -> Any:
        return self.lane.over(array, self.alive)

    def _buffers(self, form: Form) -> dict[str, Any]:
        layout, chunk = form.layout, self.run_.plan.chunk
        blocks = chunk // BLOCK
        found: dict[str, Any] = {"status": self.lane.buffer("status", blocks)}
        for slot, storage in enumerate(form.bus):
            if self.shared and layout.groups[slot] is None:
                into = self.result.arrays[slot][self.start : self.stop]
                if not into.flags.c_contiguous:
                    into = self.aside[slot] = np.empty(self.length, into.dtype)
                found[f"r{slot}"] = self._over(into)
            elif slot in self.run_.kept and self.run_.kept[slot].is_for(storage.name):
                found[f"r{slot}"] = self.run_.kept[slot].part(self.lane, self.start, self.stop)
            else:
                found[f"r{slot}"] = self.lane.buffer(f"r{slot}", chunk * storage.size)
        for group in range(layout.group_count):
            found[f"c{group}"] = self.lane.buffer(f"c{group}", blocks * GROUP * 8)
            found[f"kept{group}"] = self.lane.buffer(f"kept{group}", blocks * 8)
        for number, fold in enumerate(layout.folds):
            found[f"p{number}"] = self.lane.buffer(f"p{number}", blocks * fold.words * 8)
        return found

    # What comes back

    def _back(self, form: Form, buffers: dict[str, Any]) -> Back:
        """All that a run of the kernel gives, with one wait for it: blocks seldom need another variant."""
        layout, blocks = form.layout, self.blocks
        status = self._staged("status", buffers["status"], "uint8", blocks)
        kept = [
            self._staged(f"kept{group}", buffers[f"kept{group}"], "int64", blocks)
            for group in range(layout.group_count)
        ]
        partials = [
            self._staged(f"p{number}", buffers[f"p{number}"], name, blocks * fold.words)
            for number, (fold, name) in enumerate(zip(layout.folds, form.partials, strict=True))
        ]
        dense: list[tuple[int, AnyArray]] = []
        if not self.shared:
            for slot, storage in enumerate(form.bus):
                if layout.groups[slot] is None:
                    staged = self._staged(f"out{slot}", buffers[f"r{slot}"], storage.name, self.length)
                    dense.append((slot, staged))
        self.lane.queue.finish()
        return Back(status, kept, partials, dense)

    def _staged(self, name: str, buffer: Any, dtype: str, length: int) -> AnyArray:
        """The beginning of a buffer on its way into staging memory."""
        if name.startswith("out"):
            staged = self.lane.staging(name, self.run_.plan.chunk, dtype)[:length]
        else:
            staged = self._few(name, length, dtype)
        event = cl.enqueue_copy(self.lane.queue, staged, buffer, is_blocking=False)
        if not self.shared:
            self.events.append((FROM_DEVICE, event, staged.nbytes))
        return staged

    def _few(self, name: str, length: int, dtype: str) -> AnyArray:
        """Host memory for a word per block: pinned, unless the device is a CPU, which has no bus to wait for."""
        if self.launch.device.info.kind != "cpu":
            return self.lane.staging(name, length, dtype)
        found = np.empty(length, dtype)
        self.alive.append(found)
        return found

    def _sent(self, name: str, words: AnyArray) -> Any:
        """A word per block, on the device."""
        staged = self._few(f"{name} sent", len(words), "int64")
        staged[:] = words
        buffer = self.lane.buffer(name, self.run_.plan.chunk // BLOCK * 8)
        event = cl.enqueue_copy(self.lane.queue, buffer, staged, is_blocking=False)
        if not self.shared:
            self.events.append((TO_DEVICE, event, staged.nbytes))
        return buffer

    # Kernels

    def _ran(
        self, form: Form, sources: list[list[Any]], buffers: dict[str, Any], listed: AnyArray | None
    ) -> Back:
        """Run the listed blocks (None: all), late ones again until none is."""
        if not form.layout.turns or not self.launch.compute:
            self._kernel(form, sources, buffers, listed, (0, self.blocks if listed is None else len(listed)))
            return self._back(form, buffers)
        device, text = self.launch.device, form.code.text
        limit = time_slices.begin(device, text)
        self._in_parts(form, sources, buffers, listed, limit)
        back = self._back(form, buffers)
        while len(late := np.flatnonzero(back.status == LATE).astype(np.int64)):
            limit = time_slices.longer(limit)
            self._in_parts(form, sources, buffers, late, limit)
            back = self._back(form, buffers)
        if not (back.status == TROUBLE).any():
            time_slices.learn(device, text, limit)
        return back

    def _in_parts(
        self,
        form: Form,
        sources: list[list[Any]],
        buffers: dict[str, Any],
        listed: AnyArray | None,
        limit: int,
    ) -> None:
        """Launches of so many blocks that none takes long; Stopped where the user interrupts between them."""
        blocks = self.blocks if listed is None else len(listed)
        for first, count in time_slices.parts(self.launch.device, form.code.text, blocks, limit):
            if first:
                self.lane.queue.finish()
            self.run_.turns.check()
            self._kernel(form, sources, buffers, listed, (first, count), limit)

    def _kernel(
        self,
        form: Form,
        sources: list[list[Any]],
        buffers: dict[str, Any],
        listed: AnyArray | None,
        part: tuple[int, int],
        limit: int = 0,
    ) -> None:
        if not self.launch.compute:
            cl.enqueue_fill_buffer(self.lane.queue, buffers["status"], np.uint8(0), 0, self.blocks)
            return
        first, blocks = part
        lists = None
        if listed is not None:
            lists = self._sent("list", listed)
        arguments: list[Any] = [
            np.int64(self.length),
            np.int64(self.start),
            np.int64(first),
            lists,
            buffers["status"],
        ]
        if form.layout.turns:
            arguments.append(np.int64(limit))
        for source in sources:
            arguments += source
        for table, buffer in zip(self.launch.tables, self.run_.tables, strict=True):
            arguments += [buffer, np.int64(len(table.data))]
        layout = form.layout
        arguments += [buffers[f"r{slot}"] for slot in range(len(layout.stores))]
        for group in range(layout.group_count):
            arguments += [buffers[f"c{group}"], buffers[f"kept{group}"]]
        arguments += [buffers[f"p{number}"] for number in range(len(layout.folds))]
        self._enqueue(form.code, ENTRY, blocks, arguments)

    def _enqueue(self, code: Code, name: str, blocks: int, arguments: list[Any]) -> None:
        kernel = self.lane.prepared(code.text, code.contract, name, arguments)
        grouped = self.launch.device.info.kind != "cpu"
        size, local = (blocks * GROUP, (GROUP,)) if grouped else (blocks, (_items(code, blocks),))
        if self.launch.device.is_first(code.text, name, code.contract):
            event = self._first(kernel, size, local)
        else:
            # PoCL compiles anew for another number of work-items.
            event = held_back(lambda: cl.enqueue_nd_range_kernel(self.lane.queue, kernel, (size,), local))
        self.events.append((KERNEL, event, 0))

    def _first(self, kernel: Any, size: int, local: tuple[int]) -> Any:
        """Drivers compile the rest of a kernel when it is first run: time that is not the kernel's."""

        def run() -> tuple[Any, float, float]:
            self.lane.queue.finish()
            began = time.perf_counter()
            event = cl.enqueue_nd_range_kernel(self.lane.queue, kernel, (size,), local)
            event.wait()
            return event, began, (event.profile.end - event.profile.start) * 1e-9

        with self.launch.device.lock:
            event, began, ran = held_back(run)
        ended = time.perf_counter()
        self.ledger.host(COMPILE, began, max(began, ended - ran), 0)
        return event

    def _finish(self, form: Form, buffers: dict[str, Any], back: Back) -> None:
        """Everything to its place in the result."""
        layout = form.layout
        window = slice(self.first, self.first + self.blocks)
        self.result.status[window] = back.status
        pairs: list[tuple[AnyArray, AnyArray]] = []
        for into, fold, part in zip(self.result.partials, layout.folds, back.partials, strict=True):
            pairs.append((into[window], part.reshape(self.blocks, fold.words)))
        dense = [*back.dense, *self.aside.items()]
        pairs += [(self.result.arrays[slot][self.start : self.stop], part) for slot, part in dense]
        if layout.group_count:
            pairs += self._packed_results(form, buffers, back.kept)
        began = time.perf_counter()
        for into, part in pairs:
            widen.copy(into, part)
        if not self.shared:
            moved = sum(part.nbytes for _, part in pairs)
            self.ledger.host(CONVERT_OUT, began, time.perf_counter(), moved)

    def _packed_results(
        self, form: Form, buffers: dict[str, Any], kept: list[AnyArray]
    ) -> list[tuple[AnyArray, AnyArray]]:
        """Kept elements together: where they go, and where they are."""
        layout = form.layout
        starts, counts = self._places(buffers, kept)
        pairs: list[tuple[AnyArray, AnyArray]] = []
        for slot, storage in enumerate(form.bus):
            group = layout.groups[slot]
            if group is None or not counts[group]:
                continue
            begin, count = starts[group], counts[group]
            packed = self._packed(form.code, slot, storage.size, group, buffers, begin, count)
            if packed is not None:
                staged = self._staged(f"out{slot}", packed, storage.name, count)
                pairs.append((self.result.arrays[slot][begin : begin + count], staged))
        self.lane.queue.finish()
        return pairs

    def _places(self, buffers: dict[str, Any], kept: list[AnyArray]) -> tuple[list[int], list[int]]:
        """Where the chunk's packed elements go, and how many there are, per group."""
        counts: list[int] = []
        for group, found in enumerate(kept):
            if not self.launch.compute:
                found[:] = 0
            self.result.kept[self.first : self.first + self.blocks, group] = found
            counts.append(int(found.sum()))
            buffers[f"starts{group}"] = self._sent(f"starts{group}", np.cumsum(found) - found)
        return self.run_.turns.place(self.number, counts), counts

    def _packed(
        self, code: Code, slot: int, size: int, group: int, buffers: dict[str, Any], begin: int, count: int
    ) -> Any:
        """The kept elements of a store together: in a device buffer, or (None) in the result itself."""
        if self.shared:
            into = self._over(self.result.arrays[slot][begin : begin + count])
        else:
            into = self.lane.buffer(f"packed{slot}", self.run_.plan.chunk * size)
        arguments = [
            np.int64(self.length), buffers[f"c{group}"], buffers[f"starts{group}"], buffers[f"r{slot}"], into,
        ]  # fmt: skip
        self._enqueue(code, f"pack{size}", self.blocks, arguments)
        return None if self.shared else into


def _items(code: Code, blocks: int) -> int:
    """Work-items of a group, each with a block, where a device is a CPU: OpenCL wants groups of one size."""
    grain = code.kernel.schedule.grain
    return grain if blocks % grain == 0 else 1
