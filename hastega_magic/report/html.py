"""The report as text/html that survives anywhere: no script, no style element, no kernel.

Everything is `<details>`, `<pre>`, tables and `<img>`; inline styles only improve on it, so a viewer that
strips them still shows all. Text takes the page's colour; where a background is set, the ink is set with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from hastega_magic.report import units
from hastega_magic.report.charts import Row, baseline_image, graph_image, time_image
from hastega_magic.report.escape import markup, one_line, shorten
from hastega_magic.report.listing import Excerpt, changes, excerpt, hot_loop, shortened
from hastega_magic.report.model import SCHEMA, Code, PassText, PipelineReport, Report
from hastega_magic.report.verdict import (
    LEGEND,
    backend_name,
    phase_name,
    reasons,
    remarks,
    steps,
    title,
    verdict,
)

LINES = 120
"""How many lines of one listing are shown under a cell."""

EVERYTHING = 1_000_000
"""A limit that no listing reaches."""

_CHIP = "background:#fdecea;color:#8a1410;border:1px solid #b3261e;padding:0 4px"
_ALERT = "background:#fdecea;color:#8a1410;border-left:4px solid #b3261e;padding:3px 8px;margin:3px 0"
_NOTE = "background:#fdf3d8;color:#4d3800;border-left:4px solid #a67c00;padding:3px 8px;margin:3px 0"
_PRE = (
    "border:1px solid #8b8b85;padding:6px 8px;margin:4px 0;overflow:auto;max-height:420px;"
    "font-size:12px;line-height:1.35;white-space:pre"
)
_DIFF = {
    "+": "background:#d6f0dc;color:#0c3a1c",
    "-": "background:#f4e3bd;color:#4a3300",
    "@": "background:#e4e4df;color:#44443f",
}
_CELL = "text-align:right;padding:1px 12px 1px 0;border:0"
_GRAPH = "vertical-align:top;text-align:left;padding:0 10px 0 0;border:0"
_FIRST = "text-align:left;padding:1px 12px 1px 0;border:0"


def render_html(report: Report, full: bool = False) -> str:
    """An HTML fragment. Listings are cut at a readable length, the hot loop kept, unless `full`."""
    limit = EVERYTHING if full else max(30, LINES // max(1, len(report.pipelines)))
    out = [_note(f"! {one_line(warning)}") for warning in report.cell.warnings]
    if report.schema > SCHEMA:
        out.append(
            _note(f"This report has schema {report.schema}; what is newer than {SCHEMA} is not shown.")
        )
    if not report.pipelines:
        out.append("<div>Hastega: no pipeline ran in this cell.</div>")
    out += [_pipeline(pipeline, limit) for pipeline in report.pipelines]
    if any(p.baselines for p in report.pipelines):
        out.append(f'<div style="opacity:0.8;font-size:12px;margin-top:4px">{markup(LEGEND)}</div>')
    return f'<div dir="ltr" style="line-height:1.5;max-width:1000px">{"".join(out)}</div>'


def _pipeline(pipeline: PipelineReport, limit: int) -> str:
    parts = (
        f'<span style="{_CHIP}">{markup(part.text)}</span>' if part.bad else markup(part.text)
        for part in verdict(pipeline)
    )
    out = [f"<div><b>{markup(shorten(title(pipeline), 60))}</b>&emsp;{' · '.join(parts)}</div>"]
    for barrier in pipeline.barriers:
        stage = f"<code>{markup(shorten(barrier.stage, 80))}</code>"
        where = f" (line {barrier.span[0]})" if barrier.span else ""
        out.append(
            f'<div style="{_ALERT}">✗ barrier {stage}{where}: {markup(one_line(barrier.reason))}</div>'
        )
    out += [_note(f"! {one_line(warning)}") for warning in pipeline.warnings]
    out.append(_times(pipeline))
    out += _sections(pipeline, limit)
    return f'<div style="margin:4px 0 10px 0">{"".join(out)}</div>'


def _sections(pipeline: PipelineReport, limit: int) -> Iterable[str]:
    code = pipeline.code
    yield _details(
        "Pipeline",
        f"{units.plural(len(pipeline.stages), 'stage')}, before and after fusion",
        _graphs(pipeline),
    )
    yield _details("Baselines", "; ".join(_baseline_names(pipeline)), _baselines(pipeline))
    yield _details("Times and transfers", _moved(pipeline), _phases(pipeline))
    yield _listings(code, limit)
    yield _details("Why", "", _why(pipeline))


@lru_cache(maxsize=64)
def _listings(code: Code, limit: int) -> str:
    """The sections that a cell of the same shape shows again as they are."""
    changed = ", ".join(one_line(step.name) for step in code.passes)
    return "".join(
        (
            _details("Fused IR", "the loop that all stages became", _listing(code.fused, limit)),
            _details("Passes", changed, _passes(code, limit)),
            _details("LLVM IR", _count(code.llvm) + ", as compiled", _hot(code.llvm, limit)),
            _details("Assembly", _count(code.asm) + ", as run", _hot(code.asm, limit)),
            _details("OpenCL C", _count(code.opencl), _listing(code.opencl, limit)),
        )
    )


def _details(name: str, hint: str, body: str) -> str:
    """A section that opens on a click; nothing where the body is empty."""
    if not body:
        return ""
    small = f' <span style="opacity:0.8;font-size:12px">{markup(hint)}</span>' if hint else ""
    return (
        f'<details style="margin:2px 0"><summary style="cursor:pointer"><b>{name}</b>{small}</summary>'
        f'<div style="margin:4px 0 8px 14px">{body}</div></details>'
    )


def _note(text: str) -> str:
    return f'<div style="{_NOTE}">{markup(text)}</div>'


# --------------------------------------------------------------------------------- figures and pictures


def _times(pipeline: PipelineReport) -> str:
    rows = [(_ours(pipeline), steps(pipeline.phases))]
    rows += [(backend_name(b.backend), steps(b.phases)) for b in pipeline.baselines if b.phases and b.equal]
    shown = tuple(row for row in rows if row[1])
    return f'<div style="margin:4px 0">{time_image(shown)}</div>' if shown else ""


def _ours(pipeline: PipelineReport) -> str:
    return "this run" + (f" ({one_line(pipeline.backend)})" if pipeline.backend else "")


def _graphs(pipeline: PipelineReport) -> str:
    pair = pipeline.graph
    cells = [
        f'<td style="{_GRAPH}">{graph_image(graph, caption)}</td>'
        for graph, caption in (
            (pair.before, "Before fusion, as written"),
            (pair.after, "After fusion, as run"),
        )
        if graph.nodes
    ]
    if not cells:
        return _listing(pipeline.code.pipeline, LINES)
    table = (
        f'<table style="border:0;margin:0"><tr style="background:transparent">{"".join(cells)}</tr></table>'
    )
    return f'<div style="overflow:auto">{table}</div>' + _nested(
        "as text", _listing(pipeline.code.pipeline, LINES)
    )


def _baseline_names(pipeline: PipelineReport) -> Iterable[str]:
    for baseline in pipeline.baselines:
        shown = units.seconds(baseline.seconds) if baseline.equal and baseline.seconds > 0 else "✗"
        mark = " ≈" if baseline.extrapolated and baseline.equal else ""
        yield f"{backend_name(baseline.backend)} {shown}{mark}"


def _baselines(pipeline: PipelineReport) -> str:
    if not pipeline.baselines:
        return ""
    running = pipeline.seconds()
    rows = [Row("hastega", running, units.seconds(running), ours=True)] if running > 0 else []
    table = [_row(("baseline", "time", "time ÷ ours", "how"), "th", last_left=True)]
    for baseline in pipeline.baselines:
        seconds = baseline.seconds if baseline.equal else 0.0
        ratio = f"{units.times(seconds / running)} ×" if seconds > 0 and running > 0 else ""
        time = units.seconds(seconds) if seconds > 0 else "–"
        mark = "≈" if baseline.extrapolated else "✓"
        remark = " · ".join(part for part in (f"{time} {mark}", ratio) if part)
        name = shorten(backend_name(baseline.backend), 24)
        remark = remark if seconds > 0 else "✗ another result"
        rows.append(Row(name, seconds, remark, extrapolated=baseline.extrapolated))
        table.append(_row((name, time, ratio, remarks(baseline)), last_left=True))
    return baseline_image(tuple(rows)) + _table(table)


def _moved(pipeline: PipelineReport) -> str:
    moved = sum(phase.bytes for phase in pipeline.phases)
    device = one_line(pipeline.device)
    said = ", ".join(part for part in (f"{units.size(moved)} moved" if moved else "", device) if part)
    return said + (", compiled earlier" if pipeline.cached else "")


def _phases(pipeline: PipelineReport) -> str:
    if not pipeline.phases:
        return ""
    rows = [_row(("phase", "time", "bytes", "rate"), "th")]
    for phase in pipeline.phases:
        moved = units.size(phase.bytes) if phase.bytes > 0 else ""
        rows.append(
            _row(
                (
                    phase_name(phase.name),
                    units.seconds(phase.seconds),
                    moved,
                    units.rate(phase.bytes, phase.seconds),
                )
            )
        )
    return _table(rows)


def _table(rows: Iterable[str]) -> str:
    return f'<table style="border-collapse:collapse;margin:2px 0">{"".join(rows)}</table>'


def _row(cells: Sequence[str], tag: str = "td", last_left: bool = False) -> str:
    left = {0, len(cells) - 1} if last_left else {0}
    body = "".join(
        f'<{tag} style="{_FIRST if i in left else _CELL}">{markup(cell)}</{tag}>'
        for i, cell in enumerate(cells)
    )
    return f'<tr style="background:transparent">{body}</tr>'


def _why(pipeline: PipelineReport) -> str:
    lines = "".join(f"<li>{markup(sentence)}</li>" for sentence in reasons(pipeline))
    return f'<ul style="margin:0">{lines}</ul>' if lines else ""


# --------------------------------------------------------------------------------------------- listings


def _pre(body: str) -> str:
    """A block of code, of text already escaped."""
    return f'<pre dir="ltr" style="{_PRE}">{body}</pre>'


def _nested(name: str, body: str) -> str:
    if not body:
        return ""
    return f'<details><summary style="cursor:pointer">{markup(name)}</summary>{body}</details>'


def _count(text: str) -> str:
    return units.plural(len(text.splitlines()), "line")


def _cut(part: Excerpt) -> str:
    """A note on what is not shown; nothing where all is."""
    if part.whole:
        return ""
    said = f"Lines {part.first} to {part.last} of {units.grouped(part.total)}. All of them: "
    how = "<code>%hastega report --save FILE.html</code>"
    return f'<div style="opacity:0.8;font-size:12px">{said}{how}</div>'


@lru_cache(maxsize=256)
def _listing(text: str, limit: int) -> str:
    """A listing from its beginning."""
    if not text.strip():
        return ""
    part = excerpt(text, limit)
    return _pre(markup(part.text)) + _cut(part)


@lru_cache(maxsize=64)
def _hot(text: str, limit: int) -> str:
    """A listing with its hot loop first, the rest behind a click."""
    loop = hot_loop(text) if text.strip() else None
    if loop is None:
        return _listing(text, limit)
    hot = excerpt(text, limit, *loop)
    cut = "" if hot.last == loop[1] else f", of which the first {limit} are shown"
    head = f"The hot loop, lines {loop[0] + 1} to {loop[1]} of {units.grouped(hot.total)}{cut}:"
    # What does not fit whole repeats little beside the loop: its beginning, for the declarations.
    most = limit if hot.total <= limit else limit // 3
    name = f"all {units.plural(hot.total, 'line')}" if hot.total <= limit else f"the first {most} lines"
    return f"<div>{head}</div>{_pre(markup(hot.text))}{_nested(name, _listing(text, most))}"


def _passes(code: Code, limit: int) -> str:
    """Each pass with what it changed, against the one before."""
    out: list[str] = []
    before = code.pipeline
    for number, step in enumerate(code.passes, 1):
        out.append(_pass(step, before, number, min(limit, 80) if limit <= LINES else limit))
        before = step.text
    return "".join(out)


@lru_cache(maxsize=256)
def _pass(step: PassText, before: str, number: int, limit: int) -> str:
    lines = changes(before, step.text)
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    told = f"+{added} −{removed} lines" if lines else "no change"
    doc = f"<div>{markup(one_line(step.doc))}</div>" if step.doc else ""
    if lines:
        body = doc + _pre("\n".join(_coloured(shortened(line, limit)) for line in lines[:limit]))
        body += _cut(Excerpt("", 1, min(limit, len(lines)), len(lines)))
    else:
        body = doc
    body += _nested(f"all after {one_line(step.name)}", _listing(step.text, limit))
    return _nested(f"{number}. {one_line(step.name)}  {told}", body or f"<div>{told}</div>")


def _coloured(line: str) -> str:
    """A line of a diff: its sign says it, the background only repeats it."""
    style = _DIFF.get(line[0])
    return f'<span style="{style}">{markup(line)}</span>' if style else markup(line)
