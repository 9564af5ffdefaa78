"""Statements in, values out: groups fused where they can be, stages that Python must run between loops."""

from __future__ import annotations

import array
import contextlib
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from hastega_magic.compiler import describe
from hastega_magic.compiler.backends import forget_inputs
from hastega_magic.compiler.barriers import compilable, noted
from hastega_magic.compiler.baselines import numpy_value
from hastega_magic.compiler.execute import Execution, Separately, run_loops
from hastega_magic.compiler.graphs import Pictures
from hastega_magic.compiler.lanes import lane_view
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.statement import Bound, Loop, build_loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import (
    NOWHERE,
    BeyondInt64,
    HastegaError,
    IntegerOverflowWarning,
    NotCompilable,
    Reason,
    UsageError,
)
from hastega_magic.passes.fuse import can_fuse
from hastega_magic.runtime import python
from hastega_magic.runtime.numpy import NoNumpyForm
from hastega_magic.syntax.build import BoundStage
from hastega_magic.syntax.stages import suggest
from hastega_magic.trace import Trace


class StrictError(HastegaError):
    """`--strict` was asked for, and a stage cannot be compiled."""

    def _render_traceback_(self) -> list[str]:
        return [f"StrictError: {self}"]


@dataclass
class Group:
    """Neighbouring statements that become one loop."""

    workspace: Workspace
    loops: list[Loop] = field(default_factory=list[Loop])

    def names(self) -> set[str]:
        """Variables that the group assigns."""
        return {loop.bound.target for loop in self.loops if loop.bound.target is not None}


@dataclass
class Outcome:
    """What running statements gave; `execution` is that of the last loop, None if all was left to Python."""

    bounds: Sequence[Bound]
    values: list[object]
    loops: Sequence[Loop]
    execution: Execution | None
    group: int
    workspace: Workspace | None = None

    @property
    def whole(self) -> bool:
        """Whether one compiled loop for each value computed it, so that other back ends can be asked for the same."""
        found = self.execution
        return found is not None and len(self.loops) == len(self.values) and not found.fell_back


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

    def extend(self, group: Group | None, bound: Bound, source: object, producer: str | None) -> Group | None:
        """The group with the statement in it (a new group for None); None if it does not fit.

        `producer` names the statement of the group whose result is the source.
        """
        self.current = bound
        options = self.options
        if not options.fuse or options.on in ("python", "numpy") or not bound.stages[0].site.known:
            return None
        workspace = group.workspace if group is not None else Workspace(self.filename)
        earlier = None
        if producer is not None:
            assert group is not None
            earlier = next(loop for loop in reversed(group.loops) if loop.bound.target == producer)
        try:
            with self.trace.phase("parse"):
                loop, _, _ = build_loop(bound, source, bound.stages, workspace, earlier)
        except BeyondInt64:
            return None
        if loop is None or len(loop.stages) < len(bound.stages):
            return None
        if group is None:
            return Group(workspace, [loop])
        if not can_fuse([each.pipeline for each in group.loops], loop.pipeline):
            return None
        return Group(workspace, [*group.loops, loop])

    def run_group(self, group: Group) -> Iterator[Outcome]:
        """Values of the group's statements: in one outcome, or one after the other where an element needs Python."""
        number = self.trace.next_group()
        bounds = [loop.bound for loop in group.loops]
        describe.describe_group(bounds, self.trace)
        self.current = bounds[0]
        execution: Execution | None = None
        group.workspace.wanted = self.wanted
        with contextlib.suppress(Separately, BeyondInt64, NotCompilable):
            execution = run_loops(group.loops, group.workspace, self.options, self.trace)
        if execution is None:
            self.trace.events = [event for event in self.trace.events if event.group != number]
            yield from self._one_by_one(group)
            return
        self._tell(execution, group.loops, 1)
        pictures = Pictures(shown=not self.options.quiet)
        pictures.group(group.loops, execution)
        pictures.finish("", None, self.trace)
        self._warn(execution, bounds[0])
        yield Outcome(bounds, execution.values, group.loops, execution, number, group.workspace)

    def _one_by_one(self, group: Group) -> Iterator[Outcome]:
        values: dict[str, object] = {}
        for loop in group.loops:
            bound, source = loop.bound, loop.pipeline.source
            outcome = self.run_alone(bound, values[source.name] if source.kind == "result" else bound.source)
            values[bound.name] = outcome.values[0]
            yield outcome

    def run_alone(self, bound: Bound, source: object) -> Outcome:
        """One statement: loops as long as they can be, and Python for the stages between them."""
        number = self.trace.next_group()
        describe.describe_group([bound], self.trace)
        self.current, self.pictures = bound, Pictures(not self.options.quiet)
        value, rest, loops = source, list(bound.stages), list[Loop]()
        execution: Execution | None = None
        first: tuple[Execution, Loop] | None = None
        used: Workspace | None = None
        if self.options.on == "python":
            with self.trace.phase("kernel"):
                value = python.run(value, bound.calls())
            self._tell_python("python", source)
            return Outcome([bound], [value], [], None, number)
        while rest:
            if not rest[0].site.known:
                value = self._barrier(bound, value, rest[:1], _not_a_stage(rest.pop(0).site.name))
                continue
            if isinstance(value, Iterator):  # perhaps endless: Python takes one element after the other
                once = "the source is an iterator, which gives its elements only once and one by one"
                value, rest = self._lazily(bound, cast(object, value), rest, once), []
                continue
            value = _iterable(value)
            workspace = Workspace(self.filename, self.wanted)
            try:
                with self.trace.phase("parse"):
                    chosen = rest if self.options.fuse else rest[:1]
                    loop, reason, _ = build_loop(bound, value, chosen, workspace)
            except BeyondInt64 as error:
                value, rest = self._beyond(bound, rest, value, str(error)), []
                continue
            if loop is None:
                together = _together(rest)
                value = self._barrier(bound, value, together, reason or Reason("it has no compiled form"))
                rest = rest[len(together) :]
                continue
            left = rest[len(loop.stages) :]
            if self.options.on == "numpy":
                value, rest = self._by_numpy(bound, loop, workspace, value), left
                continue
            try:
                execution = run_loops([loop], workspace, self.options, self.trace)
            except BeyondInt64 as error:
                value, rest = self._beyond(bound, loop.stages, value, str(error)), left
            except NotCompilable as error:
                together = _together(rest)
                value, rest = self._barrier(bound, value, together, error.reason), rest[len(together) :]
            except Exception as error:
                if not left or self.options.strict:
                    raise
                value, rest = self._perhaps_unreached(bound, value, rest, error), []
            else:
                first, used = first or (execution, loop), workspace
                loops.append(loop)
                self.pictures.loop(loop, execution)
                value, rest = execution.values[0], left
                self._warn(execution, bound)
        if first is None:
            self._tell_python("numpy" if self.options.on == "numpy" else "python", source)
        else:
            self._tell(first[0], [first[1]], len(loops))
        self.pictures.finish(bound.name, value, self.trace)
        return Outcome([bound], [value], loops, execution, number, used)

    def _tell_python(self, backend: str, source: object) -> None:
        device = {"numpy": "NumPy", "python": "CPython"}[backend]
        self.trace.add(
            "run", backend=backend, device=device, threads=1, elements=_length(source), loops=0, cached=False
        )

    def _by_numpy(self, bound: Bound, loop: Loop, workspace: Workspace, value: object) -> object:
        """The loop as NumPy calls on whole arrays; by CPython where an operator has no such form."""
        try:
            with self.trace.phase("kernel"):
                return numpy_value(loop, workspace, self.options, self.trace)
        except (NoNumpyForm, NotCompilable, BeyondInt64) as error:
            describe.describe_barrier(loop.pipeline.source.name, Reason(str(error)), self.trace)
            with self.trace.phase("kernel"):
                return python.run(value, bound.calls(loop.stages))

    def _perhaps_unreached(
        self, bound: Bound, value: object, stages: Sequence[BoundStage], error: Exception
    ) -> object:
        """The stages one element after the other: those behind the loop may never ask for the one that raised."""
        beyond = (
            "an element raised, which the stages behind may never reach: Python takes one after the other"
        )
        try:
            return self._lazily(bound, value, stages, beyond)
        except Exception as again:
            if type(again) is type(error) and again.args == error.args:
                raise error from None  # it has the notes
            raise

    def _lazily(self, bound: Bound, value: object, stages: Sequence[BoundStage], why: str) -> object:
        reason = Reason(why, bound.site.span)
        describe.describe_barrier(bound.site.source_text, reason, self.trace)
        if self.options.strict:
            raise StrictError(f"`{bound.site.source_text}` is not compiled: {reason.text}")
        with self.trace.phase("kernel"):
            found = python.run(value, bound.calls(stages))
        self.pictures.python(stages, why, bound.site.source_text, value, found)
        return found

    def _barrier(self, bound: Bound, value: object, stages: Sequence[BoundStage], reason: Reason) -> object:
        stage = stages[0]
        if reason.span == NOWHERE:
            reason = Reason(reason.text, stage.site.span)
        describe.describe_barrier(stage.site.text, reason, self.trace)
        if self.options.strict:
            raise StrictError(f"`{stage.site.text}` is not compiled: {reason.text}")
        with self.trace.phase("kernel"):
            found = python.run(value, bound.calls(noted(stages)))
        self.pictures.python(stages, reason.text, bound.site.source_text, value, found)
        forget_inputs()
        return found

    def _beyond(self, bound: Bound, stages: Sequence[BoundStage], value: object, why: str) -> object:
        """Stages over Python ints, or with constants, that int64 does not hold."""
        if self.options.int_mode == "checked":
            raise OverflowError(why)
        if self.options.int_mode == "wrap":
            raise UsageError(f"{why}, which --int wrap cannot wrap")
        text = f"{why}; these stages were computed by Python, exactly"
        self.trace.add("warning", text=text)
        self.trace.add("int", mode=self.options.int_mode, proved=False, guarded=True, fell_back=True)
        self._warn_at(text, bound)
        with self.trace.phase("kernel"):
            found = python.run(value, bound.calls(noted(stages)))
        self.pictures.python(stages, why, bound.site.source_text, value, found)
        return found

    def _tell(self, execution: Execution, loops: Sequence[Loop], count: int) -> None:
        describe.describe_run(execution, self.options, count, self.trace)
        if not self.options.quiet:
            describe.describe_loop(execution, loops, self.options, self.trace)
            self.trace.add("lanes", **lane_view(execution))

    def _warn(self, execution: Execution, bound: Bound) -> None:
        for text in execution.warnings:
            self._warn_at(text, bound)

    def _warn_at(self, text: str, bound: Bound) -> None:
        # At the user's own line, and without a registry: every run warns, not only the first from a place.
        warnings.warn_explicit(text, IntegerOverflowWarning, self.filename, bound.site.span.line)


def _not_a_stage(name: str) -> Reason:
    hint = suggest(name)
    near = f" (did you mean {hint}?)" if hint else ""
    return Reason(f"`{name}` is no stage: Python calls it on the value so far{near}")


def _together(stages: Sequence[BoundStage]) -> Sequence[BoundStage]:
    """The stages that Python runs in one pass: up to the last one that could tell whether they were.

    That is a stage with side effects of its own, or one that may not ask for all of its elements.
    """
    last = 0
    for place, stage in enumerate(stages):
        name = stage.site.name if stage.callee is None else ""
        if name not in _ELEMENTWISE and name not in _PERHAPS_SHORT:
            break
        if place and (name in _PERHAPS_SHORT or (name in ("map", "filter") and not compilable(stage.args))):
            last = place
    return stages[: last + 1]


_ELEMENTWISE = frozenset({"map", "filter", "zip", "enumerate", "drop"})
_PERHAPS_SHORT = frozenset({"take", "any", "all", "zip"})


def _iterable(value: object) -> object:
    """The value itself if it can be looked at more than once, else a list of its elements."""
    again = (range, list, tuple, bytes, bytearray, memoryview, array.array)
    if type(value) in again or isinstance(value, np.ndarray) or hasattr(value, "__array__"):
        return cast(object, value)
    return list(cast("Iterable[object]", value))


def _length(source: object) -> int:
    return len(cast(Any, source)) if hasattr(source, "__len__") else 0


__all__ = ["Driver", "Group", "Outcome", "StrictError"]
