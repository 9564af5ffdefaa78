"""A statement that one loop computed, made ready to be run again: over another source of the same kind.

What decides whether the loop fits is looked at, and no more: the code of the functions, the values that they read, the
kind and range of the sources. Small loops of common kinds are then called directly; all others go the way of every
loop, from where it is compiled.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import field, replace
from typing import Any

from hastega_magic.compiler.backends import Cpu, backend_of
from hastega_magic.compiler.execute import Ready, execute
from hastega_magic.compiler.fastpath.arg_extremes import OFTEN, is_sought, searched
from hastega_magic.compiler.fastpath.given_objects import NAN, HoldsNan, exact, hands_elements_on
from hastega_magic.compiler.fastpath.guards import Display, RunGuards, given
from hastega_magic.compiler.fastpath.means import Mean, found_by
from hastega_magic.compiler.fastpath.reading import Given, Whole
from hastega_magic.compiler.fastpath.slots import DoesNotFit, Number
from hastega_magic.compiler.fastpath.small_loop import (
    Before,
    ResultUnknown,
    SmallLoop,
    Troubled,
    small_loop,
)
from hastega_magic.compiler.fastpath.stub import USUAL, Stub, stub
from hastega_magic.compiler.fastpath.threaded import ThreadedLoop
from hastega_magic.compiler.loops import Body
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.run import run_compiled
from hastega_magic.compiler.statement import Bound, Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import BeyondInt64, IntegerOverflowWarning, NotCompilable
from hastega_magic.ir.fused import Fused
from hastega_magic.passes.schedule import STREAMED
from hastega_magic.records import changed, dataclass
from hastega_magic.runtime.cpu import Program
from hastega_magic.runtime.cpu.direct import MOST
from hastega_magic.runtime.objects.fields import Field
from hastega_magic.runtime.objects.overlapped import Made, Operand, Overlapped, fits
from hastega_magic.runtime.signals import with_signals
from hastega_magic.runtime.sources import Unlike
from hastega_magic.syntax.closures.contained import Where
from hastega_magic.syntax.loops.build import BoundStage, View
from hastega_magic.syntax.site import StageSite
from hastega_magic.trace import Trace

HOT = 32
"""After so many runs over few elements a stub is written."""

_HERE = Cpu("simd", 1)

_MISSED = 3
"""After so many failures in a row a list is no longer made while it is computed."""

_FIRST = 1 << 11, 1 << 15
"""Elements over which `any` and `all` are asked first, where there are many times as many, as Python may need no more.

What is computed in vain is a small part of the rest then.
"""
_MANY_TIMES = 8


@dataclass
class Prepared:
    """The loop, what it depends on, and how its result is put together."""

    guards: RunGuards
    small: SmallLoop | None
    """How it runs over few elements."""
    before: tuple[Before, ...] = ()
    """Over few elements, the loops that have to go before."""
    options: Options = field(default_factory=Options)
    filename: str = ""
    listed: bool = False
    """Its result is a list, which may be made while it is computed."""
    threaded: ThreadedLoop | None = None
    """How it runs over many elements; None where that is left to the usual way."""
    means: tuple[Mean, ...] = ()
    """Over many elements, the loops that have to go before."""
    decided: bool | None = None
    """The value from which on Python asks for no more elements, if there is one."""
    gives: bool = False
    """Whether objects that ordinary code is given may be among its results, and be NaN."""
    mends: bool = False
    """Whether elements that need Python are seen to; otherwise that is left to another way."""
    place: tuple[str, int] | None = None
    """File and line that its warnings name; None where nobody is to hear of them."""
    sites: tuple[StageSite, ...] = ()
    """The stages of the whole statement, as it is written: sentences tell of elements and stages by these."""
    _overlapped: Overlapped | None = None
    _variant: int = -1
    """The body of that."""
    _missed: int = 0
    """How often that failed, one time after the other."""
    _runs: int = 0
    """How often it ran over few elements, before it had a stub."""
    _stub: Stub | None = None

    def run(self, source: object, displays: Sequence[Display]) -> object:
        """The result; DoesNotFit where it must be found another way; what an element raises.

        HoldsNan where NaN is in it that is not the object that Python would have.
        """
        if self._stub is not None:
            found = self._stub(source, displays)
            if found is not USUAL:
                return exact(found) if self.gives else found
        if self.threaded is not None:
            self.threaded.rouse()
        operands, arguments, length = self.guards.fitting(source, displays)
        if self.decided is not None and self._soon(operands, arguments, length, displays):
            return self.decided
        if length > MOST and (self.guards.simple or self._spreads(length)):
            made = self._made(operands, arguments, length) if self.listed else None
            if made is not None:
                if self.gives and made.nan:
                    raise HoldsNan(NAN)
                return made.objects
            found = self._over_many(operands, arguments, length, displays)
        else:
            found = self._over_few(operands, arguments, length, displays)
        return exact(found) if self.gives else found

    def _spreads(self, length: int) -> bool:
        """Whether a loop over more than the elements of its sources may go to all threads: its code streams or not."""
        return self.threaded is not None and (length >= STREAMED) == self.guards.large

    def _over_few(
        self, operands: Sequence[Any], arguments: Sequence[object], length: int, displays: Sequence[Display]
    ) -> object:
        small = self.small
        if small is None or (length > MOST and small.view_rule is None):
            return self._launched(operands, arguments, displays)
        troubled, known = False, dict[int, object]()
        try:
            self._runs += 1
            if self._runs == HOT:
                self._stub = stub(self.guards, small, self.before, operands)
            for each in self.before:
                known[each.stage] = each.small.run(operands, arguments, length, displays, known)
            return small.run(operands, arguments, length, displays, known)
        except ResultUnknown:
            pass
        except Troubled:
            if not self.mends or len(known) < len(self.before):
                raise
            troubled = True
        # Not where that is handled: it would be the context of what an element raises.
        if not troubled:
            return self._launched(operands, arguments, displays)
        place = (None, 0) if small.view_rule is None else small.view_rule.at(operands, known, arguments)
        # Another variant may be compiled.
        found = with_signals(lambda: self._launched(operands, arguments, displays, *place, here=True))
        self._follow()
        return found

    def _follow(self) -> None:
        """Go on with the variant that has been learned: where Python computed at first, none was."""
        compiled = self.guards.execution.compiled
        body = compiled.bodies.get(compiled.first)
        if self.small is None or is_sought(self.guards.loop):  # the loop over few is another one
            return
        if body is not None and not self.small.direct.runs(body.program):
            ran, loop, words = self.guards.execution, self.guards.loop, self.guards.words
            lock = self.small.direct.lock
            self.small = small_loop(
                ran, loop, self.options, words, self.small.view_rule, self.guards.arrays, lock
            )
            self._stub, self._runs = None, 0

    def _search(self, loop: Loop, fused: Fused, workspace: Workspace) -> None:
        """Once it has run often over few elements, these are stored, which takes a loop of its own."""
        self._runs += 1
        sought = searched(loop, fused, workspace, self.options) if self._runs == OFTEN else None
        if sought is not None:
            ran, known = self.guards.execution, self.guards
            self.small = small_loop(
                ran, known.loop, self.options, known.words, None, known.arrays, sought=sought
            )
            self._runs = 0

    def changed(self, bound: Bound) -> set[Where] | None:
        """Variables whose numbers its functions found changed; None where anything else is different."""
        arguments = given(bound)
        known = self.guards.captured
        return known.changed(arguments) if len(known.arguments) == len(arguments) else None

    @property
    def numbers(self) -> tuple[Number, ...]:
        """Captured numbers that its loop is given."""
        return self.guards.numbers

    @property
    def holds_data(self) -> bool:
        """Whether arrays or objects of the user's stay alive with it."""
        tables, others = self.guards.execution.job.tables, self.guards.arrays
        return self.guards.captured.holds_data or len(tables) > len(others)

    def _soon(
        self, operands: Sequence[Any], arguments: Sequence[object], length: int, displays: Sequence[Display]
    ) -> bool:
        """Whether the first elements decide. Where something comes up among them, all are gone through as ever."""
        if self.small is None or self.small.view_rule is not None:
            return False
        try:
            return any(
                self.small.run(operands, arguments, first, displays) is self.decided
                for first in _FIRST
                if length >= _MANY_TIMES * first
            )
        except DoesNotFit:
            return False

    def _over_many(
        self, operands: Sequence[Any], arguments: Sequence[object], length: int, displays: Sequence[Display]
    ) -> object:
        threaded = self.threaded
        if threaded is not None:
            known = found_by(self.means, operands, arguments, displays, length)
            if known is not None:
                words = self.guards.words
                ran = threaded.run(words, operands, arguments, displays, length, known=known)
                if ran is not None:
                    return ran.value
        return self._launched(operands, arguments, displays)

    def _made(self, operands: Sequence[Any], arguments: Sequence[object], length: int) -> Made | None:
        """A list, made while it is computed; None where another way has to be taken."""
        compiled = self.guards.execution.compiled
        if self._variant != compiled.first:
            self._variant, self._missed = compiled.first, 0
            self._overlapped = self._overlapping(compiled.bodies.get(compiled.first))
        overlapped = self._overlapped
        if overlapped is None or self._missed >= _MISSED or self.small is None:
            return None
        if any(isinstance(each, Field) for each in operands):  # native code reads lists alone meanwhile
            return None
        run = Given(operands, arguments, length, None, {}, [], alone=False)
        given: list[Operand] = [
            operands[each.slot.operand]
            if isinstance(each, Whole) and each.slot.reader is not None
            else each.given(run)
            for each in self.guards.words
        ]
        found = overlapped.run(given, length)
        self._missed = 0 if found is not None else self._missed + 1
        return found

    def _overlapping(self, body: Body | None) -> Overlapped | None:
        if body is None or not isinstance(body.program, Program) or not fits(body.kernel):
            return None
        readers = [each.slot.reader if isinstance(each, Whole) else None for each in self.guards.words]
        parallel = backend_of(replace(self.options, on="parallel"))
        threads = 1 if self.options.on == "simd" else parallel.threads
        tables, hands_on = self.guards.execution.job.tables, hands_elements_on(self.guards.loop.pipeline)
        return Overlapped(body.kernel, body.program, tables, readers, threads, hands_on)

    def _launched(
        self,
        operands: Sequence[object],
        arguments: Sequence[object],
        displays: Sequence[Display],
        view: View | None = None,
        tail: int = 0,
        here: bool = False,
    ) -> object:
        """By the way of every loop, without compiling; `here`: on this thread, and there is nothing to choose.

        `view`, `tail`: as `RunGuards.over` takes them.
        """
        first = self.guards.loop.bound
        pairs = zip(first.site.stages, displays, strict=True)
        stages = tuple(BoundStage(site, callee, args, kwargs) for site, (callee, args, kwargs) in pairs)
        workspace = Workspace(self.filename)
        site = changed(first.site, stages=self.sites or first.site.stages)
        bound = changed(first, site=site, source=operands[0], stages=stages)
        loop, fused = self.guards.over(operands, arguments, bound, workspace, view, tail)
        ran = self.guards.execution
        try:
            ready = Ready(ran.compiled, fused, True, [loop], workspace, self.options, Trace())
            execution = execute(ready, _HERE) if here else run_compiled(ready, ran.backend)
        except (Unlike, BeyondInt64, NotCompilable):
            raise DoesNotFit from None
        if execution.fell_back or execution.warnings:
            if not self.mends:
                raise DoesNotFit
            if self.place is not None:
                file, line = self.place
                for text in execution.warnings:
                    warnings.warn_explicit(text, IntegerOverflowWarning, file, line)
        elif self.small is None and self.guards.simple and is_sought(loop):
            self._search(loop, fused, workspace)
        return execution.values[0]


__all__ = ["HOT", "Prepared"]
