"""Running the loops of a group: where the cost model says, or where the user does."""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Sequence
from dataclasses import replace

from hastega_magic.compiler.backends import Backend, Cpu, backend_of, tell_runs
from hastega_magic.compiler.choice.auto import Choice, all_factors, choose, is_built, refused, spared
from hastega_magic.compiler.choice.costs import AUTO, auto
from hastega_magic.compiler.choice.learning import chosen, named, teach, teaches
from hastega_magic.compiler.execute import Execution, Ready, compiled_on, execute, job_of
from hastega_magic.compiler.loops import CompiledLoop
from hastega_magic.compiler.options import Options, placed
from hastega_magic.compiler.python.by_python import NotAlike, python_values
from hastega_magic.compiler.statement import Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import HastegaError, UsageError
from hastega_magic.frames import reraise_signal
from hastega_magic.ir.fused import Fused
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.records import changed
from hastega_magic.report.escape import quoted
from hastega_magic.runtime.threads import default_threads, here
from hastega_magic.trace import Trace

FOR_ITSELF = (
    "Plain Python computed it: many runs would compile a loop of their own, which takes longer. The loop is shown, and "
    "was not run."
)


def settled(options: Options) -> Options:
    """The options with what "auto" stands for, where somebody has said that."""
    on = auto() if options.on == "auto" else ""
    try:
        return placed(options, on) if on not in ("", "python") else options
    except UsageError as error:  # of what does not stand in the cell
        raise UsageError(f"{AUTO} in the environment: {error}") from None


STORED = 1 << 28
"""Elements, of 8 bytes each, that a device stores at most for a value that the host makes of them."""


def stored_in_vain(loops: Sequence[Loop], workspace: Workspace) -> str:
    """Why a device is not to run the loops, in half a sentence; "" where it may.

    It gives the host all elements of a `reduce` whose order counts, while the CPU's own loop needs no memory for them.
    """
    steps = next((loop.pipeline.sink for loop in loops if loop.pipeline.sink.kind == "fold"), None)
    if steps is None:
        return ""
    own = (each for loop in loops for each in loop.pipeline.sources if each.kind != "result")
    count = min(len(workspace.column(each).data) for each in own)
    if count > STORED:
        return (
            f"Steps of {quoted(steps.text)} are the host's, for which a device would store {count:,} elements"
        )
    return ""


def run_loops(
    loops: Sequence[Loop],
    workspace: Workspace,
    options: Options,
    trace: Trace,
    tune: bool = False,
    known: tuple[CompiledLoop, Fused] | None = None,
) -> Execution:
    """Run the loops of one fused group; `tune`: after a search for the fastest schedule.

    `known`: what compiling them would find. Separately if several loops are fused and some element needs Python; else
    what Python raises for it.
    """
    options = settled(options)
    if options.on.startswith("opencl") and (sentence := stored_in_vain(loops, workspace)):
        options = placed(options, "parallel")
        trace.add("option", text=f"{sentence}: the CPU ran the loop.")
    backend = backend_of(options)
    if known is not None and known[0].backend == backend:
        ready = Ready(*known, True, loops, workspace, options, trace)
    else:
        ready = compiled_on(backend, loops, workspace, options, trace)
    return run_compiled(ready, backend, tune)


def run_compiled(ready: Ready, backend: Backend, tune: bool = False) -> Execution:
    """The same from where the loop is compiled."""
    shown, told = not ready.options.quiet, len(ready.trace.events)
    if ready.options.on != "auto":
        expected = None if tune else named(ready, backend)
        execution = execute(ready, backend, tune)
        if shown:  # a report may be made after other runs, which teach
            execution.factors = all_factors(ready.compiled.structure, execution.length)
            execution.kernels = all_factors(ready.compiled.structure, execution.length, "kernel")
        if expected is not None:
            teach(expected, execution, ready.trace.events[told:])
        return execution
    columns = [ready.workspace.column(source) for source in ready.fused.sources]
    length = min(len(column.data) for column in columns)
    sparing = 0.0 if tune else ready.workspace.sparing
    if sparing and spared(ready.compiled, ready.loops, columns, ready.options, sparing):
        with contextlib.suppress(NotAlike):
            return _by_python(ready, None, ready.options.threads or default_threads())
    kernel = ready.compiled.body(ready.compiled.first, ready.trace).kernel
    began = time.perf_counter()
    choice = choose(ready.compiled, kernel, ready.loops, columns, length, ready.options)
    choosing = time.perf_counter() - began
    if choice.on == "python" and tune:  # there is nothing to tune in Python
        choice = choice.instead("which has no schedules to tune")
    kernels = all_factors(choice.costs.loop, length, "kernel") if shown else {}
    execution = _chosen(ready, choice, tune)
    execution.choosing, execution.kernels = choosing, kernels
    if teaches(ready.options, execution.on):
        expected = [chosen(each) for each in _seen(choice, execution)]
        taught = [teach(each, execution, ready.trace.events[told:]) for each in expected if each is not None]
        execution.learned = any(taught)
    return execution


def _seen(choice: Choice, execution: Execution) -> list[Choice]:
    """The choices that a run says something of: of few elements one thread and all threads are the calling one."""
    if execution.on == choice.on:
        return [choice]
    return [replace(choice, on="simd"), choice] if (choice.on, execution.on) == ("parallel", "simd") else []


def _chosen(ready: Ready, choice: Choice, tune: bool) -> Execution:
    """By what was chosen; by the CPU where that fails, or might give another value."""
    if choice.on == "python":
        with contextlib.suppress(NotAlike):
            return _by_python(ready, choice, choice.costs.threads)
        choice = choice.instead("")
    if choice.on.startswith("opencl") and stored_in_vain(ready.loops, ready.workspace):
        choice = choice.instead("which would store all elements for the steps")
    if choice.on.startswith("opencl"):
        told = len(ready.trace.events)
        with contextlib.suppress(HastegaError):
            return _on_device(ready, choice, tune)
        del ready.trace.events[told:]
        refused(choice.costs, choice.on)
        choice = choice.instead("which failed")
    given = placed(ready.options, choice.on)
    execution = execute(changed(ready, options=given), backend_of(given), tune)
    blocks, short = -(-execution.length // BLOCK), not choice.costs.features.inner
    if execution.threads == 1 or here(execution.threads, blocks, short=short):
        execution.threads = 1  # the calling one
        execution.on = "simd"
        choice = replace(choice, on="simd")
    execution.choice = choice
    return execution


def _on_device(ready: Ready, choice: Choice, tune: bool) -> Execution:
    """By the chosen device; HastegaError where it fails."""
    given = placed(ready.options, choice.on)
    backend = backend_of(given)
    theirs = ready.on(backend, given)
    execution = execute(changed(theirs, cached=ready.cached and theirs.cached), backend, tune)
    is_built(ready.compiled, int(choice.on.partition(":")[2]))
    execution.choice = choice
    return execution


def _by_python(ready: Ready, choice: Choice | None, threads: int) -> Execution:
    """By CPython, which gives the same values sooner; what is compiled is there to be shown, and for longer runs.

    `choice`: None where nothing is compiled, as it would be for this run alone. NotAlike where Python raises: nobody
    has seen that its functions were called.
    """
    backend = Cpu("parallel", threads)
    if choice is None:
        ready.trace.add("why", text=FOR_ITSELF)
    job = job_of(ready)
    execution = Execution(
        ready.compiled, ready.fused, [], list(job.columns), job.length, 1, ready.cached, backend, job,
        on="python", choice=choice,
    )  # fmt: skip
    spent: list[float] = []
    for _ in range(ready.options.repeat):
        began = time.perf_counter()
        try:
            execution.values = python_values(ready.loops, ready.workspace)
        except Exception as error:  # loops hand elements back that raise, with a note
            reraise_signal(error)
            raise NotAlike from None
        spent.append(time.perf_counter() - began)
    execution.seconds = statistics.median(spent)
    tell_runs(spent, sum(spent), ready.trace)
    ready.trace.add("phase", name="kernel", seconds=execution.seconds, bytes=0, python=execution.seconds)
    return execution
