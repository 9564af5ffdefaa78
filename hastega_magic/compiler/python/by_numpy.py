"""One loop as NumPy calls, with Python's results: `--on numpy`.

NumPy wraps around at 64 bits and divides by zero in silence. So the checks of the compiled loop are computed as well,
as NumPy calls, unless the sources' smallest and largest elements prove them needless; elements at which one fires are
Python's, which raises what it raises. Sums and products of ints are exact.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from hastega_magic.compiler import scan_values
from hastega_magic.compiler.loops import compile_loop
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.sources.short_circuit import DECIDED
from hastega_magic.compiler.statement import Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import BeyondInt64, HastegaError, NotCompilable, WideConstant
from hastega_magic.frames import reraise_signal
from hastega_magic.interval import INT64_MAX
from hastega_magic.ir.expr import Expr, flatten
from hastega_magic.ir.fused import Fused, Output
from hastega_magic.ir.kernel import Assume
from hastega_magic.ir.pipeline import RUNNING_SINKS, Sink
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.ir.sinks import COMBINE, SUMS
from hastega_magic.ops.machine import wrap64
from hastega_magic.passes.guard import Variant
from hastega_magic.records import changed
from hastega_magic.runtime import python
from hastega_magic.runtime.numpy import NoNumpyForm, run_fused_numpy
from hastega_magic.runtime.sources import AnyArray
from hastega_magic.trace import Trace
from hastega_magic.types import FLOAT32, INT

if TYPE_CHECKING:
    from hastega_magic.compiler.python.elements import Elements

_PRODUCTS = frozenset({"prod", "reduce_mul"})


def numpy_value(
    loop: Loop, workspace: Workspace, options: Options, trace: Trace, probe: bool = False
) -> object:
    """The loop's value by NumPy calls; raises what Python raises, and OverflowError as `--int checked` has it.

    `probe`: the loop is asked before another one can be built, and is not what its stages compute. NoNumpyForm where an
    operator has no NumPy call, or NumPy's has another meaning; BeyondInt64 where Python's ints are needed for an exact
    result.
    """
    if loop.built.tail and options.int_mode != "wrap":
        raise NoNumpyForm("NumPy has no call for chunks of which the last is shorter")
    if loop.built.tail:
        return _with_last(loop, workspace, options, trace)
    if any(stage.site.name == "astype" for stage in loop.stages):
        raise NoNumpyForm("NumPy's astype wraps around")
    if loop.stages and loop.stages[-1].site.name == "bincount" and loop.stages[-1].kwargs:
        raise NoNumpyForm("`bincount` with `minlength` is left to Python")
    # Exact sums of what may overflow would be made of parts, for which NumPy has no calls.
    mode = "wrap" if options.int_mode == "wrap" else "checked"
    analysed = replace(options, int_mode=mode)
    compiled, fused, _ = compile_loop([loop.pipeline], workspace.table_columns, analysed, trace)
    columns = [workspace.column(source) for source in fused.sources]
    length = min(len(column.data) for column in columns)
    if mode == "checked":  # what ranges have decided has no checks, so that NumPy must not compute it
        (simple,), (output,) = compiled.fused.outputs, fused.outputs
        fused = replace(fused, outputs=(replace(output, value=simple.value, mask=simple.mask),))
    call = _Call(
        fused,
        [column.array(0, length) for column in columns],
        [column.data for column in workspace.table_columns],
    )
    fires = call.firing(compiled.variants.bodies, length)
    (output,) = fused.outputs
    if len(fires) and probe:
        return _asked(loop, workspace, options, output, fires, length, call)
    if len(fires):
        if options.int_mode == "checked" and loop.pipeline.sink.kind in RUNNING_SINKS:
            raise NoNumpyForm("elements and steps are looked at for integers beyond 64 bits, in their order")
        return _by_elements(loop, workspace, options, output, fires, length)
    try:
        found = with_initial(loop, _reduced(loop, workspace, options, output, call))
    except _Raised:
        if mode != "wrap":
            raise
        return _by_elements(loop, workspace, options, output, fires, length)
    if type(found) is complex and flatten(output.value)[0].type is FLOAT32:
        return np.complex64(found)
    return wrap64(found) if type(found) is int and mode == "wrap" else found


def _with_last(loop: Loop, workspace: Workspace, options: Options, trace: Trace) -> object:
    """The value of chunks, of which the last, shorter one is wrapped around by itself."""
    from hastega_magic.compiler.python.last_chunk import tail
    from hastega_magic.compiler.python.recover import joined

    whole = changed(loop, built=changed(loop.built, tail=0))
    found, last = numpy_value(whole, workspace, options, trace), tail(loop, workspace, "wrap")
    if isinstance(found, list):
        return [*cast("list[object]", found), *python.elements(last)]
    return joined([cast(AnyArray, found), last])


def value_or_checked(
    loop: Loop, workspace: Workspace, options: Options, trace: Trace, probe: bool = False
) -> object:
    """The same, and by Python where no loop can, and `--int checked` has to raise for some elements."""
    try:
        return numpy_value(loop, workspace, options, trace, probe)
    except (NoNumpyForm, WideConstant):
        if options.int_mode != "checked" or loop.scalars is not None:
            raise
    return checked_by_python(loop, workspace, options, probe)


def checked_by_python(loop: Loop, workspace: Workspace, options: Options, probe: bool = False) -> object:
    """The value, each element of the loop having been looked at for integers beyond 64 bits on its way."""
    output, columns = Output("", loop.pipeline.sink, ()), map(workspace.column, loop.pipeline.sources)
    length = min(len(column.data) for column in columns)
    by_elements = _asked if probe else _by_elements
    return by_elements(loop, workspace, options, output, np.arange(length), length)


class _Raised(NoNumpyForm):
    """The call would raise, or does: Python has words of its own for it."""


class _Call:
    """The loop's arrays, and what NumPy makes of them."""

    def __init__(self, fused: Fused, arrays: Sequence[AnyArray], tables: Sequence[AnyArray]) -> None:
        self.fused, self.arrays, self.tables = fused, arrays, tables

    def firing(self, bodies: Sequence[Variant], length: int) -> AnyArray:
        """The numbers of the elements at which a check fires; all where a check cannot be computed for all."""
        body = next(
            (each for each in bodies if not each.guards and all(map(self._holds, each.assumes))), None
        )
        if body is not None or not length:
            return np.arange(0)
        last = next((each for each in reversed(bodies) if all(map(self._holds, each.assumes))), None)
        if last is None:
            return np.arange(length)
        fires = np.zeros(length, bool)
        for guard in last.guards:
            try:
                fires |= cast(AnyArray, self.value(Output("", Sink("array"), guard.condition)))
            except (
                ArithmeticError,
                LookupError,
                ValueError,
            ):  # of an element that another check leaves to Python
                return np.arange(length)
        return np.flatnonzero(fires)

    def _holds(self, assume: Assume) -> bool:
        assert isinstance(assume.load.value, int)
        data = self.arrays[assume.load.value]
        return not len(data) or (
            int(data.min()) in assume.interval and int(data.max()) in assume.interval
        )  # as Python's ints: what is unsigned may be beyond int64

    @property
    def length(self) -> int:
        """The number of elements, before filters."""
        return len(self.arrays[0])

    def column(self, output: Output) -> AnyArray:
        """The elements that the output's sink takes."""
        return cast(AnyArray, self.value(replace(output, sink=Sink("array"))))

    def value(self, output: Output) -> object:
        """An output of the loop."""
        (value,) = run_fused_numpy(replace(self.fused, outputs=(output,)), self.arrays, self.tables)
        return value


def _reduced(loop: Loop, workspace: Workspace, options: Options, output: Output, call: _Call) -> object:
    """The output's value, no check having fired."""
    kind = output.sink.kind
    try:
        begun = not kind.startswith("reduce_") or loop.built.initial
        if not begun and not (call.length if output.mask is None else len(call.column(output))):
            raise _Raised("nothing is left to be reduced")
        if (
            isinstance(output.value, Expr)
            and output.value.type is INT
            and kind in SUMS | _PRODUCTS | {"cumsum"}
        ):
            column = call.column(output)
            if len(column):
                return _of_ints(loop, workspace, options, output, column)
        return call.value(output)
    except (ArithmeticError, LookupError, ValueError) as error:
        if isinstance(error, HastegaError) or kind == "cumsum":
            raise
        raise _Raised(f"NumPy raises {type(error).__name__}") from None


def _of_ints(loop: Loop, workspace: Workspace, options: Options, output: Output, column: AnyArray) -> object:
    """A sum, mean or product of some ints, exactly unless they are to wrap around; or their running sums."""
    kind = output.sink.kind
    most = max(abs(int(column.min())), abs(int(column.max())))
    if kind == "cumsum":
        if most * len(column) <= INT64_MAX or options.int_mode == "wrap":
            return np.cumsum(column)
        return _summed(loop, workspace, options, output)
    if kind in _PRODUCTS:
        found = math.prod(column.tolist())
    elif most * len(column) <= INT64_MAX:
        found = int(column.sum())
    else:
        found = (int((column >> 32).sum()) << 32) + int((column & 0xFFFF_FFFF).sum())
    return found / len(column) if kind == "mean" else found


def _summed(loop: Loop, workspace: Workspace, options: Options, output: Output) -> object:
    """Running sums by Python."""
    value, sentence = scan_values.by_python(loop, workspace, output, options)
    if sentence:
        raise BeyondInt64(sentence.partition(";")[0])
    return value


def steps_checked(loop: Loop, workspace: Workspace, options: Options, trace: Trace) -> object:
    """The value of a running sink that NumPy has no call for, by Python; OverflowError as `--int checked` has it."""
    output, alone = Output("", loop.pipeline.sink, ()), scan_values.elements_alone(loop)
    if alone is not None:
        try:
            made = cast(AnyArray, value_or_checked(alone, workspace, options, trace))
            loop, workspace = scan_values.behind(made, loop, workspace)
        except Exception as error:  # Python finds out what is raised first, and takes what has no form
            reraise_signal(error)
            if isinstance(error, BeyondInt64):
                raise
    return scan_values.by_python(loop, workspace, output, options)[0]


def _by_elements(
    loop: Loop, workspace: Workspace, options: Options, output: Output, fires: AnyArray, length: int
) -> object:
    """The value where checks fire at some elements; raises what Python raises for the first of them."""
    if loop.scalars is not None:
        raise NotCompilable("NumPy may compute a value otherwise than Python, or warn of it")
    wraps, decided = options.int_mode == "wrap", DECIDED.get(output.sink.kind)
    from hastega_magic.compiler.python.barriers import noted
    from hastega_magic.compiler.python.elements import Elements
    from hastega_magic.compiler.python.last_chunk import obeyed
    from hastega_magic.compiler.python.numpy_as_python import exactly

    elements = Elements(loop, workspace, options.int_mode, (loop,))
    kept: list[Any] = []
    selected = decided is None and not wraps
    whole = selected and len(fires) == length
    for first in range(0, length if whole else 0, BLOCK):
        elements.through(first, min(first + BLOCK, length))
        _refuse(elements)
    for index in () if whole else fires.tolist() if selected else range(length):
        element = elements.at(index)
        if element.kept:
            kept.append(element.value)
            if decided is not None and bool(element.value) is decided:
                return decided
        _refuse(elements)
    if not wraps and output.sink.kind == "cumsum":
        return _summed(loop, workspace, options, output)
    if not wraps:
        obeyed(loop, workspace, options.int_mode)
        stages = exactly(loop, workspace)
        return python.run(loop.source, loop.bound.calls(noted(stages) if loop.built.tail else stages))
    if output.sink.kind == "array":
        return python.as_result(kept)
    if output.sink.kind in RUNNING_SINKS:
        from hastega_magic.compiler.python.scan_steps import wrapped_steps

        return wrapped_steps(kept, loop, workspace)
    kind, last = output.sink.kind, loop.stages[-1]
    if kind.startswith("reduce_"):  # what is kept are terms, not elements
        found: object = functools.reduce(COMBINE[kind], [*loop.built.initial, *kept])
    else:
        found = python.apply(last.site.name, kept, last.args, last.kwargs)
    return wrap64(found) if type(found) is int else found


def _refuse(elements: Elements) -> None:
    """BeyondInt64 where one of the elements so far needs such an integer."""
    if elements.warnings:
        raise BeyondInt64(elements.warnings[0].partition(";")[0])


def _asked(
    loop: Loop,
    workspace: Workspace,
    options: Options,
    output: Output,
    fires: AnyArray,
    length: int,
    call: _Call | None = None,
) -> object:
    """What a probe finds where checks fire at some elements, which are Python's; those behind the answer are not asked.

    NumPy's other elements are as they should be, so for a number of an element only these are needed.
    """
    from hastega_magic.compiler.python.elements import Elements

    kind, elements = output.sink.kind, Elements(loop, workspace, options.int_mode, (loop,))
    numbers, bound = range(length), length
    if kind == "first_index" and call is not None and len(fires) < length:
        kept = np.setdiff1d(call.column(output), fires)
        numbers, bound = fires.tolist(), int(kept[0]) if len(kept) else length
    found: list[Any] = []
    size = BLOCK if len(fires) == length else 1
    for number in numbers[::size]:
        if number > bound:
            break
        found += elements.through(number, min(number + size, length)).values
        _refuse(elements)
        if found and kind == "first_index":
            return found[0]
    match kind:
        case "first_index":
            return bound if bound < length else None
        case "last_index":
            return found[-1] if found else None
        case _:
            return python.apply(kind, found)


def with_initial(loop: Loop, value: Any) -> object:
    """The value of `reduce` with its initial one."""
    if not loop.built.initial:
        return value
    return cast(object, COMBINE[loop.pipeline.sink.kind](loop.built.initial[0], value))
