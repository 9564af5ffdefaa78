"""Back ends that run compiled loops: how each spells a kernel, loads the text, and runs the loop's variants."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Protocol

from hastega_magic.codegen.llvm import generate
from hastega_magic.compiler.choice import costs
from hastega_magic.compiler.options import Options
from hastega_magic.ir import abi
from hastega_magic.ir.kernel import Kernel
from hastega_magic.ir.schedule import BLOCK, UNTUNED, Tuned
from hastega_magic.ir.target import Target
from hastega_magic.progress import Task, task
from hastega_magic.records import dataclass
from hastega_magic.runtime import cpu
from hastega_magic.runtime.cpu.launch import Launch, Variant
from hastega_magic.runtime.cpu.threaded import soon
from hastega_magic.runtime.loop_result import LoopResult, Stretch
from hastega_magic.runtime.sources import Column, streamed
from hastega_magic.runtime.tables import TableColumn
from hastega_magic.runtime.threads import default_threads
from hastega_magic.runtime.windows import Sought
from hastega_magic.trace import Trace


class Program(Protocol):
    """Loaded code."""

    @property
    def text(self) -> str:
        """What it was made of."""
        ...

    @property
    def code_bytes(self) -> int:
        """The size of the machine code that this process holds."""
        ...


@dataclass(frozen=True)
class Job:
    """What a loop runs over. `variant(k)` compiles body k < `variants` when it is first needed.

    Running begins with body `first`; `learn` is told when most blocks needed a later one. What a later loop
    reads may stay on a device: sources and captured arrays with a `wanted` name, and the results of `kept_slots`.
    """

    variant: Callable[[int], Variant]
    variants: int
    columns: Sequence[Column]
    tables: Sequence[TableColumn]
    length: int
    first: int = 0
    learn: Callable[[int], None] = lambda number: None
    wanted: frozenset[str] = frozenset()
    kept_slots: frozenset[int] = frozenset()
    sent: list[int] = field(default_factory=list[int])
    """Bytes that each run sent to a device, where there is one."""
    loop: str = ""
    """What tells the loop from others, by structure."""
    stretch: Stretch | None = None
    """The elements that are run; None: all."""
    sought: Sequence[Sought] = ()
    """The extremes among its results, which vast loops keep the blocks of."""
    task: Callable[[str, int], Task] = task
    """What hears of the elements that are done."""
    tuned: Tuned = UNTUNED
    """How it is to be run, beside what is in its code."""
    elsewhere: Callable[[Backend], Job] | None = None
    """The same for another back end; NotCompilable where the loop has no form there, UsageError for its data."""

    @property
    def elements(self) -> int:
        """How many elements are run."""
        return self.length if self.stretch is None else self.stretch.stop - self.stretch.first


class Backend(Protocol):
    """One way of running loops."""

    @property
    def name(self) -> str:
        """What the report calls it."""
        ...

    @property
    def language(self) -> str:
        """The field of its text among the report's code."""
        ...

    @property
    def code(self) -> str:
        """Loops with different words here share no code."""
        ...

    @property
    def target(self) -> Target:
        """What kernels are lowered for."""
        ...

    @property
    def tuned_as(self) -> str:
        """What schedules that were tuned for it are kept under."""
        ...

    @property
    def place(self) -> str:
        """The machine that computes."""
        ...

    @property
    def threads(self) -> int:
        """Host threads, or a device's units, that run a large loop."""
        ...

    def generate(self, kernel: Kernel, fast_math: bool) -> str:
        """The kernel's text."""
        ...

    def load(self, kernel: Kernel, text: str, fast_math: bool) -> Program:
        """The text as something that can be run."""
        ...

    def assembly(self, program: Any) -> str:
        """What the machine runs, where that can be shown."""
        ...

    def run(self, job: Job, options: Options, trace: Trace) -> LoopResult:
        """Run the loop, the first variant first; adds the phases of the run to the trace."""
        ...

    def floor(self, job: Job, options: Options) -> Floor | None:
        """What the job's transfers take alone: seconds of each run, and phases; None where there are none."""
        ...


Floor = tuple[list[float], tuple[Mapping[str, object], ...]]


@dataclass(frozen=True)
class Cpu:
    """The host's CPU through LLVM: "simd" on one thread, "parallel" on all."""

    name: str
    threads: int
    language: str = "llvm"
    code: str = "llvm"

    @property
    def target(self) -> Target:
        """The host."""
        return cpu.host()

    @property
    def tuned_as(self) -> str:
        """One thread may want another schedule than all."""
        return self.name

    @property
    def place(self) -> str:
        """The CPU."""
        return self.target.cpu

    def generate(self, kernel: Kernel, fast_math: bool) -> str:
        """LLVM IR."""
        text = generate(kernel, self.target)
        if fast_math:
            for operation in ("fadd", "fsub", "fmul"):
                text = text.replace(f" = {operation} ", f" = {operation} contract ")
        return text

    def load(self, kernel: Kernel, text: str, fast_math: bool) -> cpu.Program:
        """Machine code."""
        return cpu.compile_text(text)

    def assembly(self, program: cpu.Program) -> str:
        """Its assembly."""
        return cpu.assembly(program.text)

    def run(self, job: Job, options: Options, trace: Trace) -> LoopResult:
        """Run the first variant over all blocks, then the next ones over what it left."""
        with job.task(self.name, job.elements * options.repeat) as work:
            threads = min(self.threads, job.tuned.threads or self.threads)
            launch = Launch(
                job.columns, job.tables, job.length, threads, time.perf_counter, work, job.stretch
            )
            result = self._variants(job, launch, options, trace)
        if result.compile_seconds:
            trace.add("phase", name="compile", seconds=result.compile_seconds, bytes=0)
        trace.add("phase", name="convert_in", seconds=result.convert_seconds, bytes=result.moved_in)
        moved = bytes_moved(result, job)
        trace.add("phase", name="kernel", seconds=result.kernel_seconds, bytes=moved)
        return result

    def floor(self, job: Job, options: Options) -> Floor | None:
        """Nothing is transferred."""
        return None

    def _variants(self, job: Job, launch: Launch, options: Options, trace: Trace) -> LoopResult:
        body = job.variant(job.first)
        if options.repeat == 1 and job.stretch is None and not job.tables:
            launch.result = soon(body.kernel, body.program, job.columns, job.length, launch.thread_count)
        if launch.result is None:
            began = time.perf_counter()
            runs = (
                self._in_windows(job, launch) or launch.anew(body.kernel, body.program)
                for _ in range(options.repeat)
            )
            seconds = [run.kernel_seconds for run in runs]
            whole = time.perf_counter() - began
            assert launch.result is not None
            launch.result.kernel_seconds = statistics.median(seconds)
            tell_runs(seconds, whole, trace)
        result = launch.result
        for number in range(job.first + 1, job.variants):
            violated = launch.violated()
            if not len(violated):
                break
            blocks = -(-job.elements // BLOCK)
            if 2 * len(violated) > blocks:
                job.learn(number)
            body = job.variant(number)
            again = abi.layout(body.kernel).group_count > 0
            launch.work.total += job.elements if again else len(violated) * job.elements // blocks
            if again:
                # Where packed results go is known only when all blocks are run.
                spent = result.kernel_seconds
                result = launch.anew(body.kernel, body.program)
                result.kernel_seconds += spent
            else:
                result = launch.run(body.kernel, body.program, violated)
        return result

    def _in_windows(self, job: Job, launch: Launch) -> LoopResult | None:
        """A vast loop window by window; None for another one, and where Python is to evaluate a block."""
        number = job.first
        if not launch.open(job.variant(number).kernel, job.sought):
            return None
        while True:
            body = job.variant(number)
            result = launch.run(body.kernel, body.program)
            ordered = abi.layout(body.kernel).group_count > 0
            if ordered and len(launch.violated()) and number + 1 < job.variants:
                number += 1  # what was carried into the block is not there: from the first window on
                launch.open(job.variant(number).kernel, job.sought)
                continue
            for later in range(number + 1, job.variants):
                violated = launch.violated()
                if not len(violated):
                    break
                if 2 * len(violated) > len(result.status):
                    number = later
                body = job.variant(later)
                result = launch.run(body.kernel, body.program, violated)
            if result.status.any():
                launch.result = None
                return None
            if not result.next_window():
                if number != job.first:
                    job.learn(number)
                return result


def tell_runs(seconds: Sequence[float], whole: float, trace: Trace) -> None:
    """Where a loop ran several times, how far the fastest and the slowest run are from the median.

    `whole`: seconds of them all, with what is between them; `besides`: those of all but one.
    """
    if len(seconds) > 1:
        median = statistics.median(seconds)
        besides = whole - median - (whole - sum(seconds)) / len(seconds)
        below, above = median - min(seconds), max(seconds) - median
        trace.add("repeat", runs=len(seconds), below=below, above=above, besides=besides)


def bytes_moved(result: LoopResult, job: Job) -> int:
    """Bytes of results, and of sources: what memory gives, or takes, for the elements that ran."""
    elements = job.elements if streamed(job.columns) is None else result.length
    written = sum(
        array.itemsize * (elements if group is None else int(result.kept[:, group].sum()))
        for array, group in zip(result.arrays, result.groups, strict=True)
    )
    return written + elements * sum(source.fresh for source in job.variant(job.first).kernel.sources)


def forget_inputs() -> None:
    """Python code may have changed arrays: what devices keep of them is no longer theirs."""
    opencl = sys.modules.get("hastega_magic.runtime.opencl")
    if opencl is not None:
        opencl.forget_inputs()


def seconds_to_begin() -> float:
    """What the start of OpenCL's drivers took in this process; 0 before it."""
    opencl = sys.modules.get("hastega_magic.runtime.opencl")
    return 0.0 if opencl is None else float(opencl.seconds_to_begin())


def require(options: Options) -> None:
    """UsageError where the options name a device that does not exist, before anything runs."""
    for name in dict.fromkeys((options.on, *options.compare)):
        if name.partition(":")[0] == "opencl":
            from hastega_magic.runtime import opencl

            opencl.device(name)


def backend_of(options: Options) -> Backend:
    """The back end that `on` names; UsageError for a device that does not exist."""
    if options.on.partition(":")[0] == "opencl":
        from hastega_magic.compiler.backend_opencl import OpenCl
        from hastega_magic.runtime import opencl

        device = opencl.device(options.on)
        if not device.chunk_bytes and not device.info.unified:
            device.chunk_bytes = int(costs.chunk_of(device.info))
        return OpenCl(device, options.device_memory << 20)
    if options.on == "simd":
        return Cpu("simd", 1)
    parallel = Cpu("parallel", options.threads or default_threads())
    if options.on == "all":
        from hastega_magic.compiler.choice.split import Split, devices_beside

        return Split(parallel, devices_beside(options.device_memory << 20))
    return parallel
