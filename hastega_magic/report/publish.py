r"""The report's JSON as it is put into a notebook: where it is long, cut to a size that version control bears.

{"code": {"llvm": "...\n; … 29 600 lines left out: %hastega report --save FILE.html\n..."},
 "links": [...],                                  # line numbers of the cut listings
 "cut": {"code.llvm": 30000, "stages": 1001}}     # what was cut, and how much of it there is
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar, cast

from hastega_magic.records import changed, dataclass
from hastega_magic.report import units
from hastega_magic.report.encoding import encode
from hastega_magic.report.listing import SAVE, all_shortened, hot_loop, shortened
from hastega_magic.report.memo import Recent
from hastega_magic.report.model import Barrier, CellInfo, Code, Graph, GraphPair, Json, PipelineReport, Report
from hastega_magic.report.truncate import FEW, WHOLE, few_nodes

ROOM = 145_000
"""Bytes of JSON that a report may take in a notebook."""

WHERE = f"{SAVE}, or hastega_magic.last_report() in Python"
"""What gives a report with nothing cut."""

_LEVELS = (600, 300, 150, 75, 35, 15)
"""Lines that a listing may keep, tried in turn until all of the report fits."""

_COMMENTS = {"fused": ";", "llvm": ";", "opencl": "//", "asm": "#"}

T = TypeVar("T")


def published(report: Report, room: int = ROOM) -> dict[str, Json]:
    """`to_dict` in about `room` bytes of JSON: long listings, links, graphs and lists are cut, and `cut` says so."""
    least = [_least(each) for each in report.pipelines]
    if 2 * (sum(least) + len(report.cell.source)) + sum(map(_rest, report.pipelines)) <= room:
        return _with_shared(report)  # measuring it would cost as much as sending it
    if sum(least) <= room and _size(data := report.to_dict()) <= room:
        return data
    for limit in _LEVELS:
        if sum(min(each, _LINE * limit) for each in least) > room:
            continue
        data = _cut_report(report, limit).to_dict()
        if _size(data) <= room:
            return data
    return _heads(report, room)


def _with_shared(report: Report) -> dict[str, Json]:
    """`to_dict`, but links, which are JSON already, and what cells that run again share are not encoded anew."""
    short = tuple(map(_short, report.pipelines))
    data = changed(report, pipelines=short).to_dict()
    for entry, pipeline in zip(
        cast("list[dict[str, Json]]", data["pipelines"]), report.pipelines, strict=True
    ):
        entry["links"] = list(pipeline.links)
        entry["graph"] = {"before": _graph(pipeline.graph.before), "after": _graph(pipeline.graph.after)}
        if (lanes := pipeline.lanes) is not None:
            entry["lanes"] = {
                "lanes": lanes.lanes,
                "steps": _copy(_shared(lanes.steps)),
                "total": lanes.total,
            }
        if (cost := pipeline.cost) is not None:
            cast("dict[str, Json]", entry["cost"])["curves"] = [
                {
                    "backend": each.backend,
                    "points": [
                        [n, seconds] for n, seconds in cast("list[list[float]]", _shared(each.points))
                    ],
                    "measured": encode(each.measured),
                }
                for each in cost.curves
            ]
    return data


def _short(pipeline: PipelineReport) -> PipelineReport:
    """Without what `_with_shared` adds."""
    cost = None if pipeline.cost is None else changed(pipeline.cost, curves=())
    return changed(pipeline, links=(), graph=GraphPair(), lanes=None, cost=cost)


_shared = Recent(encode)


def _graph(graph: Graph) -> Json:
    return {"nodes": _copy(_shared(graph.nodes)), "edges": _copy(_shared(graph.edges))}


def _copy(value: Json) -> Json:
    """Whoever captures an output may change it."""
    if type(value) is list:
        return [_copy(each) if type(each) in _CHANGED else each for each in value]
    if type(value) is dict:
        return {key: _copy(each) if type(each) in _CHANGED else each for key, each in value.items()}
    return value


_CHANGED = (list, dict)


def _size(data: Json) -> int:
    return len(json.dumps(data, ensure_ascii=False).encode())


_LINE = 60
"""Bytes that a line of the listings of a long pipeline takes at least, all of them together."""


def _rest(pipeline: PipelineReport) -> int:
    """More bytes than the pipeline takes beside its listings, where twice these have room for links between them."""
    sentences = (
        *pipeline.stages,
        *pipeline.warnings,
        *pipeline.why,
        *(each.reason for each in pipeline.barriers),
    )
    nodes = len(pipeline.graph.before.nodes) + len(pipeline.graph.after.nodes)
    return 10_000 + 2 * sum(map(len, sentences)) + 200 * (len(sentences) + len(pipeline.links) + nodes)


def _least(pipeline: PipelineReport) -> int:
    """Fewer bytes than the pipeline takes: those of its longest parts."""
    code = pipeline.code
    texts = (
        code.pipeline,
        code.fused,
        code.llvm,
        code.asm,
        code.opencl,
        *(each.text for each in code.passes),
    )
    return sum(map(len, texts))


def _heads(report: Report, room: int) -> dict[str, Json]:
    """The first pipelines cut short, as many as there is room for; of the others what they took, without their code."""
    cut = _cut_report(report, _LEVELS[-1])
    bare = [
        replace(
            each, stages=(), barriers=(), code=Code(), links=(), graph=GraphPair(), lanes=None, model=None, why=(),
            foremost=(), warnings=(),
            cut={name: each.count(name) for name in ("stages", "barriers", "warnings")} | {"code": 1},
        )
        for each in cut.pipelines
    ]  # fmt: skip
    left = room - _size(replace(cut, pipelines=tuple(bare)).to_dict())
    pipelines = list(bare)
    for number, each in enumerate(cut.pipelines):
        left -= _size(Report(pipelines=(each,)).to_dict()) - _size(
            Report(pipelines=(bare[number],)).to_dict()
        )
        if left < 0:
            break
        pipelines[number] = each
    return replace(cut, pipelines=tuple(pipelines)).to_dict()


def _cut_report(report: Report, limit: int) -> Report:
    return replace(
        report,
        cell=_cell(report.cell, limit),
        pipelines=tuple(cut_pipeline(each, limit) for each in report.pipelines),
    )


def _cell(cell: CellInfo, limit: int) -> CellInfo:
    """The cell's text; one that is too long by itself keeps its beginning, where places stay what they are."""
    most = 100 * limit + 20_000
    source = cell.source if len(cell.source) <= most else cell.source[:most] + f"\n# … cut: {WHERE}"
    return replace(cell, source=source, why=cell.why[:limit], warnings=cell.warnings[:limit])


def cut_pipeline(pipeline: PipelineReport, limit: int) -> PipelineReport:
    """The pipeline with about `limit` lines of each listing, and as much of what else grows with the stages."""
    cut: dict[str, int] = dict(pipeline.cut or {})
    few = max(FEW, limit // 8)

    def listed(name: str, items: Sequence[T], most: int) -> tuple[T, ...]:
        if len(items) > most:
            cut.setdefault(name, len(items))
        return tuple(items[:most])

    code, kept = _code(pipeline.code, limit, cut)
    for name, graph in (("before", pipeline.graph.before), ("after", pipeline.graph.after)):
        if len(graph.nodes) > few:
            cut.setdefault(f"graph.{name}", len(graph.nodes))
    links = (
        _links(pipeline.links, kept, limit, cut) if kept or len(pipeline.links) > limit else pipeline.links
    )
    lanes = pipeline.lanes
    if lanes is not None and "fused" in kept:
        steps = (replace(step, line=kept["fused"].line(step.line)) for step in lanes.steps)
        lanes = replace(
            lanes, steps=tuple(step for step in steps if step.line or limit > FEW)[: max(FEW, limit)]
        )
    barriers = [
        Barrier(shortened(each.stage, limit), shortened(each.reason, limit), each.span)
        for each in listed("barriers", pipeline.barriers, few)
    ]
    warnings = [shortened(each, limit) for each in listed("warnings", pipeline.warnings, few)]
    stages = _middle_left_out(pipeline.stages, few)
    if len(stages) < len(pipeline.stages):
        cut.setdefault("stages", len(pipeline.stages))
    why = [shortened(each, limit) for each in listed("why", pipeline.why, few)]
    if cut:
        why.append(f"Long listings are cut here, to keep the notebook small. All of it: {WHERE}.")
    return replace(
        pipeline,
        name=shortened(pipeline.name, limit),
        stages=tuple(shortened(each, limit) for each in stages),
        barriers=tuple(barriers),
        warnings=tuple(warnings),
        why=tuple(dict.fromkeys(why)),
        foremost=tuple(shortened(each, limit) for each in pipeline.foremost[:few]),
        code=code,
        links=links,
        lanes=lanes,
        graph=GraphPair(
            few_nodes(pipeline.graph.before, min(few, WHOLE)),
            few_nodes(pipeline.graph.after, min(few, WHOLE)),
        ),
        cut=cut or None,
    )


def _middle_left_out(items: Sequence[str], most: int) -> list[str]:
    if len(items) <= most:
        return list(items)
    head = most * 2 // 3
    tail = most - head - 1
    return [*items[:head], f"… {units.plural(len(items) - most + 1, 'more stage')}", *items[-tail:]]


# ------------------------------------------------------------------------------------------- listings


@dataclass(frozen=True)
class Kept:
    """The lines of a listing that are left: ranges from 1 with both ends, and a line that says so between them."""

    ranges: tuple[tuple[int, int], ...]

    def line(self, number: int) -> int:
        """Where a line stands now; 0: it is left out."""
        place = bisect_right(self.ranges, (number, 1 << 60)) - 1
        if number <= 0 or place < 0 or number > self.ranges[place][1]:
            return 0
        before = sum(end - start + 2 for start, end in self.ranges[:place])
        return before + number - self.ranges[place][0] + 1


def _code(code: Code, limit: int, cut: dict[str, int]) -> tuple[Code, dict[str, Kept]]:
    """The listings cut, and for those that were, which lines are left."""
    kept: dict[str, Kept] = {}
    texts: dict[str, str] = {}
    for name, comment in _COMMENTS.items():
        text: str = getattr(code, name)
        lines = text.splitlines()
        if len(lines) > limit + limit // 4:
            kept[name] = _kept(len(lines), limit, None if name == "fused" else hot_loop(text))
            cut.setdefault(f"code.{name}", len(lines))
            texts[name] = _without(lines, kept[name], limit, comment)
        else:
            texts[name] = "\n".join(all_shortened(lines, limit))
    steps = tuple(
        replace(step, text=_head(step.text, limit // 2, f"code.passes.{step.name}", cut))
        for step in code.passes
    )
    pipeline = _head(code.pipeline, limit // 2, "code.pipeline", cut)
    return replace(code, passes=steps, pipeline=pipeline, **texts), kept


def _kept(total: int, limit: int, hot: tuple[int, int] | None) -> Kept:
    """The beginning and the hot loop: where that is too long, its beginning and its end, which makes it a loop."""
    if hot is None or hot[1] - hot[0] > total * 9 // 10:
        return Kept(((1, limit * 3 // 4), (total - limit // 4 + 1, total)))
    start, end = hot[0] + 1, hot[1]
    head = min(limit // 3, start - 1)
    rest = limit - head
    if end - start + 1 <= rest:
        parts = [(1, head), (start, end), (total, total)]
    else:
        parts = [(1, head), (start, start + rest * 2 // 3), (end - rest // 3 + 1, end), (total, total)]
    ranges: list[tuple[int, int]] = []
    for first, last in parts:
        if last < first:
            continue
        if ranges and first <= ranges[-1][1] + 1:
            ranges[-1] = ranges[-1][0], max(last, ranges[-1][1])
        else:
            ranges.append((first, last))
    return Kept(tuple(ranges))


def _without(lines: Sequence[str], kept: Kept, limit: int, comment: str) -> str:
    found: list[str] = []
    before = 0
    for start, end in kept.ranges:
        if before:
            found.append(f"{comment} … {units.plural(start - before - 1, 'line')} left out: {SAVE}")
        found += all_shortened(lines[start - 1 : end], limit)
        before = end
    return "\n".join(found)


def _head(text: str, limit: int, name: str, cut: dict[str, int]) -> str:
    lines = text.splitlines()
    if len(lines) <= limit + limit // 4:
        return "\n".join(all_shortened(lines, limit))
    cut.setdefault(name, len(lines))
    more = f"; … {units.plural(len(lines) - limit, 'more line')}: {SAVE}"
    return "\n".join([*all_shortened(lines[:limit], limit), more])


def _links(
    links: Sequence[Json], kept: Mapping[str, Kept], limit: int, cut: dict[str, int]
) -> tuple[Json, ...]:
    """The links between what is left; those that lead nowhere any more are left out."""
    found: list[Json] = []
    for link in links:
        if len(found) == 4 * limit or not isinstance(link, dict):
            continue
        entry: dict[str, Json] = dict(link)
        for name, lines in kept.items():
            numbers = cast("list[int]", link.get(name) or [])
            entry[name] = [place for place in map(lines.line, numbers) if place]
        if isinstance(link.get("text"), str):
            entry["text"] = shortened(cast("str", link["text"]), 0)
        if any(entry.get(name) for name in _COMMENTS):
            found.append(entry)
    if len(found) < len(links):
        cut.setdefault("links", len(links))
    return tuple(found)


__all__ = ["ROOM", "WHERE", "Kept", "cut_pipeline", "published"]
