"""What decides whether a statement's compiled loop fits another run of it, and the loop over that run's sources.

The code of its functions, the values that they read, the kind and range of the sources: these are looked at, no more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from typing import Any, cast

from hastega_magic.compiler.backends import Cpu
from hastega_magic.compiler.execute import Execution, without_cell
from hastega_magic.compiler.fastpath.reading import (
    Stretch,
    Varying,
    Whole,
    Words,
    checks,
    places_of,
    readings,
    readings_of,
    stretches_of,
)
from hastega_magic.compiler.fastpath.slots import (
    Again,
    Number,
    Slot,
    as_arrays,
    equal_ranges,
    numbers_of,
    owners_of,
    slots_of,
)
from hastega_magic.compiler.fastpath.tables import (
    Varied,
    captured_arrays,
    captured_lists,
    tables_now,
    varied,
)
from hastega_magic.compiler.outcome import Outcome
from hastega_magic.compiler.statement import Bound, Loop, bare
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import BeyondInt64, NotCompilable
from hastega_magic.ir.fused import Fused
from hastega_magic.ir.pipeline import Pipeline, Source
from hastega_magic.passes.schedule import STREAMED
from hastega_magic.records import changed, dataclass
from hastega_magic.syntax.closures.captured import Captured, captured
from hastega_magic.syntax.closures.contained import Where, is_item
from hastega_magic.syntax.closures.given import beginning_of
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
        """The sources, the other arguments, and the number of elements; Again where the loop is not for them."""
        operands, arguments = arguments_of(source, displays, self.shape)
        if not self.captured.fits(arguments):
            raise Again
        same_twins(operands, self.twins)
        length = -1
        for slot in self.slots:
            found = slot.length(operands[slot.operand])
            if (self.even and found != length >= 0) or (self.stretches and found != slot.source.length):
                raise Again
            length = found if found < length or length < 0 else length
        if self.stretches:
            *_, length = self.stretches[0]
        if not length or (self.simple and (length >= STREAMED) != self.large):
            raise Again
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
        """The loop, before and after fusion, over the sources of this run; Again where they cannot be described.

        `arguments`: the others, as `fitting` gives them. `view`, `tail`: the elements that it uses, where these are not
        the first ones, and how many are left for a shorter chunk.
        """
        if not self.simple and view is None:
            raise Again
        workspace.table_columns = tables_now(self.execution.job.tables, self.arrays, arguments)
        try:
            found = {slot.operand: slot.now(operands[slot.operand], workspace) for slot in self.slots}
        except (NotCompilable, BeyondInt64):
            raise Again from None
        length = min(each.length for each in found.values())
        before = self.execution.fused.sources
        if self.stretches:
            parts = [workspace.part(found[operand], *places) for operand, *places in self.stretches]
            if any(old.layout != new.layout for old, new in zip(before, parts, strict=True)):
                raise Again  # native code takes some strides for granted
            now = [changed(old, key=new.key) for old, new in zip(before, parts, strict=True)]
        elif view is not None:
            return self._within(view, tail, found, arguments, bound, workspace)
        else:
            now = [
                each.number.now(source, arguments, length, workspace)
                if isinstance(each, Varying)
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
                if part.layout != source.layout:
                    raise Again  # native code takes some strides for granted
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
            raise Again
        return loop, changed(self.execution.fused, sources=tuple(now[key] for key in keys))


def arguments_of(
    source: object, displays: Sequence[Display], shape: Shape
) -> tuple[list[object], list[object]]:
    """The sources of a statement, as arrays, and its other arguments; Again where its stages take others."""
    arguments: list[object] = []
    operands: list[object] = [source]
    for (callee, args, kwargs), (zips, count, names) in zip(displays, shape, strict=True):
        if callee is not None or len(args) != count:
            raise Again
        (operands if zips else arguments).extend(args)
        if kwargs or names:
            if (*kwargs,) != names:
                raise Again
            arguments.extend(kwargs.values())
    as_arrays(operands)
    return operands, arguments


def same_twins(operands: Sequence[object], twins: Sequence[tuple[int, int]]) -> None:
    """Again where sources that were one are two."""
    for first, second in twins:
        one, other = operands[first], operands[second]
        if one is not other and not equal_ranges(one, other):
            raise Again


def renewed(pipeline: Pipeline, places: Mapping[tuple[str, int], Source]) -> Pipeline:
    """The pipeline over other sources, by kind and key of its own; Again where there is none for one."""

    def new(source: Source) -> Source:
        if (source.kind, source.key) not in places:
            raise Again
        return places[source.kind, source.key]

    stages = tuple(
        changed(stage, sources=tuple(map(new, stage.sources))) if stage.sources else stage
        for stage in pipeline.stages
    )
    given = tuple((node, new(source)) for node, source in pipeline.parameters)
    return changed(pipeline, source=new(pipeline.source), stages=stages, parameters=given)


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


def guards_of(
    bound: Bound, outcome: Outcome, *, small: bool = False, mended: bool = False, free: Collection[Where] = ()
) -> RunGuards | None:
    """What decides whether the loop of this outcome fits again; None where it was not one whole loop on the CPU.

    `small`: it is only to be called directly, over few elements, which may be any of its sources'. `mended`: also where
    Python had to help. `free`: arguments that are looked at in each run, and not part of the loop.
    """
    execution, workspace = outcome.execution, outcome.workspace
    if execution is None or len(outcome.loops) != 1:
        return None
    if (execution.fell_back or execution.warnings) and not mended:
        return None
    (loop,) = outcome.loops
    if len(loop.stages) != len(bound.stages) or not isinstance(execution.backend, Cpu) or workspace is None:
        return None
    if any(
        stage.callee is not None or (stage.kwargs and stage.site.name in BESIDE) for stage in bound.stages
    ):
        return None
    arguments, operands = given(bound), sources(bound)
    # Not ints that no parameter holds, nor numbers that only another statement's loop is given.
    read = {source.key for source in execution.fused.sources if source.layout == "scalar"}
    all_read = loop.built.probed
    # Of items that no loop reads the type decided, which is looked at.
    given_ones = frozenset(
        each.where
        for key, each in (*((id(each), each) for each in workspace.parameters), *workspace.starts.items())
        if all_read or key in read or is_item(each.where)
    )
    # What a result is combined with stands in the loop, unless somebody sees to it.
    combined = {beginning_of(bound.stages[-1].site)} if loop.built.initial else set[Where]()
    given_ones = (given_ones - combined) | {*free}
    arrays, lists = captured_arrays(workspace), captured_lists(workspace) if small else []
    known = captured(
        arguments, given_ones, arrays=arrays, numpys=loop.built.numpys, lists=lists, places=places(bound)
    )
    owned = owners_of(operands, workspace)
    if known is None or owned is None:
        return None
    all_numbers, free = numbers_of(workspace, execution), {each.where: each for each in known.free}
    all_numbers = {
        key: each
        for key, each in all_numbers.items()
        if (all_read and each.where not in combined) or key in read
    }
    for number in all_numbers.values():
        if number.where not in free:
            return None
        number.free = free[number.where]
    plain = loop.built.plain or loop.built.even
    slots, numbers, words, stretches = None, (), None, ()
    found = slots_of(owned[0], all_numbers, execution) if plain else None
    if found is not None:
        slots = tuple(each for each in found if isinstance(each, Slot))
        numbers = tuple(each for each in found if isinstance(each, Number))
        words = tuple(Whole(each) if isinstance(each, Slot) else Varying(each) for each in found)
    elif small:
        slots, numbers = checks(operands, owned[0], workspace), tuple(all_numbers.values())
        words = readings(operands, owned[0], all_numbers, workspace, execution, loop)
    elif stretches := stretches_of(owned[0], workspace, execution, loop):
        slots = checks(operands, owned[0], workspace)
        words = readings_of(stretches, slots, execution)
    if slots is None or words is None:
        return None
    placed = places_of(operands, owned[0], workspace, loop.built.view) if small and found is None else None
    numbered = {id(stage): number for number, stage in enumerate(loop.stages)}
    if any(id(owner) not in numbered for owner in loop.built.owners):
        return None
    owners = tuple(numbered[id(owner)] for owner in loop.built.owners)
    job = without_cell(execution)
    large = min(each.length for each in execution.fused.sources) >= STREAMED
    return RunGuards(
        known,
        shape_of(bound),
        slots,
        owned[1],
        numbers,
        words,
        bare(loop),
        owners,
        changed(execution, values=[], columns=[], job=job, choice=None),
        found is not None or bool(stretches),
        large,
        loop.built.even or raises_before_zip(loop.pipeline),
        varied(known, workspace),
        stretches,
        placed or {},
    )  # fmt: skip


def shape_of(bound: Bound) -> Shape:
    """What its stages take."""
    return tuple((stage.site.name in BESIDE, len(stage.args), (*stage.kwargs,)) for stage in bound.stages)


def raises_before_zip(pipeline: Pipeline) -> bool:
    """Whether sources have to be of one length: of a longer first one Python computes one element more."""
    zips = [number for number, stage in enumerate(pipeline.stages) if stage.kind == "zip"]
    before = pipeline.stages[: zips[-1]] if zips else ()
    return any(stage.fn is not None and stage.fn.effects for stage in before)


__all__ = [
    "BESIDE",
    "Again",
    "Display",
    "RunGuards",
    "Shape",
    "arguments_of",
    "bare",
    "given",
    "guards_of",
    "places",
    "raises_before_zip",
    "renewed",
    "same_twins",
    "shape_of",
    "sources",
]  # fmt: skip
