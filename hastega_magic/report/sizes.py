"""Numbers of elements in sentences: over which of them one of two back ends is the faster one.

crossings at 3, 10, 21 and 120    →    up to ≈ 21 elements and from ≈ 120 elements on
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from hastega_magic.report import units
from hastega_magic.report.costs import Crossing

CLEAR = math.log(1.1)
"""Two sizes or times can be told apart where their logarithms are at least so far apart."""

_LEAST = 10.0
"""Elements below which no size is told."""

_MOST = 2
"""Ranges of sizes that a reader keeps in mind."""


def by_size(own: str, other: str, crossings: Sequence[Crossing]) -> str:
    """Over which numbers of elements the back end is the faster one of two whose lines meet several times."""
    ranges = _ranges(own, crossings)
    if not ranges or ranges == [(0.0, math.inf)]:
        return f"{'faster' if ranges else 'slower'} than {other} for almost every size"
    if len(ranges) <= _MOST:
        return f"faster than {other} {' and '.join(_range(*each) for each in ranges)}"
    start, end = ranges[0][0] or ranges[0][1], ranges[-1][1] if ranges[-1][1] < math.inf else ranges[-1][0]
    turns = f"by turns from {about(start)} to {about(end)} elements"
    before = f"up to {about(start)} elements, " if not ranges[0][0] else ""
    return f"faster than {other} {before}{turns}{' and from there on' if ranges[-1][1] == math.inf else ''}"


def _ranges(own: str, crossings: Sequence[Crossing]) -> list[tuple[float, float]]:
    """Where it is the faster one, without gaps and ranges too narrow to be told from their ends."""
    found: list[tuple[float, float]] = []
    start = 0.0 if crossings[0].faster != own else math.inf
    for each in crossings:
        n = each.n if each.n > _LEAST else 0.0
        if each.faster == own:
            start = n
        elif start < math.inf:
            found.append((start, n))
            start = math.inf
    if start < math.inf:
        found.append((start, math.inf))
    merged: list[tuple[float, float]] = []
    for low, high in found:
        if merged and _touch(merged[-1][1], low):
            merged[-1] = merged[-1][0], high
        elif not _touch(low, high):
            merged.append((low, high))
    return merged


def _touch(low: float, high: float) -> bool:
    return high <= low or (low > 0 and high < math.inf and math.log(high / low) < CLEAR)


def _range(low: float, high: float) -> str:
    if not low:
        return f"up to {about(high)} elements"
    return (
        f"from {about(low)} elements on"
        if high == math.inf
        else f"from {about(low)} to {about(high)} elements"
    )


def about(n: float) -> str:
    """A number of elements, to two digits."""
    return f"≈ {units.digits(max(n, _LEAST), 2)}"


__all__ = ["CLEAR", "about", "by_size"]
