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

from hastega_magic.compiler.fastpath.drifting import loops_of
from hastega_magic.compiler.fastpath.objects import NotExact
from hastega_magic.compiler.fastpath.operands import Iterated, look_at
from hastega_magic.compiler.fastpath.ordinary import NOTHING, OrdinaryCode
from hastega_magic.compiler.fastpath.refusals import refused
from hastega_magic.compiler.fastpath.unbound import run_by_python
from hastega_magic.compiler.outcome import Outcome
from hastega_magic.compiler.python.by_python import computed_by
from hastega_magic.compiler.sources.long_ranges import count_of
from hastega_magic.frames import leaves
from hastega_magic.records import dataclass
from hastega_magic.runtime.objects.look_words import PAUSE, RUNS
from hastega_magic.syntax.ordinary.parts import FEW, IS_FEW
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

_VAIN, _LONGEST_PAUSE = 4, 7
"""After so many runs in a row that were not worth the look there is a pause of twice as many, four times, and so on,
up to two to this power."""

_WORTH = 20e-6
"""Seconds behind the first turns from which on a run was worth it."""

_BY_PLACE = frozenset({list, range, bytes, bytearray, array.array})
"""What has iterators that can be told to go on from a place."""

_EARLY_WHY = "it ended after few turns, or did in the runs before: Python is faster"
_SHORT_WHY = "Python has not taken long for it so far"
_SLOWER_WHY = "Python was measured to be faster"
_TURNS_WHY = (
    "elements behind the one that ends it, which Python does not come to, might make turns without end"
)
_PARTS = (
    "Python took the first {began:,} turns. Loops over stretches of the rest, of which this is the last, found none "
    "that ends it before element {ended:,}: Python went on from there."
)


@dataclass
class Search(OrdinaryCode):
    """The runs of one `for` statement that searches."""

    _vain: int = 0
    """Runs, one after the other, that were not worth the look."""
    _waited: float = 0.0
    """Seconds that Python has taken behind the first turns."""
    _before: int = 0
    """Compilations that count, before this run."""
    _places: tuple[int, int] = 0, 0
    """Of the last run that loops took part in: the elements that they began and ended with."""
    _straight: bool = False
    """Whether a loop is known of which no element makes turns of its own."""

    def worth(self, given: tuple[object, ...]) -> bool:
        """The same, and whether one of the last runs was worth it."""
        if self.few_runs[PAUSE] > 0:
            self.few_runs[PAUSE] -= 1
            return self._not_worth(_EARLY_WHY)
        if super().worth(given):
            return True
        if self.reason != IS_FEW:
            self._was_vain()
        return False

    def counted(self) -> None:
        """The same: some of them may have been left out for those before."""
        paused = self.few_runs[RUNS] and self._vain >= _VAIN
        super().counted()
        if paused:
            self.reason = _EARLY_WHY

    def _unfit(self, outcome: Outcome) -> str:
        nodes = (node for fused in loops_of(outcome) for node in computed_by(fused))
        why = super()._unfit(outcome) or (_TURNS_WHY if any(node.op == "turns" for node in nodes) else "")
        self._straight = not why
        return why

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
        self._was_vain()
        self._before = self._compiled
        self.reason = refused(code, self.options, self._pauses, callees, functions) or self._cannot(operands)
        if self.reason:
            return whole
        self.reason = _EARLY_WHY
        return itertools.chain.from_iterable(self._stretches(functions, operands, whole))

    def _was_vain(self) -> None:
        """A run that is not worth the look, if it does not turn out otherwise."""
        self._vain += 1
        if self._vain >= _VAIN:
            self.few_runs[PAUSE] = 1 << min(self._vain, _LONGEST_PAUSE)

    def _cannot(self, operands: tuple[Any, ...]) -> str:
        """Why no loop goes through these; "" if one may."""
        assert self.code is not None
        if not all(type(operands[each]) in _BY_PLACE for each in self.code.sources):
            return "it goes through something else than lists and ranges of numbers"
        for step in self.code.steps:
            if step.stage == "enumerate" and type(operands[step.arguments[0][1]]) is not int:
                return "`enumerate` counts from something else than an int"
        return ""

    def _stretches(
        self, functions: tuple[object, ...], operands: tuple[Any, ...], whole: Iterable[object]
    ) -> Iterator[Iterable[object]]:
        """What Python goes through, one after the other; each is asked for when it has gone through the one before."""
        assert self.code is not None
        elements, size, done, slow = iter(whole), FIRST, 0, 0.0
        began, spent = time.perf_counter(), 0.0
        yield itertools.islice(elements, size)
        self.reason = _SHORT_WHY
        # A turn that ends nothing may still make what is gone through longer, as only Python's loop knows.
        while (done := done + size) < (count := min(count_of(operands[each]) for each in self.code.sources)):
            seconds = time.perf_counter() - began
            pace = seconds / size
            if slow > _CLEAR * pace:
                self.reason = self._pauses.failed(_SLOWER_WHY)
                break
            if done > size:  # behind the first turns
                spent, self._waited = spent + seconds, self._waited + seconds
            if spent >= _WORTH:
                self._vain = 0
            size *= 2
            try:
                worth = self._is_worth(functions, operands, done, count, pace)
                found, slow = self._from(functions, operands, done, count, pace) if worth else (done, 0.0)
            except BaseException as error:
                leaves(error)
                raise
            if worth:
                self._vain = 0 if found - done >= FEW else self._vain
                self._places, elements = (done, found), self._positioned(operands, found)
                if not slow:
                    break
                done, size = found, FEW  # elements may have become dearer, for Python as well
            began = time.perf_counter()
            yield itertools.islice(elements, size)
        yield elements

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

    def _is_worth(
        self, functions: tuple[object, ...], operands: tuple[Any, ...], done: int, count: int, pace: float
    ) -> bool:
        """Whether loops may take part. `pace`: the seconds that Python takes for a turn.

        The first loop is compiled over elements that Python has done with: others may make turns without end.
        """
        if count - done < FEW or (count - done) * pace < _LEAST:
            return False
        known = self._straight and bool(self._forms)
        if not known and self._waited < COMPILED_AFTER:
            return False
        if why := self._unlike(operands) or self._pauses.for_failures():
            self.reason = why
            return False
        return known or self._any(functions, operands, max(0, done - _STRETCH), done) is not None

    def _unlike(self, operands: tuple[Any, ...]) -> str:
        """Why no loop reads these; "" if one may."""
        assert self.code is not None
        try:
            for number in self.code.sources:
                look_at(operands[number])
        except NotExact as error:
            return str(error)
        return ""

    def _from(
        self, functions: tuple[object, ...], operands: tuple[Any, ...], done: int, count: int, pace: float
    ) -> tuple[int, float]:
        """From which element on Python goes on; and the seconds that loops took for one if Python seemed faster."""
        assert self.code is not None
        copied = any(type(operands[each]) is not range for each in self.code.sources)
        size, longest = _STRETCH, _LONGEST_COPY if copied else _LONGEST
        while done < count - 1:
            stop = min(done + size, count)
            began = time.perf_counter()
            ends = self._any(functions, operands, done, stop)
            if ends is None:
                break
            if ends:
                return self._narrowed(functions, operands, done, stop), 0.0
            took, size = (time.perf_counter() - began) / (stop - done), min(size * _FURTHER, longest)
            compiled = self.form is not None and not self.form.again
            if took > _CLEAR * pace and stop - done >= _STRETCH and not compiled and stop < count:
                return stop, took
            done = stop
        return min(done, count - 1), 0.0

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
        self._compiled = min(self._compiled, self._before + 1)  # numbers of a range have more and more digits
        return None if found is NOTHING else bool(found)


__all__ = ["COMPILED_AFTER", "FIRST", "Search"]
