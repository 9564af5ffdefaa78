"""What loops in general say against the model: by back end and size, for loops that were never measured.

A model's errors depend on how much there is to do: what a run takes to begin, caches, memory, threads that wake. So
each back end has a level for each power of two of elements, and a loop takes those near its own size.

    parallel    2^10  2 loops, × 1.2       2^17  5 loops, × 0.8       2^26  no loop
    at 2^16     × 0.82: what the loops of 2^17 say, drawn a little towards × 1
    at 2^26     × 1.00: nothing near it was measured
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from typing import Any, TypeGuard, cast

from hastega_magic.records import dataclass, written

_MOST = math.log(3.0)
"""A level stays between a third and three: beyond, the machine is to be calibrated anew. No loop says more, either."""

_MEMORY = 3
"""A level is the mean of so many loops, and follows later ones by this part: hosts change within seconds."""

_NEAR = 0.6
"""What was measured over twice or half as many elements counts for this part; over four times as many, its square."""

_DOUBT = 0.5
"""So many loops' worth of doubt: one loop alone corrects others by two thirds of what it says."""


@written
@dataclass
class _Level:
    """Loops that were measured, and the mean logarithms of measured over predicted: of runs, and of their kernels."""

    count: int = 0
    run: float = 0.0
    kernel: float = 0.0


@dataclass
class Levels:
    """By back end and power of two of elements."""

    known: dict[str, dict[int, _Level]] = field(default_factory=dict[str, dict[int, _Level]])
    _asked: dict[tuple[str, int, bool], float] = field(
        default_factory=dict[tuple[str, int, bool], float], compare=False, repr=False
    )
    """Answers since something was noted last: choosing has some microseconds for each."""

    def note(
        self, backend: str, power: int, before: tuple[float, float] | None, now: tuple[float, float]
    ) -> None:
        """What a loop says now, of its run and of its kernel (logarithms); `before`: what it said until now.

        However often a loop runs, it counts once.
        """
        self._asked.clear()
        level = self.known.setdefault(backend, {}).setdefault(power, _Level())
        if before is None or not level.count:
            before = level.run, level.kernel
            level.count = min(level.count + 1, _MEMORY)
        level.run = _limited(level.run + (_limited(now[0]) - _limited(before[0])) / level.count)
        level.kernel = _limited(level.kernel + (_limited(now[1]) - _limited(before[1])) / level.count)

    def factor(self, backend: str, kin: str, n: int, kernel: bool) -> float:
        """By what the time of a loop over n elements is to be multiplied that was never measured.

        `kin`: another back end that runs the same code, towards which little knowledge is drawn; "": none. Their runs
        have one factor: noise must not turn their order about for all loops.
        """
        question = backend, n.bit_length() - 1, kernel
        known = self._asked.get(question)
        if known is None:
            found = self._logarithm((kin, backend), question[1], kernel)
            if kin and not kernel:
                found = (found + self._logarithm((backend, kin), question[1], kernel)) / 2
            known = self._asked[question] = math.exp(found)
        return known

    def _logarithm(self, backends: tuple[str, ...], power: int, kernel: bool) -> float:
        found = 0.0
        for each in backends:
            weight, total = _DOUBT, _DOUBT * found
            for place, level in list(self.known.get(each, {}).items()):  # another thread may add to it
                near = level.count * _NEAR ** abs(place - power)
                weight += near
                total += near * (level.kernel if kernel else level.run)
            found = total / weight
        return found

    def take(self, other: Levels, backend: str, power: int) -> None:
        """What another has of a back end at a size."""
        level = other.known.get(backend, {}).get(power)
        if level is not None:
            self._asked.clear()
            self.known.setdefault(backend, {})[power] = level

    def to_dict(self) -> dict[str, Any]:
        """As it is stored."""
        return {
            backend: [[power, each.count, each.run, each.kernel] for power, each in levels.items()]
            for backend, levels in self.known.items()
        }

    @classmethod
    def from_dict(cls, data: object) -> Levels:
        """What `to_dict` gave; of anything else as much as can be read."""
        found = cls()
        for backend, rows in cast("Mapping[str, object]", data if isinstance(data, dict) else {}).items():
            for row in cast("list[object]", rows) if isinstance(rows, list) else []:
                items = cast("list[object]", row) if isinstance(row, list) else []
                numbers = [each for each in items if is_number(each)]
                if len(items) != 4 or len(numbers) != 4:
                    continue
                power, count, *means = numbers
                whole = power == int(power) and count == int(count)
                if whole and 0 <= power < 64 and 1 <= count <= _MEMORY and max(map(abs, means)) <= _MOST:
                    found.known.setdefault(backend, {})[int(power)] = _Level(int(count), *map(float, means))
        return found


def _limited(logarithm: float) -> float:
    return min(max(logarithm, -_MOST), _MOST)


def is_number(value: object) -> TypeGuard[float]:
    """Whether it is one of JSON's numbers, and not absurdly large."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and -1e300 < value < 1e300


__all__ = ["Levels", "is_number"]
