"""Which elements of its sources a loop uses, found out anew from how many there are: as when the loop was built.

`xs |> drop(2) |> window(3) |> map(sum)` goes through 16 windows of 20 elements, the first one from element 2 on, and
through 26 windows of 30 by the same code.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

from hastega_magic.compiler.repeating.alike import BESIDE
from hastega_magic.compiler.repeating.slots import Again
from hastega_magic.compiler.statement import Bound
from hastega_magic.records import dataclass
from hastega_magic.syntax.joining.loop import View

_PLACED = frozenset(
    {"take", "drop", "step", "reverse", "window", "chunk", "take_while", "drop_while", "first", "last"}
)
_NUMBERED = frozenset({"take", "drop", "step", "window", "chunk"})


@dataclass(frozen=True)
class _Step:
    """A stage that says which elements there are. `number`: its own among the stages; `given`: its argument.

    `operands`: the statement's sources that it adds. `asked`: a loop that went before knows the element's number.
    """

    name: str
    number: int
    given: int = 0
    operands: tuple[int, ...] = ()
    asked: bool = False


@dataclass(frozen=True)
class Placing:
    """The stages that decide, in their order."""

    steps: tuple[_Step, ...]

    def at(self, operands: Sequence[Any], known: Mapping[int, object]) -> tuple[View, int]:
        """The elements that the loop uses, and how many are left for a shorter chunk; Again where there are none.

        `known`: by stage number what other loops gave.
        """
        view, tail = View(0, 1, len(operands[0])), 0
        for step in self.steps:
            match step.name:
                case "zip":
                    view = view.at_most(min(len(operands[each]) for each in step.operands))
                case "dot":
                    if view.count != len(operands[step.operands[0]]):
                        raise Again
                case "take":
                    view = view.at_most(step.given)
                case "drop":
                    view = view.moved(step.given)
                case "step":
                    view = view.every(step.given)
                case "reverse":
                    view = view.turned()
                case "window":
                    view = view.windows(step.given)
                case "chunk":
                    view, tail = view.chunks(step.given)
                case _:
                    view = _found(view, step, cast("int | None", known.get(step.number)))
        if not view.count:
            raise Again
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


def placing(bound: Bound, asked: Collection[int], before: int | None = None) -> Placing:
    """Of the statement's stages, or of those before number `before`. `asked`: stages for which other loops ran."""
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
            given = cast(Any, first).__index__() if name in _NUMBERED else 0
            steps.append(_Step(name, number, given, asked=number in asked))
    return Placing(tuple(steps))


__all__ = ["Placing", "placing"]
