"""What a `reduce` in any order begins with is no part of its loop: it is combined with what comes of the elements.

xs |> reduce(lambda a, x: a + x, 10)    as from 0 on, and then 10 + that
xs |> sum(10)                           the same, of ints
xs |> sum(0.5)                          and of floats, from a number of the same type on
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hastega_magic.compiler.fastpath.guards import Display
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.outcome import Outcome
from hastega_magic.compiler.statement import Bound, Loop
from hastega_magic.ir.fused import Fused
from hastega_magic.ir.sinks import COMBINE, NEUTRAL
from hastega_magic.records import changed
from hastega_magic.syntax.closures.given import BEGINNINGS
from hastega_magic.syntax.loops.rules import may_begin
from hastega_magic.syntax.stages import STAGES

Begins = tuple[Callable[[Any, Any], Any], Callable[[Display], object], Callable[[object], bool]]
"""How the two are combined, how the first is found in what the stage is given, and whether it may be this one."""


def begins(bound: Bound, outcome: Outcome, options: Options) -> Begins | None:
    """Of a statement that is one such loop; None for all others, and where results are cut to 64 bits."""
    if options.int_mode != "exact" or len(outcome.loops) != 1 or not bound.stages:
        return None
    built, last = outcome.loops[0].built, bound.stages[-1]
    if not built.initial or not (built.plain or built.even) or built.consumed != len(bound.stages):
        return None
    kind = "" if built.pipeline is None else built.pipeline.sink.kind
    if not (kind == "sum" or kind.startswith("reduce_")):
        return None
    combine: Callable[[Any, Any], Any] = COMBINE[kind]
    name = BEGINNINGS[last.site.name]
    place = None if name in last.kwargs else STAGES[last.site.name].parameters.index(name)
    of_type = type(built.initial[0]) if kind == "sum" else int
    return combine, _by_name(name) if place is None else _by_place(place), _fitting(of_type, kind == "sum")


def _fitting(of_type: type, of_floats: bool) -> Callable[[object], bool]:
    return lambda start: type(start) is of_type and (not of_floats or may_begin(start))


def _by_name(name: str) -> Callable[[Display], object]:
    return lambda display: display[2].get(name)


def _by_place(place: int) -> Callable[[Display], object]:
    # Where `*` and `**` stand for arguments, there may be others than in the first run.
    return lambda display: display[1][place] if len(display[1]) > place else None


def from_anywhere(loop: Loop, fused: Fused) -> Loop:
    """The loop from what changes nothing on. `fused`: as it is compiled, without what it began with."""
    read = {(each.kind, each.key) for each in fused.sources}
    given = tuple(each for each in loop.pipeline.parameters if (each[1].kind, each[1].key) in read)
    loop = changed(loop, pipeline=changed(loop.pipeline, parameters=given))
    kind = loop.pipeline.sink.kind.removeprefix("reduce_")
    neutral = 0 if kind == "sum" else NEUTRAL[kind]
    return changed(loop, built=changed(loop.built, initial=(neutral,)))


__all__ = ["Begins", "begins", "from_anywhere"]
