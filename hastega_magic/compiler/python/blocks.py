"""The blocks of a loop that Python evaluates, one after the other, and what reductions keep of their elements."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hastega_magic.ir.schedule import BLOCK
from hastega_magic.ir.sinks import COMBINE
from hastega_magic.runtime.results import product
from hastega_magic.runtime.sources import AnyArray
from hastega_magic.syntax.loops.loop import BoundStage

if TYPE_CHECKING:
    from hastega_magic.compiler.python.elements import Elements, Kept

_BEGINS_WITH = {"sum": 0, "mean": 0, "prod": 1}
"""A sum or product of a single bool is an int, where `reduce` gives the bool itself."""


_OF_INTS: Mapping[Any, Callable[[Sequence[int]], int]] = {operator.add: sum, operator.mul: product}
"""What is sooner through with many ints, whose sums and products have no order."""


class Evaluated:
    """Blocks by their numbers in ascending order; each is evaluated as it is come to, so that nobody has all of them.

    Whatever an element raises propagates then.
    """

    def __init__(self, elements: Elements, numbers: Sequence[int], length: int) -> None:
        self._elements, self._length = elements, length
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[tuple[int, Kept]]:
        for number in self._numbers:
            first = number * BLOCK
            yield number, self._elements.through(first, min(first + BLOCK, self._length))


Blocks = Evaluated | tuple[()]


class Combined:
    """A reduction of elements that come block by block, in Python's order.

    count  how many there were, beside the initial value
    value  what two and two of them make, by COMBINE; None before the first, and for other reductions
    """

    def __init__(self, kind: str, initial: Sequence[object] = ()) -> None:
        self.count = 0
        self.value: Any = None
        self._combine: Any = COMBINE.get("sum" if kind == "mean" else kind)
        self._before: list[Any] = [_BEGINS_WITH[kind]] if kind in _BEGINS_WITH else []
        self._add(initial)

    def take(self, values: Sequence[Any]) -> None:
        """Combine what there is with further elements."""
        self.count += len(values)
        self._add(values)

    def _add(self, values: Sequence[Any]) -> None:
        if not values or self._combine is None:
            return
        every = [*self._before, *values]
        if self._combine in (min, max):
            # Of many values they tell the same as of two at a time, NaNs among them, and sooner.
            self.value = self._combine(every)
        elif self._combine in _OF_INTS and set(map(type, every)) == {int}:
            self.value = _OF_INTS[self._combine](every)
        else:
            self.value = functools.reduce(self._combine, every)
        self._before = [self.value]


def default_of(stage: BoundStage, counts: AnyArray, blocks: Blocks) -> tuple[object, ...]:
    """What `min` or `max` gives where no element is left; () where some are, or where Python raises.

    counts  elements that took part, per block, but for `blocks`, which Python has evaluated
    """
    if stage.site.name not in ("min", "max") or "default" not in stage.kwargs:
        return ()
    left = counts.copy()
    left[[number for number, _ in blocks]] = 0
    some = left.any() or any(kept.values for _, kept in blocks)
    return () if some else (stage.kwargs["default"],)


__all__ = ["Blocks", "Combined", "Evaluated", "default_of"]
