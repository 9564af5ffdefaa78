"""Least squares: a line through measured times, and costs of classes that are never negative.

n        1 000   10 000   100 000          seconds ≈ 3.1 ns · n + 2 µs, r² 0.999
seconds  5 µs    33 µs    312 µs
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from hastega_magic.cost.overlap import parts
from hastega_magic.records import dataclass

_Floats = npt.NDArray[np.float64]

_FAR = 4.0
"""A measurement so many times the median is none: something else ran, or a clock jumped."""

_ROUNDS = 8
_CHEAPEST = 0.2
"""No class costs less than this part of what is assumed of it, in proportion: nothing is for free."""

_TRUST = 0.05
"""The weight of what is assumed of a class, beside 1 of a row."""

_DISTURBED = 0.3
"""A row of which the classes explain so much less than all of it, or more, counts less."""


@dataclass(frozen=True)
class Line:
    """`a` seconds for each element and `b` once; `r2`: which part of the variance the line explains (1.0: all)."""

    a: float
    b: float
    r2: float

    def at(self, n: float) -> float:
        """The time for n elements, in seconds."""
        return self.a * n + self.b


def line(points: Sequence[tuple[float, float]]) -> Line:
    """The line with a, b >= 0 whose errors relative to the measured times have the least squares; two points or more.

    Relative: a size counts for as much as one a thousand times larger. Points are (n, seconds). r² is that of the
    relative errors, against the best constant; 0.0 where the line is no better than that.
    """
    if len(points) < 2:
        raise ValueError("a line needs two measurements")
    n = np.array([x for x, _ in points], float)
    seconds = np.array([max(y, 1e-12) for _, y in points], float)
    a, b = nonnegative(np.stack([n / seconds, 1 / seconds], axis=1), np.ones(len(points)))
    errors = 1 - (a * n + b) / seconds
    weights = 1 / seconds**2
    mean = float((weights * seconds).sum() / weights.sum())
    spread = float(((seconds - mean) ** 2 * weights).sum())
    r2 = 1.0 if spread <= 1e-24 else max(0.0, 1.0 - float((errors**2).sum()) / spread)
    return Line(float(a), float(b), r2)


def nonnegative(matrix: _Floats, wanted: _Floats) -> _Floats:
    """The x >= 0 for which |matrix · x - wanted| is least (Lawson and Hanson's active sets).

    matrix: shape (m, k), wanted: shape (m,), result: shape (k,), all float64.
    """
    count = matrix.shape[1]
    scale = np.sqrt((matrix**2).sum(axis=0))
    scale[scale == 0] = 1.0
    scaled = matrix / scale
    x = np.zeros(count)
    free = np.zeros(count, bool)
    for _ in range(6 * count + 6):
        gradient = scaled.T @ (wanted - scaled @ x)
        gradient[free] = -np.inf
        best = int(np.argmax(gradient))
        if not gradient[best] > 1e-10 * max(1.0, float(np.abs(wanted).max(initial=0.0))):
            break
        free[best] = True
        while True:
            found = np.zeros(count)
            found[free] = np.linalg.lstsq(scaled[:, free], wanted, rcond=None)[0]
            if (found[free] > 0).all():
                x = found
                break
            # As far towards it as nothing becomes negative; what reaches zero stays there.
            low = free & (found <= 0)
            step = float((x[low] / np.maximum(x[low] - found[low], 1e-300)).min())
            x = np.maximum(x + step * (found - x), 0.0)
            free &= x > 1e-14
            x[~free] = 0.0
            if not free.any():
                break
    return x / scale


def class_costs(
    rows: Sequence[tuple[Mapping[str, float], float]],
    guess: Mapping[str, float],
    unit: frozenset[str] = frozenset(),
    scaled: bool = True,
) -> dict[str, float]:
    """Seconds of each class of `guess`, from rows of counts and measured seconds.

    Errors count relative to the measured time. `guess` draws each class towards itself as a row of weight `_TRUST`
    would, so that classes that the rows do not tell apart, or do not hold, keep its proportions: where `scaled`, it is
    scaled to the rows first, and none falls far below it. A row that takes far longer than the others say, or far less,
    was disturbed, and counts less. Classes of `unit` are computed while the others are (cost/overlap.py).
    """
    names = list(guess)
    used = [(counts, seconds) for counts, seconds in rows if seconds > 0]
    ratios = [
        seconds / expected
        for counts, seconds in used
        if (expected := sum(guess.get(name, 0.0) * count for name, count in counts.items())) > 0
    ]
    scale = statistics.median(ratios) if ratios and scaled else 1.0
    start = {name: guess[name] * scale for name in names}
    relative = [[counts.get(name, 0.0) * start[name] / seconds for name in names] for counts, seconds in used]
    matrix = np.array(relative + (np.eye(len(names)) * _TRUST).tolist(), float)
    wanted = np.array([1.0] * len(used) + [_TRUST] * len(names), float)
    apart = np.array([name in unit for name in names])
    shares = np.ones_like(matrix)
    weights = np.ones(len(wanted))
    found = np.ones(len(names))
    for _ in range(_ROUNDS if used else 1):
        if apart.any():
            # The longer of two sums is not linear, but is the sum of both, each by what a second of it adds: with the
            # classes as they were found last, half of the way each time.
            for number in range(len(used)):
                row = matrix[number] * found
                rest, own = parts(float(row[~apart].sum()), float(row[apart].sum()))
                shares[number] = np.sqrt(shares[number] * np.where(apart, own, rest))
        rows_now = matrix * shares
        more = wanted - _CHEAPEST * rows_now.sum(axis=1)
        found = _CHEAPEST + nonnegative(rows_now * weights[:, None], more * weights)
        missing = wanted - (matrix * shares) @ found
        weights = _DISTURBED / np.maximum(np.abs(missing), _DISTURBED)
    return {name: float(factor) * start[name] for name, factor in zip(names, found, strict=True)}


_KNEES = tuple(1e-4 * 2**step for step in range(8))


def team(points: Sequence[tuple[float, float]], threads: int) -> tuple[float, float, float, float]:
    """Start, speed, ramp and knee of several threads (cost/machine.py), from seconds of one and of all.

    Least squares of errors relative to what all took; three points or more.
    """
    work = np.array([each for each, _ in points], float)
    taken = np.array([max(each, 1e-9) for _, each in points], float)
    least, best = np.inf, (0.0, 1.0, 0.0, 1.0)
    for knee in _KNEES:
        columns = np.stack([np.ones_like(work), work, work / (work + knee)], axis=1) / taken[:, None]
        found = nonnegative(columns, np.ones(len(points)))
        if found[1] * threads < 1:  # no more than so many times as fast
            rest = 1.0 - columns[:, 1] / threads
            others = nonnegative(columns[:, [0, 2]], rest)
            found = np.array([others[0], 1 / threads, others[1]])
        error = float(((columns @ found - 1) ** 2).sum())
        if error < least:
            least, best = error, (float(found[0]), float(max(1.0, 1 / found[1])), float(found[2]), knee)
    return best


def usable(seconds: Sequence[float]) -> list[float]:
    """Repeated measurements without those that cannot be: none above 0, and far ones. A clock that jumps gives both.

    ValueError where nothing is left.
    """
    there = [each for each in seconds if 0 < each < float("inf")]
    if not there:
        raise ValueError("no measurement can be used")
    middle = statistics.median_low(there)
    return [each for each in there if middle / _FAR <= each <= middle * _FAR]


__all__ = ["Line", "class_costs", "line", "nonnegative", "team", "usable"]
