"""Python's `zip` and `enumerate` as sources: the loop reads the sequences that they go through.

    zip(a, b) |> map(f) |> sum         a |> zip(b) |> map(f) |> sum
    enumerate(a, 1) |> map(f)          a |> enumerate(1) |> map(f)

Elements are what Python's iteration gives, NumPy's scalars where the sequences are arrays; afterwards the iterators
stand where Python would have left them.
"""

from __future__ import annotations

import array
import builtins
import inspect
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from types import BuiltinMethodType, GeneratorType
from typing import Any, NamedTuple, cast

import numpy as np

from hastega_magic.compiler.fastpath.objects import NotExact, objects
from hastega_magic.compiler.statement import Loop
from hastega_magic.errors import NotCompilable
from hastega_magic.records import dataclass
from hastega_magic.runtime.columnar import NullsError, gives_numbers, memory_of, widened
from hastega_magic.syntax.closures.numpy_read import numpy_read
from hastega_magic.syntax.loops.build import BoundStage
from hastega_magic.types import STORAGES

_SEQUENCES = (list, tuple, range, array.array, bytes)
_ALL = frozenset({
    "map", "filter", "enumerate", "clip", "where", "scan", "cumsum", "sum", "prod", "min", "max", "count", "mean",
    "var", "std", "argmin", "argmax", "reduce", "bincount", "to_list",
})  # fmt: skip
"""Stages that ask for all elements, and do nothing else that anybody could see."""


class Through(NamedTuple):
    """What an iterator goes through, and how far it has come.

    `counter`: whose state says so; `scalars`: its elements are NumPy's scalars.
    """

    data: Any
    place: int
    counter: Any
    scalars: bool = False

    @property
    def left(self) -> int:
        """How many elements are still to come."""
        return len(self.data) - self.place

    @property
    def rest(self) -> Any:
        """The elements that are still to come, as a sequence."""
        return self.data[self.place :] if self.place else self.data

    def leave(self, given: int, exhausted: bool) -> None:
        """Leave the iterator as it is when it has given so many more."""
        if hasattr(self.counter, "__setstate__"):
            self.counter.__setstate__(self.place + given)
            if exhausted:  # not before it was asked: a list may grow
                next(self.counter, None)
        elif given >= self.left:
            self.counter.close()
        else:
            deque[object](islice(self.counter, given), maxlen=0)


@dataclass(frozen=True)
class Pairs:
    """What stands for the iterator: a sequence and the stages over it; `ends`: what its iterators then have given.

    `scalars`: as in `Workspace`; a last `to_list` is then left out, and is the caller's.
    """

    source: Any
    stages: tuple[BoundStage, ...]
    scalars: frozenset[int] | None
    ends: tuple[tuple[Through, int, bool], ...]
    listed: bool
    generator: Generator[object, Any, Any] | None = None
    """One that stands for it all, and has then ended."""

    def value(self, found: object, loops: Sequence[Loop]) -> object:
        """The stages' value, from that of the loop; NotExact where that may be another."""
        if self.scalars is None:
            return found
        known = loops[0].scalars if len(loops) == 1 else None
        if known is None:
            raise NotExact("they are not one loop")
        as_it_is = isinstance(found, np.ndarray) and not self.listed
        return cast(object, found) if as_it_is else objects(found, known)

    def exhaust(self) -> None:
        """Leave the iterators where Python would have."""
        for iterator, given, exhausted in self.ends:
            iterator.leave(given, exhausted)
        if self.generator is not None:
            self.generator.close()


def pairs_of(source: Iterator[object], rest: Sequence[BoundStage]) -> Pairs | None:
    """What stands for a `zip` or `enumerate` of sequences; None for other iterators, and where stages may end early."""
    if type(source) not in (zip, enumerate) or not asks_for_all(rest):
        return None
    site = replace(rest[0].site, known=True)
    inner: object = source
    numbered: list[BoundStage] = []
    if type(source) is enumerate:
        inner, start = cast("tuple[Any, Any]", source.__reduce__()[1])
        numbered.append(BoundStage(replace(site, name="enumerate", text="enumerate"), None, (start,)))
    iterators = _iterators(inner)
    parts = [sequence_of(each) for each in iterators]
    given = [part for part in parts if part is not None]
    alone = len({id(each) for each in iterators}) == len(iterators)  # else they take turns
    if not given or len(given) < len(parts) or not alone:
        return None
    sequences: list[Any] = [part.rest for part in given]
    if len(sequences) > 1:
        zipped = BoundStage(replace(site, name="zip", text="zip"), None, tuple(sequences[1:]))
        numbered.insert(0, zipped)
    reads = numpy_read([each for stage in rest for each in stage.args])
    arrays = frozenset(id(each) for each, part in zip(sequences, given, strict=True) if part.scalars)
    if reads == "others":
        return None
    scalars = arrays if arrays or reads else None
    listed = rest[-1].site.name == "to_list"
    kept = rest[:-1] if listed and scalars is not None else rest
    return Pairs(sequences[0], (*numbered, *kept), scalars, ends_of(given), listed)


def asks_for_all(stages: Sequence[BoundStage]) -> bool:
    """Whether the stages need all elements, and do nothing else that anybody could see."""
    return all(stage.callee is None and stage.site.name in _ALL for stage in stages)


def _iterators(inner: object) -> tuple[Any, ...]:
    """The iterators side by side; none where there is another kind of thing."""
    if type(inner) is not zip:
        return (inner,)
    found = cast("tuple[Any, ...]", inner.__reduce__())
    several = len(found) == 2 and len(found[1]) > 1
    return found[1] if several else ()


def sequence_of(iterator: Any) -> Through | None:
    """The sequence that an iterator goes through, and how far it has come."""
    if type(iterator) is map:
        return _items(iterator)
    if type(iterator) is GeneratorType:
        return _column(cast("Generator[Any, Any, Any]", iterator))
    if not hasattr(iterator, "__setstate__"):
        return None
    made, args, *place = cast("tuple[Any, ...]", iterator.__reduce__())
    if made is not builtins.iter or len(args) != 1 or len(place) != 1:
        return None
    (data,) = args
    if place == [None] and type(data) is range:
        place = [0]  # from Python 3.12 on it is the range that is left, and places are counted from there
    if type(place[0]) is not int:
        return None
    # Elements of structured arrays are `numpy.void`, which no loop has.
    scalars = type(data) is np.ndarray and data.ndim == 1 and data.dtype.names is None
    return Through(data, place[0], iterator, scalars) if scalars or type(data) in _SEQUENCES else None


def _items(iterator: Any) -> Through | None:
    """The numbers of `map(array.item, range(array.size))`, which is how pandas goes through a Series or an index."""
    call, *counters = cast("tuple[Any, ...]", iterator.__reduce__()[1])
    memory: Any = getattr(call, "__self__", None)
    if type(call) is not BuiltinMethodType or type(memory) is not np.ndarray or call != memory.item:
        return None
    counted = sequence_of(counters[0]) if len(counters) == 1 else None
    if counted is None or type(counted.data) is not range or memory.ndim != 1:
        return None
    places = counted.data
    inside = places.step == 1 and places.start >= 0 and places.stop <= len(memory)
    if not inside or memory.dtype.name not in {*STORAGES, "complex128"}:
        return None
    return counted._replace(data=widened(memory[places.start : places.stop]))


def _column(generator: Generator[Any, Any, Any]) -> Through | None:
    """The numbers of a Series whose `__iter__` is a generator that has not begun, as polars' is."""
    if inspect.getgeneratorstate(generator) != inspect.GEN_CREATED:
        return None
    made: Any = generator
    code: object = made.gi_code
    data: Any = made.gi_frame.f_locals.get("self") if made.gi_code.co_name == "__iter__" else None
    own: object = getattr(getattr(cast(Any, type(data)), "__iter__", None), "__code__", None)
    if own is not code or not gives_numbers(data):
        return None
    try:
        return Through(memory_of(data, ""), 0, generator)
    except (NotCompilable, NullsError):
        return None


def ends_of(given: Sequence[Through]) -> tuple[tuple[Through, int, bool], ...]:
    """What iterators have given when the shortest has ended, and which one this is: those before gave one more."""
    left = [each.left for each in given]
    least = min(left)
    shortest = left.index(least)
    return tuple((each, least + (number < shortest), number == shortest) for number, each in enumerate(given))


__all__ = ["Pairs", "Through", "asks_for_all", "ends_of", "pairs_of", "sequence_of"]
