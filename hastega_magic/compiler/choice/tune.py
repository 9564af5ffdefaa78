"""`--tune`: a short search among a loop's schedules, each compiled, checked against the first, and measured."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, field, replace
from datetime import date
from typing import Any

import numpy as np

from hastega_magic.compiler.backend_opencl import OpenCl
from hastega_magic.compiler.backends import Backend, Cpu, Job
from hastega_magic.compiler.choice import schedule_store
from hastega_magic.compiler.choice.schedule_store import Finding, Timed
from hastega_magic.compiler.loops import Body, CompiledLoop, tuning_key
from hastega_magic.compiler.options import Options
from hastega_magic.errors import HastegaError
from hastega_magic.ir import abi
from hastega_magic.ir.kernel import OK, TROUBLE, Kernel
from hastega_magic.ir.schedule import BLOCK, UNTUNED, Tuned
from hastega_magic.progress import task
from hastega_magic.records import dataclass
from hastega_magic.report import units
from hastega_magic.runtime.loop_result import LoopResult, Stretch, room
from hastega_magic.runtime.sources import Column
from hastega_magic.runtime.threads import here
from hastega_magic.trace import Trace
from hastega_magic.tuning import search
from hastega_magic.tuning.candidates import Limits, dense_sources, dense_stores, space
from hastega_magic.tuning.search import Rejected, Search, Trial, Watch

_FIRST = 1 << 20
"""Elements of the run that tells how many are measured."""

_MOST = 1 << 26
"""Elements that are measured at most: results of two candidates are kept."""

_RUNS = 60
"""A run takes at most such a part of the time, so that enough of them can be made."""

_PARTS = 1000


def tune(
    compiled: CompiledLoop, job: Job, backend: Backend, options: Options, trace: Trace
) -> Mapping[str, Any] | None:
    """Search for the fastest schedule and remember it; what the report says of it, or None, with a sentence why.

    A KeyboardInterrupt goes on after the best so far is remembered.
    """
    if not isinstance(backend, (Cpu, OpenCl)):
        trace.add(
            "option",
            text="--tune: one back end is tuned at a time; choose it with --on, then share the loop.",
        )
        return None
    if not job.length:
        return None
    own = replace(
        compiled, state=replace(compiled.state, tuned=UNTUNED), bodies={}, pictures={}, located=False
    )
    found: _Tuner | None = None
    try:
        tuner = _Tuner(own, job, backend, options)
        found = tuner
        tuner.run(compiled)
    except (HastegaError, Rejected, MemoryError) as error:
        trace.add("option", text=f"--tune: nothing was tried, for the loop did not run as it is: {error}.")
        return None
    except BaseException:
        if found is not None and found.remember():
            trace.add("tuning", **found.report_data())
        raise
    found.remember()
    return found.report_data()


def earlier(finding: Finding) -> Mapping[str, Any]:
    """What the report says of a loop that was tuned in another run."""
    own = asdict(finding.own) | {"chosen": finding.tuned == UNTUNED}
    tried = [own] if finding.tuned == UNTUNED else [own, asdict(finding.best) | {"chosen": True}]
    return {
        "tried": tried,
        "elements": finding.elements,
        "earlier": finding.date,
        "ended": finding.ended,
    }


@dataclass
class _Tuner:
    """One search. `own`: the loop with the compiler's own schedule."""

    own: CompiledLoop
    job: Job
    backend: Cpu | OpenCl
    options: Options
    elements: int = 0
    search: Search | None = None
    schedules: dict[Tuned, str] = field(default_factory=dict[Tuned, str])
    _loops: dict[Tuned, Job] = field(default_factory=dict[Tuned, Job])
    _first: LoopResult | None = None
    _room: LoopResult | None = None
    _converted: list[Column] = field(default_factory=list[Column])

    def run(self, compiled: CompiledLoop) -> None:
        kernel = self.own.body(self.job.first, Trace()).kernel
        options, threads = self.options, self.threads if isinstance(self.backend, Cpu) else 1
        free = not options.threads and self.backend.name == "parallel"
        self.elements = min(self.job.length, _FIRST)
        limits = Limits(options.width, threads, free, self.elements)
        possible = space(kernel, self.backend.target, limits)
        if compiled.finding is not None and compiled.finding.tuned != UNTUNED:  # known to be fast
            first = compiled.finding.tuned
            rest = tuple(each for each in possible.vectors if each != first)
            possible = replace(possible, vectors=(first, *rest))
        self.search = Search(possible)
        with task("tune", _PARTS) as work:
            if self.job.length > self.elements:
                self._choose_elements(possible.own)
            watch = Watch(options.tune_seconds, time.perf_counter, lambda part: work.at(_PARTS * part))
            search.run(self.search, self.measure, watch)

    @property
    def threads(self) -> int:
        """Those that a run may take: for a few blocks no other is woken."""
        turns = abi.layout(self.own.body(self.job.first, Trace()).kernel).turns
        few = here(self.backend.threads, -(-self.job.length // BLOCK), short=not turns)
        return 1 if few and isinstance(self.backend, Cpu) else self.backend.threads

    def _choose_elements(self, own: Tuned) -> None:
        """As many as can be run often enough: a part of the loop may stay in caches where all of it does not."""
        self.measure(own)
        seconds = max(self.measure(own), 1e-7)
        each = seconds / self.elements
        count = int(min(self.options.tune_seconds / _RUNS / each, _MOST, self.job.length))
        if count > self.elements:
            self.elements = self.job.length if count == self.job.length else count // BLOCK * BLOCK
            self._loops.clear()
            self._converted.clear()
            self._first = self._room = None

    def measure(self, candidate: Tuned) -> float:
        """A run, in seconds; before a candidate's first one it is compiled, run once, and its result looked at.

        Not above 0 where a clock jumped.
        """
        if candidate not in self._loops:
            try:
                self._loops[candidate] = self._compiled(candidate)
                self._checked(candidate)
            except (HastegaError, RuntimeError) as error:
                raise Rejected(f"it did not run: {error}") from None
        return self._run(candidate).kernel_seconds

    def _compiled(self, candidate: Tuned) -> Job:
        state = replace(self.own.state, tuned=candidate)
        loop = replace(self.own, state=state, bodies={}, pictures={})

        def variant(number: int) -> Body:
            return loop.body(number, Trace())

        body = variant(self.job.first)
        self.schedules[candidate] = described(body.kernel, candidate, self.backend, self.threads)
        return replace(
            self.job, variant=variant, columns=self._columns(), learn=_unlearned, wanted=frozenset[str](),
            kept_slots=frozenset[int](), sent=[], tuned=candidate,
        )  # fmt: skip

    def _columns(self) -> list[Column]:
        """The loop's, with lists as arrays: what converting them takes is the same for all."""
        if not self._converted:
            self._converted = [
                replace(column, data=column.array(0, self.elements))
                if column.source.kind == "list"
                else column
                for column in self.job.columns
            ]
        return self._converted

    def _run(self, candidate: Tuned) -> LoopResult:
        job = self._loops[candidate]
        if self._room is None:
            self._room = room(abi.layout(job.variant(job.first).kernel), self.elements)
        job = replace(job, stretch=Stretch(0, self.elements, self._room))
        return self.backend.run(job, replace(self.options, repeat=1), Trace())

    def _checked(self, candidate: Tuned) -> None:
        result = self._run(candidate)
        if self._first is None:
            self._first, self._room = result, None  # the next one gets memory of its own
        elif not alike(self._first, result, self.elements):
            raise Rejected("another result than the first: please report this")

    def remember(self) -> bool:
        """Keep what was found on disk; False where nothing was."""
        if self.search is None or not self.search.trials or not self.search.trials[0].seconds:
            return False
        own, best = self.search.trials[0], self.search.best
        tuned = UNTUNED if best is own else best.candidate
        today = date.today().isoformat()  # noqa: DTZ011  the user's day
        ended = self.search.ended
        finding = Finding(tuned, self._timed(own), self._timed(best), self.elements, today, ended)
        key = tuning_key(self.own.structure, self.own.state.large, self.options, self.backend)
        schedule_store.keep(key, finding)
        return True

    def _timed(self, trial: Trial) -> Timed:
        assert self.search is not None
        runs = self.search.timed(trial)
        return Timed(self.schedules[trial.candidate], runs.median, (min(runs.seconds), max(runs.seconds)))

    def report_data(self) -> Mapping[str, Any]:
        """What the report says."""
        assert self.search is not None
        best = self.search.best
        tried: list[dict[str, Any]] = []
        for each in self.search.trials:
            runs = self.search.timed(each)
            tried.append({
                "schedule": self.schedules.get(each.candidate, str(each.candidate)),
                "seconds": runs.median if runs.seconds else 0.0,
                "spread": [min(runs.seconds), max(runs.seconds)] if runs.seconds else [],
                "chosen": each is best,
                "note": each.note or self._in_turns(each),
            })  # fmt: skip
        return {
            "tried": tried, "possible": self.search.space.possible, "elements": self.elements,
            "seconds": self.search.seconds, "limit": self.options.tune_seconds, "ended": self.search.ended,
        }  # fmt: skip

    def _in_turns(self, trial: Trial) -> str:
        """What the last comparison said of a schedule."""
        assert self.search is not None
        if self.search.turns is None:
            return ""
        own, best = self.search.turns
        if self.search.timed(trial) is not trial:
            return "in turns"
        if trial is not self.search.finalist:
            return ""
        took, against = units.seconds(best.median), units.seconds(own.median)
        return f"in turns with the compiler's own: {took} against {against}"


def _unlearned(number: int) -> None:
    """Where a candidate begins is no matter to other runs."""


def described(kernel: Kernel, tuned: Tuned, backend: Cpu | OpenCl, most: int) -> str:
    """How a kernel is laid onto the machine, in words: what is of no account for it is left out. `most`: threads."""
    schedule = kernel.schedule
    parts = [f"{schedule.lanes} lanes × {schedule.in_flight}"]
    if isinstance(backend, OpenCl):
        if backend.device.info.kind != "cpu":
            parts = [f"{schedule.in_flight} elements of a work-item at once"]
        elif schedule.grain > 1:
            parts.append(f"{schedule.grain} blocks in a work-group")
        return ", ".join([*parts, *([f"chunks of {tuned.chunk >> 10} Ki"] if tuned.chunk else [])])
    threads = min(most, tuned.threads or most)
    if most > 1:
        parts.append(units.plural(threads, "thread"))
        if not abi.layout(kernel).group_count:
            parts.append(f"{units.plural(schedule.grain, 'block')}")
    if schedule.stream and dense_stores(kernel):
        parts.append("streaming")
    if dense_sources(kernel):
        parts.append(f"prefetch {schedule.prefetch}" if schedule.prefetch else "no prefetch")
    return ", ".join(parts)


def alike(ours: LoopResult, theirs: LoopResult, elements: int) -> bool:
    """Whether two runs over the first elements left the same, in the blocks that did not need Python in either."""
    blocks = -(-elements // BLOCK)
    bad = [(each.status[:blocks] == TROUBLE).sum() for each in (ours, theirs)]
    if bad[1] > bad[0]:
        return False
    fine = (ours.status[:blocks] == OK) & (theirs.status[:blocks] == OK)
    for mine, other in zip(ours.partials, theirs.partials, strict=True):
        if not np.array_equal(mine[:blocks][fine], other[:blocks][fine], equal_nan=mine.dtype.kind == "f"):
            return False  # equal in value: smallest elements of a block may be zeros of either sign
    return all(_same_elements(ours, theirs, slot, fine, elements) for slot in range(len(ours.arrays)))


def _same_elements(ours: LoopResult, theirs: LoopResult, slot: int, fine: Any, elements: int) -> bool:
    places = [_places(each, slot, len(fine), elements) for each in (ours, theirs)]
    mine, other = ours.arrays[slot], theirs.arrays[slot]
    if fine.all():
        (_, ends), (_, others) = places
        return ends[-1] == others[-1] and _same(mine[: ends[-1]], other[: ends[-1]])
    return all(
        (places[0][1][each] - places[0][0][each] == places[1][1][each] - places[1][0][each])
        and _same(
            mine[places[0][0][each] : places[0][1][each]], other[places[1][0][each] : places[1][1][each]]
        )
        for each in np.flatnonzero(fine)
    )


def _places(result: LoopResult, slot: int, blocks: int, elements: int) -> tuple[Any, Any]:
    """Where each block's elements of a store begin and end."""
    group = result.groups[slot]
    if group is None:
        starts = np.arange(blocks) * BLOCK
        return starts, np.minimum(starts + BLOCK, elements)
    counts = result.kept[:blocks, group]
    ends = np.cumsum(counts)
    return ends - counts, ends


def _same(a: Any, b: Any) -> bool:
    """The same bits, but for the payload of NaNs."""
    if np.array_equal(a.view(np.uint8), b.view(np.uint8)):
        return True
    if a.dtype.kind != "f":
        return False
    numbers = ~(np.isnan(a) & np.isnan(b))
    return bool(np.array_equal(a[numbers].view(np.uint8), b[numbers].view(np.uint8)))


__all__ = ["alike", "described", "earlier", "tune"]
