"""A loop as the producer of a stream: its stored elements, piece by piece, each piece where the last one was."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import field

import numpy as np

from hastega_magic.ir import abi
from hastega_magic.ir.kernel import TROUBLE, VIOLATED
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.progress import Task
from hastega_magic.records import dataclass
from hastega_magic.runtime.cpu.launch import Launch, Variant
from hastega_magic.runtime.loop_result import LoopResult
from hastega_magic.runtime.sources import AnyArray, Column, streamed
from hastega_magic.runtime.stream import NotProduced
from hastega_magic.runtime.tables import TableColumn


@dataclass
class Spent:
    """Seconds of native code and of the words for it; bytes of sources and results, and of converted sources."""

    kernel: float = 0.0
    convert: float = 0.0
    bytes: int = 0
    moved_in: int = 0


@dataclass
class Produced:
    """A loop that stores elements, as a `Producer`. The variants are as in a Job, and begin with number `first`.

    `ordered`: the last variant may give other bits, so that all elements have to be of it, or of those before it.
    """

    variant: Callable[[int], Variant]
    variants: int
    first: int
    learn: Callable[[int], None]
    ordered: bool
    columns: Sequence[Column]
    tables: Sequence[TableColumn]
    length: int
    threads: int
    behind: Callable[[], AnyArray] | None = None
    """What comes after the last element that the loop stores, once there are no more."""
    spent: list[Spent] = field(default_factory=list[Spent])
    """Since each time that it began."""
    reached: int = 0
    """How many of the sources' elements it has come to."""
    given: int = 0
    """Elements, from the first one on."""
    _at: int = 0
    _drawn: int = 0
    """Where the window of the stream ends that is read."""
    _given: int = 0
    _ended: bool = False
    _shared: AnyArray = field(default_factory=lambda: np.empty(0, np.int64))
    _launch: Launch | None = None

    def __post_init__(self) -> None:
        """Look for the stream among the columns."""
        self._reading = streamed(self.columns)

    def restart(self) -> None:
        """The next elements are the first ones."""
        self._at = self._drawn = self._given = 0
        self._launch, self._ended = None, False
        self.spent.append(Spent())
        if self._reading is not None:
            self._reading.restart()

    def give(self, rooms: Sequence[AnyArray], size: int) -> int | None:
        """The elements that the loop stores for the next piece of its sources; NotProduced, see there."""
        start, end = self._at, self.length
        if self._reading is not None:
            if start == self._drawn:
                self._drawn = self._reading.draw()
            end = min(end, self._drawn)  # a window may be longer than a piece
        stop = min(start + size, end)
        if start >= stop:
            return self._last(rooms)
        self._at = stop
        blocks = slice(start // BLOCK, -(-stop // BLOCK))
        while left := self._run(start, stop, blocks, rooms):
            if self.first + 1 >= self.variants - self.ordered:
                raise NotProduced
            self.first += 1
            if 2 * left > blocks.stop - blocks.start:
                self.learn(self.first)
        result = self._result
        group = result.groups[0]
        count = stop - start if group is None else int(result.kept[blocks, group].sum())
        result.before += count
        self._given += count
        self.given = max(self.given, self._given)
        self.reached = max(self.reached, stop)
        read = sum(each.source.storage.size for each in self.columns if each.source.storage is not None)
        written = sum(room.itemsize for room in rooms)
        self.spent[-1].bytes += count * written + (stop - start) * read
        return count

    def _last(self, rooms: Sequence[AnyArray]) -> int | None:
        """What comes behind, if that has not been given; NotProduced where it is of another type."""
        if self.behind is None or self._ended:
            return None
        found, self._ended = self.behind(), True
        if len(found) and (len(rooms) > 1 or found.dtype != rooms[0].dtype):
            raise NotProduced
        for room in rooms[: len(found)]:
            room[: len(found)] = found
        self._given += len(found)
        self.given = max(self.given, self._given)
        return len(found)

    @property
    def _result(self) -> LoopResult:
        assert self._launch is not None
        assert self._launch.result is not None
        return self._launch.result

    def _begin(self, plan: abi.Layout) -> Launch:
        """Statuses and counts of all blocks, and what goes on from piece to piece."""
        quiet, blocks = Task("", 0), -(-self.length // BLOCK)
        kept = np.zeros((blocks, max(1, plan.group_count)), np.int64)
        result = LoopResult(self.length, [], [], np.zeros(blocks, np.uint8), kept, plan.groups)
        self._shared = np.zeros(plan.shared_words, np.int64)
        self._launch = Launch(
            self.columns, self.tables, self.length, self.threads, time.perf_counter, quiet, result=result
        )
        return self._launch

    def _run(self, start: int, stop: int, blocks: slice, arrays: Sequence[AnyArray]) -> int:
        """How many blocks of the piece the variant could not compute; nothing has happened if there are any."""
        body = self.variant(self.first)
        plan = abi.layout(body.kernel)
        launch = self._launch or self._begin(plan)
        result, shared = self._result, self._shared.copy()
        if len(shared) != plan.shared_words or result.groups != plan.groups:
            raise NotProduced
        result.arrays = list(arrays)
        result.kernel_seconds = result.convert_seconds = 0.0
        result.moved_in = 0
        launch.run_piece(plan, body.program, start, stop, None, shared)
        spent = self.spent[-1]
        spent.kernel += result.kernel_seconds
        spent.convert += result.convert_seconds
        spent.moved_in += result.moved_in
        found = result.status[blocks].tobytes()
        if TROUBLE in found:
            raise NotProduced
        if VIOLATED in found:
            result.status[blocks] = 0
            return found.count(VIOLATED)
        self._shared = shared
        return 0


__all__ = ["Produced", "Spent"]
