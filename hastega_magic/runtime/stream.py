"""What one loop gives and the next one reads, piece by piece, in the same memory: nobody ever has all of it.

    range(n) |> cumsum |> max        some running sums, their maxima, the next running sums

A stream is read in order. Going back begins anew: computing twice takes time, having all of it takes memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol, overload

import numpy as np

from hastega_magic.ir.schedule import BLOCK
from hastega_magic.records import dataclass
from hastega_magic.runtime.buffers import AnyArray, allocate, look_after, trim, trim_before
from hastega_magic.runtime.python import structured

PIECE = 1 << 20
"""Elements that a producer is asked for at once, unless they are wide."""

_WIDE = 16
"""Bytes of an element from which on a piece has fewer: what is there at a time would grow with them."""

_FIRST, _LONGER = 1 << 14, 4
"""Elements of the first piece where some are enough, and how much longer the next ones are."""

_VECTOR = 64
"""Elements that lie at a multiple of this number keep whole vectors where they are in memory."""


class NotProduced(Exception):
    """An element needs Python or other code than all elements before it, or a loop cannot go through a stream."""


class Producer(Protocol):
    """Gives elements in order."""

    def restart(self) -> None:
        """The next elements are the first ones."""
        ...

    def give(self, rooms: Sequence[AnyArray], size: int) -> int | None:
        """Write the next elements, up to `size` of them, and say how many; None after the last.

        There is a room for each number of an element. Its first element lies where it would lie in memory of all
        elements, but for a multiple of a vector.
        """
        ...


@dataclass(frozen=True)
class Passed:
    """What is told of elements that went through a stream."""

    dtype: np.dtype[Any]
    elements: int
    pieces: int

    @property
    def nbytes(self) -> int:
        """What all of them would take."""
        return self.elements * self.dtype.itemsize


@dataclass(frozen=True)
class Cut:
    """Which elements make a stream: all but the first `skip`, of these each `stride`-th, and `limit` at most."""

    skip: int = 0
    stride: int = 1
    limit: int | None = None

    def of(self, count: int) -> int:
        """How many of so many elements are left."""
        left = max(0, -(-(count - self.skip) // self.stride))
        return left if self.limit is None else min(left, self.limit)

    def drop(self, count: int) -> Cut:
        """Without the first elements of those that are left."""
        limit = None if self.limit is None else max(0, self.limit - count)
        return replace(self, skip=self.skip + count * self.stride, limit=limit)

    def take(self, count: int) -> Cut:
        """At most so many of them."""
        return replace(self, limit=count if self.limit is None else min(self.limit, count))

    def every(self, number: int) -> Cut:
        """Those of them whose number is a multiple."""
        limit = None if self.limit is None else -(-self.limit // number)
        return Cut(self.skip, self.stride * number, limit)


def _flat(arrays: Sequence[AnyArray]) -> AnyArray:
    return arrays[0] if len(arrays) == 1 else structured(arrays)


_ALL = Cut()


class Stream:
    """A sequence of numbers, or of tuples of numbers, of which a window is there at a time, and no more."""

    def __init__(
        self,
        producer: Producer,
        dtypes: Sequence[str],
        most: int,
        cut: Cut = _ALL,
        form: Callable[[Sequence[AnyArray]], AnyArray] | None = None,
        fields: Sequence[int] | None = None,
    ) -> None:
        """`dtypes`: of an element's numbers. `most`: the producer gives so many elements at most.

        `form` makes elements of arrays of their numbers; where it is None, they are numbers or flat tuples of these.
        `fields`: of how many numbers each field of an element is made, two of a complex one (None: of one). None are
        told of where a field is a tuple itself.
        """
        self.form = form or _flat
        self.fields = (1,) * len(dtypes) if fields is None else tuple(fields)
        self.dtypes: tuple[np.dtype[Any], ...] = tuple(map(np.dtype, dtypes))
        width = sum(each.itemsize for each in self.dtypes)
        self.piece = max(BLOCK, PIECE // -(-width // _WIDE) // BLOCK * BLOCK)
        """Elements that the producer is asked for at once."""
        self._producer, self._cut, self._most = producer, cut, cut.of(most)
        self._buffers: list[AnyArray] = [np.empty(0, each) for each in self.dtypes]
        self._aside: list[AnyArray] = []
        self.pieces = 0
        """How many windows there were, from the first element on."""
        self._drawn = 0
        self.restart()

    def __len__(self) -> int:
        """How many elements there are at most."""
        return self._most

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of an element."""
        return self.form([np.empty(0, each) for each in self.dtypes]).dtype

    @property
    def ended(self) -> bool:
        """Whether nothing comes after what is at hand."""
        return self._ended

    def restart(self) -> None:
        """Begin anew."""
        self._producer.restart()
        self._given = self._start = self._drawn = 0
        self._low = self._high = 0
        self._left_out, self._ended = self._cut.skip, self._cut.limit == 0
        self._size = self.piece if self._cut.limit is None else min(_FIRST, self.piece)

    def ahead(self, place: int) -> bool:
        """Whether an element has not been let go of."""
        return place >= self._start

    @property
    def _stop(self) -> int:
        """Where what is at hand ends."""
        return self._start + self._high - self._low

    def draw(self, begin: int | None = None) -> int:
        """Let go of the elements before `begin`, or of all, and draw more: where they end.

        If there are none, nothing is let go of.
        """
        stop = self._stop
        if self._ended:
            return stop
        begin = stop if begin is None else min(max(begin, self._start), stop)
        self._keep(stop - begin)
        self._start = begin
        while not self._ended and (self._high - self._low < self.piece or self._stop == stop):
            self._fill()
        self._drawn += 1
        self.pieces = max(self.pieces, self._drawn)
        return self._stop

    def _keep(self, rest: int) -> None:
        """The last elements at the beginning of the memory, and room for more behind them."""
        high = rest + (self._given - rest) % _VECTOR
        room = max(2 * self.piece, rest + self.piece) + _VECTOR
        for number, old in enumerate(self._buffers):
            new = old if len(old) >= room else allocate(room, old.dtype.name)
            new[high - rest : high] = old[self._high - rest : self._high]
            self._buffers[number] = new
        self._low, self._high = high - rest, high

    def _fill(self) -> None:
        thin = self._cut.stride > 1
        ahead = slice(self._high, self._high + self.piece)
        rooms = self._rooms_aside() if thin else [each[ahead] for each in self._buffers]
        count = self._producer.give(rooms, self._size)
        self._size = min(self.piece, self._size * _LONGER)
        if count is None:
            self._ended = True
            return
        self._given += count
        if thin:
            kept = len(range(self._left_out, count, self._cut.stride))
            for buffer, room in zip(self._buffers, rooms, strict=True):
                buffer[self._high : self._high + kept] = room[self._left_out : count : self._cut.stride]
            self._left_out += kept * self._cut.stride - count
            self._high += kept
        else:
            self._high += count
            if self._left_out:
                out = min(self._left_out, count)
                self._left_out -= out
                self._keep(count - out)
        limit = self._cut.limit
        if limit is not None and self._stop >= limit:
            self._high, self._ended = self._low + limit - self._start, True

    def _rooms_aside(self) -> list[AnyArray]:
        """Memory for a piece of which few elements are kept."""
        self._aside = self._aside or [allocate(self.piece + _VECTOR, each.name) for each in self.dtypes]
        at = self._given % _VECTOR
        return [each[at : at + self.piece] for each in self._aside]

    def last(self, start: int, step: int, size: int, number: int = 0) -> AnyArray:
        """Of elements `start`, `start + step`, ... one number each of those after the last whole chunk of `size`."""
        while not self._ended:
            self.draw()
        whole = max(0, -(-(self._stop - start) // step)) // size
        return self.row(start + whole * size * step, self._stop, number)[::step]

    def pieces_of_elements(self) -> Iterator[AnyArray]:
        """All elements, from the first one on, in memory that is used again; the stream has not been read."""
        at = 0
        while (stop := self.draw()) > at:
            yield self.form([self.row(at, stop, number) for number in range(len(self.dtypes))])
            at = stop

    def gathered(self) -> AnyArray:
        """All elements; the stream has not been read."""
        size, at = self.dtype.itemsize, 0
        memory = allocate(len(self) * size, "uint8", packed=True)
        found = memory.view(self.dtype)
        for piece in self.pieces_of_elements():
            found[at : at + len(piece)] = piece
            at += len(piece)
            look_after([memory])
        return trim(memory, at * size).view(self.dtype)

    def gathered_backwards(self) -> AnyArray:
        """All elements, the last one first; the stream has not been read."""
        size = self.dtype.itemsize
        memory = allocate(len(self) * size, "uint8", packed=True)
        found, at = memory.view(self.dtype), len(self)
        for piece in self.pieces_of_elements():
            found[at - len(piece) : at] = piece[::-1]
            at -= len(piece)
            look_after([memory])
        return trim_before(memory, at * size).view(self.dtype)

    @overload
    def __getitem__(self, place: int) -> Any: ...
    @overload
    def __getitem__(self, place: slice) -> AnyArray: ...
    def __getitem__(self, place: int | slice) -> Any:
        """An element's first number, or those of some: as they lie, if all are there; IndexError beyond the end."""
        if isinstance(place, slice):
            start, stop, _ = place.indices(self._most)
            return self.row(start, max(start, stop))
        found = self.row(place, place + 1)
        if not len(found):
            raise IndexError(place)
        return found[0]

    def row(self, start: int, stop: int, number: int = 0) -> AnyArray:
        """One number of each of the elements `start` to `stop`, or of as many as there are."""
        if start < self._start:
            self.restart()
        parts: list[AnyArray] = []
        while True:
            first, last = max(start, self._start), min(stop, self._stop)
            if first < last:
                low = self._low - self._start
                parts.append(self._buffers[number][low + first : low + last])
            if stop <= self._stop:
                break
            before = self._stop
            if parts:
                parts[-1] = parts[-1].copy()
            if self.draw() == before:
                break
        if not parts:
            return self._buffers[number][:0]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)


__all__ = ["PIECE", "Cut", "NotProduced", "Passed", "Producer", "Stream"]
