"""A statement of loops and of stages that Python runs between them, made ready to be run again.

Each loop is made ready as a statement of its own. Python's stages are run as they were, over elements of the same
types: over others there may be a loop for them. Which stages it runs at once, the code of their functions has decided,
so that is looked at. From where a part does not fit, the statement goes on as one that runs for the first time.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

from hastega_magic.compiler.backends import forget_inputs
from hastega_magic.compiler.driver import Driver
from hastega_magic.compiler.fastpath.fielded import Fielded, loop_of, of_part, prepared
from hastega_magic.compiler.fastpath.guards import BESIDE, Display, DoesNotFit
from hastega_magic.compiler.fastpath.limits import Limits, limits
from hastega_magic.compiler.fastpath.prepared import Prepared
from hastega_magic.compiler.fastpath.slots import Number
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.outcome import Outcome, Part
from hastega_magic.compiler.python.barriers import looked_into, noted
from hastega_magic.compiler.python.empty import is_empty, typed
from hastega_magic.compiler.python.lockstep import Before, Behind, Known
from hastega_magic.compiler.python.uncompiled import by_python
from hastega_magic.compiler.python.watching import Watch
from hastega_magic.compiler.sources import iterators
from hastega_magic.compiler.sources.iterators import first_run, goes_its_own_way, is_of_python, iterable
from hastega_magic.compiler.sources.kinds import Variable, are_beside, kind_of, variables_read
from hastega_magic.compiler.statement import Bound, bound_of
from hastega_magic.records import cached_property, dataclass
from hastega_magic.runtime.python_calls import iterated
from hastega_magic.runtime.python_numbers import python_numbers
from hastega_magic.syntax.closures.captured import Captured, captured
from hastega_magic.syntax.closures.contained import Where
from hastega_magic.syntax.loops.build import BoundStage
from hastega_magic.syntax.site import Site, StageSite
from hastega_magic.trace import Trace


@dataclass(frozen=True)
class _ByPython:
    """Stages that Python runs."""

    site: Site
    looked: tuple[int, ...]
    """Those whose functions tell which stages it runs at once."""
    known: Captured
    """What these are, and read."""
    kind: object
    """Of the elements that they went over; None for other callables than stages, which take the value as it is."""
    lead: int
    """As many of the first ones Python runs in any case; the others went in step with them."""
    following: tuple[StageSite, ...] = ()
    """The stages behind them that go in step with them, for as long as somebody could tell."""
    quiet: Known = field(default_factory=dict[tuple[int, object, object], bool])
    """For which elements nobody could."""
    variables: tuple[Variable, ...] = ()
    """Those whose containers may hold NumPy's scalars by now."""
    scalars: bool = False
    """Whether NumPy's scalars stood beside the elements: Python ran all stages then, and keeps what they give."""
    limits: Limits | None = None

    @property
    def takes_it_whole(self) -> bool:
        """Whether the first of them is given the value as it is."""
        return self.kind is None or self.site.stages[0].name == "tap"

    def fits(self, displays: Sequence[Display]) -> bool:
        within = self.limits is None or self.limits.fit(self.site.stages, displays)
        return within and self.known.resembles(_arguments(displays, self.looked))

    def changed(self, displays: Sequence[Display]) -> set[Where] | None:
        return set() if self.fits(displays) else None

    def run(self, value: object, displays: Sequence[Display], before: Before | None) -> object:
        """What they give; _Further where it is that of fewer, or more. `displays`: theirs, and of those behind."""
        if self.kind is not None:
            if isinstance(value, Iterator) or goes_its_own_way(value):
                raise DoesNotFit
            given, value = value, value if self.site.stages[0].name == "tap" else iterable(value)
            if kind_of(value) != self.kind:
                raise _again(given, value)
            value = given if is_of_python(given) else value
        stages = _stages((*self.site.stages, *self.following), displays)
        if self.scalars != are_beside(None, stages, self.variables, wholly=self.scalars):
            raise DoesNotFit
        following = Behind(stages[self.lead :], dict(self.quiet))
        try:
            found, more = by_python(value, noted(stages[: self.lead]), following, before)
        finally:
            forget_inputs()
        if self.lead + more != len(self.site.stages):
            raise _Further(found, self.lead + more)
        return found


@dataclass(frozen=True)
class LoopPart:
    """Stages of the statement that one loop computes, prepared like a statement of their own."""

    prepared: Prepared | Fielded
    site: Site
    looked: tuple[int, ...]
    """The stages among them whose arguments are no sources, and are looked at in each run."""

    @property
    def raises_for_some(self) -> bool:
        """Whether it may raise for some values of the numbers that it is given, and not for those of its first run."""
        pipeline = self.prepared.guards.loop.pipeline
        functions = [*(stage.fn for stage in pipeline.stages), pipeline.sink.fn]
        return bool(self.prepared.numbers) and any(fn is not None and fn.effects for fn in functions)

    def fits(self, displays: Sequence[Display]) -> bool:
        """Whether it is for these arguments."""
        known, arguments = self.prepared.guards.captured, _arguments(displays, self.looked)
        if len(known.arguments) != len(arguments) or not known.fits(arguments):
            return False
        return all(each.fits(arguments) for each in self.prepared.numbers)

    def changed(self, displays: Sequence[Display]) -> set[Where] | None:
        """As that of `InParts`."""
        known, arguments = self.prepared.guards.captured, _arguments(displays, self.looked)
        return known.changed(arguments) if len(known.arguments) == len(arguments) else None

    def run(self, value: object, displays: Sequence[Display]) -> object:
        """What they give; DoesNotFit where it is for other elements; what one raises."""
        if type(value) in (list, tuple, range, np.ndarray):
            return self.prepared.run(value, displays)
        if isinstance(value, Iterator) or goes_its_own_way(value) or not self.fits(displays):
            raise DoesNotFit
        listed = iterable(value)
        try:
            return self.prepared.run(listed, displays)
        except DoesNotFit:
            raise _again(value, listed) from None


class _Instead(DoesNotFit):
    """What stands for an iterator of which elements have been drawn, or for an object that has been gone through."""

    def __init__(self, value: object) -> None:
        super().__init__()
        self.value = value


class _Further(Exception):
    """The value after so many stages from the first one of a part on: not as many as it has."""

    def __init__(self, value: object, stages: int) -> None:
        super().__init__()
        self.value, self.stages = value, stages


def _again(given: object, listed: object) -> DoesNotFit:
    """What is raised where the elements do not fit: of objects that may show it they are not asked a second time."""
    same = given is listed or is_of_python(given)
    return DoesNotFit() if same else _Instead(listed)


@dataclass(frozen=True)
class _Drawn:
    """All elements of an iterator, which are few and of one type."""

    type_: object
    site: Site

    def fits(self, displays: Sequence[Display]) -> bool:
        return not displays

    def changed(self, displays: Sequence[Display]) -> set[Where] | None:
        return None if displays else set()

    def run(self, value: object, stages: Sequence[BoundStage]) -> object:
        """The elements; DoesNotFit, or _Instead with them, where they are others. `stages`: those of the statement."""
        if not isinstance(value, Iterator) and not goes_its_own_way(value):
            raise DoesNotFit
        iterator = iterated(value)
        if isinstance(iterator, (zip, enumerate)):  # over sequences, perhaps
            raise DoesNotFit
        source = itertools.chain(iterator)  # behind its end it is not asked again
        first = list(itertools.islice(source, 1))
        watch = Watch.of(stages)
        if not first or watch.reached_from(iterator):
            raise _Instead(itertools.chain(first, source))
        type_, run, others = first_run(itertools.chain(first, source), type, watch)
        if type_ is not self.type_:
            raise _Instead(itertools.chain(run, others))
        chunk = list(itertools.islice(run, iterators.CHUNK))
        if watch.changed():
            raise _Instead(watch.replayed(iter(chunk), itertools.chain(run, others)))
        more = () if len(chunk) == iterators.CHUNK else tuple(itertools.islice(others, 1))
        if more or len(chunk) == iterators.CHUNK:
            raise _Instead(itertools.chain(chunk, run, more, others))
        return chunk


def _arguments(displays: Sequence[Display], places: Sequence[int]) -> list[Any]:
    found: list[Any] = []
    for place in places:
        _, args, kwargs = displays[place]
        found.extend(args)
        if kwargs:
            found.extend(kwargs.values())
    return found


def _stages(sites: Sequence[StageSite], displays: Sequence[Display]) -> list[BoundStage]:
    pairs = zip(sites, displays, strict=True)
    return [BoundStage(each, callee, args, kwargs) for each, (callee, args, kwargs) in pairs]


@dataclass(frozen=True)
class InParts:
    """A statement that runs as several parts in a row: loops, and stages that Python runs between them."""

    parts: tuple[_ByPython | LoopPart | _Drawn, ...]
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
            if number >= self._given_first and not (isinstance(part, _ByPython) and part.takes_it_whole):
                value = python_numbers(value)
            left: int | None = None
            try:
                value = self._given(number, value, displays, before)
            except _Further as further:
                value, left = further.value, start + further.stages
            except _Instead as instead:
                value, left = instead.value, start
            except DoesNotFit:
                if not number:
                    raise
                left = start
            if left is not None:  # not where that is handled: it would be the context of what Python raises
                return self._from(source, value, displays, left)
            read = value if isinstance(part, _Drawn) else read
            stages = _stages(part.site.stages, taken[number])
            before = (before or Before(given, ())).further(stages) if isinstance(part, LoopPart) else None
            # Python's stages may have changed what the others read; a loop that follows is looked at when it runs.
            if isinstance(part, _ByPython):
                following = self.parts[number + 1 : number + 2]
                if not self._fit(taken, number + 1 + sum(isinstance(each, LoopPart) for each in following)):
                    return self._from(source, value, displays, stop)
        if isinstance(self.parts[-1], _ByPython) and is_empty(value):
            return typed(value, bound_of(self.site, read, displays), read)
        return value

    def _given(
        self, number: int, value: object, displays: Sequence[Display], before: Before | None
    ) -> object:
        """What a part gives for the value so far."""
        part, (start, stop) = self.parts[number], self._places[number]
        if isinstance(part, _ByPython):
            found = part.run(value, displays[start : stop + len(part.following)], before)
            return typed(found, bound_of(part.site, value, displays[start:stop]), value)
        if isinstance(part, _Drawn):
            return part.run(value, _stages(self.site.stages, displays))
        return part.run(value, displays[start:stop])

    @property
    def holds_data(self) -> bool:
        """Whether arrays or objects of the user's stay alive with it."""
        return any(each.known.holds_data for each in self.parts if isinstance(each, _ByPython)) or any(
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
) -> Prepared | Fielded | InParts | None:
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


def part_of(
    part: Part, sites: tuple[StageSite, ...], options: Options, filename: str
) -> _ByPython | LoopPart | _Drawn | None:
    """Stages made ready to be run again, if they can be. `sites`: those of the whole statement."""
    bound, site = part.bound, part.bound.site
    if not bound.stages:
        return _Drawn(part.kind, site)
    if part.outcome is not None:
        found = of_part(part, part.outcome, options, filename)
        if found is None:
            return None
        loop_of(found).sites = sites
        return LoopPart(found, site, not_sources(site))
    looked = tuple(place for place, stage in enumerate(bound.stages) if looked_into(stage))
    displays: list[Display] = [(stage.callee, stage.args, stage.kwargs) for stage in bound.stages]
    known = captured(_arguments(displays, looked), curious=True, numpys=True)
    if known is None or (site.stages[0].known and part.kind is None):
        return None
    kind = part.kind if site.stages[0].known else None
    lead, behind = len(site.stages), part.behind
    following = () if behind is None else tuple(behind.stages[part.more :])
    variables = variables_read((*bound.stages, *following))
    scalars = are_beside(None, bound.stages, variables)
    within = limits(displays, options)
    found = _ByPython(site, looked, known, kind, lead, variables=variables, scalars=scalars, limits=within)
    if behind is None:
        return found
    sites = tuple(stage.site for stage in following)
    return replace(found, lead=lead - part.more, following=sites, quiet=behind.known)


def not_sources(site: Site) -> tuple[int, ...]:
    """The stages whose arguments are none."""
    return tuple(place for place, each in enumerate(site.stages) if each.name not in BESIDE)


__all__ = ["InParts", "LoopPart", "not_sources", "part_of", "ready"]
