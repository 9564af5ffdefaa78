"""The parts of a statement that is run again: loops, stages that Python runs, and the drawing of an iterator.

Python's stages are run as they were, over elements of the same types: over others there may be a loop for them. Which
stages it runs at once, the code of their functions has decided, so that is looked at.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

from hastega_magic.compiler.backends import forget_inputs
from hastega_magic.compiler.fastpath.fielded import loop_of, of_part
from hastega_magic.compiler.fastpath.guards import BESIDE, Display, DoesNotFit
from hastega_magic.compiler.fastpath.limits import Limits, limits
from hastega_magic.compiler.fastpath.prepared import Prepared
from hastega_magic.compiler.fastpath.standing import Standing
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.outcome import Part
from hastega_magic.compiler.python.barriers import looked_into
from hastega_magic.compiler.python.lockstep import Before, Behind, Known
from hastega_magic.compiler.python.uncompiled import by_python
from hastega_magic.compiler.python.watching import Watch
from hastega_magic.compiler.sources import iterators
from hastega_magic.compiler.sources.iterators import first_run, goes_its_own_way, is_of_python, iterable
from hastega_magic.compiler.sources.kinds import Variable, are_beside, kind_of, variables_read
from hastega_magic.records import dataclass
from hastega_magic.runtime.python_calls import iterated
from hastega_magic.syntax.closures.captured import Captured, captured
from hastega_magic.syntax.closures.contained import Where
from hastega_magic.syntax.loops.build import BoundStage
from hastega_magic.syntax.site import Site, StageSite


@dataclass(frozen=True)
class PythonPart:
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
        """Whether it is for these arguments."""
        within = self.limits is None or self.limits.fit(self.site.stages, displays)
        return within and self.known.resembles(_arguments(displays, self.looked))

    def changed(self, displays: Sequence[Display]) -> set[Where] | None:
        """As that of `InParts`."""
        return set() if self.fits(displays) else None

    def run(self, value: object, displays: Sequence[Display], before: Before | None) -> object:
        """What they give; Further where it is that of fewer, or more. `displays`: theirs, and of those behind."""
        if self.kind is not None:
            if isinstance(value, Iterator) or goes_its_own_way(value):
                raise DoesNotFit
            given, value = value, value if self.site.stages[0].name == "tap" else iterable(value)
            if kind_of(value) != self.kind:
                raise _again(given, value)
            value = given if is_of_python(given) else value
        stages = bound_stages((*self.site.stages, *self.following), displays)
        if self.scalars != are_beside(None, stages, self.variables, wholly=self.scalars):
            raise DoesNotFit
        following = Behind(stages[self.lead :], dict(self.quiet))
        try:
            found, more = by_python(value, stages[: self.lead], following, before)
        finally:
            forget_inputs()
        if self.lead + more != len(self.site.stages):
            raise Further(found, self.lead + more)
        return found


@dataclass(frozen=True)
class LoopPart:
    """Stages of the statement that one loop computes, prepared like a statement of their own."""

    prepared: Prepared | Standing
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


class Instead(DoesNotFit):
    """What stands for an iterator of which elements have been drawn, or for an object that has been gone through."""

    def __init__(self, value: object) -> None:
        super().__init__()
        self.value = value


class Further(Exception):
    """The value after so many stages from the first one of a part on: not as many as it has."""

    def __init__(self, value: object, stages: int) -> None:
        super().__init__()
        self.value, self.stages = value, stages


def _again(given: object, listed: object) -> DoesNotFit:
    """What is raised where the elements do not fit: of objects that may show it they are not asked a second time."""
    same = given is listed or is_of_python(given)
    return DoesNotFit() if same else Instead(listed)


@dataclass(frozen=True)
class DrawnPart:
    """All elements of an iterator, which are few and of one type."""

    type_: object
    site: Site

    def fits(self, displays: Sequence[Display]) -> bool:
        """Whether it is for these arguments."""
        return not displays

    def changed(self, displays: Sequence[Display]) -> set[Where] | None:
        """As that of `InParts`."""
        return None if displays else set()

    def run(self, value: object, stages: Sequence[BoundStage]) -> object:
        """The elements; DoesNotFit, or Instead with them, where they are others. `stages`: those of the statement."""
        if not isinstance(value, Iterator) and not goes_its_own_way(value):
            raise DoesNotFit
        iterator = iterated(value)
        if isinstance(iterator, (zip, enumerate)):  # over sequences, perhaps
            raise DoesNotFit
        source = itertools.chain(iterator)  # behind its end it is not asked again
        first = list(itertools.islice(source, 1))
        watch = Watch.of(stages)
        if not first or watch.reached_from(iterator):
            raise Instead(itertools.chain(first, source))
        type_, run, others = first_run(itertools.chain(first, source), type, watch)
        if type_ is not self.type_:
            raise Instead(itertools.chain(run, others))
        chunk = list(itertools.islice(run, iterators.CHUNK))
        if watch.changed():
            raise Instead(watch.replayed(iter(chunk), itertools.chain(run, others)))
        more = () if len(chunk) == iterators.CHUNK else tuple(itertools.islice(others, 1))
        if more or len(chunk) == iterators.CHUNK:
            raise Instead(itertools.chain(chunk, run, more, others))
        return chunk


def _arguments(displays: Sequence[Display], places: Sequence[int]) -> list[Any]:
    found: list[Any] = []
    for place in places:
        _, args, kwargs = displays[place]
        found.extend(args)
        if kwargs:
            found.extend(kwargs.values())
    return found


def bound_stages(sites: Sequence[StageSite], displays: Sequence[Display]) -> list[BoundStage]:
    """The stages, with what each is given in this run."""
    pairs = zip(sites, displays, strict=True)
    return [BoundStage(each, callee, args, kwargs) for each, (callee, args, kwargs) in pairs]


def part_of(
    part: Part, sites: tuple[StageSite, ...], options: Options, filename: str
) -> PythonPart | LoopPart | DrawnPart | None:
    """Stages made ready to be run again, if they can be. `sites`: those of the whole statement."""
    bound, site = part.bound, part.bound.site
    if not bound.stages:
        return DrawnPart(part.kind, site)
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
    found = PythonPart(site, looked, known, kind, lead, variables=variables, scalars=scalars, limits=within)
    if behind is None:
        return found
    sites = tuple(stage.site for stage in following)
    return replace(found, lead=lead - part.more, following=sites, quiet=behind.known)


def not_sources(site: Site) -> tuple[int, ...]:
    """The stages whose arguments are none."""
    return tuple(place for place, each in enumerate(site.stages) if each.name not in BESIDE)


__all__ = [
    "DrawnPart",
    "Further",
    "Instead",
    "LoopPart",
    "PythonPart",
    "bound_stages",
    "not_sources",
    "part_of",
]
