"""What real runs say against the model: by what its times are to be multiplied, for a loop and for a back end.

A loop is known by the hash of its structure. Of each of its back ends a measured time is kept for each size (a power of
two of elements), as the middle of the last runs; between sizes the logarithm of measured over predicted is
interpolated, so that one size corrects the level and two the slope. A loop that was never measured is corrected by the
back end's own factor, which follows all runs slowly.

    parallel, 2^20 elements: predicted 0.5 ms, measured 1.0 ms, 1.1 ms, 0.9 ms      → × 2 at and around 2^20
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, cast

from hastega_magic.cost.fit import Line, line

LOOPS = 512
"""So many loops are remembered; those longest not run are forgotten first."""

_KEPT = 5
"""Runs of a size, of which the median counts."""

_SLOW = 0.02
"""The part by which a run moves its back end's factor."""

_MOST = math.log(2.0)
"""A back end's factor stays between a half and two: beyond, the machine is to be calibrated anew."""

_ONCE, _AGAIN = math.log(8.0), math.log(1e12)
"""Bounds of a loop's own factor, after one run (during which the machine may have slept) and after more."""

_DOUBTFUL, _ALIKE = math.log(1e4), math.log(8.0)
"""A run so far from the prediction is a clock that jumped, unless the next one is about as far."""

_MOST_ELEMENTS, _MOST_SECONDS = 2**62, 1e9
"""What is stored beyond these is no run."""

Place = tuple[str, str, int]
"""A loop, a back end and a power of two of elements."""


_KIN = {"simd": "parallel", "parallel": "simd"}
"""Back ends that run the same code: what was learned of one is the best guess for the other."""


@dataclass
class _Size:
    """Runs of about so many elements: their logarithms of measured over predicted, and what was measured last."""

    n: int
    ratios: list[float]
    seconds: float

    @property
    def ratio(self) -> float:
        most = _ONCE if len(self.ratios) < 2 else _AGAIN
        return min(max(sorted(self.ratios)[len(self.ratios) // 2], -most), most)


@dataclass
class Learned:
    """Everything that was learned on one machine, with one calibration: `calibrated`, when that was made."""

    factors: dict[str, float] = field(default_factory=dict[str, float])
    """By back end, the logarithm of its factor."""
    loops: OrderedDict[str, dict[str, dict[int, _Size]]] = field(
        default_factory=OrderedDict[str, dict[str, dict[int, _Size]]]
    )
    """By the hash of the loop, back end and power of two."""
    calibrated: str = ""
    noted: dict[Place, int] = field(default_factory=dict[Place, int])
    """How many runs since it was read or written."""
    doubted: dict[Place, float] = field(default_factory=dict[Place, float])
    """The last run that was too far from its prediction to be taken for one, as the logarithm of the ratio."""

    def note(self, loop: str, backend: str, n: int, predicted: float, measured: float) -> bool:
        """A run of n elements, and what the bare model said of it (seconds); False where nothing is learned from it."""
        if not (n > 0 and predicted > 0 and 0 < measured < _MOST_SECONDS):
            return False
        ratio, place = math.log(measured / predicted), (loop, backend, n.bit_length() - 1)
        runs = [ratio]
        if abs(ratio) >= _DOUBTFUL:
            last = self.doubted.get(place)
            self.doubted[place] = ratio
            if last is None or abs(ratio - last) > _ALIKE:
                return False
            runs = [last, ratio]
        self.doubted.pop(place, None)
        sizes = self.loops.setdefault(loop, {}).setdefault(backend, {})
        known = sizes.setdefault(place[2], _Size(n, [], measured))
        known.n, known.seconds = n, measured
        known.ratios = [*known.ratios, *runs][-_KEPT:]
        self.loops.move_to_end(loop)
        while len(self.loops) > LOOPS:
            self.loops.popitem(last=False)
        old = self.factors.get(backend, 0.0)
        self.factors[backend] = min(max(old + _SLOW * (min(max(ratio, -_MOST), _MOST) - old), -_MOST), _MOST)
        self.noted[place] = self.noted.get(place, 0) + len(runs)
        return True

    def factor(self, loop: str, backend: str, n: int) -> float:
        """By what the model's time for n elements is to be multiplied."""
        return self.factors_at(loop, backend, (n,))[0]

    def factors_at(self, loop: str, backend: str, sizes: Sequence[int]) -> list[float]:
        """The same for several numbers of elements."""
        known = self.loops.get(loop, {})
        measured = known.get(backend) or known.get(_KIN.get(backend, ""))
        if not measured:
            # One for both: they run the same code, and noise must not turn their order about for all loops.
            own = [self.factors[each] for each in (backend, _KIN.get(backend, "")) if each in self.factors]
            return [math.exp(sum(own) / len(own)) if own else 1.0] * len(sizes)
        points = sorted((math.log2(size.n), size.ratio) for size in measured.values())
        return [math.exp(_between(points, math.log2(max(n, 1)))) for n in sizes]

    def fitted(self, loop: str, backend: str) -> Line | None:
        """The loop's own a · n + b, from what was measured at two sizes or more; None before that."""
        sizes = self.loops.get(loop, {}).get(backend, {})
        points = [(float(size.n), size.seconds) for size in sizes.values()]
        return line(points) if len(points) > 1 else None

    def to_dict(self) -> dict[str, Any]:
        """As it is stored."""
        loops = {
            loop: {
                backend: [[size.n, size.seconds, *size.ratios] for size in sizes.values()]
                for backend, sizes in backends.items()
            }
            for loop, backends in self.loops.items()
        }
        return {"calibrated": self.calibrated, "factors": dict(self.factors), "loops": loops}

    @classmethod
    def from_dict(cls, data: object, calibrated: str) -> Learned:
        """What `to_dict` gave, if it is of this calibration; of anything else as much as can be read."""
        found = cls(calibrated=calibrated)
        given = _mapping(data)
        if given.get("calibrated") != calibrated:
            return found
        for backend, factor in _mapping(given.get("factors")).items():
            if _is_number(factor) and abs(cast(float, factor)) <= _MOST:
                found.factors[backend] = cast(float, factor)
        for loop, backends in _mapping(given.get("loops")).items():
            for backend, rows in _mapping(backends).items():
                for row in cast("list[object]", rows) if isinstance(rows, list) else []:
                    size = _size(row)
                    if size is not None:
                        found.loops.setdefault(loop, {}).setdefault(backend, {})[size.n.bit_length() - 1] = (
                            size
                        )
        return found

    def merged(self, other: Learned) -> Learned:
        """What another process has stored meanwhile, and the runs that were noted here since this was read or written.

        `other` is used up.
        """
        found = Learned(other.factors, other.loops, self.calibrated, doubted=self.doubted)
        for (loop, backend, power), count in self.noted.items():
            mine = self.loops.get(loop, {}).get(backend, {}).get(power)
            if mine is not None:
                found.factors[backend] = self.factors[backend]
                sizes = found.loops.setdefault(loop, {}).setdefault(backend, {})
                before = sizes[power].ratios if power in sizes else []
                sizes[power] = replace(mine, ratios=[*before, *mine.ratios[-count:]][-_KEPT:])
                found.loops.move_to_end(loop)
        while len(found.loops) > LOOPS:
            found.loops.popitem(last=False)
        return found


def _between(points: Sequence[tuple[float, float]], x: float) -> float:
    """The y at x, on lines between points in rising order; that of the nearest point outside of them."""
    if x <= points[0][0]:
        return points[0][1]
    for (left, low), (right, high) in pairwise(points):
        if x <= right:
            return low + (high - low) * (x - left) / (right - left) if left < right else high
    return points[-1][1]


def _mapping(value: object) -> Mapping[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and -1e300 < value < 1e300


def _size(row: object) -> _Size | None:
    items = cast("list[Any]", row) if isinstance(row, list) else []
    if len(items) < 3 or not all(map(_is_number, items)):
        return None
    if not (1 <= items[0] <= _MOST_ELEMENTS and 0 < items[1] < _MOST_SECONDS):
        return None
    if not all(abs(each) <= _AGAIN for each in items[2:]):
        return None
    return _Size(int(items[0]), [float(each) for each in items[2:]][-_KEPT:], float(items[1]))


__all__ = ["LOOPS", "Learned"]
