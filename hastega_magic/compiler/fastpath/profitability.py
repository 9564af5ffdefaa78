"""Ordinary code that Python computes sooner than the compiled loop: found out by one run of Python's, and remembered.

What predictions cannot know is what Python's own code costs beside the pipeline's stages: a dict comprehension makes no
tuples, a list of what is there already no numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field
from typing import Any

from hastega_magic.compiler.choice.auto import Choice
from hastega_magic.compiler.fastpath.drifting import loops_of
from hastega_magic.compiler.outcome import Outcome
from hastega_magic.compiler.python.by_python import computed_by
from hastega_magic.compiler.sources.long_ranges import count_of
from hastega_magic.records import dataclass

_RUNS = 3
"""After so many compiled runs over about so many elements Python may have one: the first of them compile."""

_LEAST = 10e-9
"""Seconds for an element that no code of Python's falls below."""

_DEARER = 4.0
"""Python is not tried where it is predicted to take so many times as long."""

_NESTED = 8.0
"""By so much predictions for the stages of several `for` exceed what the code itself takes."""

_SHORT = 1e-3
"""Python is tried in place of a loop of so many seconds where nothing is predicted, as turns of loops are not."""

_OPERATION, _AROUND = 100e-9, 3
"""Seconds that Python takes for an operation at most, and how many stand for going on to the next element."""

_CLEAR = 0.8
"""Python's part of the time, from which on it computes."""

_OTHERWISE = 2.0
"""Where Python takes so many times what it took, the work is another."""

_CLOSE = 2.0
"""Python is tried again where it took less than so many times what the loop takes: it may have been held up."""

_SPENT = 8.0
"""Python is tried, too, where loops have taken so many times as long in all as it is predicted to take."""

_MEASURED = 16
"""One in so many of Python's runs is measured."""

_EARLY = 3
"""Each run counts as so many more where some of the elements have decided, so that one in four is measured."""

_EMPTY: dict[object, object] = {}
VIEWS = frozenset({type(_EMPTY.keys()), type(_EMPTY.values())})
"""What a dict shows of itself, whatever its class makes of iterating over it: loops read lists of it.

Pairs of keys and values would be made for nothing but to be taken apart again.
"""

_PLAIN = frozenset({list, tuple, range}) | VIEWS
"""What shows to nobody that its length is asked for."""

SOONER = "Python was measured to be faster over about so many elements"
STAYS = "Python computed about so many elements before, and the loop's last bits may be others"


@dataclass
class _Size:
    """Least seconds for an element, over numbers of elements that differ by a factor of four at most."""

    runs: int = 0
    ours: float = math.inf
    theirs: float = math.inf
    tried: bool = False
    next: int = 0
    """After so many compiled runs Python may be tried again."""
    early: bool = False
    """Whether some of the elements decided in the last run, as they do for `any` and `all`."""


@dataclass
class Profitability:
    """What runs of one piece of code took for an element, compiled and as Python's own code."""

    predicted: float = math.inf
    """Of Python, for an element; infinite where that is not to be known beforehand."""
    unknown: bool = False
    """Whether nothing is predicted, though Python may be tried: loops have turns."""
    alike: bool = True
    """Python's last bits were those of every loop so far: the same code may be of integers now, and of floats later."""
    _sizes: dict[int, _Size] = field(default_factory=dict[int, _Size])
    _rounded: set[int] = field(default_factory=set[int])
    """Sizes over which Python, tried or taken, gave something that may have last bits."""
    _unmeasured: int = 0
    """Runs since the last one that was measured, where Python computes."""
    _length: int = 0
    _by_python: bool = False

    def expect(
        self,
        choice: Choice | None,
        length: int,
        same_bits: bool,
        most: float = math.inf,
        nested: bool = False,
    ) -> None:
        """What was predicted. Where a loop's last bits are others, Python is tried no more: results are to stay.

        `most`: the seconds for an element that Python takes at most. `nested`: it is code of several `for`, which
        Python runs without the stages that stand for them.
        """
        python = choice.costs.python if choice is not None else None
        self.predicted = most if self.alike and same_bits else math.inf
        self.alike = self.alike and same_bits
        self.unknown = self.alike and choice is not None and python is None
        if self.alike and choice is not None and python is not None and length:
            predicted = python.seconds(choice.case) / length / (_NESTED if nested else 1.0)
            self.predicted = min(predicted, most)

    def by_python(self, length: int) -> str:
        """Why Python is to compute so many elements; "" if it is not."""
        size = self._sizes.get(_place(length))
        self._length, self._by_python = length, False
        if self.stays(length):
            return STAYS
        if size is not None and size.tried:
            due = size.runs >= size.next and size.theirs < _CLOSE * size.ours
            self._by_python = due or size.theirs < _CLEAR * size.ours
        elif size is not None and size.runs >= _RUNS and (size.early or size.ours > _LEAST):
            short = (size.early or self.unknown) and size.ours * length < _SHORT
            most = max(_DEARER, size.runs / _SPENT) * size.ours
            self._by_python = short or self.predicted < most
        return SOONER if self._by_python else ""

    def as_before(self, sources: Sequence[object]) -> str:
        """Why Python, which computed the last run, is to compute this one whatever these hold; "" if it is not."""
        plain = all(type(each) in _PLAIN for each in sources)
        return self.by_python(min(map(_count, sources))) if plain and sources else ""

    def is_as_before(self, sources: Sequence[object]) -> bool:
        """The same at the least cost, for all but some runs, which are measured."""
        self._unmeasured += 1
        if self._unmeasured >= _MEASURED or not self.as_before(sources):
            self._unmeasured = 0
            return False
        length, _ = self.asked()
        size = self._sizes.get(_place(length))
        if size is not None and size.early:  # the next elements may decide later
            self._unmeasured += _EARLY
        return True

    def stays(self, length: int) -> bool:
        """Whether it is Python's for good, which has computed there what is now known to be otherwise by a loop."""
        return not self.alike and _place(length) in self._rounded

    def asked(self) -> tuple[int, bool]:
        """How many elements the run has that was last asked for, and whether Python computes them; forgotten then."""
        found = self._length, self._by_python
        self._length, self._by_python = 0, False
        return found

    def took(self, seconds: float, length: int, python: bool, value: object = 0, early: bool = False) -> None:
        """A run took so long, and gave that; `early`: it need not have gone through all elements."""
        if not length:
            return
        place, each = _place(length), seconds / length
        size = self._sizes.get(place)
        if size is None:
            size = self._sizes[place] = _Size()
        if python and not isinstance(value, int):
            self._rounded.add(place)
        if not python:
            size.runs, size.ours, size.early = size.runs + 1, min(size.ours, each), early
        elif size.tried and each > _OTHERWISE * size.theirs:
            self._sizes.pop(place, None)
        else:
            size.theirs, size.tried = min(size.theirs, each), True
            size.next = 2 * size.runs


def _count(source: Any) -> int:
    return len(source) if type(source) in VIEWS else count_of(source)


def at_most(outcome: Outcome) -> float:
    """Seconds that Python takes for an element at most, by what there is to do; infinite where that has turns."""
    nodes = [node for fused in loops_of(outcome) for node in computed_by(fused)]
    return math.inf if any(node.op == "turns" for node in nodes) else _OPERATION * (_AROUND + len(nodes))


def _place(length: int) -> int:
    """One number for numbers of elements that differ by a factor of four at most."""
    return length.bit_length() // 2


__all__ = ["SOONER", "STAYS", "VIEWS", "Profitability", "at_most"]
