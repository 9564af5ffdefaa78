"""A statement over an iterator: loops over chunks of its elements, or Python, one element after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from hastega_magic.compiler.backends import forget_inputs
from hastega_magic.compiler.outcome import Part
from hastega_magic.compiler.python.empty import first_kept
from hastega_magic.compiler.sources.iterators import Drawing
from hastega_magic.compiler.sources.over_pairs import of_pairs
from hastega_magic.compiler.statement_run import StatementRun
from hastega_magic.errors import StrictError
from hastega_magic.report.escape import quoted
from hastega_magic.runtime.python_numbers import python_number

if TYPE_CHECKING:
    from hastega_magic.compiler.driver import Driver


def in_chunks(driver: Driver, run: StatementRun, source: Iterator[object]) -> None:
    """Loops over chunks of an iterator's elements, or Python, one element after the other."""
    unpaired = of_pairs(driver, run, source)
    if unpaired is None:
        return
    if len(run.rest) < len(run.bound.stages):  # as of `reversed` over an array
        source = map(python_number, source)
    drawing = Drawing(run.bound, run.rest, driver.options, driver.filename, driver.trace, source)
    why = unpaired or drawing.why_not()
    if why:
        once = "the source is an iterator, which gives its elements only once and one by one"
        left, run.drawn = first_kept(drawing.left)
        run.goes_on(driver.left.lazily(run.bound, left, run.rest, f"{once}: {why}"), [], of_python=True)
        return
    if drawing.small:
        run.goes_on(drawing.chunk, run.rest, part=Part(run.part(()), kind=drawing.element_type))
        return
    value, why = drawing.run()
    forget_inputs()  # Python may have drawn the last elements
    if why and driver.options.strict:
        raise StrictError(f"{quoted(run.bound.site.source_text)} is not compiled to its end: {why}")
    if drawing.loop is not None and drawing.execution is not None:
        execution = replace(drawing.execution, length=drawing.elements)
        run.first = execution, drawing.loop
        driver.keep_texts(run.texts, execution, drawing.loop)
        driver.pictures.loop(drawing.loop, execution)
    if drawing.warned is not None:
        driver.warn(drawing.warned, run.bound)
    driver.trace.add("why", text=drawing.report_note(why))
    run.goes_on(value, [])


__all__ = ["in_chunks"]
