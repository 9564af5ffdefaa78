"""How a kernel is laid onto the machine."""

from __future__ import annotations

from dataclasses import dataclass

BLOCK = 4096
"""Elements of a block: the unit of work, of error reporting and of the reduction tree."""

VIRTUAL_LANES = 64
"""Accumulators of a floating-point reduction, whatever the vector width, so that every width gives the same bits."""


@dataclass(frozen=True)
class Schedule:
    """lanes: elements of a vector; in_flight: vectors computed side by side; lanes · in_flight divides 64.

    `grain` blocks are claimed at a time by a thread; `stream` asks for stores that bypass the cache; `prefetch` is how
    many bytes ahead dense sources are asked for.
    """

    lanes: int
    in_flight: int
    grain: int = 4
    stream: bool = False
    prefetch: int = 0

    @property
    def step(self) -> int:
        """Elements computed in one turn of the inner loop."""
        return self.lanes * self.in_flight
