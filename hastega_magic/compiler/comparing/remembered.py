"""What Python and NumPy took when the same cell ran before: with the same elements they are not asked again at once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import field
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.comparing.baselines import Baseline
from hastega_magic.compiler.outcome import Outcome
from hastega_magic.lru import LruCache
from hastega_magic.records import changed, dataclass
from hastega_magic.syntax.closures.captured import Captured, captured

LASTING = 60.0
"""Seconds after which a baseline is measured again."""

_CELLS, _LOOPS = 64, 16
"""Cells that are remembered, and loops of each."""

_SMALL = 1 << 16
"""Arrays of at most so many bytes are kept, to be compared with those of a later run."""

_IDLE = 2
"""Cells that begin before those of another text let go of what they hold of the user's."""

_AGAIN = "timed when this cell ran before"


@dataclass(frozen=True)
class _Elements:
    """An array's elements, bit by bit."""

    dtype: str
    shape: tuple[int, ...]
    content: bytes


_Known = tuple[object, ...]


@dataclass(frozen=True)
class _Run:
    """Baselines by back end (None: it has no form for the statements), of these functions, inputs and values."""

    functions: Captured
    known: _Known
    began: float
    baselines: dict[str, Baseline | None] = field(default_factory=dict[str, "Baseline | None"])

    def fits(self, arguments: Sequence[object], known: _Known, now: float) -> bool:
        """Whether all is as it was, a moment ago."""
        soon = 0 <= now - self.began < LASTING
        alike = len(arguments) == len(self.functions.arguments) and self.known == known
        return soon and alike and self.functions.fits(arguments)


class Cell:
    """Of one text of a cell: the baselines of each of its loops, where all that it reads and gives is known.

    A loop's values are then those that the baselines were compared with.
    """

    def __init__(self) -> None:
        self._runs: LruCache[tuple[str, int], _Run] = LruCache(_LOOPS)
        self.idle = 0
        """Cells that have begun since it was asked for."""

    def let_go(self) -> None:
        """Forget runs of functions that hold the user's arrays and objects."""
        self._runs.drop(lambda run: run.functions.holds_data)

    def run(self, outcome: Outcome) -> dict[str, Baseline | None] | None:
        """The baselines of the loop's run before, where it was the same, else none so far: to be added to.

        None where it cannot be known whether a later run is the same.
        """
        known = _known(outcome)
        if known is None:
            return None
        assert outcome.execution is not None
        arguments = [each for loop in outcome.loops for stage in loop.stages for each in stage.given]
        key, now = (outcome.execution.compiled.structure, outcome.group), time.monotonic()
        found = self._runs.get(key)
        if found is None or not found.fits(arguments, known, now):
            # Loops are alike where functions compute the same, and these may take their time over it otherwise.
            functions = captured(arguments)
            if functions is None:
                return None
            found = self._runs.put(key, _Run(functions, known, now))
        return found.baselines


class Remembered:
    """The cells of a session that ran last, by text."""

    def __init__(self) -> None:
        self._cells: LruCache[str, Cell] = LruCache(_CELLS)
        self._holding: dict[str, Cell] = {}
        """Those that may hold the user's data."""

    def of(self, text: str) -> Cell:
        """What is remembered of a cell."""
        found = self._cells.get(text) or self._cells.put(text, Cell())
        found.idle = 0
        self._holding[text] = found
        return found

    def age(self) -> None:
        """A cell begins: let go of what cells hold for which it is the second one since they ran."""
        for text, each in tuple(self._holding.items()):
            each.idle += 1
            if each.idle >= _IDLE:
                each.let_go()
                self._holding.pop(text, None)


def again(baseline: Baseline | None) -> Baseline | None:
    """A baseline of the run before."""
    if baseline is None:
        return None
    equal = "✓ equal on these" if baseline.extrapolated else "✓ equal"
    return changed(baseline, note=f"{baseline.note or equal}, {_AGAIN}")


def _known(outcome: Outcome) -> _Known | None:
    """All that the loop reads and gives; None where that is large, or objects."""
    assert outcome.execution is not None
    assert outcome.workspace is not None
    read = [column.data for column in (*outcome.execution.columns, *outcome.workspace.table_columns)]
    found = tuple(map(_kept, (*read, *outcome.values)))
    return None if any(each is _UNKNOWN for each in found) else found


_UNKNOWN = object()
_NUMBERS = (int, float, complex, bool, range, type(None))


def _kept(value: object) -> object:
    if isinstance(value, np.ndarray):
        array = cast("np.ndarray[Any, Any]", value)
        small = array.nbytes <= _SMALL and not array.dtype.hasobject
        return _Elements(array.dtype.str, array.shape, array.tobytes()) if small else _UNKNOWN
    if type(value) is float:
        return value.hex()  # NaN is NaN
    return (type(value), value) if type(value) in _NUMBERS else _UNKNOWN


__all__ = ["LASTING", "Cell", "Remembered", "again"]
