"""Pure Python, NumPy and other back ends on the same statements: checked for equality, then timed, within a budget."""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.backends import forget_inputs
from hastega_magic.compiler.comparing.difference import (
    adds_floats,
    difference,
    magnitudes,
    of_terms,
    out_of_range,
    rounded,
    tolerance_of,
)
from hastega_magic.compiler.comparing.fit import REST, Run
from hastega_magic.compiler.comparing.written import as_written
from hastega_magic.compiler.execute import Execution, Separately
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.python.by_numpy import with_initial
from hastega_magic.compiler.run import run_loops
from hastega_magic.compiler.sources.part import part
from hastega_magic.compiler.statement import Loop, built_anew
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import HastegaError
from hastega_magic.frames import reraise_signal, suppressed
from hastega_magic.ir.affine import in_blocks
from hastega_magic.ir.expr import postorder
from hastega_magic.ir.fused import Fused
from hastega_magic.ops import OPS
from hastega_magic.progress import Task, task
from hastega_magic.records import cached_property, dataclass
from hastega_magic.runtime import python
from hastega_magic.runtime.numpy import NoNumpyForm, run_fused_numpy
from hastega_magic.runtime.sources import AnyArray, Column
from hastega_magic.syntax.closures.reachable import may_read
from hastega_magic.syntax.loops.build import PLACED
from hastega_magic.trace import Trace
from hastega_magic.types import FLOAT32, FLOAT64

UNCOMPILED = ("python", "numpy")
"""Back ends that keep nothing from run to run."""

_SHORT = 5e-5
"""Runs shorter than this (seconds) are repeated for the spread."""

_LASTING_SHORT = 5e-3
"""The same of first runs that are shown for a while."""

RUNS = 3
"""So many runs, at most, have a median."""

BY_NOW = " on the data as the cell has left them"
"""Behind the note of a baseline that was compared with another run than the cell's own."""

AGAIN = "timed as the others: its memory in use already"
"""What is said of the cell's own back end, run again."""

_OWN = "computed this cell"

_SINCE = "did not run: its functions read `{}`, which the statements have assigned since"

_ROUNDED = ": Python rounds its floats to float32 beside such elements, where the loop computes in float64"

_OUT_OF_RANGE = (
    ": floats are added up in another order there, and not in every order the sums on the way stay finite"
)

_PROBE = 512
"""Elements of the first run over a long source."""

FURTHER = 8
"""How many times as many elements are tried where the first ones gave nothing."""

_FEW = 4096
"""Up to so many elements are all run at once."""

_LARGEST = 1 << 24
"""Elements of the largest run: temporaries of NumPy and lists of Python cost memory."""


@dataclass(frozen=True)
class Baseline:
    """How long a back end takes for the whole source (seconds), measured on `elements` of it."""

    backend: str
    seconds: float
    spread: tuple[float, float]
    elements: int
    extrapolated: bool
    equal: bool
    note: str = ""
    phases: tuple[Mapping[str, object], ...] = ()


@dataclass
class Comparison:
    """The loops of one outcome, and what they gave over the whole sources."""

    loops: Sequence[Loop]
    workspace: Workspace
    fused: Fused
    columns: Sequence[Column]
    length: int
    values: Sequence[object]
    options: Options
    resident: bool = False
    """Whether the cell's own run found its inputs on the device."""
    phases: tuple[Mapping[str, object], ...] = ()
    """Of the last run of a compiled back end."""
    largest: dict[str, Run] = field(default_factory=dict[str, Run])
    """By back end, its run over the most elements."""

    def floor(self, execution: Execution) -> Baseline | None:
        """The transfers of a device without computation; None where nothing is transferred."""
        found = execution.backend.floor(execution.job, self.options)
        if found is None:
            return None
        seconds, phases = found
        median = statistics.median(seconds)
        return Baseline(
            "empty", median, (min(seconds), max(seconds)), self.length, False, True,
            "the same transfers, and no computation", phases,
        )  # fmt: skip

    def measure(self, backend: str, budget: float, lasting: bool = False) -> Baseline | None:
        """The baseline of a back end within about `budget` seconds; one that fails says so in its note.

        None where NumPy, unasked, has no form for the statements. The cell's own back end is run again, as others
        are run that compile: with what they keep from run to run in use already, as memory. `lasting`: a first run,
        whose baselines later ones of the cell show, too.
        """
        run, name = self._runner(backend), backend
        compiled = backend not in UNCOMPILED
        try:
            with task(backend, self.length) as work:
                size, seconds, values = self._within(run, budget / 2 if compiled else budget, work, compiled)
            phases, taken = self.phases, seconds
            equal, note = self.equal(values, self.values if size == self.length else self._ours(size), size)
            if not equal:
                equal, note = self._equal_by_now(values, size, note)
            if not equal and backend == "python" and (assigned := self._assigned()):
                return Baseline(backend, 0.0, (0.0, 0.0), 0, False, False, _SINCE.format(assigned))
            del values  # a run may use the pages of the last one's results
            if compiled:
                times, taken, phases = self._again(run, size, budget / 2)
                seconds = statistics.median(times)
            else:
                times = [seconds]
                short = _LASTING_SHORT if lasting else _SHORT
                while len(times) < RUNS and sum(times) < min(short, budget):
                    times.append(_timed(run, size)[0])
            self.largest[backend] = Run(size, seconds, phases)
        except Exception as error:  # a device may fail, a NumPy call refuse what Python and the kernel accept
            reraise_signal(error)
            if isinstance(error, NoNumpyForm) and backend not in self.options.compare:
                return None
            return Baseline(backend, 0.0, (0.0, 0.0), 0, False, False, f"did not run: {_sentence(error)}")
        if backend == self.own:
            again = f"{AGAIN}, its inputs sent once more" if self.resident else AGAIN
            name, note = f"{backend}, run again", note or again
        scale = self.length / size if size else 1.0
        phases = phases if compiled and size == self.length else ()
        rest = taken - sum(cast("float", phase["seconds"]) for phase in phases)
        if phases and rest > 0:
            phases = (*phases, {"name": REST, "seconds": rest, "bytes": 0})
        median = statistics.median(times) * scale
        return Baseline(
            name,
            median,
            (min(times) * scale, max(times) * scale),
            size,
            size < self.length,
            equal,
            note,
            phases,
        )

    def itself(self, seconds: float) -> Baseline:
        """Pure Python, where it has computed the cell: it is not asked to do the same again."""
        self.largest["python"] = Run(self.length, seconds, ())
        return Baseline("python", seconds, (seconds, seconds), self.length, False, True, _OWN)

    def timed(self, backend: str, size: int) -> tuple[float, tuple[Mapping[str, object], ...]]:
        """Seconds and phases of one run over the first `size` elements, the result not looked at.

        The cell's own back end keeps the cell's options; raises what the run raises.
        """
        self.phases = ()
        seconds, _ = _timed(self._runner(backend), size)
        return seconds, self.phases

    def _again(
        self, run: Callable[[int], list[object]], size: int, budget: float
    ) -> tuple[list[float], float, tuple[Mapping[str, object], ...]]:
        """Seconds of one run or more within the budget, none of them the first; the median run's, and its phases."""
        runs: list[tuple[float, tuple[Mapping[str, object], ...]]] = []
        while not runs or (len(runs) < RUNS and sum(seconds for seconds, _ in runs) < budget):
            self.phases = ()
            runs.append((_timed(run, size)[0], self.phases))
        seconds = [seconds for seconds, _ in runs]
        return seconds, *runs[seconds.index(statistics.median_low(seconds))]

    @property
    def own(self) -> str:
        """The back end that the cell ran on."""
        return own_name(self.options)

    def _within(
        self, run: Callable[[int], list[object]], budget: float, work: Task, warm: bool
    ) -> tuple[int, float, list[object]]:
        """Larger and larger parts of the source, until the whole one or the budget is reached: size, seconds, values.

        Short runs say little about long ones (calls cost more than elements), so the estimate grows with the size.
        `warm`: the first run does not count. PoCL links a kernel when it is launched, which no phase says.
        """
        size, left, each = self.length if self.length <= _FEW else _PROBE, budget, 0.0
        while True:
            self.phases = ()
            began = time.perf_counter()
            try:
                with work.during(each * size, size):
                    seconds, values = _timed(run, size)
            except ValueError:  # of no elements, perhaps, behind a filter: further on there may be some
                left -= time.perf_counter() - began
                if size == self.length or left <= 0:
                    raise
                size = min(self.length, size * FURTHER)
                continue
            # What is paid once says nothing of an element.
            if warm or any(phase["name"] == "compile" for phase in self.phases):
                seconds, values = _timed(run, size)
                warm = False
            left, each = left - seconds, max(seconds / max(size, 1), 1e-10)
            possible = int(left / 1.3 / each)
            larger = min(self.length, possible, size * 64, _LARGEST)
            if larger < 2 * size and larger < self.length:
                return size, seconds, values
            if size == self.length:
                return size, seconds, values
            size = larger

    def _runner(self, backend: str) -> Callable[[int], list[object]]:
        if backend == "python":
            return self._python
        if backend == "numpy":
            return self._numpy
        if backend == self.own:
            return self._ours
        return lambda size: self._ours(size, replace(self.options, on=backend))

    def _python(self, size: int) -> list[object]:
        """The user's functions, called by CPython element by element."""
        named: dict[str, object] = {}
        values: list[object] = []
        for loop in self.loops:
            source = loop.pipeline.source
            value: Any = (
                named[source.name] if source.kind == "result" else self.workspace.column(source).data[:size]
            )
            others = iter(loop.pipeline.others)
            value, stages = as_written(value, loop.stages, size)
            for stage in stages:
                args: Sequence[Any] = stage.args
                if stage.site.name == "zip":
                    args = [self.workspace.column(next(others)).data[:size] for _ in stage.args]
                if stage.site.name in PLACED and loop.built.view is not None:
                    continue  # the columns are cut already
                value = python.apply(stage.site.name, value, args, stage.kwargs, None)
            value = list(value) if loop.pipeline.sink.kind in ("array", "cumsum", "scan") else value
            named[loop.name] = value  # a name may be assigned twice
            values.append(value)
        return values

    def _numpy(self, size: int) -> list[object]:
        arrays = [_by_numpy(column, size) for column in self.columns]
        tables = [column.data for column in self.workspace.table_columns]
        values = run_fused_numpy(self.fused, arrays, tables)
        return [with_initial(loop, value) for loop, value in zip(self.loops, values, strict=True)]

    def _ours(self, size: int, options: Options | None = None) -> list[object]:
        loops, cut = part(self.loops, self.workspace, size)
        trace = Trace()
        forget_inputs()  # what a device has kept of an earlier run would make this one seem cheap
        once = replace(options or self.options, repeat=1)  # a caller who wants more runs asks for each
        values = run_loops(loops, cut, once, trace).values
        self.phases = tuple(event.data for event in trace.of("phase"))
        return values

    def _equal_by_now(self, theirs: Sequence[object], size: int, note: str) -> tuple[bool, str]:
        """The same of a cell that has changed since what its loops read: beside what they give of that.

        NumPy is given the loops' constants, as they were, and Python its variables.
        """
        for run in (self._ours, self._anew):
            with suppressed():  # as of a list that holds something else by now
                equal, said = self.equal(theirs, run(size), size)
                if equal:
                    return True, f"{said or '✓ equal'}{BY_NOW}"
        return False, note

    def _assigned(self) -> str:
        """A variable that functions of the loops read and one of these assigns; "" if there is none."""
        given = [each for loop in self.loops for stage in loop.stages for each in stage.given]
        targets = (loop.bound.target for loop in self.loops)
        return next((each for each in targets if each is not None and may_read(given, (each,))), "")

    def _anew(self, size: int) -> list[object]:
        workspace = Workspace("<by now>")
        loops, cut = part(built_anew(self.loops, workspace), workspace, size)
        return run_loops(loops, cut, replace(self.options, repeat=1, tune=False), Trace()).values

    @cached_property
    def _approximate(self) -> tuple[bool, bool]:
        """Whether functions of the loop, and what it adds up on the way, may be rounded in other ways."""
        nodes = [node.op for node in postorder(self.fused.roots())]
        approximate = any(op in OPS and "approximate" in OPS[op].traits for op in set(nodes))
        return approximate, any(in_blocks(output.sink, True) for output in self.fused.outputs)

    def equal(
        self, theirs: Sequence[object], ours: Sequence[object], size: int | None = None
    ) -> tuple[bool, str]:
        """Whether two lists of the statements' values are equal, and a note if only up to rounding.

        `size`: of how many elements they are, where not of all.
        """
        worst, added = 0.0, False
        approximate, running = self._approximate
        count = self.length if size is None else size
        for number, (their, own, output) in enumerate(zip(theirs, ours, self.fused.outputs, strict=True)):
            tolerance = tolerance_of(output, count)
            error = difference(own, their, approximate, running, tolerance)
            if error is None and adds_floats(output):
                if out_of_range(own, their):
                    return False, f"another result{_OUT_OF_RANGE}"
                arrays = [column.array(0, count) for column in self.columns]
                tables = [column.data for column in self.workspace.table_columns]
                terms = magnitudes(self.fused, arrays, tables).get(number)
                error = None if terms is None else of_terms(own, their, terms, count, tolerance)
                added = True
            if error is None:
                mixed = {FLOAT32, FLOAT64} <= {source.type for source in self.fused.sources}
                return False, f"another result{_ROUNDED if mixed else ''}"
            worst = max(worst, error)
        return True, rounded(worst, running, added)


def own_name(options: Options, ran: str = "") -> str:
    """The compiled back end of a cell with these options. `ran`: what computed it, where that was chosen."""
    if options.on != "auto":
        return options.on
    return "parallel" if ran in ("", "python") else ran


def _by_numpy(column: Column, size: int) -> AnyArray:
    """The first elements as an array, which of a list NumPy makes itself."""
    data, storage = column.data, column.source.storage
    if type(data) not in (list, tuple) or storage is None:
        return column.array(0, size)
    return np.array(cast("Sequence[object]", data)[:size], storage.name)


def _timed(run: Callable[[int], list[object]], size: int) -> tuple[float, list[object]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the cell gave its own; of floats, its loops give none
        start = time.perf_counter()
        values = run(size)
        return time.perf_counter() - start, values


def _sentence(error: Exception) -> str:
    """An exception in one line; by its class's name where that tells more."""
    if isinstance(error, Separately):
        return "an element needs Python there"
    (first, *_) = str(error).splitlines() or [""]
    ours = isinstance(error, (HastegaError, NoNumpyForm))
    return first if ours and first else f"{type(error).__name__}: {first}".removesuffix(": ")
