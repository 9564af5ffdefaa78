"""Elements of a stream at equal distances, and how a loop goes through several such rows of one stream at once.

    filter(p) |> window(3)    elements 0, 1, 2, ... beside 1, 2, 3, ... and 2, 3, 4, ...
    filter(p) |> chunk(2)     elements 0, 2, 4, ... beside 1, 3, 5, ...

What is at hand are the elements of whole blocks of the loop, in all of its rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from hastega_magic.ir.schedule import BLOCK
from hastega_magic.records import dataclass
from hastega_magic.runtime.buffers import AnyArray
from hastega_magic.runtime.stream import NotProduced, Stream

FARTHEST = 1 << 20
"""Elements of the stream that a block may go through."""


@dataclass(frozen=True, eq=False)
class Strided:
    """Elements `start`, `start + step`, ... of a stream, as many as there are, though `count` at most.

    `number`: which of an element's numbers.
    """

    stream: Stream
    start: int
    step: int
    count: int
    number: int = 0

    @property
    def dtype(self) -> np.dtype[Any]:
        """The elements' type."""
        return self.stream.dtypes[self.number]

    def __len__(self) -> int:
        """How many elements there are at most."""
        return max(0, min(self.count, -(-(len(self.stream) - self.start) // self.step)))

    @overload
    def __getitem__(self, place: int) -> Any: ...
    @overload
    def __getitem__(self, place: slice) -> AnyArray: ...
    def __getitem__(self, place: int | slice) -> Any:
        """As of a `Stream`."""
        if not isinstance(place, slice):
            found = self.stream.row(
                self.start + place * self.step, self.start + place * self.step + 1, self.number
            )
            if not len(found):
                raise IndexError(place)
            return found[0]
        start, stop, _ = place.indices(len(self))
        first, last = self.start + start * self.step, self.start + (stop - 1) * self.step
        return self.stream.row(first, max(first, last + 1), self.number)[:: self.step]


@dataclass(frozen=True, eq=False)
class Paired:
    """Complex numbers of a stream: rows of their real and of their imaginary parts."""

    real: Strided
    imag: Strided

    @property
    def dtype(self) -> np.dtype[Any]:
        """The elements' type."""
        return np.dtype("complex64" if self.real.dtype == np.float32 else "complex128")

    def __len__(self) -> int:
        """How many elements there are at most."""
        return len(self.real)

    @overload
    def __getitem__(self, place: int) -> Any: ...
    @overload
    def __getitem__(self, place: slice) -> AnyArray: ...
    def __getitem__(self, place: int | slice) -> Any:
        """As of a `Stream`."""
        if not isinstance(place, slice):
            return self.dtype.type(complex(self.real[place], self.imag[place]))
        real = self.real[place]
        found = np.empty(len(real), self.dtype)
        found.real = real  # before the stream goes on, whose memory this is
        found.imag = self.imag[place]
        return found

    def last(self, start: int, step: int, size: int) -> AnyArray:
        """As of a `Stream`; the rows are those of all elements."""
        real, imag = (
            each.stream.last(start, step, size, each.number).copy() for each in (self.real, self.imag)
        )
        found = np.empty(len(real), self.dtype)
        found.real, found.imag = real, imag
        return found

    def view(self, start: int, step: int, count: int) -> Paired:
        """Elements `start`, `start + step`, ...: `count` of them at most."""
        return Paired(strided(self.real, start, step, count), strided(self.imag, start, step, count))


def strided(row: Stream | Strided, start: int, step: int, count: int) -> Strided:
    """Elements `start`, `start + step`, ... of a stream, or of such a row; `count` of them at most."""
    if isinstance(row, Stream):
        return Strided(row, start, step, count)
    return Strided(
        row.stream, row.start + start * row.step, row.step * step, min(count, len(row)), row.number
    )


def rows(stream: Stream) -> list[Strided | Paired]:
    """The fields of its elements, each in a row of its own."""
    found, numbers = list[Strided | Paired](), 0
    for field in stream.fields:
        first, *others = (
            Strided(stream, 0, 1, len(stream), number) for number in range(numbers, numbers + field)
        )
        found.append(Paired(first, *others) if others else first)
        numbers += field
    return found


class Reading:
    """A loop on its way through rows of one stream, which have one step and begin here and there."""

    def __init__(self, rows: Sequence[Stream | Strided]) -> None:
        """NotProduced for rows of several streams or steps, or where a block goes through too many elements."""
        parts = [strided(row, 0, 1, len(row)) for row in rows]
        if len({(id(part.stream), part.step) for part in parts}) != 1:
            raise NotProduced
        self.stream, self.step = parts[0].stream, parts[0].step
        starts = [part.start for part in parts]
        self._first, self._reach = min(starts), max(starts) - min(starts) + 1
        if self.step * BLOCK + self._reach > FARTHEST:
            raise NotProduced
        self._at = 0

    def restart(self) -> None:
        """Begin anew; where the rows begin later in the stream, without all that is before, if that can be."""
        self._at = 0
        if not self._first or not self.stream.ahead(self._first):
            self.stream.restart()

    def draw(self) -> int:
        """Let go of what was at hand, and get more: how far the elements go then, which is no farther at the end."""
        while True:
            end = self.stream.draw(self._first + self._at * self.step)
            stop = max(0, (end - self._first - self._reach) // self.step + 1)
            if not self.stream.ended:
                stop = stop // BLOCK * BLOCK
            if stop > self._at or self.stream.ended:
                self._at = max(self._at, stop)
                return self._at


__all__ = ["FARTHEST", "Paired", "Reading", "Strided", "rows", "strided"]
