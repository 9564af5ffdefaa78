"""A statement that ran with nobody looking, remembered for a report that may be asked for later.

Listings, links and pictures cost more than most runs, so they are made when they are asked for. What is kept for them
holds no memory of the user's: of a source its first elements, of a captured array a copy, of a result its type and
size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.execute import Execution, without_cell
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.outcome import Outcome
from hastega_magic.compiler.reporting import describe
from hastega_magic.compiler.reporting.graphs import Pictures
from hastega_magic.compiler.reporting.lanes import lane_view
from hastega_magic.compiler.reporting.stacked import LoopTexts
from hastega_magic.compiler.statement import Loop, bare
from hastega_magic.records import dataclass
from hastega_magic.runtime.sources import Column
from hastega_magic.trace import Event, Trace

_FIRST = 16
"""Elements of a source that are kept: as many as the lane view shows."""

_MOST_BYTES = 4 << 20
"""Of captured arrays, which the lane view looks up: it is left out where they have more."""


@dataclass(frozen=True)
class DeferredReport:
    """What a statement's trace said, and its loop if one loop was all of it."""

    events: tuple[Event, ...]
    loop: Loop | None = None
    execution: Execution | None = None
    in_lanes: bool = True
    """Whether there is what the lane view looks up."""

    def tell(self, source: str, options: Options, trace: Trace, *sentences: str, quiet: bool = False) -> None:
        """Add the statement to a trace whose cell has this text, as its next group; with sentences about this run.

        `quiet`: without listings and pictures.
        """
        number = trace.next_group()
        trace.events += [Event(event.kind, number, event.data) for event in self.events]
        if not quiet and self.loop is not None and self.execution is not None:
            looking = Trace([Event("cell", -1, {"source": source})], number)
            compiled = self.execution.compiled
            # Nothing of it was compiled where Python took less than that.
            compiled.body(compiled.first, Trace())
            texts = [LoopTexts.of(self.execution, [self.loop], options, looking)]
            describe.describe_loop(self.execution, texts, 1, options, looking)
            if self.in_lanes:
                looking.add("lanes", **lane_view(self.execution))
            pictures = Pictures()
            pictures.group([self.loop], self.execution)
            pictures.finish("", None, looking)
            trace.events += [event for event in looking.events if event.group == number]
        for sentence in sentences:
            trace.add("why", text=sentence)


def remember(outcome: Outcome, trace: Trace) -> DeferredReport:
    """What to keep of a statement that ran with `quiet` options."""
    events = tuple(event for event in trace.events if event.group == outcome.group)
    execution = outcome.execution
    if execution is None or len(outcome.loops) != 1 or not outcome.whole:
        return DeferredReport(events)
    (loop,) = outcome.loops
    if len(loop.stages) != len(loop.bound.stages):
        return DeferredReport(events)
    in_lanes = sum(each.data.nbytes for each in execution.job.tables) <= _MOST_BYTES
    return DeferredReport(events, bare(loop), _without_data(execution, in_lanes), in_lanes)


def _without_data(execution: Execution, in_lanes: bool) -> Execution:
    columns = [_first(column, execution.length) for column in execution.columns]
    values = [_outline(value) for value in execution.values]
    job = without_cell(execution, columns)
    tables = [replace(each, data=each.data.copy()) for each in job.tables] if in_lanes else []
    job = replace(job, tables=tables)
    return replace(execution, columns=columns, values=values, job=job)


def _first(column: Column, length: int) -> Column:
    part: Any = column.data[: min(_FIRST, length)]
    return replace(column, data=part.copy() if isinstance(part, np.ndarray) else part)


def _outline(value: object) -> object:
    """Something with the value's type and size, and without its memory."""
    if isinstance(value, np.ndarray):
        array = cast("np.ndarray[Any, Any]", value)
        return np.broadcast_to(np.zeros((), array.dtype), array.shape)
    if isinstance(value, list):
        return range(len(cast("Sequence[object]", value)))
    return value


__all__ = ["DeferredReport", "remember"]
