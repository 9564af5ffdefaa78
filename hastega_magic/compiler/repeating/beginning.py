"""What a `reduce` in any order begins with is no part of its loop: it is combined with what comes of the elements.

xs |> reduce(lambda a, x: a + x, 10)    as from 0 on, and then 10 + that
xs |> sum(10)                           the same, of ints
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hastega_magic.compiler.options import Options
from hastega_magic.compiler.outcome import Outcome
from hastega_magic.compiler.repeating.alike import Display
from hastega_magic.compiler.statement import Bound, Loop
from hastega_magic.ir.sinks import COMBINE, NEUTRAL
from hastega_magic.records import changed
from hastega_magic.syntax.closures.given import BEGINNINGS
from hastega_magic.syntax.stages import STAGES

Begins = tuple[Callable[[int, Any], int], Callable[[Display], object]]
"""How the two are combined, and how the first is found in what the stage is given."""


def begins(bound: Bound, outcome: Outcome, options: Options) -> Begins | None:
    """Of a statement that is one such loop; None for all others, and where results are cut to 64 bits."""
    if options.int_mode != "exact" or len(outcome.loops) != 1 or not bound.stages:
        return None
    built, last = outcome.loops[0].built, bound.stages[-1]
    if not built.initial or not (built.plain or built.even) or built.consumed != len(bound.stages):
        return None
    if built.pipeline is None or not built.pipeline.sink.kind.startswith("reduce_"):
        return None
    combine: Callable[[int, Any], int] = COMBINE[built.pipeline.sink.kind]
    name = BEGINNINGS[last.site.name]
    place = None if name in last.kwargs else STAGES[last.site.name].parameters.index(name)
    return combine, _by_name(name) if place is None else _by_place(place)


def _by_name(name: str) -> Callable[[Display], object]:
    return lambda display: display[2].get(name)


def _by_place(place: int) -> Callable[[Display], object]:
    # Where `*` and `**` stand for arguments, there may be others than in the first run.
    return lambda display: display[1][place] if len(display[1]) > place else None


def from_anywhere(loop: Loop) -> Loop:
    """The loop from what changes nothing on."""
    neutral = NEUTRAL[loop.pipeline.sink.kind.removeprefix("reduce_")]
    return changed(loop, built=changed(loop.built, initial=(neutral,)))


__all__ = ["Begins", "begins", "from_anywhere"]
