"""The report as text/plain: a line of verdict, what got in the way, what was chosen, the phases, the baselines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hastega_magic.report import units
from hastega_magic.report.choices import SHARES, TRIED, share_rows, tried_rows
from hastega_magic.report.escape import NO_BREAK, columns, one_line, shorten, together
from hastega_magic.report.mispredicted import told
from hastega_magic.report.model import SCHEMA, PipelineReport, Report
from hastega_magic.report.verdict import (
    LEGEND,
    about,
    backend_name,
    held_against,
    parted,
    phase_name,
    remarks,
    title,
    verdict,
)

_MOST = 8
"""How many barriers and warnings of one pipeline are told."""

_SAID = 16
"""How many sentences about numbers of elements are: two of each back end that may be compared."""

_LONG = 400
"""Characters of a sentence."""


def render_text(report: Report, width: int = 100) -> str:
    """The report for a terminal of `width` columns (80 and more read best). Ends without a newline."""
    blocks: list[list[str]] = []
    notes = [f"! {one_line(text)}" for text in report.cell.warnings]
    if report.schema > SCHEMA:
        notes.append(f"! This report has schema {report.schema}; what is newer than {SCHEMA} is not shown.")
    if not report.pipelines and not notes:  # which say why, as of a function that was not called
        notes.append("Hastega: no pipeline ran that is written in this cell.")
    if notes:
        blocks.append([line for note in notes for line in _wrapped(note, width, "  ")])
    blocks += [_pipeline(p, width) for p in report.pipelines]
    if any(p.baselines for p in report.pipelines):
        blocks.append([f"  {LEGEND}"])
    if said := about(report.cell):
        blocks.append(
            [line for each in said for line in _wrapped(f"  {shorten(each, _LONG)}", width, "    ")]
        )
    return "\n\n".join("\n".join(block) for block in blocks)


def _pipeline(pipeline: PipelineReport, width: int) -> list[str]:
    head = shorten(title(pipeline), 40) + "   "
    parts = [part.text for part in verdict(pipeline)]
    lines = _folded([head + parts[0], *parts[1:]], " · ", width, " " * min(columns(head), 16))
    for barrier in pipeline.barriers[:_MOST]:
        sentence = f"✗ barrier {shorten(barrier.stage, 40)}: {shorten(barrier.reason, _LONG)}"
        lines += _wrapped("  " + sentence, width, "    ")
    if pipeline.count("barriers") > _MOST:
        lines.append(f"  ✗ and {units.plural(pipeline.count('barriers') - _MOST, 'more barrier')}")
    for warning in pipeline.warnings[:_MOST]:
        lines += _wrapped(f"  ! {shorten(warning, _LONG)}", width, "    ")
    if len(pipeline.warnings) > _MOST:
        lines.append(f"  ! and {units.plural(len(pipeline.warnings) - _MOST, 'more warning')}")
    for each in pipeline.foremost:
        lines += _wrapped(f"  {shorten(each, _LONG)}", width, "    ")
    if pipeline.cost is not None and pipeline.cost.because:
        lines += _wrapped(f"  chosen: {shorten(pipeline.cost.because, _LONG)}", width, "    ")
    lines += phase_lines(pipeline)
    if pipeline.overlapped > 0:
        whole = units.seconds(pipeline.seconds() + pipeline.overlapped)
        lines.append(f"  phases ran at once: together {whole}, the run {units.seconds(pipeline.seconds())}")
    lines += baseline_lines(pipeline)
    if pipeline.split is not None:
        lines += _table(SHARES, share_rows(pipeline.split), "<>>>><")
    if pipeline.tuning is not None:
        lines += _table(TRIED, tried_rows(pipeline.tuning), "<>>><")
    said = [shorten(each, _LONG) for each in told(pipeline)[:_SAID]]
    if said:
        lines += _wrapped(f"  break-even: {'; '.join(_headed_once(said))}", width, "    ")
    return lines


def _headed_once(sentences: Iterable[str]) -> Iterable[str]:
    """The sentences, with what stands before the colon of several in a row (`predicted: `) before the first alone."""
    last = ""
    for each in sentences:
        head, colon, rest = each.partition(": ")
        yield rest if colon and head == last else each
        last = head if colon else ""


def phase_lines(pipeline: PipelineReport) -> list[str]:
    """The table of phases; nothing where there are none."""
    return _table(("phase", "time", "bytes", "rate"), _phases(pipeline), "<>>>")


def baseline_lines(pipeline: PipelineReport) -> list[str]:
    """The table of baselines; nothing where there are none."""
    return _table(("baseline", "time", "÷ ours", ""), _baselines(pipeline), "<>><")


def _phases(pipeline: PipelineReport) -> Iterable[Sequence[str]]:
    for phase in parted(pipeline.phases):
        moved = units.size(phase.bytes) if phase.bytes > 0 else ""
        rate = units.rate(phase.bytes, phase.seconds)
        yield phase_name(phase.name), units.seconds(phase.seconds), moved, rate


def _baselines(pipeline: PipelineReport) -> Iterable[Sequence[str]]:
    for baseline in pipeline.baselines:
        timed = baseline.equal and baseline.seconds > 0
        mine = held_against(pipeline, baseline)
        ratio = f"{units.times(baseline.seconds / mine)} ×" if timed and mine > 0 else ""
        yield (
            shorten(backend_name(baseline.backend), 28),
            units.seconds(baseline.seconds) if timed else "–",
            ratio,
            remarks(pipeline, baseline),
        )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], align: str) -> list[str]:
    """Rows in columns, indented by two; nothing where there is no row."""
    body = [head, *rows]
    if len(body) == 1:
        return []
    sizes = [_sizes(row) for row in body]
    widths = list(map(max, *sizes))
    lines: list[str] = []
    for row, taken in zip(body, sizes, strict=True):
        cells = zip(row, taken, widths, align, strict=True)
        line = [
            " " * (width - size) + text if side == ">" else text + " " * (width - size)
            for text, size, width, side in cells
        ]
        lines.append(f"  {'   '.join(line)}".rstrip())
    return lines


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    """The text in lines of `width` columns, broken at blanks, not before units; a longer word has a line to itself."""
    if len(text) <= width and text.isascii():
        return [text]
    text = together(text)
    if columns(text) != len(text):
        return [line.replace(NO_BREAK, " ") for line in _folded(text.split(" "), " ", width, indent)]
    lines: list[str] = []
    least = len(text) - len(text.lstrip(" "))
    while len(text) > width:
        at = text.rfind(" ", least, width + 1)
        if at < 0 and (at := text.find(" ", width)) < 0:
            break
        lines.append(text[:at])
        text, least = indent + text[at + 1 :], len(indent)
    return [line.replace(NO_BREAK, " ") for line in (*lines, text)]


def _folded(parts: Sequence[str], glue: str, width: int, indent: str) -> list[str]:
    """The parts joined by `glue`, broken between parts where a line would grow beyond `width`."""
    lines = [[parts[0]]]
    (at, *sizes), gap = _sizes(parts), columns(glue)
    for part, size in zip(parts[1:], sizes, strict=True):
        if at + gap + size <= width:
            lines[-1].append(part)
            at += gap + size
        else:
            lines.append([indent + part])
            at = len(indent) + size
    return [glue.join(line) for line in lines]


def _sizes(parts: Sequence[str]) -> list[int]:
    """The columns of each, without a call for most."""
    return [len(part) if part.isascii() else columns(part) for part in parts]
