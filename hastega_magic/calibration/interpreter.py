"""CPython measured: what it takes for each class of its work, over the same lessons as the CPU."""

from __future__ import annotations

import time

from hastega_magic.calibration.cells import Timed, faster, timed
from hastega_magic.calibration.host import Step
from hastega_magic.calibration.training import LESSONS
from hastega_magic.compiler.by_python import python_values
from hastega_magic.cost import defaults
from hastega_magic.cost.features import python_features
from hastega_magic.cost.fit import class_costs, usable
from hastega_magic.cost.machine import Python

_MANY = 2000
_RUNS = 5


def measure(step: Step) -> Python:
    """Measure it; less than half a second."""
    rows: list[tuple[dict[str, float], float]] = []
    for lesson in LESSONS:
        if lesson.python:
            cell = timed(lesson.text(_MANY), "simd", lesson.namespace(_MANY))
            whole = _seconds(cell)
            rows.append(
                (dict(python_features([each.pipeline for each in cell.loops]).operations), whole / _MANY)
            )
    short = [each for each in LESSONS if each.name in ("sum of ints", "store")]
    call = min(_seconds(timed(each.text(1), "simd", each.namespace(1))) for each in short)
    classes = class_costs(
        [(counts, max(each - call / _MANY, 1e-9)) for counts, each in rows], defaults.PYTHON
    )
    step("Python")
    return Python(call, classes)


def _seconds(cell: Timed) -> float:
    """Of a run by CPython."""
    found: list[float] = []
    for _ in range(_RUNS):
        began = time.perf_counter()
        python_values(cell.loops, cell.workspace)
        found.append(time.perf_counter() - began)
    return faster(usable(found))


__all__ = ["measure"]
