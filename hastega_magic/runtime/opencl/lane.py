"""A lane: one host thread's queue, its buffers on the device, and its pinned staging memory.

Lanes are kept from launch to launch. Several of them overlap host copies, both transfers and the kernel.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pyopencl

from hastega_magic.runtime.opencl import Device
from hastega_magic.runtime.opencl.forms import Writable
from hastega_magic.runtime.sources import AnyArray

cl: Any = cast(Any, pyopencl)

_LEAST, _MOST = 1 << 20, 8 << 20
_UNSET = object()
_AMORTISED = 20


class Lane:
    """Buffers by name; one that is too small is replaced."""

    def __init__(self, device: Device) -> None:
        """Open a queue."""
        self.device = device
        self.context = device.context
        self.queue = device.queue()
        self._buffers: dict[str, Any] = {}
        self._staging: dict[str, tuple[Any, AnyArray]] = {}
        self._kernels: dict[tuple[str, bool, str], Any] = {}
        self._arguments: dict[tuple[str, bool, str], list[Any]] = {}

    def buffer(self, name: str, size: int) -> Any:
        """At least `size` bytes on the device."""
        found = self._buffers.get(name)
        if found is None or found.size < size:
            self._buffers.pop(name, None)
            self._arguments.clear()  # which would keep it alive
            found = self._buffers[name] = cl.Buffer(self.context, cl.mem_flags.READ_WRITE, max(size, 64))
        return found

    def staging(self, name: str, length: int, dtype: str) -> AnyArray:
        """Pinned host memory for `length` elements."""
        size = max(length * np.dtype(dtype).itemsize, 64)
        pair = self._staging.get(name)
        if pair is None or len(pair[1]) < size:
            self._staging.pop(name, None)
            flags = cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR
            pinned = cl.Buffer(self.context, flags, size)
            access = cl.map_flags.READ | cl.map_flags.WRITE
            view, _ = cl.enqueue_map_buffer(self.queue, pinned, access, 0, (size,), np.uint8)
            pair = self._staging[name] = (pinned, view)
        return pair[1][: length * np.dtype(dtype).itemsize].view(dtype)

    def over(self, array: AnyArray, alive: list[object]) -> Any:
        """A buffer over a host array, which must stay as long: `alive` keeps it."""
        writable = array if array.flags.writeable else np.asarray(Writable(array))
        alive += [array, writable]
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
        return cl.Buffer(self.context, flags, hostbuf=writable)

    def kernel(self, text: str, contract: bool, name: str) -> Any:
        """A kernel of its own: arguments of a kernel object must not be set by two threads."""
        key = (text, contract, name)
        if key not in self._kernels:
            with self.device.lock:  # drivers are not to be trusted with two threads in their compiler
                self._kernels[key] = cl.Kernel(self.device.built(text, contract), name)
        return self._kernels[key]

    def prepared(self, text: str, contract: bool, name: str, arguments: Sequence[Any]) -> Any:
        """The kernel with its arguments set: those that differ from the last call's."""
        kernel = self.kernel(text, contract, name)
        last = self._arguments.setdefault((text, contract, name), [_UNSET] * len(arguments))
        own = set(map(id, self._buffers.values()))  # others must not be kept alive by being remembered
        for number, value in enumerate(arguments):
            word = isinstance(value, np.integer)
            if value is None or not (value is last[number] or (word and value == last[number])):
                kernel.set_arg(number, value)
                last[number] = value if word or id(value) in own else _UNSET
        return kernel

    @property
    def device_bytes(self) -> int:
        """Bytes that the lane's buffers take on the device."""
        return sum(buffer.size for buffer in self._buffers.values())

    @property
    def staging_bytes(self) -> int:
        """Bytes of pinned host memory."""
        return sum(len(view) for _, view in self._staging.values())


def take(device: Device, count: int) -> list[Lane]:
    """So many lanes, kept ones first."""
    kept: list[Lane] = [device.kept.pop() for _ in range(min(count, len(device.kept)))]
    return kept + [Lane(device) for _ in range(count - len(kept))]


def give(device: Device, lanes: list[Lane]) -> None:
    """Keep the lanes for the next launch."""
    device.kept.extend(lanes)


def transfer_size(device: Device) -> int:
    """Bytes of a transfer for which its fixed cost is about a twentieth, measured once per device."""
    if not device.chunk_bytes:
        lane = Lane(device)
        try:
            staged, buffer = lane.staging("probe", _MOST // 4, "uint8"), lane.buffer("probe", _MOST // 4)
            cl.enqueue_copy(lane.queue, buffer, staged)
        except cl.MemoryError:
            return _LEAST
        fixed, whole = _seconds(lane, buffer, staged[:64]), _seconds(lane, buffer, staged)
        per_byte = max(whole - fixed, 1e-7) / len(staged)
        device.chunk_bytes = int(min(max(_AMORTISED * fixed / per_byte, _LEAST), _MOST))
    return device.chunk_bytes


def _seconds(lane: Lane, buffer: Any, staged: AnyArray) -> float:
    """The shortest of three transfers."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        cl.enqueue_copy(lane.queue, buffer, staged, is_blocking=True)
        best = min(best, time.perf_counter() - start)
    return best


def copy_seconds(lane: Lane, memory: AnyArray) -> tuple[float, float]:
    """The shortest of three transfers of the memory to the device, and back."""
    buffer = lane.buffer("copied", memory.nbytes)
    to = _seconds(lane, buffer, memory)
    back = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        cl.enqueue_copy(lane.queue, memory, buffer, is_blocking=True)
        back = min(back, time.perf_counter() - start)
    return to, back
