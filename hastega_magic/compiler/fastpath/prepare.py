"""Statements that one loop computed, made ready to be run again: which way of `prepared.py` each of them has."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from operator import itemgetter
from threading import Lock
from typing import Any

from hastega_magic.compiler.fastpath.arg_extremes import searched
from hastega_magic.compiler.fastpath.guards import Display, RunGuards, given, sources
from hastega_magic.compiler.fastpath.initial import begins, from_anywhere
from hastega_magic.compiler.fastpath.learned_guards import guards_of
from hastega_magic.compiler.fastpath.means import means_of
from hastega_magic.compiler.fastpath.prepared import Prepared
from hastega_magic.compiler.fastpath.slots import DoesNotFit, as_arrays
from hastega_magic.compiler.fastpath.small_loop import (
    before,
    small_loop,
)
from hastega_magic.compiler.fastpath.threaded import threaded_loop
from hastega_magic.compiler.fastpath.views import sizes, view_rule
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.outcome import Outcome
from hastega_magic.compiler.sources.short_circuit import DECIDED
from hastega_magic.compiler.statement import Bound
from hastega_magic.records import changed, dataclass
from hastega_magic.runtime.cpu.direct import MOST
from hastega_magic.syntax.closures.contained import Where
from hastega_magic.syntax.closures.given import beginning_of
from hastega_magic.syntax.loops.build import Built


@dataclass
class PreparedFromNumber(Prepared):
    """A prepared reduction that begins with a number, as `reduce(f, 10)`, which may be another one in each run.

    The loop runs without that number, which is combined with its result. So the reduction must be one in any order.
    """

    combine: Callable[[Any, Any], Any] = max
    begins: Callable[[Display], object] = itemgetter(0)
    """Finds the number in what the stage is given."""
    fitting: Callable[[object], bool] = bool
    """Whether it is one that the loop may begin with."""

    def run(self, source: object, displays: Sequence[Display]) -> object:
        """As of every other statement."""
        begun = self.begins(displays[-1])
        if not self.fitting(begun):
            raise DoesNotFit
        return self.combine(begun, super().run(source, displays))


def prepare(
    bound: Bound, outcome: Outcome, options: Options, filename: str, mends: bool = False
) -> Prepared | None:
    """The statement that gave this outcome, ready to be run again; None where it was not one whole loop on the CPU.

    `mends`: also where Python had to help.
    """
    if options.repeat != 1 or options.on == "all":
        return None
    begun = begins(bound, outcome, options)
    free = _sizes(bound, outcome) if begun is None else [beginning_of(bound.stages[-1].site)]
    found = guards_of(bound, outcome, small=True, mended=mends, free=free)
    if found is None or not found.execution.length:
        return None
    execution, built = found.execution, outcome.loops[0].built
    if begun is not None:
        found = changed(found, loop=from_anywhere(found.loop, execution.fused))
        ready = small_loop(execution, found.loop, options, found.words, None, found.arrays)
        wide = (
            None
            if ready is None
            else threaded_loop(execution, found.slots, found.loop, options, found.arrays)
        )
        combine, finds, fitting = begun
        return PreparedFromNumber(
            found,
            ready,
            (),
            options,
            filename,
            threaded=wide,
            combine=combine,
            begins=finds,
            fitting=fitting,
        )
    if built.plain or built.even:
        ready = small_loop(execution, found.loop, options, found.words, None, found.arrays)
        wide = (
            None
            if ready is None
            else threaded_loop(execution, found.slots, found.loop, options, found.arrays)
        )
        if not found.simple:
            # Code for many elements stores them past the cache, into memory that is aligned.
            few = None if found.large else ready
            return None if ready is None else Prepared(found, few, (), options, filename, threaded=wide)
        to_list = execution.fused.outputs[0].sink.kind == "to_list"
        listed = ready is not None and to_list and not found.arrays
        decided = DECIDED.get(execution.fused.outputs[0].sink.kind)
        return Prepared(found, ready, (), options, filename, listed, wide, decided=decided)
    if execution.length > MOST:
        if built.probed and built.view is None:
            return _behind_means(bound, outcome, found, options, filename)
        return _of_stretches(bound, outcome, options, filename)
    if not _stays(bound, built):
        return None
    return _placed(bound, outcome, found, options, filename)


def _sizes(bound: Bound, outcome: Outcome) -> Collection[Where]:
    """The numbers of elements that may be others in each run of a loop over few of them."""
    if len(outcome.loops) != 1 or outcome.execution is None or outcome.execution.length > MOST:
        return ()
    built = outcome.loops[0].built
    return () if built.plain or built.even else sizes(bound)


def _behind_means(
    bound: Bound, outcome: Outcome, found: RunGuards, options: Options, filename: str
) -> Prepared | None:
    """The same of a loop over all elements and their mean."""
    assert outcome.workspace is not None
    means = means_of(bound, outcome.workspace, options, found)
    if means is None:
        return None
    wide = threaded_loop(found.execution, found.slots, found.loop, options, found.arrays)
    return None if wide is None else Prepared(found, None, (), options, filename, threaded=wide, means=means)


def _of_stretches(bound: Bound, outcome: Outcome, options: Options, filename: str) -> Prepared | None:
    """The same of a loop over parts of arrays of these lengths."""
    found = guards_of(bound, outcome)
    if found is None or not found.words:
        return None
    wide = threaded_loop(found.execution, found.slots, found.loop, options, found.arrays)
    return Prepared(found, None, (), options, filename, threaded=wide)


def _placed(
    bound: Bound, outcome: Outcome, found: RunGuards, options: Options, filename: str
) -> Prepared | None:
    """The same of a loop over elements that stages, or other loops, have chosen."""
    assert outcome.workspace is not None
    built = outcome.loops[0].built
    free = found.captured.free
    numbers, lock = {number.key: number for number in found.numbers}, Lock()
    others = (
        before(bound, outcome.workspace, options, numbers, found.arrays, lock, free) if built.probed else []
    )
    if others is None:
        return None
    known = {each.stage: value for each, value in others}
    where = view_rule(bound, known, free=free)
    sought = searched(outcome.loops[0], found.execution.fused, outcome.workspace, options)
    ready = small_loop(found.execution, found.loop, options, found.words, where, found.arrays, lock, sought)
    operands = sources(bound)
    as_arrays(operands)
    try:
        view, tail = where.at(operands, known, given(bound))
    except DoesNotFit:
        return None
    if ready is None or tail != built.tail or (built.view is not None and view != built.view):
        return None
    return Prepared(found, ready, tuple(each for each, _ in others), options, filename)


def _stays(bound: Bound, built: Built) -> bool:
    """Whether the loop has the same code for other elements: of numbered ones it may hold the first one's number."""
    names = {stage.site.name for stage in bound.stages}
    moved = {"reverse", "last", "drop_while", *(("first", "min", "max") if built.probed else ())}
    return "enumerate" not in names or not names & moved


__all__ = ["prepare"]
