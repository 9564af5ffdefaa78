"""A pipeline statement on its way: bound to objects, then built into a loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import BeyondInt64, NotCompilable, Reason, Span
from hastega_magic.ir.expr import structure
from hastega_magic.ir.pipeline import Pipeline, Source
from hastega_magic.runtime.python import StageCall
from hastega_magic.syntax.build import BoundStage, Built, build
from hastega_magic.syntax.cell import Site
from hastega_magic.types import FLOAT, FLOAT64, INT, ScalarType


@dataclass(frozen=True)
class Bound:
    """A pipeline with its source and arguments evaluated. `target`: the variable it is assigned to, or None."""

    site: Site
    source: Any
    stages: tuple[BoundStage, ...]
    target: str | None = None

    @property
    def name(self) -> str:
        """How reports call its result."""
        return self.target or f"line {self.site.span.line}"

    def calls(self, stages: Sequence[BoundStage] | None = None) -> list[StageCall]:
        """The stages as CPython runs them."""
        used = self.stages if stages is None else stages
        return [(stage.site.name, stage.callee, stage.args, stage.kwargs) for stage in used]  # pyright: ignore[reportReturnType]


@dataclass(frozen=True)
class Loop:
    """The part of a statement that is one loop. `stages` are those in it, `built` what was made of them."""

    bound: Bound
    source: object
    stages: tuple[BoundStage, ...]
    built: Built
    pipeline: Pipeline

    @property
    def name(self) -> str:
        """The pipeline's name."""
        return self.pipeline.name


def build_loop(
    bound: Bound,
    value: object,
    stages: Sequence[BoundStage],
    workspace: Workspace,
    producer: Loop | None = None,
) -> tuple[Loop | None, Reason | None, bool]:
    """The longest prefix of the stages over `value` as a loop; else the reason and whether it is only a cut.

    `producer` is the earlier loop of the group whose result `value` stands for.
    """
    try:
        if producer is not None:
            source = _result_source(producer)
        else:
            source = workspace.source(value, bound.site.source_name or bound.site.source_text)
    except BeyondInt64:
        raise
    except NotCompilable as error:
        return None, error.reason, False
    built = build(bound.name, source, stages, workspace)
    if built.pipeline is None:
        return None, built.reason, built.cut
    pipeline = replace(
        built.pipeline, span=_extent(bound, stages, built), source_span=_source_span(bound, stages)
    )
    if built.skip or built.limit is not None:
        if producer is not None:
            return None, None, True
        pipeline = _windowed(pipeline, built, workspace)
    return Loop(bound, value, tuple(stages[: built.consumed]), built, pipeline), built.reason, built.cut


def _source_span(bound: Bound, stages: Sequence[BoundStage]) -> Span:
    """Where the elements come from: the statement's source, or the stage before these."""
    before = len(bound.stages) - len(stages)
    return bound.site.source_span if before <= 0 else bound.stages[before - 1].site.span


def _extent(bound: Bound, stages: Sequence[BoundStage], built: Built) -> Span:
    """The statement's pipeline if the loop is all of it, else its last stage: where its result is made."""
    whole = built.consumed == len(bound.stages)
    return bound.site.span if whole or not built.consumed else stages[built.consumed - 1].site.span


def element_structure(pipeline: Pipeline) -> object:
    """The types of an element after the pipeline's stages: a ScalarType, or a tuple of such."""
    found: object = pipeline.source.type
    for stage in pipeline.stages:
        match stage.kind:
            case "map":
                assert stage.fn is not None
                found = structure(stage.fn.result)
            case "zip":
                found = (found, *(source.type for source in stage.sources))
            case "enumerate":
                found = (INT, found)
            case _:
                pass
    return found


def _result_source(producer: Loop) -> Source:
    found = element_structure(producer.pipeline)
    if not isinstance(found, ScalarType) or producer.pipeline.sink.kind != "array":
        raise NotCompilable(f"`{producer.name}` does not hold numbers")
    return Source(producer.name, "result", FLOAT64 if found is FLOAT else found, None)


def _windowed(pipeline: Pipeline, built: Built, workspace: Workspace) -> Pipeline:
    """The pipeline over the part of its sources that `drop` and `take` leave."""
    stop = None if built.limit is None else built.skip + built.limit

    def part(source: Source) -> Source:
        return workspace.part(source, built.skip, stop)

    stages = tuple(replace(stage, sources=tuple(map(part, stage.sources))) for stage in pipeline.stages)
    return replace(pipeline, source=part(pipeline.source), stages=stages)
