"""Rows as a table for a terminal, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

from hastega_magic.benchmarks.model import Row

_HEAD = ("workload", "peer", "n", "threads", "median", "min", "max", "ratio", "equal", "note")
_LEFT = frozenset({"workload", "peer", "note"})


def seconds(value: float | None) -> str:
    """A time with three digits and its unit; a dash for None."""
    if value is None:
        return "-"
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        if value * factor >= 1.0:
            return f"{value * factor:.3g} {unit}" if value * factor < 1000 else f"{value * factor:.0f} {unit}"
    return f"{value * 1e9:.3g} ns"


def grouped(n: int) -> str:
    """A whole number with spaces between the thousands."""
    return f"{n:,}".replace(",", " ")


def _ratio(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def _cells(row: Row) -> tuple[str, ...]:
    equal = {None: "-", True: "yes", False: "NO"}[row.equal]
    return (
        row.workload,
        row.peer,
        grouped(row.n),
        str(row.threads),
        seconds(row.median_s),
        seconds(row.min_s),
        seconds(row.max_s),
        _ratio(row.ratio),
        equal,
        row.note,
    )


def render(rows: Sequence[Row]) -> str:
    """The rows under a heading, columns aligned, one line each."""
    lines = [_HEAD, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEAD))]
    return "\n".join(
        "  ".join(
            text.ljust(width) if title in _LEFT else text.rjust(width)
            for text, width, title in zip(line, widths, _HEAD, strict=True)
        ).rstrip()
        for line in lines
    )


def to_json(rows: Sequence[Row]) -> str:
    """The rows as a JSON array of objects, with a newline at the end."""
    return json.dumps([row.to_dict() for row in rows], indent=1) + "\n"
