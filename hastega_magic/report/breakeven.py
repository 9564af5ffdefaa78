"""Times for other numbers of elements: the fitted lines with what was measured, and where one overtakes another."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from operator import attrgetter

from hastega_magic.records import dataclass
from hastega_magic.report import svg, units
from hastega_magic.report.costs import Crossing, Model, ModelPhase, ModelRow
from hastega_magic.report.escape import shorten
from hastega_magic.report.memo import once
from hastega_magic.report.model import PipelineReport
from hastega_magic.report.sizes import about, by_size
from hastega_magic.report.verdict import backend_name

_WIDTH, _HEIGHT = 760.0, 340.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 66.0, 148.0, 16.0, 46.0
# Each with dashes of its own, so that no line is told by its colour alone.
_PENS = (
    ("#1565a8", ""),
    ("#8a3d00", "8 3"),
    ("#0f7d66", "3 3"),
    ("#6d4aa0", "10 3 2 3"),
    ("#55554f", "5 2"),
    ("#8a1452", "1.5 2.5"),
)
_ROWS = len(_PENS)


@dataclass(frozen=True)
class PredictedRow(ModelRow):
    """A back end whose line is the cost model's prediction, through `curve`: pairs of elements and seconds."""

    curve: tuple[tuple[float, float], ...] = ()

    def seconds(self, n: float) -> float:
        """The predicted time: logarithms are interpolated; behind the last point it grows with n."""
        if n <= self.curve[0][0]:
            return self.curve[0][1]
        for (low, short), (high, long) in pairwise(self.curve):
            if low < high and n <= high:
                return short * (long / short) ** (math.log(n / low) / math.log(high / low))
        return self.curve[-1][1] * n / self.curve[-1][0]


@once
def lines_of(pipeline: PipelineReport) -> Model | None:
    """What is drawn: predicted lines where there are any, else fitted ones, with all that was measured.

    The first row is the back end that computed the cell, if it has a line. None where nothing is known.
    """
    fitted, cost = pipeline.model, pipeline.cost
    if fitted is not None:
        fitted = replace(fitted, rows=tuple(replace(row, points=_there(row.points)) for row in fitted.rows))
    if cost is None or not cost.curves:
        return fitted
    known = {row.predicted or row.backend: row for row in fitted.rows} if fitted is not None else {}
    rows: list[ModelRow] = []
    for curve in cost.curves:
        row = known.pop(curve.backend, ModelRow(curve.backend))
        # Two digits are less than a dot's width, and let a cell that runs again have the picture that it had.
        measured = dict.fromkeys((n, float(f"{s:.2g}")) for n, s in (*_there(curve.measured), *row.points))
        rows.append(PredictedRow(curve.backend, row.phases, tuple(measured), curve=curve.points))
    rows += known.values()
    rows.sort(key=lambda row: not is_of(row, cost.chosen))
    sizes = sorted({int(n) for row in rows for n, _ in row.points})
    others = [row for row in rows if not isinstance(row, PredictedRow)]
    met = [each for one in others for row in rows if row is not one for each in _met(one, row)]
    crossings = sorted(dict.fromkeys((*cost.crossings, *met)), key=attrgetter("n"))
    return Model(tuple(sizes), tuple(rows), tuple(crossings))


def is_of(row: ModelRow, backend: str) -> bool:
    """Whether it is the line of this back end, as the cost model calls it."""
    return (row.predicted or row.backend) == backend


def _there(points: Iterable[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """Without what a clock that jumped back has left."""
    return tuple((n, seconds) for n, seconds in points if n >= 1 and seconds > 0)


def _met(one: ModelRow, other: ModelRow) -> Iterable[Crossing]:
    """Where two lines meet that are not both of the cost model."""
    grid = [10 ** (step / 12) for step in range(109)]
    gaps = [apart(one, other, n) for n in grid]
    for (low, before), (high, after) in pairwise(zip(grid, gaps, strict=True)):
        if before and (before > 0) != (after > 0):
            n = low * (high / low) ** (before / (before - after))
            first, second = (one, other) if before > 0 else (other, one)
            yield Crossing(first.backend, second.backend, float(f"{n:.4g}"))


def apart(one: ModelRow, other: ModelRow, n: float) -> float:
    """The logarithm of the ratio of two times."""
    return math.log(_time(one, n) / _time(other, n))


@once
def sentences(model: Model, doubtful: tuple[str, ...] = ()) -> tuple[str, ...]:
    """What the crossings say of the cell's own back end, the first row: where others overtake it or it them.

    `doubtful`: back ends of which what was measured says otherwise.
    """
    own = model.rows[0].backend
    name = name_of(own)
    between: dict[str, list[Crossing]] = {}
    for each in model.crossings:
        if own in (each.faster, each.than):
            between.setdefault(each.than if each.faster == own else each.faster, []).append(each)
    single = [found[0] for found in between.values() if len(found) == 1]
    overtaken = [each for each in single if each.faster == own]
    out: list[str] = []
    if overtaken:
        ends = ", ".join(f"than {name_of(each.than)} from {about(each.n)}" for each in overtaken)
        out.append(f"{name} is faster {ends} elements on")
    out += [
        f"{name_of(each.faster)} is faster than {name} from {about(each.n)} elements on"
        for each in single
        if each.than == own
    ]
    out += [
        f"{name} is {by_size(own, name_of(other), found)}"
        for other, found in between.items()
        if len(found) > 1
    ]
    rest = [row for row in model.rows[1:] if row.backend not in between and row.backend not in doubtful]
    for word in ("faster", "slower"):
        ahead = word == "faster"
        names = [name_of(row.backend) for row in rest if _always(model.rows[0], row, ahead)]
        if names:
            out.append(f"{name} is {word} than {' and '.join(names)} for every size")
    return tuple(out)


_ALIKE = math.log(1.01)
"""Lines that are no further apart are one."""


def _always(own: ModelRow, other: ModelRow, ahead: bool) -> bool:
    """Whether one line lies below the other for every size, and no size at which both were measured says otherwise."""
    lead = (apart(other, own, 10.0**power) * (1 if ahead else -1) for power in range(10))
    theirs = dict(other.points)
    return all(each > _ALIKE for each in lead) and all(
        (seconds < theirs[n]) is ahead for n, seconds in own.points if n in theirs
    )


def name_of(backend: str) -> str:
    """A back end's name, as long as a line has room for."""
    return shorten(backend_name(backend), 24)


# ------------------------------------------------------------------------------------------ the picture


def model_image(model: Model, elements: int, told: Sequence[str]) -> str:
    """The lines as an `<img>`, whose alt text has the sentences `told`. `elements`: those of the cell."""
    names = ", ".join(name_of(row.backend) for row in model.rows[:_ROWS])
    said = shorten("; ".join(told) or names, 1000)
    return svg.image(
        model_svg(model, elements), f"Time over the number of elements, both logarithmic: {said}"
    )


@dataclass(frozen=True)
class _Plane:
    """Logarithmic axes: decades of elements `low` to `high`, and of seconds `fast` to `slow`."""

    low: float
    high: float
    fast: float
    slow: float

    def x(self, n: float) -> float:
        return _LEFT + (math.log10(n) - self.low) / (self.high - self.low) * (_WIDTH - _LEFT - _RIGHT)

    def y(self, seconds: float) -> float:
        share = (math.log10(seconds) - self.fast) / (self.slow - self.fast)
        return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)


def model_svg(model: Model, elements: int) -> str:
    """A line for each back end on logarithmic axes, thick where it was measured; dots: the measurements."""
    rows = [row for row in model.rows if row.seconds(1e6) > 0][:_ROWS]
    plane = _plane(rows, model.crossings, elements)
    lines = tuple((row.backend, row.phases, _curve(row)) for row in rows)
    below, above = _still(lines, model.crossings, plane, elements)
    body = [below]
    for row, (colour, dash) in zip(rows, _PENS, strict=False):
        body += _measured(row, plane, colour, dash)
    return svg.document(_WIDTH, _HEIGHT, [*body, above])


_Curve = tuple[tuple[float, float], ...]
_Line = tuple[str, tuple[ModelPhase, ...], _Curve]
"""A row without what was measured: back end, phases, and points of a predicted line."""


def _curve(row: ModelRow) -> _Curve:
    return row.curve if isinstance(row, PredictedRow) else ()


def _row(backend: str, phases: tuple[ModelPhase, ...], curve: _Curve) -> ModelRow:
    return PredictedRow(backend, phases, curve=curve) if curve else ModelRow(backend, phases)


@lru_cache(maxsize=64)
def _still(
    lines: tuple[_Line, ...], crossings: tuple[Crossing, ...], plane: _Plane, elements: int
) -> tuple[str, str]:
    """What lies below the measurements, and what above them: it is the same when a cell runs again."""
    rows = [_row(*line) for line in lines]
    below = list(_grid(plane))
    if 10**plane.low <= elements <= 10**plane.high:
        x = plane.x(elements)
        below.append(svg.path([(x, _TOP), (x, _HEIGHT - _BOTTOM)], stroke=svg.INK, dash="2 4"))
        below.append(
            svg.text(x - 4, _TOP + 8, "this cell", size=10.5, anchor="end", fill=svg.MUTED, halo=True)
        )
    ends: list[tuple[float, str, str]] = []
    for row, line, (colour, dash) in zip(rows, lines, _PENS, strict=False):
        below.append(_whole(*line, plane, colour, dash))
        ends.append((plane.y(_time(row, 10**plane.high)), name_of(row.backend), colour))
    return "".join(below), "".join([*_ends(ends), *_crossings(rows, crossings, plane)])


def _plane(rows: Sequence[ModelRow], crossings: Iterable[Crossing], elements: int) -> _Plane:
    """A whole number of decades around everything of interest."""
    points = [point for row in rows for point in row.points]
    sizes = [n for n, _ in points] + [each.n for each in crossings if each.n <= 1e12]
    sizes += [float(elements)] if elements > 0 else []
    low = math.floor(math.log10(min(sizes, default=1.0)) + 1e-9)
    high = max(math.ceil(math.log10(max(sizes, default=10.0)) - 1e-9), low + 1)
    times = [_time(row, 10.0**end) for row in rows for end in (low, high)] + [s for _, s in points]
    fast = math.floor(math.log10(min(times, default=1e-3)) + 1e-9)
    return _Plane(low, high, fast, max(math.ceil(math.log10(max(times, default=1.0))), fast + 1))


def _time(row: ModelRow, n: float) -> float:
    return min(max(row.seconds(n), 1e-12), 1e12)


@lru_cache(maxsize=64)
def _grid(plane: _Plane) -> tuple[str, ...]:
    out: list[str] = []
    every = max(1, math.ceil((plane.slow - plane.fast) / 8))
    for power in range(int(plane.fast), int(plane.slow) + 1, every):
        y = plane.y(10.0**power)
        out.append(svg.path([(_LEFT, y), (_WIDTH - _RIGHT, y)], stroke="#d9d9d3"))
        out.append(svg.text(_LEFT - 6, y + 4, units.decade(power), size=10.5, anchor="end", fill=svg.MUTED))
    for power in range(int(plane.low), int(plane.high) + 1):
        x = plane.x(10.0**power)
        out.append(svg.path([(x, _TOP), (x, _HEIGHT - _BOTTOM)], stroke="#d9d9d3"))
        words = units.grouped(10**power) if power < 6 else f"10{_raised(power)}"
        out.append(svg.text(x, _HEIGHT - _BOTTOM + 14, words, size=10.5, anchor="middle", fill=svg.MUTED))
    note = "elements; dots: measured; thin: extrapolated; both axes logarithmic"
    out.append(svg.text(_LEFT, _HEIGHT - 12, note, size=10.5, fill=svg.MUTED))
    return tuple(out)


def _measured(row: ModelRow, plane: _Plane, colour: str, dash: str) -> list[str]:
    """The row's line where it was measured, thick; dots: the measurements."""
    if not row.points:
        return []
    first, last = (end(n for n, _ in row.points) for end in (min, max))
    dots = [svg.circle(plane.x(n), plane.y(seconds), 3, fill=colour) for n, seconds in row.points[:12]]
    if first == last:
        return dots
    measured = _drawn(row, plane, math.log10(first), math.log10(last))
    return [svg.path(measured, stroke=colour, dash=dash, pen=2.2), *dots]


@lru_cache(maxsize=64)
def _whole(
    backend: str,
    phases: tuple[ModelPhase, ...],
    curve: _Curve,
    plane: _Plane,
    colour: str,
    dash: str,
) -> str:
    """The line from edge to edge."""
    drawn = _drawn(_row(backend, phases, curve), plane, plane.low, plane.high)
    return svg.path(drawn, stroke=colour, dash=dash)


def _drawn(row: ModelRow, plane: _Plane, start: float, stop: float) -> list[tuple[float, float]]:
    """Points of the picture along the row between two powers of ten."""
    ends = 10**start, 10**stop
    if isinstance(row, PredictedRow):  # straight between its points
        inner = [point for point in row.curve if ends[0] < point[0] < ends[1]]
        return [
            (plane.x(n), plane.y(min(max(seconds, 1e-12), 1e12)))
            for n, seconds in ((ends[0], row.seconds(ends[0])), *inner, (ends[1], row.seconds(ends[1])))
        ]
    # A straight line of seconds over elements bends on logarithmic axes.
    count = max(2, round(6 * (stop - start)))
    at = (10 ** (start + (stop - start) * k / count) for k in range(count + 1))
    return [(plane.x(n), plane.y(_time(row, n))) for n in at]


def _ends(ends: Sequence[tuple[float, str, str]]) -> list[str]:
    """Names at the right ends of the lines, pushed apart where lines end together."""
    out: list[str] = []
    free = _TOP
    for place, (y, name, colour) in enumerate(sorted(ends)):
        # The names that are to come need their room as well.
        lowest = _HEIGHT - _BOTTOM - 15 * (len(ends) - 1 - place)
        at = min(max(y, free), lowest)
        free = at + 15
        x = _WIDTH - _RIGHT
        out.append(svg.path([(x, y), (x + 10, at)], stroke=colour))
        out.append(svg.text(x + 14, at + 4, name, size=11.5, fill=colour, bold=True))
    return out


def _crossings(rows: Sequence[ModelRow], crossings: Sequence[Crossing], plane: _Plane) -> list[str]:
    """Rings where the fastest back end changes, and where the cell's own overtakes or is overtaken."""
    by_name = {row.backend: row for row in rows}
    out: list[str] = []
    taken: list[_Box] = []
    for each in crossings[:40]:
        one, other = by_name.get(each.faster), by_name.get(each.than)
        if one is None or other is None or not plane.low <= math.log10(each.n) <= plane.high:
            continue
        seconds = _time(one, each.n)
        fastest = all(_time(row, each.n) >= seconds * 0.999 for row in rows)
        if not fastest and rows[0].backend not in (each.faster, each.than):
            continue
        x, y = plane.x(each.n), plane.y(seconds)
        out.append(svg.circle(x, y, 5, fill="none", stroke=svg.INK))
        words = f"{name_of(each.faster)} from {about(each.n)}"
        place = _free(x, y, svg.text_width(words, 11), taken)
        if place is not None:
            taken.append(place)
            out.append(svg.path([(x, y + math.copysign(5, place.y - y)), (x, place.y - 4)], stroke=svg.INK))
            out.append(svg.text(place.x, place.y, words, size=11, halo=True))
    return out


@dataclass(frozen=True)
class _Box:
    """A line of text: its left end, its baseline and its width."""

    x: float
    y: float
    width: float

    def meets(self, other: _Box) -> bool:
        """Whether the two overlap."""
        apart = self.x > other.x + other.width + 8 or other.x > self.x + self.width + 8
        return not apart and abs(self.y - other.y) < 14


def _free(x: float, y: float, width: float, taken: Sequence[_Box]) -> _Box | None:
    """Room for a name near a ring at `(x, y)`, below it or above; None where there is none."""
    left = x + 4 if x + 4 + width < _WIDTH - _RIGHT else x - 4 - width
    for step in (26, -18, 42, -34, 58, -50, 74, -66):
        box = _Box(left, y + step, width)
        if _TOP + 8 < box.y < _HEIGHT - _BOTTOM - 3 and not any(box.meets(other) for other in taken):
            return box
    return None


def _raised(power: int) -> str:
    return "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(power))
