"""Baselines of statements whose loops are made for their very elements, or that ran on Python or NumPy: run afresh.

What a window, a `take_while` or a `var` makes of fewer elements is not the first part of its result, so both sides run
the whole statement over the shorter source.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.comparing.baselines import BY_NOW, UNCOMPILED, Baseline
from hastega_magic.compiler.comparing.difference import (
    FLOATS,
    TOLERANCE,
    difference,
    magnitude_of,
    of_terms,
    rounded,
    tolerance_of,
)
from hastega_magic.compiler.driver import Driver
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.outcome import Outcome
from hastega_magic.compiler.statement import Bound, build_loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.ir.sinks import SUMS
from hastega_magic.records import dataclass
from hastega_magic.runtime import python
from hastega_magic.trace import Trace

_PROBE = 512
_LARGEST = 1 << 22
_GROWTH = 32

_TERMS = 1 << 20
"""Of so many elements Python's sum may be looked at term by term."""


@dataclass
class Prefix:
    """One statement that ran alone, and its result over the whole source."""

    outcome: Outcome
    options: Options
    filename: str = "<prefix>"

    @property
    def possible(self) -> bool:
        """Whether a part of the source is all that is needed, and can be had."""
        (bound,) = self.outcome.bounds if len(self.outcome.bounds) == 1 else (None,)
        if bound is None or not (self.outcome.bespoke or self._uncompiled(bound)):
            return False
        source = bound.source
        sliced = type(source) in (range, list, tuple) or (type(source) is np.ndarray and source.ndim == 1)
        alone = not any(stage.site.name in ("zip", "dot") for stage in bound.stages)
        return sliced and (alone or len(source) <= _PROBE * _GROWTH)

    def _uncompiled(self, bound: Bound) -> bool:
        """Whether Python or NumPy computed it as asked, and nobody sees its functions called once more."""
        if self.options.on not in UNCOMPILED or not all(stage.site.known for stage in bound.stages):
            return False
        try:
            loop, _, probe = build_loop(bound, bound.source, bound.stages, Workspace(self.filename))
        except Exception:  # it has no compiled form, or a source that only Python reads
            return False
        return loop is not None and probe is None and len(loop.stages) == len(bound.stages)

    def measure(self, backend: str, budget: float) -> Baseline | None:
        """Pure Python or NumPy within about so many seconds; one that fails says so in its note.

        None for other back ends, for the cell's own, and where NumPy has no form for all of it.
        """
        if backend not in UNCOMPILED or backend == self.options.on:
            return None
        (bound,) = self.outcome.bounds
        length = len(bound.source)
        alone = not any(stage.site.name in ("zip", "dot") for stage in bound.stages)
        size = min(length, _PROBE) if alone else length
        left = budget
        try:
            while True:
                seconds, theirs = _timed(lambda size=size: self._run(backend, size))
                if theirs is None:
                    return None
                left -= seconds
                larger = min(
                    length, size * _GROWTH, int(left / 1.5 / max(seconds / max(size, 1), 1e-10)), _LARGEST
                )
                if size == length or (larger < 2 * size and larger < length):
                    break
                size = larger
            if backend == "numpy" and seconds < left:  # the first run has looked for the form, too
                seconds = min(seconds, _timed(lambda: self._run(backend, size))[0])
            ours = self.outcome.values[0] if size == length else _timed(lambda: self._run("", size))[1]
            own = cast("list[object]", ours)[0] if size != length else ours
            execution = self.outcome.execution
            allowed = TOLERANCE if execution is None else tolerance_of(execution.fused.outputs[-1], length)
            apart, added = self._apart(own, theirs[0], size, allowed)
            by_now = apart is None and size == length
            if by_now:  # the cell may have changed since what it read
                now = cast("list[object]", _timed(lambda: self._run("", size))[1])
                apart, added = self._apart(now[0], theirs[0], size, allowed)
        except Exception as error:
            note = f"did not run: {type(error).__name__}: {error}".splitlines()[0]
            return Baseline(backend, 0.0, (0.0, 0.0), 0, False, False, note)
        scaled = seconds * length / size if size else seconds
        note = "another result" if apart is None else rounded(apart, isinstance(theirs[0], np.ndarray), added)
        if by_now and apart is not None:
            note = f"{note or '✓ equal'}{BY_NOW}"
        return Baseline(backend, scaled, (scaled, scaled), size, size < length, apart is not None, note)

    def _apart(self, own: object, other: object, size: int, allowed: float) -> tuple[float | None, bool]:
        """How far two results are apart (None: they are other ones), and whether that was seen of their terms."""
        apart = difference(own, other, running=True, tolerance=allowed)
        if apart is None and isinstance(own, (*FLOATS, complex)):
            return self._of_terms(own, other, size, allowed), True
        return apart, False

    def _of_terms(self, own: object, other: object, size: int, tolerance: float) -> float | None:
        """The difference of two sums, or means, of terms that may have cancelled; None where it is another."""
        (bound,) = self.outcome.bounds
        *before, last = bound.calls()
        if last[0] not in SUMS or last[1] is not None or last[2] or last[3] or size > _TERMS:
            return None
        terms = list(cast("Iterable[Any]", python.run(bound.source[:size], before)))
        return of_terms(
            own, other, magnitude_of(terms) / (len(terms) if last[0] == "mean" else 1), size, tolerance
        )

    def _run(self, backend: str, size: int) -> list[object] | None:
        """The statement over the first elements; None where NumPy leaves a part to Python."""
        (bound,) = self.outcome.bounds
        source: Any = bound.source
        part = source[:size]
        if backend == "python":
            return [python.run(part, bound.calls())]
        trace = Trace()
        options = replace(self.options, on=backend or self.options.on, quiet=True, repeat=1, strict=False)
        found = Driver(options, self.filename, trace).run_alone(replace(bound, source=part), part).values
        return None if backend == "numpy" and list(trace.of("barrier")) else found


def _timed(run: Callable[[], list[object] | None]) -> tuple[float, Sequence[object] | None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the cell gave its own: these would name no place of the user's
        start = time.perf_counter()
        found = run()
        return time.perf_counter() - start, found


__all__ = ["Prefix"]
