"""Schedules that were found faster than the compiler's own, by loop: read once, and kept in the machine's store.

The store is that of the cost model's figures, so what was found goes with the machine, its drivers and our version.
"""

from __future__ import annotations

import threading
from dataclasses import asdict, fields
from typing import Any, cast

from hastega_magic.compiler.choice import costs
from hastega_magic.cost.store import Json, Store
from hastega_magic.forking import held_while_forking
from hastega_magic.ir.schedule import Tuned
from hastega_magic.records import dataclass

_MOST = 2000
"""Findings that are kept; the oldest go first."""

_MOST_ELEMENTS, _LEAST_SECONDS, _MOST_SECONDS = 1 << 62, 1e-10, 1e9
"""What lies beyond these was never measured."""


@dataclass(frozen=True)
class Timed:
    """A schedule in words, and what it took: the median of its runs, the fastest and the slowest, in seconds."""

    schedule: str
    seconds: float
    spread: tuple[float, float]


@dataclass(frozen=True)
class Finding:
    """What a search found: the decisions, the compiler's own schedule and the chosen one over so many elements.

    `date`: when, as YYYY-MM-DD. `ended`: "complete", "time" or "interrupted"; "" where that is not known.
    """

    tuned: Tuned
    own: Timed
    best: Timed
    elements: int
    date: str
    ended: str = ""


class _Known:
    def __init__(self) -> None:
        self.lock = held_while_forking(threading.Lock())
        self.store: Store | None = None
        self.findings: dict[str, Finding] = {}
        self.reported = ""


_KNOWN = _Known()


def found(key: str) -> Finding | None:
    """What is known of a loop, a back end and the user's limits."""
    if _KNOWN.store is None:
        with _KNOWN.lock:
            _load()
    return _KNOWN.findings.get(key)


def something() -> bool:
    """Whether anything is known at all: a question that costs next to nothing."""
    if _KNOWN.store is None:
        with _KNOWN.lock:
            _load()
    return bool(_KNOWN.findings)


def keep(key: str, finding: Finding) -> None:
    """Know it from now on, in other processes too."""

    def changed(data: Json) -> Json:
        stored: object = data.get("tuned")
        kept = cast("dict[str, Any]", stored) if isinstance(stored, dict) else {}
        rest = [(name, value) for name, value in kept.items() if name != key]
        newest = dict(rest[-_MOST + 1 :])
        return data | {"tuned": newest | {key: asdict(finding)}}

    with _KNOWN.lock:
        _load().update(changed)
        _KNOWN.findings[key] = finding


def said() -> str:
    """What is wrong with the file, in a sentence that has not been told yet; "" where there is none."""
    text = "" if _KNOWN.store is None else _KNOWN.store.said
    if text == _KNOWN.reported:
        return ""
    _KNOWN.reported = text
    return text


def forget() -> None:
    """Read the store anew when it is next asked for."""
    with _KNOWN.lock:
        _KNOWN.store = None
        _KNOWN.findings.clear()


def _load() -> Store:
    if _KNOWN.store is None:
        _KNOWN.store = costs.store()
        data = _KNOWN.store.read().get("tuned")
        entries = cast("dict[str, object]", data) if isinstance(data, dict) else {}
        read = {key: _finding(value) for key, value in entries.items()}
        _KNOWN.findings = {key: value for key, value in read.items() if value is not None}
    return _KNOWN.store


def _finding(value: object) -> Finding | None:
    """A finding from JSON; None for what is none."""
    try:
        data = cast("dict[str, Any]", value)
        decided = data["tuned"]
        if set(decided) != {each.name for each in fields(Tuned)}:
            return None
        flags = (None, True, False)
        plain = all(
            each in flags if name == "stream" else each is None or (type(each) is int and each >= 0)
            for name, each in decided.items()
        )
        tuned = Tuned(**decided)
        legal = tuned.lanes in (0, 1, 2, 4, 8, 16, 32, 64) and tuned.in_flight in (0, 1, 2, 4, 8, 16, 32, 64)
        if not (plain and legal and max(tuned.lanes, 1) * max(tuned.in_flight, 1) <= 64):
            return None
        if not 0 < data["elements"] <= _MOST_ELEMENTS:
            return None
        ended = data.get("ended")
        return Finding(
            tuned, _timed(data["own"]), _timed(data["best"]), int(data["elements"]), str(data["date"]),
            ended if ended in ("complete", "time", "interrupted") else "",
        )  # fmt: skip
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError):
        return None


def _timed(data: Any) -> Timed:
    low, high = data["spread"]
    if not all(_LEAST_SECONDS <= float(each) < _MOST_SECONDS for each in (low, high, data["seconds"])):
        raise ValueError("not what a run takes")
    return Timed(str(data["schedule"]), float(data["seconds"]), (float(low), float(high)))


__all__ = ["Finding", "Timed", "forget", "found", "keep", "said", "something"]
