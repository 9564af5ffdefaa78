"""The sentences about numbers of elements, held against what was measured.

Before: `parallel is faster than pure Python from ≈ 220 elements on`, of a cell that pure Python computed sooner; after:
`predicted: ` before it, and `measured otherwise: over 20 000 elements parallel 22.3 ms (predicted 422 µs), pure Python
6.36 ms (predicted 8.10 ms)` behind it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from hastega_magic.report import units
from hastega_magic.report.breakeven import PredictedRow, apart, is_of, lines_of, name_of, sentences
from hastega_magic.report.costs import Model, ModelRow
from hastega_magic.report.memo import once
from hastega_magic.report.model import PipelineReport
from hastega_magic.report.sizes import CLEAR
from hastega_magic.report.verdict import held_against


@once
def told(pipeline: PipelineReport) -> tuple[str, ...]:
    """The sentences of the lines that are drawn, and where what was measured says otherwise than predicted ones."""
    model, cost = lines_of(pipeline), pipeline.cost
    if model is None or cost is None or not cost.curves:
        return () if model is None else sentences(model)
    own = model.rows[0]
    if not is_of(own, cost.chosen):  # what several back ends share has no line of its own
        return ()
    # The model counts nothing of what Python computes again, and runs at barriers.
    otherwise = {} if pipeline.barriers else dict(_otherwise(pipeline, model))
    word = _lined(own)
    if pipeline.integers.fell_back and word == "predicted":
        word = "predicted if all integers fit 64 bits"
    elif pipeline.barriers:
        word += " without what Python runs at barriers"
    return (*(f"{word}: {each}" for each in sentences(model, tuple(otherwise))), *otherwise.values())


OTHERWISE = "measured otherwise"


def _otherwise(pipeline: PipelineReport, model: Model) -> Iterable[tuple[str, str]]:
    """Back ends that took more, or less, than the cell's own, while the lines say the opposite; and a sentence."""
    own = model.rows[0]
    for row in model.rows[1:]:
        n, mine, theirs, scaled = _beside(pipeline, row) or _of_points(own, row)
        if not n:
            continue
        measured = math.log(mine / theirs)
        if abs(measured) > CLEAR and (measured > 0) != (apart(own, row, n) > 0):
            took = ", ".join(
                f"{name_of(each.backend)} {mark}{units.seconds(s)} ({_lined(each)} {units.seconds(each.seconds(n))})"
                for each, s, mark in ((own, mine, ""), (row, theirs, scaled))
            )
            yield row.backend, f"{OTHERWISE}: over {units.grouped(int(n))} elements {took}"


_Both = tuple[float, float, float, str]
"""Elements, and what our own back end and another took for them; a mark where that is extrapolated."""


def _beside(pipeline: PipelineReport, row: ModelRow) -> _Both | None:
    """As the line of verdict compares them."""
    for baseline in pipeline.baselines:
        if baseline.backend == row.backend and baseline.equal and baseline.seconds > 0:
            mine = held_against(pipeline, baseline)
            if mine > 0 and pipeline.elements > 0:
                return pipeline.elements, mine, baseline.seconds, "≈ " if baseline.extrapolated else ""
    return None


def _of_points(own: ModelRow, row: ModelRow) -> _Both:
    """At the largest size at which both were measured; of no elements where there is none."""
    mine, theirs = dict(own.points), dict(row.points)
    n = max((each for each in mine if each in theirs), default=0.0)
    return (n, mine[n], theirs[n], "") if n else (0.0, 0.0, 0.0, "")


def _lined(row: ModelRow) -> str:
    return "predicted" if isinstance(row, PredictedRow) else "fitted"


__all__ = ["OTHERWISE", "told"]
