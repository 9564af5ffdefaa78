"""The statements of a pipeline as they were written: the listing of what was compiled, and what Python ran around it.

map lambda x: x + 1                                           ; line 1
  ...
array
map(str)                                                      ; Python: `str` has no compiled form yet
to_list                                                       ; Python
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hastega_magic.report.escape import one_line
from hastega_magic.report.model import PipelineReport

_NOTE = 64
"""The column of notes, as in the listing."""

_LOOP = "; ── loop "
"""How the listing of each of several loops begins."""


def as_written(pipeline: PipelineReport) -> Iterator[str]:
    """The lines of all stages, in their order."""
    lines = pipeline.code.pipeline.splitlines()
    if not lines:
        yield from _uncompiled(pipeline)
        return
    parts: list[list[str]] = [[]]
    for line in lines:
        if line.startswith(_LOOP) and parts[-1]:
            parts.append([])
        parts[-1].append(line)
    boxes = [box for box in pipeline.graph.after.nodes if box.kind in ("stage", "barrier")]
    if boxes and boxes[0].kind == "barrier":
        yield from _head(pipeline)
    for box in boxes:
        if box.kind == "barrier":
            for number, stage in enumerate(box.label.splitlines()):
                yield _noted(stage, "Python", "" if number else box.reason)
        elif parts:
            yield from parts.pop(0)
    for part in parts:
        yield from part


def _uncompiled(pipeline: PipelineReport) -> Iterable[str]:
    """The stages alone, of what has no loop to be listed."""
    whys = {each.stage: each.reason for each in pipeline.barriers}
    boxes = (box for box in pipeline.graph.after.nodes if box.kind == "barrier")
    theirs = {stage for box in boxes for stage in box.label.splitlines()} | whys.keys()
    others = {"numpy": "NumPy", "python": "Python"}.get(pipeline.backend, "") if not pipeline.loops else ""
    yield from _head(pipeline)
    for stage in pipeline.stages[1:]:
        yield _noted(stage, "Python" if stage in theirs else others, whys.get(stage, ""))


def _head(pipeline: PipelineReport) -> Iterable[str]:
    """The name and the source."""
    for source in pipeline.stages[:1]:
        yield f"pipeline {one_line(pipeline.name)}"
        whys = [each.reason for each in pipeline.barriers if each.stage == source]
        yield _noted(f"source {source}", "Python" if whys else "", "".join(whys[:1]))


def _noted(stage: str, who: str, why: str) -> str:
    """A stage with who computed it, and why."""
    text = f"  {one_line(stage)}"
    note = f"{who}: {one_line(why)}" if why else who
    return f"{text:<{_NOTE}}; {note}" if note else text


__all__ = ["as_written"]
