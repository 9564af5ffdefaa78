"""A part of what loops run over: the same loops, over the first elements of their sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hastega_magic.compiler.statement import Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.ir.pipeline import Source


def part(loops: Sequence[Loop], workspace: Workspace, size: int) -> tuple[list[Loop], Workspace]:
    """The loops over the first `size` elements of their sources, which are cut without being copied."""
    cut = replace(workspace, columns={}, wanted=frozenset())

    def shorter(source: Source) -> Source:
        column = workspace.column(source)
        found = replace(
            column, source=replace(source, length=min(size, source.length)), data=column.data[:size]
        )
        cut.columns[source.kind, source.key] = found
        return found.source

    changed: list[Loop] = []
    for loop in loops:
        pipeline = loop.pipeline
        stages = tuple(
            replace(stage, sources=tuple(map(shorter, stage.sources))) for stage in pipeline.stages
        )
        source = pipeline.source if pipeline.source.kind == "result" else shorter(pipeline.source)
        changed.append(replace(loop, pipeline=replace(pipeline, source=source, stages=stages)))
    return changed, cut


__all__ = ["part"]
