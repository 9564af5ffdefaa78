"""What happened, in order: every arrow of the compiler appends to a Trace, and the report is made from it alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import field

from hastega_magic.records import dataclass

CELL = -1


@dataclass(frozen=True)
class Event:
    """One thing that happened. `group` counts the fused groups of statements of the cell; -1 is the cell itself."""

    kind: str
    group: int
    data: Mapping[str, object]


def is_ours(error: BaseException) -> bool:
    """Whether the exception is this package's own, of which reports do not tell."""
    return type(error).__module__.startswith(f"{__package__}.")


@dataclass
class Trace:
    """The events of one cell. `group` is the group that events belong to by default."""

    events: list[Event] = field(default_factory=list[Event])
    group: int = CELL
    _seen: tuple[list[Event], int, int] = field(default_factory=lambda: ([], 0, CELL))
    """A list of events, how many of them were looked at, and the last group among these: cells' loops add thousands."""

    def add(self, kind: str, **data: object) -> None:
        """Append an event of the current group."""
        self.events.append(Event(kind, self.group, data))

    def next_group(self) -> int:
        """Start the next fused group and return its number."""
        events, looked, last = self._seen
        if events is not self.events or looked > len(events):
            events, looked, last = self.events, 0, CELL
        last = max([last, *(event.group for event in events[looked:])])
        self._seen = events, len(events), last
        self.group = last + 1
        return self.group

    @contextmanager
    def phase(
        self, name: str, size: int = 0, by_python: bool = False, compiled: Callable[[], float] = float
    ) -> Generator[None]:
        """Time a phase (seconds on the monotonic clock) that moves `size` bytes.

        `by_python`: its stages are run by Python. `compiled`: seconds that this thread has compiled in all; what it
        compiles in this phase is done once, and counted as such.
        """
        start, before = time.perf_counter(), compiled()
        try:
            yield
        except BaseException as error:
            self.raised(error)
            raise
        finally:
            took = time.perf_counter() - start
            if once := compiled() - before:
                took -= once
                self.add("phase", name="compile", seconds=once, bytes=0)
            self.add("phase", name=name, seconds=took, bytes=size, python=took if by_python else None)

    def beside(self, name: str, seconds: float) -> None:
        """Note a phase of the cell itself, where it took any time."""
        if seconds > 0:
            self.events.append(Event("phase", CELL, {"name": name, "seconds": seconds, "bytes": 0}))

    def raised(self, error: BaseException) -> None:
        """Note what a group raised, unless that is this package's own, which is caught on its way."""
        if self.group != CELL and not is_ours(error):
            self.add("raised", error=type(error).__name__)

    def of(self, kind: str) -> list[Event]:
        """All events of a kind, in order."""
        return [event for event in self.events if event.kind == kind]
