"""A pipeline statement on its way: bound to objects, then built into a loop."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import BeyondInt64, NotCompilable, Reason, Span
from hastega_magic.frames import reraise_signal
from hastega_magic.ir.expr import flatten, postorder, structure
from hastega_magic.ir.pipeline import Pipeline, Source, Stage
from hastega_magic.ir.rows import Rows
from hastega_magic.records import changed, dataclass
from hastega_magic.runtime.python import StageCall
from hastega_magic.syntax.closures.contained import Where
from hastega_magic.syntax.closures.numbers import Number
from hastega_magic.syntax.loops.build import BoundStage, Built, Probe, View, build
from hastega_magic.syntax.loops.rules_scan import begun_with
from hastega_magic.syntax.site import Site
from hastega_magic.syntax.values.values import counted
from hastega_magic.types import FLOAT, FLOAT32, FLOAT64, INT, Composite, Either, ScalarType

if TYPE_CHECKING:
    from hastega_magic.syntax.ordinary.scalars import Scalars


@dataclass(frozen=True)
class Bound:
    """A pipeline with its source and arguments evaluated. `target`: the variable it is assigned to, or None.

    `varying`: captured numbers that keep changing, to be parameters of its loops; `needed`: those that keep changing,
    and without which it cannot be compiled. `numbers`: all that it captures, where somebody has looked. `ordinary`:
    Python runs it from the user's own line where it is no loop, all of it. `apart`: its functions take elements apart
    at once, so that lists may be for tuples. `rows`: those that its functions read by their places.
    """

    site: Site
    source: Any
    stages: tuple[BoundStage, ...]
    target: str | None = None
    varying: frozenset[Where] = frozenset()
    needed: frozenset[Where] = frozenset()
    numbers: Mapping[Where, tuple[Number, ...]] | None = field(default=None, compare=False)
    ordinary: bool = False
    apart: bool = False
    rows: Rows | None = None

    @property
    def name(self) -> str:
        """How reports call its result."""
        return self.target or f"line {self.site.span.line}"

    def calls(self, stages: Sequence[BoundStage] | None = None) -> list[StageCall]:
        """The stages as CPython runs them."""
        return calls_of(self.stages if stages is None else stages)


def calls_of(stages: Sequence[BoundStage]) -> list[StageCall]:
    """Stages as CPython runs them."""
    return [(stage.site.name, stage.callee, stage.args, stage.kwargs) for stage in stages]  # pyright: ignore[reportReturnType]


NUMBERED = frozenset({"take", "drop", "step", "window", "chunk"})
"""Stages that are given a number of elements."""


def sized(bound: Bound) -> Bound:
    """The statement, numbers of elements as ints: an object that gives one (`__index__`) is asked once, as by Python.

    Not behind a stage that is given the value as it is, and may do anything to the object.
    """
    stages, asked = list(bound.stages), False
    for place, stage in enumerate(bound.stages):
        if stage.callee is not None or not stage.site.known or stage.site.name == "tap":
            break
        given: Any = (*stage.args, *stage.kwargs.values())
        if stage.site.name not in NUMBERED or len(given) != 1 or isinstance(given[0], (int, np.generic)):
            continue
        try:
            size = operator.index(given[0])
        except Exception as error:  # which Python raises where the stage has its turn
            reraise_signal(error)
            continue
        stages[place], asked = replace(stage, args=(size,), kwargs={}), True
    return replace(bound, stages=tuple(stages)) if asked else bound


def bound_of(
    site: Site, source: object, stages: Sequence[tuple[Any, tuple[Any, ...], Mapping[str, Any]]]
) -> Bound:
    """The pipeline with, for each of its stages, what is called and its arguments."""
    pairs = zip(site.stages, stages, strict=True)
    return Bound(
        site, source, tuple(BoundStage(each, callee, args, kwargs) for each, (callee, args, kwargs) in pairs)
    )


@dataclass(frozen=True)
class Loop:
    """The part of a statement that is one loop. `stages` are those in it, `built` what was made of them."""

    bound: Bound
    source: object
    stages: tuple[BoundStage, ...]
    built: Built
    pipeline: Pipeline
    scalars: Scalars | None = None
    """What it gives by NumPy's rules, where elements are NumPy's scalars."""

    @property
    def name(self) -> str:
        """The pipeline's name."""
        return self.pipeline.name


def bare(loop: Loop) -> Loop:
    """The loop without the user's data."""
    bound = changed(loop.bound, source=None, stages=())
    return changed(loop, source=None, bound=bound, stages=(), built=changed(loop.built, owners=()))


class Attempt(NamedTuple):
    """What became of stages: a loop over the first of them, and why the next one is not in it.

    With a probe the loop is one to be run first; what it gives goes into `known` under the probe's number.
    """

    loop: Loop | None
    reason: Reason | None = None
    probe: Probe | None = None


def build_loop(
    bound: Bound,
    value: object,
    stages: Sequence[BoundStage],
    workspace: Workspace,
    producer: Loop | None = None,
    known: Mapping[int, object] | None = None,
) -> Attempt:
    """The longest prefix of the stages over `value` as a loop; else the reason.

    `producer` is the earlier loop of the group whose result `value` stands for; `known` what probes have found so far.
    """
    if producer is not None and producer.built.tail:
        return Attempt(None)
    try:
        if producer is not None:
            source = _result_source(producer)
        else:
            source = workspace.source(value, bound.site.source_name or bound.site.source_text)
    except BeyondInt64:
        raise
    except NotCompilable as error:
        return Attempt(None, error.reason)
    own = _own_array(value, bound, stages)
    built = counted(own, lambda: build(bound.name, source, stages, workspace, known))
    if isinstance(source.structure, Either) and built.pipeline is not None and _narrow(built.pipeline):
        return Attempt(None)  # float64 or Python's float beside float32: only the array of results knows
    if built.probe is not None:
        return _asking(bound, value, stages, built.probe, workspace, producer)
    if built.pipeline is None:
        return Attempt(None, built.reason)
    pipeline = changed(
        built.pipeline, span=_extent(bound, stages, built), source_span=source_span(bound, stages)
    )
    if built.view is not None:
        if producer is not None:
            return Attempt(None)
        pipeline = _placed(pipeline, built.view, workspace, stages)
    if workspace.parameters:
        pipeline = replace(pipeline, parameters=workspace.parameter_sources(pipeline.source.length))
    used = tuple(stages[: built.consumed])
    if workspace.scalars is None:
        return Attempt(Loop(bound, value, used, built, pipeline), built.reason)
    try:
        from hastega_magic.syntax.ordinary.scalars import by_numpys_rules

        pipeline, scalars = by_numpys_rules(
            pipeline,
            workspace.kind_of,
            workspace.kinds_of_tables(),
            pipeline.source.length,
            begun_with(used[-1]) if used else (),
            workspace.starts,
        )
    except NotCompilable as error:
        return Attempt(None, error.reason)
    return Attempt(Loop(bound, value, used, built, pipeline, scalars), built.reason)


def _own_array(value: object, bound: Bound, stages: Sequence[BoundStage]) -> bool:
    """Whether a loop begins with the statement's own source, an array: what a loop before gave is one, too."""
    return issubclass(type(value), np.ndarray) and len(stages) > 0 and stages[0] is bound.stages[0]


def built_anew(loops: Sequence[Loop], workspace: Workspace) -> list[Loop]:
    """Loops of one group as they are built of what their sources hold, and their functions read, by now.

    NotCompilable where one is not to be had as a whole.
    """
    found: list[Loop] = []
    for loop in loops:
        source = loop.pipeline.source
        producers = (each for each in reversed(found) if source.kind == "result" and each.name == source.name)
        new, reason, _ = build_loop(loop.bound, loop.source, loop.stages, workspace, next(producers, None))
        if new is None or len(new.stages) < len(loop.stages):
            raise NotCompilable(reason.text if reason is not None else "it has no compiled form by now")
        found.append(new)
    return found


def _asking(
    bound: Bound,
    value: object,
    stages: Sequence[BoundStage],
    probe: Probe,
    workspace: Workspace,
    producer: Loop | None,
) -> Attempt:
    """The loop that has to be run before the stages can be built into one."""
    if producer is not None:
        return Attempt(None)
    used = tuple(stages[: probe.number + 1])
    span = source_span(bound, stages)
    pipeline = replace(_placed(probe.pipeline, probe.view, workspace, stages), source_span=span)
    if workspace.parameters:
        pipeline = replace(pipeline, parameters=workspace.parameter_sources(pipeline.source.length))
    built = Built(pipeline, len(used), owners=probe.owners, bespoke=True)
    return Attempt(Loop(bound, value, used, built, pipeline), probe=probe)


def source_span(bound: Bound, stages: Sequence[BoundStage]) -> Span:
    """Where the elements come from: the statement's source, or the stage before these."""
    spans = [stage.site.span for stage in bound.stages]
    before = len(spans) - len(stages)
    first = stages[0].site.span if stages else None
    if first is not None and spans[before : before + 1] != [first]:  # without fusion each stage comes alone
        before = spans.index(first) if first in spans else 0
    return bound.site.source_span if before <= 0 else spans[before - 1]


def _extent(bound: Bound, stages: Sequence[BoundStage], built: Built) -> Span:
    """The statement's pipeline if the loop is all of it, else its last stage: where its result is made."""
    whole = built.consumed == len(bound.stages)
    return bound.site.span if whole or not built.consumed else stages[built.consumed - 1].site.span


def element_structure(pipeline: Pipeline) -> object:
    """The types of an element after the pipeline's stages: a ScalarType, or a tuple of such."""
    found: object = pipeline.source.structure
    for stage in pipeline.stages:
        match stage.kind:
            case "map":
                assert stage.fn is not None
                found = structure(stage.fn.result)
            case "zip":
                found = (found, *(source.structure for source in stage.sources))
            case "enumerate":
                found = (INT, found)
            case "index":
                found = INT
            case "window":
                found = (found,) * stage.number
            case _:
                pass
    return found


def _narrow(pipeline: Pipeline) -> bool:
    """Whether float32 takes part."""
    functions = [stage.fn for stage in pipeline.stages if stage.fn is not None]
    nodes = postorder(node for fn in functions for node in (*flatten(fn.params), *flatten(fn.result)))
    return any(node.type is FLOAT32 for node in nodes)


def _result_source(producer: Loop) -> Source:
    found = element_structure(producer.pipeline)
    types = cast("tuple[object, ...]", found) if isinstance(found, Composite) else (found,)
    length = min(each.length for each in producer.pipeline.sources)  # captured numbers have as many elements
    of_parts = [
        Source(producer.name, "result", FLOAT64 if each is FLOAT else each, None, length=length)
        for each in types
        if isinstance(each, ScalarType)
    ]
    if len(of_parts) < len(types) or producer.pipeline.sink.kind != "array":
        raise NotCompilable(f"`{producer.name}` does not hold numbers")
    return of_parts[0] if len(of_parts) == 1 else replace(of_parts[-1], parts=tuple(of_parts))


def _placed(pipeline: Pipeline, view: View, workspace: Workspace, written: Sequence[BoundStage]) -> Pipeline:
    """The pipeline over the part of its sources that the view has; windows get theirs, moved on.

    `written`: the stages as they stand in the text.
    """
    count = view.count
    # Of a `step` by what may be another number in the next run, code is for any distance.
    free = any(each.site.name == "step" and not each.site.fixed for each in written)
    assert count is not None
    known: list[tuple[Source, int]] = [(pipeline.source, 0)]
    stages: list[Stage] = []

    def part(source: Source, distance: int) -> Source:
        found = workspace.part(source, view.start + distance, view.step, count)
        if free and found.apart:
            found = replace(found, layout="strided")
        if not distance:
            return found
        parts = tuple(replace(each, beside=True) for each in found.parts)
        return replace(found, name=f"{found.name}{distance:+}", beside=True, parts=parts)

    for stage in pipeline.stages:
        added: list[tuple[Source, int]] = [(source, 0) for source in stage.sources]
        if stage.kind == "window":
            distances = [stage.stride * number for number in range(1, stage.number)]
            added = [(source, before + more) for more in distances for source, before in known]
        known += added
        stages.append(replace(stage, sources=tuple(part(*each) for each in added)))
    return replace(pipeline, source=part(pipeline.source, 0), stages=tuple(stages))
