"""A statement over Python's `zip`, `enumerate` or a generator expression, over the sequences that these go through."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from hastega_magic.compiler.python.elements import of_check
from hastega_magic.compiler.reporting.graphs import Pictures
from hastega_magic.compiler.sources.generators import generator_of
from hastega_magic.compiler.sources.pairs import pairs_of
from hastega_magic.compiler.statement_run import StatementRun
from hastega_magic.errors import BeyondInt64
from hastega_magic.frames import reraise_signal

if TYPE_CHECKING:
    from hastega_magic.compiler.driver import Driver


def of_pairs(driver: Driver, run: StatementRun, source: Iterator[object]) -> str | None:
    """Loops over the sequences of a `zip` or `enumerate`; why not ("": it is none), or None where that is done."""
    pairs = pairs_of(source, run.rest)
    if pairs is None and driver.options.int_mode == "exact" and not driver.options.fast_math:
        pairs = generator_of(source, run.bound, run.rest)  # whose own numbers are Python's in any case
    if pairs is None:
        return ""
    inner, said = StatementRun(run.bound, pairs.source, list(pairs.stages)), len(driver.trace.events)
    options, pictures = replace(driver.options, strict=True), Pictures(not driver.options.quiet)
    attempt = replace(driver, options=options, scalars=pairs.scalars, pictures=pictures, tentative=True)
    try:
        while inner.rest:
            attempt.go_on(inner)
        value = pairs.value(inner.value, inner.loops)
    except Exception as error:
        reraise_signal(error)
        if of_check(error):  # which Python would not find
            raise
        if isinstance(error.__cause__, BeyondInt64) and driver.options.int_mode != "exact":
            driver.left.beyond(run, run.rest, str(error.__cause__))
        del driver.trace.events[said:]
        return str(error).partition(" is not compiled: ")[2] or "an element raised, or needs Python"
    pairs.exhaust()
    text = "The source is an iterator over sequences, which the loop reads side by side."
    if pairs.generator is not None:
        text = "The source is a generator expression: what it computes is a part of the loop."
    driver.trace.add("why", text=text)
    driver.pictures, run.first, run.workspaces = attempt.pictures, inner.first, inner.workspaces
    run.execution, run.loops, run.texts = inner.execution, inner.loops, inner.texts
    run.goes_on(value, [], of_python=inner.by_python)
    return None


__all__ = ["of_pairs"]
