"""`for` statements run as pipelines: what they hand on is laid down, or Python's loop does it as it stands."""

from __future__ import annotations

import array
import itertools
import operator
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.fastpath.handoff import lay
from hastega_magic.compiler.fastpath.objects import NotExact
from hastega_magic.compiler.fastpath.ordinary import NOTHING, OrdinaryCode
from hastega_magic.records import dataclass
from hastega_magic.syntax.closures.numbers import PARAMETERS
from hastega_magic.syntax.ordinary.parts import HandsOn, Ordinary

_NUMBERS = frozenset({bool, *PARAMETERS})
_BY_PLACE = frozenset({list, tuple, range, array.array, bytes, bytearray, np.ndarray})
"""What has its last element at the place -1."""

_NEAR = 4096
"""Elements from the end among which the last turn that gives a variable its value is soon found."""

_FAR = "its variables have their values from a turn that is far from its end, and only Python's loop gives them that"
_LAST = "the last element of what it goes through is read behind it, and only Python can give that"


@dataclass
class ForStatement(OrdinaryCode):
    """The runs of one `for` statement."""

    _began: tuple[float, int] | None = None
    """When Python's loop began, over how many elements, where that is measured; of the last run of any thread."""

    _far: bool = False
    """Whether a turn far from the end was the last one that gave its variables values."""

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
        backwards = (self._walked(operands) for _ in range(self.code.hands_on.backwards))
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
        try:
            operands, into = self._before(operands, code, known)
        except NotExact as error:
            self._not_worth(str(error))
            return None
        found, length, by_python = self._tried(callees, functions, operands)
        if found is NOTHING:
            if by_python:
                self._began = time.perf_counter(), length
            return None
        values: Any = found if several else (found,)
        if into is not None:
            add: Callable[[object], None] = getattr(into, "extend" if code.after is None else "update")
            add(found)
            values = ()
        if known.last and known.stores is None:
            values = (*values, next(from_end(code, operands)))
        return tuple(values)

    def _before(
        self, operands: tuple[Any, ...], code: Ordinary, known: HandsOn
    ) -> tuple[tuple[Any, ...], Any]:
        """The operands, what variables are in front of it among them, and where elements go.

        NotExact, with the reason, where Python's loop has to do it.
        """
        into: Any = None
        if self._far:
            raise NotExact(_FAR)
        if code.shared and known.stores is None:  # functions give its variables, which may have no value
            try:
                operands, into = _asked(operands, known)
            except NameError:  # which Python's loop is to raise
                raise NotExact("a variable that it hands on has no value in front of it") from None
            if known.into is not None and type(cast(object, into)) is not (
                list if code.after is None else dict
            ):
                raise NotExact(f"`{known.names[0]}` is nothing that it can collect in, in front of it")
        if known.initial is not None:
            before: Any = operands[known.initial] if len(known.names) > 1 else (operands[known.initial],)
            for name, each in zip(known.names, before, strict=True):
                if type(each) not in _NUMBERS:
                    raise NotExact(f"`{name}` is no number in front of it")
        if known.last and not all(type(operands[each]) in _BY_PLACE for each in code.sources):
            raise NotExact(_LAST)
        return operands, into

    def _walked(self, operands: tuple[Any, ...]) -> Iterator[object]:
        """The elements from the end; who asks for many takes as long as Python's loop, which is not tried again."""
        assert self.code is not None
        elements = from_end(self.code, operands)
        yield from itertools.islice(elements, _NEAR)
        for each in elements:
            self._far = True
            yield each

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


def _asked(operands: tuple[Any, ...], known: HandsOn) -> tuple[tuple[Any, ...], object]:
    """The operands with what the variables are in front of the loop, and what elements are added to."""
    into = None if known.into is None else operands[known.into]()
    if known.initial is None:
        return operands, into
    first, last = operands[: known.initial], operands[known.initial + 1 :]
    return (*first, operands[known.initial](), *last), into


def from_end(code: Ordinary, operands: tuple[Any, ...]) -> Iterator[object]:
    """The elements of what the statement goes through, the last one first: by place, side by side, numbered."""
    sources = [operands[each] for each in code.sources]
    count = min(map(len, sources))
    parts: list[Iterator[object]] = [
        iter(it) if each in code.backwards else reversed(it if len(it) == count else it[:count])
        for it, each in zip(sources, code.sources, strict=True)
    ]
    found = parts[0]
    for step in code.steps:
        if step.stage == "zip":
            found = zip(*parts, strict=False)
        elif step.stage == "enumerate":
            start = sum(operator.index(operands[number]) for _, number in step.arguments)
            found = zip(range(start + count - 1, start - 1, -1), found, strict=False)
        else:
            break
    return found


def lay_again(callees: Sequence[object], operands: Sequence[object], again: tuple[int, ...] | None) -> None:
    """Lay down what Python's loop takes of what was evaluated."""
    if again is not None:
        lay((*callees, *(operands[number] for number in again)))


__all__ = ["ForStatement", "from_end", "lay_again"]
