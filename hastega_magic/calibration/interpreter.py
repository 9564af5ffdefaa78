"""CPython measured: what it takes for each class of its work, over the same lessons as the CPU."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence

from hastega_magic.calibration.cells import others, timed
from hastega_magic.calibration.host import Step
from hastega_magic.calibration.pace import PACE
from hastega_magic.calibration.training import LESSONS
from hastega_magic.compiler.python.by_python import python_values
from hastega_magic.compiler.sources.part import part
from hastega_magic.compiler.statement import Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.cost import defaults
from hastega_magic.cost.features import python_features
from hastega_magic.cost.fit import class_costs, usable
from hastega_magic.cost.machine import Python

_MANY = 1000
_RUNS = 4
_SHORT = ("sum of ints", "store", "array")


class Interpreter:
    """CPython's runs, at several moments: for a second here and there all of a machine may be slower."""

    def __init__(self) -> None:
        self._between = others()
        self._calls: list[float] = []
        self._lessons: list[list[float]] = []
        self._counts: list[dict[str, float]] = []

    def sample(self, step: Step) -> None:
        """Measure once more; a fifth of a second."""
        # Over the first elements of what is measured on the CPU, too: compiled but once.
        cells = [timed(each.text(), "simd", each.namespace()) for each in LESSONS if each.python]
        parts = [part(cell.loops, cell.workspace, _MANY) for cell in cells]
        self._counts = [
            dict(python_features([each.pipeline for each in loops]).operations) for loops, _ in parts
        ]
        PACE.part(0.08)
        self._lessons.append([self._seconds(loops, workspace) / _MANY for loops, workspace in parts])
        short = [each for each in LESSONS if each.name in _SHORT]
        for cell in [timed(each.text(1), "simd", each.namespace(1)) for each in short]:
            self._calls.append(self._seconds(cell.loops, cell.workspace))
        step("Python")

    def _seconds(self, loops: Sequence[Loop], workspace: Workspace) -> float:
        """Of a run by CPython, each after one that does not count, and half of them after something else."""
        found: list[float] = []
        for number in range(_RUNS // 2 if PACE.hurried else _RUNS):
            if number % 2:
                self._between()
            python_values(loops, workspace)
            began = time.perf_counter()
            python_values(loops, workspace)
            found.append(time.perf_counter() - began)
        return statistics.median(usable(found))

    def figures(self) -> Python:
        """What all samples say."""
        call = statistics.median(self._calls)
        seconds = [
            max(statistics.mean(each) - call / _MANY, 1e-9) for each in zip(*self._lessons, strict=True)
        ]
        return Python(call, class_costs(list(zip(self._counts, seconds, strict=True)), defaults.PYTHON))


__all__ = ["Interpreter"]
