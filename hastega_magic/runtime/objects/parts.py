"""Parts of long lists, which are not copied: those of a window overlap, and a reversed one is as long as the list.

prices |> window(3)      elements 0, 1, 2, ... of the list; 1, 2, 3, ...; 2, 3, 4, ...
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, cast, overload

import numpy as np
import numpy.typing as npt

from hastega_magic.records import dataclass
from hastega_magic.runtime.buffers import allocate
from hastega_magic.runtime.objects import fields, lists
from hastega_magic.runtime.objects.fields import Field

_AnyArray = npt.NDArray[Any]

_BETWEEN = 4
"""Steps up to which the elements between those of a part are read with them."""


@dataclass(frozen=True, slots=True, eq=False)
class Part(Sequence[object]):
    """The elements of a list that have these numbers."""

    whole: Sequence[object]
    """A list, a tuple, or a field of tuples."""
    places: range

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, index: int) -> object: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[object]: ...
    def __getitem__(self, index: int | slice) -> object:
        found = self.places[index]
        if isinstance(found, int):
            return self.whole[found]
        if not found:
            return self.whole[:0]
        return self.whole[found.start : None if found.stop < 0 else found.stop : found.step]

    def __iter__(self) -> Iterator[object]:
        if self.places.step > 0:
            return itertools.islice(self.whole, self.places.start, self.places.stop, self.places.step)
        return map(self.whole.__getitem__, self.places)


def part_of(data: object, start: int, step: int, count: int) -> Part | None:
    """Elements start, start + step, ... of a list or of a part of one, `count` of them or as many as there are.

    None for other objects.
    """
    if not isinstance(data, (list, tuple, Field, Part)):
        return None
    elements = cast("Sequence[Any]", data)
    whole, places = (
        (elements.whole, elements.places) if isinstance(elements, Part) else (elements, range(len(elements)))
    )
    stop = start + step * count
    return Part(whole, places[start : None if stop < 0 else stop : step])


def read(data: object, dtype: str, start: int, stop: int) -> _AnyArray | None:
    """Elements of a long list or tuple, of a field, or of a part of one, by native code; None where it cannot."""
    if isinstance(data, Part):
        places = data.places[start:stop]
        if abs(places.step) > _BETWEEN:
            return read(data[start:stop], dtype, 0, len(places))
        first, last = _span([places])
        found = read(data.whole, dtype, first, last)
        return None if found is None else _at(found, places, first)
    if not isinstance(data, (list, tuple, Field)):
        return None
    elements = cast("Sequence[object]", data)
    stop = min(stop, len(elements))
    if stop - start < lists.WORTH:
        return None
    found = allocate(stop - start, dtype)
    return found if fields.read(elements, lists.TYPES.get(dtype, object), found, start) else None


def read_once(parts: Sequence[Part], dtype: str, start: int, stop: int) -> tuple[list[_AnyArray], int] | None:
    """Elements `start` to `stop` of parts of one list, which is read once, and the bytes that were made of it.

    None where each had better be read alone.
    """
    taken = [each.places[start:stop] for each in parts]
    first, last = _span(taken)
    if last - first > sum(map(len, taken)):
        return None
    found = read(parts[0].whole, dtype, first, last)
    return None if found is None else ([_at(found, places, first) for places in taken], found.nbytes)


def _span(taken: Sequence[range]) -> tuple[int, int]:
    """The least of the numbers, and the one after the largest."""
    ends = [end for places in taken if places for end in (places[0], places[-1])]
    return min(ends, default=0), max(ends, default=-1) + 1


def _at(elements: _AnyArray, places: range, first: int) -> _AnyArray:
    """Those that have these numbers, of elements that begin with number `first`, side by side."""
    stop = places.stop - first
    return np.ascontiguousarray(elements[places.start - first : None if stop < 0 else stop : places.step])


__all__ = ["Part", "part_of", "read", "read_once"]
