"""`for` statements run as pipelines: what they hand on is laid down, or Python's loop does it as it stands."""

from __future__ import annotations

import array
import operator
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from hastega_magic.compiler.fastpath.handoff import lay
from hastega_magic.compiler.fastpath.ordinary import NOTHING, OrdinaryCode
from hastega_magic.records import dataclass
from hastega_magic.syntax.ordinary.parts import Ordinary

_NUMBERS = frozenset({bool, int, float, complex})
_BY_PLACE = frozenset({list, tuple, range, array.array, bytes, bytearray, np.ndarray})
"""What has its last element at the place -1."""

_LAST = "the last element of what it goes through is read behind it, and only Python can give that"


@dataclass
class ForStatement(OrdinaryCode):
    """The runs of one `for` statement."""

    _began: tuple[float, int] | None = None
    """When Python's loop began, over how many elements, where that is measured; of the last run of any thread."""

    def looped(
        self,
        callees: tuple[object, ...],
        functions: tuple[object, ...],
        operands: tuple[object, ...],
        again: tuple[int, ...] | None,
        timed: set[int],
    ) -> bool:
        """Whether a loop has done it. What it hands on is laid down then, else what Python's loop takes.

        `again`: which of the operands that is, behind the callees; None where it takes nothing. `timed`: the statements
        of which Python's time is taken.
        """
        handed = self._handed(callees, functions, operands)
        if handed is None:
            if self._began is not None:
                timed.add(self.site.id)
            lay_again(callees, operands, again)
            return False
        assert self.code is not None
        assert self.code.hands_on is not None
        backwards = (_from_end(self.code, operands) for _ in range(self.code.hands_on.backwards))
        lay((*backwards, handed[0] if len(handed) == 1 else handed))
        return True

    def _handed(
        self, callees: tuple[object, ...], functions: tuple[object, ...], operands: tuple[Any, ...]
    ) -> tuple[object, ...] | None:
        """The variables' values; None where Python's loop is to find them."""
        code = self.code
        assert code is not None
        assert code.hands_on is not None
        self._began, known = None, code.hands_on
        several = len(known.names) > 1
        if known.initial is not None:
            before: Any = operands[known.initial] if several else (operands[known.initial],)
            for name, each in zip(known.names, before, strict=True):
                if type(each) not in _NUMBERS:
                    self._not_worth(f"`{name}` is no number of Python's in front of it")
                    return None
        if known.last and not all(type(operands[each]) in _BY_PLACE for each in code.sources):
            self._not_worth(_LAST)
            return None
        found, length, by_python = self._tried(callees, functions, operands)
        if found is NOTHING:
            if by_python:
                self._began = time.perf_counter(), length
            return None
        values: Any = found if several else (found,)
        return (*values, next(_from_end(code, operands))) if known.last else tuple(values)

    def _not_worth(self, why: str) -> bool:
        self._began = None  # that of a run which an element ended
        return super()._not_worth(why)

    def ended(self, timed: set[int]) -> None:
        """Python's loop is over, and no element has raised. `timed`: as in `looped`."""
        timed.discard(self.site.id)
        self.counted()  # of fewer elements than those whose time was taken, where one of these has raised
        if self._began is not None:
            (began, length), self._began = self._began, None
            # Of what it has given nothing is known: it may have last bits.
            self._profitability.took(time.perf_counter() - began, length, True, value=None)


def _from_end(code: Ordinary, operands: tuple[Any, ...]) -> Iterator[object]:
    """The elements of what the statement goes through, the last one first: by place, side by side, numbered."""
    sources = [operands[each] for each in code.sources]
    turned = [each in code.backwards for each in code.sources]
    for place in range(min(map(len, sources)) - 1, -1, -1):
        elements = [it[-1 - place if back else place] for it, back in zip(sources, turned, strict=True)]
        found = elements[0]
        for step in code.steps:
            if step.stage == "zip":
                found = tuple(elements)
            elif step.stage == "enumerate":
                starts = (operator.index(operands[number]) for _, number in step.arguments)
                found = (sum(starts) + place, found)
            else:
                break
        yield found


def lay_again(callees: Sequence[object], operands: Sequence[object], again: tuple[int, ...] | None) -> None:
    """Lay down what Python's loop takes of what was evaluated."""
    if again is not None:
        lay((*callees, *(operands[number] for number in again)))


__all__ = ["ForStatement", "lay_again"]
