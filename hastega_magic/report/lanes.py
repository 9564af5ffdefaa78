"""The lane view as text: a row for each value of the loop, a column for each lane of the first vector."""

from __future__ import annotations

import re

from hastega_magic.report.escape import columns, one_line, shorten
from hastega_magic.report.model import Lanes

DEAD = "–"
MOST_STEPS = 40
_MOST_LANES = 16
_TYPED = re.compile(r"^(%\d+): (?!turns)[^=]*= ")
"""A definition's type and range, which the fused listing has."""


def lanes_text(lanes: Lanes, most: int = MOST_STEPS) -> str:
    """Columns aligned for a fixed-width font; a lane that takes no part in a step has a dash there."""
    steps = lanes.steps[:most]
    count = min(_MOST_LANES, max((len(step.values) for step in steps), default=0))
    rows = [["line", "", *(f"lane {number}" for number in range(count))]]
    for step in steps:
        values = [
            (shorten(value, 18) if value else DEAD) if alive else DEAD
            for value, alive in zip(step.values[:count], step.active, strict=False)
        ]
        values += [DEAD] * (count - len(values))
        text = shorten(_TYPED.sub(r"\1 = ", one_line(step.text)), 36)
        rows.append([str(step.line or ""), text, *values])
    widths = [max(columns(row[place]) for row in rows) for place in range(count + 2)]

    def cell(text: str, place: int) -> str:
        room = " " * (widths[place] - columns(text))
        return text + room if place == 1 else room + text

    return "\n".join("  ".join(cell(text, place) for place, text in enumerate(row)).rstrip() for row in rows)


def lanes_notes(lanes: Lanes, most: int = MOST_STEPS) -> tuple[str, ...]:
    """What the table cannot say."""
    first = "Each column is a lane: one element of the first vector. Line numbers are those of the fused IR."
    dead = any(not alive for step in lanes.steps[:most] for alive in step.active)
    out = [first]
    if dead:
        out.append(
            f"{DEAD}: the lane takes no part there: a filter left it out, the other branch was taken, "
            "or the source has no more elements."
        )
    if any(value == "…" for step in lanes.steps[:most] for value in step.values):
        out.append("…: behind a loop that makes more turns than are followed here.")
    if (shown := min(most, len(lanes.steps))) < max(lanes.total, len(lanes.steps)):
        out.append(f"The first {shown} of {max(lanes.total, len(lanes.steps))} steps are shown.")
    return tuple(out)
