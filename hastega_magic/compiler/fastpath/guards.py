"""What decides whether a statement's compiled loop fits another run of it, and the loop over that run's sources.

The code of its functions, the values that they read, the kind and range of the sources: these are looked at, no more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, cast

from hastega_magic.compiler.execute import Execution
from hastega_magic.compiler.fastpath.reading import (
    Constant,
    Stretch,
    Varying,
    Whole,
    Words,
)
from hastega_magic.compiler.fastpath.slots import (
    DoesNotFit,
    Number,
    Slot,
    as_arrays,
    equal_ranges,
)
from hastega_magic.compiler.fastpath.tables import (
    Varied,
    tables_now,
)
from hastega_magic.compiler.statement import Bound, Loop, bare
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import BeyondInt64, NotCompilable
from hastega_magic.ir.fused import Fused
from hastega_magic.ir.pipeline import Pipeline, Source
from hastega_magic.passes.schedule import STREAMED
from hastega_magic.records import changed, dataclass
from hastega_magic.syntax.closures.captured import Captured
from hastega_magic.syntax.closures.contained import Where
from hastega_magic.syntax.loops.loop import View

Display = tuple[Any, tuple[Any, ...], Mapping[str, Any]]
"""A stage as its site's code hands it over: callee or None, arguments, keyword arguments."""


BESIDE = ("zip", "dot")
"""Stages whose arguments are sources."""

Shape = tuple[tuple[bool, int, tuple[str, ...]], ...]
"""Of each stage whether its arguments are sources, how many there are, and the names of others."""


@dataclass
class RunGuards:
    """A statement that one loop on the CPU computed, without its data."""

    captured: Captured
    shape: Shape
    slots: tuple[Slot, ...]
    twins: tuple[tuple[int, int], ...]
    """Sources that are one: they must be the same object."""
    numbers: tuple[Number, ...]
    words: tuple[Words, ...]
    """The loop's sources in their order."""
    loop: Loop
    owners: tuple[int, ...]
    """Of each stage of the loop the one of the statement that it was made of."""
    execution: Execution
    simple: bool
    """Whether the loop takes the first elements of its slots, in their order, and captured numbers; or stretches."""
    large: bool
    even: bool
    """Whether all sources have to be of one length."""
    arrays: tuple[Varied, ...] = ()
    """Captured ones that may be others in each run."""
    stretches: tuple[Stretch, ...] = ()
    """What the loop takes of its slots, where not all, as of windows: their lengths have to be the same then."""
    places: Mapping[tuple[str, int], tuple[int, int]] = field(
        default_factory=dict[tuple[str, int], tuple[int, int]]
    )
    """Of a loop that uses the elements of a view: by source the operand that it is a part of, and how far behind."""

    @property
    def renewable(self) -> bool:
        """Whether the loop can be had over other sources."""
        return self.simple or bool(self.places)

    def fitting(self, source: object, displays: Sequence[Display]) -> tuple[list[object], list[object], int]:
        """The sources, the other arguments, and the number of elements; DoesNotFit where the loop is not for them."""
        operands, arguments = arguments_of(source, displays, self.shape)
        if not self.captured.fits(arguments):
            raise DoesNotFit
        same_twins(operands, self.twins)
        length = -1
        for slot in self.slots:
            found = slot.length(operands[slot.operand])
            if (self.even and found != length >= 0) or (self.stretches and found != slot.source.length):
                raise DoesNotFit
            length = found if found < length or length < 0 else length
        if self.stretches:
            *_, length = self.stretches[0]
        if not length or (self.simple and (length >= STREAMED) != self.large):
            raise DoesNotFit
        return operands, arguments, length

    def over(
        self,
        operands: Sequence[object],
        arguments: Sequence[object],
        bound: Bound,
        workspace: Workspace,
        view: View | None = None,
        tail: int = 0,
    ) -> tuple[Loop, Fused]:
        """The loop, before and after fusion, over the sources of this run; DoesNotFit where they cannot be described.

        `arguments`: the others, as `fitting` gives them. `view`, `tail`: the elements that it uses, where these are not
        the first ones, and how many are left for a shorter chunk.
        """
        if not self.simple and view is None:
            raise DoesNotFit
        workspace.table_columns = tables_now(self.execution.job.tables, self.arrays, arguments)
        try:
            found = {slot.operand: slot.now(operands[slot.operand], workspace) for slot in self.slots}
        except (NotCompilable, BeyondInt64):
            raise DoesNotFit from None
        length = min(each.length for each in found.values())
        before = self.execution.fused.sources
        if self.stretches:
            parts = [workspace.part(found[operand], *places) for operand, *places in self.stretches]
            if not all(map(_laid_out_alike, before, parts)):
                raise DoesNotFit
            now = [changed(old, key=new.key) for old, new in zip(before, parts, strict=True)]
        elif view is not None:
            return self._within(view, tail, found, arguments, bound, workspace)
        else:
            now = [
                each.number.now(source, arguments, length, workspace)
                if isinstance(each, Varying)
                else each.now(source, length, workspace)
                if isinstance(each, Constant)
                else found[cast(Whole, each).slot.operand]
                for each, source in zip(self.words, before, strict=True)
            ]
        keys = ((each.kind, each.key) for each in before)
        return self._renewed(dict(zip(keys, now, strict=True)), bound)

    def _within(
        self,
        view: View,
        tail: int,
        found: Mapping[int, Source],
        arguments: Sequence[object],
        bound: Bound,
        workspace: Workspace,
    ) -> tuple[Loop, Fused]:
        """The same over a view's elements of these sources, by operand."""
        assert view.count is not None
        now: dict[tuple[str, int], Source] = {}
        for source in (*self.loop.pipeline.sources, *self.execution.fused.sources):
            key = source.kind, source.key
            if key in self.places:
                operand, distance = self.places[key]
                part = workspace.part(found[operand], view.start + distance, view.step, view.count)
                if not _laid_out_alike(source, part):
                    raise DoesNotFit
                now[key] = changed(source, key=part.key, length=part.length)
        for each, source in zip(self.words, self.execution.fused.sources, strict=True):
            if isinstance(each, Varying):
                now[source.kind, source.key] = each.number.now(source, arguments, view.count, workspace)
        return self._renewed(now, bound, view, tail)

    def _renewed(
        self, now: Mapping[tuple[str, int], Source], bound: Bound, view: View | None = None, tail: int = 0
    ) -> tuple[Loop, Fused]:
        """The loop over these sources, by kind and key of its own."""
        pipeline = renewed(self.loop.pipeline, now)
        bound = changed(bound, numbers=self.loop.bound.numbers)
        built = changed(self.loop.built, owners=tuple(bound.stages[each] for each in self.owners))
        built = built if view is None else changed(built, view=view, tail=tail)
        loop = changed(
            self.loop, bound=bound, source=bound.source, stages=bound.stages, built=built, pipeline=pipeline
        )
        keys = [(each.kind, each.key) for each in self.execution.fused.sources]
        if not now.keys() >= {*keys}:
            raise DoesNotFit
        return loop, changed(self.execution.fused, sources=tuple(now[key] for key in keys))


def arguments_of(
    source: object, displays: Sequence[Display], shape: Shape
) -> tuple[list[object], list[object]]:
    """The sources of a statement, as arrays, and its other arguments; DoesNotFit where its stages take others."""
    arguments: list[object] = []
    operands: list[object] = [source]
    for (callee, args, kwargs), (zips, count, names) in zip(displays, shape, strict=True):
        if callee is not None or len(args) != count:
            raise DoesNotFit
        (operands if zips else arguments).extend(args)
        if kwargs or names:
            if (*kwargs,) != names:
                raise DoesNotFit
            arguments.extend(kwargs.values())
    as_arrays(operands)
    return operands, arguments


def same_twins(operands: Sequence[object], twins: Sequence[tuple[int, int]]) -> None:
    """DoesNotFit where sources that were one are two."""
    for first, second in twins:
        one, other = operands[first], operands[second]
        if one is not other and not equal_ranges(one, other):
            raise DoesNotFit


def renewed(pipeline: Pipeline, places: Mapping[tuple[str, int], Source]) -> Pipeline:
    """The pipeline over other sources, by kind and key of its own; DoesNotFit where there is none for one."""

    def new(source: Source) -> Source:
        if (source.kind, source.key) not in places:
            raise DoesNotFit
        return places[source.kind, source.key]

    stages = tuple(
        changed(stage, sources=tuple(map(new, stage.sources))) if stage.sources else stage
        for stage in pipeline.stages
    )
    given = tuple((node, new(source)) for node, source in pipeline.parameters)
    # What a `reduce` begins with may be no source of the loop: then nobody reads it there.
    init = tuple(places.get((each.kind, each.key), each) for each in pipeline.sink.init)
    sink = changed(pipeline.sink, init=init) if init else pipeline.sink
    return changed(pipeline, source=new(pipeline.source), stages=stages, parameters=given, sink=sink)


def given(bound: Bound) -> list[object]:
    """What the stages are given that is no source."""
    return [
        each
        for stage in bound.stages
        if stage.site.name not in BESIDE
        for each in (*stage.args, *stage.kwargs.values())
    ]


def places(bound: Bound) -> list[Where | None]:
    """Where each of it is, if it may be a parameter, or holds such."""
    return [each for stage in bound.stages if stage.site.name not in BESIDE for each in stage.places[1:]]


def sources(bound: Bound) -> list[object]:
    """What they go through: the source, and those that they are given."""
    return [
        bound.source,
        *(each for stage in bound.stages if stage.site.name in BESIDE for each in stage.args),
    ]


def shape_of(bound: Bound) -> Shape:
    """What its stages take."""
    return tuple((stage.site.name in BESIDE, len(stage.args), (*stage.kwargs,)) for stage in bound.stages)


def plainly_called(bound: Bound) -> bool:
    """Whether no stage is a callable of the user's, nor is given sources by name."""
    return not any(
        stage.callee is not None or (stage.kwargs and stage.site.name in BESIDE) for stage in bound.stages
    )


def stage_numbers(loop: Loop) -> tuple[int, ...] | None:
    """Of each stage of the loop the statement's one that it was made of, by number; None if it is none of these."""
    numbers = {id(stage): number for number, stage in enumerate(loop.stages)}
    if any(id(owner) not in numbers for owner in loop.built.owners):
        return None
    return tuple(numbers[id(owner)] for owner in loop.built.owners)


def raises_before_zip(pipeline: Pipeline) -> bool:
    """Whether sources have to be of one length: of a longer first one Python computes one element more."""
    zips = [number for number, stage in enumerate(pipeline.stages) if stage.kind == "zip"]
    before = pipeline.stages[: zips[-1]] if zips else ()
    return any(stage.fn is not None and stage.fn.effects for stage in before)


def _laid_out_alike(before: Source, now: Source) -> bool:
    """Whether code for one source is for the other: it takes some strides for granted, and asks for others."""
    return before.layout == now.layout or (before.layout == "strided" and now.apart > 0)


__all__ = [
    "BESIDE",
    "Display",
    "DoesNotFit",
    "RunGuards",
    "Shape",
    "arguments_of",
    "bare",
    "given",
    "places",
    "plainly_called",
    "raises_before_zip",
    "renewed",
    "same_twins",
    "shape_of",
    "sources",
    "stage_numbers",
]  # fmt: skip
