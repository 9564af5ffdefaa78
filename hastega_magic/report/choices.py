"""How a loop was shared among back ends and which schedules were tried, in words and rows that text and HTML share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hastega_magic.report import units
from hastega_magic.report.escape import one_line, shorten
from hastega_magic.report.measured import Candidate, Split, Tuning

Rows = Sequence[Sequence[str]]

SHARES = ("back end", "elements", "share", "time", "speed", "on")
TRIED = ("schedule", "time", "spread", "÷ chosen", "")

_FOUND = {
    "measured": "by what they took for this loop before",
    "predicted": "by what the cost model predicts",
    "probed": "by what a first small part of the loop took on each",
}
_MARK = "✓ chosen"
_SHOWN = 12
"""Candidates that a cell's output lists."""


def share_rows(split: Split) -> Rows:
    """Who computed how much, how fast."""
    whole = sum(part.elements for part in split.parts)
    return [
        (
            shorten(part.backend, 24), units.grouped(part.elements),
            f"{units.digits(100 * part.elements / whole, 2)} %" if whole else "",
            units.seconds(part.seconds) if part.seconds > 0 else "–",
            f"{_rate(part.elements / part.seconds)}" if part.seconds > 0 else "",
            shorten(part.device, 40) + (f" · ✗ {one_line(part.failed)}" if part.failed else ""),
        )
        for part in split.parts
    ]  # fmt: skip


def _rate(speed: float) -> str:
    """Elements in a second."""
    for factor, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if speed >= factor:
            return f"{units.digits(speed / factor)} {name}/s"
    return f"{units.digits(speed)} /s"


def share_sentences(split: Split) -> Iterable[str]:
    """Who computed what, and how long some waited for others."""
    told = [
        f"{one_line(part.device)} ({part.backend}) {units.plural(part.elements, 'element')} in "
        f"{units.seconds(part.seconds)}"
        for part in split.parts
    ]
    found = _FOUND.get(split.by, "")
    yield (
        f"At once: {'; '.join(told)}. Shares were found {found}." if found else f"At once: {'; '.join(told)}."
    )
    waited = units.digits(100 * split.waited, 2)
    yield (
        f"Of their time together they waited {waited} % for the last one; what they took decides the shares of the "
        "next run."
    )
    for part in split.parts:
        if part.failed:
            yield (
                f"{one_line(part.device)} failed before it was done, and the CPU computed what was left to it: "
                f"{one_line(part.failed)}"
            )


def tried_rows(tuning: Tuning, whole: bool = False) -> Rows:
    """The schedules that were tried: the compiler's own, then the fastest first."""
    best = next((each.seconds for each in tuning.tried if each.chosen), 0.0)
    first, rest = tuning.tried[:1], sorted(tuning.tried[1:], key=lambda each: each.seconds or float("inf"))
    shown = [*first, *rest][: None if whole else _SHOWN]
    rows = [_tried(each, best, number == 0) for number, each in enumerate(shown)]
    left = len(tuning.tried) - len(shown)
    return rows + ([(f"and {left} more", "", "", "", "")] if left else [])


def _tried(each: Candidate, best: float, own: bool) -> Sequence[str]:
    spread = ""
    if len(each.spread) == 2:
        spread = f"{units.seconds(each.spread[0])} to {units.seconds(each.spread[1])}"
    remarks = [*(["the compiler's own"] if own else []), *([_MARK] if each.chosen else [])]
    return (
        shorten(each.schedule, 80),
        units.seconds(each.seconds) if each.seconds > 0 else "–",
        spread,
        f"{units.times(each.seconds / best)} ×" if best > 0 and each.seconds > 0 else "",
        " · ".join([*remarks, *([one_line(each.note)] if each.note else [])]),
    )


def tuning_hint(tuning: Tuning) -> str:
    """What the search found, in a few words."""
    best = next((each for each in tuning.tried if each.chosen), None)
    if best is None:
        return ""
    if best == tuning.tried[0]:
        tried = "" if tuning.ended in ("", "complete") else " that was tried"
        return f"nothing{tried} was faster than the compiler's own schedule"
    return f"{one_line(best.schedule)}: {units.times(tuning.gain)} × as fast as the compiler's own schedule"


def tuning_sentences(tuning: Tuning) -> Iterable[str]:
    """What was searched for how long, and what came of it."""
    hint = tuning_hint(tuning)
    if tuning.earlier:
        cut = ", cut short" if tuning.ended == "interrupted" else ""
        yield f"Tuned on {one_line(tuning.earlier)}, with --tune{cut}: {hint}. It holds for this loop on this machine."
        return
    count = sum(each.seconds > 0 for each in tuning.tried)
    ended = {
        "time": f"more would not have fitted into {units.seconds(tuning.limit)}",
        "interrupted": "it was cut short, and the best so far is kept",
        "complete": "that was all",
    }.get(tuning.ended, "")
    said = f"Tuned: {count} of {units.plural(tuning.possible, 'schedule')} tried in {units.seconds(tuning.seconds)}"
    yield f"{said}; {ended}." if ended else f"{said}."
    if hint:
        yield f"Tuned: {hint}, measured on {units.plural(tuning.elements, 'element')}; used from now on."


__all__ = [
    "SHARES", "TRIED", "share_rows", "share_sentences", "tried_rows", "tuning_hint", "tuning_sentences",
]  # fmt: skip
