"""Each loop of a cell against other ways to compute the same: baselines, and fitted lines with `--compare`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, cast

from hastega_magic.compiler.backends import backend_of
from hastega_magic.compiler.comparing.baselines import UNCOMPILED, Baseline, Comparison, own_name
from hastega_magic.compiler.comparing.remembered import Cell, again
from hastega_magic.compiler.options import Options, placed
from hastega_magic.compiler.outcome import Outcome
from hastega_magic.compiler.reporting.describe import NOTABLE
from hastega_magic.progress import task
from hastega_magic.report import units
from hastega_magic.trace import CELL, Event, Trace

if TYPE_CHECKING:
    from hastega_magic.compiler.comparing.prefix import Prefix
    from hastega_magic.compiler.execute import Execution

_FITTED = 1 / 3
"""The part of the time that goes into runs over a few sizes, where back ends are compared."""

_ALIKE = (
    "Compared back ends, and {} once more, were timed with their memory in use already; "
    "they are held against each other. The cell's own time is that of its run, which may have used memory "
    "and device for the first time."
)

_NOT_COMPARED = "Not compared with {}: {}."

_NOT_TIMED = "Pure Python and NumPy were not timed: {}."

_FORMLESS = "NumPy was not timed: it has no form for all of it."

_LONG = "it would take long, over more than one source"

_INSIDE = "it is a part of a loop, a function or a larger expression, and is run for that alone"

_BEHIND = "Baselines begin behind what Python ran of it, whose {} are added to each, as they are to this run."


def compare(
    outcomes: Sequence[Outcome], options: Options, spent: float, trace: Trace, remembered: Cell
) -> None:
    """Tell the trace of every loop's baselines, and why there is none where `--compare` asks for one.

    All of it takes about a second, or the `spent` seconds of the cell itself if these are more. `remembered`: those
    of the cell's earlier runs.
    """
    if not options.baseline and not options.compare:
        return
    began = time.perf_counter()
    theirs = any(name not in UNCOMPILED for name in options.compare)
    measured: list[Outcome] = []
    others: list[Prefix] = []
    for outcome in outcomes:
        own = _own(outcome, options)
        # Where Python recomputed integers, other back ends would leave them to Python as well.
        if outcome.whole and not (theirs and outcome.recomputed):
            measured.append(outcome)
        else:
            from hastega_magic.compiler.comparing.prefix import Prefix

            others.append(Prefix(outcome, own))
    alone = [(each, [name for name in _backends(each.options) if each.takes(name)]) for each in others]
    budget = max(1.0, spent) / max(1, len(measured) + sum(1 for _, backends in alone if backends))
    fitted = budget * _FITTED if options.compare else 0.0
    with task("baselines", len(measured)) as work:
        for number, outcome in enumerate(measured, 1):
            assert outcome.execution is not None
            own = _own(outcome, options)
            backends = _backends(own)
            known = None if options.compare else remembered.run(outcome)
            if backends:
                _outcome(outcome, own, backends, (budget - fitted) / len(backends), fitted, trace, known)
            work.at(number)
    for prefix, backends in alone:
        _prefix(prefix, backends, budget, trace)
    if options.compare:
        text = _NOT_COMPARED.format(", ".join(options.compare), _INSIDE)
        inside = {event.group for event in trace.events} - {CELL, *(each.group for each in outcomes)}
        trace.events += [Event("warning", group, {"text": text}) for group in sorted(inside)]
    if outcomes:
        trace.beside("baselines", time.perf_counter() - began)


def _own(outcome: Outcome, options: Options) -> Options:
    """The options with what computed the outcome, where a loop did."""
    ran = outcome.execution
    return options if ran is None else placed(options, own_name(options, ran.on))


def _prefix(prefix: Prefix, backends: Sequence[str], budget: float, trace: Trace) -> None:
    """Baselines of what has to run as a whole, and a sentence for those that were asked for and are not there."""
    trace.group = prefix.outcome.group
    options, left = prefix.options, list[str]()
    asked = [name for name in options.compare if name in _backends(options)]
    if own_name(options) in backends:
        trace.add("why", text=_ALIKE.format(own_name(options)))
    for backend in backends:
        found = prefix.measure(backend, budget / len(backends))
        if found is not None:
            trace.add("baseline", **vars(found))
        elif backend in asked:
            left.append(backend)
        else:
            trace.add("why", text=_FORMLESS)
    if left:
        trace.add("warning", text=_NOT_COMPARED.format(", ".join(left), "NumPy has no form for all of it"))
    missing = [name for name in asked if name not in backends]
    if missing:
        trace.add("warning", text=_NOT_COMPARED.format(", ".join(missing), prefix.why_not or _LONG))
    # Where a loop ran that they could be held against.
    if (
        options.baseline
        and prefix.outcome.loops
        and not any(name in UNCOMPILED for name in (*backends, *asked))
    ):
        trace.add("why", text=_NOT_TIMED.format(prefix.why_not or _LONG))


def _backends(options: Options) -> list[str]:
    """What is measured: where compiled back ends are compared the cell's own too, in the same way as they are.

    The cell's run has used memory and device for the first time, and says little beside later runs of others.
    """
    first = UNCOMPILED if options.baseline else ()
    if options.on in UNCOMPILED:
        return [name for name in dict.fromkeys([*first, *options.compare]) if name != options.on]
    if all(name in UNCOMPILED for name in options.compare):
        return list(dict.fromkeys([*first, *options.compare]))
    own = backend_of(options)
    others = [
        name for name in options.compare if name in UNCOMPILED or backend_of(replace(options, on=name)) != own
    ]
    return list(dict.fromkeys([*first, own_name(options), *others]))


def _tell(found: Baseline, before: float, trace: Trace) -> None:
    """A baseline for the report. `before`: seconds that Python's stages took, which nobody runs again."""
    if before and found.equal and found.seconds > 0:
        low, high = found.spread
        found = replace(found, seconds=found.seconds + before, spread=(low + before, high + before))
    trace.add("baseline", **vars(found))


def _outcome(
    outcome: Outcome,
    options: Options,
    backends: Sequence[str],
    share: float,
    fitted: float,
    trace: Trace,
    known: dict[str, Baseline | None] | None,
) -> None:
    """Baselines of one loop, `share` seconds for a back end, and lines through them, within `fitted` seconds."""
    execution = outcome.execution
    assert execution is not None
    assert outcome.workspace is not None
    trace.group = outcome.group
    comparison = Comparison(
        outcome.loops,
        outcome.workspace,
        execution.fused,
        execution.columns,
        execution.length,
        outcome.values,
        options,
        resident=execution.job.sent[-1:] == [0] and bool(execution.columns),
    )
    equal = [comparison.own]
    by_python = [each.data["seconds"] for each in trace.of("by_python") if each.group == outcome.group]
    before = sum(cast("list[float]", by_python))
    if before >= NOTABLE:
        trace.add("why", text=_BEHIND.format(units.seconds(before)))
    if comparison.own in backends:
        trace.add("why", text=_ALIKE.format(comparison.own))
    with task(outcome.bounds[0].name, len(backends) + (1 if fitted else 0)) as work:
        for number, backend in enumerate(backends, 1):
            found = _baseline(comparison, backend, execution, share, known)
            if found is None:
                trace.add("why", text=_FORMLESS)
            else:
                _tell(found, before, trace)
                equal += [backend] if found.equal and backend not in equal else []
            work.at(number)
    floor = comparison.floor(execution)
    if floor is not None:
        _tell(floor, before, trace)
    if fitted:
        _fit(comparison, equal, execution.length, fitted, options, trace)


def _baseline(
    comparison: Comparison,
    backend: str,
    execution: Execution,
    seconds: float,
    known: dict[str, Baseline | None] | None,
) -> Baseline | None:
    """How long the back end takes, as measured within so many seconds; None where it has no form for the loop.

    `known`: what earlier runs of the loop have measured, to which this adds.
    """
    if backend == execution.on == "python":
        return comparison.itself(execution.seconds)
    if known is not None and backend in known:
        return again(known[backend])
    # What is kept must not be what a first run takes, of a loop that Python and NumPy have not met.
    found = comparison.measure(backend, seconds, lasting=known is not None and not execution.cached)
    if known is not None and (found is None or found.equal):
        known[backend] = found
    return found


def _fit(
    comparison: Comparison,
    equal: Sequence[str],
    length: int,
    seconds: float,
    options: Options,
    trace: Trace,
) -> None:
    """Fit a line to the times of the back ends that gave an equal result, over fewer elements too."""
    from hastega_magic.compiler.comparing import fit

    # Python and NumPy last: their share is always used up, and most of what they need is known.
    names = sorted(dict.fromkeys(equal), key=lambda name: name in ("python", "numpy"))
    model = fit.model(comparison.timed, names, length, seconds, comparison.largest)
    if model is not None:
        rows = tuple(replace(row, predicted=_predicted(row.backend, options)) for row in model.rows)
        trace.add("model", **asdict(replace(model, rows=rows)))


def _predicted(name: str, options: Options) -> str:
    """What the cost model calls a device that the user named otherwise; "" where names are the same."""
    if name.partition(":")[0] != "opencl":
        return ""
    backend: Any = backend_of(replace(options, on=name))
    number = f"opencl:{backend.device.info.number}"
    return number if number != name else ""
