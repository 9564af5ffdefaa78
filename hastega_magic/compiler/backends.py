"""Back ends that run compiled loops: how each spells a kernel, loads the text, and runs the loop's variants."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from hastega_magic.codegen.llvm import generate
from hastega_magic.compiler.options import Options
from hastega_magic.ir import abi
from hastega_magic.ir.kernel import Kernel
from hastega_magic.ir.target import Target
from hastega_magic.progress import Task, task
from hastega_magic.runtime import cpu
from hastega_magic.runtime.launch import Launch, LoopResult
from hastega_magic.runtime.sources import Column, TableColumn
from hastega_magic.runtime.threads import default_threads
from hastega_magic.trace import Trace

if TYPE_CHECKING:
    from hastega_magic.runtime.opencl import Device


class Program(Protocol):
    """Loaded code."""

    @property
    def text(self) -> str:
        """What it was made of."""
        ...

    @property
    def code_bytes(self) -> int:
        """Its size, as far as it is known."""
        ...


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
        with task(self.name, job.length * options.repeat) as work:
            launch = Launch(job.columns, job.tables, job.length, self.threads, time.perf_counter, work)
            result = self._variants(job, launch, options)
        if result.moved_in:
            trace.add("phase", name="convert_in", seconds=result.convert_seconds, bytes=result.moved_in)
        moved = _bytes_moved(result, job.columns)
        trace.add("phase", name="kernel", seconds=result.kernel_seconds, bytes=moved)
        return result

    def floor(self, job: Job, options: Options) -> Floor | None:
        """Nothing is transferred."""
        return None

    def _variants(self, job: Job, launch: Launch, options: Options) -> LoopResult:
        body = job.variant(job.first)
        seconds: list[float] = []
        for _ in range(options.repeat):
            launch.result = None
            seconds.append(launch.run(body.kernel, body.program).kernel_seconds)
        result = launch.result
        assert result is not None
        result.kernel_seconds = statistics.median(seconds)
        for number in range(job.first + 1, job.variants):
            violated = launch.violated()
            if not len(violated):
                break
            if 2 * len(violated) > len(result.status):
                job.learn(number)
            body = job.variant(number)
            again = abi.layout(body.kernel).group_count > 0
            launch.work.total += job.length if again else len(violated) * job.length // len(result.status)
            if again:
                # Where packed results go is known only when all blocks are run.
                spent = result.kernel_seconds
                launch.result = None
                result = launch.run(body.kernel, body.program)
                result.kernel_seconds += spent
            else:
                result = launch.run(body.kernel, body.program, violated)
        return result


def _bytes_moved(result: LoopResult, columns: Sequence[Column]) -> int:
    """Bytes of the loop's results and of its sources in memory."""
    written = sum(array.itemsize * result.packed_length(slot) for slot, array in enumerate(result.arrays))
    stored = [column.source.storage for column in columns]
    return written + sum(each.size * result.length for each in stored if each is not None)


@dataclass(frozen=True)
class OpenClProgram:
    """A program that the device's compiler accepted; the device keeps what it built."""

    text: str
    code_bytes: int
    contract: bool = False


@dataclass(frozen=True)
class OpenCl:
    """An OpenCL device. `memory`: bytes of it that may be used (0: most)."""

    device: Device
    memory: int = 0
    language: str = "opencl"
    name: str = field(init=False, default="opencl")

    @property
    def code(self) -> str:
        """The device, and what code for it depends on."""
        return f"opencl {self.device.info.number} {' '.join(sorted(self.target.features))}"

    @property
    def _shared(self) -> bool:
        return self.device.info.unified and not self.memory

    @property
    def target(self) -> Target:
        """The device; results are narrowed where they cross a bus."""
        return self.device.info.target(narrow=not self._shared)

    @property
    def threads(self) -> int:
        """Its cores, if it is a CPU; a GPU has no threads in this sense."""
        return self.device.info.units if self.device.info.kind == "cpu" else 0

    def generate(self, kernel: Kernel, fast_math: bool) -> str:
        """OpenCL C."""
        from hastega_magic.codegen.opencl import generate as generate_opencl
        from hastega_magic.runtime import opencl

        storages = [source.storage for source in kernel.sources] + [table.storage for table in kernel.tables]
        opencl.check(kernel, storages, self.target)
        text = generate_opencl(kernel, self.target, fast_math)
        opencl.check_text(text, self.target)
        return text

    def load(self, kernel: Kernel, text: str, fast_math: bool) -> OpenClProgram:
        """Built by the device's compiler."""
        built = self.device.built(text, fast_math)
        return OpenClProgram(text, sum(map(len, built.binaries)), fast_math)

    def assembly(self, program: OpenClProgram) -> str:
        """Drivers do not show it."""
        return ""

    def run(self, job: Job, options: Options, trace: Trace) -> LoopResult:
        """Run chunk after chunk; the phases are those of the run whose time is the median."""
        ledgers: list[Any] = []
        before = set(self.device.resident)
        result: LoopResult | None = None
        with task(self.name, job.length * options.repeat) as work:
            for number in range(1, options.repeat + 1):
                # Each run sends what the first one had to send, and may use the pages of the last one's result.
                for key in set(self.device.resident) - before:
                    del self.device.resident[key]
                result = None
                launch = self._launch(job, options, work)
                result = launch.run()
                work.at(number * job.length)
                ledgers.append(launch.ledger)
        assert result is not None
        ledger = sorted(ledgers, key=lambda each: each.seconds)[len(ledgers) // 2]
        result.kernel_seconds = ledger.seconds
        moved = _bytes_moved(result, job.columns)
        phases = ledger.phases()
        if not self._shared:
            job.sent.append(sum(size for name, _, size in phases if name == "to_device"))
        for name, seconds, size in phases:
            trace.add("phase", name=name, seconds=seconds, bytes=size if name != "kernel" else moved)
        if ledger.overlapped > 0:
            trace.add("overlap", seconds=ledger.overlapped)
        return result

    def floor(self, job: Job, options: Options) -> Floor | None:
        """The same transfers of the same chunks, with nothing computed between them.

        What lay on the device when the job ran is there again, and memory for results is in use already: the
        first run is not counted.
        """
        if self._shared:
            return None
        self.device.forget()
        stay = not job.sent[-1] if job.sent else False
        if stay:
            job = replace(job, wanted=frozenset(column.source.name for column in job.columns))
        runs: list[tuple[float, Any]] = []
        with task("empty", 4 * job.length) as work:
            for number in range(1, 5):
                launch = self._launch(job, options, work, compute=False)
                runs.append((launch.run().kernel_seconds, launch.ledger))
                work.at(number * job.length)
                if not stay:
                    self.device.forget()
        self.device.forget()
        ledger = sorted(runs[1:], key=lambda run: run[0])[1][1]
        phases = tuple(
            {"name": name, "seconds": spent, "bytes": size} for name, spent, size in ledger.phases()
        )
        return [seconds for seconds, _ in runs[1:]], phases

    def _launch(self, job: Job, options: Options, work: Task, compute: bool = True) -> Any:
        from hastega_magic.runtime.opencl_launch import Code
        from hastega_magic.runtime.opencl_launch import Launch as DeviceLaunch

        def variant(number: int) -> Code:
            body = job.variant(number)
            return Code(body.kernel, body.program.text, body.program.contract)

        return DeviceLaunch(
            device=self.device, columns=job.columns, tables=job.tables, length=job.length, variant=variant,
            variants=job.variants, memory=self.memory, threads=options.threads, compute=compute,
            wanted=job.wanted, kept_slots=job.kept_slots, work=work,
        )  # fmt: skip


def forget_inputs() -> None:
    """Python code may have changed arrays: what devices keep of them is no longer theirs."""
    opencl = sys.modules.get("hastega_magic.runtime.opencl")
    if opencl is not None:
        opencl.forget_inputs()


def require(options: Options) -> None:
    """UsageError where the options name a device that does not exist, before anything runs."""
    for name in dict.fromkeys((options.on, *options.compare)):
        if name.partition(":")[0] == "opencl":
            from hastega_magic.runtime import opencl

            opencl.device(name)


def backend_of(options: Options) -> Backend:
    """The back end that `on` names; UsageError for a device that does not exist."""
    if options.on.partition(":")[0] == "opencl":
        from hastega_magic.runtime import opencl

        return OpenCl(opencl.device(options.on), options.device_memory << 20)
    if options.on == "simd":
        return Cpu("simd", 1)
    return Cpu("parallel", options.threads or default_threads())
