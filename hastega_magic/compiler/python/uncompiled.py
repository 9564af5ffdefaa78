"""Stages that are left to Python, within a statement whose others are loops; what the report says of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol, cast

from hastega_magic.compiler.backends import forget_inputs
from hastega_magic.compiler.execute import Unasked
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.outcome import Part
from hastega_magic.compiler.python import lockstep
from hastega_magic.compiler.python.barriers import all_noted, name_element, note_signature, noted
from hastega_magic.compiler.python.by_numpy import checked_by_python, numpy_value, steps_checked
from hastega_magic.compiler.python.empty import typed
from hastega_magic.compiler.python.lockstep import Before, Behind, in_pass, one_by_one
from hastega_magic.compiler.python.watching import Watch
from hastega_magic.compiler.reporting import describe
from hastega_magic.compiler.reporting.graphs import Pictures
from hastega_magic.compiler.sources.kinds import kind_of
from hastega_magic.compiler.statement import Bound, Loop, calls_of
from hastega_magic.compiler.statement_run import StatementRun
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import (
    NOWHERE,
    BeyondInt64,
    NotCompilable,
    Reason,
    Span,
    StrictError,
    UsageError,
    WideConstant,
)
from hastega_magic.frames import reraise_signal
from hastega_magic.ir.pipeline import RUNNING_SINKS
from hastega_magic.records import dataclass
from hastega_magic.report.escape import quoted
from hastega_magic.runtime import python
from hastega_magic.runtime.numpy import NoNumpyForm
from hastega_magic.syntax.loops.build import BoundStage
from hastega_magic.trace import Trace


class Seeing(Protocol):
    """What elements go through as they come from one stage to the next, both of which take them one by one."""

    count: int
    """Of the stages before."""

    def __call__(self, values: Iterator[object], /) -> Iterator[object]:
        """The elements."""
        ...


def by_python(
    value: object,
    stages: Sequence[BoundStage],
    behind: Behind | None = None,
    before: Before | None = None,
    watch: Seeing | None = None,
    *,
    tells: bool = True,
) -> tuple[object, int]:
    """What Python computes, with a note where it calls a function otherwise than that is written.

    And how many of the stages behind are in it, which go on in step with these for as long as somebody could tell.
    `tells`: notes say of which element an error is.
    """
    given = stages
    if tells:
        stages = all_noted(stages, value)
    try:
        if watch is not None:
            calls, passing = calls_of(stages), cast(Any, value)
            for name, callee, args, kwargs in calls[: watch.count]:
                passing = python.apply(name, passing, args, kwargs, callee)
            if watch.count == len(calls):  # no stage behind makes anything of what goes by
                return python.collected(watch(passing), calls, value), 0
            return python.run(watch(passing), calls[watch.count :]), 0
        if not one_by_one(stages[0]) or (before is None and (behind is None or not behind.stages)):
            return python.run(value, calls_of(stages)), 0
        return lockstep.run(value, stages, behind or Behind(()), before)
    except Exception as error:
        if isinstance(error, TypeError):
            note_signature(error, [*stages, *(() if behind is None else behind.stages)])
        if tells and before is None:
            name_element(error, given, value)
        raise


@dataclass(frozen=True)
class UncompiledStages:
    """Runs stages by Python. `warn`: warns at a statement's line."""

    options: Options
    trace: Trace
    pictures: Pictures
    warn: Callable[[str, Bound], None]

    def tell(self, stage: str, reason: Reason) -> None:
        """Say in the report what Python runs, and why."""
        describe.describe_barrier(stage, reason, self.trace, self.options.int_mode)

    def lazily(
        self,
        bound: Bound,
        value: object,
        stages: Sequence[BoundStage],
        why: str,
        watch: Seeing | None = None,
    ) -> object:
        """All stages that are left, one element after the other; StrictError where that is not to be."""
        reason = Reason(why, bound.site.span)
        self.tell(bound.site.source_text, reason)
        if self.options.strict:
            raise StrictError(f"{quoted(bound.site.source_text)} is not compiled: {reason.text}")
        found, _ = self._in_step(value, stages, Behind(()), watch=watch)
        self.pictures.python(stages, why, bound.site.source_text, value, found)
        return found

    def _in_step(
        self,
        value: object,
        stages: Sequence[BoundStage],
        behind: Behind,
        before: Before | None = None,
        watch: Seeing | None = None,
        *,
        tells: bool = True,
    ) -> tuple[object, int]:
        began = time.perf_counter()
        try:
            with self.trace.phase("kernel", by_python=True):
                found, more = by_python(value, stages, behind, before, watch, tells=tells)
        finally:
            forget_inputs()
        ran = [*stages, *behind.stages[:more]]
        describe.describe_python([stage.site.text for stage in ran], time.perf_counter() - began, self.trace)
        return found, more

    def by_numpy(self, bound: Bound, loop: Loop, workspace: Workspace, value: object) -> object:
        """The loop as NumPy calls on whole arrays; by CPython where an operator has no such form."""
        try:
            with self.trace.phase("kernel"):
                return numpy_value(loop, workspace, self.options, self.trace)
        except BeyondInt64 as error:
            if workspace.unasked:
                raise Unasked from None
            if self.options.int_mode != "checked" or not isinstance(error, WideConstant):
                raise
            why = str(error)
        except (NoNumpyForm, NotCompilable) as error:
            why = str(error)
        runs = loop.pipeline.sink.kind in RUNNING_SINKS
        if self.options.int_mode == "checked" and (runs or loop.scalars is None):
            return self.checked(loop, workspace, why)
        self._tell_of(loop, why, self.options.int_mode)
        if workspace.unasked and runs:
            raise Unasked
        with self.trace.phase("kernel", by_python=True):
            return python.run(value, bound.calls(noted(self.exact(loop, workspace))))

    def checked(self, loop: Loop, workspace: Workspace, why: str) -> object:
        """The loop's value by Python (`why`), its elements having been looked at as `--int checked` has it."""
        self._tell_of(loop, why, "exact")
        runs = loop.pipeline.sink.kind in RUNNING_SINKS
        if workspace.unasked and runs:
            raise Unasked
        with self.trace.phase("kernel", by_python=True):
            if runs:
                return steps_checked(loop, workspace, self.options, self.trace)
            return checked_by_python(loop, workspace, self.options)

    def _tell_of(self, loop: Loop, why: str, mode: str) -> None:
        """The stages of a loop are Python's; `mode`: as far as it does not reach them."""
        sites = [stage.site for stage in loop.stages]
        if sites:  # any of them may be it
            span = Span(*sites[0].span[:2], *sites[-1].span[2:])
            text, reason = " |> ".join(site.text for site in sites), Reason(why, span)
        else:
            text, reason = loop.pipeline.source.name, Reason(why)
        describe.describe_barrier(text, reason, self.trace, mode)

    def exact(self, loop: Loop, workspace: Workspace) -> list[BoundStage]:
        """The loop's stages, in which NumPy's numbers that functions read count as Python's."""
        from hastega_magic.compiler.python.numpy_as_python import exactly

        return exactly(loop, workspace)

    def barrier(
        self, run: StatementRun, stages: Sequence[BoundStage], reason: Reason, before: int = 0
    ) -> None:
        """Go on by stages that have no compiled form, and by those that go in step with them; StrictError if not to.

        `before`: how many of them could be compiled.
        """
        stage = stages[before]
        if reason.span == NOWHERE:
            reason = Reason(reason.text, stage.site.span)
        self.tell(stage.site.text, reason)
        if self.options.strict:
            raise StrictError(f"{quoted(stage.site.text)} is not compiled: {reason.text}")
        kind = kind_of(run.value) if stage.site.known else None
        watch = Watch.of(run.bound.stages)
        found, more, behind = self._as_far_as(run, stages, reason.text)
        ran = run.rest[: len(stages) + more]
        here = run.part(ran)
        found = typed(found, here, run.value)
        part = Part(replace(here, source=None), kind=kind, behind=behind, more=more)
        # What is kept for later runs has to know the values that the loops before were made for.
        part = None if watch.changed() else part
        run.goes_on(found, run.rest[len(ran) :], part=part, of_python=True)

    def _as_far_as(
        self, run: StatementRun, stages: Sequence[BoundStage], why: str, compiled: bool = False
    ) -> tuple[object, int, Behind]:
        """The value of the stages and of as many of those behind as go in step with them."""
        behind = Behind(in_pass(run.rest, len(stages)))
        alone = compiled and run.looped is None and not behind.stages
        found, more = (self._unnoted(run, stages) if alone else None) or self._in_step(
            run.given, stages, behind, run.looped
        )
        ran = run.rest[: len(stages) + more]
        self.pictures.python(ran, why, run.bound.site.source_text, run.value, found)
        return found, more, behind

    def _unnoted(self, run: StatementRun, stages: Sequence[BoundStage]) -> tuple[object, int] | None:
        """By loops of C alone, in half of the time; None where an element raises, of which a note is to tell."""
        try:
            return self._in_step(run.given, stages, Behind(()), tells=False)
        except Exception as error:
            reraise_signal(error)
            return None

    def beyond(
        self, run: StatementRun, stages: Sequence[BoundStage], why: str, compiled: bool = False
    ) -> None:
        """Go on by stages over Python ints, or with constants, that int64 does not hold.

        `compiled`: a loop was made of the stages, so that nobody can tell how often their functions are called.
        """
        if self.options.int_mode == "checked":
            raise OverflowError(why)
        if self.options.int_mode == "wrap":
            raise UsageError(f"{why}, which --int wrap cannot wrap")
        text = f"{why}; these stages were computed by Python, exactly"
        self.trace.add("warning", text=text)
        self.trace.add("int", mode=self.options.int_mode, proved=False, guarded=True, fell_back=True)
        self.warn(text, run.bound)
        found, more, _ = self._as_far_as(run, stages, why, compiled)
        run.goes_on(found, run.rest[len(stages) + more :], of_python=True)


__all__ = ["UncompiledStages", "by_python"]
