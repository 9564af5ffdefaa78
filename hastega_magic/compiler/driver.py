"""Statements in, values out: groups fused where they can be, stages that Python must run between loops."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from hastega_magic.compiler import adaptive
from hastega_magic.compiler.backends import forget_inputs
from hastega_magic.compiler.execute import Execution, Unasked
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.outcome import Outcome, Part
from hastega_magic.compiler.python.barriers import FORMLESS, LOOKED_AT, arranged, may_end_early, together
from hastega_magic.compiler.python.empty import by_python, stored
from hastega_magic.compiler.reporting import describe
from hastega_magic.compiler.reporting.graphs import Pictures
from hastega_magic.compiler.reporting.lanes import lane_view
from hastega_magic.compiler.reporting.stacked import MOST, LoopTexts
from hastega_magic.compiler.run import run_loops
from hastega_magic.compiler.sources.kinds import are_beside
from hastega_magic.compiler.sources.long_ranges import within_reach
from hastega_magic.compiler.sources.places import TAKES_FEW, leaves_most, over_fields, over_places, over_rows
from hastega_magic.compiler.sources.probe import found
from hastega_magic.compiler.sources.short_circuit import in_stretches, over_stretches
from hastega_magic.compiler.statement import Bound, Loop, build_loop, sized
from hastega_magic.compiler.statement_run import StatementRun
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import (
    BeyondInt64,
    IntegerOverflowWarning,
    NotCompilable,
    Reason,
    StrictError,
    WideConstant,
)
from hastega_magic.frames import reraise_signal
from hastega_magic.records import dataclass
from hastega_magic.runtime.columnar import NullsError
from hastega_magic.runtime.numpy import NoNumpyForm
from hastega_magic.runtime.python_calls import iterated
from hastega_magic.syntax.closures.contained import Where
from hastega_magic.syntax.loops.build import BoundStage
from hastega_magic.syntax.stages import no_stage
from hastega_magic.syntax.values.values import ALL_PYTHONS
from hastega_magic.trace import Trace, is_ours

if TYPE_CHECKING:
    from hastega_magic.compiler.python.uncompiled import UncompiledStages


@dataclass
class Driver:
    """Runs bound statements with the options, and tells the trace."""

    options: Options
    filename: str
    trace: Trace
    wanted: frozenset[str] = frozenset()
    """Variables that pipelines of the cell read after the next loop; no Python code runs before them."""
    pictures: Pictures = field(default_factory=Pictures)
    """The graphs of the statement that runs alone."""
    current: Bound | None = None
    """The statement that runs, or ran last: where an error comes from."""
    warn_at: tuple[str, int] | None = None
    """File and line that warnings name, where they do not come from the text."""
    silent: bool = False
    """No warnings."""
    scalars: frozenset[int] | None = None
    sparing: float = 0.0
    """Both as in `Workspace`."""
    offset: int = 0
    """Number of the first element of the part of a source that is run over."""
    broken: Outcome | None = None
    """Of the statement that ran alone, where an element raised."""
    tentative: bool = False
    """What fails is computed anew in another way: Python's stages, which may do something, are not to run."""
    compares: bool = False
    """Python is timed beside its loops: what they read in another form stays until then."""
    looking: bool = False
    """All that is asked is what `--int checked` raises: Python may look at elements, strict or not."""

    def run_alone(
        self, bound: Bound, source: object, beyond: str = "", left: Sequence[BoundStage] = ()
    ) -> Outcome:
        """One statement: loops as long as they can be, Python for those between and (`beyond`) `left`."""
        number = self.trace.next_group()
        describe.describe_group([bound], self.trace)
        self.current, self.pictures = bound, Pictures(not self.options.quiet)
        whole, (bound, source) = bound, within_reach(bound, source)
        if self.options.on == "python":
            with self.trace.phase("kernel", by_python=True):
                value = by_python(bound, source)
            describe.describe_uncompiled("python", source, self.options, self.trace)
            return Outcome([bound], [value], [], None, number)
        bound = sized(bound)
        run = StatementRun(bound, source, list(bound.stages), parts=[] if bound is whole else None)
        if in_stretches(bound, source):
            run = over_stretches(self, bound, source)
        run.through(partial(self._instead, failed=BeyondInt64(beyond), stages=left) if beyond else self.go_on)
        if run.first is None:
            ran = "numpy" if self.options.on == "numpy" else "python"
            options = replace(self.options, int_mode="exact") if run.looked_at else self.options
            describe.describe_uncompiled(ran, source, options, self.trace)
        else:
            first = replace(run.first[0], cached=False) if run.compiled else run.first[0]
            self.tell(first, run.texts, max(1, len(run.loops)))
            adaptive.tell([bound], run.workspaces, self.options, self.trace)
        self.pictures.finish(bound.name, run.value, self.trace)
        return Outcome(
            [bound],
            [run.value],
            run.loops,
            run.execution,
            number,
            run.workspace,
            run.parts or (),
            run.handed,
            run.by_python,
        )

    def go_from(self, bound: Bound, value: object, place: int) -> object:
        """The statement's value, from what its first stages gave."""
        self.current, self.pictures = bound, Pictures(not self.options.quiet)
        run = StatementRun(bound, value, list(bound.stages[place:]))
        run.through(self.go_on)
        return run.value

    def go_on(self, run: StatementRun) -> None:
        """The longest loop over the value so far, or the stages that Python has to run."""
        bound, value, rest = run.bound, run.value, run.rest
        first = rest[0].site
        if not first.known or first.name == "tap":  # which is given the value as it is
            self._left_to_python(run, LOOKED_AT if first.known else Reason(no_stage(first.name)), rest[:1])
            return
        from hastega_magic.compiler.sources.iterators import goes_its_own_way

        if isinstance(value, Iterator) or goes_its_own_way(value):
            from hastega_magic.compiler.sources.chunked import in_chunks

            in_chunks(self, run, iterated(value))
            return
        run.lists()
        if run.value is not value:
            forget_inputs()  # iterating over an object may run any code
        value = run.value
        if self._otherwise(run):
            return
        failed: Exception | None = None
        try:
            fused = rest if self.options.fuse else rest[:1]
            loop, reason, workspace = self.longest(bound, value, fused, bound.varying)
        except Exception as error:  # of an element, in a loop that went before, if it is not of ours
            reraise_signal(error)
            told = self.options.strict and not isinstance(error, (NotCompilable, NoNumpyForm))
            if told or isinstance(error, NullsError):
                raise
            failed = error
        else:
            before = 0 if loop is None or reason is None else arranged(loop.stages, rest)
            if loop is None or before:
                self._left_to_python(run, run.waiting or reason or FORMLESS, before=before)
            else:
                self._run_loop(run, loop, workspace, reason)
        try:
            self._instead(run, failed, rest, compiled=False)
        finally:
            del failed  # its traceback leads back to this frame, and to the arrays of those below

    def _otherwise(self, run: StatementRun) -> bool:
        """Loops over what stands for the source and its first stages; whether there is such, and it could."""
        by_field, fuse = over_fields(run.bound, run.value, run.rest), self.options.fuse
        found = by_field or (self._over_places(run) if fuse else None)
        if found is None:
            return False
        bound, source = found
        if by_field and self.scalars and type(run.value) is np.ndarray:  # the columns have its scalars
            self.scalars |= frozenset(map(id, (source, *bound.stages[0].args)))
        more = len(bound.stages) - len(run.rest)  # what only reads the source otherwise is no gain
        stages = bound.stages if fuse else bound.stages[: more + 1]
        try:
            loop, reason, workspace = self.longest(bound, source, stages, bound.varying)
        except Exception as error:  # of an element, in a loop that went before: the usual way finds out
            reraise_signal(error)
            if not isinstance(error, NotCompilable) or isinstance(error, BeyondInt64):
                return False
            loop, reason, workspace = None, error.reason, None
        if loop is not None and bound.rows is not None and leaves_most(loop, bound.rows):
            loop, reason = None, Reason(TAKES_FEW, bound.site.span)
        if loop is None or workspace is None or len(loop.stages) <= more:
            run.waiting = run.waiting or reason
            return False
        earlier, same = run.parts, run.part(run.rest[: len(loop.stages) - more])
        before, run.looped = run.begun(), None
        run.begins(bound, source)
        compared = False
        try:
            self._run_loop(run, loop, workspace, reason)
            compared = self.compares
        finally:
            if bound.rows is not None and not compared:
                bound.rows.held = None
        told = by_field or bound.rows is not None
        ran = run.parts[-1].outcome if run.parts and told else None
        run.looped = run.looped and before.further(same.stages)
        run.parts = None if earlier is None or ran is None else [*earlier, Part(same, ran)]
        return True

    @staticmethod
    def _over_places(run: StatementRun) -> tuple[Bound, range] | None:
        """The statement as one over places: those of windows and chunks, or of rows."""
        given = run.bound, run.value, run.rest
        return over_places(*given) or over_rows(*given)

    def _left_to_python(
        self, run: StatementRun, reason: Reason, stages: Sequence[BoundStage] | None = None, before: int = 0
    ) -> None:
        if stages is None:  # NumPy's scalars are to stay what they are, up to the end
            whole = reason.text in ALL_PYTHONS or are_beside(run.value, run.rest)
            stages = run.rest if whole else (*run.rest[:before], *together(run.rest[before:]))
        self.left.barrier(run, stages, reason, before)

    def _run_loop(self, run: StatementRun, loop: Loop, workspace: Workspace, reason: Reason | None) -> None:
        """Run the loop; `reason`: why the stage behind is not in it."""
        from hastega_magic.compiler.streaming.chain import handed_on

        if handed_on(self, run, loop, workspace):
            return
        bound, left, failed, execution = run.bound, run.rest[len(loop.stages) :], None, None
        workspace.unasked, workspace.sparing = not self.options.strict and may_end_early(left), self.sparing
        try:
            if self.options.on == "numpy":
                by_calls = self.left.by_numpy(bound, loop, workspace, run.value)
                run.goes_on(stored(by_calls, loop), left, of_loop=True)
            else:
                execution = run_loops([loop], workspace, self.options, self.trace, self.options.tune)
        except Exception as error:
            reraise_signal(error)
            if not isinstance(error, NotCompilable) and (not left or self.options.strict):
                self.broken = Outcome.broken(run, loop, workspace, self.trace.group)
                self.tell_of(error, workspace.raised, loop)
                raise
            failed = error
        try:
            if isinstance(failed, WideConstant) and self._looks_by_python(run, loop, workspace, failed):
                return
            exact = isinstance(failed, (BeyondInt64, Unasked, OverflowError))
            self._instead(run, failed, self.left.exact(loop, workspace) if exact else loop.stages)
        finally:
            del failed
        if execution is not None:
            self.ran(run, loop, workspace, execution)
            here = run.part(loop.stages)
            alone = replace(loop, bound=here)
            outcome = Outcome([here], execution.values, [alone], execution, self.trace.group, workspace)
            run.goes_on(execution.values[0], left, reason, Part(here, outcome))

    @property
    def _looks(self) -> bool:
        """Whether Python may look for integers beyond 64 bits among elements for which there is no loop."""
        apart = self.looking or not (self.options.strict or self.tentative)
        return self.options.int_mode == "checked" and apart

    def _looks_by_python(
        self, run: StatementRun, loop: Loop, workspace: Workspace, why: WideConstant
    ) -> bool:
        """Whether it went on, Python having looked for elements that need a constant beyond 64 bits."""
        if not self._looks or loop.scalars is not None or workspace.unasked:
            return False
        run.looked_at, value = True, self.left.checked(loop, workspace, str(why))
        run.goes_on(stored(value, loop), run.rest[len(loop.stages) :], of_loop=True)
        return True

    def ran(self, run: StatementRun, loop: Loop, workspace: Workspace, execution: Execution) -> None:
        """Keep what will be told of a loop, the next one of the statement."""
        run.execution, run.compiled = execution, run.compiled or not execution.cached
        run.workspaces.append(workspace)
        run.first = run.first or (execution, loop)
        run.loops.append(loop)
        self.keep_texts(run.texts, execution, loop)
        self.pictures.loop(loop, execution)
        self.warn(execution, run.bound)

    def _instead(
        self, run: StatementRun, failed: Exception | None, stages: Sequence[BoundStage], compiled: bool = True
    ) -> None:
        """Go on by Python where a loop over the stages could not be built (unless `compiled`), or run.

        Not to be called where the failure is handled: it would be the context of what Python raises.
        """
        if isinstance(failed, BeyondInt64):
            from hastega_magic.compiler.python.on_demand import beyond

            beyond(self, run, failed, stages, compiled)
        elif isinstance(failed, NotCompilable):
            self._left_to_python(run, failed.reason)
        elif isinstance(failed, NoNumpyForm):
            run.goes_on(self.left.lazily(run.bound, run.given, run.rest, str(failed)), [], of_python=True)
        elif failed is not None:
            from hastega_magic.compiler.python.on_demand import as_asked

            run.goes_on(as_asked(self, run, failed, stages), [], of_python=True)

    def longest(
        self, bound: Bound, value: object, stages: Sequence[BoundStage], varying: frozenset[Where]
    ) -> tuple[Loop | None, Reason | None, Workspace]:
        """The longest loop; numbers that keep changing are constants where it would end earlier without them."""
        workspace = Workspace(self.filename, self.wanted, self.offset, varying=varying, scalars=self.scalars)
        workspace.checked = self._looks
        loop, reason = None, None
        try:
            loop, reason = self._build(bound, value, stages, workspace)
        except NotCompilable:
            if not bound.varying:
                raise
        if not bound.varying or (loop is not None and len(loop.stages) == len(stages)):
            return loop, reason, workspace
        constant = self.longest(replace(bound, varying=frozenset()), value, stages, frozenset())
        if loop is None or constant[0] is None or len(constant[0].stages) > len(loop.stages):
            return constant
        return loop, reason, workspace

    def _build(
        self, bound: Bound, value: object, stages: Sequence[BoundStage], workspace: Workspace
    ) -> tuple[Loop | None, Reason | None]:
        """The longest loop, after the loops that have to go before it."""
        known: dict[int, object] = {}
        while True:
            with self.trace.phase("parse"):
                loop, reason, probe = build_loop(bound, value, stages, workspace, None, known)
            if probe is None:
                return loop, reason
            assert loop is not None
            known[probe.number] = found(loop, probe, workspace, self.options, self.trace)

    @property
    def left(self) -> UncompiledStages:
        """What Python runs of the statement."""
        from hastega_magic.compiler.python.uncompiled import UncompiledStages

        return UncompiledStages(self.options, self.trace, self.pictures, self.warned)

    def keep_texts(self, texts: list[LoopTexts], execution: Execution, loop: Loop) -> None:
        """The listings of one of several loops, made at once: its arrays are not kept for them."""
        if not self.options.quiet and len(texts) < MOST:
            texts.append(LoopTexts.of(execution, [loop], self.options, self.trace))

    def tell(self, execution: Execution, texts: Sequence[LoopTexts], count: int) -> None:
        """What the report shows of a group or a statement: the first of so many loops, and the texts of all."""
        describe.describe_run(execution, self.options, count, self.trace)
        if not self.options.quiet:
            describe.describe_loop(execution, texts, count, self.options, self.trace)
            self.trace.add("lanes", **lane_view(execution, above=int(count > 1)))

    def tell_of(self, error: Exception, raised: Execution | None, loop: Loop) -> None:
        """What the report shows of a loop that ran up to an element which raised."""
        if raised is not None and not self.silent and not self.options.quiet and not is_ours(error):
            texts = [LoopTexts.of(raised, [loop], self.options, self.trace)]
            describe.describe_loop(raised, texts, 1, self.options, self.trace)

    def warn(self, execution: Execution, bound: Bound) -> None:
        """Show the warnings of a run."""
        for text in execution.warnings:
            self.warned(text, bound)

    def warned(self, text: str, bound: Bound) -> None:
        """Show a warning at the user's own line, and without a registry: every run warns, not only the first there."""
        if not self.silent:
            file, line = self.warn_at or (self.filename, bound.site.span.line)
            warnings.warn_explicit(text, IntegerOverflowWarning, file, line)


__all__ = ["Driver", "StrictError"]
