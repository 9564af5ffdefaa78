"""Baselines of statements whose loops are made for their very elements, or that ran on Python or NumPy: run afresh.

What a window, a `take_while` or a `var` makes of fewer elements is not the first part of its result, so both sides run
the whole statement over the shorter source.
"""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, replace
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.backends import forget_inputs
from hastega_magic.compiler.comparing.baselines import (
    AGAIN,
    BY_NOW,
    FURTHER,
    RUNS,
    UNCOMPILED,
    Baseline,
    own_name,
)
from hastega_magic.compiler.comparing.difference import (
    FLOATS,
    TOLERANCE,
    difference,
    magnitude_of,
    of_terms,
    rounded,
    tolerance_32,
    tolerance_of,
)
from hastega_magic.compiler.driver import Driver
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.outcome import Outcome
from hastega_magic.compiler.statement import Bound
from hastega_magic.errors import HastegaError
from hastega_magic.frames import reraise_signal
from hastega_magic.ir.sinks import EXTREMES, SUMS
from hastega_magic.records import cached_property, dataclass
from hastega_magic.report.model import COMPILING
from hastega_magic.runtime import python
from hastega_magic.trace import Trace

_PROBE = 512
_LARGEST = 1 << 22
_GROWTH = 32

_CALLED = {"python": "Python", "numpy": "NumPy"}

_TERMS = 1 << 20
"""Of so many elements Python's sum may be looked at term by term."""


@dataclass
class Prefix:
    """One statement that ran alone, and its result over the whole source."""

    outcome: Outcome
    options: Options
    filename: str = "<prefix>"
    trace: Trace = field(default_factory=Trace)
    """Of its last run."""

    @cached_property
    def why_not(self) -> str:
        """Why the statement cannot be run once more on its own, or over a part of its source; "" where it can."""
        outcome = self.outcome
        if len(outcome.bounds) == 1 and isinstance(self._bound.source, Iterator):
            return "its source gives its elements only once"
        if self.options.on in UNCOMPILED:
            if len(outcome.bounds) > 1 or not self._uncompiled(outcome.bounds[0]):
                return f"{_CALLED[self.options.on]} computed it, and one loop alone could not"
        elif not outcome.bespoke:
            return "Python computed a part of it"
        elif len(outcome.bounds) > 1:
            return "its loop is made for these very elements, and gives other results beside"
        if not all(map(_can_be_cut, [self._bound.source, *self._joined])):
            return (
                "its loops are made for these very elements; such are run once more where they come from a list, "
                "tuple, range or array of one dimension"
            )
        return ""

    def takes(self, backend: str) -> bool:
        """Whether `measure` may be asked for it: what joins several sources is run over all of them, or not at all."""
        if self.why_not:
            return False
        short = not self._joined or len(self._bound.source) <= _PROBE * _GROWTH
        return short or backend not in UNCOMPILED

    @property
    def _bound(self) -> Bound:
        (bound,) = self.outcome.bounds
        return bound

    @property
    def _joined(self) -> list[Any]:
        """The sources that stages bring with them."""
        return [
            arg for stage in self._bound.stages if stage.site.name in ("zip", "dot") for arg in stage.args
        ]

    def _uncompiled(self, bound: Bound) -> bool:
        """Whether Python or NumPy computed it as asked, and nobody sees its functions called once more."""
        if self.options.on not in UNCOMPILED or not all(stage.site.known for stage in bound.stages):
            return False
        options = replace(self.options, on="parallel", quiet=True, repeat=1, strict=False)
        try:
            driver = Driver(options, self.filename, Trace())
            loop, _, _ = driver.longest(bound, bound.source, bound.stages, bound.varying)
        except Exception as error:  # it has no compiled form, or a source that only Python reads
            reraise_signal(error)
            return False
        return loop is not None and len(loop.stages) == len(bound.stages)

    def measure(self, backend: str, budget: float) -> Baseline | None:
        """The statement on a back end within about so many seconds; one that fails says so in its note.

        The cell's own back end is run again, as others are that compile. None where NumPy has no form for all of it.
        """
        length = len(self._bound.source)
        try:
            measured = self._within(backend, budget)
            if measured is None:
                return None
            size, times, theirs = measured
            ours = self.outcome.values[0] if size == length else _timed(lambda: self._run("", size))[1]
            own = cast("list[object]", ours)[0] if size != length else ours
            allowed = self._allowed(length)
            apart, added = self._apart(own, theirs, size, allowed)
            by_now = apart is None and size == length
            if by_now:  # the cell may have changed since what it read
                now = cast("list[object]", _timed(lambda: self._run("", size))[1])
                apart, added = self._apart(now[0], theirs, size, allowed)
        except Exception as error:
            reraise_signal(error)
            note = f"did not run: {type(error).__name__}: {error}".splitlines()[0]
            return Baseline(backend, 0.0, (0.0, 0.0), 0, False, False, note)
        scale = length / size if size else 1.0
        median, *spread = (each * scale for each in (statistics.median(times), min(times), max(times)))
        note = (
            "another result"
            if apart is None
            else rounded(apart, isinstance(theirs, (np.ndarray, list)), added)
        )
        if by_now and apart is not None:
            note = f"{note or '✓ equal'}{BY_NOW}"
        name = backend
        if backend not in UNCOMPILED and backend == own_name(self.options):
            name, note = f"{backend}, run again", note or AGAIN
        return Baseline(name, median, (spread[0], spread[1]), size, size < length, apart is not None, note)

    def _allowed(self, length: int) -> float:
        """The difference up to which results over so many elements count as equal."""
        execution, value = self.outcome.execution, self.outcome.values[0]
        if execution is not None:
            return tolerance_of(execution.fused.outputs[-1], length)
        single = getattr(value, "dtype", None) == np.float32  # NumPy's order is not Python's either
        return (
            tolerance_32(length) if single and self._bound.stages[-1].site.name not in EXTREMES else TOLERANCE
        )

    def _within(self, backend: str, budget: float) -> tuple[int, list[float], object] | None:
        """Larger and larger parts of the source until the budget is used up: elements, seconds of runs, the value."""
        if backend not in UNCOMPILED:
            return self._compiled(backend, budget)
        length = len(self._bound.source)
        size, left = length if self._joined else min(length, _PROBE), budget
        while True:
            began = time.perf_counter()
            try:
                seconds, theirs = _timed(lambda size=size: self._run(backend, size))
            except ValueError:  # of no elements, perhaps, behind a filter: further on there may be some
                left -= time.perf_counter() - began
                if size == length or left <= 0:
                    raise
                size = min(length, size * FURTHER)
                continue
            if theirs is None:
                return None
            left -= seconds
            possible = int(left / 1.5 / max(seconds / max(size, 1), 1e-10))
            larger = min(length, size * _GROWTH, possible, _LARGEST)
            if size == length or (larger < 2 * size and larger < length):
                break
            size = larger
        times, value = [seconds], theirs[0]
        if backend == "numpy" and seconds < left:  # the first run has looked for the form, too
            times = [min(seconds, _timed(lambda: self._run(backend, size))[0])]
        return size, times, value

    def _compiled(self, backend: str, budget: float) -> tuple[int, list[float], object]:
        """The same over all of the source, as the cell's own loops went: what a call takes says nothing of more."""
        length = len(self._bound.source)
        spent, _ = _timed(lambda: self._run(backend, length))  # compiles for so many elements
        seconds, theirs = self._rerun(backend, length)
        times = [seconds]
        while len(times) < RUNS and sum(times) < budget - spent:
            times.append(self._rerun(backend, length)[0])
        return length, times, cast("Sequence[object]", theirs)[0]

    def _apart(self, own: object, other: object, size: int, allowed: float) -> tuple[float | None, bool]:
        """How far two results are apart (None: they are other ones), and whether that was seen of their terms."""
        apart = difference(own, other, running=True, tolerance=allowed)
        if apart is None and isinstance(own, (*FLOATS, complex)):
            return self._of_terms(own, other, size, allowed), True
        return apart, False

    def _of_terms(self, own: object, other: object, size: int, tolerance: float) -> float | None:
        """The difference of two sums, or means, of terms that may have cancelled; None where it is another."""
        bound = self._bound
        *before, last = bound.calls()
        if last[0] not in SUMS or last[1] is not None or last[2] or last[3] or size > _TERMS:
            return None
        terms = list(cast("Iterable[Any]", python.run(bound.source[:size], before)))
        return of_terms(
            own, other, magnitude_of(terms) / (len(terms) if last[0] == "mean" else 1), size, tolerance
        )

    def _rerun(self, backend: str, size: int) -> tuple[float, Sequence[object] | None]:
        """Running seconds on a back end that compiles, as the report counts those of the cell, and what it gave."""
        _, found = _timed(lambda: self._run(backend, size))
        running = [event for event in self.trace.of("phase") if event.data["name"] not in COMPILING]
        seconds = sum(cast("float", event.data["seconds"]) for event in running)
        shared = sum(cast("float", event.data["seconds"]) for event in self.trace.of("overlap"))
        return max(0.0, seconds - shared), found

    def _run(self, backend: str, size: int) -> list[object] | None:
        """The statement over the first elements; None where NumPy leaves a part to Python."""
        bound = self._bound
        source: Any = bound.source
        part = source[:size]
        if backend == "python":
            return [python.run(part, bound.calls())]
        self.trace = trace = Trace()
        forget_inputs()  # what a device has kept of an earlier run would make this one seem cheap
        options = replace(
            self.options, on=backend or self.options.on, quiet=True, repeat=1, strict=False, tune=False
        )
        found = Driver(options, self.filename, trace).run_alone(replace(bound, source=part), part).values
        left = [str(event.data["stage"]) for event in trace.of("barrier")]
        if left and backend not in ("", *UNCOMPILED):
            raise HastegaError(f"Python computes `{left[0]}` there")
        return None if left and backend == "numpy" else found


def _can_be_cut(source: object) -> bool:
    """Whether its first elements can be had, and had once more."""
    return type(source) in (range, list, tuple) or (type(source) is np.ndarray and source.ndim == 1)


def _timed(run: Callable[[], list[object] | None]) -> tuple[float, Sequence[object] | None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the cell gave its own: these would name no place of the user's
        start = time.perf_counter()
        found = run()
        return time.perf_counter() - start, found


__all__ = ["Prefix"]
