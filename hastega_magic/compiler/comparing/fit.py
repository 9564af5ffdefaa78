"""Fitted lines: what a back end takes for n elements, a·n + b seconds for each phase, from runs over a few sizes.

    n        256      4 096    65 536   1 048 576          parallel   kernel 0.41 ns·n + 90 µs
    seconds  0.1 ms   0.1 ms   0.12 ms  0.5 ms             python     kernel 0.7 µs·n + 3 µs
                                                           parallel is faster than python from 124 elements on

Least squares of errors relative to the measured time: a size counts for as much as one a thousand times larger, and a
run that was disturbed, which can only be too long, pulls little. The weights are those of the whole for every phase of
a back end, so the phases' lines add up to the line of the whole, but for those that would fall or begin below zero:
`a` and `b` are never negative.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import permutations

from hastega_magic.frames import suppressed
from hastega_magic.records import dataclass
from hastega_magic.report.costs import Crossing, Model, ModelPhase, ModelRow
from hastega_magic.report.model import COMPILING

Phases = Sequence[Mapping[str, object]]
Timed = Callable[[str, int], tuple[float, Phases]]
"""A back end and a number of elements -> the seconds of a run, and its phases as the trace has them."""

_FIRST = 256
"""Elements of the smallest run."""

_LARGEST = 1 << 24
"""Elements of the largest run, as for baselines."""

_SIZES = 6
_FACTOR = 3.0
"""Sizes lie at least so far apart."""

_RUNS = 5
"""Runs of a size, where they are short."""

_FARTHEST = 1e9
"""Crossings beyond so many elements are of no interest, unless so many were measured."""

REST = "call"
"""The phase for what is in no other: binding, looking the loop up, starting threads."""


@dataclass(frozen=True)
class Run:
    """A run over the first `n` elements: its seconds, and its phases as far as they are known."""

    n: int
    seconds: float
    phases: Phases = ()


def model(
    timed: Timed, backends: Sequence[str], length: int, budget: float, known: Mapping[str, Run] | None = None
) -> Model | None:
    """Fit each back end within about `budget` seconds in all; one that fails is left out.

    `known`: runs, by back end, that were timed before. None if fewer than two sizes fit into `length` elements, or
    no back end ran.
    """
    chosen = sizes(length)
    rows: list[ModelRow] = []
    pending = len(backends)
    for backend in backends if len(chosen) > 1 else ():
        found, spent = _row(timed, backend, chosen, budget / pending, (known or {}).get(backend))
        pending, budget = pending - 1, max(0.0, budget - spent)
        rows += [found] if found is not None else []
    if not rows:
        return None
    measured = sorted({int(n) for row in rows for n, _ in row.points})
    return Model(tuple(measured), tuple(rows), crossings(rows, max(_FARTHEST, length)))


def sizes(length: int) -> list[int]:
    """Numbers of elements to run, in geometric order, from some hundred to `length`."""
    last = min(length, _LARGEST)
    first = min(_FIRST, max(1, int(last / _FACTOR**2)))
    count = _SIZES
    while count > 2 and (last / first) ** (1 / (count - 1)) < _FACTOR:
        count -= 1
    ratio = (last / first) ** (1 / (count - 1))
    return sorted({round(first * ratio**k) for k in range(count)}) if last >= 1 else []


def fit(points: Sequence[tuple[float, float]], weights: Sequence[float]) -> tuple[float, float]:
    """a, b >= 0 that make the sum of weight · (a·x + b - y)² over the points (x, y) least; y >= 0, weights > 0."""
    total = sum(weights)
    mean_x = sum(w * x for w, (x, _) in zip(weights, points, strict=True)) / total
    mean_y = sum(w * y for w, (_, y) in zip(weights, points, strict=True)) / total
    spread = sum(w * (x - mean_x) ** 2 for w, (x, _) in zip(weights, points, strict=True))
    joint = sum(w * (x - mean_x) * (y - mean_y) for w, (x, y) in zip(weights, points, strict=True))
    slope = joint / spread if spread > 0 else 0.0
    if slope <= 0:
        return 0.0, mean_y
    if (start := mean_y - slope * mean_x) >= 0:
        return slope, start
    # On the edge b = 0 the best slope is the one of lines through the origin.
    squares = sum(w * x * x for w, (x, _) in zip(weights, points, strict=True))
    return sum(w * x * y for w, (x, y) in zip(weights, points, strict=True)) / squares, 0.0


def line(row: ModelRow) -> tuple[float, float]:
    """The sums over the phases: seconds per element, seconds once."""
    return sum(each.a for each in row.phases), sum(each.b for each in row.phases)


def crossings(rows: Sequence[ModelRow], farthest: float) -> tuple[Crossing, ...]:
    """Where one back end's line falls below another's, between one element and `farthest`, in rising order."""
    found: list[Crossing] = []
    for one, other in permutations(rows, 2):
        (a, b), (c, d) = line(one), line(other)
        if a < c and b > d and 1 <= (n := (b - d) / (c - a)) <= farthest:
            found.append(Crossing(one.backend, other.backend, _short(n)))
    return tuple(sorted(found, key=lambda each: each.n))


def _row(
    timed: Timed, backend: str, chosen: Sequence[int], budget: float, known: Run | None
) -> tuple[ModelRow | None, float]:
    """The fit of a back end over as many of the sizes as the budget allows (two in any case), and what that took."""
    runs: list[Run] = []
    total = 0.0
    for size in chosen:
        if len(runs) > 1 and runs[-1].seconds * size / runs[-1].n > budget - total:
            break
        if known is not None and size >= known.n:
            break
        with suppressed():  # a device may fail at one size
            run, spent = _median(timed, backend, size, (budget - total) / 4)
            runs.append(run)
            total += spent
    runs += [known] if known is not None and known.n > 0 else []
    if len(runs) < 2:
        return None, total
    weights = [1 / max(run.seconds, 1e-9) ** 2 for run in runs]
    parts = [_parts(run) for run in runs]
    lines: list[ModelPhase] = []
    for name in dict.fromkeys(name for each in parts for name in each):
        a, b = fit([(run.n, each.get(name, 0.0)) for run, each in zip(runs, parts, strict=True)], weights)
        if a > 0 or b > 0:
            lines.append(ModelPhase(name, _short(a), _short(b)))
    return ModelRow(backend, tuple(lines), tuple((run.n, _short(run.seconds)) for run in runs)), total


def _median(timed: Timed, backend: str, size: int, budget: float) -> tuple[Run, float]:
    """The median of a few runs, and what all of them took."""
    seconds, phases = timed(backend, size)
    total, running = seconds, 0.0
    # What is compiled once, and kept, is no part of a run.
    runs = [] if any(phase["name"] == "compile" for phase in phases) else [Run(size, seconds, phases)]
    while not runs or (len(runs) < _RUNS and running + runs[-1].seconds < budget):
        seconds, phases = timed(backend, size)
        total, running = total + seconds, running + seconds
        runs.append(Run(size, seconds, phases))
    return sorted(runs, key=lambda run: run.seconds)[(len(runs) - 1) // 2], total


def _parts(run: Run) -> dict[str, float]:
    """What each phase took of the run, so that they add up to it: phases that ran at once share the time."""
    found: dict[str, float] = {}
    seconds = run.seconds
    for phase in run.phases:
        name, spent = str(phase["name"]), phase["seconds"]
        if name not in COMPILING and isinstance(spent, float) and spent > 0:
            found[name] = found.get(name, 0.0) + spent
    together = sum(found.values())
    if not found:
        return {"kernel": seconds}
    if together > seconds:
        return {name: spent * seconds / together for name, spent in found.items()}
    return found | {REST: seconds - together}


def _short(value: float) -> float:
    """Four digits: more would claim what no measurement says."""
    return float(f"{value:.4g}")
