"""The report as text/html that survives anywhere: no script, no style element, no kernel.

Everything is `<details>`, `<pre>`, tables and `<img>`; inline styles only improve on it, so a viewer that
strips them still shows all. Text takes the page's colour; where a background is set, the ink is set with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from hastega_magic.report import units
from hastega_magic.report.breakeven import lines_of, model_image
from hastega_magic.report.charts import Bar, Row, baseline_image, graph_image, time_image
from hastega_magic.report.choices import SHARES, TRIED, share_rows, tried_rows, tuning_hint
from hastega_magic.report.escape import markup, one_line, sentence, shorten
from hastega_magic.report.lanes import MOST_STEPS, lanes_notes, lanes_text
from hastega_magic.report.listing import SAVE
from hastega_magic.report.listing_html import LINES, details, listing, listings, nested, pre
from hastega_magic.report.mispredicted import OTHERWISE, told
from hastega_magic.report.model import SCHEMA, Lanes, PipelineReport, Report
from hastega_magic.report.truncate import FEW, WHOLE, few_nodes
from hastega_magic.report.verdict import (
    LEGEND,
    about,
    backend_name,
    held_against,
    parted,
    phase_name,
    predicted_phases,
    reasons,
    remarks,
    steps,
    title,
    verdict,
)

EVERYTHING = 1_000_000
"""A limit that no listing reaches."""

_MOST = 8
"""How many barriers and warnings of one pipeline are told under a cell."""

_PAGE = 95_000
"""Characters of HTML that one pipeline may take, where cutting listings to fewer lines helps."""

_SHORTEST = 15
"""Lines below which listings are not cut."""

_ROOM = 240_000
"""Characters of HTML after which a cell's further pipelines have their first lines only."""

_LONG = 400
"""Characters of a sentence."""

_CHIP = "background:#fdecea;color:#8a1410;border:1px solid #b3261e;padding:0 4px"
_ALERT = "background:#fdecea;color:#8a1410;border-left:4px solid #b3261e;padding:3px 8px;margin:3px 0"
_NOTE = "background:#fdf3d8;color:#4d3800;border-left:4px solid #a67c00;padding:3px 8px;margin:3px 0"
_GRAPH = "vertical-align:top;text-align:left;padding:0 10px 0 0;border:0"
_LEFT, _RIGHT = (
    ' style="text-align:left;padding:1px 12px 1px 0"',
    ' style="text-align:right;white-space:nowrap;padding:1px 12px 1px 0"',
)


def render_html(report: Report, full: bool = False) -> str:
    """An HTML fragment. Listings are cut at a readable length, the hot loop kept, unless `full`."""
    limit = EVERYTHING if full else max(30, LINES // max(1, len(report.pipelines)))
    many = len(report.pipelines) if full else _MOST
    out = _notes(report.cell.warnings, many)
    if report.schema > SCHEMA:
        out.append(
            _note(f"This report has schema {report.schema}; what is newer than {SCHEMA} is not shown.")
        )
    if not report.pipelines and not out:  # which says why, as of a function that was not called
        out.append("<div>Hastega: no pipeline ran that is written in this cell.</div>")
    whole, room = 0, _ROOM
    for pipeline in report.pipelines:
        if not full and room < 0:
            break
        out.append(_fitting(pipeline, limit))
        whole, room = whole + 1, room - len(out[-1])
    out += _heads(report.pipelines[whole:])
    if any(p.baselines for p in report.pipelines):
        out.append(_faint(markup(LEGEND)))
    out += (_faint(sentence(shorten(each, _LONG))) for each in about(report.cell)[:many])
    return f'<div dir="ltr" style="line-height:1.5;max-width:1000px">{"".join(out)}</div>'


def _heads(pipelines: Sequence[PipelineReport]) -> Iterable[str]:
    """The first lines of pipelines that there is no more room for."""
    if pipelines:
        yield _note(
            f"{units.plural(len(pipelines), 'more pipeline')}, without details. With all of them: {SAVE}"
        )
    yield from map(_head, pipelines[:LINES])


def _head(pipeline: PipelineReport) -> str:
    parts = (
        f'<span style="{_CHIP}">{sentence(part.text)}</span>' if part.bad else sentence(part.text)
        for part in verdict(pipeline)
    )
    return f"<div><b>{markup(shorten(title(pipeline), 60))}</b>&emsp;{'&nbsp;· '.join(parts)}</div>"


def _fitting(pipeline: PipelineReport, limit: int) -> str:
    """A pipeline with its listings cut further where they are long in lines and in columns, as of many stages."""
    found = _pipeline(pipeline, limit)
    while len(found) > _PAGE and _SHORTEST < limit < EVERYTHING:
        limit = max(_SHORTEST, limit // 2)
        found = _pipeline(pipeline, limit)
    return found


def _pipeline(pipeline: PipelineReport, limit: int) -> str:
    out = [_head(pipeline)]
    most = limit if limit == EVERYTHING else _MOST
    for barrier in pipeline.barriers[:most]:
        stage = f"<code>{markup(shorten(barrier.stage, 80))}</code>"
        where = f" (line {barrier.span[0]})" if barrier.span else ""
        reason = sentence(shorten(barrier.reason, _LONG))
        out.append(f'<div style="{_ALERT}">✗ barrier {stage}{where}: {reason}</div>')
    if pipeline.count("barriers") > most:
        more = units.plural(pipeline.count("barriers") - most, "more barrier")
        out.append(f'<div style="{_ALERT}">✗ and {more}</div>')
    out += _notes(pipeline.warnings, most)
    out.append(_times(pipeline))
    out += _sections(pipeline, limit)
    return f'<div style="margin:4px 0 10px 0">{"".join(out)}</div>'


def _notes(warnings: Sequence[str], most: int) -> list[str]:
    out = [_note(f"! {shorten(warning, _LONG)}") for warning in warnings[:most]]
    if len(warnings) > most:
        out.append(_note(f"! and {units.plural(len(warnings) - most, 'more warning')}"))
    return out


def _sections(pipeline: PipelineReport, limit: int) -> Iterable[str]:
    yield details(
        "Pipeline",
        f"{units.plural(_written(pipeline), 'stage')}, before and after fusion",
        _graphs(pipeline, limit),
    )
    yield details("Baselines", "; ".join(_baseline_names(pipeline)), _baselines(pipeline))
    yield details("Break-even", _break_even_hint(pipeline), _break_even(pipeline))
    yield details("Times and transfers", _moved(pipeline), _phases(pipeline))
    if pipeline.split is not None:
        yield details(
            "Shares",
            f"{len(pipeline.split.parts)} back ends at once",
            _rows(SHARES, share_rows(pipeline.split)),
        )
    if pipeline.tuning is not None:
        rows = tried_rows(pipeline.tuning, limit == EVERYTHING)
        yield details("Schedules tried", tuning_hint(pipeline.tuning), _rows(TRIED, rows))
    yield listings(pipeline.code, limit, pipeline.loops)
    lanes = "" if pipeline.lanes is None else _lanes(pipeline.lanes, limit)
    yield details("Lanes", "the first vector, value by value", lanes)
    yield details("Why", "", _why(pipeline, limit))


def _written(pipeline: PipelineReport) -> int:
    """How many stages were written: the first one listed of each statement is its source."""
    return max(0, pipeline.count("stages") - len(pipeline.name.split(", ")))


def _faint(text: str) -> str:
    return f'<div style="opacity:0.8;font-size:12px;margin-top:4px">{text}</div>'


def _note(text: str) -> str:
    return f'<div style="{_NOTE}">{sentence(text)}</div>'


# --------------------------------------------------------------------------------- figures and pictures


def _times(pipeline: PipelineReport) -> str:
    took = pipeline.seconds() + pipeline.seconds(compiling=True)
    before = "compile" if pipeline.loops else "reading"
    rows = [Bar(_ours(pipeline), steps(pipeline.phases, before), took)]
    rows += [
        Bar(backend_name(b.backend), steps(b.phases), b.seconds)
        for b in pipeline.baselines if b.phases and b.equal
    ]  # fmt: skip
    shown = tuple(row for row in rows if row.steps)
    return f'<div style="margin:4px 0">{time_image(shown)}</div>' if shown else ""


def _ours(pipeline: PipelineReport) -> str:
    alone = pipeline.backend == "parallel" and pipeline.threads == 1
    name = backend_name("simd" if alone else pipeline.backend)
    return f"this run ({name})" if name else "this run"


def _graphs(pipeline: PipelineReport, limit: int) -> str:
    pair = pipeline.graph
    most = WHOLE if limit == EVERYTHING else FEW
    cells = [
        f'<td style="{_GRAPH}">{graph_image(few_nodes(graph, most), caption)}</td>'
        for graph, caption in (
            (pair.before, "Before fusion, as written"),
            (pair.after, "After fusion, as run"),
        )
        if graph.nodes
    ]
    if not cells:
        return listing(pipeline.code.pipeline, limit)
    table = (
        f'<table style="border:0;margin:0"><tr style="background:transparent">{"".join(cells)}</tr></table>'
    )
    return f'<div style="overflow:auto">{table}</div>' + nested(
        "as text", listing(pipeline.code.pipeline, limit)
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
    rows = [Row("this run", running, units.seconds(running), ours=True)] if running > 0 else []
    table = [_row(("baseline", "time", "÷ ours", "how"), "th", last_left=True)]
    for baseline in pipeline.baselines:
        seconds = baseline.seconds if baseline.equal else 0.0
        mine = held_against(pipeline, baseline)
        ratio = f"{units.times(seconds / mine)} ×" if seconds > 0 and mine > 0 else ""
        time = units.seconds(seconds) if seconds > 0 else "–"
        mark = "≈" if baseline.extrapolated else "✓"
        remark = " · ".join(part for part in (f"{time} {mark}", ratio) if part)
        name = shorten(backend_name(baseline.backend), 28)
        if not seconds:
            remark = "✗ another result" if baseline.elements else "✗ did not run"
        rows.append(Row(name, seconds, remark, extrapolated=baseline.extrapolated))
        table.append(_row((name, time, ratio, remarks(pipeline, baseline)), last_left=True))
    return baseline_image(tuple(rows)) + _table(table)


def _break_even_hint(pipeline: PipelineReport) -> str:
    # What contradicts a sentence is not left out beside it.
    first, second, *more = (*told(pipeline), "", "")
    second = next((each for each in more if each.startswith(OTHERWISE)), second)
    return shorten("; ".join(each for each in (first, second) if each), _LONG)


def _break_even(pipeline: PipelineReport) -> str:
    model = lines_of(pipeline)
    if model is None:
        return ""
    predicted = pipeline.cost is not None and bool(pipeline.cost.curves)
    columns = ("for this cell", "measured") if predicted else ("for each element", "once", "for this cell")
    table = [_row(("back end", *columns, "most of it"), "th", last_left=True)]
    for row in model.rows[:_MOST]:
        whole = f"≈ {units.seconds(row.seconds(pipeline.elements))}"
        parts = sorted(row.phases, key=lambda phase: -phase.a * pipeline.elements - phase.b)
        most = ", ".join(phase_name(phase.name) for phase in parts[:2] if phase.a or phase.b)
        each, once = sum(phase.a for phase in row.phases), sum(phase.b for phase in row.phases)
        took = dict(row.points).get(pipeline.elements)
        figures = (whole, "–" if took is None else units.seconds(took))
        if not predicted:
            figures = (units.seconds(each), units.seconds(once), whole)
        name = shorten(backend_name(row.backend), 24)
        said = _bound(pipeline, row.backend) or most
        table.append(_row((name, *figures, said), last_left=True))
    said = "".join(f"<li>{sentence(shorten(each, _LONG))}</li>" for each in told(pipeline)[: 2 * _MOST])
    note = "Fitted to the measurements: seconds for each element, and seconds once; compiling is left out."
    if predicted:
        note = _PREDICTED if pipeline.model is None else _COMPARED
    return (
        model_image(model, pipeline.elements, told(pipeline))
        + (f'<ul style="margin:0">{said}</ul>' if said else "")
        + _table(table)
        + f'<div style="opacity:0.8;font-size:12px">{note}</div>'
    )


_PREDICTED = (
    "Lines: predicted by the cost model; compiling is left out. --compare measures other back ends and, "
    "of what is one loop, other sizes."
)


_COMPARED = (
    "Lines: predicted by the cost model; NumPy's, and what else it does not predict, fitted to what was measured. "
    "Compiling is left out."
)


def _bound(pipeline: PipelineReport, backend: str) -> str:
    """What bounds a back end that was not measured."""
    rows = pipeline.cost.predicted if pipeline.cost is not None else ()
    return next((f"bound by {row.bound}" for row in rows if row.backend == backend and row.bound), "")


@lru_cache(maxsize=64)
def _lanes(lanes: Lanes, limit: int) -> str:
    most = limit if limit == EVERYTHING else MOST_STEPS
    notes = "".join(f"<div>{markup(note)}</div>" for note in lanes_notes(lanes, most))
    text = pre(markup(lanes_text(lanes, most)))
    return f'{text}<div style="opacity:0.8;font-size:12px">{notes}</div>'


def _moved(pipeline: PipelineReport) -> str:
    moved = sum(phase.bytes for phase in pipeline.phases)
    device = one_line(pipeline.device)
    said = ", ".join(part for part in (f"{units.size(moved)} moved" if moved else "", device) if part)
    return said + (", compiled earlier" if pipeline.cached else "")


def _phases(pipeline: PipelineReport) -> str:
    if not pipeline.phases:
        return ""
    predicted = predicted_phases(pipeline)
    head = ("phase", "time", "bytes", "rate", *(("predicted",) if predicted else ()))
    rows = [_row(head, "th")]
    for phase in parted(pipeline.phases):
        moved = units.size(phase.bytes) if phase.bytes > 0 else ""
        rate = units.rate(phase.bytes, phase.seconds)
        cells = phase_name(phase.name), units.seconds(phase.seconds), moved, rate
        rows.append(_row((*cells, *((predicted.pop(phase.name, ""),) if head[4:] else ()))))
    rows += [_row((phase_name(name), "–", "", "", seconds)) for name, seconds in predicted.items()]
    return _table(rows)


def _rows(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return _table([_row(head, "th", last_left=True), *(_row(row, last_left=True) for row in rows)])


def _table(rows: Iterable[str]) -> str:
    return f'<table style="border-collapse:collapse;border:0;margin:2px 0">{"".join(rows)}</table>'


def _row(cells: Sequence[str], tag: str = "td", last_left: bool = False) -> str:
    left = {0, len(cells) - 1} if last_left else {0}
    body = "".join(
        f"<{tag}{_LEFT if i in left else _RIGHT}>{markup(cell)}</{tag}>" for i, cell in enumerate(cells)
    )
    return f'<tr style="background:transparent">{body}</tr>'


def _why(pipeline: PipelineReport, limit: int) -> str:
    lines = "".join(f"<li>{sentence(shorten(each, _LONG))}</li>" for each in reasons(pipeline)[:limit])
    return f'<ul style="margin:0">{lines}</ul>' if lines else ""
