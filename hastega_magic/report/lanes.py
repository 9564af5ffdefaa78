"""The lane view as text: a row for each value of the loop, a column for each lane of the first vector."""

from __future__ import annotations

import re
from functools import lru_cache

from hastega_magic.report.escape import columns, one_line, shorten
from hastega_magic.report.model import Lanes, LaneStep

DEAD = "–"
MOST_STEPS = 40
_MOST_LANES = 16
_TYPED = re.compile(r"^(%\d+): (?!turns)[^=]*= ")
"""A definition's type and range, which the fused listing has."""


def lanes_text(lanes: Lanes, most: int = MOST_STEPS) -> str:
    """Columns aligned for a fixed-width font; a lane that takes no part in a step has a dash there."""
    steps = lanes.steps[:most]
    count = min(_MOST_LANES, max([len(step.values) for step in steps], default=0))
    rows = [
        ("line", "", *[f"lane {number}" for number in range(count)]),
        *[_row(step, count) for step in steps],
    ]
    places = [_aligned(place, column) for place, column in enumerate(zip(*rows, strict=True))]
    return "\n".join(["  ".join(row).rstrip() for row in zip(*places, strict=True)])


@lru_cache(256)
def _row(step: LaneStep, count: int) -> tuple[str, ...]:
    values = [
        (shorten(value, 18) if value else DEAD) if alive else DEAD
        for value, alive in zip(step.values[:count], step.active, strict=False)
    ]
    values += [DEAD] * (count - len(values))
    return str(step.line or ""), shorten(_TYPED.sub(r"\1 = ", one_line(step.text)), 36), *values


@lru_cache(64)
def _aligned(place: int, column: tuple[str, ...]) -> tuple[str, ...]:
    """A column of one width: code from the left, numbers from the right."""
    widths = list(map(columns, column))
    most = max(widths)
    rooms = [" " * (most - width) for width in widths]
    pairs = zip(column, rooms, strict=True)
    return tuple([text + room if place == 1 else room + text for text, room in pairs])


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
