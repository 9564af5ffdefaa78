"""A statement that one loop computed, made ready to be run again: over another source of the same kind.

What decides whether the loop fits is looked at, and no more: the code of the functions, the values that they read, the
kind and range of the sources. Small loops of common kinds are then called directly; all others go the way of every
loop, from where it is compiled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hastega_magic.compiler.backends import Cpu, backend_of
from hastega_magic.compiler.execute import Execution, Ready
from hastega_magic.compiler.loops import Body
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.outcome import Outcome
from hastega_magic.compiler.repeating.gathering import Gather, gathering
from hastega_magic.compiler.repeating.slots import Again, Number, Slot, as_arrays, equal_ranges, slots_of
from hastega_magic.compiler.repeating.spreading import MISSED, Spreading, spreading
from hastega_magic.compiler.run import run_compiled
from hastega_magic.compiler.statement import Bound, Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import BeyondInt64, NotCompilable
from hastega_magic.ir import abi
from hastega_magic.ir.pipeline import Source
from hastega_magic.passes.schedule import STREAMED
from hastega_magic.runtime.cpu import Program
from hastega_magic.runtime.direct import MOST, Direct
from hastega_magic.runtime.overlapped import Operand, Overlapped, fits
from hastega_magic.runtime.sources import Unlike
from hastega_magic.syntax.build import BoundStage
from hastega_magic.syntax.captured import Captured, captured
from hastega_magic.trace import Trace

_MISSED = 3
"""After so many failures in a row a list is no longer made while it is computed."""

Display = tuple[Any, tuple[Any, ...], Mapping[str, Any]]
"""A stage as its site's code hands it over: callee or None, arguments, keyword arguments."""


@dataclass
class Prepared:
    """The loop, what it depends on, and how its result is put together."""

    captured: Captured
    shape: tuple[tuple[bool, int], ...]
    """Of each stage whether its arguments are sources, and how many there are."""
    slots: tuple[Slot, ...]
    twins: tuple[tuple[int, int], ...]
    """Sources that are one: they must be the same object."""
    loop: Loop
    execution: Execution
    numbers: tuple[Number, ...]
    words: tuple[Slot | Number, ...]
    """The loop's sources in their order."""
    direct: Direct | None
    gather: Gather | None
    large: bool
    options: Options = field(default_factory=Options)
    filename: str = ""
    listed: bool = False
    """Its result is a list, which may be made while it is computed."""
    spreading: Spreading | None = None
    """How it runs over many elements; None where that is left to the usual way."""
    _overlapped: Overlapped | None = None
    _variant: int = -1
    """The body of that."""
    _missed: int = 0
    """How often that failed, one time after the other."""

    def run(self, source: object, displays: Sequence[Display]) -> object:
        """The result; Again where it must be found another way; what an element raises."""
        operands, arguments, length = self._fitting(source, displays)
        if length > MOST:
            return self._over_many(operands, length, displays)
        direct = self.direct
        if direct is None or self.gather is None or not direct.lock.acquire(blocking=False):
            return self._launched(operands, displays)
        try:
            alive: list[object] = []
            words: list[int] = []
            for each in self.words:
                words += (
                    each.words(operands, length, alive) if isinstance(each, Slot) else each.words(arguments)
                )
            arrays = direct.run(words, length)
            if arrays is None:
                raise Again
            return self.gather(direct, arrays)
        finally:
            direct.lock.release()

    def _fitting(self, source: object, displays: Sequence[Display]) -> tuple[list[object], list[object], int]:
        """The sources, the other arguments, and the number of elements; Again where the loop is not for them."""
        arguments: list[object] = []
        operands: list[object] = [source]
        for (callee, args, kwargs), (zips, count) in zip(displays, self.shape, strict=True):
            if kwargs or callee is not None or len(args) != count:
                raise Again
            (operands if zips else arguments).extend(args)
        as_arrays(operands)
        if not self.captured.fits(arguments):
            raise Again
        for first, second in self.twins:
            if operands[first] is not operands[second] and not equal_ranges(
                operands[first], operands[second]
            ):
                raise Again
        length = -1
        for slot in self.slots:
            found = slot.length(operands[slot.operand])
            length = found if found < length or length < 0 else length
        if not length or (length >= STREAMED) != self.large:
            raise Again
        if self.numbers and (self.direct is None or length > MOST):
            raise Again  # not to be compiled again, but put together anew
        return operands, arguments, length

    def _over_many(self, operands: Sequence[Any], length: int, displays: Sequence[Display]) -> object:
        made = self._made(operands, length) if self.listed else None
        if made is not None:
            return made
        if self.spreading is not None and self.direct is not None:
            value = self.spreading.value(self.slots, self.direct.lock, operands, length)
            if value is not MISSED:
                return value
        return self._launched(operands, displays)

    def _made(self, operands: Sequence[Any], length: int) -> object:
        """A list, made while it is computed; None where another way has to be taken."""
        compiled = self.execution.compiled
        if self._variant != compiled.first:
            self._variant, self._missed = compiled.first, 0
            self._overlapped = self._overlapping(compiled.bodies.get(compiled.first))
        overlapped = self._overlapped
        if overlapped is None or self._missed >= _MISSED or self.direct is None:
            return None
        alive: list[object] = []
        with self.direct.lock:  # slots remember what they saw last
            given: list[Operand] = [
                operands[each.operand] if each.reader is not None else each.words(operands, length, alive)
                for each in self.slots
            ]
        found = overlapped.run(given, length)
        self._missed = 0 if found is not None else self._missed + 1
        return found

    def _overlapping(self, body: Body | None) -> Overlapped | None:
        if body is None or not isinstance(body.program, Program) or not fits(body.kernel):
            return None
        readers = [each.reader for each in self.slots]
        parallel = backend_of(replace(self.options, on="parallel"))
        threads = 1 if self.options.on == "simd" else parallel.threads
        return Overlapped(body.kernel, body.program, self.execution.job.tables, readers, threads)

    def _launched(self, operands: Sequence[object], displays: Sequence[Display]) -> object:
        """By the way of every loop, without compiling."""
        pairs = zip(self.loop.bound.site.stages, displays, strict=True)
        stages = tuple(BoundStage(site, callee, args, kwargs) for site, (callee, args, kwargs) in pairs)
        workspace = Workspace(self.filename)
        workspace.table_columns = list(self.execution.job.tables)
        try:
            now = [slot.now(operands[slot.operand], workspace) for slot in self.slots]
        except (NotCompilable, BeyondInt64):
            raise Again from None
        renewed = {id(old): new for old, new in zip(self.execution.fused.sources, now, strict=True)}
        pipeline = self.loop.pipeline
        pipeline = replace(
            pipeline,
            source=self._renewed(pipeline.source, renewed),
            stages=tuple(
                replace(stage, sources=tuple(self._renewed(each, renewed) for each in stage.sources))
                if stage.sources
                else stage
                for stage in pipeline.stages
            ),
        )
        bound = replace(self.loop.bound, source=operands[0], stages=stages)
        loop = replace(self.loop, bound=bound, source=operands[0], stages=stages, pipeline=pipeline)
        fused = replace(self.execution.fused, sources=tuple(now))
        ran = self.execution
        try:
            ready = Ready(ran.compiled, fused, True, [loop], workspace, self.options, Trace())
            execution = run_compiled(ready, ran.backend)
        except Unlike:
            raise Again from None
        if execution.fell_back or execution.warnings:
            raise Again  # with its warnings
        return execution.values[0]

    def _renewed(self, source: Source, renewed: dict[int, Source]) -> Source:
        for old in self.execution.fused.sources:
            if (old.kind, old.key) == (source.kind, source.key):
                return renewed[id(old)]
        raise Again


def given(bound: Bound) -> list[object]:
    """What the stages are given that is no source."""
    return [each for stage in bound.stages if stage.site.name != "zip" for each in stage.args]


def prepare(bound: Bound, outcome: Outcome, options: Options, filename: str) -> Prepared | None:
    """The statement that gave this outcome, ready to be run again; None where it was not one whole loop on the CPU."""
    execution = outcome.execution
    if execution is None or not outcome.whole or len(outcome.loops) != 1 or execution.warnings:
        return None
    (loop,) = outcome.loops
    plain = loop.built.plain and len(loop.stages) == len(bound.stages)
    if not plain or not isinstance(execution.backend, Cpu) or options.repeat != 1 or options.on == "all":
        return None
    if any(stage.kwargs or stage.callee is not None for stage in bound.stages):
        return None
    arguments = given(bound)
    operands: list[object] = [bound.source]
    for stage in bound.stages:
        operands += stage.args if stage.site.name == "zip" else ()
    assert outcome.workspace is not None
    known = captured(arguments, outcome.workspace.varying)
    slots = slots_of(operands, outcome, execution)
    if known is None or slots is None:
        return None
    words, twins = slots
    found = tuple(each for each in words if isinstance(each, Slot))
    numbers = tuple(each for each in words if isinstance(each, Number))
    free = {each.where: each for each in known.free}
    for number in numbers:
        if number.where not in free:
            return None
        number.free = free[number.where]
    shape = tuple((stage.site.name == "zip", len(stage.args)) for stage in bound.stages)
    gather = gathering(execution, options, loop)
    compiled = execution.compiled
    direct = None
    if gather is not None and compiled.first in compiled.bodies:
        body = compiled.bodies[compiled.first]
        # A loop of an element's own may take any time, and has to be interrupted: not on this thread.
        if not abi.layout(body.kernel).turns and isinstance(body.program, Program):
            direct = Direct(body.kernel, body.program, execution.job.tables)
    listed = gather is not None and not numbers and execution.fused.outputs[0].sink.kind == "to_list"
    kept = replace(
        execution, values=[], columns=[], job=replace(execution.job, columns=(), learn=compiled.learn)
    )
    large = min(each.length for each in execution.fused.sources) >= STREAMED
    loop = replace(loop, source=None, bound=replace(loop.bound, source=None, stages=()), stages=())
    wide = None if direct is None or numbers else spreading(kept, found, loop, options)
    return Prepared(
        known,
        shape,
        found,
        twins,
        loop,
        kept,
        numbers,
        words,
        direct,
        gather,
        large,
        options,
        filename,
        listed,
        wide,
    )


__all__ = ["Again", "Prepared", "prepare"]
