"""How good `--on auto` is: cells that nothing was fitted on, over five sizes, on every back end there is.

For each cell and size: what each back end takes, what was predicted, and what `auto` chose; above, how often that was
within 1.25 × of the best, and how often a kernel's time was predicted within 30 %. Predictions are those that a user
gets: from the calibration, corrected by what the cells before have taught. No run of a cell, over however many
elements, is known when it is predicted. What the calibration alone says has lines of its own.

Plain Python counts where its values are the loop's to the last bit. A run is timed from the compiled loop to its
values; what goes before is the same for all, and choosing has a line of its own, too.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, cast

import numpy as np

from hastega_magic.benchmarks.auto_cells import CELLS, SIZES, Cell
from hastega_magic.benchmarks.model import Row
from hastega_magic.compiler.choice import costs
from hastega_magic.compiler.choice.auto import Costs, costs_of, device_model
from hastega_magic.compiler.comparing.difference import difference
from hastega_magic.compiler.comparing.kept import Kept
from hastega_magic.compiler.execute import Execution
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.python.by_python import NotAlike
from hastega_magic.compiler.reporting.describe_cost import cpu_kernel
from hastega_magic.compiler.run import run_loops
from hastega_magic.cost.learned import Learned, Phase
from hastega_magic.cost.predict import Case, Model, Prediction
from hastega_magic.records import dataclass
from hastega_magic.report import units
from hastega_magic.session import Session
from hastega_magic.trace import Trace

_PATIENCE = 0.6
"""Seconds that plain Python may be predicted to take; it is not run for more."""

_MORE, _SHORT = 5, 0.5
"""So many times the rounds that are asked for, while they have not taken these seconds."""

_LEAST, _LONG = 3, 10.0
"""No more rounds than these once they have taken these seconds."""

PHASES: tuple[Phase, ...] = ("run", "kernel")

_NEAR, _FAR = 1.25, 2.0
_CLOSE = 0.3


@dataclass
class _Ran:
    """A back end's runs of one cell."""

    name: str
    seconds: list[float] = field(default_factory=list[float])
    kernels: list[float] = field(default_factory=list[float])
    on: str = ""


@dataclass(frozen=True)
class _Foreseen:
    """What is predicted of a back end: by the calibration alone, and as corrected by what other cells have taught."""

    bare: Prediction
    corrected: Prediction


Lesson = tuple[str, str, int, float, float, tuple[float, float]]
"""What `Learned.note` is told of a back end's runs."""


@dataclass
class Judged:
    """Choices over the best time, with what was chosen, and kernels' predicted over their measured times."""

    ratios: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])
    kernels: list[float] = field(default_factory=list[float])

    @property
    def near(self) -> str:
        """How often a choice was near the best."""
        count, near = len(self.ratios), sum(ratio <= _NEAR for ratio, _ in self.ratios)
        return f"within {_NEAR} × of the best back end in {near} of {count} cells ({_part(near, count)})"

    @property
    def far(self) -> str:
        """How often it was far from it."""
        worst, where = max(self.ratios, default=(1.0, ""))
        far = sum(ratio > _FAR for ratio, _ in self.ratios)
        return f"beyond {_FAR:g} × in {far}; at worst {worst:.2f} × ({where})"

    @property
    def close(self) -> str:
        """How often a kernel took about what was predicted."""
        close = sum(1 - _CLOSE <= ratio <= 1 + _CLOSE for ratio in self.kernels)
        runs = len(self.kernels)
        return f"within {100 * _CLOSE:.0f} % in {close} of {runs} runs ({_part(close, runs)})"


@dataclass
class Summary:
    """How good the choices and the predictions were; `alone`: those of the calibration alone."""

    taught: Judged = field(default_factory=Judged)
    alone: Judged = field(default_factory=Judged)
    choosing: list[float] = field(default_factory=list[float])

    def lines(self) -> Iterator[str]:
        """For people."""
        yield f"auto {self.taught.near}"
        yield self.taught.far
        yield f"kernel predicted {self.taught.close}"
        yield f"from the calibration alone: auto {self.alone.near}"
        yield f"  {self.alone.far}"
        yield f"  kernel predicted {self.alone.close}"
        if self.choosing:
            most = sorted(self.choosing)[int(0.99 * (len(self.choosing) - 1))]
            yield (
                f"choosing took {units.seconds(statistics.median(self.choosing))} (median), "
                f"{units.seconds(most)} (99 of 100)"
            )


def rows(n: int | None, backend: str, threads: int, repeat: int) -> list[Row]:
    """All cells with at most `n` elements; a line with the summary is printed first."""
    del backend
    machine = costs.machine()
    state = f"calibrated {machine.calibrated}" if machine.calibrated else "not calibrated: %hastega calibrate"
    print(f"{machine.identity.cpu}, {threads} threads; {state}")
    summary, found = Summary(), list[Row]()
    names = ["simd", "parallel", *(f"opencl:{each.number}" for each in machine.devices)]
    learned = Learned(calibrated=machine.calibrated)
    for cell in CELLS:
        lessons: list[Lesson] = []
        with costs.not_learning(learned):  # a cell is judged by what the others have taught
            for size in SIZES:
                if size <= min(cell.largest, n or SIZES[-1]):
                    more, taught = measured(cell, size, threads, repeat, names, summary)
                    found += more
                    lessons += taught
        for each in lessons:
            learned.note(*each)
    for line in summary.lines():
        print(line)
    return found


def measured(
    cell: Cell, n: int, threads: int, repeat: int, names: Sequence[str], summary: Summary
) -> tuple[list[Row], list[Lesson]]:
    """One cell at one size: every back end and `auto`, interleaved; and what the runs teach."""
    options = Options(on="simd", threads=threads, baseline=False, quiet=True)
    session = Session(cell.namespace(n), options)
    session.run_cell(cell.text.format(n=n))
    (kept,) = session.kept
    session.namespace.pop("found", None)

    def run(on: str) -> Execution:
        return run_loops(kept.loops, kept.workspace, replace(options, on=on), Trace())

    first = run("simd")
    reference = first.values[0]
    known = costs_of(first.compiled, cpu_kernel(first), kept.loops, options)
    models = _models(first, known)
    foreseen = {name: _foreseen(known, model, n) for name, model in models.items()}
    entrants = [_Ran(name, on=name) for name in names]
    if known.python is not None and foreseen["python"].bare.seconds < _PATIENCE:
        entrants.append(_Ran("python", on="python"))
    entrants.append(_Ran("auto"))
    runs = {each.name: _runner(each, kept, options) for each in entrants}
    equal = {each.name: _equal(reference, runs[each.name]) for each in entrants}
    entrants = [each for each in entrants if equal[each.name] is not None]
    del first, reference
    # In an order that changes: whoever ran before leaves caches, clocks and sleeping threads behind.
    order, began = np.random.default_rng(n), time.perf_counter()
    for turn in range(_MORE * repeat):
        if turn >= (repeat if time.perf_counter() - began < _LONG else _LEAST) and (
            time.perf_counter() - began > _SHORT
        ):
            break
        for number in cast("list[int]", order.permutation(len(entrants)).tolist()):
            each = entrants[number]
            # Once before it counts: what ran last, another back end, has left the caches to itself.
            runs[each.name](False)
            execution = runs[each.name](True)
            if execution is not None and each.name == "auto":
                summary.choosing.append(execution.choosing)
    with costs.not_learning():
        alone = run("auto").on
    rows = list(_rows(cell, n, threads, entrants, equal, summary, foreseen, alone))
    lessons = [
        _lesson(known.loop, each, n, foreseen[each.name].bare) for each in entrants if each.name in foreseen
    ]
    return rows, lessons


def _models(first: Execution, known: Costs) -> dict[str, Model]:
    """By back end; of a device that of its own kernel."""
    found: dict[str, Model] = {"python": known.interpreted, **{each.backend: each for each in known.models}}
    for outline in known.outlines:
        model = device_model(first.compiled, known, outline.device)
        if model is not None:
            found[outline.backend] = model
    return found


def _foreseen(known: Costs, model: Model, n: int) -> _Foreseen:
    bare = model.predict(Case(n))
    run, kernel = (costs.factors_of(known.loop, [model.backend], n, phase)[model.backend] for phase in PHASES)
    return _Foreseen(bare, bare.corrected(run, kernel))


def _lesson(loop: str, ran: _Ran, n: int, bare: Prediction) -> Lesson:
    """What the medians of the runs say of a prediction."""
    both = bare.phase("kernel"), statistics.median(ran.kernels) if ran.kernels else 0.0
    return loop, ran.name, n, bare.seconds, statistics.median(ran.seconds), both


def _runner(ran: _Ran, kept: Kept, options: Options) -> Callable[[bool], Execution | None]:
    """One run; what it took is noted where that is asked for."""

    def run(counts: bool) -> Execution | None:
        trace = Trace()
        on, pinned = ("auto", "python") if ran.name == "python" else (ran.name, "")
        with costs.pinned(pinned):
            execution = run_loops(kept.loops, kept.workspace, replace(options, on=on), trace)
        if ran.name == "python" and execution.on != "python":
            raise NotAlike
        if not counts:
            return cast(Any, execution.values[0])
        ran.on = execution.on
        ran.seconds.append(execution.seconds)
        phases = [event.data for event in trace.of("phase") if event.data["name"] == "kernel"]
        if ran.name != "python":
            ran.kernels.append(sum(cast("float", each["seconds"]) for each in phases))
        execution.values = []
        return execution

    return run


def _equal(reference: object, run: Callable[[bool], Any]) -> bool | None:
    """Whether the result is the reference; None where the back end does not run. The first of two warm-up runs."""
    try:
        found = difference(reference, run(False), approximate=True)
        run(False)
    except NotAlike:
        return None
    except Exception:  # a device may fail in its own way
        return None
    return found is not None


def _rows(
    cell: Cell,
    n: int,
    threads: int,
    entrants: Sequence[_Ran],
    equal: Mapping[str, bool | None],
    summary: Summary,
    foreseen: Mapping[str, _Foreseen],
    alone: str,
) -> Iterator[Row]:
    medians = {each.name: statistics.median(each.seconds) for each in entrants}
    own = medians.pop("auto")
    best = min(medians, key=medians.__getitem__)
    ratio = own / medians[best]
    chosen = next(each for each in entrants if each.name == "auto").on
    where = f"{cell.name}, {n}: {{}}, best {best}"
    summary.taught.ratios.append((ratio, where.format(chosen)))
    if alone in medians:
        summary.alone.ratios.append((medians[alone] / medians[best], where.format(alone)))
    for each in entrants:
        note, median = f"chose {each.on}; {ratio:.2f} × the best", own
        if each.name != "auto":
            median = medians[each.name]
            note = _note(each, median, summary, foreseen[each.name]) if each.name in foreseen else ""
        yield Row(
            f"{cell.name}", each.name, n, 1 if each.name in ("simd", "python") else threads, median,
            min(each.seconds), max(each.seconds), median / own, equal[each.name], note,
        )  # fmt: skip


def _note(ran: _Ran, median: float, summary: Summary, foreseen: _Foreseen) -> str:
    predicted, bare = foreseen.corrected, foreseen.bare
    text = f"predicted {units.seconds(predicted.seconds)} ({predicted.seconds / median:.2f} ×)"
    if ran.kernels and (kernel := statistics.median(ran.kernels)) > 0:
        there, alone = (each.phase("kernel") / kernel for each in (predicted, bare))
        summary.taught.kernels.append(there)
        summary.alone.kernels.append(alone)
        text += (
            f", its kernel {units.seconds(kernel)} ({there:.2f} ×; by the calibration alone {alone:.2f} ×)"
        )
    return f"{text}, bound by {predicted.bound}"


def _part(some: int, count: int) -> str:
    return f"{100 * some / max(count, 1):.0f} %"


__all__ = ["CELLS", "SIZES", "Cell", "Judged", "Summary", "measured", "rows"]
