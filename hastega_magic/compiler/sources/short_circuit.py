"""`any` and `all` over very many elements: stretch by stretch, as Python may be done after a few."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hastega_magic.compiler.reporting.graphs import Pictures
from hastega_magic.compiler.sources.long_ranges import count_of
from hastega_magic.compiler.statement import Bound
from hastega_magic.compiler.statement_run import StatementRun
from hastega_magic.syntax.stages import ONE_BY_ONE

if TYPE_CHECKING:
    from hastega_magic.compiler.driver import Driver

DECIDED = {"any": True, "all": False}
"""Sinks, and the value with which Python asks for no more elements."""

STRETCH = 1 << 24
"""Elements that are gone through at once, at first: some milliseconds."""


def in_stretches(bound: Bound, source: object) -> bool:
    """Whether the statement is an `any` or `all` over so many elements that they are gone through in stretches."""
    if type(source) not in (range, list, tuple, np.ndarray) or count_of(source) <= STRETCH:
        return False
    *before, last = bound.stages
    sink = last.callee is None and last.site.name in DECIDED and not last.args and not last.kwargs
    return sink and all(stage.callee is None and stage.site.name in ONE_BY_ONE for stage in before)


def stretches(source: Any) -> Iterator[tuple[int, Any]]:
    """Parts of a sequence, and where they begin: small ones first, for what is looked for may be in one of them."""
    start, size, count = 0, STRETCH, count_of(source)
    while start < count:
        yield start, source[start : start + size]
        start, size = start + size, size * 16


def over_stretches(driver: Driver, bound: Bound, source: Any) -> StatementRun:
    """The statement over the stretches that Python would come to: how far the last one has come."""
    run = StatementRun(bound, source, [])
    for start, part in stretches(source):
        run = _over_stretch(driver, bound, start, part)
        if run.value is DECIDED[bound.stages[-1].site.name]:
            break
    return run


def _over_stretch(driver: Driver, bound: Bound, start: int, part: Any) -> StatementRun:
    """The statement over a part of its source; of those before, the trace keeps the time."""
    kept, number = ("group", "phase", "warning"), driver.trace.group
    driver.trace.events = [each for each in driver.trace.events if each.group != number or each.kind in kept]
    driver.pictures, driver.offset = Pictures(not driver.options.quiet), start
    run = StatementRun(replace(bound, source=part), part, list(bound.stages), parts=None)
    try:
        while run.rest:
            driver.go_on(run)
    finally:
        driver.offset = 0
    if run.first is not None:
        run.first = replace(run.first[0], length=start + len(part)), run.first[1]
    return run


__all__ = ["DECIDED", "in_stretches", "over_stretches", "stretches"]
