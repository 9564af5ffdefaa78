"""What a directly called loop (`cpu/direct.py`) was given and left, from which statements gather their values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from hastega_magic.compiler.fastpath.guards import Display
from hastega_magic.records import dataclass
from hastega_magic.runtime.cpu.direct import DirectCall
from hastega_magic.runtime.sources import AnyArray
from hastega_magic.syntax.loops.loop import View


@dataclass(slots=True)
class DirectResult:
    """A run of a directly called loop: its memory and result arrays, and the operands and stages it was given.

    `view`, `tail`: which elements it used, and how many are left for a shorter chunk.
    """

    direct: DirectCall
    arrays: list[AnyArray]
    operands: Sequence[Any]
    displays: Sequence[Display]
    view: View | None
    tail: int


class Stored(NamedTuple):
    """The same of a loop that ran on all threads and left elements alone, of as many places as were stored."""

    arrays: list[AnyArray]
    operands: Sequence[Any]
    displays: Sequence[Display]
    view: View | None = None
    tail: int = 0


Gather = Callable[[DirectResult], object]
"""From what a run left to its value; DoesNotFit where another way has to find that."""

__all__ = ["DirectResult", "Gather", "Stored"]
