"""Ranges with more elements than `len` counts: `range(10**19) |> take(3)` needs three of them."""

from __future__ import annotations

import array
import sys
from collections import deque
from collections.abc import ItemsView, KeysView, Sequence, ValuesView
from dataclasses import replace
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.statement import Bound
from hastega_magic.report.escape import quoted
from hastega_magic.runtime.columnar import is_columnar
from hastega_magic.syntax.loops.build import BoundStage

_LIMIT = sys.maxsize
_SIZED = (
    list, tuple, str, bytes, bytearray, memoryview, array.array, dict, set, frozenset, deque, KeysView, ValuesView,
    ItemsView,
)  # fmt: skip
_ONE_EACH = frozenset({"map", "enumerate", "astype", "clip", "where", "scan", "cumsum"})
"""Stages that give an element for each."""

_PERHAPS_SHORT = frozenset({"take", "zip", "take_while", "first", "any", "all"})
"""Stages that need not ask for all elements."""


def count_of(value: object) -> int:
    """How many elements there are; 0 where nobody knows, or an object would have to say what it likes."""
    if isinstance(value, range):
        return _count(value)
    if isinstance(value, np.ndarray):
        return len(cast(Any, value)) if value.ndim else 0
    return len(cast(Any, value)) if isinstance(value, _SIZED) or is_columnar(value) else 0


def _count(source: range) -> int:
    last = source[-1] if source else 0  # which works for any length
    return (last - source.start) // source.step + 1 if source else 0


def within_reach(bound: Bound, source: object) -> tuple[Bound, object]:
    """The statement over the part of its source that it needs.

    OverflowError where its stages would go through more elements than `len` counts.
    """
    if type(source) is not range or _count(source) <= _LIMIT:
        return bound, source
    stages = list(bound.stages)
    last = stages[-1]
    while stages and _count(source) > _LIMIT:
        part = _part(source, stages[0])
        if part is None:
            break
        source = part
        del stages[0]
    if _count(source) > _LIMIT:
        at_end = stages[0].callee is None and stages[0].site.name == "last"
        source = source[-1:] if at_end else source[: _needed(stages)]
    if not stages:  # what is left to do is to make an array of them
        stages = [BoundStage(replace(last.site, name="take"), None, (_count(source),))]
    if _count(source) > _LIMIT and not _may_end(stages):
        raise OverflowError(
            f"{quoted(bound.site.source_text)} has {_count(source)} elements, and "
            f"{quoted(stages[-1].site.text)} asks for all of them: begin with `take(n)`"
        )
    return replace(bound, source=source, stages=tuple(stages)), source


def _part(source: range, stage: BoundStage) -> range | None:
    """What a stage of the order of elements leaves of the range; None for other stages, and for odd arguments."""
    if stage.callee is not None:
        return None
    if stage.site.name == "reverse" and not stage.args and not stage.kwargs:
        return source[::-1]
    number = number_of(stage)
    match stage.site.name:
        case "take" if number is not None:
            return source[:number]
        case "drop" if number is not None:
            return source[number:]
        case "step" if number:
            return source[::number]
        case _:
            return None


def number_of(stage: BoundStage) -> int | None:
    """Its only argument, if that is a number of elements."""
    given = (*stage.args, *stage.kwargs.values())
    number = given[0] if len(given) == 1 and set(stage.kwargs) <= {"n"} else None
    return number if type(number) is int and number >= 0 else None


def _needed(stages: Sequence[BoundStage]) -> int | None:
    """How many of the first elements the stages need, where one of them says so."""
    for stage in stages:
        if stage.callee is not None:
            return None
        if stage.site.name == "take":
            return number_of(stage)
        if stage.site.name == "first":
            return 1
        if stage.site.name not in _ONE_EACH:
            return None
    return None


def _may_end(stages: Sequence[BoundStage]) -> bool:
    """Whether the stages may be done before the last element."""
    for place, stage in enumerate(stages):
        if stage.callee is not None or not stage.site.known:
            return place == 0  # it is called with the range itself, or else with an array of them all
        if stage.site.name in _PERHAPS_SHORT:
            return True
    return False
