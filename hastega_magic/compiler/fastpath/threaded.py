"""A statement over many elements that runs again: called on all threads at once, where it will take milliseconds.

Its sources are arrays or ranges, its result is an array or a number. What takes longer, and what an element of which
needs Python, goes the way of every loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from operator import mul
from typing import Any, NamedTuple

from hastega_magic.compiler.execute import Execution
from hastega_magic.compiler.fastpath.direct_result import Stored
from hastega_magic.compiler.fastpath.extremes import Extreme, extreme_of
from hastega_magic.compiler.fastpath.guards import Display
from hastega_magic.compiler.fastpath.reading import Given, Words
from hastega_magic.compiler.fastpath.slots import DoesNotFit, Slot
from hastega_magic.compiler.fastpath.storing import Put, storing
from hastega_magic.compiler.fastpath.tables import Varied
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.python.recover import Recovery
from hastega_magic.compiler.scan_values import is_doubtful
from hastega_magic.compiler.statement import Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.ir import abi
from hastega_magic.ir.expr import Expr, flatten
from hastega_magic.ir.fused import Output, slots_of
from hastega_magic.ir.sinks import EXTREMES
from hastega_magic.passes.schedule import folds_of
from hastega_magic.records import cached_property, dataclass
from hastega_magic.runtime.buffers import trim
from hastega_magic.runtime.cpu import Program
from hastega_magic.runtime.cpu.pool import rouse
from hastega_magic.runtime.cpu.threaded import ThreadedCall, is_brief, take
from hastega_magic.runtime.loop_result import LoopResult
from hastega_magic.runtime.python import in_dtype
from hastega_magic.types import FLOAT32, Composite

_OFTEN = 3
"""After so many misses in a row, of one variant, it is not tried again."""

_NOTHING: Mapping[int, object] = {}

Finish = Callable[[LoopResult, Sequence[Any], Sequence[Display]], object]
"""From what the loop left, the sources and the stages to the value; DoesNotFit where another way finds it."""


class Ran(NamedTuple):
    """The statement's value, and what its loop left."""

    value: object
    result: LoopResult


@dataclass
class ThreadedLoop:
    """The loop, and how its result is put together."""

    execution: Execution
    finish: Finish
    sums: Sequence[int]
    """The partial results of which it takes the totals."""
    arrays: tuple[Varied, ...] = ()
    """Captured ones that may be others in each run."""
    _variant: int = -1
    _program: Program | None = None
    """Of the variant, where it can be run so."""
    _plan: abi.Layout | None = None
    _kept: dict[int, ThreadedCall] = field(default_factory=dict[int, ThreadedCall])
    """Words of its runs: where they hold captured arrays, of this statement alone; otherwise of its program."""
    _missed: int = 0
    _helped: int = 0
    """Threads of a crew that took part in the last run."""

    def rouse(self) -> None:
        """A run is about to begin: who took part in the last one wakes while it is made ready."""
        if self._helped:
            rouse(self._helped)

    @cached_property
    def threads(self) -> int:
        """How many threads it may take."""
        return self._at_most(self.execution.backend.threads)

    def _at_most(self, threads: int) -> int:
        return min(threads, self.execution.job.tuned.threads or threads)

    def run(
        self,
        sources: Sequence[Words],
        operands: Sequence[Any],
        arguments: Sequence[object],
        displays: Sequence[Display],
        length: int,
        most: int = 0,
        known: Mapping[int, object] = _NOTHING,
    ) -> Ran | None:
        """The statement over so many elements; None where another way has to be taken; what an interrupt raises.

        `most`: the threads that it may take, where that was decided for this run. `known`: by stage number what the
        loops found that went before.
        """
        variant = self.execution.compiled.first
        if variant != self._variant:
            self._begin(variant)
        program, plan, kept, threads = (
            self._program,
            self._plan,
            self._kept,
            self._at_most(most) if most else self.threads,
        )
        if program is None or plan is None or not is_brief(plan, program, length, threads):
            return None
        given = Given(operands, arguments, length, None, known, [], alone=False)
        words = [word for each in sources for word in each.given(given)]
        spread = take(kept, plan, program, self.execution.job.tables, threads)
        try:
            read = [each.now(arguments) for each in self.arrays]  # to stay until the end
            for each, array in zip(self.arrays, read, strict=True):
                spread.reads(each.slot, array)
            result = spread.run(words, length, again=True, sums=self.sums)
            self._helped = spread.helped
            if spread.whole:
                self._missed = 0
                try:
                    return Ran(self.finish(result, operands, displays), result)
                except DoesNotFit:
                    return None
        finally:
            kept[threads] = spread
        self._missed += 1
        if self._missed >= _OFTEN:
            self._program = None
        return None

    def _begin(self, variant: int) -> None:
        self._program = None
        body = self.execution.compiled.bodies.get(variant)
        if body is None:
            return
        plan = abi.layout(body.kernel)
        if isinstance(body.program, Program) and not plan.lasting:
            self._kept = {} if self.execution.job.tables else body.program.kept
            self._plan, self._program = plan, body.program
        self._missed, self._variant = 0, variant  # at last: an interrupt before leaves it to the next run


def threaded_loop(
    execution: Execution, slots: Sequence[Slot], loop: Loop, options: Options, arrays: tuple[Varied, ...] = ()
) -> ThreadedLoop | None:
    """How the loop, whose results are of a common kind, runs over many elements; None for other sources."""
    (output,) = execution.fused.outputs
    if output.sink.kind == "to_list" or any(each.source.kind not in ("array", "range") for each in slots):
        return None
    output = replace(output, weights=execution.compiled.fused.outputs[0].weights)
    found = _finish(execution, output, loop, options)
    return None if found is None else ThreadedLoop(execution, *found, arrays)


def _finish(
    execution: Execution, output: Output, loop: Loop, options: Options
) -> tuple[Finish, Sequence[int]] | None:
    """How the result is put together, and which partial results it takes the totals of; None for other kinds."""
    if slots_of(output):
        return _stored(output, loop), ()
    kind, type_ = output.sink.kind, flatten(output.value)[0].type
    (folds,) = folds_of(execution.compiled.fused)
    # Some kinds are common, and need nothing of what a Recovery does for every kind.
    usual = loop.built.initial or options.int_mode == "wrap" or isinstance(output.value, Composite)
    if not usual and type_ is not FLOAT32:
        weights = output.weights or (1,)
        if kind == "sum":
            return (_float_sum if type_.is_float else partial(_int_sum, weights)), folds
        if kind == "mean":
            return partial(_mean, weights), folds
        # Which element comes first is not looked at where the loop takes parts of its sources.
        extreme = extreme_of(execution, output, loop) if loop.built.view is None else None
        if extreme is not None:
            return partial(_extreme, extreme, folds), ()

    if kind in EXTREMES:
        return None  # its elements may be asked for

    def reduction(result: LoopResult, *_: object) -> object:
        found = Recovery(loop, nothing, (), result, options).reduction(output, folds)
        if is_doubtful(output, found):
            raise DoesNotFit
        return found

    nothing = Workspace("")  # is left to Python
    return reduction, ()


def _stored(output: Output, loop: Loop) -> Finish:
    """Of one number for an element, or of several, of which each has an array."""
    kind, fn = output.sink.kind, output.sink.fn
    if isinstance(output.value if fn is None else fn.result, Expr) and kind in ("array", "cumsum"):
        return _typed if loop.bound.site.stages[-1].name == "astype" else _array
    return partial(_put, storing(output, loop), 1 if kind == "fold" else None)


def _array(result: LoopResult, *_: object) -> object:
    return trim(result.arrays[0], result.packed_length(0))


def _put(
    put: Put, most: int | None, result: LoopResult, operands: Sequence[Any], displays: Sequence[Display]
) -> object:
    """The value, made of at most so many places of each array."""
    lengths = (result.packed_length(slot) for slot in range(len(result.arrays)))
    arrays = [
        trim(each, length if most is None else min(length, most))
        for each, length in zip(result.arrays, lengths, strict=True)
    ]
    return put(Stored(arrays, operands, displays))


def _typed(result: LoopResult, operands: Sequence[Any], displays: Sequence[Display]) -> object:
    """Of the type that the last stage says."""
    _, args, kwargs = displays[-1]
    return in_dtype(trim(result.arrays[0], result.packed_length(0)), *args, **kwargs)


def _int_sum(weights: Sequence[int], result: LoopResult, *_: object) -> int | float:
    return sum(map(mul, weights, result.totals))


def _float_sum(result: LoopResult, *_: object) -> int | float:
    total, count = result.totals
    return total if count else 0  # Python's own start


def _mean(weights: Sequence[int], result: LoopResult, *_: object) -> float:
    *totals, count = result.totals
    if not count:
        raise DoesNotFit
    return sum(map(mul, weights, totals)) / count


def _extreme(
    extreme: Extreme,
    folds: Sequence[int],
    result: LoopResult,
    operands: Sequence[Any],
    displays: Sequence[Display],
) -> object:
    found, counts = (result.partials[each][:, 0].tolist() for each in folds)
    return extreme.of(found, counts, operands, displays)


__all__ = ["Ran", "ThreadedLoop", "threaded_loop"]
