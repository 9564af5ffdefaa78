"""The runs of a panel as a picture and a table: what was chosen, how long it took, what was moved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hastega_magic.records import dataclass
from hastega_magic.report import svg, units
from hastega_magic.report.escape import markup

if TYPE_CHECKING:
    from hastega_magic.compiler.comparing.measure import Run
    from hastega_magic.report.model import PipelineReport, Report

WIDTH = 680.0
_BAR, _TOP, _PAD = 22.0, 30.0, 14.0
_FILLS = {
    "convert_in": "#b8860b", "to_device": "#6d4aa0", "kernel": "#1565a8", "from_device": "#0f7d66",
    "convert_out": "#8a5a1c",
}  # fmt: skip
_SHOWN = 12
"""The picture shows the baseline and the last so many runs; the table shows all."""


@dataclass(frozen=True)
class Line:
    """A row of the table. `seconds` 0.0: it did not run, and `note` says why. `phases`: name, seconds, bytes."""

    what: str
    n: int
    seconds: float
    spread: tuple[float, float] = (0.0, 0.0)
    phases: tuple[tuple[str, float, int], ...] = ()
    extrapolated: bool = False
    equal: bool = True
    note: str = ""
    baseline: bool = False

    @property
    def each(self) -> float:
        """Seconds for one element."""
        return self.seconds / self.n if self.n else 0.0


def of_report(report: Report) -> list[Line]:
    """Pure Python, where it was timed, and the cell's own run: what the first lines of a panel are."""
    measured = [each for each in report.pipelines if each.backend and each.loops]
    if not measured:
        return []
    found: list[Line] = []
    n = max(each.elements for each in measured)
    python = [_baseline(each) for each in measured]
    if all(seconds > 0 for seconds, _ in python):
        estimated = any(estimate for _, estimate in python)
        found.append(Line("pure Python", n, sum(s for s, _ in python), extrapolated=estimated, baseline=True))
    phases = tuple(
        (phase.name, phase.seconds, phase.bytes)
        for each in measured
        for phase in each.phases
        if phase.name in _FILLS
    )
    own = measured[0]
    seconds = sum(each.seconds() for each in measured)
    found.append(
        Line(f"the cell: {own.backend}", n, seconds, phases=phases, note="what others are compared with")
    )
    return found


def _baseline(pipeline: PipelineReport) -> tuple[float, bool]:
    for each in pipeline.baselines:
        if each.backend == "python" and each.equal:
            return each.seconds, each.extrapolated
    return 0.0, False


def of_run(run: Run) -> Line:
    """A measured run."""
    if run.on in ("python", "numpy"):
        name = {"python": "pure Python", "numpy": "NumPy"}[run.on]
        return Line(
            name,
            run.n,
            run.seconds,
            run.spread,
            (),
            run.extrapolated,
            run.equal,
            run.note,
            run.on == "python",
        )
    what = [run.on]
    what += [units.plural(run.threads, "thread")] if run.threads else []
    what += [f"{run.width} lanes"] if run.width else []
    what += [] if run.fuse else ["not fused"]
    what += [] if run.int_mode == "exact" else [run.int_mode]
    phases = tuple((phase.name, phase.seconds, phase.bytes) for phase in run.phases)
    return Line(
        ", ".join(what), run.n, run.seconds, run.spread, phases, run.extrapolated, run.equal, run.note
    )


def picture(lines: Sequence[Line]) -> str:
    """A bar for each run on a logarithmic scale of seconds per element, as an `<img>`; "" without runs."""
    ran = [line for line in lines if line.each > 0]
    shown = [line for line in ran if line.baseline] + [line for line in ran if not line.baseline][-_SHOWN:]
    if not shown:
        return ""
    low = math.floor(math.log10(min(line.each for line in shown)) - 0.2)
    high = max(low + 1, math.ceil(math.log10(max(line.each for line in shown))))
    left = _PAD + max(svg.text_width(line.what) for line in shown) + 8
    room = max(svg.text_width(_remark(line), 11.5) for line in shown) + 8
    span = max(120.0, WIDTH - left - room - _PAD)
    bottom = _TOP + len(shown) * (_BAR + 6)
    height = bottom + 22
    body = [svg.text(_PAD, 19, "Time for one element, logarithmic: shorter is faster", bold=True)]
    for place, label in svg.decades(low, high, span, lambda power: units.seconds(10.0**power)):
        x = left + place
        body.append(svg.path([(x, _TOP), (x, bottom)], stroke="#d9d9d3"))
        body.append(svg.text(x, bottom + 14, label, size=svg.DECADE, fill=svg.MUTED, anchor="middle"))
    for number, line in enumerate(shown):
        y = _TOP + number * (_BAR + 6)
        length = max(2.0, span * (math.log10(line.each) - low) / (high - low))
        body.append(svg.text(left - 8, y + 15, line.what, anchor="end", bold=not line.baseline))
        body += _parts(line, left, y, length)
        body.append(svg.text(left + length + 6, y + 15.5, _remark(line), size=11.5, halo=True))
    if keys := _keys(shown, bottom + 28):
        body += keys
        height += 24
    alt = "; ".join(f"{line.what}: {units.seconds(line.each)} for one element" for line in shown)
    return svg.image(svg.document(left + span + room + _PAD, height, body), f"Runs so far. {alt}")


def _parts(line: Line, left: float, y: float, length: float) -> list[str]:
    """The bar, cut in proportion to what the phases took."""
    phases = [(name, seconds) for name, seconds, _ in line.phases if seconds > 0 and name in _FILLS]
    total = sum(seconds for _, seconds in phases)
    if not total:
        return [svg.rect(left, y, length, _BAR, fill="#77776f")]
    found: list[str] = []
    for name, seconds in phases:
        width = length * seconds / total
        found.append(svg.rect(left, y, max(width, 0.5), _BAR, fill=_FILLS[name]))
        left += width
    return found


def _keys(lines: Sequence[Line], y: float) -> list[str]:
    """What the colours mean; nothing where no run has phases."""
    there = {name for line in lines for name, seconds, _ in line.phases if seconds > 0}
    found: list[str] = []
    x = _PAD
    for name, fill in _FILLS.items():
        if name in there:
            said = f"{name.replace('_', ' ')} "
            found += [svg.rect(x, y, 10, 10, fill=fill), svg.text(x + 14, y + 9.5, said, size=11)]
            x += 24 + svg.text_width(said, 11)
    return (
        [*found, svg.text(x, y + 9.5, "(share of the bar, not to scale)", size=11, fill=svg.MUTED)]
        if found
        else []
    )


def _remark(line: Line) -> str:
    mark = "≈ " if line.extrapolated else ""
    return f"{mark}{units.seconds(line.each)}"


def table(lines: Sequence[Line]) -> str:
    """All runs, in their order, as an HTML table; how they compare with pure Python, where that is known."""
    baseline = next((line.each for line in lines if line.baseline and line.each > 0), 0.0)
    head = ("run", "elements", "time", "fastest to slowest", "× pure Python", "transfers", "result")
    style = "text-align:left;padding:1px 12px 1px 0;border:0;white-space:nowrap"
    rows = ["".join(f'<th style="{style}">{markup(cell)}</th>' for cell in head)]
    for line in lines:
        cells = (
            line.what, units.grouped(line.n), _time(line), _spread(line), _ratio(line, baseline), _transfers(line),
            _result(line),
        )  # fmt: skip
        rows.append("".join(f'<td style="{style}">{markup(cell)}</td>' for cell in cells))
    body = "".join(f'<tr style="background:transparent">{row}</tr>' for row in rows)
    made = f'<table style="border-collapse:collapse;margin:4px 0">{body}</table>'
    return f'<div style="overflow-x:auto">{made}</div>'


def _time(line: Line) -> str:
    if not line.seconds:
        return "–"
    return ("≈ " if line.extrapolated else "") + units.seconds(line.seconds)


def _spread(line: Line) -> str:
    low, high = line.spread
    return f"{units.seconds(low)} to {units.seconds(high)}" if 0 < low < high else ""


def _ratio(line: Line, baseline: float) -> str:
    return units.times(baseline / line.each) if baseline and line.each and not line.baseline else ""


def _transfers(line: Line) -> str:
    moved = [
        f"{name.replace('_', ' ')} {units.size(size)} in {units.seconds(seconds)}"
        for name, seconds, size in line.phases
        if name != "kernel" and size
    ]
    return ", ".join(moved) or ("none" if line.phases else "")


def _result(line: Line) -> str:
    if not line.seconds:
        return f"did not run: {line.note}"
    if not line.equal:
        return "✗ another result"
    return line.note or "✓ equal"


__all__ = ["Line", "of_report", "of_run", "picture", "table"]
