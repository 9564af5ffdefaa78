"""Predicted times over the number of elements, and where one back end overtakes another.

python    6 µs at 10 elements, 60 ms at 10^6            parallel is faster than python from 430 elements on
parallel  30 µs at 10 elements, 0.5 ms at 10^6
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, pairwise

from hastega_magic.cost.predict import Case, Model

SIZES = tuple(sorted({round(10 ** (step / 3)) for step in range(28)}))
"""Three sizes in a factor of ten, from one element to 10^9."""

Points = tuple[tuple[float, float], ...]
"""Elements and seconds, in rising order of the elements."""


Factors = Callable[[str, Sequence[int]], Sequence[float]]
"""A back end and numbers of elements -> by what the model's seconds are to be multiplied for each."""


def sampled(models: Sequence[Model], case: Case) -> dict[str, Points]:
    """Of each model, by back end, its time at `SIZES`.

    `case` tells what is on a device, and how much of a result is new memory.
    """
    fresh = case.fresh / max(case.n, 1)
    cases = [Case(n, resident=case.resident, fresh=fresh * n) for n in SIZES]
    return {
        model.backend: tuple((float(each.n), _short(model.seconds(each))) for each in cases)
        for model in models
    }


def corrected(curves: Mapping[str, Points], factors: Factors) -> dict[str, Points]:
    """What `sampled` gave, corrected by what was learned."""
    return {
        backend: tuple(
            (n, _short(seconds * factor))
            for (n, seconds), factor in zip(points, factors(backend, SIZES), strict=True)
        )
        for backend, points in curves.items()
    }


def at(points: Points, n: float) -> float:
    """The time for n elements, in seconds: logarithms are interpolated.

    Before the first point it is that point's, and behind the last one it grows with n.
    """
    if n <= points[0][0]:
        return points[0][1]
    for (low, short), (high, long) in pairwise(points):
        if n <= high:
            share = math.log(n / low) / math.log(high / low)
            return short * (long / short) ** share
    return points[-1][1] * n / points[-1][0]


def crossings(curves: Mapping[str, Points]) -> list[tuple[str, str, float]]:
    """From so many elements on, the first back end takes less time than the second; in rising order.

    Two that are one line at first part where that ends: that is told where they do not meet again.
    """
    found: list[tuple[str, str, float]] = []
    for one, other in combinations(curves, 2):
        mine: list[tuple[str, str, float]] = []
        ahead, parted = 0.0, False  # which of them was slower before, by its sign
        for (low, a), (_, b), (high, c), (_, d) in zip(
            curves[one], curves[other], curves[one][1:], curves[other][1:], strict=False
        ):
            before, after = math.log(a) - math.log(b), math.log(c) - math.log(d)
            ahead = before or ahead
            if not after or (ahead and (ahead > 0) == (after > 0)):
                continue
            n = _short(low * (high / low) ** (before / (before - after)))
            mine.append((one, other, n) if after < 0 else (other, one, n))
            parted |= not ahead
        found += mine[parted and len(mine) > 1 :]
    return sorted(found, key=lambda each: each[2])


def _short(value: float) -> float:
    """Four digits: more would claim what no model says. Damaged figures give none that cannot be drawn."""
    return float(f"{min(max(value, 1e-12), 1e15):.4g}")


__all__ = ["SIZES", "Factors", "Points", "at", "corrected", "crossings", "sampled"]
