"""The search: the compiler's own schedule first, then what should be fastest, each run a few times, within a time.

own         1.00 ms  0.98 ms  1.02 ms
8 × 4       0.81 ms  0.80 ms  0.82 ms      the best so far; the other choices are tried on top of it
16 × 4      1.70 ms                        far off: no more runs
...         own and the best in turns, so that both meet the same noise: 8 × 4 it is
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import field

from hastega_magic.ir.schedule import Tuned
from hastega_magic.records import dataclass
from hastega_magic.tuning.candidates import Space, varied

_RUNS, _FEW = 4, 2
"""Runs of a candidate, and of one that is far off after these."""

_ROUNDS = 5
"""Runs of the compiler's own schedule and of the best one in turns, at the end."""

_FAR = 1.25
"""A candidate that takes so many times what the best takes is far off."""

_GAIN = 0.97
"""What the best has to fall below, of the compiler's own, to be chosen: less is noise.

Of each the fastest run is taken, since noise makes runs slower and none faster; the medians must not say the opposite.
"""

_LATE = 1.25
"""The comparison at the end is what decides, and may take so much more than the time."""

_VECTORS, _AXES = 0.55, 0.85
"""Parts of the time after which other vectors, and after which other choices, are not begun."""


class Rejected(Exception):
    """A candidate that cannot be run, or gives another result; says which in its words."""


@dataclass
class Trial:
    """A candidate and the seconds of its runs; `note`: why it has none."""

    candidate: Tuned
    seconds: list[float] = field(default_factory=list[float])
    note: str = ""

    @property
    def median(self) -> float:
        """Of its runs; infinity where there is none."""
        return statistics.median(self.seconds) if self.seconds else float("inf")

    @property
    def least(self) -> float:
        """The fastest run; infinity where there is none."""
        return min(self.seconds, default=float("inf"))


@dataclass
class Search:
    """A search under way, or over. `ended`: "complete", "time" or "interrupted".

    `finalist`: the candidate that was run in turns with the compiler's own, `turns` the seconds of both in these runs,
    the compiler's own first: what they took alone may have met other noise, and is no measure for them.
    """

    space: Space
    trials: list[Trial] = field(default_factory=list[Trial])
    finalist: Trial | None = None
    turns: tuple[Trial, Trial] | None = None
    seconds: float = 0.0
    ended: str = "interrupted"

    @property
    def best(self) -> Trial:
        """The candidate to take: the compiler's own unless another one is clearly faster."""
        own = self.trials[0]
        if self.finalist is not None and self.turns is not None:
            return self.finalist if _faster(self.turns[1], self.turns[0]) else own
        able = [each for each in self.trials if len(each.seconds) > 1]
        fastest = min(able, key=lambda each: each.least, default=own)
        return fastest if _faster(fastest, own) else own

    def timed(self, trial: Trial) -> Trial:
        """The trial with its runs in turns where these decided for another schedule than the compiler's own."""
        if self.turns is None or self.best is not self.finalist:
            return trial
        return next((each for each in self.turns if each.candidate == trial.candidate), trial)


def _faster(one: Trial, own: Trial) -> bool:
    return one.least < _GAIN * own.least and one.median <= own.median


Measure = Callable[[Tuned], float]
"""One run of a candidate, in seconds, without what compiling takes; Rejected where it must not be taken.

What is not above 0 is no measurement: a clock jumped.
"""


@dataclass
class Watch:
    """How long a search may take, in seconds by the clock, and who hears which part of that is over."""

    limit: float
    clock: Callable[[], float]
    tell: Callable[[float], None] = lambda part: None


def run(search: Search, measure: Measure, watch: Watch) -> None:
    """Try candidates until all are tried or the time is over.

    An exception of a measurement other than Rejected, such as KeyboardInterrupt, ends the search; what was tried so
    far is in it. Rejected goes on to the caller only if the compiler's own schedule cannot be measured.
    """
    _Run(search, measure, watch).run()


class _Run:
    def __init__(self, search: Search, measure: Measure, watch: Watch) -> None:
        self.search, self.measure, self.watch = search, measure, watch
        self.before = watch.clock()
        self.last = 0.0  # what a candidate took, compiling included
        self.complete = True

    def run(self) -> None:
        space = self.search.space
        best = self.tried(space.own, None)
        self.last = 0.0  # of which the code may have been there
        for candidate in space.vectors:
            best = self.better(best, candidate, _VECTORS)
        for name, values in space.axes:
            base = best.candidate
            for value in values:
                best = self.better(best, varied(base, name, value), _AXES)
        if best is not self.search.trials[0]:
            self.in_turns(best)
        self.search.ended = "complete" if self.complete else "time"

    def better(self, best: Trial, candidate: Tuned, part: float) -> Trial:
        """The candidate where it is faster, if this part of the time leaves enough for it."""
        if self.search.seconds + self.last > part * self.watch.limit:
            self.complete = False
            return best
        return min(best, self.tried(candidate, best), key=lambda each: each.least)

    def tried(self, candidate: Tuned, best: Trial | None) -> Trial:
        before, trial = self.search.seconds, Trial(candidate)
        self.search.trials.append(trial)
        try:
            for number in range(1, _RUNS + 1):
                took = self.measure(candidate)
                trial.seconds += [took] if took > 0 else []
                far = best is not None and trial.least > _FAR * best.least
                if self.spent() > self.watch.limit or (number >= _FEW and far):
                    break
            if not trial.seconds:
                raise Rejected("no clock could measure it")
        except Rejected as error:
            if best is None:
                raise
            trial.seconds.clear()
            trial.note = str(error)
        self.last = self.spent() - before
        return trial

    def in_turns(self, best: Trial) -> None:
        """The compiler's own and the best: what they took before may have met other noise."""
        own = self.search.trials[0]
        pairs: list[tuple[float, float]] = []
        for _ in range(_ROUNDS):
            pair = self.measure(own.candidate), self.measure(best.candidate)
            pairs += [pair] if min(pair) > 0 else []
            if self.spent() > _LATE * self.watch.limit and len(pairs) > 1:
                break
        if not pairs:
            return
        self.search.finalist = best
        self.search.turns = (
            Trial(own.candidate, [first for first, _ in pairs]),
            Trial(best.candidate, [second for _, second in pairs]),
        )

    def spent(self) -> float:
        """Seconds so far."""
        now = self.watch.clock()
        self.search.seconds += max(0.0, now - self.before)  # a clock may jump back
        self.before = now
        self.watch.tell(min(1.0, self.search.seconds / self.watch.limit))
        return self.search.seconds


__all__ = ["Measure", "Rejected", "Search", "Trial", "Watch", "run"]
