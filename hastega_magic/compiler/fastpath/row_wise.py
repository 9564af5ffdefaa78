"""A statement over rows that is ready to be run again: as the one over their places."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import field
from typing import Any, cast

from hastega_magic.compiler.fastpath.guards import Display, DoesNotFit
from hastega_magic.compiler.fastpath.standing import Standing
from hastega_magic.compiler.sources.places import over_these
from hastega_magic.compiler.statement import Bound
from hastega_magic.ir.rows import Rows, by_place
from hastega_magic.records import dataclass
from hastega_magic.runtime.objects.rows import numbers_of
from hastega_magic.syntax.closures.contained import Where


@dataclass(frozen=True)
class RowWise(Standing):
    """A statement over rows, prepared as one over their places: what it reads stays the same memory from run to run.

    `computing`: so many of its stages are given rows.
    """

    rows: Rows
    computing: int
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, source: object, displays: Sequence[Display]) -> object:
        """The result; DoesNotFit where it must be found another way; what an element raises."""
        if type(source) not in (list, tuple) or not self._lock.acquire(blocking=False):
            raise DoesNotFit
        try:
            held = cast("Sequence[Any]", source)
            numbers = numbers_of(held, bounds=True, least=1)
            if (
                numbers is None
                or numbers.bounds is None
                or not self.rows.refill(numbers.flat, numbers.bounds, held)
            ):
                raise DoesNotFit
            return self.prepared.run(
                range(len(self.rows)),
                [*map(self._over, displays[: self.computing]), *displays[self.computing :]],
            )
        finally:
            self.rows.held = None
            self._lock.release()

    def _over(self, display: Display) -> Display:
        callee, args, kwargs = display
        if len(args) != 1 or kwargs:
            raise DoesNotFit
        return callee, (by_place(args[0], self.rows),), kwargs

    def changed(self, bound: Bound) -> set[Where] | None:
        """Variables whose numbers its functions found changed; None where anything else is different."""
        return self.prepared.changed(over_these(bound, self.rows, bound.stages, self.computing))


_OF_A_NUMBER, _OF_A_ROW = 25e-9, 300e-9
"""Seconds that Python takes for a number of a row, and for a row, where it may be as fast as a loop."""


def by_python_at_most(found: object, length: int) -> float:
    """Seconds for each of `length` elements with which Python is to be tried; infinite where there are no rows."""
    if not isinstance(found, RowWise):
        return math.inf
    rows = found.rows
    return (rows.numbers * _OF_A_NUMBER + rows.count * _OF_A_ROW) / length


__all__ = ["RowWise", "by_python_at_most"]
