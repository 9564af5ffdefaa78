"""What real runs say against the model: by what its times are to be multiplied, for a loop and for a back end.

A loop is known by the hash of its structure. Of each of its back ends a measured time is kept for each size (a power of
two of elements), as the middle of the last runs; between sizes the logarithm of measured over predicted is
interpolated, so that one size corrects the level and two the slope. A loop that was never measured is corrected by
what all others say of its back end at about its size (cost/levels.py). The whole run and its kernel have factors of
their own.

    parallel, 2^20 elements: predicted 0.5 ms, measured 1.0 ms, 1.1 ms, 0.9 ms      → × 2 at and around 2^20
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, cast

from hastega_magic.cost.levels import Levels, is_number
from hastega_magic.records import dataclass, written

if TYPE_CHECKING:
    from hastega_magic.cost.fit import Line

LOOPS = 512
"""So many loops are remembered; those longest not run are forgotten first."""

_KEPT = 5
"""Runs of a size, of which the median counts."""

_ONCE, _AGAIN = math.log(8.0), math.log(1e12)
"""Bounds of a loop's own factor, after one run (during which the machine may have slept) and after more."""

_DOUBTFUL, _ALIKE = math.log(1e4), math.log(8.0)
"""A run so far from the prediction is a clock that jumped, unless the next one is about as far."""

_MOST_ELEMENTS, _MOST_SECONDS = 2**62, 1e9
"""What is stored beyond these is no run."""

Place = tuple[str, str, int]
"""A loop, a back end and a power of two of elements."""

Phase = Literal["run", "kernel"]
"""What is predicted: all of a run, or its kernel alone."""

_KIN = {"simd": "parallel", "parallel": "simd"}
"""Back ends that run the same code: what was learned of one is the best guess for the other."""


@written
@dataclass
class _Size:
    """Runs of about so many elements: their logarithms of measured over predicted, and what was measured last.

    `kernels`: the same logarithms of their kernels, of as many of them as had one that was predicted.
    """

    n: int
    ratios: list[float]
    seconds: float
    kernels: list[float] = field(default_factory=list[float])

    def ratio(self, phase: Phase = "run") -> float:
        """The middle one; of two the lower one, as what disturbs a run makes it longer."""
        known = self.kernels if phase == "kernel" and self.kernels else self.ratios
        most = _ONCE if len(known) < 2 else _AGAIN
        return min(max(sorted(known)[(len(known) - 1) // 2], -most), most)


@dataclass
class Learned:
    """Everything that was learned on one machine, with one calibration: `calibrated`, when that was made."""

    levels: Levels = field(default_factory=Levels)
    """What loops in general say of a back end at a size."""
    loops: OrderedDict[str, dict[str, dict[int, _Size]]] = field(
        default_factory=OrderedDict[str, dict[str, dict[int, _Size]]]
    )
    """By the hash of the loop, back end and power of two."""
    calibrated: str = ""
    noted: dict[Place, int] = field(default_factory=dict[Place, int])
    """How many runs since it was read or written."""
    doubted: dict[Place, float] = field(default_factory=dict[Place, float])
    """The last run that was too far from its prediction to be taken for one, as the logarithm of the ratio."""

    def note(
        self, loop: str, backend: str, n: int, predicted: float, measured: float,
        kernel: tuple[float, float] = (0.0, 0.0),
    ) -> bool:  # fmt: skip
        """A run of n elements, and what the bare model said of it (seconds); False where nothing is learned from it.

        `kernel`: of its kernel alone, what the bare model said and what it took; zeros where that is not known.
        """
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
        before = sizes.get(place[2])
        known = _Size(n, [*(before.ratios if before else ()), *runs][-_KEPT:], measured)
        known.kernels = [*(before.kernels if before else ()), *_kernel(kernel)][-_KEPT:]
        sizes[place[2]] = known
        self.loops.move_to_end(loop)
        while len(self.loops) > LOOPS:
            self.loops.popitem(last=False)
        was = None if before is None else (before.ratio(), before.ratio("kernel"))
        self.levels.note(backend, place[2], was, (known.ratio(), known.ratio("kernel")))
        self.noted[place] = self.noted.get(place, 0) + len(runs)
        return True

    def settled(self, loop: str, backend: str, n: int) -> bool:
        """Whether as many runs of about so many elements are known as count."""
        size = self.loops.get(loop, {}).get(backend, {}).get(n.bit_length() - 1)
        return size is not None and len(size.ratios) >= _KEPT

    def factor(self, loop: str, backend: str, n: int, phase: Phase = "run") -> float:
        """By what the model's time for n elements is to be multiplied."""
        measured, kin = self._measured(loop, backend)
        if not measured:
            return self.levels.factor(backend, kin, max(n, 1), phase == "kernel")
        size = measured.get(n.bit_length() - 1)
        if size is not None and size.n == n:  # a cell that runs again has no time for more
            return math.exp(size.ratio(phase))
        return self.factors_at(loop, backend, (n,), phase)[0]

    def factors_at(self, loop: str, backend: str, sizes: Sequence[int], phase: Phase = "run") -> list[float]:
        """The same for several numbers of elements."""
        measured, kin = self._measured(loop, backend)
        if not measured:
            return [self.levels.factor(backend, kin, max(n, 1), phase == "kernel") for n in sizes]
        known = list(measured.values())  # to which another thread may add, as it runs the same loop
        points = sorted((math.log2(size.n), size.ratio(phase)) for size in known)
        return [math.exp(_between(points, math.log2(max(n, 1)))) for n in sizes]

    def _measured(self, loop: str, backend: str) -> tuple[Mapping[int, _Size], str]:
        """What is known of a loop's back end, or else of the one that runs the same code, whose name is the second."""
        known, kin = self.loops.get(loop, {}), _KIN.get(backend, "")
        return known.get(backend) or known.get(kin) or {}, kin

    def fitted(self, loop: str, backend: str) -> Line | None:
        """The loop's own a · n + b, from what was measured at two sizes or more; None before that."""
        sizes = self.loops.get(loop, {}).get(backend, {})
        points = [(float(size.n), size.seconds) for size in list(sizes.values())]
        if len(points) < 2:
            return None
        from hastega_magic.cost.fit import line

        return line(points)

    def to_dict(self) -> dict[str, Any]:
        """As it is stored."""
        loops = {
            loop: {
                backend: [[size.n, size.seconds, size.ratios, size.kernels] for size in sizes.values()]
                for backend, sizes in backends.items()
            }
            for loop, backends in self.loops.items()
        }
        return {"calibrated": self.calibrated, "levels": self.levels.to_dict(), "loops": loops}

    @classmethod
    def from_dict(cls, data: object, calibrated: str) -> Learned:
        """What `to_dict` gave, if it is of this calibration; of anything else as much as can be read."""
        found = cls(calibrated=calibrated)
        given = _mapping(data)
        if given.get("calibrated") != calibrated:
            return found
        found.levels = Levels.from_dict(given.get("levels"))
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
        found = Learned(other.levels, other.loops, self.calibrated, doubted=self.doubted)
        for (loop, backend, power), count in self.noted.items():
            mine = self.loops.get(loop, {}).get(backend, {}).get(power)
            if mine is not None:
                found.levels.take(self.levels, backend, power)
                sizes = found.loops.setdefault(loop, {}).setdefault(backend, {})
                before = sizes.get(power, _Size(mine.n, [], mine.seconds))
                ratios = [*before.ratios, *mine.ratios[-count:]][-_KEPT:]
                sizes[power] = replace(
                    mine, ratios=ratios, kernels=[*before.kernels, *mine.kernels[-count:]][-_KEPT:]
                )
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


def _kernel(seconds: tuple[float, float]) -> list[float]:
    """The logarithm of measured over predicted, where there are both."""
    predicted, measured = seconds
    if not (0 < predicted < _MOST_SECONDS and 0 < measured < _MOST_SECONDS):
        return []
    ratio = math.log(measured) - math.log(predicted)
    return [ratio] if abs(ratio) < _DOUBTFUL else []


def _size(row: object) -> _Size | None:
    """A stored row; those of earlier versions have no kernels, and one list for all numbers."""
    items = cast("list[Any]", row) if isinstance(row, list) else []
    if len(items) == 4 and isinstance(items[2], list) and isinstance(items[3], list):
        ratios, kernels = cast("list[Any]", items[2]), cast("list[Any]", items[3])
    else:
        ratios, kernels = items[2:], list[Any]()
    if len(items) < 3 or not ratios or not all(map(is_number, (*items[:2], *ratios, *kernels))):
        return None
    if not (1 <= items[0] <= _MOST_ELEMENTS and 0 < items[1] < _MOST_SECONDS):
        return None
    if not all(abs(each) <= _AGAIN for each in (*ratios, *kernels)):
        return None
    return _Size(
        int(items[0]), [float(each) for each in ratios][-_KEPT:], float(items[1]),
        [float(each) for each in kernels][-_KEPT:],
    )  # fmt: skip


__all__ = ["LOOPS", "Learned", "Phase"]
