"""What a finished loop tells the trace: its texts, and a verdict read from the emitted code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from hastega_magic.compiler import scan_values
from hastega_magic.compiler.execute import Execution
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.reporting.aborted import integers_of, run_of
from hastega_magic.compiler.reporting.checks import checked
from hastega_magic.compiler.reporting.ineffective import narrowed, options_with_verb, unheeded
from hastega_magic.compiler.reporting.instructions import mix
from hastega_magic.compiler.reporting.stacked import LoopTexts, stacked
from hastega_magic.compiler.sources.long_ranges import count_of
from hastega_magic.compiler.statement import Bound
from hastega_magic.errors import Reason
from hastega_magic.ir.expr import Expr, postorder
from hastega_magic.ir.fused import is_product
from hastega_magic.ir.pipeline import RUNNING_SINKS
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.passes.variants import is_held
from hastega_magic.report import units
from hastega_magic.report.escape import quoted
from hastega_magic.runtime.buffers import fresh_bytes
from hastega_magic.trace import Trace
from hastega_magic.types import BOOL, INT, Either


def describe_loop(
    execution: Execution, texts: Sequence[LoopTexts], count: int, options: Options, trace: Trace
) -> None:
    """Verdicts of the first of `count` loops, with the passes and code of all (not with `--quiet`, where nobody looks).

    `texts` are those of the first loops.
    """
    compiled = execution.compiled
    body = compiled.bodies[compiled.first]
    found = stacked(texts, count)
    trace.add("group", links=found.links)
    trace.add("code", **found.code, passes=found.passes, not_run=list(found.not_run))
    if count > 1:
        which = "all" if count == len(texts) else f"the first {len(texts)}"
        trace.add(
            "why",
            text=f"Not one loop but {count}: the listings hold {which} of them, one below the other; "
            "registers, instructions and lanes are those of the first.",
        )
    lanes = body.kernel.schedule.lanes
    mixed = mix(body.assembly, scalar=lanes == 1)
    stayed = mixed.scalar_ops
    if lanes == 1 and body.assembly:  # by the names of the IR: all of them
        stayed = list(dict.fromkeys(node.op for node in postorder(body.kernel.roots()) if node.args))
    else:
        stayed = [*stayed, *scan_values.stepped(execution.fused.outputs)]
    if mixed.isa == "scalar":
        lanes = 1  # LLVM needed no vectors, as where a count does not depend on what is computed
    if execution.backend.target.has("groups"):
        lanes = 0  # the device, not the code, decides how many work-items go together
    trace.add(
        "vector", lanes=lanes, bits=mixed.bits, in_flight=body.kernel.schedule.in_flight, scalar_ops=stayed,
        instructions=mixed.instructions, isa=mixed.isa,
    )  # fmt: skip
    trace.add("int", **integers_of(execution, options))
    if found.cost:
        trace.add("cost", **found.cost)
        if found.cost["because"]:
            trace.add("why", text=found.cost["because"])
    for text in execution.warnings:
        trace.add("warning", text=text)
    for sentence in _why(execution, options):
        trace.add("why", text=sentence)


def describe_run(execution: Execution, options: Options, loops: int, trace: Trace) -> None:
    """Where and over how many elements the statement ran."""
    trace.add("run", **run_of(execution, loops))
    unused = unheeded(options)
    if unused:
        said = options_with_verb(unused, "changes", "change")
        trace.add("warning", text=f"{said} nothing with --on {options.on}.")
    if fewer := narrowed(options.width, execution.backend.target):
        trace.add("warning", text=fewer)
    if execution.tuning is not None:
        trace.add("tuning", **execution.tuning)


def describe_uncompiled(backend: str, source: object, options: Options, trace: Trace) -> None:
    """That no compiled loop ran: CPython or NumPy computed the statement."""
    device = {"numpy": "NumPy", "python": "CPython"}[backend]
    elements = count_of(source)
    trace.add("run", backend=backend, device=device, threads=1, elements=elements, loops=0, cached=False)
    if backend == "python" and options.int_mode != "exact":
        trace.add("warning", text=f"{_UNREACHED.format(options.int_mode)}.")
    unused, once = unheeded(options), ""
    if options.repeat > 1:
        unused, once = ("--repeat", *unused), ", once"
    if unused:
        said = options_with_verb(unused, "is", "are")
        trace.add("warning", text=f"{said} for compiled loops: {device} computed it{once}.")
    if options.tune and "--tune" not in unused:
        trace.add("option", text=f"--tune: there was nothing to tune, for {device} computed it.")


def describe_group(bounds: Sequence[Bound], trace: Trace) -> None:
    """Names, spans and stages of the statements."""
    spans = [bound.site.span for bound in bounds]
    first, last = min(spans), max(spans, key=lambda span: (span.end_line, span.end_col))
    stages = [
        text
        for bound in bounds
        for text in (bound.site.source_text, *(stage.site.text for stage in bound.stages))
    ]
    span = [first.line, first.col, last.end_line, last.end_col]
    trace.add("group", name=", ".join(bound.name for bound in bounds), span=span, stages=stages)
    for sentence in dict.fromkeys(each.sentence for bound in bounds for each in bound.site.doubts):
        trace.add("warning", text=sentence)


NOTABLE = 1e-3
"""Seconds of Python that are worth a sentence."""


def describe_python(stages: Sequence[str], seconds: float, trace: Trace) -> None:
    """How much of the kernel's time is Python's."""
    trace.add("by_python", seconds=seconds)
    if seconds >= NOTABLE:
        first = quoted(stages[0])
        what = first if len(stages) == 1 else f"the {len(stages)} stages from {first} on"
        spent = units.seconds(seconds)
        trace.add(
            "why", text=f"Python took {spent} for {what}; that is a phase of its own, behind the kernel's."
        )


_UNREACHED = "`--int {}` does not reach what Python computes, whose integers have no limit"


def describe_barrier(stage: str, reason: Reason, trace: Trace, mode: str = "exact") -> None:
    """A stage that Python runs, and why. `mode`: how integers beyond 64 bits were to be handled."""
    text = reason.text if mode == "exact" else f"{reason.text}; {_UNREACHED.format(mode)}"
    trace.add("barrier", stage=stage, reason=text, span=reason.span.to_list())


_FITTING = {
    "": "with these sources, no intermediate value leaves 64 bits",
    "parts": "sums whose elements may leave 64 bits are made of parts that do not, so that they are exact",
    "pairs": "values need up to 128 bits, and are kept in two 64-bit words, which none can leave",
    "remainders": "remainders are made of smaller ones, so that no value on the way leaves 64 bits",
}
"""How the integers of a loop are proved to fit, by the form that they have been given."""


def _of_two_types(execution: Execution) -> list[str]:
    """That an array is of objects because of a few numbers of another type, which is easily mended."""
    found: list[str] = []
    for output, value in zip(execution.fused.outputs, execution.values, strict=False):
        element, kind = output.value, getattr(value, "dtype", None)
        if not (isinstance(element, Either) and output.sink.kind == "array" and kind == _OBJECTS):
            continue
        low, high = (_PLURALS.get(part.type, "floats") for part in (element.low, element.high))
        instead = " (`0.0` in place of `0`, say)" if (low, high) == ("ints", "floats") else ""
        name = f"`{output.name}`" if output.name.isidentifier() else "The result"
        found.append(
            f"{name} holds {low} beside {high}, as Python's does, and so is an array of objects, which takes long to "
            f"make and to use: of {high} alone{instead} it would be an array of these."
        )
    return found


_OBJECTS = np.dtype(object)
_PLURALS = {BOOL: "bools", INT: "ints"}


def _why(execution: Execution, options: Options) -> list[str]:
    variants = execution.compiled.variants
    body = variants.bodies[execution.compiled.first]
    carries = execution.compiled.checks_carried and options.int_mode != "wrap"
    sentences = scan_values.report_notes(execution.fused.outputs, options.int_mode)
    if not execution.compiled.fused.computes_integers:
        pass  # nothing is computed with integers
    elif options.int_mode == "wrap":
        sentences.append("Integers wrap around at 64 bits, as asked for with --int wrap.")
    elif variants.proved and not execution.fell_back:
        which = "Integers of each element" if carries else "Integers"
        sentences.append(f"{which} proved to fit: {_FITTING[execution.compiled.state.form]}.")
    elif body.assumes and not is_held(body):
        assumed = "; ".join(f"{_leaf(each.load, execution)} in {each.interval}" for each in body.assumes)
        sentences.append(
            f"Integers guarded at the source: where {assumed}, nothing can overflow; other blocks "
            + ("keep values in two 64-bit words, and check those that may leave these." if variants.fits
               else "check every operation.")
        )  # fmt: skip
    elif variants.fits:
        sentences.append(
            "Integers guarded: values that may need more than 64 bits are kept in two 64-bit words, and those that may "
            "leave these are checked."
        )
    else:
        sentences.append("Integers guarded: every operation that could leave 64 bits is checked.")
    if carries:
        sentences.append(
            "Integers that go from one element to the next are checked: where one leaves 64 bits, Python computes all "
            "of it, exactly."
        )
    if any(map(is_product, execution.fused.outputs)):
        sentences.append(
            "Integers are multiplied in 128 bits: a block whose product needs more is multiplied by Python, exactly."
        )
    if checks := checked(body.guards):
        sentences.append(checks)
    sentences += _of_two_types(execution)
    fresh = sum(fresh_bytes(cast("Any", each)) for each in execution.values if isinstance(each, np.ndarray))
    if fresh:
        sentences.append(
            f"Cold: {units.size(fresh)} of results went into memory fresh from the system, and writing a page for the "
            "first time costs more than most kernels do; that is part of the kernel's time. Run again, the cell "
            "may use the same memory."
        )
    if execution.recovered and any(each.sink.kind in RUNNING_SINKS for each in execution.fused.outputs):
        sentences.append(
            "Python computed all of it, one element after the other, as some element needs Python."
        )
    elif execution.recovered:
        blocks = -(-execution.length // BLOCK)
        sentences.append(
            f"Python computed {execution.recovered} of {blocks} blocks of {BLOCK} elements, one by one."
        )
    return sentences


def _leaf(node: Expr, execution: Execution) -> str:
    assert isinstance(node.value, int)
    return execution.columns[node.value].source.name
