"""Values of running sinks: what the kernel left, the host's part behind a device, and Python's where it must."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.options import Options
from hastega_magic.compiler.python.naming import BEYOND, short
from hastega_magic.compiler.statement import Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import NotCompilable
from hastega_magic.interval import INT64
from hastega_magic.ir.affine import regrouped
from hastega_magic.ir.expr import Expr, flatten, leaf, make
from hastega_magic.ir.fused import Output
from hastega_magic.ir.pipeline import RUNNING_SINKS, Fn, Pipeline, Sink, Stage
from hastega_magic.ir.scan import ROW
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.report.escape import quoted
from hastega_magic.runtime import python
from hastega_magic.runtime.results import item
from hastega_magic.runtime.sources import AnyArray
from hastega_magic.syntax.loops.build import Built
from hastega_magic.types import FLOAT, FLOAT32


def stored(output: Output, array: AnyArray, loop: Loop) -> object:
    """The value from what the kernel stored."""
    if output.sink.kind != "fold":
        return array
    if len(array):
        return item(array[0])
    return _begun(loop)


def _begun(loop: Loop) -> object:
    """A fold of no elements is what it began with; TypeError where it began with nothing, as `reduce` says it."""
    last = loop.stages[-1]
    return python.apply(last.site.name, (), last.args, last.kwargs)


def behind(array: AnyArray, loop: Loop, workspace: Workspace) -> tuple[Loop, Workspace]:
    """The running sink alone, over elements that a device computed: the host's CPU gives the bits of its own loops."""
    there = Workspace(workspace.filename, unasked=workspace.unasked)
    there.table_columns = workspace.table_columns
    sink = loop.pipeline.sink
    for each in sink.init:
        there.keep(workspace.column(each))
    fields = _fields(array)
    source, *others = (there.source(each, loop.name) for each in fields)
    stages = (Stage("zip", sink.text, sink.span, None, tuple(others)),) if others else ()
    pipeline = Pipeline(loop.name, source, stages, sink, loop.pipeline.tables, loop.pipeline.span, sink.span)
    there.parameters = workspace.parameters
    pipeline = replace(pipeline, parameters=there.parameter_sources(len(array)))
    built = Built(pipeline, 1, bespoke=True, owners=loop.stages[-1:] if others else ())
    return replace(loop, source=array, stages=loop.stages[-1:], built=built, pipeline=pipeline), there


def _fields(array: AnyArray) -> list[AnyArray]:
    """The numbers of elements that are tuples, or the elements; NotCompilable for tuples of tuples."""
    if array.dtype.names is None:
        return [array]
    found = [np.ascontiguousarray(array[name]) for name in array.dtype.names]
    if len(found) < 2 or any(each.dtype.names is not None for each in found):
        raise NotCompilable("tuples of this kind do not go from a device to a function of the value so far")
    return found


def doubtful(product: float) -> bool:
    """Whether a product of floats may be another one factor after the other.

    Those side by side may overflow or vanish where the product of all up to an element does not: zeros then give NaN.
    """
    return product == 0 or not math.isfinite(product)


def is_doubtful(output: Output, value: object) -> bool:
    """The same of what a loop gives, which may be something else."""
    plain = output.sink.kind == "prod" and isinstance(output.value, Expr)
    return plain and isinstance(value, (float, np.floating)) and doubtful(cast(float, value))


def in_order(loop: Loop, output: Output, workspace: Workspace) -> Loop:
    """The loop of a product that multiplies one element after the other."""
    sink, length = loop.pipeline.sink, loop.pipeline.source.length
    type_ = FLOAT32 if flatten(output.value)[0].type is FLOAT32 else FLOAT
    pair = leaf("param", type_, 0), leaf("param", type_, 1)
    fn = Fn(pair, make("mul", *pair), (), sink.text, sink.span)
    begin = workspace.number("start of prod", 1.0, type_, length)
    pipeline = replace(loop.pipeline, sink=Sink("fold", sink.text, sink.span, 0.0, fn, (begin,)))
    return replace(loop, pipeline=pipeline)


def stepped(outputs: Sequence[Output]) -> list[str]:
    """The sinks whose function is applied to one element after the other, in code without vectors."""
    return [
        each.sink.text for each in outputs if each.sink.kind in ("scan", "fold") and regrouped(each) is None
    ]


def report_notes(outputs: Sequence[Output], mode: str = "exact") -> list[str]:
    """What the report says of running sinks."""
    found: list[str] = []
    for output in outputs:
        text = quoted(output.sink.text)
        kind, floats = output.sink.kind, flatten(output.value)[0].type.is_float
        if regrouped(output) is not None:
            found.append(
                f"{text} multiplies the value so far by a number and adds to it: rows of {ROW} elements are computed "
                "side by side, in a shape that is the same on every back end; equal to one after the other up to "
                "roundings of the values on the way (`equal to` gives the difference relative to the largest element), "
                "and computed one after the other where a result is not finite, or a zero whose sign depends on the "
                "order."
            )
        elif stepped([output]):
            found.append(
                f"{text} depends on the order of the elements, as far as can be seen: its function is applied to one "
                "after the other, in their order, while the stages before it run side by side."
            )
        elif kind == "cumsum" and floats:
            found.append(
                f"{text} adds floats in a shape that is the same on every back end (rows of {ROW}, blocks of {BLOCK}; "
                "one after the other where a sum is not finite): "
                "equal to sums one after the other up to roundings of the sums on the way (`equal to` gives the "
                "difference relative to the largest element)."
            )
        elif kind == "cumsum" and mode != "wrap":
            found.append(f"{text} is guarded: a sum beyond 64 bits would be computed by Python, exactly.")
        elif kind in ("var", "std"):
            found.append(
                f"{text} takes two loops: the mean, then the sum of the squared distances from it, by the tree of all "
                "float sums; equal to Python's up to rounding."
            )
    return found


def elements_alone(loop: Loop) -> Loop | None:
    """The loop without its running sink, as a device has it; None where the elements are those of the source."""
    if len(loop.stages) < 2 or loop.built.tail:
        return None
    sink = Sink("array", loop.pipeline.sink.text, loop.pipeline.sink.span)
    return replace(loop, stages=loop.stages[:-1], pipeline=replace(loop.pipeline, sink=sink))


def by_python(
    loop: Loop, workspace: Workspace, output: Output, options: Options, steps: bool = False
) -> tuple[object, str]:
    """The value as Python computes it, where an element needs that; and a sentence if an int is beyond int64.

    OverflowError with `--int checked` for the first such int; what elements raise propagates. `steps`: these may need
    an int beyond int64 that the value does not show.
    """
    from hastega_magic.compiler.python.barriers import noted
    from hastega_magic.compiler.python.numpy_as_python import exactly
    from hastega_magic.compiler.python.scan_steps import beyond_in_order, wrapped_steps, wrapped_value

    runs = output.sink.kind in RUNNING_SINKS
    alone, checked = runs and len(loop.stages) == 1, runs and options.int_mode == "checked"
    if alone and options.int_mode == "wrap":
        return wrapped_steps(loop.source, loop, workspace), ""
    stages = exactly(loop, workspace)
    beyond = beyond_in_order(loop, workspace, stages[-1]) if checked else None
    if beyond is not None:
        beyond_told(output.sink.text, beyond, options.int_mode)
    calls = [(each.site.name, each.callee, each.args, each.kwargs) for each in noted(stages)]
    value = python.run(loop.source, cast(Any, calls))
    beyond = beyond_int64(value)
    if beyond is None and alone and steps and not checked:
        beyond = beyond_in_order(loop, workspace, stages[-1])
    if beyond is None:
        return value, ""
    if options.int_mode == "wrap":
        return wrapped_value(value), ""
    return value, beyond_told(output.sink.text, beyond, options.int_mode)


def beyond_told(text: str, beyond: int, mode: str) -> str:
    """The sentence on a running value of a stage that no int64 holds; OverflowError with `--int checked`."""
    sentence = f"{BEYOND}{quoted(text)}: {short(beyond)}"
    if mode == "checked":
        raise OverflowError(sentence)
    return f"{sentence}; the stages were computed by Python, exactly"


def beyond_int64(value: object) -> int | None:
    """The first value that no int64 holds."""
    if isinstance(value, int):
        return None if value in INT64 else value
    if isinstance(value, tuple):
        found = map(beyond_int64, cast("tuple[object, ...]", value))
    elif isinstance(value, np.ndarray) and cast(AnyArray, value).dtype.kind in "uOV":
        found = map(beyond_int64, cast("list[object]", cast(AnyArray, value).tolist()))
    else:
        return None
    return next((each for each in found if each is not None), None)
