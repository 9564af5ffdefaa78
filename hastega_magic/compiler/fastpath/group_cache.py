"""Neighbouring statements that one loop computed together: when their cell runs again, each is looked at, not built.

    ys = xs |> map(f)           its functions and its source are as they were: the loop that it was is over this run's
    total = ys |> sum           the same, over `ys`; and this was all of the group, so that its code is known, too

A statement that is another, or has others around it, is built as ever, and joins those that came before it in the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from hastega_magic.compiler.backends import Cpu
from hastega_magic.compiler.execute import Execution, without_cell
from hastega_magic.compiler.fastpath.guards import (
    Shape,
    arguments_of,
    bare,
    given,
    plainly_called,
    raises_before_zip,
    renewed,
    same_twins,
    shape_of,
    sources,
    stage_numbers,
)
from hastega_magic.compiler.fastpath.slots import DoesNotFit, Slot, equal_ranges, owners_of, slot_of
from hastega_magic.compiler.loops import CompiledLoop
from hastega_magic.compiler.outcome import Outcome
from hastega_magic.compiler.statement import Bound, Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import BeyondInt64, NotCompilable
from hastega_magic.interval import Interval
from hastega_magic.ir.fused import Fused
from hastega_magic.ir.pipeline import Source
from hastega_magic.passes.schedule import STREAMED
from hastega_magic.records import changed, dataclass, written
from hastega_magic.syntax.closures.captured import Captured, captured

Key = tuple[str, int]
"""Kind and key of a source."""


@dataclass(frozen=True)
class Member:
    """One of the statements, without its data."""

    site: int
    captured: Captured
    shape: Shape
    slots: tuple[tuple[Key, Slot], ...]
    """Its own sources, and what they were called in the loop."""
    twins: tuple[tuple[int, int], ...]
    shared: tuple[tuple[int, Key], ...]
    """Which of its sources a statement before it has as well: they must be the same object."""
    producer: str | None
    """The variable of the group that it goes over."""
    even: bool
    loop: Loop
    owners: tuple[int, ...]

    def operands(self, bound: Bound) -> list[object]:
        """Its sources in this run; DoesNotFit where it is another statement."""
        displays = [(stage.callee, stage.args, stage.kwargs) for stage in bound.stages]
        operands, arguments = arguments_of(bound.source, displays, self.shape)
        if not self.captured.fits(arguments):
            raise DoesNotFit
        same_twins(operands, self.twins)
        return operands

    def length(self, operands: Sequence[object]) -> int | None:
        """The elements that all its sources have; None where it has no own ones."""
        lengths = [slot.length(operands[slot.operand]) for _, slot in self.slots]
        if self.even and len(set(lengths)) > 1:
            raise DoesNotFit
        return min(lengths, default=None)


@dataclass(frozen=True)
class CachedGroup:
    """The statements of a group, and what compiling them gave."""

    members: tuple[Member, ...]
    execution: Execution
    large: bool

    def begin(self) -> Expected:
        """The state before the first of them."""
        return Expected(self)


@written
@dataclass(frozen=True)
class Expected:
    """How far a run has come in a group that an earlier run had. `sources`: of this run, and what they were called."""

    group: CachedGroup
    place: int = 0
    length: int = 0
    sources: dict[Key, Source] = field(default_factory=dict[Key, Source])
    objects: dict[Key, object] = field(default_factory=dict[Key, object])

    def next(self, bound: Bound, workspace: Workspace, producer: str | None) -> Matched:
        """The statement as the next of the group; DoesNotFit where it is not."""
        if self.place == len(self.group.members):
            raise DoesNotFit
        member = self.group.members[self.place]
        if bound.site.id != member.site or producer != member.producer or bound.varying:
            raise DoesNotFit
        operands = member.operands(bound)
        objects = self.objects | {key: operands[slot.operand] for key, slot in member.slots}
        for operand, key in member.shared:
            before = self.objects[key]
            if operands[operand] is not before and not equal_ranges(operands[operand], before):
                raise DoesNotFit
        found = member.length(operands)
        length = self.length if found is None else found
        if (self.place and length != self.length) or not length or (length >= STREAMED) != self.group.large:
            raise DoesNotFit
        try:
            now = {key: slot.now(operands[slot.operand], workspace) for key, slot in member.slots}
        except (NotCompilable, BeyondInt64):
            raise DoesNotFit from None
        places = self.sources | now
        last = member.loop.pipeline.source
        if last.kind == "result":
            places[last.kind, last.key] = changed(last, length=length)
        built = changed(member.loop.built, owners=tuple(bound.stages[each] for each in member.owners))
        bound = changed(bound, numbers=member.loop.bound.numbers)
        loop = changed(
            member.loop, bound=bound, source=bound.source, stages=bound.stages, built=built,
            pipeline=renewed(member.loop.pipeline, places),
        )  # fmt: skip
        return Matched(bound, loop, workspace, Expected(self.group, self.place + 1, length, places, objects))

    @property
    def first(self) -> int:
        """The site of the group's first statement."""
        return self.group.members[0].site

    @property
    def compiled(self) -> tuple[CompiledLoop, Fused] | None:
        """What compiling the statements so far would find, if these are all."""
        if self.place < len(self.group.members):
            return None
        fused = self.group.execution.fused
        now = tuple(self.sources[each.kind, each.key] for each in fused.sources)
        return self.group.execution.compiled, changed(fused, sources=now)


@written
@dataclass(frozen=True)
class Matched:
    """A statement that is as it was, its loop over this run's sources, and how far the run has come with it."""

    bound: Bound
    loop: Loop
    workspace: Workspace
    expected: Expected


def cached_group(outcome: Outcome) -> CachedGroup | None:
    """What to remember of a group; None where one of its statements was no plain loop on the CPU, or holds data."""
    execution, workspace = outcome.execution, outcome.workspace
    if execution is None or execution.fell_back or execution.warnings or workspace is None:
        return None
    if not isinstance(execution.backend, Cpu) or workspace.parameters or workspace.table_columns:
        return None
    intervals = execution.compiled.state.leaves.sources
    described = {
        (each.kind, each.key): (each, intervals[place] if place < len(intervals) else None)
        for place, each in enumerate(execution.fused.sources)
    }
    simple = all(
        each.kind in ("array", "range") and each.layout == "dense" and not each.parts
        for each, _ in described.values()
    )
    if not simple or len(outcome.loops) != len(outcome.bounds):
        return None
    members: list[Member] = []
    seen: set[Key] = set()
    for bound, loop in zip(outcome.bounds, outcome.loops, strict=True):
        member = _member(bound, loop, workspace, described, seen)
        if member is None:
            return None
        members.append(member)
        seen |= {key for key, _ in member.slots}
    if seen != described.keys():
        return None
    large = min(each.length for each, _ in described.values()) >= STREAMED
    kept = changed(execution, values=[], columns=[], job=without_cell(execution), choice=None)
    return CachedGroup(tuple(members), kept, large)


def _member(
    bound: Bound,
    loop: Loop,
    workspace: Workspace,
    described: dict[Key, tuple[Source, Interval | None]],
    seen: set[Key],
) -> Member | None:
    if bound.varying or len(loop.stages) != len(bound.stages) or not (loop.built.plain or loop.built.even):
        return None
    if not plainly_called(bound):
        return None
    source = loop.pipeline.source
    producer = source.name if source.kind == "result" else None
    if source.kind == "result" and source.parts:
        return None
    known = captured(given(bound), frozenset(), numpys=loop.built.numpys)
    found = owners_of(sources(bound)[producer is not None :], workspace)
    if known is None or known.free or known.holds_data or found is None:
        return None
    # The operand of one that goes over a result is not looked at: it is no object yet.
    owners = {key: place + (producer is not None) for key, place in found[0].items()}
    if not owners.keys() <= described.keys():
        return None
    twins = tuple((a + (producer is not None), b + (producer is not None)) for a, b in found[1])
    stages = stage_numbers(loop)
    if stages is None:
        return None
    return Member(
        bound.site.id,
        known,
        shape_of(bound),
        tuple((key, slot_of(owners[key], *described[key])) for key in owners),
        twins,
        tuple((place, key) for key, place in owners.items() if key in seen),
        producer,
        loop.built.even or raises_before_zip(loop.pipeline),
        bare(loop),
        stages,
    )


__all__ = ["CachedGroup", "Expected", "Matched", "cached_group"]
