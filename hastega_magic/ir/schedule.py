"""How a kernel is laid onto the machine."""

from __future__ import annotations

from dataclasses import replace

from hastega_magic.records import dataclass

BLOCK = 4096
"""Elements of a block: the unit of work, of error reporting and of the reduction tree."""

HANDOVER = 8
"""Blocks at most whose packed results or running values are handed over at once: they wait in a level-2 cache."""

VIRTUAL_LANES = 64
"""Accumulators of a floating-point reduction, whatever the vector width, so that every width gives the same bits."""


@dataclass(frozen=True)
class Schedule:
    """lanes: elements of a vector; in_flight: vectors computed side by side; lanes · in_flight divides 64.

    `grain` blocks at most are claimed at a time by a thread; `stream` asks for stores that bypass the cache; `prefetch`
    is how many bytes ahead dense sources are asked for. `refill`: lanes whose element has made the turns of the loop
    inside take the next one, in place of waiting for all others. A turn goes through `parts` equal parts of the block
    side by side, with as many of its vectors in each: pages that are read and written at the same time hide what it
    takes to begin the next.
    """

    lanes: int
    in_flight: int
    grain: int = 4
    stream: bool = False
    prefetch: int = 0
    refill: bool = False
    parts: int = 1

    @property
    def step(self) -> int:
        """Elements computed in one turn of the inner loop."""
        return self.lanes * self.in_flight


@dataclass(frozen=True)
class Tuned:
    """What tuning decided of a schedule and of how it is run; what is 0 or None is as the compiler would have it.

    `threads`: at most so many. `chunk`: elements that an OpenCL device is given at a time.
    """

    lanes: int = 0
    in_flight: int = 0
    grain: int = 0
    stream: bool | None = None
    prefetch: int | None = None
    threads: int = 0
    chunk: int = 0

    def over(self, own: Schedule) -> Schedule:
        """The schedule with these decisions, of which `lanes` are made already."""
        in_flight = min(self.in_flight or own.in_flight, VIRTUAL_LANES // own.lanes)
        return replace(
            own,
            in_flight=in_flight,
            parts=min(own.parts, in_flight),
            grain=self.grain or own.grain,
            stream=own.stream if self.stream is None else self.stream and own.stream,
            prefetch=own.prefetch if self.prefetch is None else self.prefetch,
        )


UNTUNED = Tuned()
