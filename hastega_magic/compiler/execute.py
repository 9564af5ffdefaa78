"""Running a compiled loop: variants in turn, troubled blocks by Python, and the values that statements get."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, cast

import numpy as np

from hastega_magic.compiler import scan_values
from hastega_magic.compiler.backends import Backend, Cpu, Job, backend_of
from hastega_magic.compiler.choice import schedule_store
from hastega_magic.compiler.choice.auto import Choice
from hastega_magic.compiler.choice.split import Split
from hastega_magic.compiler.loops import CompiledLoop, compile_loop, tuning_key
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.python.last_chunk import beyond
from hastega_magic.compiler.python.nested import nested
from hastega_magic.compiler.python.recover import Recovery, assembled
from hastega_magic.compiler.reporting.aborted import told_if_it_raises
from hastega_magic.compiler.statement import Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import NotCompilable
from hastega_magic.frames import reraise_signal
from hastega_magic.ir import abi
from hastega_magic.ir.expr import flatten
from hastega_magic.ir.fused import Fused, Output, slots_of
from hastega_magic.ir.kernel import TROUBLE
from hastega_magic.ir.pipeline import RUNNING_SINKS
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.ir.sinks import EXTREMES
from hastega_magic.passes.schedule import folds_of
from hastega_magic.records import changed, dataclass
from hastega_magic.report.model import COMPILING
from hastega_magic.runtime import cpu
from hastega_magic.runtime.buffers import trim
from hastega_magic.runtime.cpu.launch import Variant
from hastega_magic.runtime.loop_result import LoopResult, blocks_of
from hastega_magic.runtime.sources import AnyArray, Column, streamed
from hastega_magic.runtime.stream import NotProduced
from hastega_magic.runtime.threads import here
from hastega_magic.runtime.windows import Sought
from hastega_magic.trace import Event, Trace
from hastega_magic.types import RESULT_STORAGE

_RECOVERED, _SHARE = 2, 64
"""Blocks of ordinary code that are recovered, and one more of so many: Python does all of it in the same time."""


class Separately(Exception):
    """A fused loop met elements that Python must evaluate: its statements are to be run one after the other."""


class Unasked(Exception):
    """Python must compute running values, for which the stages behind may never ask."""


@dataclass
class Execution:
    """What running a loop left, beside its values."""

    compiled: CompiledLoop
    fused: Fused
    values: list[object]
    columns: list[Column]
    length: int
    threads: int
    cached: bool
    backend: Backend
    job: Job
    fell_back: bool = False
    recovered: int = 0
    """Blocks that Python computed."""
    warnings: list[str] = field(default_factory=list[str])
    tuning: Mapping[str, Any] | None = None
    """What the report says of the search for its schedule."""
    seconds: float = 0.0
    """What the run took, from where the loop is compiled to its values."""
    on: str = ""
    """What computed the values, as `--on` names it."""
    choice: Choice | None = None
    """What `--on auto` chose, and from what; `choosing`: the seconds that took."""
    choosing: float = 0.0
    factors: Mapping[str, float] = field(default_factory=dict[str, float])
    """By back end, what was learned before this run, where it was not chosen; `kernels`: of the kernel alone."""
    kernels: Mapping[str, float] = field(default_factory=dict[str, float])
    learned: bool = False
    """Whether the run corrects the cost model."""

    @property
    def ran(self) -> str:
        """The same as `on`, but where `--on all` has left all to the CPU."""
        if not isinstance(self.backend, Cpu) or self.on != "all":
            return self.on
        return self.backend.name


@dataclass(frozen=True)
class Ready:
    """A compiled loop with all that running it takes. `fused`: with this cell's sources; `cached`: it was known."""

    compiled: CompiledLoop
    fused: Fused
    cached: bool
    loops: Sequence[Loop]
    workspace: Workspace
    options: Options
    trace: Trace

    def on(self, backend: Backend, options: Options | None = None) -> Ready:
        """The same loop compiled for a back end, by other options perhaps."""
        options = options or self.options
        return compiled_on(backend, self.loops, self.workspace, options, self.trace)


def compiled_on(
    backend: Backend,
    loops: Sequence[Loop],
    workspace: Workspace,
    options: Options,
    trace: Trace,
    near: bool = False,
) -> Ready:
    """The loops of one fused group, compiled for a back end; `near`: as in `compile_loop`."""
    pipelines = [loop.pipeline for loop in loops]
    compiled, fused, cached = compile_loop(pipelines, workspace.table_columns, options, trace, backend, near)
    return Ready(compiled, fused, cached, loops, workspace, options, trace)


def job_of(ready: Ready, elsewhere: Callable[[Backend], Job] | None = None) -> Job:
    """What is to be run, over as many elements as all sources have; `elsewhere`: the same for another back end."""
    compiled, fused, workspace = ready.compiled, ready.fused, ready.workspace
    columns = [workspace.column(source) for source in fused.sources]
    length, first = min(len(column.data) for column in columns), compiled.begin(columns)
    return Job(
        lambda number: compiled.body(number, ready.trace), len(compiled.variants.bodies), columns,
        workspace.table_columns, length, first, compiled.learn, workspace.wanted,
        _kept_slots(ready.loops, fused, workspace.wanted), loop=compiled.structure, tuned=compiled.state.tuned,
        elsewhere=elsewhere, sought=_sought(compiled.fused),
    )  # fmt: skip


def _sought(fused: Fused) -> list[Sought]:
    """The extremes among the loop's results: of ints and floats among each other both."""
    found: list[Sought] = []
    for output, folds in zip(fused.outputs, folds_of(fused), strict=True):
        if output.sink.kind in EXTREMES:
            least = output.sink.kind.endswith("min")
            pairs = zip(folds[::2], folds[1::2], strict=True)
            found += [Sought(value, count, least) for value, count in pairs]
    return found


def without_cell(execution: Execution, columns: Sequence[Column] = ()) -> Job:
    """Its job with these columns, and without what leads to the user's data."""
    compiled = execution.compiled

    def body(number: int) -> Variant:
        return compiled.body(number, Trace())

    return changed(execution.job, variant=body, columns=columns, learn=compiled.learn, elsewhere=None)


def execute(ready: Ready, backend: Backend, tune: bool = False) -> Execution:
    """Run a compiled loop on a back end; `tune`: after a search for the fastest schedule.

    Separately if several loops are fused and some element needs Python; else what Python raises for it.
    """
    loops, workspace, options, trace = ready.loops, ready.workspace, ready.options, ready.trace

    def elsewhere(other: Backend) -> Job:
        return job_of(ready.on(other))

    began, said_before = time.perf_counter(), len(trace.events)
    if schedule_store.something() and ready.compiled.tuning_key != tuning_key(
        ready.compiled.structure, ready.compiled.state.large, options, backend
    ):  # compiled for all threads, and one was chosen
        ready = changed(ready.on(backend), cached=ready.cached)
    job = job_of(ready, elsewhere)
    if isinstance(backend, Split):
        backend, told = backend.fitting(job, ready.fused.outputs)
        for sentence in told:
            trace.add("option", text=sentence)
        if isinstance(backend, Split):
            kernel = job.variant(job.first).kernel
            from hastega_magic.compiler.choice.predicted_rates import predicted_rates

            backend = replace(
                backend, predict=predicted_rates(ready.compiled, kernel, loops, options, backend.devices)
            )
    tuning: Mapping[str, Any] | None = None
    if tune:
        from hastega_magic.compiler.choice.tune import tune as search

        tuning = search(ready.compiled, job, backend, options, trace)
    if tuning is not None:
        ready = replace(ready.on(backend), cached=ready.cached)
        job = job_of(ready, elsewhere)
        began, said_before = time.perf_counter(), len(trace.events)
    elif ready.compiled.finding is not None:
        from hastega_magic.compiler.choice.tune import earlier

        tuning = earlier(ready.compiled.finding)
    if said := schedule_store.said():
        trace.add("warning", text=f"{said}.")
    execution = Execution(
        ready.compiled, ready.fused, [], list(job.columns), job.length,
        threads_of(backend, job, -(-job.length // BLOCK)), ready.cached, backend, job, tuning=tuning, on=options.on,
    )  # fmt: skip
    try:
        with told_if_it_raises(execution, options, trace):
            result = backend.run(job, options, trace)
            blocks = min(result.blocks_run, -(-result.length // BLOCK))  # several variants may have run some
            execution.length, execution.threads = result.length, threads_of(backend, job, blocks)
            finish(execution, result, loops, workspace, options, trace)
    except Exception:
        workspace.raised = changed(execution, job=without_cell(execution))  # it leads back here
        raise
    execution.seconds = time.perf_counter() - began - _beside(trace.events[said_before:])
    return execution


def threads_of(backend: Backend, job: Job, blocks: int) -> int:
    """The threads that so many blocks are run by."""
    threads = min(backend.threads, max(1, blocks), job.tuned.threads or backend.threads)
    if isinstance(backend, Cpu):  # which wakes no other thread for a few blocks
        lasting = abi.layout(job.variant(job.first).kernel).lasting
        return 1 if here(threads, blocks, short=not lasting) else threads
    return threads


def _beside(events: Sequence[Event]) -> float:
    """Seconds that are no part of one run: what a loop of the same shape does not pay again, and the other runs."""
    compiling = sum(
        cast("float", event.data["seconds"])
        for event in events
        if event.kind == "phase" and event.data["name"] in COMPILING
    )
    return compiling + sum(cast("float", each.data["besides"]) for each in events if each.kind == "repeat")


def finish(
    execution: Execution,
    result: LoopResult,
    loops: Sequence[Loop],
    workspace: Workspace,
    options: Options,
    trace: Trace,
) -> None:
    """The values of the loops' statements from what the loop left; raises as `run_loops`."""
    compiled, fused = execution.compiled, execution.fused
    troubled = blocks_of(result.status, TROUBLE)
    if len(troubled) and len(loops) > 1:
        raise Separately
    if len(troubled) and loops[0].scalars is not None:
        raise NotCompilable("NumPy may compute a value otherwise than Python, or warn of it")
    if loops[0].bound.ordinary and len(troubled) > _RECOVERED + len(result.status) // _SHARE:
        raise NotCompilable("too many of its elements overflow, or raise")
    execution.recovered = len(troubled)
    finishing = _Finishing(execution, result, loops, workspace, options, trace, troubled)
    with trace.phase("convert_out", by_python=bool(len(troubled)), compiled=cpu.compiled):
        slot = 0
        outputs = [
            each if each.weights == own.weights else changed(each, weights=own.weights)
            for each, own in zip(fused.outputs, compiled.fused.outputs, strict=True)
        ]
        for loop, output, folds in zip(loops, outputs, folds_of(compiled.fused), strict=True):
            count = slots_of(output)
            value = finishing.value(loop, output, folds, slot, count)
            execution.values.append(finishing.looked_at(value, loop))
            slot += count


@dataclass(frozen=True)
class _Finishing:
    """What the values of a group's statements are made from. `troubled`: the blocks that Python must evaluate."""

    execution: Execution
    result: LoopResult
    loops: Sequence[Loop]
    workspace: Workspace
    options: Options
    trace: Trace
    troubled: AnyArray

    def value(self, loop: Loop, output: Output, folds: Sequence[int], slot: int, count: int) -> object:
        """Of one statement, whose stored results are `count` from `slot` on."""
        if output.sink.kind in RUNNING_SINKS:
            return self._running(loop, output, slot)
        result = self.result
        if count and not len(self.troubled):
            numbers = range(slot, slot + count)
            arrays = [trim(result.arrays[each], result.packed_length(each)) for each in numbers]
            return assembled(output, arrays, loop, self.workspace, self.options.int_mode)
        execution = self.execution
        recovery = Recovery(loop, self.workspace, execution.columns, result, self.options, self.loops)
        if len(self.troubled):
            value = recovery.value(output, folds, self.troubled)
            execution.fell_back, execution.warnings = recovery.overflowed, recovery.warnings
        else:
            value = recovery.reduction(output, folds)
        if not scan_values.is_doubtful(output, value):
            return value
        if len(self.loops) > 1:
            raise Separately
        return self._in_order(loop, output)

    def looked_at(self, value: object, loop: Loop) -> object:
        """The value, its last, shorter chunk told of where nothing else is."""
        if not loop.built.tail or self.options.int_mode != "exact" or self.execution.warnings:
            return value
        return self._told(value, beyond(loop, self.workspace, self.execution.compiled.variants.bodies))

    def _in_order(self, loop: Loop, output: Output) -> object:
        """A product of floats, one factor after the other."""
        if not flatten(output.value)[0].type.is_float:
            # Floats that Python computed among ints, which are multiplied exactly up to the first of them.
            if streamed(self.execution.columns) is not None:
                raise NotProduced
            return scan_values.by_python(loop, self.workspace, output, self.options)[0]
        there = scan_values.in_order(loop, output, self.workspace)
        found = self._on_the_host(there, self.workspace).values[0]
        return found if type(found) is np.float32 else float(cast(float, found))

    def _running(self, loop: Loop, output: Output, slot: int) -> object:
        """The value of a running sink."""
        execution, result = self.execution, self.result
        if execution.recovered:
            if streamed(execution.columns) is not None:  # Python goes through elements that nobody has
                raise NotProduced
            if self.workspace.unasked and self.options.int_mode != "wrap":
                raise Unasked
            return self._told(*self._recovered(loop, output))
        elsewhere, fn = execution.backend.language == "opencl", output.sink.fn
        made = output.value if elsewhere or fn is None else fn.result
        length = result.packed_length(slot)
        if output.sink.kind == "fold" and not elsewhere:
            length = min(length, 1)
        arrays = (trim(each, length) for each in result.arrays[slot:])
        if elsewhere and not length and fn is not None:
            made = fn.result  # nothing is left to do, but the values may be of another type than the elements
            arrays = (np.empty(0, RESULT_STORAGE[part.type].name) for part in flatten(made))
        array = nested(made, arrays)
        if not elsewhere or not length:
            return scan_values.stored(output, array, loop)
        found = self._on_the_host(*scan_values.behind(array, loop, self.workspace))
        return self._told(found.values[0], found.warnings)

    def _told(self, value: object, warnings: Sequence[str]) -> object:
        """The value of a running sink, of which there is something to warn of."""
        self.execution.fell_back |= bool(warnings)
        self.execution.warnings = [*self.execution.warnings, *warnings]
        return value

    def _recovered(self, loop: Loop, output: Output) -> tuple[object, list[str]]:
        """The value where Python must help, and warnings: of the elements by themselves, then of the steps."""
        steps = self.execution.compiled.checks_carried  # they may need integers beyond 64 bits
        elements, told = scan_values.elements_alone(loop), list[str]()
        if elements is not None:
            try:
                made = self._on_the_host(elements, self.workspace)
                told, steps = made.warnings, False  # whatever is raised now is of the first of them
                behind = scan_values.behind(cast("AnyArray", made.values[0]), loop, self.workspace)
                found = self._on_the_host(*behind)
                return found.values[0], told or found.warnings
            except Exception as error:  # Python finds out what is raised first, and takes what has no loop
                reraise_signal(error)
                from hastega_magic.compiler.python.elements import of_check

                alone = of_check(error) and not steps  # else one before that element may need such an integer
                if loop.bound.ordinary:  # Python's as it stands then: StopIteration is not to end a `map`
                    raise
                if alone or (self.options.int_mode == "wrap" and not isinstance(error, NotCompilable)):
                    raise
        value, sentence = scan_values.by_python(loop, self.workspace, output, self.options, steps)
        return value, told or ([sentence] if sentence else [])

    def _on_the_host(self, loop: Loop, workspace: Workspace) -> Execution:
        """A loop that another one needs, by the host's CPU."""
        here = replace(self.options, on="parallel")
        backend = backend_of(here)
        return execute(compiled_on(backend, [loop], workspace, here, self.trace), backend)


def _kept_slots(loops: Sequence[Loop], fused: Fused, wanted: frozenset[str]) -> frozenset[int]:
    """Slots of the results that a later loop reads: arrays of numbers, under a wanted name."""
    if not wanted:
        return frozenset()
    slot, found = 0, set[int]()
    for loop, output in zip(loops, fused.outputs, strict=True):
        count = slots_of(output)
        if count == 1 and loop.bound.target in wanted and output.sink.kind not in RUNNING_SINKS:
            found.add(slot)
        slot += count
    return frozenset(found)
