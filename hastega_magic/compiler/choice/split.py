"""One loop on several back ends at once: the CPU, and OpenCL devices, each over a stretch of its blocks.

    blocks 0 ... 511 on the CPU   |  blocks 512 ... 2047 on the device     at once, into the same memory
    a device fails                →  the CPU computes its stretch
    packed results                →  moved together afterwards, in order

Results, partial results and statuses lie where a single launch would have put them, so nothing behind this file knows
that there were several.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

from hastega_magic.compiler.backend_opencl import OpenCl
from hastega_magic.compiler.backends import Backend, Cpu, Floor, Job, tell_runs
from hastega_magic.compiler.choice.shares import LEAST, Book, Predict, balanced, rate, shares
from hastega_magic.compiler.options import Options
from hastega_magic.errors import NotCompilable, UsageError
from hastega_magic.ir import abi
from hastega_magic.ir.fused import Output
from hastega_magic.ir.kernel import Kernel
from hastega_magic.ir.pipeline import RUNNING_SINKS
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.ir.target import Target
from hastega_magic.progress import Cancelled, Task
from hastega_magic.records import dataclass
from hastega_magic.report import units
from hastega_magic.runtime import cpu, threads
from hastega_magic.runtime.loop_result import LoopResult, Stretch, room
from hastega_magic.runtime.opencl import DeviceError
from hastega_magic.runtime.windows import window_of
from hastega_magic.trace import Trace

BOOK = Book()
"""What loops took that ran together, in this process."""

_COMPILING = ("codegen", "compile")


def devices_beside(memory: int) -> tuple[OpenCl, ...]:
    """What can compute beside the CPU: all devices that are none, or else the first one; none without a driver."""
    try:
        from hastega_magic.runtime import opencl

        there = opencl.devices()
    except UsageError:
        return ()
    # An OpenCL device that is a CPU has the cores that the other threads run on.
    chosen = [each for each in there if each.kind != "cpu"] or there[:1]
    return tuple(OpenCl(opencl.device(f"opencl:{each.number}"), memory) for each in chosen)


@dataclass(frozen=True)
class Split:
    """The CPU and devices together; its text and its assembly are the CPU's. `predict`: rates of all of them."""

    cpu: Cpu
    devices: tuple[OpenCl, ...]
    predict: Predict | None = None
    book: Book = field(default_factory=lambda: BOOK, compare=False)
    name: str = "all"
    language: str = "llvm"

    @property
    def code(self) -> str:
        """That of the CPU."""
        return self.cpu.code

    @property
    def target(self) -> Target:
        """The CPU's."""
        return self.cpu.target

    @property
    def tuned_as(self) -> str:
        """The CPU's share runs as the CPU alone does."""
        return self.cpu.tuned_as

    @property
    def place(self) -> str:
        """All of them."""
        return " + ".join((self.cpu.place, *(each.place for each in self.devices)))

    @property
    def threads(self) -> int:
        """The CPU's."""
        return self.cpu.threads

    def generate(self, kernel: Kernel, fast_math: bool) -> str:
        """LLVM IR."""
        return self.cpu.generate(kernel, fast_math)

    def load(self, kernel: Kernel, text: str, fast_math: bool) -> cpu.Program:
        """Machine code."""
        return self.cpu.load(kernel, text, fast_math)

    def assembly(self, program: cpu.Program) -> str:
        """Its assembly."""
        return self.cpu.assembly(program)

    def floor(self, job: Job, options: Options) -> Floor | None:
        """Not told: the CPU transfers nothing."""
        return None

    def fitting(self, job: Job, outputs: Sequence[Output]) -> tuple[Backend, list[str]]:
        """What is to run the loop: this, without devices that cannot, or the CPU alone; and why, in sentences."""
        alone = "--on all: the CPU computed all of it"
        if not self.devices:
            return self.cpu, [f"{alone}, for there is no OpenCL device that could compute beside it."]
        least = LEAST * (1 + len(self.devices))
        if any(output.sink.kind in RUNNING_SINKS for output in outputs):
            return self.cpu, [f"{alone}, for running values pass from each block to the next."]
        if job.length < least * BLOCK:
            few = units.plural(job.length, "element")
            text = f"{alone}: {few} are too few to be shared, which takes {units.grouped(least * BLOCK)}."
            return self.cpu, [text]
        assert job.elsewhere is not None
        able: list[OpenCl] = []
        told: list[str] = []
        for device in self.devices:
            try:
                job.elsewhere(device).variant(0)
            except (NotCompilable, UsageError, DeviceError) as error:
                told.append(f"--on all: {device.place} took no part: {error}.")
            else:
                able.append(device)
        return (replace(self, devices=tuple(able)) if able else self.cpu), told

    def run(self, job: Job, options: Options, trace: Trace) -> LoopResult:
        """Run the loop on all of them; where a device fails, the CPU computes what was its."""
        assert job.elsewhere is not None
        body = job.variant(job.first)
        plan, blocks = abi.layout(body.kernel), -(-job.length // BLOCK)
        windows = (0 if plan.stores else window_of(plan.folds, blocks)), job.sought
        result = room(plan, job.length, gathered=windows)
        jobs = [job, *(job.elsewhere(device) for device in self.devices)]
        once = replace(options, repeat=1)
        runs: list[_Run] = []
        began = time.perf_counter()
        with job.task(self.name, job.length * options.repeat) as work:
            for _ in range(options.repeat):
                if windows[0] and runs:
                    result = room(plan, job.length, gathered=windows)
                runs.append(_Run(self, jobs, once, result, work))
                if not runs[-1].run():  # Python is to evaluate blocks
                    windows, result = (0, ()), room(plan, job.length)
                    runs[-1] = _Run(self, jobs, once, result, work)
                    runs[-1].run()
        whole = time.perf_counter() - began
        found = runs[-1].joined()
        median = sorted(runs, key=lambda each: each.seconds)[len(runs) // 2]
        found.kernel_seconds = median.seconds
        found.blocks_run = blocks
        median.tell(trace)
        tell_runs([each.seconds for each in runs], whole, trace)
        return found


@dataclass
class _Part:
    """A stretch on one back end, and what became of it."""

    number: int
    job: Job
    stretch: Stretch
    trace: Trace = field(default_factory=Trace)
    work: Task = field(default_factory=lambda: Task("", 0))
    seconds: float = 0.0
    result: LoopResult | None = None

    @property
    def elements(self) -> int:
        return self.stretch.stop - self.stretch.first

    def run(self, backend: Backend, options: Options, stop: threading.Event | None = None) -> None:
        def listening(label: str, total: int) -> Task:
            self.work = Task(label, total) if stop is None else _Stoppable(label, total, stop)
            return self.work

        job = replace(
            self.job,
            stretch=self.stretch,
            task=listening,
            wanted=frozenset[str](),
            kept_slots=frozenset[int](),
        )
        began = time.perf_counter()
        self.result = backend.run(job, options, self.trace)
        spent = time.perf_counter() - began
        self.seconds = max(0.0, spent - sum(self.phases(compiling=True)))

    def phases(self, compiling: bool) -> list[float]:
        """Seconds of its phases."""
        data = [event.data for event in self.trace.of("phase")]
        return [float(str(each["seconds"])) for each in data if (each["name"] in _COMPILING) == compiling]


class _Stoppable(Task):
    """Work that is given up when the others' is."""

    def __init__(self, label: str, total: int, stop: threading.Event) -> None:
        super().__init__(label, total)
        self._stop = stop

    def at(self, done: float) -> None:
        super().at(done)
        if self._stop.is_set():
            raise Cancelled


class _Run:
    """One run of the whole loop."""

    def __init__(
        self, split: Split, jobs: Sequence[Job], options: Options, result: LoopResult, work: Task
    ) -> None:
        self.split, self.jobs, self.options, self.result, self.work = split, jobs, options, result, work
        self.backends: tuple[Backend, ...] = (split.cpu, *split.devices)
        self.names = [name_of(each) for each in self.backends]
        self.parts: list[_Part] = []
        self.failed: dict[int, str] = {}
        self.seconds = 0.0
        self.by = ""
        self._before = work.done

    def run(self) -> bool:
        """All elements, window by window if the result has one; False where a block of these needs Python."""
        job, book = self.jobs[0], self.split.book
        window = self.result.window * BLOCK
        for begin in range(0, job.length, window or job.length):
            self._stretch(begin, min(begin + (window or job.length), job.length))
            if window and self.result.status.any():
                return False
            if window:
                self.result.next_window()
        for number, name in enumerate(self.names):
            mine = [part for part in self.parts if part.number == number and number not in self.failed]
            for part in mine:
                book.note(job.loop, name, part.elements, part.seconds)
            if not mine and number not in self.failed:
                book.note(job.loop, name, 0, 0.0)
        self._join()
        return True

    def _stretch(self, begin: int, end: int) -> None:
        """Elements `begin` to `end`, shared by all."""
        found = shares(self.jobs[0].loop, self.names, end - begin, self.split.book, self.split.predict)
        self.by, before, elements = found.by, len(self.parts), list(found.elements)
        for number in self.failed:  # in a window before
            elements[0], elements[number] = elements[0] + elements[number], 0
        self._stage(begin, elements)
        done = begin + sum(elements)
        if done < end:
            able = [part for part in self.parts[before:] if part.result is not None]
            rates = [rate([(part.elements, part.seconds)]) for part in able]
            each = dict(zip((part.number for part in able), balanced(rates, end - done), strict=True))
            self._stage(done, [each.get(number, 0) for number in range(len(self.backends))])
        self._take_over()

    def _stage(self, first: int, elements: Sequence[int]) -> None:
        """A stretch for each back end, from element `first` on, all at once."""
        parts: list[_Part] = []
        for number, count in enumerate(elements):
            if count:
                parts.append(_Part(number, self.jobs[number], Stretch(first, first + count, self.result)))
                first += count
        self.parts += parts
        stop = threading.Event()

        def task(number: int) -> None:
            part = parts[number]
            part.run(self.backends[part.number], self.options, stop)

        def tick() -> None:
            self.work.at(self._before + sum(part.work.done for part in self.parts))

        threads.apart(
            task, len(parts), "-all", stop.set, tick, lambda number, error: self._look(error, parts[number])
        )
        self.seconds += max((part.seconds for part in parts), default=0.0)

    def _look(self, error: BaseException | None, part: _Part) -> None:
        """Note that a device failed; raise what anything else raised."""
        if error is None:
            return
        if part.number == 0 or not isinstance(error, (DeviceError, NotCompilable)):
            raise error
        self.failed[part.number] = str(error)

    def _take_over(self) -> None:
        """What failed devices left, on the CPU."""
        for part in [each for each in self.parts if each.result is None]:
            mine = _Part(0, self.jobs[0], part.stretch)
            mine.run(self.split.cpu, self.options)
            self.parts[self.parts.index(part)] = mine
            self.seconds += mine.seconds

    def _join(self) -> None:
        """Packed results together, in order."""
        began = time.perf_counter()
        moved = 0
        for slot, array in enumerate(self.result.arrays):
            if self.result.groups[slot] is None:
                continue
            place = 0
            for part in sorted(self.parts, key=lambda each: each.stretch.first):
                count = int(_kept(part, slot).sum())
                if place != part.stretch.first and count:
                    start, size = array.ctypes.data, array.itemsize
                    ctypes.memmove(start + place * size, start + part.stretch.first * size, count * size)
                    moved += count * size
                place += count
        if moved:
            spent = time.perf_counter() - began
            self.seconds += spent
            last = self.parts[-1].trace
            last.add("phase", name="convert_out", seconds=spent, bytes=moved)

    def joined(self) -> LoopResult:
        """The whole loop's result: a column of `kept` for each packed store, since back ends group them differently."""
        packed = [slot for slot, group in enumerate(self.result.groups) if group is not None]
        kept = np.zeros((len(self.result.status), max(1, len(packed))), np.int64)
        for part in self.parts:
            first, stop = _blocks(part)
            for column, slot in enumerate(packed):
                kept[first:stop, column] = _kept(part, slot)
        groups = tuple(
            packed.index(slot) if slot in packed else None for slot in range(len(self.result.groups))
        )
        parts = [part.result for part in self.parts if part.result is not None]
        moved = sum(each.moved_in for each in parts)
        converted = sum(each.convert_seconds for each in parts)
        return replace(self.result, kept=kept, groups=groups, moved_in=moved, convert_seconds=converted)

    def tell(self, trace: Trace) -> None:
        """The phases of all, by how much they overlapped, and who computed what."""
        together = 0.0
        for part in self.parts:
            for event in part.trace.of("phase"):
                trace.add("phase", **event.data)
            together += sum(part.phases(compiling=False))
        if together > self.seconds:
            trace.add("overlap", seconds=together - self.seconds)
        else:  # launches and what waits for them, of which devices tell no phase
            trace.add("phase", name="kernel", seconds=self.seconds - together, bytes=0)
        rows: list[dict[str, Any]] = []
        for number, backend in enumerate(self.backends):
            mine = [part for part in self.parts if part.number == number]
            row = {
                "backend": self.names[number], "device": backend.place, "threads": backend.threads,
                "elements": sum(part.elements for part in mine), "seconds": sum(part.seconds for part in mine),
            }  # fmt: skip
            rows.append(row | ({"failed": self.failed[number]} if number in self.failed else {}))
        trace.add("split", parts=rows, by=self.by, waited=self.waited)

    @property
    def waited(self) -> float:
        """Of the time of all together the part, from 0 to 1, that they spent waiting for the last one."""
        busy = [
            sum(part.seconds for part in self.parts if part.number == each)
            for each in range(len(self.backends))
        ]
        working = [seconds for seconds in busy if seconds > 0]
        longest = max(working, default=0.0)
        return 1 - sum(working) / (longest * len(working)) if longest else 0.0


def name_of(backend: Backend) -> str:
    """How `--on` names it."""
    return f"opencl:{backend.device.info.number}" if isinstance(backend, OpenCl) else backend.name


def _blocks(part: _Part) -> tuple[int, int]:
    return part.stretch.first // BLOCK, -(-part.stretch.stop // BLOCK)


def _kept(part: _Part, slot: int) -> Any:
    """How many elements of a packed store each block of the part kept."""
    assert part.result is not None
    group = part.result.groups[slot]
    assert group is not None
    first, stop = _blocks(part)
    return part.result.kept[first:stop, group]


__all__ = ["BOOK", "Split", "devices_beside", "name_of"]
