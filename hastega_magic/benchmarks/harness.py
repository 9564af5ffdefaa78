"""Interleaved measurement: ours, peer 1, peer 2, ours, ... so that drift hits everybody alike.

Every entrant first runs once to warm up, and what it returned is compared with hastega's result;
only an equal result gets its time shown.  Reported are median, minimum and maximum of the rounds.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import field
from statistics import median
from typing import Any

import numpy as np

from hastega_magic.benchmarks.model import Entrant, Row, untimed
from hastega_magic.records import dataclass

# An entrant stops after two rounds once it has used this many seconds: nobody waits for NumPy.
PATIENCE_S = 15.0
FEWEST_ROUNDS = 2
NOT_COMPARED = "not run: hastega failed, so there is nothing to compare with"
# The spinning thread pools of other libraries are given this long to go to sleep.
SETTLE_S = 0.02
# A machine that has slept as long gives half its speed to memory for some milliseconds. So it is kept awake by a loop
# meanwhile, and a run that may be as short follows one of the same entrant that does not count.
SHORT_S = 0.1


@dataclass(frozen=True)
class Comparison:
    """Whether two results are equal within the tolerance, and a few words where not bit for bit."""

    equal: bool
    note: str = ""


def compare(result: object, expected: object, tolerance: float = 0.0) -> Comparison:
    """Compare a peer's result with hastega's: scalars, lists or one-dimensional arrays of numbers.

    `tolerance` is relative to the larger magnitude; NaN equals NaN.  Integers compare exactly.
    """
    if isinstance(result, int) and isinstance(expected, int):
        return Comparison(result == expected, "" if result == expected else f"{result} is not {expected}")
    got, want = np.asarray(result), np.asarray(expected)
    if got.shape != want.shape:
        return Comparison(False, f"shape {got.shape} is not {want.shape}")
    if got.size == 0 or np.array_equal(got, want):
        return Comparison(True)
    if "O" in (got.dtype.kind, want.dtype.kind):
        return _first_difference(got, want, got != want)
    both_nan = (got != got) & (want != want)
    wrong = (got != want) & ~both_nan
    if not wrong.any():
        return Comparison(True)
    if tolerance == 0.0 or (got.dtype.kind in "iub" and want.dtype.kind in "iub"):
        return _first_difference(got, want, wrong)
    with np.errstate(all="ignore"):
        wide = np.complex128 if "c" in (got.dtype.kind, want.dtype.kind) else np.float64
        distance = np.abs(got.astype(wide) - want.astype(wide))
        relative = distance / np.maximum(np.abs(got), np.abs(want))
    beyond = wrong & ~(relative <= tolerance)
    if beyond.any():
        return _first_difference(got, want, beyond)
    return Comparison(True, f"equal to {float(relative[wrong].max()):.0e}")


def _first_difference(got: Any, want: Any, wrong: Any) -> Comparison:
    if got.ndim == 0:
        return Comparison(False, f"{got.item()!r} is not {want.item()!r}")
    at = int(np.argmax(wrong))
    return Comparison(False, f"element {at}: {got.item(at)!r} is not {want.item(at)!r}")


@dataclass
class _Lap:
    """What one entrant has done so far."""

    entrant: Entrant
    seconds: list[float] = field(default_factory=list[float])
    kernel: list[float] = field(default_factory=list[float])
    comparison: Comparison = field(default_factory=lambda: Comparison(True))
    failure: str = ""
    latest: float = 0.0
    """Seconds of its last run, the one that warms up included."""

    def go(self, clock: Callable[[], float], settle: float, idle: bool) -> object:
        """Run once with the clock on and note the time; the result."""
        self.entrant.prepare()
        if idle:
            time.sleep(settle)
        else:
            _stay_awake(settle)
        if not idle and self.latest < SHORT_S:
            self.entrant.run()
            self.entrant.prepare()
        start = clock()
        result = self.entrant.run()
        self.latest = clock() - start
        self.seconds.append(self.latest)
        kernel = self.entrant.kernel() if self.entrant.kernel is not None else None
        if kernel is not None:
            self.kernel.append(kernel)
        return result

    def tired(self) -> bool:
        return len(self.seconds) >= FEWEST_ROUNDS and sum(self.seconds) >= PATIENCE_S


def _stay_awake(seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def message(error: BaseException) -> str:
    """An exception as one short line."""
    text = (str(error).splitlines() or [""])[0]
    return f"failed: {type(error).__name__}: {text}"[:200]


def compete(
    workload: str,
    entrants: Sequence[Entrant],
    reference: Callable[[int], object],
    *,
    n: int,
    repeat: int = 7,
    tolerance: float = 0.0,
    clock: Callable[[], float] = time.perf_counter,
    settle: float = SETTLE_S,
    idle: bool = False,
) -> list[Row]:
    """Measure `entrants`, the first being ours, over `repeat` interleaved rounds of `n` elements.

    `reference(m)` is our result for `m` elements, which every entrant's result must equal.  An
    entrant that raises, or whose result differs, gets a row that says so and no times.  Before each
    run the machine is busy for `settle` seconds, and a run of less than `SHORT_S` seconds follows one
    that does not count; with `idle` it sleeps as long instead, and every run counts.
    """
    laps = [_Lap(entrant) for entrant in entrants]
    for lap in laps:
        if laps[0].failure:
            lap.failure = NOT_COMPARED
        else:
            _warm_up(lap, reference, tolerance, clock)
    running = [lap for lap in laps if not lap.failure]
    collecting = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        for _ in range(repeat):
            for lap in running:
                if lap.failure or lap.tired():
                    continue
                try:
                    lap.go(clock, settle, idle)
                except Exception as error:
                    lap.failure = message(error)
    finally:
        if collecting:
            gc.enable()
    return _rows(workload, laps, n, repeat)


def _warm_up(
    lap: _Lap, reference: Callable[[int], object], tolerance: float, clock: Callable[[], float]
) -> None:
    try:
        lap.entrant.prepare()
        start = clock()
        result = lap.entrant.run()
        lap.latest = clock() - start
        lap.comparison = compare(result, reference(lap.entrant.n), tolerance)
    except Exception as error:
        lap.failure = message(error)
        return
    if not lap.comparison.equal:
        lap.failure = f"not equal: {lap.comparison.note}"


def _rows(workload: str, laps: Sequence[_Lap], n: int, repeat: int) -> list[Row]:
    ours = laps[0] if laps and not laps[0].failure else None
    rows: list[Row] = []
    for lap in laps:
        entrant = lap.entrant
        if lap.failure:
            equal = None if lap.comparison.equal else False
            rows.append(untimed(workload, entrant.name, n, entrant.threads, lap.failure, equal=equal))
            continue
        scale = n / entrant.n
        notes = [entrant.note, lap.comparison.note]
        if entrant.n != n:
            notes.append(f"extrapolated from {entrant.n:,} elements".replace(",", " "))
        if len(lap.seconds) < repeat:
            notes.append(f"{len(lap.seconds)} of {repeat} rounds")
        note = "; ".join(filter(None, notes))
        rows.append(_row(workload, entrant, n, [s * scale for s in lap.seconds], ours, note))
        if lap.kernel:
            part = Entrant(f"{entrant.name}:kernel", entrant.n, entrant.threads, entrant.run)
            rows.append(_row(workload, part, n, lap.kernel, ours, "native code alone, part of the row above"))
    return rows


def _row(
    workload: str, entrant: Entrant, n: int, seconds: Sequence[float], ours: _Lap | None, note: str
) -> Row:
    middle = median(seconds)
    base = median(ours.seconds) if ours is not None else 0.0
    # A base of 0 means below the clock's resolution: there is no ratio to tell.
    ratio = middle / base if base > 0 else None
    return Row(
        workload, entrant.name, n, entrant.threads, middle, min(seconds), max(seconds), ratio, True, note
    )
