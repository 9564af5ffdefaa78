"""Inputs that stay on the device for later loops of the same cell.

Who may run Python code between two loops (the session, the driver) calls `Device.forget` first: an array
that may have changed is sent again.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import pyopencl

from hastega_magic.runtime.opencl import Device
from hastega_magic.runtime.sources import AnyArray, Column

cl: Any = cast(Any, pyopencl)

_PART = 0.25
"""Of a device's memory, what kept inputs may take."""


@dataclass
class Resident:
    """A whole input on the device. `array` keeps the host's memory from becoming another array's."""

    array: AnyArray
    buffer: Any
    complete: bool = False

    def region(self, start: int, stop: int) -> Any:
        """Elements `start` to `stop`; `start` is a multiple of the block, which aligns every element size."""
        size = self.array.itemsize
        if (stop - start) * size == self.buffer.size:
            return self.buffer
        return self.buffer.get_sub_region(start * size, (stop - start) * size)


def prepare(device: Device, columns: Sequence[Column], length: int) -> list[Resident | None]:
    """For each column the input that is on the device, or room for it; None where it is not to be kept."""
    kept: dict[Hashable, Resident] = cast("dict[Hashable, Resident]", device.resident)
    found: list[Resident | None] = []
    for column in columns:
        if column.source.kind != "array" or not length:
            found.append(None)
            continue
        array = column.array(0, length)
        pointer = array.__array_interface__["data"][0]
        key = (pointer, length, array.strides, array.dtype.str)
        if key not in kept:
            size = length * array.itemsize
            if sum(each.buffer.size for each in kept.values()) + size > _room(device, size):
                found.append(None)
                continue
            kept[key] = Resident(array, cl.Buffer(device.context, cl.mem_flags.READ_ONLY, size))
        found.append(kept[key])
    return found


def _room(device: Device, size: int) -> int:
    return int(device.info.memory * _PART) if size <= device.info.allocation else 0
