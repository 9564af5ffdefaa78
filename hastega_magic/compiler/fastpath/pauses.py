"""Runs of ordinary code that are left to Python after others failed: what comes later may be another matter.

[f(x) for x in xs]      over strings, three times: Python's for 16 runs, then tried again; for 32, if that fails
"""

from __future__ import annotations

from hastega_magic.records import dataclass

_TRIES = 3
"""After so many failures in a row there is a pause, and after each further one."""

_FIRST = 16
"""Runs of the first pause; each is twice as long as the one before, so that trying costs ever less of the time."""

_LONGEST = 64
"""After results with NaN Python runs the code up to so often before another way is tried."""


@dataclass
class Pauses:
    """How the last runs of one piece of code went, and how many of the next ones are Python's for that."""

    _failures: int = 0
    _nans: int = 0
    """How often NaN was in the result, one time after the other."""
    _raises: int = 0
    """How often an element raised, one time after the other."""
    _left: int = 0
    """Runs that are left to Python for failures; what follows, for elements that raised and for NaN."""
    _for_raising: int = 0
    _for_nan: int = 0
    _why: str = ""

    def failed(self, why: str) -> str:
        """It cannot be compiled; the reason."""
        self._failures, self._why = self._failures + 1, why
        if self._failures >= _TRIES:
            self._left = _FIRST << (self._failures - _TRIES)
        return why

    def compiled(self) -> None:
        """It can be."""
        self._failures = self._left = 0

    def found_nan(self) -> None:
        """NaN was in the result of a loop."""
        self._for_nan, self._nans = min(1 << self._nans, _LONGEST) - 1, self._nans + 1

    def found_none(self) -> None:
        """None was, and no element raised."""
        self._nans = self._raises = 0

    def raised(self) -> None:
        """An element raised, and Python ran the code again: what a loop takes before that is lost."""
        self._raises += 1
        if self._raises >= _TRIES:
            self._for_raising = _FIRST << (self._raises - _TRIES)

    def for_raising(self) -> bool:
        """Whether this run is Python's as elements raised in those before."""
        self._for_raising -= (paused := self._for_raising > 0)
        return paused

    def for_nan(self) -> bool:
        """Whether this run is Python's as NaN was in the results of those before."""
        self._for_nan -= (paused := self._for_nan > 0)
        return paused

    def for_failures(self) -> str:
        """Why this run is Python's as those before failed; "" if it is not."""
        self._left -= (paused := self._left > 0)
        return self._why if paused else ""


__all__ = ["Pauses"]
