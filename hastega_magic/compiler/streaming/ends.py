"""Stages that need no loop of their own behind one: what they make of a stream's elements, piece by piece."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from hastega_magic.compiler.sources.reach import count_of
from hastega_magic.compiler.streaming.cutting import is_named
from hastega_magic.runtime import python, python_stages
from hastega_magic.runtime.buffers import AnyArray
from hastega_magic.runtime.stream import PIECE, NotProduced, Stream
from hastega_magic.syntax.joining.build import BoundStage
from hastega_magic.trace import Trace

_ONE, _COUNTS = frozenset({"first", "last"}), frozenset({"bincount"})

_LARGEST = 4 * PIECE
"""Counts that are added up piece by piece: more would take longer to add than to make."""


def ends(stages: Sequence[BoundStage]) -> bool:
    """Whether one stage is left, and is of this kind."""
    return len(stages) == 1 and is_named(stages[0], _ONE | _COUNTS)


def counts(stage: BoundStage) -> bool:
    """Whether the stage counts elements, for which a loop would store all of them."""
    return is_named(stage, _COUNTS)


def counts_many(stages: Sequence[BoundStage], source: object) -> bool:
    """Whether a statement ends in that, over so many elements that nobody should have all of them."""
    return counts(stages[-1]) and count_of(source) >= _LARGEST


def end(stream: Stream, stage: BoundStage, trace: Trace) -> object:
    """What the last stage makes of the elements; NotProduced where that takes all of them, or Python raises."""
    return _counted(stream, stage, trace) if counts(stage) else _one(stream, stage)


def _one(stream: Stream, stage: BoundStage) -> object:
    """The first or last element; NotProduced without any, or where the stage has arguments."""
    if stage.args or stage.kwargs:
        raise NotProduced
    first, at, stop = stage.site.name == "first", 0, stream.draw()
    if not stop:
        raise NotProduced
    found = _at(stream, 0 if first else stop - 1)
    while not first and stop > at:
        found, at = _at(stream, stop - 1), stop
        stop = stream.draw()
    return python.apply(stage.site.name, found)


def _at(stream: Stream, place: int) -> AnyArray:
    return of_numbers([stream.row(place, place + 1, number).copy() for number in range(len(stream.dtypes))])


def of_numbers(arrays: Sequence[AnyArray]) -> AnyArray:
    """The elements that these are the numbers of."""
    return arrays[0] if len(arrays) == 1 else python.structured(arrays)


def _counted(stream: Stream, stage: BoundStage, trace: Trace) -> object:
    if stream.dtype.kind not in "bi":
        raise NotProduced
    found, at, seconds = _counts_of(np.zeros(0, stream.dtype), stage), 0, 0.0
    while (stop := stream.draw()) > at:
        began = time.perf_counter()
        more, at = _counts_of(stream[at:stop], stage), stop
        if len(more) > len(found):
            found, more = more, found
        found[: len(more)] += more
        seconds += time.perf_counter() - began
    trace.add("phase", name="convert_out", seconds=seconds)
    return found


def _counts_of(elements: AnyArray, stage: BoundStage) -> AnyArray:
    if elements.max(initial=0) >= _LARGEST:
        raise NotProduced
    try:
        return python_stages.bincount(elements, *stage.args, **stage.kwargs)
    except Exception:
        raise NotProduced from None


__all__ = ["counts", "counts_many", "end", "ends", "of_numbers"]
