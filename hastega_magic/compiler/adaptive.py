"""Captured numbers of a cell's own statements: constants, until one is another when the cell runs again.

k = 3        y = xs |> map(lambda x: x * k)       k is a constant
k = 4        the same cell again                  k is a parameter from now on: no other k costs a compilation
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field

from hastega_magic.compiler.options import Options
from hastega_magic.compiler.outcome import Outcome
from hastega_magic.compiler.statement import Bound
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.lru import LruCache
from hastega_magic.records import changed, dataclass
from hastega_magic.report import units
from hastega_magic.syntax.closures.contained import Where, is_item, variable_named, without_items
from hastega_magic.syntax.closures.given import is_given
from hastega_magic.syntax.closures.numbers import Number, same_number
from hastega_magic.syntax.closures.numbers_read import (
    Places,
    items_bound,
    numbers_and_items,
    numbers_given,
    numbers_read,
)
from hastega_magic.trace import Trace

_STATEMENTS = 256
"""Statements that are remembered."""


@dataclass
class _Known:
    """A statement's numbers when it ran last, those in small containers (`items`), and those that have changed.

    `constant`: it cannot be compiled without knowing them. `others`: items that changed since the run before, which
    compiled code may look up in a table; None where it cannot be compiled without knowing items.
    """

    numbers: Mapping[Where, tuple[Number, ...]]
    items: Mapping[Where, tuple[Number, ...]]
    varying: frozenset[Where] = frozenset()
    constant: bool = False
    others: frozenset[Where] | None = frozenset()


@dataclass
class AdaptiveConstants:
    """The statements of a session, by their text."""

    _known: LruCache[str, _Known] = field(default_factory=lambda: LruCache[str, _Known](_STATEMENTS))

    def look(self, bound: Bound) -> Bound:
        """The statement with those of its numbers that are to be parameters."""
        given, places = _arguments(bound)
        now, items = numbers_and_items(given, places)
        bound = changed(bound, numbers=now)
        known, moving = self._known.get(bound.site.text), in_a_loop(bound, now, given, places)
        if known is None:
            self._known.put(bound.site.text, _Known(now, items, moving))
            return changed(bound, varying=moving)
        if known.others is not None:
            known.others = _others(known.items, items)
        others = _others(known.numbers, now)
        known.numbers, known.items, known.varying = now, items, known.varying | others | moving
        changing = known.varying & (now.keys() | items.keys())
        return changed(bound, needed=changing) if known.constant else changed(bound, varying=changing)

    def seen(self, text: str, varying: frozenset[Where]) -> None:
        """These numbers of a statement of this text changed from one of its runs in a cell to the next."""
        known = self._known.get(text)
        if known is not None:
            known.varying |= varying

    def learn(self, outcome: Outcome) -> None:
        """Items that made another loop are parameters from now on.

        Statements that could not be compiled without knowing their numbers are not tried again.
        """
        anew = outcome.execution is not None and not outcome.execution.cached
        for bound in outcome.bounds:
            constant = bound.varying and not any(each.varying for each in outcome.workspaces)
            known = self._known.get(bound.site.text) if constant or bound.needed or anew else None
            if known is None:
                continue
            if constant and (items := frozenset(filter(is_item, known.varying))):
                known.varying, known.others = known.varying - items, None
            elif constant or bound.needed:
                known.constant = True
            elif known.others:
                known.varying |= known.others


def in_a_loop(
    bound: Bound, numbers: Iterable[Where], given: Sequence[object], places: Places
) -> frozenset[Where]:
    """Those of the captured numbers that a loop around the pipeline changes: they need not be seen to change.

    `given`: the functions, which read them, and tuples and dicts of such; `places`: where each of these is.
    """
    moving = bound.site.moving
    if not moving:
        return frozenset()
    found = items_bound(given, places, moving)
    for stage in bound.stages:
        if not moving.isdisjoint(_WORD.findall(stage.site.text)):
            found |= numbers_given(stage.given, stage.places)
    return found.union(where for where in numbers if variable_named(where[2]) in moving)


_WORD = re.compile(r"\w+")


def _others(
    before: Mapping[Where, tuple[Number, ...]], now: Mapping[Where, tuple[Number, ...]]
) -> frozenset[Where]:
    """Where there are other numbers than before."""
    both = before.keys() & now.keys()
    return frozenset(where for where in both if not _same(before[where], now[where]))


def _same(a: tuple[Number, ...], b: tuple[Number, ...]) -> bool:
    return len(a) == len(b) and all(map(same_number, a, b))


def _arguments(bound: Bound) -> tuple[list[object], list[Where | None]]:
    """What the stages are given, and where each of it is."""
    stages = bound.stages
    return [each for stage in stages for each in stage.given], [
        each for stage in stages for each in stage.places
    ]


def _numbers(bound: Bound) -> Mapping[Where, tuple[Number, ...]]:
    return numbers_read(*_arguments(bound)) if bound.numbers is None else bound.numbers


def _sentences(bounds: Iterable[Bound], workspaces: Iterable[Workspace]) -> Iterator[str]:
    """Which captured numbers are constants of the compiled code, and which are parameters."""
    free = [each for workspace in workspaces for each in workspace.parameters]
    given = {each.where for each in free}
    bounds = list(bounds)
    needed = {where for bound in bounds for where in bound.needed | bound.varying} - given
    looked = (_numbers(bound) for bound in bounds)
    read = [
        where
        for numbers in looked
        for where in numbers
        if where not in given | needed and not is_given(where)
    ]
    constants = [f"`{name}`" for name in dict.fromkeys(where[2] for where in read)]
    if constants:
        again = "another value when the cell runs again makes it a parameter"
        verb, what = ("is", "a constant") if len(constants) == 1 else ("are", "constants")
        yield f"{units.listed(constants)} {verb} {what} of the compiled code; {again}."
    if needed:
        names = [f"`{name}`" for name in sorted({without_items(where[2]) for where in needed})]
        verb, what, it = ("is", "a constant", "it") if len(names) == 1 else ("are", "constants", "them")
        yield (
            f"{units.listed(names)} kept changing, and {verb} {what} of the compiled code all the same, as the loop "
            f"cannot be compiled without knowing {it}: another value is compiled anew."
        )
    if free:
        yield kept_changing(each.name for each in free)


def tell(bounds: Iterable[Bound], workspaces: Iterable[Workspace], options: Options, trace: Trace) -> None:
    """Add these sentences to the trace of a report."""
    if not options.quiet:
        for sentence in _sentences(bounds, workspaces):
            trace.add("why", text=sentence)


def kept_changing(names: Iterable[str]) -> str:
    """What is said of parameters."""
    given = [f"`{name}`" for name in dict.fromkeys(map(without_items, names))]
    it = "it" if len(given) == 1 else "them"
    outside = f"the compiled loop is given {it} from outside"
    return f"{units.listed(given)} kept changing: {outside}, so that another change costs no compilation."
