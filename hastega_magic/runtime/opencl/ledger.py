"""What a launch moved and how long it took: intervals on the device's clock and on the host's.

Transfers and kernels of several queues run at once, so a phase's time is that of the union of its intervals,
and the phases together may be longer than the launch.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import field
from typing import Any

from hastega_magic.records import dataclass

TO_DEVICE, KERNEL, FROM_DEVICE = "to_device", "kernel", "from_device"
CONVERT_IN, CONVERT_OUT, COMPILE = "convert_in", "convert_out", "compile"


def union(intervals: Iterable[tuple[float, float]]) -> float:
    """The length that the intervals cover together."""
    total, reached = 0.0, float("-inf")
    for start, end in sorted(intervals):
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total


@dataclass
class Ledger:
    """Collects what lanes report; usable from several threads. `seconds` is the launch by the host's clock."""

    seconds: float = 0.0
    _entries: dict[str, list[tuple[float, float]]] = field(
        default_factory=dict[str, list[tuple[float, float]]]
    )
    _bytes: dict[str, int] = field(default_factory=dict[str, int])
    _commands: list[tuple[str, Any, int]] = field(default_factory=list[tuple[str, Any, int]])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def host(self, phase: str, start: float, end: float, size: int) -> None:
        """An interval of the host's clock, in seconds."""
        with self._lock:
            self._entries.setdefault(phase, []).append((start, end))
            self._bytes[phase] = self._bytes.get(phase, 0) + size

    def device(self, phase: str, event: Any, size: int) -> None:
        """A command, by its profiling event; asked for its times when the launch is over, for that takes time."""
        with self._lock:
            self._commands.append((phase, event, size))

    def phases(self) -> list[tuple[str, float, int]]:
        """Name, seconds and bytes of every phase there was, in the order of the data's way."""
        commands, self._commands = self._commands, []
        for phase, event, size in commands:
            self.host(phase, event.profile.start * 1e-9, event.profile.end * 1e-9, size)
        names = (COMPILE, CONVERT_IN, TO_DEVICE, KERNEL, FROM_DEVICE, CONVERT_OUT)
        return [
            (name, union(self._entries[name]), self._bytes[name]) for name in names if name in self._entries
        ]

    @property
    def overlapped(self) -> float:
        """By how many seconds the phases together are longer than the launch, without what was compiled in it."""
        together, launch = self._spent()
        return max(0.0, together - launch)

    @property
    def running(self) -> float:
        """Seconds of the phases, what was compiled left out and what ran at once counted once."""
        return min(self._spent())

    def _spent(self) -> tuple[float, float]:
        """Seconds of the phases together, and of the launch, both without what was compiled."""
        spent = {name: seconds for name, seconds, _ in self.phases()}
        compiling = spent.pop(COMPILE, 0.0)
        return sum(spent.values()), max(0.0, self.seconds - compiling)
