"""The three pictures of a report: the pipeline's graph, the time bar, and the baselines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from hastega_magic.records import dataclass
from hastega_magic.report import svg, units
from hastega_magic.report.escape import one_line, shorten, visible
from hastega_magic.report.graph import Edge, Layout, layered
from hastega_magic.report.memo import once
from hastega_magic.report.model import Graph, GraphNode
from hastega_magic.report.verdict import Step

WIDTH = 760.0
_PAD = 14.0
_LEADING = 16.0
_FILLS = {  # distinct in lightness as well as in hue; red is kept for what costs or breaks
    "compile": "#77776f",
    "reading": "#77776f",
    "convert in": "#b8860b",
    "to device": "#6d4aa0",
    "kernel": "#1565a8",
    "from device": "#0f7d66",
    "convert out": "#8a5a1c",
    "Python": "#a4508b",
}
_KINDS = {  # fill, rim, corner radius
    "source": ("#e3eefb", "#4a78ad", 14.0),
    "stage": ("#ffffff", "#77776f", 3.0),
    "sink": ("#e6f3ea", "#3d7f59", 3.0),
    "result": ("#e6f3ea", "#3d7f59", 14.0),
    "barrier": (svg.ALARM_FILL, svg.ALARM, 0.0),
}


@dataclass(frozen=True)
class Row:
    """A bar of the baselines' chart. `seconds` 0: no bar, only the remark."""

    name: str
    seconds: float
    remark: str
    ours: bool = False
    extrapolated: bool = False


# ------------------------------------------------------------------------------------------ the graph


@once
def graph_image(graph: Graph, caption: str) -> str:
    """The graph as an `<img>`; its alt text names the stages in order."""
    names = shorten(" → ".join([shorten(node.label or node.id, 60) for node in graph.nodes]), 1000)
    return svg.image(graph_svg(graph, caption), f"{caption}: {names}")


def graph_svg(graph: Graph, caption: str) -> str:
    """Boxes for the stages, sources at the top; arrows carry type, range and elements."""
    labelled = {edge.source for edge in graph.edges if edge.label}
    texts = {node.id: _node_lines(node, node.id in labelled) for node in graph.nodes}
    sizes = {
        node: (
            max(120.0, *[svg.text_width(t, s, mono=m) + 24 for t, s, m in lines]),
            len(lines) * _LEADING + 14,
        )
        for node, lines in texts.items()
    }
    labels = {(e.source, e.target): svg.wrapped(one_line(e.label), 30, 2) for e in graph.edges if e.label}
    drop = 30.0 + 14 * max((len(lines) for lines in labels.values()), default=0)
    plan = _laid(tuple(sizes.items()), tuple([(e.source, e.target) for e in graph.edges]), drop)
    words: list[tuple[float, float, str, str]] = []
    for edge, lines in labels.items():
        if edge not in plan.paths:
            continue
        (ax, ay), (bx, by) = plan.paths[edge][:2]
        # Beside the arrow's middle; of a fork or a join beside its own end, on the outer side: the arrow is upright
        # there, and labels stay apart.
        joins = sum(target == edge[1] for _, target in plan.paths) > 1
        leans = abs(bx - ax) > 1
        anchor = "end" if leans and (ax < bx if joins else bx < ax) else "start"
        x = (ax if joins else bx) + (-8 if anchor == "end" else 8)
        y = (ay + by) / 2 - 7 * len(lines) + 9
        if leans:
            y = ay + 16 if joins else by - 12 - 14 * (len(lines) - 1)
        for i, line in enumerate(lines):
            words.append((x, y + 14 * i, line, anchor))
    # Labels at the rims may need more room than the boxes.
    outer = [x - svg.text_width(t, 11) for x, _, t, side in words if side == "end"]
    left, top = _PAD - min(0.0, *outer, 0.0), _PAD + 22
    outer = [x + svg.text_width(t, 11) for x, _, t, side in words if side == "start"]
    right = max(left + max(plan.width, *outer, 0.0), svg.text_width(caption, 12)) + _PAD
    body: list[str] = []
    for points in plan.paths.values():
        shifted = [(x + left, y + top) for x, y in points]
        body.append(svg.path([*shifted[:-1], (shifted[-1][0], shifted[-1][1] - 5)], curved=True))
        body.append(svg.arrow_head(*shifted[-1]))
    for x, y, line, side in words:
        body.append(svg.text(x + left, y + top, line, size=11, fill=svg.MUTED, anchor=side, halo=True))
    for node in graph.nodes:
        at = plan.places[node.id]
        body.append(_node(node.kind, texts[node.id], at.x + left, at.y + top, at.width, at.height))
    title = svg.text(_PAD, 22, caption, bold=True)
    return svg.document(right, plan.height + top + _PAD, [title, *body])


@lru_cache(maxsize=64)
def _laid(sizes: tuple[tuple[str, tuple[float, float]], ...], edges: tuple[Edge, ...], drop: float) -> Layout:
    return layered(dict(sizes), edges, drop=drop)


_Lines = tuple[tuple[str, float, bool], ...]
"""The lines in a box, each with its size and whether it is code."""


@lru_cache(maxsize=256)
def _node_lines(node: GraphNode, told_by_edge: bool) -> _Lines:
    """What stands in a box; what the arrow below tells is not said twice."""
    kind = {"barrier": "✗ barrier: runs in Python", "stage": ""}.get(node.kind, node.kind)
    lines = [(kind, 11.0, False)] if kind else []
    lines += [(line, 12.0, True) for line in svg.wrapped(visible(node.label or node.id), 36, 14)]
    kind_of = " ".join(one_line(part) for part in (node.type, node.range) if part)
    amount = [units.plural(node.elements, "element")] if node.elements >= 0 else []
    amount += [units.size(node.bytes)] if node.bytes > 0 and not told_by_edge else []
    facts = [kind_of] if kind_of and not told_by_edge else []
    facts += [" · ".join(amount)] if amount else []
    if facts:
        lines += [(part, 11.0, False) for fact in facts for part in svg.wrapped(fact, 40, 2)]
    if node.reason:
        lines += [(line, 11.0, False) for line in svg.wrapped(one_line(node.reason), 40, 4)]
    return tuple(lines)


@lru_cache(maxsize=256)
def _node(kind: str, lines: _Lines, x: float, y: float, width: float, height: float) -> str:
    fill, rim, radius = _KINDS.get(kind, _KINDS["stage"])
    barrier = kind == "barrier"
    out = [
        svg.rect(x - width / 2, y, width, height, fill=fill, stroke=rim, rx=radius, pen=2 if barrier else 1.2)
    ]
    for i, (line, size, code) in enumerate(lines):
        base = y + 7 + _LEADING * i + 12
        ink = svg.INK if code else (svg.ALARM if barrier else svg.MUTED)
        out.append(svg.text(x - width / 2 + 12, base, line, size=size, mono=code, fill=ink))
    return "".join(out)


# --------------------------------------------------------------------------------------- the time bar


@dataclass(frozen=True)
class Bar:
    """A row of the time bar. `took`: seconds of the run, less than its phases together where these ran at once."""

    name: str
    steps: tuple[Step, ...]
    took: float

    @property
    def together(self) -> float:
        """Seconds of the phases, one after the other."""
        return sum(step.seconds for step in self.steps)

    @property
    def whole(self) -> float:
        """What a phase is a part of: the run, or the phases where these leave something out of it."""
        return self.took if self.at_once else self.together

    @property
    def at_once(self) -> bool:
        """Whether phases ran at the same time."""
        return 0 < self.took < 0.999 * self.together

    @property
    def head(self) -> str:
        """The row's name, and its time."""
        together = units.seconds(self.together)
        if not self.at_once:
            return f"{one_line(self.name)}: {together} in all, to scale"
        took = units.seconds(self.took)
        return f"{one_line(self.name)}: {took}; phases to scale, {together} had they not run at once"


@lru_cache(maxsize=64)
def time_image(rows: tuple[Bar, ...]) -> str:
    """Bars of phases, one row per back end, as an `<img>` whose alt text holds every figure."""
    alt = "; ".join(
        f"{row.head if row.at_once else row.name}: " + ", ".join(f"{s.name} {s.facts}" for s in row.steps)
        for row in rows
    )
    return svg.image(time_svg(rows), f"Time, to scale. {alt}")


def time_svg(rows: Sequence[Bar]) -> str:
    """One bar per row, all to the same scale; below each bar its parts in order, joined to them by lines."""
    longest = max((row.together for row in rows), default=0.0) or 1.0
    scale = (WIDTH - 2 * _PAD) / longest
    body: list[str] = []
    y = 8.0
    for row in rows:
        body.append(svg.text(_PAD, y + 14, row.head, bold=True))
        body += _bar(row.steps, row.whole, scale, y + 22)
        y += 22 + 22 + 20 + 3 * 15 + 12
    return svg.document(WIDTH, y, body)


def _bar(steps: Sequence[Step], total: float, scale: float, y: float) -> list[str]:
    out: list[str] = []
    x, column = _PAD, (WIDTH - 2 * _PAD) / max(len(steps), 4)
    for i, step in enumerate(steps):
        width = step.seconds * scale
        fill = _FILLS.get(step.name, "#44443f")
        out.append(svg.rect(x, y, max(width - 1, 1.0), 22, fill=fill))
        at = _PAD + column * i
        middle = x + max(width - 1, 1.0) / 2
        out.append(
            svg.path([(middle, y + 22), (middle, y + 26), (at + 5, y + 36), (at + 5, y + 42)], stroke=fill)
        )
        out.append(svg.rect(at, y + 42, 10, 10, fill=fill))
        time, _, moved = step.facts.partition(", ")
        share = step.seconds / total if total else 0.0
        percent = f"{100 * share:.0f} %" if share >= 0.005 else "under 1 %"
        out.append(svg.text(at + 15, y + 51.5, step.name, bold=True))
        out.append(svg.text(at + 15, y + 66.5, f"{time}, {percent}", size=11.5))
        out.append(svg.text(at + 15, y + 81, moved, size=11, fill=svg.MUTED) if moved else "")
        x += width
    return out


# -------------------------------------------------------------------------------------- the baselines


@lru_cache(maxsize=64)
def baseline_image(rows: tuple[Row, ...]) -> str:
    """The baselines as an `<img>` whose alt text holds every figure."""
    alt = "; ".join(f"{row.name} {row.remark}" for row in rows)
    return svg.image(baseline_svg(rows), f"Times on a logarithmic scale. {alt}")


def baseline_svg(rows: Sequence[Row]) -> str:
    """A bar per row on a logarithmic scale. Hatched: extrapolated."""
    times = [row.seconds for row in rows if row.seconds > 0] or [1.0]
    low = math.floor(math.log10(min(times)) - 0.3)
    high = max(math.ceil(math.log10(max(times))), low + 1)
    left = _PAD + max(svg.text_width(row.name, 12) for row in rows) + 10 if rows else _PAD
    # The longest remark stands behind the longest bar: leave it room.
    room = max((svg.text_width(row.remark, 11.5) for row in rows), default=0.0)
    span = max(160.0, WIDTH - left - room - 2 * _PAD - 8)
    bottom = 12 + 28 * len(rows)
    hatch = (
        "<defs><pattern id='h' width='6' height='6' patternUnits='userSpaceOnUse' "
        "patternTransform='rotate(45)'><rect width='6' height='6' fill='#c9c9c2'/>"
        "<rect width='3' height='6' fill='#77776f'/></pattern></defs>"
    )
    body = [hatch]
    for place, label in svg.decades(low, high, span, units.decade):
        x = left + place
        body.append(svg.path([(x, 8), (x, bottom)], stroke="#d9d9d3"))
        body.append(svg.text(x, bottom + 14, label, size=svg.DECADE, fill=svg.MUTED, anchor="middle"))
    end = WIDTH
    for i, row in enumerate(rows):
        y = 12 + 28 * i
        body.append(svg.text(left - 8, y + 15, row.name, anchor="end", bold=row.ours))
        length = span * (math.log10(row.seconds) - low) / (high - low) if row.seconds > 0 else 0.0
        if length:
            fill = _FILLS["kernel"] if row.ours else "url(#h)" if row.extrapolated else "#77776f"
            body.append(svg.rect(left, y + 2, max(length, 1.0), 18, fill=fill))
        ink = svg.INK if row.seconds > 0 else svg.ALARM
        body.append(svg.text(left + length + 8, y + 15.5, row.remark, size=11.5, fill=ink, halo=True))
        end = max(end, left + length + 8 + svg.text_width(row.remark, 11.5) + _PAD)
    note = "logarithmic: each line is ten times the one before"
    if any(row.extrapolated for row in rows):
        note += "; hatched: extrapolated"
    body.append(svg.text(left, bottom + 31, note, size=10.5, fill=svg.MUTED))
    return svg.document(end, bottom + 42, body)
