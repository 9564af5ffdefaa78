"""Integers beyond 64 bits in lists and tuples, and where they were found last: a cell that runs again looks there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hastega_magic.interval import INT64_MAX, INT64_MIN
from hastega_magic.lru import LruCache

_places: LruCache[str, int] = LruCache(64)
"""By the source's name. Elements are looked at all the same, as another source may have the name by now."""


def is_still_there(data: Any, name: str, start: int, stop: int) -> bool:
    """Whether one is found among elements `start` to `stop` where the source of this name had one before."""
    place = _places.get(name)
    return place is not None and start <= place < stop and _first(data[place : place + 1]) is not None


def found(part: Sequence[object], name: str, start: int) -> None:
    """Remember where one is among some elements, of which the first is number `start`."""
    place = _first(part)
    if place is not None:
        _places.put(name, start + place)


def _first(part: Sequence[object]) -> int | None:
    wide = (n for n, each in enumerate(part) if type(each) is int and not INT64_MIN <= each <= INT64_MAX)
    return next(wide, None)


__all__ = ["found", "is_still_there"]
