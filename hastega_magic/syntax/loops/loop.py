"""What a loop is while stages join it: their order, the elements of the sources that it uses, what is known of them."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, cast

from hastega_magic.errors import NotCompilable
from hastega_magic.frames import reraise_signal
from hastega_magic.ir.expr import Expr, Value
from hastega_magic.ir.pipeline import Sink, Stage
from hastega_magic.records import cached_property, dataclass
from hastega_magic.syntax.closures.contained import Where
from hastega_magic.syntax.closures.given import arguments_of
from hastega_magic.syntax.functions.lower import parameters
from hastega_magic.syntax.reading.functions import described
from hastega_magic.syntax.site import StageSite
from hastega_magic.syntax.values import mixed
from hastega_magic.syntax.values.environment import Environment
from hastega_magic.types import Complex, Either


@dataclass(frozen=True)
class BoundStage:
    """A stage with the values of its arguments; `callee` is None for stages of the table."""

    site: StageSite
    callee: object | None
    args: tuple[object, ...] = ()
    kwargs: Mapping[str, object] = field(default_factory=dict[str, object])

    @property
    def given(self) -> tuple[object, ...]:
        """Everything that the stage was given, what is called among it."""
        return self.callee, *self.args, *self.kwargs.values()

    @cached_property
    def places(self) -> tuple[Where | None, ...]:
        """Where each of it is, if it may be a parameter of a loop, or holds such."""
        return None, *arguments_of(self.site, self.args, self.kwargs)


@dataclass(frozen=True)
class View:
    """Which elements of its sources a loop uses: number start, start + step, ..., `count` of them (None: not known).

    `open`: these at most, for there may be fewer.
    """

    start: int = 0
    step: int = 1
    count: int | None = None
    open: bool = False

    def moved(self, by: int) -> View:
        """Without the first elements."""
        left = None if self.count is None else max(0, self.count - by)
        return View(self.start + by * self.step, self.step, left, self.open)

    def at_most(self, count: int) -> View:
        """The first elements alone."""
        least = count if self.count is None else min(self.count, count)
        return View(self.start, self.step, least, self.open)

    def of(self, data: Any, further: int = 0) -> Any:
        """These elements of a sequence, or those so many places behind each; how many there are has to be known."""
        assert self.count is not None
        start = self.start + further
        stop = start + self.step * self.count
        return data[start : None if stop < 0 else stop : self.step]

    def every(self, number: int) -> View:
        """Each element whose number is a multiple; how many there are at most has to be known."""
        assert self.count is not None
        return View(self.start, self.step * number, -(-self.count // number), self.open)

    def turned(self) -> View:
        """The last element first; how many there are has to be known."""
        assert self.count is not None
        return View(self.start + (self.count - 1) * self.step, -self.step, self.count)

    def chunks(self, size: int) -> tuple[View, int]:
        """The first element of each whole chunk, and how many are left behind; at most, where there may be fewer."""
        assert self.count is not None
        whole, rest = divmod(self.count, size)
        chunks = View(self.start, self.step * size, whole, self.open)
        return chunks, size - 1 if self.open else rest

    def windows(self, size: int) -> View:
        """The first element of each window; how many there are at most has to be known."""
        assert self.count is not None
        return self.at_most(max(0, self.count - size + 1))


class Cut(Exception):
    """The stage has a compiled form, though only as the first of another loop."""


class Probed(Exception):
    """Something is to be found out first."""

    def __init__(self, stages: Sequence[Stage], sink: Sink, early: bool) -> None:
        super().__init__()
        self.stages, self.sink, self.early = stages, sink, early


@dataclass
class Loop:
    """What has been built so far. `element`: what the next stage gets, as parameters."""

    env: Environment
    element: Value
    view: View
    known: Mapping[int, object]
    """By stage number what its probe gave."""
    whole: View
    stages: list[Stage] = field(default_factory=list[Stage])
    owners: list[BoundStage] = field(default_factory=list[BoundStage])
    sink: Sink | None = None
    filtered: bool = False
    fallible: bool = False
    initial: tuple[object, ...] = ()
    bound: BoundStage | None = None
    number: int = 0
    tail: int = 0
    running: str = ""
    bespoke: bool = False
    probed: bool = False
    """Another loop had to be run first."""
    even: bool = False
    """It is for sources of one length."""
    taken: bool = False
    """Of longer sources it would not use all elements, as it may do of these."""

    def add(self, stage: Stage, element: object) -> None:
        """Another stage, after which elements have this structure."""
        assert self.bound is not None
        self.stages.append(stage)
        self.owners.append(self.bound)
        self.element = parameters(element)

    def needs_position(self) -> None:
        """Where an element stands among the others is known only while none has been left out."""
        if self.filtered or self.tail:
            raise Cut

    def length(self) -> int:
        """How many elements there are, before filters; it has to be known."""
        if self.view.open:
            raise Cut
        return self.most()

    def most(self) -> int:
        """How many elements there are at most, before filters; somebody has to know."""
        if self.view.count is None:
            raise Cut
        return self.view.count

    def drop(self, count: int) -> None:
        """The loop counts from the first element it uses; an enumerate that came before, from the source's first."""
        self.view = self.view.moved(count)
        self._recount(lambda stage: replace(stage, number=stage.number + stage.stride * count))

    def every(self, count: int) -> None:
        """Each element whose number is a multiple."""
        self.most()
        self._needs_even_windows()
        self.view = self.view.every(count)
        self._recount(lambda stage: replace(stage, stride=stage.stride * count))

    def turn(self) -> None:
        """The last element first."""
        last = self.length() - 1
        self._needs_even_windows()
        self.view = self.view.turned()
        self._recount(
            lambda stage: replace(stage, number=stage.number + stage.stride * last, stride=-stage.stride)
        )

    def _recount(self, change: Callable[[Stage], Stage]) -> None:
        self.stages = [change(stage) if stage.kind == "enumerate" else stage for stage in self.stages]

    def _needs_even_windows(self) -> None:
        """Numbers within a window are apart as its elements are, whatever becomes of the windows."""
        kinds = [stage.kind for stage in self.stages]
        if "window" in kinds and "enumerate" in kinds[: kinds.index("window")]:
            raise Cut

    def asked(self, stages: Sequence[Stage], sink: str, early: bool = False) -> object:
        """The value of the loop so far with these stages and this sink, which is run before the loop is built."""
        self.most()  # results of a group that is not run yet cannot be asked
        if self.tail:
            raise Cut
        self.bespoke = self.probed = True
        if self.number in self.known:
            return self.known[self.number]
        assert self.bound is not None
        site = self.bound.site
        raise Probed(stages, Sink(sink, site.text, site.span), early)


_LONGEST = 60
"""Characters of a value that a reason shows."""

Rule = Callable[[Loop, StageSite, Mapping[str, Any]], None]


def ends(loop: Loop, site: StageSite, kind: str, ddof: float = 0.0) -> None:
    """The loop ends in a sink; a shorter chunk at the end is not in it."""
    if loop.tail and kind != "to_list":
        raise Cut
    loop.sink = Sink(kind, site.text, site.span, ddof)


def value_text(value: object) -> str:
    """A value in a reason: as it is written if it is short, else its type. The `repr` of others may be the user's."""
    if type(value) in (bool, float, complex, str, bytes) or value is None:
        text = repr(value)
        if len(text) <= _LONGEST:
            return text
    return described(value)


def integer(name: str, value: object) -> int:
    """An argument that has to be an integer."""
    try:
        return operator.index(cast(Any, value))
    except TypeError as error:
        reraise_signal(error)
        raise NotCompilable(f"`{name}` is given {value_text(value)}, which is no integer") from None


def count(name: str, value: object) -> int:
    """A number of elements; NotCompilable for a negative one."""
    number = integer(name, value)
    if number < 0:
        raise NotCompilable(f"`{name}` is given a negative number")
    return number


def positive(name: str, value: object) -> int:
    """A number of elements from 1 on, at most as many as there can be."""
    number = integer(name, value)
    if number < 1:
        raise NotCompilable(f"`{name}` is given a number below 1")
    return min(number, sys.maxsize)


def scalar(loop: Loop, name: str) -> Expr:
    """The element, which must be a number."""
    if isinstance(loop.element, Complex):
        raise NotCompilable(f"`{name}` of complex numbers is left to Python")
    if isinstance(loop.element, Either):
        raise NotCompilable(f"`{name}` of {mixed.described(loop.element)} is left to Python")
    if isinstance(loop.element, tuple):
        raise NotCompilable(f"`{name}` of tuples is left to Python")
    return loop.element
