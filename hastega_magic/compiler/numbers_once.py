"""Stages' numbers of elements: an object of the user's that stands for one is asked once, and before all elements.

xs |> map(f) |> take(n)        n.__index__() is called as the stages are put together, as Python does
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from hastega_magic.frames import let_through
from hastega_magic.runtime.special import has
from hastega_magic.syntax.site import Site

_COUNTING = frozenset({"take", "drop", "step", "window", "chunk", "enumerate"})
_NUMBERS = (int, float, complex, str, np.generic, np.ndarray)

_Display = tuple[Any, tuple[Any, ...], Mapping[str, Any]]


def counting(site: Site) -> tuple[int, ...]:
    """Which of its stages are given a number of elements, up to the first that Python calls with a value."""
    found: list[int] = []
    for place, stage in enumerate(site.stages):
        if not stage.known or stage.name == "tap":
            break
        if stage.name in _COUNTING:
            found.append(place)
    return tuple(found)


def once(displays: Sequence[_Display], places: Sequence[int]) -> Sequence[_Display]:
    """What the stages are given, with ints for objects that stand for them; `places`: as above."""
    made: list[_Display] | None = None
    for place in places:
        callee, args, kwargs = displays[place]
        given: tuple[object, ...] = args or tuple(kwargs.values())
        if callee is not None or len(given) != 1 or isinstance(given[0], _NUMBERS):
            continue
        number = _number(given[0])
        if number is not None:
            made = [*displays] if made is None else made
            made[place] = (None, (number,), {}) if args else (None, (), dict.fromkeys(kwargs, number))
    return displays if made is None else made


def _number(value: object) -> int | None:
    """None for what stands for none: the stage says so when its turn comes, or the object does once more."""
    if not has(value, "__index__"):
        return None
    try:
        return operator.index(cast(Any, value))
    except Exception as error:
        let_through(error)
        return None


__all__ = ["counting", "once"]
