"""A statement of loops and of stages that Python runs between them, made ready to be run again.

Each loop is made ready as a statement of its own. From where a part does not fit, the statement goes on as one that
runs for the first time.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from hastega_magic.compiler.driver import Driver
from hastega_magic.compiler.fastpath.fielded import prepared
from hastega_magic.compiler.fastpath.guards import Display, DoesNotFit
from hastega_magic.compiler.fastpath.parts import (
    DrawnPart,
    Further,
    Instead,
    LoopPart,
    PythonPart,
    bound_stages,
    part_of,
)
from hastega_magic.compiler.fastpath.prepared import Prepared
from hastega_magic.compiler.fastpath.slots import Number
from hastega_magic.compiler.fastpath.standing import Standing
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.outcome import Outcome
from hastega_magic.compiler.python.empty import is_empty, typed
from hastega_magic.compiler.python.lockstep import Before
from hastega_magic.compiler.statement import Bound, bound_of
from hastega_magic.records import cached_property, dataclass
from hastega_magic.runtime.python_numbers import python_numbers
from hastega_magic.syntax.closures.contained import Where
from hastega_magic.syntax.site import Site
from hastega_magic.trace import Trace


@dataclass(frozen=True)
class InParts:
    """A statement that runs as several parts in a row: loops, and stages that Python runs between them."""

    parts: tuple[PythonPart | LoopPart | DrawnPart, ...]
    site: Site
    shape: tuple[bool, ...]
    """Of each stage whether something else than the stage of its name is called."""
    options: Options
    filename: str
    warn_at: tuple[str, int] | None = None

    def run(self, source: object, displays: Sequence[Display]) -> object:
        """The value; what an element raises; DoesNotFit where nothing has run, and it must be found another way."""
        for (callee, _, _), other in zip(displays, self.shape, strict=True):
            if (callee is not None) != other:
                raise DoesNotFit
        taken = [displays[start:stop] for start, stop in self._places]
        # What the first loop reads is looked at when it runs.
        begin = int(isinstance(self.parts[0], LoopPart))
        if not self._fit(taken, begin):
            raise DoesNotFit
        value: object = source
        read: object = source
        before: Before | None = None
        for number, part in enumerate(self.parts):
            start, stop = self._places[number]
            given = value
            if number >= self._given_first and not (isinstance(part, PythonPart) and part.takes_it_whole):
                value = python_numbers(value)
            left: int | None = None
            try:
                value = self._given(number, value, displays, before)
            except Further as further:
                value, left = further.value, start + further.stages
            except Instead as instead:
                value, left = instead.value, start
            except DoesNotFit:
                if not number:
                    raise
                left = start
            if left is not None:  # not where that is handled: it would be the context of what Python raises
                return self._from(source, value, displays, left)
            read = value if isinstance(part, DrawnPart) else read
            stages = bound_stages(part.site.stages, taken[number])
            before = (before or Before(given, ())).further(stages) if isinstance(part, LoopPart) else None
            # Python's stages may have changed what the others read; a loop that follows is looked at when it runs.
            if isinstance(part, PythonPart):
                following = self.parts[number + 1 : number + 2]
                if not self._fit(taken, number + 1 + sum(isinstance(each, LoopPart) for each in following)):
                    return self._from(source, value, displays, stop)
        if isinstance(self.parts[-1], PythonPart) and is_empty(value):
            return typed(value, bound_of(self.site, read, displays), read)
        return value

    def _given(
        self, number: int, value: object, displays: Sequence[Display], before: Before | None
    ) -> object:
        """What a part gives for the value so far."""
        part, (start, stop) = self.parts[number], self._places[number]
        if isinstance(part, PythonPart):
            found = part.run(value, displays[start : stop + len(part.following)], before)
            return typed(found, bound_of(part.site, value, displays[start:stop]), value)
        if isinstance(part, DrawnPart):
            return part.run(value, bound_stages(self.site.stages, displays))
        return part.run(value, displays[start:stop])

    @property
    def holds_data(self) -> bool:
        """Whether arrays or objects of the user's stay alive with it."""
        return any(each.known.holds_data for each in self.parts if isinstance(each, PythonPart)) or any(
            each.prepared.holds_data for each in self.parts if isinstance(each, LoopPart)
        )

    def _fit(self, taken: Sequence[Sequence[Display]], begin: int) -> bool:
        """Whether the parts from a number on are for these arguments."""
        return all(part.fits(each) for part, each in zip(self.parts[begin:], taken[begin:], strict=True))

    def changed(self, bound: Bound) -> set[Where] | None:
        """Variables whose numbers its functions found changed; None where anything else is different."""
        displays: list[Display] = [(stage.callee, stage.args, stage.kwargs) for stage in bound.stages]
        if tuple(callee is not None for callee, _, _ in displays) != self.shape:
            return None
        found: set[Where] = set()
        for part, (start, stop) in zip(self.parts, self._places, strict=True):
            others = part.changed(displays[start:stop])
            if others is None:
                return None
            found |= others
        return found

    @property
    def numbers(self) -> tuple[Number, ...]:
        """Captured numbers that its loops are given."""
        return tuple(
            each for part in self.parts if isinstance(part, LoopPart) for each in part.prepared.numbers
        )

    @cached_property
    def _places(self) -> tuple[tuple[int, int], ...]:
        found: list[tuple[int, int]] = []
        for part in self.parts:
            start = found[-1][1] if found else 0
            found.append((start, start + len(part.site.stages)))
        return tuple(found)

    @cached_property
    def _given_first(self) -> int:
        """The first part whose value is not the source, which a `tap` gives on as it is."""
        gave = zip(self.site.stages, self.shape, strict=True)
        taps = sum(1 for _ in itertools.takewhile(lambda each: each[0].name == "tap" and not each[1], gave))
        return next(
            (number for number, (start, _) in enumerate(self._places) if start > taps), len(self.parts)
        )

    def _from(self, source: object, value: object, displays: Sequence[Display], place: int) -> object:
        driver = Driver(self.options, self.filename, Trace(), warn_at=self.warn_at)
        return driver.go_from(bound_of(self.site, source, displays), value, place)


def ready(
    bound: Bound,
    outcome: Outcome,
    options: Options,
    filename: str,
    warn_at: tuple[str, int] | None = None,
) -> Prepared | Standing | InParts | None:
    """The statement that gave this outcome, ready to be run again; None where that is not known to be the same."""
    place = warn_at or (filename, bound.site.span.line)
    whole = prepared(bound, outcome, options, filename, mends=True, place=place)
    if whole is not None or options.repeat != 1 or options.on == "all":
        return whole
    if sum(len(part.bound.stages) for part in outcome.parts) != len(bound.stages):
        return None
    parts = [part_of(each, bound.site.stages, options, filename) for each in outcome.parts]
    found = tuple(each for each in parts if each is not None)
    if len(found) != len(parts):
        return None
    if any(isinstance(each, LoopPart) and each.raises_for_some for each in found[1:]):
        return None  # then Python draws no more elements, and calls no function for them
    shape = tuple(stage.callee is not None for stage in bound.stages)
    return InParts(found, bound.site, shape, options, filename, warn_at)


__all__ = ["InParts", "ready"]
