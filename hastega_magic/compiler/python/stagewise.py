"""The elements of a block, stage after stage: each function goes over all of them, and nobody sees in which order."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hastega_magic.compiler.python.nodes import computed, filled, of_params, roots, scalars, wide_constants
from hastega_magic.compiler.python.steps import NUMPYS, Step, Surroundings, is_beyond
from hastega_magic.compiler.statement import Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.frames import reraise_signal
from hastega_magic.interval import INT64, TOP, Interval
from hastega_magic.ir.columns import Columns
from hastega_magic.ir.expr import Expr, flatten, postorder
from hastega_magic.ir.pipeline import Fn, Source, Stage
from hastega_magic.passes.infer import Leaves, exact_range, leaf_range
from hastega_magic.runtime.objects.fields import Field
from hastega_magic.runtime.python_calls import elements
from hastega_magic.runtime.python_numbers import python_number, python_numbers
from hastega_magic.runtime.sources import Column
from hastega_magic.types import BOOL, INT


class Element(NamedTuple):
    """What became of an element: whether the filters kept it, and its value after the last stage."""

    kept: bool
    value: Any


class Kept(NamedTuple):
    """The elements of a block that the filters kept: their places in it, their values, and how many there were."""

    places: Sequence[int]
    values: list[Any]
    size: int

    def column(self, neutral: float, dtype: type[np.generic]) -> npt.NDArray[Any]:
        """The numbers, with a neutral one in place of each that is left out."""
        if len(self.values) == self.size:
            return np.array(self.values, dtype)
        column = np.full(self.size, neutral, dtype)
        column[self.places] = self.values
        return column


def kept_of(elements: Iterable[Element]) -> Kept:
    """The elements of a block that were evaluated one after the other."""
    found = list(elements)
    places = [place for place, each in enumerate(found) if each.kept]
    return Kept(places, [found[place].value for place in places], len(found))


class Block(NamedTuple):
    """The elements, and the number of the first that needs an integer beyond 64 bits, if that was looked for."""

    kept: Kept
    beyond: int | None


Moved = Mapping[tuple[str, int], Source]
"""Sources within a window: by kind and key of a source the one that stands for it some elements on."""

_Make = Callable[[Step, Sequence[int], list[Any]], list[Any]]
"""What a stage's function gives for elements at these places."""

_PIECE = 64
"""Elements among which the first integer beyond 64 bits is sought first."""

_NOTHING_KNOWN = Leaves(())

_POSSIBLE = {"map", "filter", "zip", "enumerate", "index", "window"}


class Stagewise:
    """Evaluates elements of a loop with Python's exact integers."""

    def __init__(
        self, loop: Loop, workspace: Workspace, steps: Sequence[Step], around: Surroundings, checked: bool
    ) -> None:
        self._loop, self._workspace, self._steps, self._around = loop, workspace, steps, around
        self._checked = checked
        self.possible = {step.stage.kind for step in steps} <= _POSSIBLE
        """Whether the loop has such stages alone; no source of it may be another loop's result."""

    def block(self, first: int, last: int, looks: bool) -> Block:
        """Elements number `first` to `last` - 1. `looks`: for integers beyond 64 bits.

        Raises what the functions raise for whichever element; and where a graph raises and Python does not (2 ** -1).
        """
        beyond = list[int]()

        def make(step: Step, places: Sequence[int], values: list[Any]) -> list[Any]:
            made, there = self._made(step, places, values, looks)
            beyond.extend([] if there is None else [there])
            return made

        with np.errstate(all="ignore"):
            places, values = self._through(len(self._steps), range(first, last), make, 0, {})
        there = range(last - first) if len(values) == last - first else [place - first for place in places]
        return Block(Kept(there, values, last - first), min(beyond, default=None))

    def numbers_beyond(self, last: int) -> bool:
        """Whether `enumerate` may give one of the elements before number `last` a number that no int64 holds."""
        stages = [step.stage for step in self._steps]
        last += sum(stage.number for stage in stages if stage.kind == "window")
        ends = (stage.number + stage.stride * last for stage in stages if stage.kind == "enumerate")
        return any(map(is_beyond, ends))

    def raising(self, first: int, last: int) -> int | None:
        """The first of them for which a function raises; None where none does."""
        for number in range(first, last):
            try:
                with np.errstate(all="ignore"):
                    self._through(len(self._steps), range(number, number + 1), _called, 0, {})
            except Exception as error:
                reraise_signal(error)
                return number
        return None

    def _through(
        self, end: int, places: Sequence[int], make: _Make, ahead: int, moved: Moved
    ) -> tuple[Sequence[int], list[Any]]:
        """The elements before step `end` that the filters kept, and their places.

        `ahead`, `moved`: elements on within a window, and the sources that are moved on so far.
        """
        known = [self._loop.pipeline.source]
        values = self._values(at(known[0], moved), places)
        for number, step in enumerate(self._steps[:end]):
            stage = step.stage
            match stage.kind:
                case "filter":
                    made = make(step, places, values)
                    places = list(itertools.compress(places, made))
                    values = list(itertools.compress(values, made))
                case "map":
                    values = make(step, places, values)
                case "zip":
                    others = (self._values(at(each, moved), places) for each in stage.sources)
                    values = list(zip(values, *others, strict=True))
                case "enumerate":
                    numbers = (stage.number + stage.stride * (place + ahead) for place in places)
                    values = list(zip(numbers, values, strict=True))
                case "window":
                    parts = [values]
                    for distance in range(1, stage.number):
                        further = moved_on(stage, distance, known, moved)
                        parts.append(self._through(number, places, make, ahead + distance, further)[1])
                    values = list(zip(*parts, strict=True))
                case _:
                    values = list(places)
            known += stage.sources
        return places, values

    def _made(
        self, step: Step, places: Sequence[int], values: list[Any], looks: bool
    ) -> tuple[list[Any], int | None]:
        """What a stage makes of the elements, and the first of them that needs an integer beyond 64 bits."""
        made, own = list[Any](), step.own
        if not own:
            made = list(step.over(values))
            if len(made) < len(values):
                raise StopIteration  # which has ended the `map`
            own = any(issubclass(each, NUMPYS) for each in set(map(type, made)))
        if step.turning and not own:
            # Turn after turn, graphs take hundreds of times as long as Python, whose value is exact.
            made = python_numbers(made)
            return made, self._turned(step, places, values, made) if looks else None
        if not values or not (own or looks):
            return python_numbers(made), None
        fn = step.stage.fn
        assert fn is not None
        nodes = () if own else computed(fn)
        if not own and not nodes:
            return python_numbers(made), None  # elements as they were given
        alone = isinstance(fn.result, Expr) and fn.result.type is INT and nodes == (fn.result,)
        if alone and set(map(type, made)) == {int}:
            fits = min(made) in INT64 and max(made) in INT64
            wrong = (place for place, each in zip(places, made, strict=True) if is_beyond(each))
            return made, None if fits else next(wrong)
        if not own:
            return python_numbers(made), first_beyond(fn, self._around, places, values)
        return self._in_columns(fn, step.own, places, values, looks)

    def _in_columns(
        self, fn: Fn, own: bool, places: Sequence[int], values: list[Any], looks: bool
    ) -> tuple[list[Any], int | None]:
        """The same by the function's graph, one node after the other over all elements. `own`: in place of Python."""
        columns = _columns(fn, self._around, places, values)
        for condition, node in fn.effects if own else ():  # which may raise, as Python's function would
            there = places if condition is None else itertools.compress(places, columns.of(condition, places))
            columns.of(node, list(there))
        found = [columns.of(node, places) for node in roots(fn)]
        if isinstance(fn.result, Expr):
            return found[0], columns.beyond() if looks else None
        made = [
            filled(fn.result, dict(zip(roots(fn), each, strict=True))) for each in zip(*found, strict=True)
        ]
        return made, columns.beyond() if looks else None

    def _turned(self, step: Step, places: Sequence[int], values: list[Any], made: list[Any]) -> int | None:
        """The first element that needs an integer beyond 64 bits in its result, or, to raise, on the way to it."""
        for place, value, each in zip(places, values, made, strict=True):
            if any(map(is_beyond, scalars(each))) or (self._checked and step.beyond(value) is not None):
                return place
        return None

    def _values(self, source: Source, places: Sequence[int]) -> list[Any]:
        """The numbers at these places, which ascend."""
        data = self._workspace.column(source).data
        if not places:
            return []
        if isinstance(data, (np.ndarray, range, list, tuple, Field)):
            part: Any = data[places[0] : places[-1] + 1]
            first, found = places[0], part.listed() if isinstance(part, Field) else list(elements(part))
            found = found if isinstance(part, (np.ndarray, range)) else python_numbers(found)
            return found if len(found) == len(places) else [found[place - first] for place in places]
        return python_numbers([data[place] for place in places])


def first_beyond(
    fn: Fn, around: Callable[[Expr], object], places: Sequence[int], values: list[Any]
) -> int | None:
    """The first element that needs an integer beyond 64 bits: sought in ever longer pieces.

    places, values   the elements' numbers and what the function is given of them
    """
    if values and wide_constants(fn):
        return places[0]
    if _fits(fn, values):
        return None
    first, size = 0, _PIECE
    while first < len(places):
        there, size = places[first : first + size], 4 * size
        columns = _columns(fn, around, there, values[first : first + len(there)])
        for node in roots(fn):
            columns.of(node, there)
        if (found := columns.beyond()) is not None:
            return found
        first += len(there)
    return None


def _columns(fn: Fn, around: Callable[[Expr], object], places: Sequence[int], values: list[Any]) -> Columns:
    given = {leaf: dict(zip(places, column, strict=True)) for leaf, column in _parted(fn, values)}
    return Columns(given, around)


def _parted(fn: Fn, values: list[Any]) -> Iterator[tuple[Expr, Sequence[Any]]]:
    """The numbers of elements by the parameters that have them."""
    if isinstance(fn.params, Expr):
        return iter([(fn.params, values)])
    columns = zip(*(of_params(fn.params, each) for each in values), strict=True)
    return zip(flatten(fn.params), columns, strict=True)


def _fits(fn: Fn, values: list[Any]) -> bool:
    """Whether 64 bits hold all integers on the way for any elements between the least and the largest of these."""
    known = dict[Expr, Interval]()
    for leaf, column in _parted(fn, values):
        if leaf.type is INT:
            known[leaf] = Interval(min(column), max(column))
    for node in postorder(roots(fn)):
        if node.args:
            known[node] = exact_range(node, [known.get(arg, TOP) for arg in node.args], _NOTHING_KNOWN)
            # Of floats that become ints the range is that of those which do not need Python.
            whole = all(arg.type is INT or arg.type is BOOL for arg in node.args)
            if node.type is INT and not (whole and known[node].fits_int64):
                return False
        elif node.op == "const":
            known[node] = leaf_range(node, _NOTHING_KNOWN)
    return True


def _called(step: Step, _places: Sequence[int], values: list[Any]) -> list[Any]:
    return [step.called(value) for value in values]


def moved_on(stage: Stage, distance: int, known: Sequence[Source], moved: Moved) -> Moved:
    """What the sources before a window stage are, so many elements on in it."""
    there = stage.sources[(distance - 1) * len(known) : distance * len(known)]
    return {**moved, **{(old.kind, old.key): at(new, moved) for old, new in zip(known, there, strict=True)}}


def at(source: Source, moved: Moved) -> Source:
    """The source, moved on."""
    return moved.get((source.kind, source.key), source)


def item(column: Column, index: int) -> object:
    """An element as functions see it."""
    return python_number(column.data[index])


__all__ = [
    "Block",
    "Element",
    "Kept",
    "Moved",
    "Stagewise",
    "at",
    "first_beyond",
    "item",
    "kept_of",
    "moved_on",
]
