"""Pictures as SVG text.

They stand in an `<img>`, so they inherit nothing: each brings a light card and dark ink. Numbers have five digits, as
finer places cannot be seen, and are written out where they stand: a picture has hundreds, and cells wait for them.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from hastega_magic.report.escape import columns, markup

CARD, RIM, INK, MUTED = "#f6f6f3", "#c4c4bd", "#1a1a1a", "#55554f"
LINE = "#6a6a64"
ALARM, ALARM_FILL = "#b3261e", "#fdecea"
SANS = "font-family='system-ui,Segoe UI,Helvetica,Arial,DejaVu Sans,sans-serif'"
MONO = "font-family='ui-monospace,Menlo,Consolas,DejaVu Sans Mono,monospace'"

DECADE = 10.5
"""The size of the labels of a scale."""


def document(width: float, height: float, body: Iterable[str]) -> str:
    """A whole SVG of the given size in pixels, drawn on a card."""
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width:.5g}' height='{height:.5g}' "
        f"viewBox='0 0 {width:.5g} {height:.5g}' {SANS} font-size='12' fill='{INK}' xml:space='preserve'>"
        f"<rect x='.5' y='.5' width='{width - 1:.5g}' height='{height - 1:.5g}' rx='6' fill='{CARD}' "
        f"stroke='{RIM}'/>{''.join(body)}</svg>"
    )


def image(svg: str, alt: str) -> str:
    """An HTML `<img>` that carries the SVG in itself. `alt` says in words what the picture says."""
    data = base64.b64encode(svg.encode("utf-8")).decode("ascii")
    return (
        f'<img alt="{markup(alt)}" src="data:image/svg+xml;base64,{data}" '
        'style="max-width:100%;height:auto;vertical-align:top">'
    )


def text(
    x: float,
    y: float,
    content: str,
    *,
    size: float = 12,
    fill: str = INK,
    anchor: str = "start",
    bold: bool = False,
    mono: bool = False,
    halo: bool = False,
) -> str:
    """A line of text with its baseline at `y`.

    `halo`: the card's colour around it, over lines that it crosses.
    """
    # What is left out, `document` says for all.
    extra = f" font-size='{size:.5g}'" if size != 12 else ""
    extra += f" fill='{fill}'" if fill != INK else ""
    extra += " font-weight='600'" if bold else ""
    extra += f" {MONO}" if mono else ""
    extra += f" text-anchor='{anchor}'" if anchor != "start" else ""
    extra += f" stroke='{CARD}' stroke-width='4' paint-order='stroke'" if halo else ""
    return f"<text x='{x:.5g}' y='{y:.5g}'{extra}>{markup(content)}</text>"


def rect(
    x: float,
    y: float,
    width: float,
    height: float,
    *,
    fill: str,
    stroke: str = "none",
    rx: float = 0,
    pen: float = 1,
) -> str:
    """A rectangle."""
    edge = "" if stroke == "none" else f" stroke='{stroke}' stroke-width='{pen:.5g}'"
    return (
        f"<rect x='{x:.5g}' y='{y:.5g}' width='{width:.5g}' height='{height:.5g}' rx='{rx:.5g}' "
        f"fill='{fill}'{edge}/>"
    )


def circle(x: float, y: float, radius: float, *, fill: str, stroke: str = "none") -> str:
    """A circle around `(x, y)`."""
    edge = "" if stroke == "none" else f" stroke='{stroke}' stroke-width='1.5'"
    return f"<circle cx='{x:.5g}' cy='{y:.5g}' r='{radius:.5g}' fill='{fill}'{edge}/>"


def path(
    points: Sequence[tuple[float, float]],
    *,
    stroke: str = LINE,
    curved: bool = False,
    dash: str = "",
    pen: float = 1,
) -> str:
    """A line through the points; `curved`: leaving and arriving vertically; `dash`: lengths drawn and left out."""
    steps = _bent(points) if curved else "M" + "L".join([f"{x:.5g} {y:.5g}" for x, y in points])
    extra = f" stroke-dasharray='{dash}'" if dash else ""
    extra += f" stroke-width='{pen:.5g}'" if pen != 1 else ""
    return f"<path d='{steps}' fill='none' stroke='{stroke}'{extra}/>"


def _bent(points: Sequence[tuple[float, float]]) -> str:
    (x, y), *rest = points
    steps = [f"M{x:.5g} {y:.5g}"]
    for px, py in rest:
        middle = (y + py) / 2
        bends = f"C{x:.5g} {middle:.5g} {px:.5g} {middle:.5g} " if abs(px - x) > 0.5 else "L"
        steps.append(f"{bends}{px:.5g} {py:.5g}")
        x, y = px, py
    return "".join(steps)


def arrow_head(x: float, y: float) -> str:
    """A small triangle that points down to `(x, y)`."""
    return f"<path d='M{x:.5g} {y:.5g}l-4 -7h8z' fill='{LINE}'/>"


@lru_cache(1024)
def text_width(content: str, size: float = 12, *, mono: bool = False) -> float:
    """About how wide a line of text is, in pixels; fonts differ, so boxes leave some room."""
    return columns(content) * size * (0.61 if mono else 0.56)


def decades(low: int, high: int, span: float, label: Callable[[int], str]) -> Iterator[tuple[float, str]]:
    """Where powers of ten stand on a scale of `span` pixels, and their labels: "" for those that would touch others."""
    step = span / (high - low)
    labels = {power: label(power) for power in range(low, high + 1)}
    every = math.ceil((max(text_width(text, DECADE) for text in labels.values()) + 6) / step)
    for power, text in labels.items():
        yield step * (power - low), "" if power % every else text


@lru_cache(1024)
def wrapped(content: str, limit: int, lines: int) -> tuple[str, ...]:
    """The text in at most `lines` lines of `limit` columns, broken at blanks if possible; cut with `…`."""
    out: list[str] = []
    for paragraph in content.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            rest = word
            # A word longer than a line is broken hard; what is left of a long one is not measured each time.
            while len(rest) > limit or columns(rest) > limit:
                if line:
                    out.append(line)
                    line = ""
                out.append(rest[:limit])
                rest = rest[limit:]
            if line and columns(line) + 1 + columns(rest) > limit:
                out.append(line)
                line = rest
            else:
                line = f"{line} {rest}" if line else rest
        out.append(line)
    if len(out) > lines:
        out = [*out[: lines - 1], out[lines - 1][: limit - 1] + "…"]
    return tuple(out)
