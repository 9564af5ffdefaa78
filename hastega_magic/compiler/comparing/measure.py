"""A cell's loops run again with other choices: another back end, fewer threads, fewer elements.

    measure(kept, on="simd", n=1_000_000)  →  Run(on="simd", n=1000000, seconds=..., equal=True, ...)

Results are compared with those of the cell's own choices over as many elements, and then let go of.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from hastega_magic.compiler.backends import forget_inputs, require
from hastega_magic.compiler.comparing.baselines import Comparison
from hastega_magic.compiler.comparing.kept import Kept, why_nothing
from hastega_magic.compiler.driver import Driver
from hastega_magic.compiler.execute import Separately
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.run import run_loops
from hastega_magic.compiler.sources.part import part
from hastega_magic.compiler.statement import Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import UsageError
from hastega_magic.progress import Task, task
from hastega_magic.records import dataclass
from hastega_magic.report import units
from hastega_magic.report.model import COMPILING
from hastega_magic.report.verdict import backend_name, phase_name
from hastega_magic.syntax.loops.build import PLACED
from hastega_magic.trace import Trace

_UNCOMPILED = ("python", "numpy")


@dataclass(frozen=True)
class RunPhase:
    """A phase of a run: its seconds, and the bytes that it moved."""

    name: str
    seconds: float
    bytes: int


@dataclass(frozen=True)
class Run:
    """What running a cell's loops took.

    on, device, threads, width, fuse, int_mode  how; of `python` and `numpy`, the rest does not matter
    n, of         elements that were run, and that the sources have
    seconds       of a run, transfers included, compiling not: the median; `spread`: the fastest and the slowest
    compiling     seconds that the first run spent on compiling; 0.0 where all was known
    loops         how many loops ran
    phases        of the median run
    extrapolated  whether `seconds` was scaled up from a run over fewer elements
    equal         whether the results are those of the cell's own choices; `note` may say more ("equal to 2e-15")
    """

    on: str
    device: str
    threads: int
    width: int
    fuse: bool
    int_mode: str
    n: int
    of: int
    seconds: float
    spread: tuple[float, float]
    runs: int
    compiling: float
    loops: int
    phases: tuple[RunPhase, ...]
    extrapolated: bool
    equal: bool
    note: str = ""

    def __str__(self) -> str:
        """In one line: what ran, how long it took, and how."""
        name = backend_name("simd" if self.on == "parallel" and self.threads == 1 else self.on)
        where = f" on {self.device}" if self.device and self.on not in _UNCOMPILED else ""
        threads = f", {units.plural(self.threads, 'thread')}" if self.on not in (*_UNCOMPILED, "simd") else ""
        part = "" if self.n == self.of else f" of {units.grouped(self.of)}"
        low, high = map(units.seconds, self.spread)
        how = [f"the median of {units.plural(self.runs, 'run')}, {low} to {high}"] if self.runs > 1 else []
        how += ["extrapolated"] if self.extrapolated else []
        told = f" ({', '.join(how)})" if how else ""
        phases = [f"{phase_name(each.name)} {units.seconds(each.seconds)}" for each in self.phases]
        result = (self.note or "equal") if self.equal else (self.note or "another result")
        return " · ".join([
            f"{name}{where}{threads}: {units.seconds(self.seconds)}{told}",
            f"{units.grouped(self.n)}{part} elements",
            *phases,
            *([f"{units.seconds(self.compiling)} to compile, once"] if self.compiling > _NOTICED else []),
            result,
        ])  # fmt: skip

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What IPython shows."""
        printer.text(str(self))


_NOTICED = 1e-3
"""Seconds of compiling that are told."""


@dataclass
class _Once:
    """One run of all loops."""

    values: list[object]
    phases: list[Mapping[str, Any]]
    overlapped: float
    device: str
    threads: int
    loops: int

    def seconds(self, once: bool = False) -> float:
        total = sum(phase["seconds"] for phase in self.phases if (phase["name"] in COMPILING) == once)
        return total if once else max(0.0, total - self.overlapped)


def measure(
    kept: Sequence[Kept],
    *,
    on: str | None = None,
    threads: int | None = None,
    width: int | None = None,
    fuse: bool | None = None,
    int_mode: str | None = None,
    n: int | None = None,
    repeat: int = 5,
    within: float = 2.0,
) -> Run:
    """Run the loops of a cell again; what is not given is as in the cell.

    n       elements (the first ones; 0 and more than there are: all)
    repeat  so many runs, after a first one that compiles what has to be compiled
    within  seconds for `python` and `numpy`, which are timed on as many elements as that allows

    UsageError for choices that cannot be, and where there is nothing to run; whatever the run raises, as
    OverflowError with `int_mode="checked"`.
    """
    if not kept:
        raise UsageError(why_nothing(kept))
    counts: dict[str, tuple[object, int]] = {"repeat": (repeat, 1), "n": (0 if n is None else n, 0)}
    for name, (count, least) in counts.items():
        if not isinstance(count, int) or count < least:
            raise UsageError(f"{name} takes a whole number from {least} on, not {count!r}")
    given = {"on": on, "threads": threads, "width": width, "fuse": fuse, "int_mode": int_mode}
    own = replace(kept[0].options, repeat=1, quiet=True, compare=(), baseline=False, show=())
    options = replace(own, **cast("Any", {name: value for name, value in given.items() if value is not None}))
    require(options)
    of = max(each.length for each in kept)
    size = min(n or of, of)
    parts = [_Part(each, *part(each.loops, each.workspace, size)) for each in kept]
    with task("measure", repeat + 2) as work:
        references = [each.reference(own, options) for each in parts]
        work.at(1)
        if options.on in _UNCOMPILED:
            return _sampled(references, options, (size, of), within, work)
        if options.on == "auto":
            options = replace(options, on="parallel")
        first = _run(parts, options)
        runs: list[_Once] = []
        for number in range(repeat):
            work.at(2 + number)
            first.values = []  # a run may use the pages of the last one's results
            runs.append(_run(parts, options))
            if number < repeat - 1:
                runs[-1].values = []
    equal, note = _equal(references, runs[-1].values)
    times = [each.seconds() for each in runs]
    median = sorted(runs, key=_Once.seconds)[len(runs) // 2]
    return Run(
        options.on, median.device, median.threads, options.width, options.fuse, options.int_mode, size, of,
        statistics.median(times), (min(times), max(times)), len(runs), first.seconds(once=True), median.loops,
        _phases(median), False, equal, note,
    )  # fmt: skip


@dataclass(frozen=True)
class _Part:
    """A loop over the first elements of its sources."""

    kept: Kept
    loops: Sequence[Loop]
    workspace: Workspace

    def reference(self, own: Options, options: Options) -> Comparison:
        """The values that the cell's own choices give, and what compares others with them."""
        found = run_loops(self.loops, self.workspace, own, Trace())
        return Comparison(
            self.loops, self.workspace, found.fused, found.columns, found.length, found.values,
            replace(options, on="auto", compare=(options.on,)),
        )  # fmt: skip


def _run(parts: Sequence[_Part], options: Options) -> _Once:
    forget_inputs()  # what a device has kept of an earlier run would make this one seem cheap
    found = _Once([], [], 0.0, "", 0, 0)
    for each in parts:
        runner = _fused if options.fuse else _unfused
        runner(each, options, found)
    return found


def _fused(each: _Part, options: Options, found: _Once) -> None:
    trace = Trace()
    try:
        execution = run_loops(each.loops, each.workspace, options, trace)
    except Separately:
        _unfused(each, replace(options, fuse=True), found)
        return
    found.values += execution.values
    found.device, found.loops = execution.backend.place, found.loops + 1
    found.threads = max(found.threads, execution.threads)
    _note(trace, found)


def _unfused(each: _Part, options: Options, found: _Once) -> None:
    """One statement after the other: with `fuse=False` a loop for each stage."""
    values: dict[str, object] = {}
    for loop in each.loops:
        driver = Driver(options, each.kept.filename, Trace())
        source = loop.pipeline.source
        value = values[source.name] if source.kind == "result" else each.workspace.column(source).data
        outcome = driver.run_alone(replace(loop.bound, stages=tuple(_stages(each, loop))), value)
        values[loop.name] = outcome.values[0]
        found.values += outcome.values
        found.loops += len(outcome.loops)
        if outcome.execution is not None:
            found.device = outcome.execution.backend.place
            found.threads = max(found.threads, outcome.execution.threads)
        _note(driver.trace, found)


def _stages(each: _Part, loop: Loop) -> Iterator[Any]:
    """The stages over columns that are cut already: without `take` and `drop`, and with the others of `zip` cut."""
    others = iter(loop.pipeline.others)
    for stage in loop.stages:
        if stage.site.name in PLACED and loop.built.view is not None:
            continue
        if stage.site.name == "zip":
            stage = replace(  # noqa: PLW2901
                stage, args=tuple(each.workspace.column(next(others)).data for _ in stage.args)
            )
        yield stage


def _note(trace: Trace, found: _Once) -> None:
    found.phases += [event.data for event in trace.of("phase")]
    found.overlapped += sum(cast("float", event.data["seconds"]) for event in trace.of("overlap"))


def _phases(run: _Once) -> tuple[RunPhase, ...]:
    """Phases of one name together."""
    found: dict[str, list[Any]] = {}
    for phase in run.phases:
        if phase["name"] not in COMPILING:
            entry = found.setdefault(phase["name"], [0.0, 0])
            entry[0] += phase["seconds"]
            entry[1] += phase["bytes"]
    return tuple(RunPhase(name, seconds, size) for name, (seconds, size) in found.items())


def _equal(references: Sequence[Comparison], values: Sequence[object]) -> tuple[bool, str]:
    notes: list[str] = []
    start = 0
    for each in references:
        theirs = values[start : start + len(each.loops)]
        start += len(each.loops)
        equal, note = each.equal(theirs, each.values)
        if not equal:
            return False, note
        notes += [note] if note else []
    return True, "; ".join(notes)


def _sampled(
    references: Sequence[Comparison], options: Options, sizes: tuple[int, int], within: float, work: Task
) -> Run:
    """Pure Python or NumPy, on as many elements as fit into the time."""
    size, of = sizes
    seconds, fastest, slowest = 0.0, 0.0, 0.0
    extrapolated, equal, notes = False, True, list[str]()
    for number, each in enumerate(references):
        found = each.measure(options.on, within / len(references))
        assert found is not None
        seconds += found.seconds
        fastest, slowest = fastest + found.spread[0], slowest + found.spread[1]
        extrapolated, equal = extrapolated or found.extrapolated, equal and found.equal
        notes += [found.note] if found.note else []
        work.at(1 + (work.total - 1) * (number + 1) / len(references))
    device = {"numpy": "NumPy", "python": "CPython"}[options.on]
    return Run(
        options.on, device, 1, 0, options.fuse, options.int_mode, size, of, seconds, (fastest, slowest), 1, 0.0, 0,
        (RunPhase("kernel", seconds, 0),), extrapolated, equal, "; ".join(notes),
    )  # fmt: skip


__all__ = ["Run", "RunPhase", "measure"]
