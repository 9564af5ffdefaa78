"""How a launch is cut: elements of a chunk, lanes that run chunks side by side, and whether memory is shared."""

from __future__ import annotations

from collections.abc import Sequence

from hastega_magic.ir import abi
from hastega_magic.ir.device import bus_storages
from hastega_magic.ir.kernel import Kernel
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.records import dataclass
from hastega_magic.runtime.opencl import DeviceError, DeviceInfo
from hastega_magic.types import RESULT_STORAGE

STAGING = 256 << 20
"""Bytes of pinned host memory that a launch uses at most."""

SHARED_CHUNK = 1 << 20
"""Elements of a chunk where nothing is copied: some milliseconds, so that Ctrl-C is answered soon."""

LEAST_CHUNK = 16 * BLOCK
"""Elements of a chunk, if there are so many and memory allows it."""

LANES = 6
"""Host threads: more of them wait for the interpreter and the driver, and gain nothing (measured on an H200)."""
_FILL = 0.75
"""Part of a device's memory that is used."""


@dataclass(frozen=True)
class Plan:
    """`chunk`: elements, a multiple of the block; `lanes`: host threads; `shared`: buffers are host arrays."""

    chunk: int
    lanes: int
    shared: bool


@dataclass(frozen=True)
class Sizes:
    """Bytes per element: what goes in, what comes out, and what the device holds besides."""

    inward: int
    outward: int
    extra: int
    widest: int

    @property
    def device(self) -> int:
        """Bytes on the device per element."""
        return self.inward + self.outward + self.extra


def sizes(kernel: Kernel, narrow: bool) -> Sizes:
    """The kernel's sizes; results as wide as they can become (a later variant may narrow less)."""
    inward = [source.storage.size for source in kernel.sources if source.storage is not None]
    bus = bus_storages(kernel, narrow)
    plan = abi.layout(kernel)
    full = [RESULT_STORAGE[store.value.type].size for store in plan.stores]
    packed = sum(size for size, group in zip(full, plan.groups, strict=True) if group is not None)
    few = max(1, plan.group_count)  # statuses, partial results, counts: at most some hundred bytes a block
    widest = max([*inward, *(each.size for each in bus)], default=8)
    return Sizes(sum(inward), sum(full), packed + few, widest)


def cut(
    info: DeviceInfo,
    kernel: Kernel,
    length: int,
    *,
    tables: int,
    memory: int,
    transfer: int,
    threads: int,
    shared: bool,
    chunk: int = 0,
) -> Plan:
    """The cut of `length` elements.

    tables    bytes of captured arrays, which stay on the device
    memory    bytes that may be used there (0: most of what there is)
    transfer  bytes of a transfer that amortise its fixed cost
    chunk     elements of a chunk where nothing speaks against it (0: as many as `transfer` suggests)
    DeviceError where a single block does not fit.
    """
    blocks = max(1, -(-length // BLOCK))
    each = sizes(kernel, not shared)
    room = (memory or int(info.memory * _FILL)) - tables
    largest = max(1, info.allocation // max(each.widest, 8))
    if shared and not memory:
        chunk = min(chunk or SHARED_CHUNK, largest, blocks * BLOCK)
        lanes = 2 if chunk < blocks * BLOCK else 1
    else:
        chunk = min(chunk or max(transfer // each.widest, LEAST_CHUNK), largest, blocks * BLOCK)
        lanes = max(1, min(LANES, threads, -(-blocks * BLOCK // chunk)))
    per_element = max(1, each.extra if shared and not memory else each.device)
    while lanes * chunk * per_element > room and lanes > 2:
        lanes -= 1
    chunk = min(chunk, room // (lanes * per_element))
    if chunk < BLOCK:
        lanes, chunk = 1, min(BLOCK, room // per_element)
    if not shared or memory:
        staged = max(1, each.inward + each.outward)
        chunk = min(chunk, max(BLOCK, STAGING // (lanes * staged)))
    if chunk < BLOCK:
        needed = (BLOCK * per_element + tables) / (1 << 20)
        raise DeviceError(
            f"{info.name} has too little memory: a block of this loop and its captured arrays need {needed:.1f} MiB, "
            f"and {(room + tables) / (1 << 20):.1f} MiB may be used"
        )
    return Plan(chunk // BLOCK * BLOCK, lanes, shared)


def chunks(plan: Plan, stop: int, first: int = 0) -> Sequence[tuple[int, int]]:
    """First element and end of every chunk of elements `first` to `stop`."""
    return [(start, min(start + plan.chunk, stop)) for start in range(first, stop, plan.chunk)]
