"""Which element raises first, of loops one behind the other of which each goes through all elements at once.

    xs |> scan(f) |> map(g)        g may raise for the third running value, and f, whose loop comes first, at the tenth

Python's order is found by loops over the first elements alone: what the fewest raise at all comes of the last of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice, takewhile
from typing import TYPE_CHECKING, cast

import numpy as np

from hastega_magic.compiler.reporting.graphs import Pictures
from hastega_magic.compiler.statement_run import StatementRun
from hastega_magic.errors import HastegaError
from hastega_magic.frames import reraise_signal
from hastega_magic.runtime.python_calls import elements
from hastega_magic.syntax.loops.build import BoundStage
from hastega_magic.trace import Trace

if TYPE_CHECKING:
    from hastega_magic.compiler.driver import Driver

_FIRST, _GROWS = 64, 8
"""How many elements are tried first, and how many times as many each time after that."""

_IN_ORDER = frozenset({
    "map", "filter", "zip", "enumerate", "drop", "astype", "clip", "where", "drop_while", "step", "window", "scan",
    "cumsum", "take", "take_while",
})  # fmt: skip
"""Stages of which the first elements come of the first elements alone, none of them raising for there being no more."""


def raise_first(driver: Driver, run: StatementRun, source: object) -> None:
    """Raise what Python's order, and `--int checked`, have the loops over the source raise first, if they do.

    Nothing is raised where not all of the stages are loops; those behind one that asks for all elements are left out.
    """
    behind = list(takewhile(_in_order, run.rest))
    options = replace(
        driver.options, on="simd", compare=(), repeat=1, tune=False, strict=True, quiet=True, baseline=False
    )
    attempt = replace(
        driver,
        options=options,
        trace=Trace(),
        pictures=Pictures(False),
        silent=True,
        tentative=True,
        looking=True,
    )

    def raised(count: int) -> Exception | None:
        ahead = StatementRun(run.bound, first_elements(source, count), list(behind))
        try:
            while ahead.rest:
                attempt.go_on(ahead)
        except Exception as error:
            reraise_signal(error)
            return error
        return None

    try:
        length, fine, count = len(cast("Sequence[object]", source)), 0, _FIRST
    except TypeError:  # a single number, of which Python says that it has no elements
        return
    while (found := raised(min(count, length))) is None:
        if count >= length:
            return
        fine, count = count, count * _GROWS
    count = min(count, length)
    while count - fine > 1:
        middle = (fine + count) // 2
        error = raised(middle)
        fine, count, found = (middle, count, found) if error is None else (fine, middle, error)
    if not isinstance(found, HastegaError):
        raise found


def first_elements(value: object, count: int) -> object:
    """So many elements of a source, as far as there are."""
    if isinstance(value, (list, tuple, range, np.ndarray)):
        return cast("Sequence[object]", value)[:count]
    return list(islice(elements(cast("Iterable[object]", value)), count))


def _in_order(stage: BoundStage) -> bool:
    return stage.callee is None and stage.site.name in _IN_ORDER


__all__ = ["first_elements", "raise_first"]
