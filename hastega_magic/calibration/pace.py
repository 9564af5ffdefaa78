"""How a calibration keeps to its time: each part has a moment at which it should begin, and what is late is cut short.

On a machine that nobody else uses all parts begin in time, and nothing is cut.
"""

from __future__ import annotations

import math
import time

from hastega_magic.records import dataclass


@dataclass
class Pace:
    """The time of one calibration, in seconds by the clock. `hurried`: the part under way began late."""

    limit: float = math.inf
    began: float = 0.0
    hurried: bool = False

    def start(self, limit: float) -> None:
        """All of it has so many seconds from now on."""
        self.limit, self.began, self.hurried = limit, time.perf_counter(), False

    def stop(self) -> None:
        """What is measured now has as much time as it takes."""
        self.limit, self.hurried = math.inf, False

    def part(self, share: float) -> bool:
        """A part begins that should begin before this share of the time is over; whether it is late."""
        self.hurried = time.perf_counter() - self.began > share * self.limit
        return self.hurried

    def until(self, within: float) -> float:
        """When a part has to end that should take so many seconds: a third of them where it is late."""
        return time.perf_counter() + (within / 3 if self.hurried else within)


PACE = Pace()
"""That of the calibration under way."""

__all__ = ["PACE", "Pace"]
