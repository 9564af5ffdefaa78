"""Sources that are one array a few elements on, as those of windows are: sent to a device once, and copied there.

A bus carries some 50 GB/s, a device's own memory some thousands.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from hastega_magic.ir.schedule import BLOCK
from hastega_magic.records import dataclass
from hastega_magic.runtime.sources import AnyArray

FURTHEST = BLOCK
"""Elements that an array may begin behind the first one of its neighbours."""


@dataclass(frozen=True)
class Neighbours:
    """Arrays of several sources, of which each begins some elements behind the first."""

    elements: AnyArray
    """All that they have."""
    first: int
    shifts: Mapping[int, int]
    """By the number of each source but the first: how many elements further on its array begins."""

    @property
    def more(self) -> int:
        """Elements behind the first array's."""
        return max(self.shifts.values())


def neighbours(arrays: Mapping[int, AnyArray]) -> list[Neighbours]:
    """Those of the arrays (of one dimension each, by source) that lie in one another.

    Each begins at latest where the one before it ends, so that between them is no memory of others.
    """
    alike: defaultdict[tuple[object, ...], list[tuple[int, int]]] = defaultdict(list)
    for number, array in arrays.items():
        (stride,) = array.strides
        address = int(array.__array_interface__["data"][0])
        if stride and len(array):
            alike[array.dtype.str, len(array), stride, address % abs(stride)].append((address, number))
    found: list[Neighbours] = []
    for (_, length, stride, _), placed in alike.items():
        assert isinstance(length, int)
        assert isinstance(stride, int)
        placed.sort(reverse=stride < 0)
        while placed:
            shifts = _joined(placed, stride, length)
            first = placed[0][1]
            if len(shifts) > 1:
                elements = _as_long_as(arrays[first], length + max(shifts.values()))
                found.append(Neighbours(elements, first, {n: s for n, s in shifts.items() if n != first}))
            del placed[: len(shifts)]
    return found


def _joined(placed: Sequence[tuple[int, int]], stride: int, length: int) -> dict[int, int]:
    """How far each begins behind the first one, up to one that lies apart from those before it."""
    start, shifts, last = placed[0][0], dict[int, int](), 0
    for address, number in placed:
        shift = (address - start) // stride
        if shift > min(last + length, FURTHEST):
            break
        shifts[number] = last = shift
    return shifts


def _as_long_as(array: AnyArray, length: int) -> AnyArray:
    return np.lib.stride_tricks.as_strided(array, (length,), array.strides, writeable=False)


__all__ = ["FURTHEST", "Neighbours", "neighbours"]
