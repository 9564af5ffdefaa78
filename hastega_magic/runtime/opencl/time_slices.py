"""Launches of kernels whose elements make turns of loops: none takes long, so that the user can stop between them.

Blocks that are LATE are run again with a limit sixteen times as high, and with higher limits fewer blocks at once.
What a kernel needed is remembered: loops that make many turns, and end, begin there the next time.
"""

from __future__ import annotations

from collections.abc import Iterator

from hastega_magic.runtime.opencl import Device

FIRST = 1 << 20
"""Operations in a block's turns: some milliseconds."""

_LONGER = 16
_AT_ONCE = 1 << 26
"""Operations, in turns, of the blocks that one of a device's units runs in a launch: some tenths of a second."""

_GROUPS = 8
"""Blocks that a unit of a GPU runs side by side."""

_LEAST, _LEAST_KNOWN = 1, 4
"""Blocks of a launch for each that can run at once, so that they balance; more where the kernel is known to end."""


def begin(device: Device, text: str) -> int:
    """The limit of the first launch."""
    return device.patience.get(text, FIRST)


def longer(limit: int) -> int:
    """The next limit."""
    return min(limit * _LONGER, 1 << 62)


def learn(device: Device, text: str, limit: int) -> None:
    """Within this limit all blocks came to their end."""
    device.patience[text] = limit


def parts(device: Device, text: str, blocks: int, limit: int) -> Iterator[tuple[int, int]]:
    """First block and number of blocks of each launch."""
    least = _LEAST_KNOWN if device.patience.get(text, 0) >= limit else _LEAST
    units = device.info.units * (1 if device.info.kind == "cpu" else _GROUPS)
    size = max(least, _AT_ONCE // limit) * units
    for first in range(0, blocks, size):
        yield first, min(size, blocks - first)
