"""Pure Python, NumPy and other back ends on the same statements: checked for equality, then timed, within a budget."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.backends import forget_inputs
from hastega_magic.compiler.comparing.fit import Run
from hastega_magic.compiler.execute import Execution, Separately
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.python.by_numpy import with_initial
from hastega_magic.compiler.run import run_loops
from hastega_magic.compiler.sources.part import part
from hastega_magic.compiler.statement import Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import HastegaError
from hastega_magic.ir.affine import in_blocks
from hastega_magic.ir.expr import flatten, postorder
from hastega_magic.ir.fused import Fused, Output
from hastega_magic.ir.sinks import EXTREMES
from hastega_magic.ops import OPS
from hastega_magic.progress import Task, task
from hastega_magic.runtime import python
from hastega_magic.runtime.numpy import NoNumpyForm, run_fused_numpy
from hastega_magic.runtime.sources import Column
from hastega_magic.syntax.joining.build import PLACED
from hastega_magic.trace import Trace
from hastega_magic.types import FLOAT32, FLOAT64

UNCOMPILED = ("python", "numpy")
"""Back ends that keep nothing from run to run."""

_SHORT = 5e-5
"""Runs shorter than this (seconds) are repeated for the spread."""

_LASTING_SHORT = 5e-3
"""The same of first runs that are shown for a while."""

_RUNS = 3
"""So many runs, at most, have a median."""

_AGAIN = "timed as the others: its memory in use already"

_OWN = "computed this cell"

_ROUNDED = ": Python rounds its floats to float32 beside such elements, where the loop computes in float64"

_PROBE = 512
"""Elements of the first run over a long source."""

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
                size, seconds, values = self._within(run, budget / 2 if compiled else budget, work)
            phases = self.phases
            equal, note = self.equal(values, self.values if size == self.length else self._ours(size))
            del values  # a run may use the pages of the last one's results
            if compiled:
                times, phases = self._again(run, size, budget / 2)
                seconds = statistics.median(times)
            else:
                times = [seconds]
                short = _LASTING_SHORT if lasting else _SHORT
                while len(times) < _RUNS and sum(times) < min(short, budget):
                    times.append(_timed(run, size)[0])
            self.largest[backend] = Run(size, seconds, phases)
        except Exception as error:  # a device may fail, a NumPy call refuse what Python and the kernel accept
            if isinstance(error, NoNumpyForm) and backend not in self.options.compare:
                return None
            return Baseline(backend, 0.0, (0.0, 0.0), 0, False, False, f"did not run: {_sentence(error)}")
        if backend == self.own:
            again = f"{_AGAIN}, its inputs sent once more" if self.resident else _AGAIN
            name, note = f"{backend}, run again", note or again
        scale = self.length / size if size else 1.0
        phases = phases if compiled and size == self.length else ()
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
    ) -> tuple[list[float], tuple[Mapping[str, object], ...]]:
        """Seconds of one run or more within the budget, of which none was the first, and the median run's phases."""
        runs: list[tuple[float, tuple[Mapping[str, object], ...]]] = []
        while not runs or (len(runs) < _RUNS and sum(seconds for seconds, _ in runs) < budget):
            self.phases = ()
            runs.append((_timed(run, size)[0], self.phases))
        seconds = [seconds for seconds, _ in runs]
        return seconds, runs[seconds.index(statistics.median_low(seconds))][1]

    @property
    def own(self) -> str:
        """The back end that the cell ran on."""
        return own_name(self.options)

    def _within(
        self, run: Callable[[int], list[object]], budget: float, work: Task
    ) -> tuple[int, float, list[object]]:
        """Larger and larger parts of the source, until the whole one or the budget is reached: size, seconds, values.

        Short runs say little about long ones (calls cost more than elements), so the estimate grows with the size.
        """
        size, left, each = self.length if self.length <= _FEW else _PROBE, budget, 0.0
        while True:
            self.phases = ()
            with work.during(each * size, size):
                seconds, values = _timed(run, size)
            if any(
                phase["name"] == "compile" for phase in self.phases
            ):  # which is paid once, not per element
                seconds, values = _timed(run, size)
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
        values: dict[str, object] = {}
        for loop in self.loops:
            source = loop.pipeline.source
            value: Any = (
                values[source.name] if source.kind == "result" else self.workspace.column(source).data[:size]
            )
            others = iter(loop.pipeline.others)
            for stage in loop.stages:
                args: Sequence[Any] = stage.args
                if stage.site.name == "zip":
                    args = [self.workspace.column(next(others)).data[:size] for _ in stage.args]
                if stage.site.name in PLACED and loop.built.view is not None:
                    continue  # the columns are cut already
                value = python.apply(stage.site.name, value, args, stage.kwargs, None)
            values[loop.name] = (
                list(value) if loop.pipeline.sink.kind in ("array", "cumsum", "scan") else value
            )
        return list(values.values())

    def _numpy(self, size: int) -> list[object]:
        arrays = [column.array(0, size) for column in self.columns]
        tables = [column.data for column in self.workspace.table_columns]
        found = run_fused_numpy(self.fused, arrays, tables)
        values = [found[output.name] for output in self.fused.outputs]
        return [with_initial(loop, value) for loop, value in zip(self.loops, values, strict=True)]

    def _ours(self, size: int, options: Options | None = None) -> list[object]:
        loops, cut = part(self.loops, self.workspace, size)
        trace = Trace()
        forget_inputs()  # what a device has kept of an earlier run would make this one seem cheap
        once = replace(options or self.options, repeat=1)  # a caller who wants more runs asks for each
        values = run_loops(loops, cut, once, trace).values
        self.phases = tuple(event.data for event in trace.of("phase"))
        return values

    def equal(self, theirs: Sequence[object], ours: Sequence[object]) -> tuple[bool, str]:
        """Whether two lists of the statements' values are equal, and a note if only up to rounding."""
        worst = 0.0
        approximate = any(
            "approximate" in OPS[node.op].traits for node in postorder(self.fused.roots()) if node.op in OPS
        )
        running = any(in_blocks(output.sink, True) for output in self.fused.outputs)
        for their, own, output in zip(theirs, ours, self.fused.outputs, strict=True):
            error = difference(own, their, approximate, running, tolerance_of(output, self.length))
            if error is None:
                mixed = {FLOAT32, FLOAT64} <= {source.type for source in self.fused.sources}
                return False, f"another result{_ROUNDED if mixed else ''}"
            worst = max(worst, error)
        return True, rounded(worst, running)


def own_name(options: Options, ran: str = "") -> str:
    """The compiled back end of a cell with these options. `ran`: what computed it, where that was chosen."""
    if options.on != "auto":
        return options.on
    return "parallel" if ran in ("", "python") else ran


def _timed(run: Callable[[int], list[object]], size: int) -> tuple[float, list[object]]:
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


def rounded(error: float, running: bool) -> str:
    """The note on a difference by rounding; `running`: it is one of running values (see `difference`)."""
    if error == 0:
        return ""
    return f"equal to {error:.0e}{' of the largest element' if running else ''}"


def _of_objects(own: list[Any], other: list[Any], approximate: bool) -> float | None:
    """The same of lists, whose elements may be of several types."""
    if own == other:
        return 0.0
    if len(own) != len(other):
        return None
    worst = 0.0
    for a, b in zip(own, other, strict=True):
        error = _of_elements(a, b, approximate)
        if error is None or (error and not approximate):
            return None
        worst = max(worst, error)
    return worst


def _of_elements(a: Any, b: Any, approximate: bool) -> float | None:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return _of_objects(list(cast("tuple[Any, ...]", a)), list(cast("tuple[Any, ...]", b)), approximate)
    floats = isinstance(a, float) and isinstance(b, float)
    return difference(a, b) if floats else 0.0 if a == b else None


TOLERANCE = 1e-9
"""Relative difference up to which float reductions in another order count as equal."""

_TOLERANCE_32 = 1e-2
"""The same for float32 at most: Python adds one element after the other, and each time rounds to 24 bits."""


def tolerance_of(output: Output, length: int) -> float:
    """Of a reduction over so many elements; as many roundings of float32 may all go one way."""
    if output.sink.kind in EXTREMES or all(part.type is not FLOAT32 for part in flatten(output.value)):
        return TOLERANCE
    return max(TOLERANCE, min(_TOLERANCE_32, length * 2.0**-24))


def _largest(parts: Sequence[float | None]) -> float | None:
    """The largest of some differences; None where one of them is none."""
    return None if None in parts else max(part for part in parts if part is not None)


def difference(
    own: Any, other: Any, approximate: bool = False, running: bool = False, tolerance: float = TOLERANCE
) -> float | None:
    """0.0 if equal (NaN is NaN), the relative difference of float results within rounding, None if different.

    Elements of arrays have to be equal, unless an `approximate` operator (off by at most 1 ulp) took part, or they are
    `running` values, which may differ by roundings of the largest: the difference is then relative to that one, as an
    element that came near zero on the way has lost the same digits.
    """
    if isinstance(own, np.ndarray):
        mine = cast("np.ndarray[Any, Any]", own)
        if mine.dtype.names or mine.dtype == object:
            return _of_objects(
                mine.tolist(), other.tolist() if isinstance(other, np.ndarray) else list(other), approximate
            )
        if isinstance(other, np.ndarray):
            theirs = cast("np.ndarray[Any, Any]", other)
        else:
            try:
                theirs = np.array(other, dtype=mine.dtype) if len(other) else np.empty(0, mine.dtype)
            except OverflowError:  # Python's ints beyond what wrapped around
                return None
        if mine.shape != theirs.shape:
            return None
        if np.array_equal(mine, theirs, equal_nan=mine.dtype.kind in "fc"):
            return 0.0
        if running and mine.dtype.kind == "c":
            pairs: list[tuple[Any, Any]] = [
                (np.real(mine), np.real(theirs)),
                (np.imag(mine), np.imag(theirs)),
            ]
            return _largest([difference(*pair, running=True, tolerance=tolerance) for pair in pairs])
        if running and mine.dtype.kind == "f" and len(mine):
            most = float(np.max(np.abs(mine[np.isfinite(mine)]), initial=1e-300))
            if not np.allclose(mine, theirs, rtol=tolerance, atol=tolerance * most, equal_nan=True):
                return None
            return float(np.nanmax(np.abs(mine - theirs))) / most
        close = approximate and np.allclose(mine, theirs, rtol=TOLERANCE, atol=0, equal_nan=True)
        return float(np.nanmax(np.abs(mine - theirs) / np.maximum(np.abs(mine), 1e-300))) if close else None
    if isinstance(own, list):
        return _of_objects(cast("list[Any]", own), list(other), approximate)
    if isinstance(own, complex) or isinstance(other, complex):
        parts = ((getattr(own, each), getattr(other, each)) for each in ("real", "imag"))
        return _largest([difference(*pair, tolerance=tolerance) for pair in parts])
    if isinstance(own, float) or isinstance(other, float):
        a, b = float(own), float(other)
        if a == b or (math.isnan(a) and math.isnan(b)):
            return 0.0
        error = (
            abs(a - b) / max(abs(a), abs(b), 1e-300) if math.isfinite(a) and math.isfinite(b) else math.inf
        )
        return error if error <= tolerance else None
    return 0.0 if own == other else None
