"""`for` statements that search: Python goes through the first elements, and loops through most of the rest.

Python takes a stretch of turns, and its time is taken. Where that goes on, a loop looks in one stretch after the other
whether any turn ends it, and in the halves of the one in which one does. Python goes on from there: turns that do not
end the loop do nothing, so that nobody can tell that they are left out.
"""

from __future__ import annotations

import array
import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from hastega_magic.compiler.fastpath.operands import Iterated, look_at
from hastega_magic.compiler.fastpath.ordinary import NOTHING, OrdinaryCode
from hastega_magic.compiler.fastpath.refusals import refused
from hastega_magic.compiler.fastpath.unbound import run_by_python
from hastega_magic.compiler.sources.long_ranges import count_of
from hastega_magic.errors import NotCompilable
from hastega_magic.frames import leaves
from hastega_magic.records import dataclass
from hastega_magic.runtime.objects.look_words import PAUSE
from hastega_magic.syntax.ordinary.parts import FEW
from hastega_magic.trace import Trace

FIRST = 64
"""Turns that Python takes first; then it takes twice as many as before each time, while there is no loop."""

COMPILED_AFTER = 5e-3
"""Seconds that Python has to take for turns behind the first, in all runs together, before a loop is compiled."""

_STRETCH, _LONGEST, _FURTHER = 1 << 12, 1 << 24, 4
"""Elements that a loop goes through at first, and at most; and how many times as many each time."""

_LONGEST_COPY = 1 << 15
"""At most of what is copied for it: larger copies come to new memory each time, which takes longer than the loop."""

_LEAST = 10e-6
"""Seconds that a loop takes for anything: for less Python goes on."""

_CLEAR = 0.8
"""A loop is left where it takes more than this part of Python's time."""

_EARLY, _LONGEST_PAUSE = 4, 10
"""After so many runs that end among the first turns there is a pause of twice as many, four times, and so on, up to
two to this power."""

_BY_PLACE = frozenset({list, range, bytes, bytearray, array.array})
"""What has iterators that can be told to go on from a place."""

_EARLY_WHY = "it ended after few turns, or did in the runs before: Python is faster"
_PARTS = (
    "Python took the first {began:,} turns. Loops over stretches of the rest, of which this is the last, found none "
    "that ends it before element {ended:,}: Python went on from there."
)
_SHORT_WHY = "Python has not taken long for it so far"


@dataclass
class Search(OrdinaryCode):
    """The runs of one `for` statement that searches."""

    _early: int = 0
    """Runs, one after the other, that ended among the first turns."""
    _waited: float = 0.0
    """Seconds that Python has taken behind these."""
    _places: tuple[int, int] = 0, 0
    """Of the last run that loops took part in: the elements that they began and ended with."""

    def worth(self, given: tuple[object, ...]) -> bool:
        """The same, and whether the last runs took more than a few turns."""
        if self.few_runs[PAUSE] > 0:
            self.few_runs[PAUSE] -= 1
            return self._not_worth(_EARLY_WHY)
        return super().worth(given)

    def _few_why(self) -> str:
        return _EARLY_WHY if self._early >= _EARLY else super()._few_why()

    def tell(self, source: str, trace: Trace, quiet: bool = False) -> None:
        """The same, and which part of the elements loops have gone through."""
        super().tell(source, trace, quiet)
        if not self.reason:
            began, ended = self._places
            trace.add("why", text=_PARTS.format(began=began, ended=ended))

    def sought(
        self,
        callees: tuple[object, ...],
        functions: tuple[object, ...],
        operands: tuple[Any, ...],
        python: Callable[..., Iterable[object]],
    ) -> Iterable[object]:
        """What the loop is to go through: `python(callees, functions, operands)`, less what nobody misses."""
        self.runs += 1
        self._all += 1
        self.idle = 0
        whole: Any = run_by_python(python, callees, functions, operands)
        code = self.code
        assert code is not None
        why = refused(code, self.options, self._pauses, callees, functions)
        if not why and not all(type(operands[each]) in _BY_PLACE for each in code.sources):
            why = "it goes through something else than lists and ranges of numbers"
        if why:
            self.reason = why
            return whole
        self._early += 1
        if self._early >= _EARLY:
            self.few_runs[PAUSE] = 1 << min(self._early, _LONGEST_PAUSE)
        self.reason = _EARLY_WHY
        return itertools.chain.from_iterable(self._stretches(functions, operands, whole))

    def _stretches(
        self, functions: tuple[object, ...], operands: tuple[Any, ...], whole: Iterable[object]
    ) -> Iterator[Iterable[object]]:
        """What Python goes through, one after the other; each is asked for when it has gone through the one before."""
        assert self.code is not None
        elements, size, done = iter(whole), FIRST, 0
        count = min(count_of(operands[each]) for each in self.code.sources)
        began = time.perf_counter()
        yield itertools.islice(elements, size)
        self._early, self.reason = 0, _SHORT_WHY
        while (done := done + size) < count:
            seconds = time.perf_counter() - began
            try:
                found = self._from(functions, operands, done, count, seconds / size)
            except BaseException as error:
                leaves(error)
                raise
            if found is not None:
                self._places = done, found
                yield self._positioned(operands, found)
                return
            self._waited += seconds if done > size else 0.0
            size, began = 2 * size, time.perf_counter()
            yield itertools.islice(elements, size)

    def _positioned(self, operands: Sequence[Any], place: int) -> Iterator[object]:
        """The elements from a place on."""
        assert self.code is not None
        parts = [iter(operands[number]) for number in self.code.sources]
        for each in parts:
            each.__setstate__(place)
        found = parts[0]
        for step in self.code.steps:
            if step.stage == "zip":
                found = zip(found, *parts[1:], strict=False)
            elif step.stage == "enumerate":
                ((_, start),) = step.arguments
                found = enumerate(found, operands[start] + place)
        return found

    def _from(
        self, functions: tuple[object, ...], operands: tuple[Any, ...], done: int, count: int, pace: float
    ) -> int | None:
        """From which element on Python goes through the rest; None where it is to go on for a while.

        `pace`: the seconds that it takes for a turn.
        """
        assert self.code is not None
        left = (count - done) * pace
        if count - done < FEW or left < _LEAST or (not self._forms and self._waited < COMPILED_AFTER):
            return None
        if why := self._cannot(operands):
            self.reason = why
            return done
        copied = any(type(operands[each]) is not range for each in self.code.sources)
        size, longest = _STRETCH, _LONGEST_COPY if copied else _LONGEST
        while done < count - 1:
            stop = min(done + size, count)
            began = time.perf_counter()
            ends = self._any(functions, operands, done, stop)
            if ends is None:
                return done
            if ends:
                return self._narrowed(functions, operands, done, stop)
            took, size = time.perf_counter() - began, min(size * _FURTHER, longest)
            compiled = self.form is not None and not self.form.again
            if took > _CLEAR * pace * (stop - done) and stop - done >= _STRETCH and not compiled:
                self.reason = self._pauses.failed("Python was measured to be faster")
                return min(stop, count - 1)
            done = stop
        return count - 1

    def _cannot(self, operands: tuple[Any, ...]) -> str:
        """Why no loop is tried; "" if one is."""
        assert self.code is not None
        for step in self.code.steps:
            if step.stage == "enumerate" and type(operands[step.arguments[0][1]]) is not int:
                return "`enumerate` counts from something else than an int"
        try:
            for number in self.code.sources:
                look_at(operands[number])
        except NotCompilable as error:
            return error.reason.text
        except Exception as error:
            return str(error)
        return self._pauses.for_failures()

    def _narrowed(
        self, functions: tuple[object, ...], operands: tuple[Any, ...], start: int, stop: int
    ) -> int:
        """From which element on Python goes through what is left of a stretch in which a turn ends the loop."""
        while stop - start > FEW:
            half = (start + stop) // 2
            ends = self._any(functions, operands, start, half)
            if ends is None:
                return start
            start, stop = (start, half) if ends else (half, stop)
        return start

    def _any(
        self, functions: tuple[object, ...], operands: tuple[Any, ...], start: int, stop: int
    ) -> bool | None:
        """Whether any turn of the stretch ends the loop; None where only Python can find out."""
        code = self.code
        assert code is not None
        given = [each[start:stop] if number in code.sources else each for number, each in enumerate(operands)]
        for step in code.steps:
            if step.stage == "enumerate":
                given[step.arguments[0][1]] += start
        length = min(len(given[each]) for each in code.sources)
        source = Iterated((False,) * len(code.sources), frozenset(), length, given[code.sources[0]])
        found = self._or_nothing(lambda: self._value(functions, given, source))
        return None if found is NOTHING else bool(found)


__all__ = ["COMPILED_AFTER", "FIRST", "Search"]
