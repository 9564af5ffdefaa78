"""A chunk's sources, as its kernels are given them: in the host's memory, on the device already, or sent there."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyopencl

from hastega_magic.runtime.opencl.beside import Neighbours, neighbours
from hastega_magic.runtime.opencl.lane import Lane
from hastega_magic.runtime.opencl.ledger import CONVERT_IN, TO_DEVICE
from hastega_magic.runtime.sources import AnyArray, Column, overlapping
from hastega_magic.types import Storage

if TYPE_CHECKING:
    from hastega_magic.runtime.opencl.chunk import ChunkRun

cl: Any = cast(Any, pyopencl)


class Inputs:
    """Elements `start` to `stop` of a run's sources, for kernels of the lane.

    `alive` keeps host memory that buffers use; `events` are the transfers, by phase, with their bytes.
    """

    def __init__(
        self,
        run: ChunkRun,
        lane: Lane,
        start: int,
        stop: int,
        alive: list[object],
        events: list[tuple[str, Any, int]],
    ) -> None:
        """Nothing is sent yet."""
        self.launch, self.ledger, self.lane = run.launch, run.launch.ledger, lane
        self.chunk, self.residents = run.plan.chunk, run.residents
        self.shared = run.plan.shared and not run.launch.memory
        self.start, self.stop, self.length = start, stop, stop - start
        self.alive, self.events = alive, events

    def given(self) -> list[list[Any]]:
        """The arguments of every source."""
        began, columns = time.perf_counter(), self.launch.columns
        read = overlapping(columns, self.start, self.stop)
        if read.arrays:
            self.ledger.host(CONVERT_IN, began, time.perf_counter(), read.nbytes)
        found: dict[int, list[Any]] = {}
        for near in self._neighbours(read.arrays):
            found |= self._together(near)
        return [
            found[slot] if slot in found else self._source(slot, column, read.arrays.get(slot))
            for slot, column in enumerate(columns)
        ]

    def _source(self, slot: int, column: Column, read: AnyArray | None) -> list[Any]:
        """What the kernel is given of a column. `read`: its elements, where others have them too."""
        data = column.data
        if isinstance(data, range):
            return [np.int64(data.start + self.start * data.step), np.int64(data.step)]
        began = time.perf_counter()
        array = column.array(self.start, self.stop) if read is None else read
        if self.shared:
            if column.source.kind == "list" and read is None:  # made of objects just now
                self.ledger.host(CONVERT_IN, began, time.perf_counter(), array.nbytes)
            return [self._wrapped(array, began)]
        resident = self.residents[slot]
        if resident is not None and resident.complete:
            resident.whole(self.lane, self.ledger)
            return [resident.region(self.start, self.stop)]
        if resident is None:
            return [self._sent(slot, array, 0, began)]
        return [self._sent(slot, array, 0, began, resident.part(self.lane, self.start, self.stop))]

    def _sent(self, slot: int, array: AnyArray, more: int, began: float, into: Any = None) -> Any:
        """The chunk's elements and `more`, on the device: in `into`, or (None) in a buffer of the lane's own."""
        storage = self._storage(slot)
        staged = self.lane.staging(f"in{slot}", self.chunk + more, storage.name)[: self.length + more]
        np.copyto(staged, array)
        self.ledger.host(CONVERT_IN, began, time.perf_counter(), staged.nbytes)
        buffer = self._room(slot, more) if into is None else into
        event = cl.enqueue_copy(self.lane.queue, buffer, staged, is_blocking=False)
        self.events.append((TO_DEVICE, event, staged.nbytes))
        return buffer

    def _room(self, slot: int, more: int = 0) -> Any:
        return self.lane.buffer(f"in{slot}", (self.chunk + more) * self._storage(slot).size)

    def _storage(self, slot: int) -> Storage:
        storage = self.launch.columns[slot].source.storage
        assert storage is not None
        return storage

    # What lies in one another

    def _neighbours(self, read: Mapping[int, AnyArray]) -> list[Neighbours]:
        """Sources to be sent together. With little memory each has its own share, which has no room for others."""
        if self.shared or self.launch.memory:
            return []
        arrays = {
            slot: read[slot] if slot in read else column.array(self.start, self.stop)
            for slot, column in enumerate(self.launch.columns)
            if self.residents[slot] is None and (slot in read or isinstance(column.data, np.ndarray))
        }
        return neighbours(arrays) if len(arrays) > 1 else []

    def _together(self, near: Neighbours) -> dict[int, list[Any]]:
        """One transfer; the device moves to each of the others what is theirs."""
        whole = self._sent(near.first, near.elements, near.more, time.perf_counter())
        found, size = {near.first: [whole]}, self._storage(near.first).size
        for slot, shift in near.shifts.items():
            buffer, within = self._room(slot), shift * size
            event = cl.enqueue_copy(
                self.lane.queue, buffer, whole, byte_count=self.length * size, src_offset=within
            )
            self.events.append((TO_DEVICE, event, 0))  # which crosses no bus
            found[slot] = [buffer]
        return found

    # The host's memory

    def _wrapped(self, array: AnyArray, began: float) -> Any:
        """The array as a buffer; copied only if it is not dense and in this machine's byte order."""
        if array.flags.c_contiguous and array.flags.aligned and array.dtype.isnative:
            return self.lane.over(array, self.alive)
        dense = array.astype(array.dtype.newbyteorder("="), order="C", copy=True)
        self.ledger.host(CONVERT_IN, began, time.perf_counter(), dense.nbytes)
        return self.lane.over(dense, self.alive)


__all__ = ["Inputs"]
