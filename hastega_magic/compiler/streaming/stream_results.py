"""What needs no loop of its own behind one: results made of a stream's elements piece by piece.

`cumsum |> first` is one of them, `map(f) |> bincount`, `filter(p) |> to_list`, and an array of complex numbers.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.sources.long_ranges import count_of
from hastega_magic.compiler.statement import Loop, element_structure
from hastega_magic.compiler.streaming.cutting import is_named
from hastega_magic.frames import reraise_signal
from hastega_magic.ir.kernel import are_fields
from hastega_magic.runtime import python, python_stages
from hastega_magic.runtime.buffers import AnyArray, list_fits, look_after_list
from hastega_magic.runtime.objects.boxes import listed
from hastega_magic.runtime.stream import PIECE, NotProduced, Stream
from hastega_magic.syntax.loops.build import BoundStage
from hastega_magic.trace import Trace
from hastega_magic.types import RESULT_STORAGE, Either, ScalarType

_ONE, _COUNTS, _LISTS = frozenset({"first", "last"}), frozenset({"bincount"}), frozenset({"to_list"})

_TYPED = frozenset({"astype"})

_WHOLE = frozenset({"array", "to_list"})
"""Sinks that give all elements."""

_LARGEST = 4 * PIECE
"""Counts that are added up piece by piece: more would take longer to add than to make. Numbers that may lie twice."""


def ends(stages: Sequence[BoundStage]) -> bool:
    """Whether one stage is left, and is of this kind."""
    return len(stages) == 1 and is_named(stages[0], _ONE | _COUNTS | _LISTS)


def takes_all(stage: BoundStage) -> bool:
    """Whether a loop would store all elements for the stage to make something else of them."""
    return is_named(stage, _COUNTS | _LISTS)


def counts_many(stages: Sequence[BoundStage], source: object) -> bool:
    """Whether a statement ends in that, over so many elements that nobody should have all of them."""
    return is_named(stages[-1], _COUNTS) and count_of(source) >= _LARGEST


def is_of_another_form(loop: Loop) -> bool:
    """Whether the loop's result is no array of the numbers that it stores, and would long lie beside them.

    Lists are read and made at the same time, elsewhere.
    """
    pipeline, element = loop.pipeline, element_structure(loop.pipeline)
    stored = _numbers_of(element)
    if pipeline.sink.kind == "array" and isinstance(element, ScalarType) and is_typed(loop):
        storage = np.empty(0, RESULT_STORAGE[element].name)
        return in_type_of(loop, storage).dtype != storage.dtype and pipeline.source.length >= _LARGEST
    if pipeline.sink.kind not in _WHOLE or any(each.kind == "list" for each in pipeline.sources):
        return False
    filtered = any(stage.kind == "filter" for stage in pipeline.stages)
    if pipeline.sink.kind == "array" and not filtered and are_fields(_types_of(element)):
        return False  # records, which loops store as such
    return stored > (pipeline.sink.kind == "array") and stored * pipeline.source.length >= _LARGEST


def is_typed(loop: Loop) -> bool:
    """Whether the last stage says of which type the array is."""
    return is_named(loop.stages[-1], _TYPED)


def in_type_of(loop: Loop, elements: AnyArray) -> AnyArray:
    """Elements of a loop as the array of its last stage, which says their type."""
    last = loop.stages[-1]
    return python.in_dtype(elements, *last.args, **last.kwargs)


def _numbers_of(element: object) -> int:
    """Of how many numbers an element is made; 0 where that is another number for some."""
    if not isinstance(element, tuple):
        return 1
    parts = [_numbers_of(part) for part in cast("tuple[object, ...]", element)]
    return 0 if isinstance(element, Either) or 0 in parts else sum(parts)


def _types_of(element: object) -> list[ScalarType]:
    """The types of the numbers of an element."""
    if isinstance(element, ScalarType):
        return [element]
    return [each for part in cast("tuple[object, ...]", element) for each in _types_of(part)]


def end(stream: Stream, stage: BoundStage, trace: Trace, *, whole: bool) -> object:
    """What the last stage makes of the elements; NotProduced where that takes all of them, or Python raises.

    `whole`: the stream has as many as it may have.
    """
    if is_named(stage, _LISTS):
        if whole:
            list_fits(len(stream))
        return _listed(stream, stage, trace)
    return _counted(stream, stage, trace) if is_named(stage, _COUNTS) else _one(stream, stage)


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
    return stream.form([stream.row(place, place + 1, number).copy() for number in range(len(stream.dtypes))])


def _listed(stream: Stream, stage: BoundStage, trace: Trace) -> list[Any]:
    if stage.args or stage.kwargs:
        raise NotProduced
    found, seconds = list[Any](), 0.0
    for piece in stream.pieces_of_elements():
        began = time.perf_counter()
        found += listed(piece)
        look_after_list(len(found))
        seconds += time.perf_counter() - began
    trace.add("phase", name="convert_out", seconds=seconds)
    return found


def _counted(stream: Stream, stage: BoundStage, trace: Trace) -> object:
    if stream.dtype.kind not in "bi":
        raise NotProduced
    found, seconds = _counts_of(np.zeros(0, stream.dtype), stage), 0.0
    for piece in stream.pieces_of_elements():
        began = time.perf_counter()
        more = _counts_of(piece, stage)
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
    except Exception as error:
        reraise_signal(error)
        raise NotProduced from None


__all__ = ["counts_many", "end", "ends", "in_type_of", "is_of_another_form", "is_typed", "takes_all"]
