"""Python's `zip` and `enumerate` as sources: the loop reads the sequences that they go through.

    zip(a, b) |> map(f) |> sum         a |> zip(b) |> map(f) |> sum
    enumerate(a, 1) |> map(f)          a |> enumerate(1) |> map(f)

Elements are what Python's iteration gives, NumPy's scalars where the sequences are arrays; afterwards the iterators
stand where Python would have left them.
"""

from __future__ import annotations

import array
import builtins
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.repeating.objects import NotExact, objects
from hastega_magic.compiler.statement import Loop
from hastega_magic.records import dataclass
from hastega_magic.syntax.closures.numpy_read import numpy_read
from hastega_magic.syntax.joining.build import BoundStage

_SEQUENCES = (list, tuple, range, array.array, bytes)
_ALL = frozenset({
    "map", "filter", "enumerate", "clip", "where", "scan", "cumsum", "sum", "prod", "min", "max", "count", "mean",
    "var", "std", "argmin", "argmax", "reduce", "bincount", "to_list",
})  # fmt: skip
"""Stages that ask for all elements, and do nothing else that anybody could see."""


@dataclass(frozen=True)
class Pairs:
    """What stands for the iterator: a sequence and the stages over it; `ends`: where its iterators then are.

    `scalars`: as in `Workspace`; a last `to_list` is then left out, and is the caller's.
    """

    source: Any
    stages: tuple[BoundStage, ...]
    scalars: frozenset[int] | None
    ends: tuple[tuple[Any, int, bool], ...]
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
        for iterator, place, exhausted in self.ends:
            iterator.__setstate__(place)
            if exhausted:  # not before it was asked: a list may grow
                next(iterator, None)
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
    sequences: list[Any] = [data[place:] if place else data for data, place in given]
    if len(sequences) > 1:
        zipped = BoundStage(replace(site, name="zip", text="zip"), None, tuple(sequences[1:]))
        numbered.insert(0, zipped)
    reads = numpy_read([each for stage in rest for each in stage.args])
    arrays = frozenset(id(each) for each in sequences if type(each) is np.ndarray)
    if reads == "others":
        return None
    scalars = arrays if arrays or reads else None
    listed = rest[-1].site.name == "to_list"
    kept = rest[:-1] if listed and scalars is not None else rest
    return Pairs(sequences[0], (*numbered, *kept), scalars, ends_of(iterators, given), listed)


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


def sequence_of(iterator: Any) -> tuple[Any, int] | None:
    """The sequence that an iterator goes through, and how far it has come."""
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
    if type(data) in _SEQUENCES or (
        type(data) is np.ndarray and cast("np.ndarray[Any, Any]", data).ndim == 1
    ):
        return data, place[0]
    return None


def ends_of(iterators: Sequence[Any], given: Sequence[tuple[Any, int]]) -> tuple[tuple[Any, int, bool], ...]:
    """Where iterators are when the shortest has ended, and which one this is: those before have given one more."""
    left = [len(data) - place for data, place in given]
    shortest = left.index(min(left))
    return tuple(
        (iterator, place + min(left) + (number < shortest), number == shortest)
        for number, (iterator, (_, place)) in enumerate(zip(iterators, given, strict=True))
    )


__all__ = ["Pairs", "asks_for_all", "ends_of", "pairs_of", "sequence_of"]
