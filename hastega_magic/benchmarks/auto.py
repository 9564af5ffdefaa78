"""How good `--on auto` is: cells that nothing was fitted on, over five sizes, on every back end there is.

For each cell and size: what each back end takes, what was predicted, and what `auto` chose; above, how often that was
within 1.25 × of the best, and how often a kernel's time was predicted within 30 %. Plain Python counts where its values
are the loop's to the last bit. A run is timed from the compiled loop to its values; what goes before is the same for
all, and choosing has a line of its own.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from hastega_magic.benchmarks.model import Row
from hastega_magic.compiler.by_python import NotAlike
from hastega_magic.compiler.choice import costs
from hastega_magic.compiler.choice.choosing import Costs, case_of, costs_of
from hastega_magic.compiler.comparing.baselines import difference
from hastega_magic.compiler.comparing.kept import Kept
from hastega_magic.compiler.execute import Execution
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.run import run_loops
from hastega_magic.compiler.telling.describe_cost import cpu_kernel
from hastega_magic.cost.features import python_features
from hastega_magic.cost.predict import Case, Prediction, PythonModel
from hastega_magic.report import units
from hastega_magic.session import Session
from hastega_magic.trace import Trace

SIZES = (10, 1_000, 100_000, 10_000_000, 100_000_000)
_LISTS = 10_000_000
"""Elements of the longest list: its objects take 40 bytes each."""

_PATIENCE = 0.6
"""Seconds that plain Python may be predicted to take; it is not run for more."""

_MORE, _SHORT = 5, 0.5
"""So many times the rounds that are asked for, while they have not taken these seconds."""

_LEAST, _LONG = 3, 10.0
"""No more rounds than these once they have taken these seconds."""

_NEAR, _FAR = 1.25, 2.0
_CLOSE = 0.3


@dataclass(frozen=True)
class Cell:
    """One computation; `text` holds {n}. `source`: "range", "float64", "int64", "ints" or "floats" (lists)."""

    name: str
    text: str
    source: str

    @property
    def largest(self) -> int:
        """The most elements it is run over."""
        return _LISTS if self.source in ("ints", "floats") else SIZES[-1]

    def namespace(self, n: int) -> dict[str, Any]:
        """What the cell reads; made anew for each size."""
        rng = np.random.default_rng(11)
        match self.source:
            case "float64":
                return {"xs": rng.random(n) * 3}
            case "int64":
                return {"xs": rng.integers(0, 1_000_000, n)}
            case "ints":
                return {"xs": rng.integers(0, 1_000_000, n).tolist()}
            case "floats":
                return {"xs": (rng.random(n) * 3).tolist()}
            case _:
                return {}


_MATH = "import math\n"

CELLS = (
    Cell("range squares", "found = range({n}) |> map(lambda x: x * x + 5)", "range"),
    Cell("range logistic", "p, mu = 6_700_417, 22\nfound = (range(1, {n} + 1)"
         + " |> map(lambda x: mu * x * (x + 1) % p)" * 10 + ")", "range"),
    Cell("range even squares", "found = range({n}) |> filter(lambda x: x % 2 == 0) |> map(lambda x: x * x) |> sum",
         "range"),
    Cell("range wave", _MATH + "found = range({n}) |> map(lambda x: math.cos(x * 0.001) * math.exp(-x * 1e-9)) |> sum",
         "range"),
    Cell("range divisors", "def divisors(x):\n    c = 0\n    for d in range(1, 25):\n        c += x % d == 0\n"
         "    return c\nfound = range(1, {n} + 1) |> map(divisors) |> max", "range"),
    Cell("array scale", "found = xs |> map(lambda x: 2.5 * x + 0.5)", "float64"),
    Cell("array sum of squares", "found = xs |> map(lambda x: x * x) |> sum", "float64"),
    Cell("array vector math", _MATH + "found = xs |> map(lambda x: math.sqrt(x * x + 1.0) * 0.5 + math.exp(-x))",
         "float64"),
    Cell("array ratio", "found = xs |> map(lambda x: (x - 1.0) / (x + 1.0) + 1.0 / (x + 2.0))", "float64"),
    Cell("array pick", "found = xs |> filter(lambda x: x > 1.5)", "float64"),
    Cell("array ints", "found = xs |> map(lambda x: (x * 7 + 3) % 1001)", "int64"),
    Cell("array even sum", "found = xs |> filter(lambda x: x % 2 == 0) |> map(lambda x: x * x) |> sum", "int64"),
    Cell("array largest", "found = xs |> map(lambda x: x ^ (x >> 5)) |> max", "int64"),
    Cell("list of ints", "found = xs |> map(lambda x: 3 * x + 1) |> sum", "ints"),
    Cell("list to list", "found = xs |> map(lambda x: x // 3) |> to_list", "ints"),
    Cell("list of floats", "found = xs |> map(lambda x: x * 0.5 - 1.0)", "floats"),
)  # fmt: skip


@dataclass
class _Ran:
    """A back end's runs of one cell."""

    name: str
    seconds: list[float] = field(default_factory=list[float])
    kernels: list[float] = field(default_factory=list[float])
    predicted: Prediction | None = None
    on: str = ""


@dataclass
class Summary:
    """How good the choices and the predictions were."""

    ratios: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])
    kernels: list[float] = field(default_factory=list[float])
    """Predicted over measured."""
    choosing: list[float] = field(default_factory=list[float])

    def lines(self) -> Iterator[str]:
        """For people."""
        count = len(self.ratios)
        near = sum(ratio <= _NEAR for ratio, _ in self.ratios)
        worst, where = max(self.ratios, default=(1.0, ""))
        share = 100 * near / max(count, 1)
        yield f"auto within {_NEAR} × of the best back end in {near} of {count} cells ({share:.0f} %)"
        far = sum(ratio > _FAR for ratio, _ in self.ratios)
        yield f"beyond {_FAR:g} × in {far}; at worst {worst:.2f} × ({where})"
        close = sum(1 - _CLOSE <= ratio <= 1 + _CLOSE for ratio in self.kernels)
        runs = len(self.kernels)
        share = 100 * close / max(runs, 1)
        yield f"kernel predicted within {100 * _CLOSE:.0f} % in {close} of {runs} runs ({share:.0f} %)"
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
    with costs.not_learning():  # a choice is to be judged by what is predicted, not by what was measured here
        for cell in CELLS:
            for size in SIZES:
                if size <= min(cell.largest, n or SIZES[-1]):
                    found += measured(cell, size, threads, repeat, names, summary)
    for line in summary.lines():
        print(line)
    return found


def measured(
    cell: Cell, n: int, threads: int, repeat: int, names: Sequence[str], summary: Summary
) -> list[Row]:
    """One cell at one size: every back end and `auto`, interleaved."""
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
    case = case_of(cpu_kernel(first), known.features, n)
    python = PythonModel(python_features([loop.pipeline for loop in kept.loops]), known.machine)
    entrants = [_Ran(name, on=name) for name in names]
    if known.python is not None and python.seconds(case) < _PATIENCE:
        entrants.append(_Ran("python", predicted=python.predict(case), on="python"))
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
    for each in entrants:
        each.predicted = each.predicted or _predicted(each.name, known, n)
    return list(_rows(cell, n, threads, entrants, equal, summary))


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


def _predicted(name: str, known: Costs, n: int) -> Prediction | None:
    models = {model.backend: model for model in (*known.models, *known.outlines)}
    models |= {f"opencl:{number}": model for number, model in known.devices.items() if model is not None}
    return models[name].predict(Case(n)) if name in models else None


def _rows(
    cell: Cell,
    n: int,
    threads: int,
    entrants: Sequence[_Ran],
    equal: Mapping[str, bool | None],
    summary: Summary,
) -> Iterator[Row]:
    medians = {each.name: statistics.median(each.seconds) for each in entrants}
    own = medians["auto"]
    others = {name: seconds for name, seconds in medians.items() if name != "auto"}
    ratio = own / min(others.values())
    chosen = next(each for each in entrants if each.name == "auto").on
    summary.ratios.append((ratio, f"{cell.name}, {n}: {chosen}, best {min(others, key=others.__getitem__)}"))
    for each in entrants:
        note = f"chose {each.on}; {ratio:.2f} × the best"
        if each.name != "auto":
            note = _note(each, medians[each.name], summary)
        yield Row(
            f"{cell.name}", each.name, n, 1 if each.name in ("simd", "python") else threads, medians[each.name],
            min(each.seconds), max(each.seconds), medians[each.name] / own, equal[each.name], note,
        )  # fmt: skip


def _note(ran: _Ran, median: float, summary: Summary) -> str:
    if ran.predicted is None:
        return ""
    text = f"predicted {units.seconds(ran.predicted.seconds)} ({ran.predicted.seconds / median:.2f} ×)"
    if ran.kernels and (kernel := statistics.median(ran.kernels)) > 0:
        there = ran.predicted.phase("kernel") / kernel
        summary.kernels.append(there)
        text += f", its kernel {units.seconds(kernel)} ({there:.2f} ×)"
    return f"{text}, bound by {ran.predicted.bound}"


__all__ = ["CELLS", "SIZES", "Cell", "Summary", "measured", "rows"]
