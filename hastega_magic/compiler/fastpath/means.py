"""Over many elements: the means from which a statement's elements are away, each found by a loop on all threads.

`xs |> var` is `xs |> mean` and then the sum of the squares of what `x - mean` is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hastega_magic.compiler.fastpath.guards import Display, RunGuards, sources
from hastega_magic.compiler.fastpath.reading import Words, readings
from hastega_magic.compiler.fastpath.slots import owners_of
from hastega_magic.compiler.fastpath.threaded import ThreadedLoop, threaded_loop
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.run import run_loops
from hastega_magic.compiler.statement import Bound, bare, build_loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.records import changed, dataclass
from hastega_magic.trace import Trace

_SPREADS = frozenset({"var", "std"})
"""Stages that need a mean."""


@dataclass(frozen=True)
class Mean:
    """The loop that finds the mean that the stage of this number needs."""

    stage: int
    words: tuple[Words, ...]
    threaded: ThreadedLoop


def means_of(
    bound: Bound, workspace: Workspace, options: Options, guards: RunGuards
) -> tuple[Mean, ...] | None:
    """The loops that found the means of a run, made ready; None where a loop of another kind went before, too."""
    if bound.stages[-1].site.name not in _SPREADS:
        return None
    numbers = {number.key: number for number in guards.numbers}
    owned = owners_of(sources(bound), workspace)
    known: dict[int, object] = {}
    found: list[Mean] = []
    while owned is not None:
        loop, _, probe = build_loop(bound, bound.source, bound.stages, workspace, None, known)
        if probe is None:
            return tuple(found)
        if loop is None or bound.stages[probe.number].site.name not in _SPREADS:
            break
        execution = run_loops([loop], workspace, options, Trace())
        view = changed(loop, built=changed(loop.built, view=probe.view))
        words = readings(sources(bound), owned[0], numbers, workspace, execution, view)
        ready = threaded_loop(execution, guards.slots, bare(loop), options, guards.arrays)
        if words is None or ready is None or execution.fell_back:
            break
        known[probe.number] = execution.values[0]
        found.append(Mean(probe.number, words, ready))
    return None


def found_by(
    means: Sequence[Mean],
    operands: Sequence[Any],
    arguments: Sequence[object],
    displays: Sequence[Display],
    length: int,
) -> Mapping[int, object] | None:
    """By stage number the means of so many elements; None where another way has to be taken."""
    known: dict[int, object] = {}
    for each in means:
        ran = each.threaded.run(each.words, operands, arguments, displays, length, known=known)
        if ran is None:
            return None
        known[each.stage] = ran.value
    return known


__all__ = ["Mean", "found_by", "means_of"]
