"""The report of a cell, from its trace alone.

A trace may break off anywhere: a cell that failed half-way still has a report, with empty fields for what
did not happen. Before: `[Event("group", 0, {"name": "total", ...}), Event("phase", 0, {"name": "kernel",
"seconds": 0.01})]`; after: `Report(pipelines=(PipelineReport(name="total", phases=(Phase("kernel", 0.01,
0),)),))`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hastega_magic.records import changed
from hastega_magic.report import codec
from hastega_magic.report.choices import share_sentences, tuning_sentences
from hastega_magic.report.model import COMPILING, PHASES, PipelineReport, Report
from hastega_magic.report.verdict import cold
from hastega_magic.trace import CELL, Event, Trace

_CODE = ("pipeline", "fused", "passes", "llvm", "asm", "opencl", "not_run")
_RUN = ("backend", "device", "threads", "elements", "loops", "cached", "elements_out")


def build_report(trace: Trace) -> Report:
    """The report of the trace. Never raises for missing or unknown events."""
    groups = sorted({event.group for event in trace.events} - {CELL})
    cell = _merge(event for event in trace.events if event.group == CELL)
    pipelines = [_merge(e for e in trace.events if e.group == group) for group in groups]
    report = Report.from_dict({"cell": cell, "pipelines": pipelines})
    return changed(report, pipelines=tuple(map(_with_sentences, report.pipelines)))


def _with_sentences(pipeline: PipelineReport) -> PipelineReport:
    """The pipeline, and what its figures say."""
    repeated = [] if pipeline.repeated is None else [_REPEATED.format(pipeline.repeated.runs)]
    cost, own = pipeline.cost, pipeline.why
    if cost is not None and cost.because and pipeline.barriers:
        because = cost.because.removesuffix(".") + _UNCOUNTED
        own = tuple(because if each == cost.because else each for each in own)
        cost = changed(cost, because=because)
    why = (*own, *repeated, *_said(pipeline))
    return changed(pipeline, cost=cost, why=why, foremost=(*pipeline.foremost, *repeated))


_UNCOUNTED = "; what Python runs at barriers is not counted."


_REPEATED = (
    "--repeat: each loop ran {} times, and its time is the median; conversions on the CPU, and stages that Python "
    "runs, are done and counted once."
)


def _said(pipeline: PipelineReport) -> Iterable[str]:
    """What the figures of the pipeline say, in sentences that every form of the report shows."""
    if pipeline.split is not None:
        yield from share_sentences(pipeline.split)
    if pipeline.tuning is not None:
        yield from tuning_sentences(pipeline.tuning)
    yield from cold(pipeline)


_ONCE = frozenset({
    "int", "graph", "model", "lanes", "split", "tuning", "cost", "raised", "broken_off", "raised_later",
})  # fmt: skip
"""Events of which the last one of its kind stands for the group."""


def _merge(events: Iterable[Event]) -> dict[str, Any]:
    """One group's events as an entry of the report's JSON."""
    out: dict[str, Any] = {"code": {}, "phases": {}}
    for event in events:
        data = event.data
        match event.kind:
            case "cell" | "group":
                out.update(data)
            case "run":
                out.update({key: data[key] for key in _RUN if key in data})
            case "code":
                out["code"].update({key: data[key] for key in _CODE if data.get(key)})
            case "phase":
                _add_phase(out["phases"], data)
            case "overlap":
                out["overlapped"] = out.get("overlapped", 0.0) + codec.number(data.get("seconds"))
            case "vector":
                out["vector"] = data
                out["instructions"] = data.get("instructions")
            case "repeat":
                out.setdefault(event.kind, []).append(data)
            case kind if kind in _ONCE:
                out[event.kind] = data
            case "barrier" | "baseline":
                out.setdefault(event.kind + "s", []).append(data)
            case "why" | "option" | "which_run":
                out.setdefault("why", []).append(data.get("text"))
                if event.kind != "why":
                    out.setdefault("foremost", []).append(data.get("text"))
            case "warning":
                out.setdefault("warnings", []).append(data.get("text"))
            case _:
                pass
    _add_end(out)
    _add_repeated(out)
    order = {name: i for i, name in enumerate(PHASES)}
    out["phases"] = sorted(out["phases"].values(), key=lambda p: order.get(p["name"], len(order)))
    _add_results(out)
    _add_measured(out)
    return out


def _add_end(out: dict[str, Any]) -> None:
    """What the group raised, and the loop that did, where no run of it came to its end; or what a later run did."""
    kinds = "raised", "broken_off", "raised_later"
    raised, loop, later = (codec.record(out.pop(kind, None)) for kind in kinds)
    if "backend" not in out:
        out.update(codec.record(loop.get("run")), raised=raised.get("error"))
        out.setdefault("int", loop.get("int"))
    if later:
        out["raised"] = later.get("error")


def _add_phase(phases: dict[str, dict[str, Any]], data: Mapping[str, object]) -> None:
    """Add a phase's time and bytes to what is there under the same name."""
    name = codec.text(data.get("name"))
    phase = phases.setdefault(name, {"name": name, "seconds": 0.0, "bytes": 0})
    phase["seconds"] += codec.number(data.get("seconds"))
    phase["bytes"] += codec.integer(data.get("bytes"))
    if python := codec.number(data.get("python")):
        phase["python"] = phase.get("python", 0.0) + python


def _add_repeated(out: dict[str, Any]) -> None:
    """How far the running time would be from its fastest and its slowest, where loops ran several times."""
    loops = codec.many(out.pop("repeat", None), codec.record)
    if loops:
        spent = [phase["seconds"] for name, phase in out["phases"].items() if name not in COMPILING]
        running = max(0.0, sum(spent) - out.get("overlapped", 0.0))
        below, above = (sum(codec.number(each.get(key)) for each in loops) for key in ("below", "above"))
        runs = max(codec.integer(each.get("runs")) for each in loops)
        out["repeated"] = {"runs": runs, "spread": [max(0.0, running - below), running + above]}


def _add_measured(out: dict[str, Any]) -> None:
    """What was measured of other back ends and sizes, to the curves that predict it."""
    rows = codec.many(codec.record(out.get("model")).get("rows"), codec.record)
    points = {
        codec.text(row.get("predicted")) or codec.text(row.get("backend")): row.get("points") for row in rows
    }
    cost = codec.record(out.get("cost"))
    if points and cost.get("curves"):
        curves = tuple(
            changed(curve, measured=(*curve.measured, *codec.points(points.get(curve.backend))))
            for curve in codec.many(cost.get("curves"), codec.curve)
        )
        out["cost"] = {**cost, "curves": curves}


def _add_results(out: dict[str, Any]) -> None:
    """The names that the group leaves behind, and the size of their arrays, from the fused graph."""
    after = codec.record(codec.record(out.get("graph")).get("after"))
    kept = [node for node in codec.many(after.get("nodes"), codec.node) if node.kind == "result"]
    names = codec.text(out.get("name")).split(", ")
    out.setdefault("results", [node.label for node in kept] or [name for name in names if name])
    sizes = [node.elements for node in kept if node.elements >= 0]
    if sizes:
        out.setdefault("elements_out", sum(sizes))
