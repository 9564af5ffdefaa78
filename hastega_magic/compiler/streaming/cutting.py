"""Stages behind a loop that only say which of its elements are asked for."""

from __future__ import annotations

from collections.abc import Sequence

from hastega_magic.compiler.sources.long_ranges import number_of
from hastega_magic.runtime.stream import Cut, NotProduced
from hastega_magic.syntax.loops.build import BoundStage

_CUTTING = frozenset({"take", "drop", "step"})


def is_named(stage: BoundStage, names: frozenset[str]) -> bool:
    """Whether it is one of these stages of the table."""
    return stage.callee is None and stage.site.name in names


def cut_of(stages: Sequence[BoundStage]) -> tuple[Cut, Sequence[BoundStage]]:
    """Which elements the first stages leave, and the stages behind those that say so.

    NotProduced where elements are asked for, and none is left.
    """
    cut = Cut()
    for place, stage in enumerate(stages):
        number = number_of(stage) if is_named(stage, _CUTTING) else None
        if number is None or (stage.site.name == "step" and not number):
            return cut, stages[place:]
        match stage.site.name:
            case "take":
                cut = cut.take(number)
            case "step":
                cut = cut.every(number)
            case _:
                if cut.limit and number >= cut.limit:
                    raise NotProduced
                cut = cut.drop(number)
    return cut, ()


def steps_over(cutting: Sequence[BoundStage]) -> bool:
    """Whether a `step` goes on behind the last element that it gives, to the end of a `take`."""
    taken = False
    for stage in cutting:
        if taken and stage.site.name == "step":
            return True
        taken = taken or stage.site.name == "take"
    return False


__all__ = ["cut_of", "is_named", "steps_over"]
