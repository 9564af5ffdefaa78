"""What one loop gives and the next one reads, piece by piece, in the same memory: nobody ever has all of it.

    range(n) |> cumsum |> max        some running sums, their maxima, the next running sums

A stream is read in order. Going back begins anew: computing twice takes time, having all of it takes memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, overload

import numpy as np

from hastega_magic.ir.schedule import BLOCK
from hastega_magic.runtime.buffers import AnyArray, allocate

PIECE = 1 << 20
"""Elements that a producer is asked for at once."""

_FIRST, _LONGER = 1 << 14, 4
"""Elements of the first piece where some are enough, and how much longer the next ones are."""

_VECTOR = 64
"""Elements that lie at a multiple of this number keep whole vectors where they are in memory."""


class Producer(Protocol):
    """Gives elements in order."""

    def restart(self) -> None:
        """The next elements are the first ones."""
        ...

    def give(self, room: AnyArray, size: int) -> int | None:
        """Write the next elements, up to `size` of them, and say how many; None after the last.

        The room's first element lies where it would lie in memory of all elements, but for a multiple of a vector.
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


class Stream:
    """A sequence of numbers of which one window is there at a time: whole blocks, and the rest at its end."""

    def __init__(
        self, producer: Producer, dtype: str, most: int, skip: int = 0, limit: int | None = None
    ) -> None:
        """`most`: so many elements at most. `skip`: the first ones that are left out; `limit`: how many then follow."""
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self._producer = producer
        self._skip, self._limit = skip, limit
        self._most = max(0, most - skip) if limit is None else min(limit, max(0, most - skip))
        self._buffer: AnyArray = np.empty(0, self.dtype)
        self.pieces = 0
        """How many windows there were, from the first element on."""
        self._drawn = 0
        self.restart()

    def __len__(self) -> int:
        """How many elements there are at most."""
        return self._most

    def restart(self) -> None:
        """Begin anew."""
        self._producer.restart()
        self._given = self._start = self._stop = self._drawn = 0
        self._low = self._high = 0
        self._left_out, self._ended = self._skip, self._limit == 0
        self._size = PIECE if self._limit is None else min(_FIRST, PIECE)

    def draw(self) -> int:
        """Let go of the window, and draw the next one: where it ends, which is the end of all if there is none."""
        if self._stop == self._start + self._high - self._low and self._ended:
            return self._stop
        if not len(self._buffer):
            self._buffer = allocate(2 * PIECE + _VECTOR, self.dtype.name)
        self._keep(self._start + self._high - self._low - self._stop)
        self._start = self._stop
        while not self._ended and self._high - self._low < PIECE:
            self._fill()
        held = self._high - self._low
        self._stop = self._start + (held if self._ended else held // BLOCK * BLOCK)
        self._drawn += 1
        self.pieces = max(self.pieces, self._drawn)
        return self._stop

    def _keep(self, rest: int) -> None:
        """The last elements at the beginning of the memory, and room for more behind them."""
        high = rest + (self._given - rest) % _VECTOR
        self._buffer[high - rest : high] = self._buffer[self._high - rest : self._high]
        self._low, self._high = high - rest, high

    def _fill(self) -> None:
        count = self._producer.give(self._buffer[self._high : self._high + PIECE], self._size)
        self._size = min(PIECE, self._size * _LONGER)
        if count is None:
            self._ended = True
            return
        self._given += count
        self._high += count
        if self._left_out:
            out = min(self._left_out, count)
            self._left_out -= out
            self._keep(count - out)
        if self._limit is not None and self._start + self._high - self._low >= self._limit:
            self._high, self._ended = self._low + self._limit - self._start, True

    @overload
    def __getitem__(self, place: int) -> Any: ...
    @overload
    def __getitem__(self, place: slice) -> AnyArray: ...
    def __getitem__(self, place: int | slice) -> Any:
        """An element, or some in a row: as they are where they lie, if all are there; IndexError beyond the end."""
        if isinstance(place, slice):
            start, stop, _ = place.indices(self._most)
            return self._between(start, max(start, stop))
        found = self._between(place, place + 1)
        if not len(found):
            raise IndexError(place)
        return found[0]

    def _between(self, start: int, stop: int) -> AnyArray:
        if start < self._start:
            self.restart()
        parts: list[AnyArray] = []
        while True:
            first, last = max(start, self._start), min(stop, self._stop)
            if first < last:
                low = self._low - self._start
                parts.append(self._buffer[low + first : low + last])
            if stop <= self._stop:
                break
            before = self._stop
            if parts:
                parts[-1] = parts[-1].copy()
            if self.draw() == before:
                break
        if not parts:
            return self._buffer[:0]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)


__all__ = ["PIECE", "Passed", "Producer", "Stream"]
