"""Running a compiled loop: variants in turn, troubled blocks by Python, and the values that statements get."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from hastega_magic.compiler.loops import CompiledLoop, compile_loop
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.recover import Recovery, assembled
from hastega_magic.compiler.statement import Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.ir import abi
from hastega_magic.ir.fused import Fused
from hastega_magic.ir.kernel import TROUBLE
from hastega_magic.passes.schedule import folds_of, slots_of
from hastega_magic.runtime.buffers import trim
from hastega_magic.runtime.launch import Launch, LoopResult
from hastega_magic.runtime.sources import Column
from hastega_magic.runtime.threads import default_threads
from hastega_magic.trace import Trace


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
    fell_back: bool = False
    warnings: list[str] = field(default_factory=list[str])


def run_loops(loops: Sequence[Loop], workspace: Workspace, options: Options, trace: Trace) -> Execution:
    """Run the loops of one fused group.

    Separately if several loops are fused and some element needs Python; else what Python raises for it.
    """
    pipelines = [loop.pipeline for loop in loops]
    compiled, fused, cached = compile_loop(
        pipelines, workspace.table_columns, workspace.spans, options, trace
    )
    columns = [workspace.column(source) for source in fused.sources]
    length = min(len(column.data) for column in columns)
    threads = 1 if options.on == "simd" else options.threads or default_threads()
    launch = Launch(columns, workspace.table_columns, length, threads, time.perf_counter)
    result = _run_variants(compiled, launch, options, trace)
    _account(result, columns, length, trace)
    execution = Execution(
        compiled, fused, [], columns, length, min(threads, max(1, result.blocks_run)), cached
    )
    troubled = np.flatnonzero(result.status == TROUBLE)
    if len(troubled) and len(loops) > 1:
        raise Separately
    with trace.phase("convert_out"):
        slot = 0
        for loop, output, folds in zip(loops, fused.outputs, folds_of(compiled.fused), strict=True):
            recovery = Recovery(loop, workspace, columns, result, options)
            count = slots_of(output)
            if len(troubled):
                execution.values.append(recovery.value(output, folds, troubled))
                execution.fell_back, execution.warnings = recovery.overflowed, recovery.warnings
            elif count:
                numbers = range(slot, slot + count)
                arrays = [trim(result.arrays[each], result.packed_length(each)) for each in numbers]
                execution.values.append(assembled(output, arrays))
            else:
                execution.values.append(recovery.reduction(output, folds))
            slot += count
    return execution


def _account(result: LoopResult, columns: list[Column], length: int, trace: Trace) -> None:
    if result.moved_in:
        trace.add("phase", name="convert_in", seconds=result.convert_seconds, bytes=result.moved_in)
    written = sum(array.itemsize * result.packed_length(slot) for slot, array in enumerate(result.arrays))
    read = sum(column.source.storage.size * length for column in columns if column.source.storage is not None)
    trace.add("phase", name="kernel", seconds=result.kernel_seconds, bytes=read + written)


def _run_variants(compiled: CompiledLoop, launch: Launch, options: Options, trace: Trace) -> LoopResult:
    """Run the first variant, then what it left with the next ones; the kernel's time is the median of the repeats."""
    body = compiled.body(0, trace)
    seconds: list[float] = []
    for _ in range(options.repeat):
        launch.result = None
        seconds.append(launch.run(body.kernel, body.program).kernel_seconds)
    result = launch.result
    assert result is not None
    result.kernel_seconds = float(np.median(seconds))
    for number in range(1, len(compiled.variants.bodies)):
        violated = launch.violated()
        if not len(violated):
            break
        body = compiled.body(number, trace)
        if abi.layout(
            body.kernel
        ).group_count:  # where packed results go is known only when all blocks are run
            spent = result.kernel_seconds
            launch.result = None
            result = launch.run(body.kernel, body.program)
            result.kernel_seconds += spent
        else:
            result = launch.run(body.kernel, body.program, violated)
    return result
