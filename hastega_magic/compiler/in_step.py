"""Stages that Python runs, in step with those behind them for as long as somebody could tell.

    range(3) |> map(noted) |> map(_ * 2) |> sum     ints: all are collected first, and a loop doubles and adds them
    range(3) |> map(noted) |> map(_ * 2) |> sum     strings: Python doubles and adds each as it comes, and `sum` refuses
                                                    the first one before `noted` is called again

A gate stands before each stage behind. It keeps the elements that come as long as the stages behind it are quiet for
their kind (syntax/quiet.py): it is Python's numbers alone that go into arrays and come back as they were. From the
first other one on it lets all of them through. The first gate that still keeps all at the end ends the pass there.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from hastega_magic.compiler.barriers import noted
from hastega_magic.compiler.statement import calls_of
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.runtime import python
from hastega_magic.runtime.python import StageCall
from hastega_magic.syntax.build import BoundStage
from hastega_magic.syntax.quiet import quiet
from hastega_magic.syntax.stages import STAGES
from hastega_magic.types import BOOL, FLOAT64, INT, Complex

_TYPES: dict[type, object] = {bool: BOOL, float: FLOAT64, complex: Complex((FLOAT64, FLOAT64))}
_LOWEST, _HIGHEST = -(1 << 63), (1 << 64) - 1
_MIXED = frozenset({BOOL, INT, FLOAT64})
"""Kinds that may come one after the other: all stages that are quiet for each are for a mixture."""


def in_pass(stages: Sequence[BoundStage], count: int) -> Sequence[BoundStage]:
    """The stages behind the first `count` that Python runs in the same pass; none where these end it."""
    if not _passes(stages[count - 1]):
        return ()
    behind = stages[count:]
    lazy = list(itertools.takewhile(_passes, behind))
    following = behind[len(lazy) : len(lazy) + 1]
    ends = [stage for stage in following if _of_table(stage) and STAGES[stage.site.name].sink]
    return (*lazy, *ends)


def _of_table(stage: BoundStage) -> bool:
    return stage.site.known and stage.callee is None and stage.site.name in STAGES


def _passes(stage: BoundStage) -> bool:
    """Whether it takes and gives elements one by one."""
    return _of_table(stage) and stage.site.name != "tap" and not STAGES[stage.site.name].sink


@dataclass
class Behind:
    """The stages behind Python's, and for which kinds of elements they are known to be quiet, from each of them on."""

    stages: Sequence[BoundStage]
    known: dict[tuple[int, object], bool] = field(default_factory=dict[tuple[int, object], bool])

    def quiet(self, place: int, kind: object) -> bool:
        """Whether the stages from a place on are quiet for this kind of elements."""
        key = place, kind
        if key not in self.known:
            self.known[key] = quiet(self.stages[place:], kind, Workspace("<behind>"))
        return self.known[key]

    def after(self, more: int) -> Behind:
        """The same behind some more of Python's stages."""
        known = {(place - more, kind): is_so for (place, kind), is_so in self.known.items() if place >= more}
        return Behind(self.stages[more:], known)


def run(value: object, stages: Sequence[BoundStage], behind: Behind) -> tuple[object, int]:
    """What Python's stages give, and how many of those behind are in it; what one raises propagates."""
    source: Any = value
    passing: Any = value
    for name, callee, args, kwargs in calls_of(stages):
        passing = python.apply(name, passing, args, kwargs, callee)
    done: list[StageCall] = calls_of([*stages, *behind.stages])
    try:
        for place, (name, callee, args, kwargs) in enumerate(calls_of(noted(behind.stages))):
            passing = python.apply(name, _gate(passing, behind, place), args, kwargs, callee)
        if behind.stages and not _passes(behind.stages[-1]):
            return passing, len(behind.stages)
        return python.collected(passing, done, source), len(behind.stages)
    except _AllKept as kept:
        elements, place = kept.elements, kept.place
    return python.collected(elements, done[: len(stages) + place], source), place


class _AllKept(Exception):
    """A gate has kept all elements."""

    def __init__(self, elements: list[object], place: int) -> None:
        super().__init__()
        self.elements, self.place = elements, place


def _gate(elements: Iterator[object], behind: Behind, place: int) -> Iterator[object]:
    """The elements, let through from the first one on that somebody could tell from its being kept."""
    kept: list[object] = []
    before: object = None
    for element in elements:
        kind = _kind_of(element)
        if kind is None or kind != before:
            alike = before is None or (before in _MIXED and kind in _MIXED)
            if kind is None or not alike or not behind.quiet(place, kind):
                yield from kept
                yield element
                yield from elements
                return
            before = kind
        kept.append(element)
    raise _AllKept(kept, place)


def _kind_of(element: object) -> object:
    """The types of an element of Python's numbers; None for any other, and for an int beyond 64 bits."""
    type_ = type(element)
    if type_ is int:
        return INT if _LOWEST <= cast(int, element) <= _HIGHEST else None
    if type_ is tuple and element:
        kinds = tuple(map(_kind_of, cast("tuple[object, ...]", element)))
        return None if None in kinds else kinds
    return _TYPES.get(type_)


__all__ = ["Behind", "in_pass", "run"]
