"""Stages that Python runs, in step with those behind them for as long as somebody could tell.

    range(3) |> map(noted) |> map(_ * 2) |> sum     ints: all are collected first, and a loop doubles and adds them
    range(3) |> map(noted) |> map(_ * 2) |> sum     strings: Python doubles and adds each as it comes, and `sum` refuses
                                                    the first one before `noted` is called again

A gate stands before each stage behind. It keeps the elements that come as long as the stages behind it are quiet for
their kind (syntax/loops/reorderable.py): it is numbers alone that go into arrays and come back as they were. From the
first other one on it lets all of them through, and so from where a variable is changed that the stages behind read.
NumPy's numbers count as Python's behind a stage in any case, as those of an array do: a pipeline's integers do not wrap
around, wherever a function with a `print` in it has them from.
The first gate that still keeps all at the end ends the pass there.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import field
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.python.barriers import noted
from hastega_magic.compiler.python.watching import Watch
from hastega_magic.compiler.statement import calls_of
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.records import dataclass
from hastega_magic.runtime import python
from hastega_magic.runtime.buffers import AnyArray, extended
from hastega_magic.runtime.objects.iterating import can_watch, drawer
from hastega_magic.runtime.python import StageCall
from hastega_magic.runtime.python_calls import Noted
from hastega_magic.runtime.python_numbers import COUNTED, counted, python_number, python_numbers
from hastega_magic.syntax.closures.attributes import ABSENT
from hastega_magic.syntax.closures.numpy_errors import asks
from hastega_magic.syntax.loops.build import BoundStage
from hastega_magic.syntax.loops.reorderable import quiet
from hastega_magic.syntax.loops.rules_order import WIDEST
from hastega_magic.syntax.stages import STAGES
from hastega_magic.types import BOOL, FLOAT64, INT, Complex

_TYPES: dict[type, object] = {bool: BOOL, float: FLOAT64, complex: Complex((FLOAT64, FLOAT64))}
_LOWEST, _HIGHEST = -(1 << 63), (1 << 64) - 1
_MANY, _AT_ONCE = 1 << 11, 1 << 16
"""Elements behind which native code is worth being made, and how many it draws at a time."""


def in_pass(stages: Sequence[BoundStage], count: int) -> Sequence[BoundStage]:
    """The stages behind the first `count` that Python runs in the same pass; none where these end it."""
    if not _passes(stages[count - 1]):
        return ()
    behind = stages[count:]
    lazy = list(itertools.takewhile(_passes, behind))
    following = behind[len(lazy) : len(lazy) + 1]
    ends = [stage for stage in following if _of_table(stage) and STAGES[stage.site.name].sink]
    return (*lazy, *ends)


def one_by_one(stage: BoundStage) -> bool:
    """Whether it takes elements one by one, not the value as it is."""
    return _of_table(stage) and stage.site.name != "tap"


def _of_table(stage: BoundStage) -> bool:
    return stage.site.known and stage.callee is None and stage.site.name in STAGES


def _passes(stage: BoundStage) -> bool:
    """Whether it takes and gives elements one by one."""
    return one_by_one(stage) and not STAGES[stage.site.name].sink


Known = dict[tuple[int, object, object], bool]


@dataclass
class Behind:
    """The stages behind Python's, and for which kinds of elements they are known to be quiet, from each of them on."""

    stages: Sequence[BoundStage]
    known: Known = field(default_factory=dict[tuple[int, object, object], bool])

    def quiet(self, place: int, kind: object, state: object) -> bool:
        """Whether the stages from a place on are quiet for this kind of elements; `state`: what they read."""
        if asks():
            return False
        key = place, kind, state
        if key not in self.known:
            self.known[key] = quiet(self.stages[place:], kind, Workspace("<behind>"))
        return self.known[key]


@dataclass(frozen=True)
class Before:
    """The stages before Python's that loops ran already, and what they went over."""

    value: object
    stages: Sequence[BoundStage]

    def further(self, stages: Sequence[BoundStage]) -> Before | None:
        """With more of them; None behind a sink, which has taken all elements."""
        return Before(self.value, (*self.stages, *stages)) if all(map(_passes, stages)) else None

    def elements(self) -> Iterator[object]:
        """What the stages give, by Python."""
        passing: Any = self.value
        for name, callee, args, kwargs in calls_of(noted(self.stages)):
            passing = python.apply(name, passing, args, kwargs, callee)
        return python.elements(passing)


def run(
    value: object, stages: Sequence[BoundStage], behind: Behind, before: Before | None = None
) -> tuple[object, int]:
    """What Python's stages give, and how many of those behind are in it; what one raises propagates."""
    taken = list(itertools.takewhile(one_by_one, stages))
    if len(taken) < len(stages):  # the next one is given the value as it is
        found, _ = run(value, taken, Behind(()), before)
        return python.run(found, calls_of(stages[len(taken) :])), 0
    source: Any = value if before is None else before.value
    passing: Any = value if before is None else _again(value, before, stages)
    done: list[StageCall] = calls_of([*stages, *behind.stages])
    # To the stages behind, the ints and bools of the last one are Python's.
    before_last, owned = len(stages) - bool(behind.stages), False
    for name, callee, args, kwargs in done[:before_last]:
        passing = python.apply(name, passing, args, kwargs, callee)
    for call in done[before_last : len(stages)]:
        passing, owned = _applied(call, passing, False)
    watch = Watch.of(behind.stages)
    keeps = not watch.reached_by(stages)
    try:
        for place, call in enumerate(calls_of(noted(behind.stages, classes=True))):
            gate = _gate(passing, owned, behind, place, watch) if keeps else _owned(passing, owned)
            passing, owned = _applied(call, gate, True)
        if not _passes([*stages, *behind.stages][-1]):
            return passing, len(behind.stages)
        return python.collected(passing, done, source), len(behind.stages)
    except _AllKept as kept:
        elements, place = kept.elements, kept.place
    return python.collected(elements, done[: len(stages) + place], source), place


def _applied(call: StageCall, passing: Any, owned: bool) -> tuple[Any, bool]:
    """What a stage gives, and whether Python's ints are in it for NumPy's. `owned`: whether in what it gets."""
    name, callee, args, kwargs = call
    if callee is None and name == "map" and args and isinstance(args[0], Noted):
        return args[0].mapped(python.elements(passing), COUNTED), True
    return python.apply(name, passing, args, kwargs, callee), owned and callee is None and name in _PASSED_ON


_PASSED_ON = frozenset({
    "filter", "take", "drop", "take_while", "drop_while", "step", "reverse", "enumerate", "window", "chunk",
})  # fmt: skip
"""Stages that give the elements that they get, if in tuples."""


def _owned(elements: Iterator[object], owned: bool) -> Iterator[object]:
    """The elements with Python's ints and bools for NumPy's; `owned`: whether they are that already."""
    if owned:
        return elements
    return (COUNTED[type(each)](each) if type(each) in COUNTED else each for each in elements)


def _again(value: object, before: Before, stages: Sequence[BoundStage]) -> Iterator[object]:
    """What loops gave; from where Python's stages change what their functions read, computed anew."""
    watch = Watch.of(before.stages, before.value)
    if watch.reached_by(stages):
        yield from before.elements()
        return
    if not watch.variables:
        yield from python.elements(value)
        return
    number = 0
    for element in python.elements(value):
        number += 1
        yield element
        if watch.changed():
            break
    else:
        return
    again = before.elements()
    with watch.as_before():
        for _ in itertools.islice(again, number):
            pass
    yield from again


class _AllKept(Exception):
    """A gate has kept all elements."""

    def __init__(self, elements: Iterable[object], place: int) -> None:
        super().__init__()
        self.elements, self.place = elements, place


def _gate(
    elements: Iterator[object], owned: bool, behind: Behind, place: int, watch: Watch
) -> Iterator[object]:
    """The elements, let through from the first one on that somebody could tell from its being kept."""
    return itertools.chain(_at_gate(elements, behind, place, watch), _owned(elements, owned))


def _at_gate(elements: Iterator[object], behind: Behind, place: int, watch: Watch) -> Iterator[object]:
    """Those that were kept, and the one that opens the gate."""
    keeper = _Keeper(behind, place, watch)
    odd = keeper.keep(itertools.islice(elements, _MANY))
    if not odd and len(keeper.kept) == _MANY:
        odd = keeper.keep(keeper.behind_drawn(elements))
    if not odd:
        raise _AllKept(keeper.all, place)
    with watch.as_before() if keeper.changed else nullcontext():
        yield from keeper.given
    yield odd[0]


@dataclass
class _Keeper:
    """Elements that are kept for the stages from a place on."""

    behind: Behind
    place: int
    watch: Watch
    kept: list[object] = field(default_factory=list[object])
    drawn: AnyArray | None = None
    """Those before `kept` that native code has drawn."""
    changed: bool = False
    """A variable was changed that the stages behind read."""
    _kind: object = None
    _types: set[type[object]] = field(default_factory=set[type[object]])
    """Those of elements whose kinds are known to go with each other."""

    @property
    def all(self) -> list[object] | AnyArray:
        """All that are kept, with Python's numbers for NumPy's."""
        return self.drawn if self.drawn is not None and not self.kept else python_numbers(self.given)

    @property
    def given(self) -> list[object]:
        """They with floats as they came: what comes behind them may be narrower."""
        return self.kept if self.drawn is None else [*self.drawn.tolist(), *self.kept]

    def keep(self, elements: Iterator[object]) -> list[object]:
        """Keep them up to the first one that is not to be kept, which is what this gives; nothing if all are."""
        watch, keep = self.watch, self.kept.append
        changed, single = watch.changed if watch.variables else None, watch.single
        read, name, value = (
            (None, "", None) if single is None else (single.scope.get, single.name, single.value)
        )
        types = self._types
        for element in elements:
            if (read(name, ABSENT) is not value) if read is not None else changed is not None and changed():
                self.changed = True
                return [counted(element)]
            type_ = type(element)
            if type_ not in types or (type_ is int and not _LOWEST <= cast(int, element) <= _HIGHEST):
                mine = python_number(element)
                kind = kind_of_element(mine)
                if kind is None or not self._goes_with(kind):
                    return [counted(element)]
                # Of a type whose elements are of one kind the next one is not looked at again: asking takes as long as
                # ten elements do, and bools, ints and floats may come in turns.
                if type_ is not tuple and (type(mine) is type_ or type_ not in COUNTED):
                    types.add(type_)
                keep(counted(element))
            else:
                keep(element)
        return []

    def _goes_with(self, kind: object) -> bool:
        """Whether it is of the kind of those before, if the stages are quiet for these: no loop goes over a mixture."""
        if self._kind is not None:
            return kind == self._kind
        self._kind = kind
        return self.behind.quiet(self.place, kind, self.watch.state)

    def behind_drawn(self, elements: Iterator[object]) -> Iterator[object]:
        """What is left behind those that native code keeps: of the type that all before have had."""
        places, types = self.watch.places, set(map(type, self.kept))
        native = drawer(types.pop()) if len(types) == 1 and all(map(can_watch, places)) else None
        if native is None:
            return elements
        try:
            self.drawn = np.array(self.kept, native.dtype)
        except OverflowError:  # they are above int64
            return elements
        self.kept.clear()
        while True:
            array, odd = native.draw(elements, _AT_ONCE, places)
            extended(self.drawn, array)
            if odd:
                return itertools.chain(odd, elements)
            if len(array) < _AT_ONCE:  # it has ended, and is not asked again
                return iter(())


def kind_of_element(element: object) -> object:
    """The types of an element of Python's numbers; None for any other, long tuples, and an int beyond 64 bits."""
    type_ = type(element)
    if type_ is int:
        return INT if _LOWEST <= cast(int, element) <= _HIGHEST else None
    if type_ is tuple:
        parts = cast("tuple[object, ...]", element)
        kinds = tuple(map(kind_of_element, parts)) if 0 < len(parts) <= WIDEST else (None,)
        return None if None in kinds else kinds
    return _TYPES.get(type_)


__all__ = ["Before", "Behind", "Known", "in_pass", "kind_of_element", "one_by_one", "run"]
