"""The report's classes from JSON.

Decoding takes whatever it is given (a file of a newer schema, a trace that broke off half-way, NumPy scalars) and
never raises: what it does not know it drops, what is missing it defaults.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import SupportsIndex, TypeVar, cast

from hastega_magic.report import costs, measured, model
from hastega_magic.report.encoding import encode
from hastega_magic.report.memo import Recent
from hastega_magic.report.model import Json

T = TypeVar("T")
Record = Mapping[str, object]


def record(value: object) -> Record:
    """The value where it is a mapping, else an empty one."""
    # An exact dict first: asking an abstract class takes its time, and a report asks often.
    return cast("Record", value) if type(value) is dict or isinstance(value, Mapping) else {}


def text(value: object) -> str:
    """The value where it is a str; the `str` of a number; else ""."""
    if isinstance(value, str):
        return value
    return "" if value is None or isinstance(value, (Mapping, list, tuple)) else str(value)


def integer(value: object, default: int = 0) -> int:
    """The value as an int where it is one, or a float with an integral value; else the default."""
    if type(value) is int:
        return value
    if value is None:
        return default
    if isinstance(value, float):
        return int(value) if value.is_integer() else default
    return value.__index__() if isinstance(value, SupportsIndex) else default


def number(value: object) -> float:
    """The value as a finite float; else 0.0."""
    if type(value) is float:
        return value if math.isfinite(value) else 0.0
    if value is None:
        return 0.0
    if not isinstance(value, (int, float)) and isinstance(value, SupportsIndex):
        value = value.__index__()
    if not isinstance(value, (int, float)):
        return 0.0
    try:
        result = float(value)
    except OverflowError:
        return 0.0
    return result if math.isfinite(result) else 0.0


def many(value: object, one: Callable[[object], T]) -> tuple[T, ...]:
    """Each item of a list or tuple through `one`; anything else gives ()."""
    if not isinstance(value, (list, tuple)):
        return ()
    return tuple(one(item) for item in cast("Sequence[object]", value))


def _each(one: Callable[[object], T]) -> Recent[[object], tuple[T, ...]]:
    def each(value: object) -> tuple[T, ...]:
        return many(value, one)

    return Recent(each)


def _often(value: object, made: Recent[[object], T]) -> T:
    """A part that a trace has as it had it before. Traces have tuples, which stay as they are; JSON has lists."""
    return made(cast(object, value)) if isinstance(value, tuple) else made.function(value)


def decode(data: Record) -> model.Report:
    """A report from its JSON."""
    return model.Report(
        cell=_cell(record(data.get("cell"))),
        pipelines=many(data.get("pipelines"), lambda p: _pipeline(record(p))),
        schema=integer(data.get("schema"), model.SCHEMA),
    )


def _cell(data: Record) -> model.CellInfo:
    return model.CellInfo(
        source=text(data.get("source")),
        options={str(k): encode(v) for k, v in record(data.get("options")).items()},
        phases=many(data.get("phases"), _phase),
        warnings=many(data.get("warnings"), text),
        why=many(data.get("why"), text),
        measurable=data.get("measurable") is True or None,
    )


def _pipeline(data: Record) -> model.PipelineReport:
    out = data.get("elements_out")
    graph = record(data.get("graph"))
    return model.PipelineReport(
        name=text(data.get("name")),
        span=many(data.get("span"), integer),
        stages=many(data.get("stages"), text),
        loops=integer(data.get("loops")),
        barriers=many(data.get("barriers"), _barrier),
        backend=text(data.get("backend")),
        device=text(data.get("device")),
        threads=integer(data.get("threads")),
        elements=integer(data.get("elements")),
        vector=_vector(record(data.get("vector"))),
        integers=_integers(record(data.get("int"))),
        code=_code(record(data.get("code"))),
        links=many(data.get("links"), _json),  # long, and copied when it is written
        phases=many(data.get("phases"), _phase),
        overlapped=number(data.get("overlapped")),
        model=_model(record(data.get("model"))),
        lanes=_lanes(record(data.get("lanes"))),
        repeated=_repeated(record(data.get("repeated"))),
        split=_split(record(data.get("split"))),
        tuning=_tuning(record(data.get("tuning"))),
        cost=_cost(record(data.get("cost"))),
        cached=data.get("cached") is True,
        baselines=many(data.get("baselines"), _baseline),
        graph=model.GraphPair(_graph(graph.get("before")), _graph(graph.get("after"))),
        why=many(data.get("why"), text),
        foremost=many(data.get("foremost"), text),
        warnings=many(data.get("warnings"), text),
        results=many(data.get("results"), text),
        raised=text(data.get("raised")) or None,
        elements_out=None if out is None else integer(out),
        instructions={str(k): integer(v) for k, v in record(data.get("instructions")).items()},
        cut={str(k): integer(v) for k, v in record(data.get("cut")).items()} or None,
    )


def _barrier(value: object) -> model.Barrier:
    data = record(value)
    return model.Barrier(text(data.get("stage")), text(data.get("reason")), many(data.get("span"), integer))


def _vector(data: Record) -> model.Vector:
    return model.Vector(
        lanes=integer(data.get("lanes")),
        bits=integer(data.get("bits")),
        in_flight=integer(data.get("in_flight")),
        scalar_ops=many(data.get("scalar_ops"), text),
        isa=text(data.get("isa")),
    )


def _integers(data: Record) -> model.IntInfo:
    return model.IntInfo(
        mode=text(data.get("mode")),
        proved=bool(data.get("proved")),
        guarded=bool(data.get("guarded")),
        fell_back=bool(data.get("fell_back")),
    )


def _code(data: Record) -> model.Code:
    return model.Code(
        pipeline=text(data.get("pipeline")),
        fused=text(data.get("fused")),
        passes=_often(data.get("passes"), _passes),
        llvm=text(data.get("llvm")),
        asm=text(data.get("asm")),
        opencl=text(data.get("opencl")),
        not_run=many(data.get("not_run"), text) or None,
    )


def _pass(value: object) -> model.PassText:
    if isinstance(value, model.PassText):
        return value
    step = record(value)
    return model.PassText(text(step.get("name")), text(step.get("doc")), text(step.get("text")))


_passes = _each(_pass)


def _phase(value: object) -> model.Phase:
    data = record(value)
    # A clock may jump, but nothing takes less than no time.
    return model.Phase(
        text(data.get("name")), max(0.0, number(data.get("seconds"))), integer(data.get("bytes")),
        max(0.0, number(data.get("python"))) or None,
    )  # fmt: skip


def _baseline(value: object) -> model.Baseline:
    data = record(value)
    return model.Baseline(
        backend=text(data.get("backend")),
        seconds=number(data.get("seconds")),
        spread=many(data.get("spread"), number),
        elements=integer(data.get("elements")),
        extrapolated=bool(data.get("extrapolated")),
        equal=bool(data.get("equal")),
        phases=many(data.get("phases"), _phase),
        note=text(data.get("note")),
    )


def _graph(value: object) -> model.Graph:
    data = record(value)
    return _joined(_often(data.get("nodes"), _nodes), _often(data.get("edges"), _edges))


@Recent
def _joined(nodes: tuple[model.GraphNode, ...], edges: tuple[model.GraphEdge, ...]) -> model.Graph:
    known = {node.id for node in nodes}
    if not all(edge.source in known and edge.target in known for edge in edges):
        edges = tuple(edge for edge in edges if edge.source in known and edge.target in known)
    return model.Graph(nodes, edges)


def node(value: object) -> model.GraphNode:
    """A box of a picture, from its JSON."""
    if isinstance(value, model.GraphNode):
        return value
    data = record(value)
    return model.GraphNode(
        id=text(data.get("id")),
        kind=text(data.get("kind")) or "stage",
        label=text(data.get("label")),
        type=text(data.get("type")),
        range=text(data.get("range")),
        elements=integer(data.get("elements"), -1),
        bytes=integer(data.get("bytes"), -1),
        reason=text(data.get("reason")),
    )


def _edge(value: object) -> model.GraphEdge:
    if isinstance(value, model.GraphEdge):
        return value
    parts = (*many(value, text), "", "", "")
    return model.GraphEdge(parts[0], parts[1], parts[2])


_nodes = _each(node)
_edges = _each(_edge)


def _model(data: Record) -> costs.Model | None:
    def phase(value: object) -> costs.ModelPhase:
        line = record(value)
        # A file may hold any numbers, but no run takes less than nothing.
        a, b = max(0.0, number(line.get("a"))), max(0.0, number(line.get("b")))
        return costs.ModelPhase(text(line.get("name")), a, b)

    def row(value: object) -> costs.ModelRow:
        data = record(value)
        kept = points(data.get("points"))
        return costs.ModelRow(
            text(data.get("backend")), many(data.get("phases"), phase), kept, text(data.get("predicted"))
        )

    rows = tuple(each for each in many(data.get("rows"), row) if each.backend and each.phases)
    if not rows:
        return None
    met = tuple(each for each in many(data.get("crossings"), _crossing) if each.n >= 1)
    return costs.Model(many(data.get("n"), integer), rows, met)


def points(value: object) -> tuple[tuple[float, float], ...]:
    """Pairs of elements and seconds; what is none is dropped."""
    if type(value) is tuple:  # of a trace, which holds what the compiler computed; JSON has lists
        return cast("tuple[tuple[float, float], ...]", value)
    pairs = (many(point, number) for point in many(value, _json))
    return tuple((n, seconds) for n, seconds in (p for p in pairs if len(p) == 2) if n >= 1 and seconds > 0)


def _crossing(value: object) -> costs.Crossing:
    if isinstance(value, costs.Crossing):
        return value
    data = record(value)
    return costs.Crossing(text(data.get("faster")), text(data.get("than")), number(data.get("n")))


def _cost(data: Record) -> costs.Cost | None:
    def one(value: object) -> costs.Predicted:
        if isinstance(value, costs.Predicted):
            return value
        row = record(value)
        return costs.Predicted(
            text(row.get("backend")), number(row.get("seconds")), integer(row.get("threads")), text(row.get("bound")),
            many(row.get("phases"), _phase),
        )  # fmt: skip

    if not data:
        return None
    kept = tuple(each for each in many(data.get("curves"), curve) if each.backend and len(each.points) > 1)
    return costs.Cost(
        number(data.get("operations")), number(data.get("bytes")), text(data.get("bound")), text(data.get("chosen")),
        text(data.get("because")), text(data.get("calibrated")), number(data.get("measured")),
        many(data.get("predicted"), one), kept,
        tuple(each for each in many(data.get("crossings"), _crossing) if each.n >= 1),
    )  # fmt: skip


def curve(value: object) -> costs.PredictedCurve:
    """A back end's predicted line, from its JSON."""
    if isinstance(value, costs.PredictedCurve):
        return value
    row = record(value)
    return costs.PredictedCurve(
        text(row.get("backend")), points(row.get("points")), points(row.get("measured"))
    )


def _json(value: object) -> Json:
    return cast("Json", value)


def _lanes(data: Record) -> model.Lanes | None:
    steps = _often(data.get("steps"), _steps)
    if not steps:
        return None
    return model.Lanes(
        integer(data.get("lanes"), len(steps[0].values)), steps, integer(data.get("total"), len(steps))
    )


def _step(value: object) -> model.LaneStep:
    if isinstance(value, model.LaneStep):
        return value
    step = record(value)
    values = many(step.get("values"), text)
    active = many(step.get("active"), lambda each: each is not False)
    missing = (True,) * (len(values) - len(active))
    return model.LaneStep(
        integer(step.get("line")), text(step.get("text")), values, (*active, *missing)[: len(values)]
    )


_steps = _each(_step)


def _repeated(data: Record) -> measured.Repeated | None:
    runs, spread = integer(data.get("runs")), many(data.get("spread"), number)
    return measured.Repeated(runs, spread) if runs > 1 and len(spread) == 2 else None


def _split(data: Record) -> measured.Split | None:
    def share(value: object) -> measured.Share:
        part = record(value)
        return measured.Share(
            text(part.get("backend")), text(part.get("device")), integer(part.get("threads")),
            max(0, integer(part.get("elements"))), max(0.0, number(part.get("seconds"))), text(part.get("failed")),
        )  # fmt: skip

    parts = many(data.get("parts"), share)
    waited = min(1.0, max(0.0, number(data.get("waited"))))
    return measured.Split(parts, text(data.get("by")), waited) if parts else None


def _tuning(data: Record) -> measured.Tuning | None:
    def candidate(value: object) -> measured.Candidate:
        tried = record(value)
        return measured.Candidate(
            text(tried.get("schedule")), max(0.0, number(tried.get("seconds"))), many(tried.get("spread"), number),
            tried.get("chosen") is True, text(tried.get("note")),
        )  # fmt: skip

    tried = many(data.get("tried"), candidate)
    if not tried:
        return None
    return measured.Tuning(
        tried, integer(data.get("possible"), len(tried)), integer(data.get("elements")),
        max(0.0, number(data.get("seconds"))), max(0.0, number(data.get("limit"))), text(data.get("ended")),
        text(data.get("earlier")),
    )  # fmt: skip
