"""CPython measured: what it takes for each class of its work, over the same lessons as the CPU."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence

from hastega_magic.calibration.cells import Timed, faster, timed
from hastega_magic.calibration.host import Step
from hastega_magic.calibration.training import LESSONS
from hastega_magic.compiler.by_python import python_values
from hastega_magic.compiler.part import part
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
        self._lessons.append([_seconds(loops, workspace) / _MANY for loops, workspace in parts])
        short = [each for each in LESSONS if each.name in _SHORT]
        self._calls.append(_call([timed(each.text(1), "simd", each.namespace(1)) for each in short]))
        step("Python")

    def figures(self) -> Python:
        """What all samples say."""
        call = statistics.mean(self._calls)
        seconds = [
            max(statistics.mean(each) - call / _MANY, 1e-9) for each in zip(*self._lessons, strict=True)
        ]
        return Python(call, class_costs(list(zip(self._counts, seconds, strict=True)), defaults.PYTHON))


def _call(cells: Sequence[Timed]) -> float:
    """Of runs over one element, one cell after the other, with compiled code in between as in a notebook."""
    found: list[float] = []
    for _ in range(6):
        for cell in cells:
            cell.once()
            began = time.perf_counter()
            python_values(cell.loops, cell.workspace)
            found.append(time.perf_counter() - began)
    return statistics.median(usable(found))


def _seconds(loops: Sequence[Loop], workspace: Workspace) -> float:
    """Of a run by CPython."""
    found: list[float] = []
    for _ in range(_RUNS):
        began = time.perf_counter()
        python_values(loops, workspace)
        found.append(time.perf_counter() - began)
    return faster(usable(found))


__all__ = ["Interpreter"]
