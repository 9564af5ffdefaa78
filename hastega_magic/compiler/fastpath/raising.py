"""Loops that are all of a statement, one after the other, of which an element of the last has raised.

xs |> scan(f) |> map(lambda x: 1 // x)    →    both made ready, as where they gave a value; this one mends
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hastega_magic.compiler.fastpath.fielded import loop_of, prepared
from hastega_magic.compiler.fastpath.guards import Display, DoesNotFit
from hastega_magic.compiler.fastpath.parts import LoopPart, not_sources, part_of
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.outcome import Outcome
from hastega_magic.compiler.statement import Bound
from hastega_magic.records import dataclass
from hastega_magic.runtime.python_numbers import python_numbers


@dataclass(frozen=True)
class Raising:
    """Loops that compute the statement, one after the other. An element of the last one raised in an earlier run."""

    loops: tuple[LoopPart, ...]

    def run(self, source: object, displays: Sequence[Display]) -> object:
        """The value; DoesNotFit where it must be found another way, as if nothing had run; what an element raises."""
        # Another object may show that it is gone through.
        if type(source) not in (list, tuple, range, np.ndarray):
            raise DoesNotFit
        value, start = source, 0
        for loop in self.loops:
            stop = start + len(loop.site.stages)
            value = loop.run(python_numbers(value) if start else value, displays[start:stop])
            start = stop
        return value


def raising_loops(bound: Bound, outcome: Outcome, options: Options, filename: str) -> Raising | None:
    """The loops of this outcome; None where one cannot be made ready."""
    *before, last = outcome.parts
    assert last.outcome is not None
    sites = bound.site.stages
    found = [part_of(each, sites, options, filename) for each in before]
    ended = prepared(last.bound, last.outcome, options, filename, mends=True)
    if ended is None or not ended.guards.renewable:
        return None
    loop_of(ended).sites = sites
    looped = (*found, LoopPart(ended, last.bound.site, not_sources(last.bound.site)))
    loops = tuple(each for each in looped if isinstance(each, LoopPart))
    return Raising(loops) if len(loops) == len(looped) else None


__all__ = ["Raising", "raising_loops"]
