"""A part of what loops run over: the same loops, over a stretch of their sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hastega_magic.compiler.statement import Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.ir.pipeline import Source
from hastega_magic.runtime.sources import stretched


def part(loops: Sequence[Loop], workspace: Workspace, size: int) -> tuple[list[Loop], Workspace]:
    """The loops over the first `size` elements of their sources, which are cut without being copied."""
    return stretch(loops, workspace, 0, size)


def stretch(
    loops: Sequence[Loop], workspace: Workspace, start: int, stop: int
) -> tuple[list[Loop], Workspace]:
    """The loops over elements `start` to `stop` of their sources."""
    cut = replace(workspace, columns={}, wanted=frozenset(), first=workspace.first + start)

    def shorter(source: Source) -> Source:
        column = workspace.column(source)
        length = max(0, min(stop, source.length) - start)
        parts = tuple(replace(part, length=length) for part in source.parts)
        described = replace(source, length=length, parts=parts)
        found = replace(column, source=described, data=stretched(column, start, stop))
        cut.keep(found)
        return found.source

    changed: list[Loop] = []
    for loop in loops:
        pipeline = loop.pipeline
        stages = tuple(
            replace(
                stage,
                sources=tuple(map(shorter, stage.sources)),
                number=stage.number + start * stage.stride if stage.kind == "enumerate" else stage.number,
            )
            for stage in pipeline.stages
        )
        source = pipeline.source if pipeline.source.kind == "result" else shorter(pipeline.source)
        sink = replace(pipeline.sink, init=tuple(map(shorter, pipeline.sink.init)))
        numbers = tuple((node, shorter(number)) for node, number in pipeline.parameters)
        pipeline = replace(pipeline, source=source, stages=stages, sink=sink, parameters=numbers)
        changed.append(replace(loop, pipeline=pipeline))
    return changed, cut


__all__ = ["part", "stretch"]
