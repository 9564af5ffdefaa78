"""A cell that is run again and again on one back end, to be timed: what it takes, and what of that is its kernel."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from hastega_magic.calibration.pace import PACE
from hastega_magic.compiler.backends import backend_of
from hastega_magic.compiler.execute import Execution, compiled_on
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.run import run_loops
from hastega_magic.compiler.sources.part import part
from hastega_magic.compiler.statement import Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.cost.features import Features, features_of
from hastega_magic.cost.fit import usable
from hastega_magic.records import dataclass
from hastega_magic.session import Session
from hastega_magic.trace import Trace


@dataclass
class Timed:
    """A cell's loop with its sources. No result stays from run to run, so that its memory is used again."""

    loops: Sequence[Loop]
    workspace: Workspace
    options: Options

    def run(self, on: str | None = None) -> Execution:
        """One run, with its values."""
        options = self.options if on is None else Options(on=on, baseline=False, quiet=True)
        return run_loops(self.loops, self.workspace, options, Trace())

    def once(self, size: int | None = None) -> tuple[float, float]:
        """Seconds of a run over the first `size` elements (None: all), and of its kernel."""
        loops, workspace = self.loops, self.workspace
        if size is not None:
            loops, workspace = part(loops, workspace, size)
        trace = Trace()
        seconds = run_loops(loops, workspace, self.options, trace).seconds
        phases = [event.data for event in trace.of("phase") if event.data["name"] == "kernel"]
        return seconds, sum(cast("float", each["seconds"]) for each in phases)

    def typical(self, size: int | None = None, runs: int = 7, within: float = 0.06) -> tuple[float, float]:
        """Run and kernel: the median of the faster half of some runs, after one that does not count.

        The faster half: others that compute meanwhile can only make a run longer.
        """
        until = PACE.until(within)
        self.once(size)
        found = [self.once(size)]
        while len(found) < runs and time.perf_counter() < until:
            found.append(self.once(size))
        run, kernel = (usable(each) for each in zip(*found, strict=True))
        return faster(run), faster(kernel)

    def features(self) -> Features:
        """Of the variant that runs first, which a run has compiled."""
        ready = compiled_on(backend_of(self.options), self.loops, self.workspace, self.options, Trace())
        compiled = ready.compiled
        return features_of(compiled.bodies[compiled.first].kernel)


def in_turns(
    cells: Sequence[tuple[Timed, int]],
    rounds: int,
    within: float,
    least: int = 2,
    typical: Callable[[Sequence[float]], float] = statistics.median,
    between: Callable[[], object] | None = None,
) -> list[tuple[float, float]]:
    """Of each cell over its first elements, seconds of run and kernel, each run after one that does not count.

    One cell after the other and round after round, as in a notebook, where something else ran before. `least`: rounds
    that there are however long they take; `typical`: one figure of all of a cell's; `between`: is called before each.
    """
    until = PACE.until(within)
    found: list[list[tuple[float, float]]] = [[] for _ in cells]
    for number in range(rounds):
        if number >= (1 if PACE.hurried else least) and time.perf_counter() > until:
            break
        for each, (cell, size) in zip(found, cells, strict=True):
            if between is not None:
                between()
            cell.once(size)
            each.append(cell.once(size))
    return [
        (typical(usable([run for run, _ in each])), typical(usable([kernel for _, kernel in each])))
        for each in found
    ]


def others() -> Callable[[], object]:
    """A run on all threads, for which this one waits: its core sleeps meanwhile, and wakes slower than it was.

    What short runs take after it is what they take in a notebook, and where back ends are compared.
    """
    cell = timed(f"found = range(1, {1 << 17} + 1) |> map(lambda x: x * 0.25) |> sum", "parallel")
    return cell.once


def faster(seconds: Sequence[float]) -> float:
    """The median of the faster half."""
    return statistics.median(sorted(seconds)[: (len(seconds) + 1) // 2])


def timed(text: str, on: str, namespace: Mapping[str, object] | None = None) -> Timed:
    """The cell, compiled for the back end and run once; its one statement has to be one loop."""
    options = Options(on=on, baseline=False, quiet=True)
    session = Session(dict(namespace or {}), options)
    session.run_cell(text)
    (kept,) = session.kept
    session.namespace.pop("found", None)  # the next run may use its memory
    return Timed(kept.loops, kept.workspace, options)


__all__ = ["Timed", "faster", "in_turns", "others", "timed"]
