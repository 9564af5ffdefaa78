"""What a report says first, in words that text and HTML share: the line of verdict, the times, the baselines.

Marks: `✓` the result was compared with ours and is equal, `≈` the time is extrapolated from a part of the
input, `✗` something cost time or went wrong. Every mark stands beside words that say the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hastega_magic.records import dataclass
from hastega_magic.report import units
from hastega_magic.report.escape import one_line
from hastega_magic.report.memo import once
from hastega_magic.report.model import COMPILING, Baseline, CellInfo, Phase, PipelineReport, Vector

LEGEND = "✓ checked equal to our result · ≈ extrapolated from a part of the input"

AGAIN = ", run again"
"""How the row of the cell's own back end ends, which was measured as the others were."""

_NAMES = {
    "python": "pure Python",
    "numpy": "NumPy",
    "simd": "one SIMD thread",
    "opencl": "OpenCL",
    "opencl:0": "OpenCL",
}
_STEPS = {
    "convert_in": "convert in",
    "to_device": "to device",
    "from_device": "from device",
    "convert_out": "convert out",
    "python": "Python",
    "call": "everything else",
}

_BESIDES = {
    "load": "loading the compiler {}, once",
    "device": "starting OpenCL {}, once",
    "parse": "reading the cell {}",
    "baselines": "timing the baselines {}",
}
"""The phases of a cell in words."""

_WAITED = 0.005
"""Seconds that nobody notices; of a cell's phases that take less together nothing is said."""


@dataclass(frozen=True)
class Part:
    """A piece of a line; `bad` where it names what costs or breaks."""

    text: str
    bad: bool = False


@dataclass(frozen=True)
class Step:
    """A part of the time bar: phases that a reader takes for one, with their summed seconds and bytes."""

    name: str
    seconds: float
    bytes: int

    @property
    def facts(self) -> str:
        """`14.8 ms, 268 MB, 18.1 GB/s`, without what is not known."""
        rate = units.rate(self.bytes, self.seconds)
        moved = [units.size(self.bytes)] if self.bytes > 0 else []
        return ", ".join([units.seconds(self.seconds), *moved, *([rate] if rate else [])])


def backend_name(name: str) -> str:
    """A back end's name in a sentence, also of its row that was run again."""
    plain = name.removesuffix(AGAIN)
    return _NAMES.get(plain, one_line(plain)) + name[len(plain) :]


def phase_name(name: str) -> str:
    """A phase's name in a sentence."""
    return _STEPS.get(name, one_line(name))


def about(cell: CellInfo) -> tuple[str, ...]:
    """The sentences about the cell as a whole: what was waited for beside its pipelines, and its "Why"."""
    spent = [phase for phase in cell.phases if phase.seconds > 0]
    said = [_BESIDES.get(each.name, f"{phase_name(each.name)} {{}}") for each in spent]
    waited = "; ".join(
        text.format(units.seconds(each.seconds)) for text, each in zip(said, spent, strict=True)
    )
    noticed = sum(phase.seconds for phase in spent) >= _WAITED
    return (*([f"Beside the pipelines: {waited}."] if noticed else []), *map(one_line, cell.why))


def parted(phases: Iterable[Phase]) -> Iterator[Phase]:
    """The phases, and behind the first in which Python took part, all that it took, as one phase by itself."""
    phases = list(phases)
    taken = sum(min(phase.seconds, phase.python) for phase in phases if phase.python)
    told = False
    for phase in phases:
        if not phase.python:
            yield phase
            continue
        if phase.seconds > phase.python:
            yield Phase(phase.name, phase.seconds - phase.python, phase.bytes)
        if not told:
            yield Phase("python", taken)
        told = True


def steps(phases: Iterable[Phase], before: str = "compile") -> tuple[Step, ...]:
    """The parts of a time bar: everything before the run under one name, then each phase that took any time."""
    merged: dict[str, Step] = {}
    for phase in parted(phases):
        name = before if phase.name in COMPILING else phase_name(phase.name)
        old = merged.get(name, Step(name, 0.0, 0))
        merged[name] = Step(name, old.seconds + phase.seconds, old.bytes + phase.bytes)
    return tuple(step for step in merged.values() if step.seconds > 0)


def title(pipeline: PipelineReport) -> str:
    """The names that the group assigns."""
    return one_line(pipeline.name) or ", ".join(one_line(n) for n in pipeline.results) or "pipeline"


@once
def verdict(pipeline: PipelineReport) -> tuple[Part, ...]:
    """The line of verdict after the name, as parts to be joined by " · "."""
    ended = (
        "interrupted"
        if pipeline.raised == "KeyboardInterrupt"
        else f"raised {one_line(pipeline.raised or '')}"
    )
    raised = [Part(f"✗ {ended}", bad=True)] if pipeline.raised else []
    ran = [Part(_loops(pipeline))] if pipeline.backend or pipeline.loops or not raised else []
    parts = [*raised, *ran, *_place(pipeline)]
    if pipeline.barriers:
        parts.append(Part(f"✗ {units.plural(pipeline.count('barriers'), 'barrier')}", bad=True))
    if pipeline.integers.fell_back:
        parts.append(Part("✗ integers recomputed exactly in Python", bad=True))
    running, compiling = pipeline.seconds(), pipeline.seconds(compiling=True)
    if running > 0:
        parts.append(Part(units.seconds(running) + _of_runs(pipeline)))
    if compiling > 0 and pipeline.loops and not pipeline.cached:  # what has no loop was read, not compiled
        parts.append(Part(f"{units.seconds(compiling)} to compile, once"))
    others = (b for b in pipeline.baselines if not (b.equal and itself(pipeline, b)))
    parts += [Part(_compared(pipeline, b), bad=not b.equal) for b in others]
    return tuple(parts)


def _of_runs(pipeline: PipelineReport) -> str:
    """What is said behind a time that is the median of several runs."""
    if (repeated := pipeline.repeated) is None:
        return ""
    low, high = map(units.seconds, repeated.spread)
    return f", the median of {units.plural(repeated.runs, 'run')} ({low} to {high})"


def held_against(pipeline: PipelineReport, baseline: Baseline) -> float:
    """The seconds of ours that a baseline is to be held against.

    Another compiled back end was run as our own was "run again": as a whole call, with warm memory. All others are held
    against this run. 0.0 where the baseline is what computed this run, too: the same once more is neither faster nor
    slower.
    """
    if itself(pipeline, baseline):
        return 0.0
    return _again(pipeline, baseline) or pipeline.seconds()


def _again(pipeline: PipelineReport, baseline: Baseline) -> float:
    """The seconds of ours run again, where the baseline is held against these; else 0.0."""
    if baseline.backend in ("python", "numpy", "empty") or baseline.backend.endswith(AGAIN):
        return 0.0
    again = (each for each in pipeline.baselines if each.backend.endswith(AGAIN) and each.equal)
    return next((each.seconds for each in again if each.seconds > 0), 0.0)


def itself(pipeline: PipelineReport, baseline: Baseline) -> bool:
    """Whether plain Python computed the compiled loop's values, and the baseline is that once more."""
    return pipeline.backend == "python" and pipeline.loops > 0 and baseline.backend == "python"


def _loops(pipeline: PipelineReport) -> str:
    if pipeline.loops == 1:
        return "1 fused loop"
    if pipeline.loops > 1:
        return f"{pipeline.loops} loops"
    return "no compiled loop" if pipeline.backend else "did not run"


def _place(pipeline: PipelineReport) -> Iterable[Part]:
    """Where it ran: instruction set, device, threads."""
    code = registers(pipeline.vector)
    if pipeline.backend == "python" and pipeline.loops:
        yield Part(f"compiled to {code}" if code else "compiled")
        yield Part("computed by plain Python, which is faster here")
        return
    if code and pipeline.loops:
        yield Part(code)
        yield from (Part(f"serial {name}") for name in in_order(pipeline.vector))
    if pipeline.backend == "python":
        yield Part("ran in Python", bad=True)
    elif pipeline.backend == "numpy":
        yield Part(
            "computed by NumPy and Python" if pipeline.barriers else "computed by NumPy, array by array"
        )
    elif pipeline.backend == "all" and pipeline.split is not None:
        parts = pipeline.split.parts
        sharing = [one_line(part.device) for part in [each for each in parts if each.elements] or parts]
        alone = "all of it computed by" if len(sharing) == 1 else "shared by"
        yield Part(f"{alone} {' and '.join(sharing)}")
    elif pipeline.backend == "opencl" or pipeline.backend.startswith("opencl:"):
        device = one_line(pipeline.device)
        name = backend_name(pipeline.backend.partition(":")[0])
        yield Part(f"{name} on {device}" if device else name)
    if pipeline.threads > 0 and pipeline.loops:
        yield Part(units.plural(pipeline.threads, "thread"))


def cold(pipeline: PipelineReport) -> Iterable[str]:
    """A sentence where this run took clearly longer than the same once more: what is paid only once."""
    running = pipeline.seconds()
    for baseline in pipeline.baselines:
        whole = baseline.equal and not baseline.extrapolated and baseline.seconds > 0
        if baseline.backend.endswith(AGAIN) and whole and running > 1.25 * baseline.seconds:
            extra = units.seconds(running - baseline.seconds)
            yield (
                f"This run took {units.seconds(running)}, the same loop run again {units.seconds(baseline.seconds)}: "
                f"{extra} went into what happens once, such as touching the memory of the results and starting threads."
            )


def registers(vector: Vector) -> str:
    """`AVX-512, 8 lanes × 8`: instruction set, elements in a register, registers in flight; "": not known."""
    if vector.lanes <= 0:
        return ""
    if vector.lanes == 1:
        return "scalar code"
    name = one_line(vector.isa) or (f"{vector.bits}-bit vectors" if vector.bits else "vectors")
    flight = f" × {vector.in_flight}" if vector.in_flight > 1 else ""
    return f"{name}, {vector.lanes} lanes{flight}"


def in_order(vector: Vector) -> tuple[str, ...]:
    """The stages whose functions are applied to one element after the other, beside vectors: `scan`, `reduce`."""
    names = (one_line(op).partition("(")[0] for op in vector.scalar_ops if vector.lanes > 1)
    return tuple(dict.fromkeys(name for name in names if name in ("scan", "reduce")))


_TRANSFERS = frozenset({"to_device", "from_device"})


def _compared(pipeline: PipelineReport, baseline: Baseline) -> str:
    again = _again(pipeline, baseline) > 0
    return compared(baseline, held_against(pipeline, baseline), " when run again" if again else "")


def compared(baseline: Baseline, running: float, when: str = "") -> str:
    """A baseline in the verdict: `21 × NumPy ✓`. One with another result shows no time. `when`: which run of ours."""
    name = backend_name(baseline.backend)
    if not baseline.equal:
        return f"✗ {name} gave another result" if baseline.elements else f"✗ {name} did not run"
    mark = "≈" if baseline.extrapolated else "✓"
    if baseline.backend.endswith(AGAIN) and baseline.seconds > 0:
        return f"{units.seconds(baseline.seconds)} when run again {mark}"
    if running <= 0 or baseline.seconds <= 0:
        return f"{name} {mark}"
    ratio = baseline.seconds / running
    if baseline.backend == "empty":
        # Launches are no transfers, and another time they may have taken longer than all of this run.
        transfers = (phase.seconds for phase in baseline.phases if phase.name in _TRANSFERS)
        moving = sum(transfers) or baseline.seconds
        if moving > running:
            return f"transfers alone {units.seconds(moving)}"
        return f"transfers alone {units.digits(100 * moving / running, 2)} % of it"
    if ratio < 0.95:
        return f"{units.times(1 / ratio)} × slower than {name}{when} {mark}"
    return f"{units.times(ratio)} × {name}{when} {mark}"


def remarks(pipeline: PipelineReport, baseline: Baseline) -> str:
    """How a baseline was measured: `≈ from 41 000 elements · ✓ equal on these · 23.9 to 24.4 s`.

    `÷ run again`: its ratio is to ours run again, not to this run as those of other rows are.
    """
    if not baseline.equal:
        return one_line(baseline.note) or "✗ another result than ours, so its time says nothing"
    parts = ["÷ run again"] if baseline.seconds > 0 and _again(pipeline, baseline) > 0 else list[str]()
    if baseline.extrapolated:
        parts.append(f"≈ from {units.plural(baseline.elements, 'element')}")
    equal = "✓ equal on these" if baseline.extrapolated else "✓ equal"
    parts.append(one_line(baseline.note) or equal)
    if len(baseline.spread) == 2 and baseline.spread[1] > baseline.spread[0]:
        parts.append(f"{units.seconds(baseline.spread[0])} to {units.seconds(baseline.spread[1])}")
    return " · ".join(parts)


def predicted_phases(pipeline: PipelineReport) -> dict[str, str]:
    """By name the predicted times of the phases, on the back end that computed."""
    cost = pipeline.cost
    if cost is None:
        return {}
    ran = next((each for each in cost.predicted if each.backend == cost.chosen), None)
    if ran is None:
        return {}
    # What Python took of a kernel is a phase by itself (`parted`).
    own = {"kernel": "python"} if ran.backend == "python" else {}
    return {own.get(each.name, each.name): units.seconds(each.seconds) for each in ran.phases}


def reasons(pipeline: PipelineReport) -> tuple[str, ...]:
    """The sentences of "Why": those of the trace, then what the figures themselves say."""
    out = [one_line(sentence) for sentence in pipeline.why]
    if (cost := pipeline.cost) is not None and cost.bound:
        computed = f"{units.digits(cost.operations, 2)} operations" if cost.operations else "no operation"
        moved = f"{units.digits(cost.bytes, 2)} bytes" if cost.bytes else "no byte"
        bound = one_line(cost.bound)
        out.append(f"An element takes {computed} and {moved} of memory; predicted to be bound by {bound}.")
    if pipeline.overlapped > 0:
        running = pipeline.seconds()
        together, run = units.seconds(running + pipeline.overlapped), units.seconds(running)
        out.append(f"Transfers, kernel and conversions ran at once: together {together}, the run took {run}.")
    ints, vector = pipeline.integers, pipeline.vector
    if ints.fell_back:
        out.append("Integers: some did not fit 64 bits, and were recomputed exactly with Python's own.")
    elif ints.guarded and ints.mode != "wrap" and not pipeline.raised and pipeline.backend != "python":
        out.append("No guard fired: every integer did fit.")
    if vector.lanes > 1:
        stayed = ", ".join(one_line(op) for op in vector.scalar_ops)
        flight = f" of {vector.bits} bits" if vector.bits else ""
        flight += " in flight" if vector.in_flight > 1 else ""
        rest = f"what stayed scalar: {stayed}" if stayed else "no operation of the loop body stayed scalar"
        out.append(f"Vectorised: {registers(vector)} registers{flight}; {rest}.")
    elif vector.lanes == 1:
        out.append("Not vectorised: the loop body is scalar code.")
    mix = [f"{units.grouped(count)} {kind}" for kind, count in pipeline.instructions.items() if count]
    if mix:
        out.append(f"Instructions of the hot loop: {', '.join(mix)}.")
    return tuple(out)
