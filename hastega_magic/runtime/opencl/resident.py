"""Arrays that stay on the device for later loops of the same cell: inputs, captured arrays, and results.

Who may run Python code between two loops (the session, the driver) calls `Device.forget` first: an array
that may have changed is sent again.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import field
from typing import Any, cast

import numpy as np
import pyopencl

from hastega_magic.records import dataclass
from hastega_magic.runtime.opencl import Device
from hastega_magic.runtime.opencl.beside import neighbours
from hastega_magic.runtime.opencl.lane import Lane
from hastega_magic.runtime.opencl.ledger import KERNEL, Ledger
from hastega_magic.runtime.signals import held_back
from hastega_magic.runtime.sources import AnyArray, Column

cl: Any = cast(Any, pyopencl)

_WIDEN = """__kernel void widen(__global const {narrow} *restrict from, __global long *restrict to, const long length)
{{
    const long i = get_global_id(0);
    if (i < length) to[i] = from[i];
}}
"""
_ITEMS = 64


@dataclass
class Resident:
    """A whole array on the device. `array` keeps the host's memory from becoming another array's.

    name      the element type there: of int64 results it may be a narrower one, until they are read
    complete  whether all elements are there; `spoilt`: some never will be
    """

    array: AnyArray
    buffer: Any
    name: str
    complete: bool = False
    spoilt: bool = False
    _parts: dict[int, Any] = field(default_factory=dict[int, Any])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def key(self) -> Hashable:
        """What tells it from other arrays: place, length and layout."""
        return _key(self.array)

    @property
    def taken(self) -> int:
        """Bytes on the device at most: its parts are there too until they are joined, and its wide form may come."""
        settled = self.complete and self.name == self.array.dtype.name
        return self.buffer.size + (0 if settled else self.array.nbytes)

    def is_for(self, name: str) -> bool:
        """Whether elements of this type can be put into it; if not, it never becomes complete."""
        self.spoilt = self.spoilt or name != self.name
        return not self.spoilt

    def part(self, lane: Lane, start: int, stop: int) -> Any:
        """Room for elements `start` to `stop`, until all are there.

        Buffers of their own: drivers let queues wait for each other that write to regions of one buffer.
        """
        size = (stop - start) * np.dtype(self.name).itemsize
        if size == self.buffer.size:
            return self.buffer
        found = self._parts[start] = cl.Buffer(lane.context, cl.mem_flags.READ_WRITE, size)
        return found

    def join(self, lane: Lane) -> None:
        """All elements are there: put the parts together."""
        size = np.dtype(self.name).itemsize
        for start, part in self._parts.items():
            cl.enqueue_copy(lane.queue, self.buffer, part, byte_count=part.size, dst_offset=start * size)
        if self._parts:
            lane.queue.finish()
            self._parts.clear()
        self.complete = True

    def region(self, start: int, stop: int) -> Any:
        """Elements `start` to `stop`; `start` is a multiple of the block, which aligns every element size."""
        size = np.dtype(self.name).itemsize
        if start == 0 and stop * size == self.buffer.size:
            return self.buffer
        return self.buffer.get_sub_region(start * size, (stop - start) * size)

    def whole(self, lane: Lane, ledger: Ledger) -> Any:
        """All elements, as wide as the host has them; widened on the device when first asked for."""
        with self._lock:
            if self.name != self.array.dtype.name:
                length = len(self.array)
                wide = cl.Buffer(lane.context, cl.mem_flags.READ_WRITE, self.array.nbytes)
                narrow = {"int8": "char", "int16": "short", "int32": "int"}[self.name.removeprefix("u")]
                text = _WIDEN.format(narrow=f"u{narrow}" if self.name.startswith("u") else narrow)
                kernel = lane.kernel(text, False, "widen")
                kernel.set_args(self.buffer, wide, np.int64(length))
                items = -(-length // _ITEMS) * _ITEMS

                def run() -> Any:
                    event = cl.enqueue_nd_range_kernel(lane.queue, kernel, (items,), (_ITEMS,))
                    event.wait()
                    return event

                event = held_back(run)
                ledger.device(KERNEL, event, 0)
                self.buffer, self.name = wide, self.array.dtype.name
            return self.buffer


def _key(array: AnyArray) -> Hashable:
    return array.__array_interface__["data"][0], len(array), array.strides, array.dtype.str


def known(device: Device, array: AnyArray) -> Resident | None:
    """The array as it is on the device, if it is."""
    found: Resident | None = device.resident.get(_key(array))
    return found if found is not None and found.complete else None


def add(device: Device, kept: Iterable[Resident], lane: Lane) -> None:
    """Keep what is whole."""
    for each in kept:
        if not each.spoilt:
            each.join(lane)
            device.resident[each.key] = each


def taken(kept: Iterable[Resident]) -> int:
    """Bytes on the device that they take at most."""
    return sum(each.taken for each in kept)


def prepare(
    device: Device,
    columns: Sequence[Column],
    length: int,
    wanted: Collection[str],
    most: int,
    together: bool,
) -> list[Resident | None]:
    """For each column the array that is on the device, or room for a wanted one; None where it is not to be kept.

    All that is kept takes at most `most` bytes. `together`: neighbours are sent once; to be kept each would be sent by
    itself.
    """
    kept: dict[Hashable, Resident] = device.resident
    found: list[Resident | None] = [None] * len(columns)
    if not length:
        return found
    arrays = {
        slot: column.array(0, length) for slot, column in enumerate(columns) if column.source.kind == "array"
    }
    found_near = neighbours(arrays) if together else []
    near = {slot for each in found_near for slot in (each.first, *each.shifts)}
    for slot, array in arrays.items():
        if _key(array) not in kept and columns[slot].source.name in wanted and slot not in near:
            for each in room(device, [(0, array.dtype.name, array)], most).values():
                kept[each.key] = each
        found[slot] = kept.get(_key(array))
    return found


def room(device: Device, wanted: Iterable[tuple[int, str, AnyArray]], most: int) -> dict[int, Resident]:
    """Buffers for whole arrays, of a number, an element type and the host's array each; fewer where memory is short.

    All that is kept takes at most `most` bytes.
    """
    found: dict[int, Resident] = {}
    left = most - taken(device.resident.values())
    for number, name, array in wanted:
        size = len(array) * np.dtype(name).itemsize
        left -= size + array.nbytes
        if not size or size > device.info.allocation or left < 0:
            break
        found[number] = Resident(array, cl.Buffer(device.context, cl.mem_flags.READ_WRITE, size), name)
    return found
