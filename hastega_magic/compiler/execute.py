"""Running a compiled loop: variants in turn, troubled blocks by Python, and the values that statements get."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np

from hastega_magic.compiler import running
from hastega_magic.compiler.backends import Backend, Cpu, Job, backend_of
from hastega_magic.compiler.by_python import NotAlike, python_values
from hastega_magic.compiler.choosing import Choice, choose, is_built, learn, refused
from hastega_magic.compiler.costs import auto
from hastega_magic.compiler.loops import CompiledLoop, compile_loop
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.recover import Recovery, assembled
from hastega_magic.compiler.statement import Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import HastegaError
from hastega_magic.ir.fused import Fused, Output
from hastega_magic.ir.kernel import TROUBLE
from hastega_magic.ir.pipeline import RUNNING_SINKS
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.passes.schedule import folds_of, slots_of
from hastega_magic.report.model import COMPILING
from hastega_magic.runtime.buffers import trim
from hastega_magic.runtime.launch import LoopResult
from hastega_magic.runtime.sources import Column
from hastega_magic.runtime.threads import SMALL_BLOCKS
from hastega_magic.trace import Event, Trace


class Separately(Exception):
    """A fused loop met elements that Python must evaluate: its statements are to be run one after the other."""


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
    seconds: float = 0.0
    """What the run took, from where the loop is compiled to its values."""
    on: str = ""
    """What computed the values, as `--on` names it."""
    choice: Choice | None = None
    """What `--on auto` chose, and from what; `choosing`: the seconds that took."""
    choosing: float = 0.0


def settled(options: Options) -> Options:
    """The options with what "auto" stands for, where somebody has said that."""
    return replace(options, on=auto()) if options.on == "auto" and auto() not in ("", "python") else options


def run_loops(loops: Sequence[Loop], workspace: Workspace, options: Options, trace: Trace) -> Execution:
    """Run the loops of one fused group.

    Separately if several loops are fused and some element needs Python; else what Python raises for it.
    """
    options = settled(options)
    pipelines = [loop.pipeline for loop in loops]
    backend = backend_of(options)
    compiled, fused, cached = compile_loop(pipelines, workspace.table_columns, options, trace, backend)
    return run_compiled(compiled, fused, cached, loops, workspace, options, trace, backend)


def run_compiled(
    compiled: CompiledLoop,
    fused: Fused,
    cached: bool,
    loops: Sequence[Loop],
    workspace: Workspace,
    options: Options,
    trace: Trace,
    backend: Backend,
) -> Execution:
    """The same from where the loop is compiled."""
    if options.on != "auto":
        return _run(compiled, fused, cached, loops, workspace, options, trace, backend)
    columns = [workspace.column(source) for source in fused.sources]
    length = min(len(column.data) for column in columns)
    kernel = compiled.body(compiled.first, trace).kernel
    began = time.perf_counter()
    choice = choose(compiled, kernel, loops, columns, length, options)
    choosing = time.perf_counter() - began
    execution = _chosen(compiled, fused, cached, loops, workspace, options, trace, choice)
    execution.choosing = choosing
    warm = execution.cached and execution.length and not execution.recovered
    if warm and execution.on == choice.on:
        learn(choice, execution.seconds)
    return execution


def _chosen(
    compiled: CompiledLoop,
    fused: Fused,
    cached: bool,
    loops: Sequence[Loop],
    workspace: Workspace,
    options: Options,
    trace: Trace,
    choice: Choice,
) -> Execution:
    """By what was chosen; by the CPU where that fails, or might give another value."""
    if choice.on == "python":
        with contextlib.suppress(NotAlike):
            return _by_python(compiled, fused, cached, loops, workspace, trace, choice)
        choice = replace(choice, on="parallel")
    given = replace(options, on=choice.on)
    if choice.on.startswith("opencl"):
        told = len(trace.events)
        with contextlib.suppress(HastegaError):
            return _on_device(compiled, cached, loops, workspace, given, trace, choice)
        del trace.events[told:]
        refused(choice.costs, choice.on)
        choice = replace(choice, on="parallel")
        given = replace(options, on="parallel")
    execution = _run(compiled, fused, cached, loops, workspace, given, trace, backend_of(given))
    if -(-execution.length // BLOCK) <= SMALL_BLOCKS and not choice.costs.features.inner:
        execution.threads = 1  # the calling one
    execution.choice = choice
    return execution


def _on_device(
    compiled: CompiledLoop,
    cached: bool,
    loops: Sequence[Loop],
    workspace: Workspace,
    options: Options,
    trace: Trace,
    choice: Choice,
) -> Execution:
    """By the chosen device; HastegaError where it fails."""
    backend = backend_of(options)
    pipelines = [loop.pipeline for loop in loops]
    theirs, fused, known = compile_loop(pipelines, workspace.table_columns, options, trace, backend)
    execution = _run(theirs, fused, cached and known, loops, workspace, options, trace, backend)
    is_built(compiled, int(choice.on.partition(":")[2]))
    execution.choice = choice
    return execution


def _by_python(
    compiled: CompiledLoop,
    fused: Fused,
    cached: bool,
    loops: Sequence[Loop],
    workspace: Workspace,
    trace: Trace,
    choice: Choice,
) -> Execution:
    """By CPython, which gives the same values sooner; what is compiled is there to be shown, and for longer runs."""
    backend = Cpu("parallel", choice.costs.threads)
    columns, length, job = _job(compiled, fused, loops, workspace, trace)
    began = time.perf_counter()
    values = python_values(loops, workspace)
    seconds = time.perf_counter() - began
    trace.add("phase", name="kernel", seconds=seconds, bytes=0)
    return Execution(
        compiled,
        fused,
        values,
        columns,
        length,
        1,
        cached,
        backend,
        job,
        seconds=seconds,
        on="python",
        choice=choice,
    )


def _run(
    compiled: CompiledLoop,
    fused: Fused,
    cached: bool,
    loops: Sequence[Loop],
    workspace: Workspace,
    options: Options,
    trace: Trace,
    backend: Backend,
) -> Execution:
    began, told = time.perf_counter(), len(trace.events)
    columns, length, job = _job(compiled, fused, loops, workspace, trace)
    result = backend.run(job, options, trace)
    threads = min(backend.threads, max(1, result.blocks_run))
    execution = Execution(compiled, fused, [], columns, length, threads, cached, backend, job, on=options.on)
    finish(execution, result, loops, workspace, options, trace)
    execution.seconds = time.perf_counter() - began - _compiling(trace.events[told:])
    return execution


def _job(
    compiled: CompiledLoop, fused: Fused, loops: Sequence[Loop], workspace: Workspace, trace: Trace
) -> tuple[list[Column], int, Job]:
    """The columns, how many elements all of them have, and what is to be run."""
    columns = [workspace.column(source) for source in fused.sources]
    length = min(len(column.data) for column in columns)
    job = Job(
        lambda number: compiled.body(number, trace), len(compiled.variants.bodies), columns,
        workspace.table_columns, length, compiled.first, compiled.learn, workspace.wanted,
        _kept_slots(loops, fused, workspace.wanted),
    )  # fmt: skip
    return columns, length, job


def _compiling(events: Sequence[Event]) -> float:
    """The seconds of the phases that a loop of the same shape does not pay again."""
    return sum(
        cast("float", event.data["seconds"])
        for event in events
        if event.kind == "phase" and event.data["name"] in COMPILING
    )


def finish(
    execution: Execution,
    result: LoopResult,
    loops: Sequence[Loop],
    workspace: Workspace,
    options: Options,
    trace: Trace,
) -> None:
    """The values of the loops' statements from what the loop left; raises as `run_loops`."""
    compiled, fused, columns = execution.compiled, execution.fused, execution.columns
    troubled = np.flatnonzero(result.status == TROUBLE)
    if len(troubled) and len(loops) > 1:
        raise Separately
    execution.recovered = len(troubled)
    with trace.phase("convert_out"):
        slot = 0
        for loop, output, folds in zip(loops, fused.outputs, folds_of(compiled.fused), strict=True):
            recovery = Recovery(loop, workspace, columns, result, options, loops)
            count = slots_of(output)
            if output.sink.kind in RUNNING_SINKS:
                made, told = _running(execution, loop, output, slot, result, workspace, options, trace)
                execution.values.append(made)
                execution.fell_back |= bool(told)
                execution.warnings = [*execution.warnings, *told]
            elif len(troubled):
                execution.values.append(recovery.value(output, folds, troubled))
                execution.fell_back, execution.warnings = recovery.overflowed, recovery.warnings
            elif count:
                numbers = range(slot, slot + count)
                arrays = [trim(result.arrays[each], result.packed_length(each)) for each in numbers]
                execution.values.append(assembled(output, arrays, loop))
            else:
                execution.values.append(recovery.reduction(output, folds))
            slot += count


def _running(
    execution: Execution,
    loop: Loop,
    output: Output,
    slot: int,
    result: LoopResult,
    workspace: Workspace,
    options: Options,
    trace: Trace,
) -> tuple[object, list[str]]:
    """The value of a running sink, and warnings."""
    if execution.recovered:
        value, sentence = running.by_python(loop, output, options)
        return value, [sentence] if sentence else []
    array = trim(result.arrays[slot], result.packed_length(slot))
    if execution.backend.language != "opencl" or not len(array):
        return running.stored(output, array, loop), []
    there, columns = running.behind(array, loop, workspace)
    found = run_loops([there], columns, replace(options, on="parallel"), trace)
    return found.values[0], found.warnings


def _kept_slots(loops: Sequence[Loop], fused: Fused, wanted: frozenset[str]) -> frozenset[int]:
    """Slots of the results that a later loop reads: arrays of numbers, under a wanted name."""
    slot, found = 0, set[int]()
    for loop, output in zip(loops, fused.outputs, strict=True):
        count = slots_of(output)
        if count == 1 and loop.bound.target in wanted and output.sink.kind not in RUNNING_SINKS:
            found.add(slot)
        slot += count
    return frozenset(found)
