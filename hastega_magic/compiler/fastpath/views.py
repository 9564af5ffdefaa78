"""Which elements of its sources a loop uses, found out anew from how many there are: as when the loop was built.

`xs |> drop(2) |> window(3) |> map(sum)` goes through 16 windows of 20 elements, the first one from element 2 on, and
through 26 windows of 30 by the same code.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from hastega_magic.compiler.fastpath.guards import BESIDE
from hastega_magic.compiler.fastpath.slots import DoesNotFit
from hastega_magic.compiler.statement import NUMBERED, Bound
from hastega_magic.records import dataclass
from hastega_magic.syntax.closures.captured import Free
from hastega_magic.syntax.closures.contained import Where
from hastega_magic.syntax.closures.given import SIZED, Read, size_of
from hastega_magic.syntax.loops.loop import BoundStage, View

_PLACED = frozenset(
    {"take", "drop", "step", "reverse", "window", "chunk", "take_while", "drop_while", "first", "last"}
)


@dataclass(frozen=True)
class _Step:
    """A stage that says which elements there are. `number`: its own among the stages; `given`: its argument.

    `read`: how that is found in another run, where it may be another, if it is at least `least`. `operands`: the
    statement's sources that it adds. `asked`: a loop that went before knows the element's number.
    """

    name: str
    number: int
    given: int = 0
    operands: tuple[int, ...] = ()
    asked: bool = False
    read: Read | None = None
    least: int = 0

    def size(self, arguments: Sequence[object]) -> int:
        """The number of elements that it is given; DoesNotFit for one that it may not be."""
        if self.read is None:
            return self.given
        found = self.read(arguments)
        if type(found) is not int or found < self.least:
            raise DoesNotFit
        return min(found, sys.maxsize)


@dataclass(frozen=True)
class ViewRule:
    """The stages that decide, in their order."""

    steps: tuple[_Step, ...]

    def at(
        self, operands: Sequence[Any], known: Mapping[int, object], arguments: Sequence[object]
    ) -> tuple[View, int]:
        """The elements that the loop uses, and how many are left for a shorter chunk; DoesNotFit where there are none.

        `known`: by stage number what other loops gave. `arguments`: those of the stages that are no sources.
        """
        view, tail = View(0, 1, len(operands[0])), 0
        for step in self.steps:
            match step.name:
                case "zip":
                    if (view.start, view.step) != (0, 1):
                        raise DoesNotFit  # the others begin at their own start
                    view = view.at_most(min(len(operands[each]) for each in step.operands))
                case "dot":
                    if view.count != len(operands[step.operands[0]]):
                        raise DoesNotFit
                case "take":
                    view = view.at_most(step.size(arguments))
                case "drop":
                    view = view.moved(step.size(arguments))
                case "step":
                    view = view.every(step.size(arguments))
                case "reverse":
                    view = view.turned()
                case "window":
                    view = view.windows(step.given)
                case "chunk":
                    view, tail = view.chunks(step.given)
                case _:
                    view = _found(view, step, cast("int | None", known.get(step.number)))
        if not view.count:
            raise DoesNotFit
        return view, tail


def _found(view: View, step: _Step, number: int | None) -> View:
    """The elements from, or up to, the one that another loop found, or that one alone."""
    match step.name:
        case "take_while":
            return view if number is None else view.at_most(number)
        case "drop_while":
            return view.at_most(0) if number is None else view.moved(number)
        case _:
            if not step.asked:
                number = (view.count or 0) - 1 if step.name == "last" else 0
            return view.at_most(0) if number is None or number < 0 else view.moved(number).at_most(1)


def sizes(bound: Bound) -> frozenset[Where]:
    """The numbers of elements that stages are given, and that may be others in each run.

    Not where code has them: as the number of the first element, or as the distance of neighbours.
    """
    names = [stage.site.name for stage in bound.stages]
    if "enumerate" in names:
        return frozenset()
    free = {"take", "drop"} if {"window", "chunk"} & {*names} else SIZED.keys()
    return frozenset(
        size_of(each.site) for each in bound.stages if each.site.name in free and _is_large(each)
    )


def _is_large(stage: BoundStage) -> bool:
    found = next(iter((*stage.args, *stage.kwargs.values())), None)
    return type(found) is int and found >= SIZED[stage.site.name]


def view_rule(
    bound: Bound, asked: Collection[int], before: int | None = None, free: Sequence[Free] = ()
) -> ViewRule:
    """Of the statement's stages, or of those before number `before`.

    `asked`: stages for which other loops ran. `free`: arguments that may be others in each run, and are read in each.
    """
    reads = {each.where: each.read for each in free}
    steps: list[_Step] = []
    operands = 1
    for number, stage in enumerate(bound.stages[:before]):
        name = stage.site.name
        if name in BESIDE:
            added = tuple(range(operands, operands + len(stage.args)))
            operands += len(stage.args)
            steps.append(_Step(name, number, operands=added))
        elif name in ("min", "max") and number in asked:
            steps.append(_Step(name, number, asked=True))
        elif name in _PLACED:
            first = next(iter((*stage.args, *stage.kwargs.values())), None)
            given = cast(Any, first).__index__() if name in NUMBERED else 0
            read, least = reads.get(size_of(stage.site)), SIZED.get(name, 0)
            steps.append(_Step(name, number, given, asked=number in asked, read=read, least=least))
    return ViewRule(tuple(steps))


__all__ = ["ViewRule", "sizes", "view_rule"]
