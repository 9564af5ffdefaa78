"""What some sinks make of the elements, in Python's own terms."""

from __future__ import annotations

import math
import operator
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

SUMS = frozenset({"sum", "mean", "reduce_add"})
"""Sinks that add the elements up."""

EXTREMES = frozenset({"min", "max", "reduce_min", "reduce_max", "argmin", "argmax"})
"""Sinks that give one of the elements, or its number."""

_untyped: Any = operator
COMBINE: Mapping[str, Callable[[Any, Any], Any]] = {
    "sum": operator.add, "reduce_add": operator.add, "prod": operator.mul, "reduce_mul": operator.mul, "min": min,
    "reduce_min": min, "max": max, "reduce_max": max, "reduce_and": _untyped.and_, "reduce_or": _untyped.or_,
    "reduce_xor": _untyped.xor, "first_index": min, "last_index": max,
}  # fmt: skip
"""What makes one value of two, for sinks of which that is known."""


class _Above(int):
    """An integer above all others, also where Python compares it with them."""

    def __lt__(self, other: int) -> bool:
        return False

    def __gt__(self, other: int) -> bool:
        return True

    __le__, __ge__ = __lt__, __gt__


class _Below(int):
    """An integer below all others."""

    __lt__ = __le__ = _Above.__gt__
    __gt__ = __ge__ = _Above.__lt__


NEUTRAL = {"add": 0, "mul": 1, "and": -1, "or": 0, "xor": 0, "min": _Above(), "max": _Below()}
"""By operator the integer that changes nothing."""


def spread(kind: str, total: Any, count: int, ddof: float) -> Any:
    """Var or std of so many elements, from the sum of their squared deviations; StatisticsError for too few."""
    if count <= ddof:
        raise statistics.StatisticsError(f"{kind} with ddof={ddof} requires more than {ddof} data points")
    found = total / (count - ddof)
    if kind == "var":
        return found
    return np.sqrt(found) if type(found) is np.float32 else math.sqrt(found)


def extreme(kind: str, values: Iterable[Any]) -> int:
    """The number of the first smallest or largest element; of a NaN if it comes first, as nothing is better then."""
    best: Any = None
    found = -1
    for number, value in enumerate(values):
        if found < 0 or (value < best if kind == "argmin" else value > best):
            best, found = value, number
    if found < 0:
        raise ValueError(f"{kind} of no elements")
    return found


def end(kind: str, values: Sequence[Any]) -> object:
    """The first or the last value; ValueError without any."""
    if not values:
        raise ValueError(f"{kind} of no elements")
    return values[0 if kind == "first" else -1]


def bincount(values: Iterable[int], minlength: int = 0) -> list[int]:
    """How often each of 0, 1, ... occurs, up to the largest, or `minlength` many; ValueError for negative values."""
    counts = Counter(values)
    least = min(counts, default=0)
    if least < 0:
        raise ValueError(f"bincount counts numbers from 0 on, not {least}")
    return [counts[number] for number in range(max(max(counts, default=-1) + 1, minlength))]
