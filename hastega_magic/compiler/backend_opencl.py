"""An OpenCL device as a back end: kernels spelled, built and launched there."""

from __future__ import annotations

import time
from dataclasses import field, replace
from typing import Any

from hastega_magic.compiler.backends import Floor, Job, bytes_moved, tell_runs
from hastega_magic.compiler.options import Options
from hastega_magic.ir.kernel import Kernel
from hastega_magic.ir.target import Target
from hastega_magic.progress import Task, task
from hastega_magic.records import dataclass
from hastega_magic.runtime.loop_result import LoopResult
from hastega_magic.runtime.opencl import Device
from hastega_magic.trace import Trace


@dataclass(frozen=True)
class OpenClProgram:
    """A program that the device's compiler accepted; the device keeps what it built."""

    text: str
    device: Device
    contract: bool = False

    @property
    def code_bytes(self) -> int:
        """0: the driver has it, and PoCL would link it to tell its size, which takes a tenth of a second."""
        return 0


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
    def shared(self) -> bool:
        """Whether the device computes in the host's arrays."""
        return self.device.info.shares_memory(self.memory)

    @property
    def target(self) -> Target:
        """The device; results are narrowed where they cross a bus."""
        return self.device.info.target(narrow=not self.shared)

    @property
    def tuned_as(self) -> str:
        """The device, and what its code depends on; its number may change."""
        return f"{self.place} {' '.join(sorted(self.target.features))}"

    @property
    def place(self) -> str:
        """The device."""
        return self.device.info.name

    @property
    def threads(self) -> int:
        """Its cores, if it is a CPU; a GPU has no threads in this sense."""
        return self.device.info.units if self.device.info.kind == "cpu" else 0

    def generate(self, kernel: Kernel, fast_math: bool) -> str:
        """OpenCL C."""
        from hastega_magic.codegen.opencl import generate as generate_opencl
        from hastega_magic.runtime.opencl import float_checks

        storages = [source.storage for source in kernel.sources] + [table.storage for table in kernel.tables]
        float_checks.check(kernel, storages, self.target)
        text = generate_opencl(kernel, self.target, fast_math)
        float_checks.check_text(text, self.target)
        return text

    def load(self, kernel: Kernel, text: str, fast_math: bool) -> OpenClProgram:
        """Built by the device's compiler."""
        self.device.built(text, fast_math)
        return OpenClProgram(text, self.device, fast_math)

    def assembly(self, program: OpenClProgram) -> str:
        """Drivers do not show it."""
        return ""

    def run(self, job: Job, options: Options, trace: Trace) -> LoopResult:
        """Run chunk after chunk; the phases are those of the run whose time is the median."""
        ledgers: list[Any] = []
        before = set(self.device.resident)
        result: LoopResult | None = None
        began = time.perf_counter()
        with job.task(self.name, job.elements * options.repeat) as work:
            for number in range(1, options.repeat + 1):
                # Each run sends what the first one had to send, and may use the pages of the last one's result.
                for key in set(self.device.resident) - before:
                    del self.device.resident[key]
                result = None
                launch = self._launch(job, options, work)
                result = launch.run()
                work.at(number * job.elements)
                ledgers.append(launch.ledger)
        assert result is not None
        ledger = sorted(ledgers, key=lambda each: each.running)[len(ledgers) // 2]
        result.kernel_seconds = ledger.seconds
        tell_runs([each.running for each in ledgers], time.perf_counter() - began, trace)
        moved = bytes_moved(result, job)
        phases = ledger.phases()
        if not self.shared:
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
        if self.shared:
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
        from hastega_magic.runtime.opencl.launch import Code
        from hastega_magic.runtime.opencl.launch import Launch as DeviceLaunch

        def variant(number: int) -> Code:
            body = job.variant(number)
            return Code(body.kernel, body.program.text, body.program.contract)

        return DeviceLaunch(
            device=self.device, columns=job.columns, tables=job.tables, length=job.length, variant=variant,
            variants=job.variants, memory=self.memory, threads=options.threads, compute=compute,
            wanted=job.wanted, kept_slots=job.kept_slots, work=work, stretch=job.stretch,
            wished=job.tuned.chunk, sought=job.sought,
        )  # fmt: skip


__all__ = ["OpenCl", "OpenClProgram"]
