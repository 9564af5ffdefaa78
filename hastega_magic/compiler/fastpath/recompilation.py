"""Pipelines that many of their runs would compile anew: what that takes is held against what Python takes.

for i in range(1000):
    known = {i, i + 1}
    y = xs |> filter(lambda x: x in known) |> count     the set is a constant of the code, another one in each turn
"""

from __future__ import annotations

import math

from hastega_magic.compiler.outcome import Outcome
from hastega_magic.records import dataclass

_COMPILED = 3
"""After so many runs that compiled it may be asked what compiling is for."""

_OFTEN = 4
"""More than one run in so many was compiled anew, or would have been."""

_LOST = 3
"""Where it has taken longer so many times more often than not, it is not asked any more."""


@dataclass
class Recompilation:
    """How often one pipeline was compiled in its runs, or would have been, and what that took."""

    runs: int = 0
    _least: float = math.inf
    """Seconds of a run that compiled."""
    _compiled: int = 0
    _spared: int = 0
    _lost: int = 0

    @property
    def sparing(self) -> float:
        """Seconds that a run takes which compiles; 0 where too few do to say that the next one is for itself alone."""
        often = self._compiled >= _COMPILED and _OFTEN * (self._compiled + self._spared) > self.runs
        return self._least if often and self._lost < _LOST else 0.0

    def spared(self, outcome: Outcome, seconds: float) -> bool:
        """Whether nothing of it was compiled, as Python was to take less. `seconds`: what it took."""
        execution = outcome.execution
        if execution is None:
            return False
        if execution.on == "python" and not execution.compiled.bodies:
            self._spared += 1
            self._lost = self._lost + 1 if seconds > self._least else max(0, self._lost - 1)
            return True
        if not execution.cached:
            self._least, self._compiled = min(self._least, seconds), self._compiled + 1
        return False


__all__ = ["Recompilation"]
