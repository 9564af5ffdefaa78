"""A statement that one loop computed, made ready to be run again: over another source of the same kind.

What decides whether the loop fits is looked at, and no more: the code of the functions, the values that they read, the
kind and range of the sources. Small loops of common kinds are then called directly; all others go the way of every
loop, from where it is compiled.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hastega_magic.compiler.backends import Cpu
from hastega_magic.compiler.execute import Execution, Ready
from hastega_magic.compiler.gathering import Gather, gathering
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.outcome import Outcome
from hastega_magic.compiler.run import run_compiled
from hastega_magic.compiler.statement import Bound, Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import BeyondInt64, NotCompilable
from hastega_magic.interval import Interval
from hastega_magic.ir import abi
from hastega_magic.ir.pipeline import Source
from hastega_magic.passes.schedule import STREAMED
from hastega_magic.runtime.columnar import numbers
from hastega_magic.runtime.cpu import Program
from hastega_magic.runtime.direct import MOST, Direct
from hastega_magic.runtime.lists import WORTH, Reader, reader
from hastega_magic.runtime.sources import AnyArray, Unlike
from hastega_magic.syntax.build import BoundStage
from hastega_magic.syntax.captured import Captured, Free, Where, captured
from hastega_magic.trace import Trace

Display = tuple[Any, tuple[Any, ...], Mapping[str, Any]]
"""A stage as its site's code hands it over: callee or None, arguments, keyword arguments."""


class Again(Exception):
    """It does not fit, or something came up: the statement is to be run as for the first time."""


@dataclass
class _Slot:
    """A source of the loop. `operand`: which of the statement's sources (0: the source, then those of `zip`)."""

    operand: int
    source: Source
    interval: Interval | None
    """What the compiled code takes for granted."""
    reader: Reader | None = None
    """Of lists: native code that reads their elements, and looks at the types."""
    _last: Callable[[], object] = lambda: None
    _words: tuple[int, int] = (0, 0)

    def length(self, data: Any) -> int:
        """The number of elements; Again if the object is of another kind."""
        kind, storage = self.source.kind, self.source.storage
        if kind == "array":
            if type(data) is not np.ndarray or data.ndim != 1:
                raise Again
            array: AnyArray = data
            assert storage is not None
            flags = array.flags
            if array.dtype != storage.name or not (
                flags.c_contiguous and flags.aligned and array.dtype.isnative
            ):
                raise Again
            return len(array)
        if kind == "range":
            if type(data) is not range or not data or self.interval is None:
                raise Again
            first, last = data[0], data[-1]
            if first > last:
                first, last = last, first
            lo, hi = self.interval.lo, self.interval.hi
            if (lo is not None and first < lo) or (hi is not None and last > hi) or abs(data.step) >= 1 << 62:
                raise Again
            return len(data)
        if kind == "list":
            if type(data) not in (list, tuple) or not data:
                raise Again
            kind = _ELEMENT.get(storage.name if storage else "")
            if type(data[0]) is not kind or (self.reader is None and set(map(type, data)) != {kind}):
                raise Again
            return len(data)
        raise Again

    def now(self, data: Any, workspace: Workspace) -> Source:
        """The description of this run's elements."""
        if self.reader is not None and len(data) >= WORTH:
            return workspace.taken(data, self.source)
        return workspace.source(data, self.source.name)

    def words(self, operands: Sequence[Any], alive: list[object]) -> tuple[int, int]:
        """Address and stride, or start and step."""
        data = operands[self.operand]
        if type(data) is range:
            return data.start, data.step
        if type(data) is np.ndarray:
            if self._last() is not data:  # NumPy moves no array that somebody refers to
                self._words = data.ctypes.data, data.strides[0]
                self._last = weakref.ref(data)
            return self._words
        assert self.source.storage is not None
        if self.reader is not None:
            array = np.empty(len(data), self.source.storage.name)
            if not self.reader.read(data, 0, len(data), array):
                raise Again
        else:
            try:
                array = np.array(data, self.source.storage.name)
            except OverflowError:
                raise Again from None
        alive.append(array)
        return array.ctypes.data, array.itemsize


@dataclass
class _Number:
    """A captured number that is given to the loop: how it is read, and what it may be."""

    where: Where
    interval: Interval | None
    room: Any
    """The memory that the loop reads."""
    free: Free | None = None
    value: Any = None

    def read(self, arguments: Sequence[object]) -> None:
        """Look at it; Again if it is of another kind."""
        assert self.free is not None
        value = self.free.read(arguments)
        if type(value) is not self.free.type or (self.interval is not None and value not in self.interval):
            raise Again
        self.value = value

    def words(self, operands: Sequence[Any], alive: list[object]) -> tuple[int, int]:
        """Its address; the same for all elements."""
        self.room.value = self.value
        return ctypes.addressof(self.room), 0


_PLAIN = frozenset({range, list, tuple, np.ndarray})
_ELEMENT: dict[str, type] = {"int64": int, "bool": bool, "float64": float}


@dataclass
class Prepared:
    """The loop, what it depends on, and how its result is put together."""

    captured: Captured
    shape: tuple[tuple[bool, int], ...]
    """Of each stage whether its arguments are sources, and how many there are."""
    slots: tuple[_Slot, ...]
    twins: tuple[tuple[int, int], ...]
    """Sources that are one: they must be the same object."""
    loop: Loop
    execution: Execution
    numbers: tuple[_Number, ...]
    words: tuple[_Slot | _Number, ...]
    """The loop's sources in their order."""
    direct: Direct | None
    gather: Gather | None
    large: bool
    options: Options = field(default_factory=Options)
    filename: str = ""

    def run(self, source: object, displays: Sequence[Display]) -> object:
        """The result; Again where it must be found another way; what an element raises."""
        arguments: list[object] = []
        operands: list[object] = [source]
        for (callee, args, kwargs), (zips, count) in zip(displays, self.shape, strict=True):
            if kwargs or callee is not None or len(args) != count:
                raise Again
            (operands if zips else arguments).extend(args)
        _read(operands)
        if not self.captured.fits(arguments):
            raise Again
        for first, second in self.twins:
            if operands[first] is not operands[second] and not _equal_ranges(
                operands[first], operands[second]
            ):
                raise Again
        length = min([slot.length(operands[slot.operand]) for slot in self.slots])
        if not length or (length >= STREAMED) != self.large:
            raise Again
        direct = self.direct
        if self.numbers and (direct is None or length > MOST):
            raise Again  # not to be compiled again, but put together anew
        if direct is None or self.gather is None or length > MOST or not direct.lock.acquire(blocking=False):
            return self._launched(operands, displays)
        try:
            for number in self.numbers:
                number.read(arguments)
            alive: list[object] = []
            words: list[int] = []
            for source_of in self.words:
                words += source_of.words(operands, alive)
            arrays = direct.run(words, length)
            if arrays is None:
                raise Again
            return self.gather(direct, arrays)
        finally:
            direct.lock.release()

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
    slots = _slots(operands, outcome, execution)
    if known is None or slots is None:
        return None
    words, twins = slots
    found = tuple(each for each in words if isinstance(each, _Slot))
    numbers = tuple(each for each in words if isinstance(each, _Number))
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
    kept = replace(
        execution, values=[], columns=[], job=replace(execution.job, columns=(), learn=compiled.learn)
    )
    large = min(each.length for each in execution.fused.sources) >= STREAMED
    loop = replace(loop, source=None, bound=replace(loop.bound, source=None, stages=()), stages=())
    return Prepared(
        known, shape, found, twins, loop, kept, numbers, words, direct, gather, large, options, filename
    )


def _slots(
    operands: Sequence[object], outcome: Outcome, execution: Execution
) -> tuple[tuple[_Slot | _Number, ...], tuple[tuple[int, int], ...]] | None:
    """Which operand each source of the loop is; None where that is not clear."""
    assert outcome.workspace is not None
    owner: dict[tuple[str, int], int] = {}
    twins: list[tuple[int, int]] = []
    for number, operand in enumerate(operands):
        try:
            source = outcome.workspace.source(operand)
        except NotCompilable:
            return None
        key = source.kind, source.key
        if key in owner:
            twins.append((owner[key], number))
        else:
            owner[key] = number
    found: list[_Slot | _Number] = []
    numbers = {id(each): (where, each) for where, each in outcome.workspace.parameters.items()}
    leaves = execution.compiled.state.leaves.sources
    for slot, source in enumerate(execution.fused.sources):
        key = source.kind, source.key
        if source.layout == "scalar" and source.key in numbers:
            where, number = numbers[source.key]
            room = (ctypes.c_int64 if isinstance(number.value, int) else ctypes.c_double)()
            found.append(_Number(where, number.interval, room))
            continue
        if key not in owner or source.layout != "dense":
            return None
        interval = leaves[slot] if slot < len(leaves) else None
        kind = _ELEMENT.get(source.storage.name) if source.kind == "list" and source.storage else None
        read = None if kind is None else reader(kind)
        found.append(_Slot(owner[key], replace(source, key=0), interval, read))
    if sum(isinstance(each, _Slot) for each in found) != len(owner):
        return None
    return tuple(found), tuple(twins)


def _read(operands: list[Any]) -> None:
    """In place of Series and Arrow arrays the arrays that they are; of the same object the same."""
    found: dict[int, object] = {}
    for number, operand in enumerate(operands):
        if type(operand) not in _PLAIN:
            key = id(operand)
            if key not in found:
                found[key] = numbers(operand)
            operands[number] = found[key]


def _equal_ranges(a: object, b: object) -> bool:
    return type(a) is range and type(b) is range and (a.start, a.stop, a.step) == (b.start, b.stop, b.step)


__all__ = ["Again", "Prepared", "prepare"]
