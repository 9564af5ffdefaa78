"""The pictures of a pipeline for the trace: stages as written, and what they became, with what flows between them.

    before   range ── int [1, 99] ──> map ── int [0, 6] · 792 B ──> tap(print) ── ... ──> ys
    after    range ── int [1, 99], made in registers ──> loop ── int64 · 792 B ──> ✗ tap(print) ──> ys

Bytes before fusion are those that stage after stage would hand over; after it those that really pass through memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.execute import Execution
from hastega_magic.compiler.sources.long_ranges import count_of
from hastega_magic.compiler.statement import Loop
from hastega_magic.interval import Interval
from hastega_magic.ir.expr import Expr, Value, flatten
from hastega_magic.ir.fused import Output
from hastega_magic.ir.pipeline import RUNNING_SINKS, Source
from hastega_magic.ops import OPS
from hastega_magic.passes.fuse import elements
from hastega_magic.passes.pipelines import INFER
from hastega_magic.records import dataclass
from hastega_magic.report import units
from hastega_magic.report.model import GraphEdge, GraphNode
from hastega_magic.runtime.stream import Passed
from hastega_magic.syntax.loops.build import BoundStage
from hastega_magic.trace import Trace
from hastega_magic.types import BOOL, FLOAT32, Complex, Either, ScalarType


class _Graph:
    def __init__(self) -> None:
        self.nodes: list[GraphNode] = []
        self.edges: list[GraphEdge] = []
        self._told: dict[str, object] | None = None

    def node(self, kind: str, label: str, **facts: Any) -> str:
        name = f"n{len(self.nodes)}"
        self.nodes.append(GraphNode(name, kind, label, **facts))
        return name

    def edge(self, start: str, end: str, label: str) -> None:
        self.edges.append(GraphEdge(start, end, label))

    def to_dict(self) -> dict[str, object]:
        """The graph when it is done; the very same when it is asked for again."""
        if self._told is None:
            self._told = {"nodes": tuple(self.nodes), "edges": tuple(self.edges)}
        return self._told


@dataclass(frozen=True)
class _Group:
    """The graphs of a fused group as they were drawn last, and all that they show."""

    key: object
    before: _Graph
    after: _Graph


class Pictures:
    """The graphs before and after fusion: of a fused group, or of one statement, part by part as it runs."""

    def __init__(self, shown: bool = True) -> None:
        """`shown`: whether anybody will look at them; else nothing is done."""
        self._shown = shown
        self.before = _Graph()
        self.after = _Graph()
        # Where the value so far comes from, and what it is, in each graph.
        self._last: tuple[tuple[str, str], tuple[str, str]] | None = None

    def group(self, loops: Sequence[Loop], execution: Execution) -> None:
        """Statements that became one loop."""
        if not self._shown:
            return
        facts = [_facts(value) for value in execution.values]
        lengths = [source.length for source in execution.fused.sources]
        key = execution.length, lengths, facts, [loop.pipeline for loop in loops]
        known = execution.compiled.pictures.get("group")
        if isinstance(known, _Group) and known.key == key:
            self.before, self.after = known.before, known.after
            return
        self._draw(loops, execution)
        execution.compiled.pictures["group"] = _Group(key, self.before, self.after)

    def _draw(self, loops: Sequence[Loop], execution: Execution) -> None:
        results: dict[str, tuple[str, str]] = {}
        box = self._box(loops, execution)
        for number, loop in enumerate(loops):
            end, label = self._written(loop, number, loops, execution, results)
            result = self.before.node("result", loop.name, **_facts(execution.values[number]))
            self.before.edge(end, result, label)
            results[loop.name] = result, label
            leaving = self.after.node("result", loop.name, **_facts(execution.values[number]))
            self.after.edge(box, leaving, _leaving(execution, number))

    def loop(self, loop: Loop, execution: Execution) -> None:
        """The next part of a statement, which became a loop of its own."""
        if not self._shown:
            return
        written = self._written(loop, 0, [loop], execution, {})
        self._last = written, (self._box([loop], execution), _leaving(execution, 0))

    def python(
        self, stages: Sequence[BoundStage], why: str, name: str, source: object, value: object
    ) -> None:
        """The next part, which Python ran, and why. `source`: the value before, which is called `name`."""
        if not self._shown:
            return
        if self._last is None:
            facts = _facts(source)
            starts = tuple(graph.node("source", name, **facts) for graph in (self.before, self.after))
            label = _told(facts)
            self._last = (starts[0], label), (starts[1], label)
        (end, label), (start, leaving) = self._last
        told = _told(_facts(value))
        for number, stage in enumerate(stages):
            reason = {"reason": why} if number == 0 else {}
            place = self.before.node("barrier", stage.site.text, **reason)
            self.before.edge(end, place, label)
            end, label = place, told if number == len(stages) - 1 else ""
        box = self.after.node("barrier", "\n".join(stage.site.text for stage in stages), reason=why)
        self.after.edge(start, box, leaving)
        self._last = (end, told), (box, told)

    def finish(self, name: str, value: object, trace: Trace) -> None:
        """The statement's result, where `loop` and `python` were told of its parts; then the trace has the graphs."""
        if self._last is not None:
            for graph, (end, label) in zip((self.before, self.after), self._last, strict=True):
                graph.edge(end, graph.node("result", name, **_facts(value)), label)
        if self.before.nodes:
            trace.add("graph", before=self.before.to_dict(), after=self.after.to_dict())

    def _written(
        self,
        loop: Loop,
        number: int,
        loops: Sequence[Loop],
        execution: Execution,
        results: Mapping[str, tuple[str, str]],
    ) -> tuple[str, str]:
        """The statement's stages before fusion: the last one, and what leaves it."""
        source, graph = loop.pipeline.source, self.before
        labels = _labels(loops, execution)[number]
        if source.kind == "result":
            current, label = results[source.name]
        elif self._last is not None:
            current, label = self._last[0]
        else:
            current, label = graph.node("source", source.name, **_source(source)), labels[0]
        written: object = None
        for stage, after in zip(loop.pipeline.stages, labels[1:], strict=True):
            if (stage.text, stage.span) != written:  # what the user wrote as one may be several in the loop
                place = graph.node("stage", stage.text)
                graph.edge(current, place, label)
                current, written = place, (stage.text, stage.span)
            for other in stage.sources if stage.kind == "zip" else ():
                graph.edge(graph.node("source", other.name, **_source(other)), current, _entering(other))
            label = after
        sink = loop.pipeline.sink
        if (sink.text, sink.span) == written:
            label = _told(_facts(execution.values[number]))
        elif sink.kind != "array":
            # A running stage gives elements; what is folded in order gives one value, as other sinks.
            kind = "stage" if sink.kind in RUNNING_SINKS - {"fold"} else "sink"
            place = graph.node(kind, sink.text or sink.kind)
            graph.edge(current, place, label)
            current, label = place, _told(_facts(execution.values[number]))
        return current, label

    def _box(self, loops: Sequence[Loop], execution: Execution) -> str:
        """The loop, with its sources."""
        lines = [f"{loop.name}: {', '.join(_steps(loop))}" for loop in loops]
        head = f"one loop over {units.plural(execution.length, 'element')}"
        first = loops[0].pipeline.source
        entering: list[tuple[str, str]] = []
        for source in execution.fused.sources:
            if self._last is not None and (source.kind, source.key) == (first.kind, first.key):
                entering.append(self._last[1])
            else:
                made = " · made in registers" if source.storage is None else ""
                place = self.after.node("source", source.name, **_source(source))
                entering.append((place, _entering(source) + made))
        box = self.after.node("stage", "\n".join([head, *lines]))
        for place, label in entering:
            self.after.edge(place, box, label)
        return box


def _labels(loops: Sequence[Loop], execution: Execution) -> list[list[str]]:
    """For each statement what its source gives, and what leaves each of its stages."""
    compiled = execution.compiled
    key = (execution.length, [loop.pipeline for loop in loops])
    known = compiled.pictures.get("labels")
    if isinstance(known, tuple) and cast("tuple[Any, Any]", known)[0] == key:
        return cast("tuple[Any, list[list[str]]]", known)[1]
    ranges = next(state.loop.ranges for each, state in compiled.steps if each is INFER)
    found: list[list[str]] = []
    filtered: dict[str, bool] = {}
    for loop, values in zip(loops, elements([loop.pipeline for loop in loops]), strict=True):
        source = loop.pipeline.source
        few = filtered.get(source.name, False) if source.kind == "result" else False
        labels = [_entering(source)]
        for stage, value in zip(loop.pipeline.stages, values[1:], strict=True):
            few = few or stage.kind == "filter"
            size = units.size(sum(_width(node.type) for node in flatten(value)) * execution.length)
            labels.append(f"{_types(value, ranges)} · {'at most ' if few else ''}{size}")
        filtered[loop.name] = few
        found.append(labels)
    compiled.pictures["labels"] = key, found
    return found


def _entering(source: Source) -> str:
    size = "" if source.storage is None else f" · {units.size(source.storage.size * source.length)}"
    return (source.type_name if source.parts else _ranged(source.type, source.interval)) + size


def _leaving(execution: Execution, number: int) -> str:
    """What a result of the loop is, in memory where it is an array."""
    output: Output = execution.fused.outputs[number]
    final = execution.compiled.fused.outputs[number].value
    value = execution.values[number]
    told = _told(_facts(value))
    if isinstance(final, Expr) and output.sink.kind in ("array", "to_list"):
        known = _ranged(final.type, execution.compiled.fused.ranges.get(final))
        told = f"{known} · {told.partition(' · ')[2]}".removesuffix(" · ")
    if isinstance(value, Passed):
        told += f" in {units.plural(value.pieces, 'piece')}"
    if output.mask is not None:
        told += f" where {_short(_inline(output.mask))}"
    return told


def _steps(loop: Loop) -> list[str]:
    """`3 × map, filter, sum`."""
    kinds = [stage.kind for stage in loop.pipeline.stages]
    kinds += [loop.pipeline.sink.kind] if loop.pipeline.sink.kind != "array" else []
    out: list[tuple[str, int]] = []
    for kind in kinds or ["copy"]:
        if out and out[-1][0] == kind:
            out[-1] = kind, out[-1][1] + 1
        else:
            out.append((kind, 1))
    return [kind if count == 1 else f"{count} × {kind}" for kind, count in out]


def _source(source: Source) -> dict[str, object]:
    facts: dict[str, object] = {"type": source.type_name, "elements": source.length}
    if source.interval is not None:
        facts["range"] = str(source.interval)
    facts["bytes"] = 0 if source.storage is None else source.storage.size * source.length
    return facts


@lru_cache(64)
def _spelled(dtype: np.dtype[Any]) -> str:
    return str(dtype)  # NumPy does it in Python, each time anew


def _facts(value: object) -> dict[str, object]:
    """What is known of a Python object."""
    if isinstance(value, np.ndarray):
        array = cast("np.ndarray[Any, Any]", value)
        return {
            "type": _spelled(array.dtype),
            "elements": len(array) if array.ndim else 1,
            "bytes": array.nbytes,
        }
    if isinstance(value, Passed):
        return {"type": _spelled(value.dtype), "elements": value.elements, "bytes": value.nbytes}
    found: dict[str, object] = {"type": type(value).__name__}
    if isinstance(value, (list, tuple, range)):
        found["elements"] = count_of(cast(object, value))
    return found


def _told(facts: Mapping[str, object]) -> str:
    size = facts.get("bytes")
    return f"{facts['type']} · {units.size(size)}" if isinstance(size, int) else str(facts["type"])


def _ranged(type_: ScalarType, interval: Interval | None) -> str:
    """`int [0, 6]`; ranges that say nothing are left out."""
    if interval is None or interval.lo is None or interval.hi is None or interval.hi - interval.lo >= _WHOLE:
        return type_.value
    return f"{type_.value} {interval}"


_WHOLE = (1 << 64) - 1


def _types(value: Value, ranges: Mapping[Expr, Interval]) -> str:
    if isinstance(value, Expr):
        return _ranged(value.type, ranges.get(value) if value.type is not BOOL else None)
    if isinstance(value, Complex):
        return "complex64" if value.real.type is FLOAT32 else "complex"
    if isinstance(value, Either):
        return " or ".join(_types(part, ranges) for part in (value.low, value.high))
    return f"({', '.join(_types(part, ranges) for part in value)})"


def _width(type_: ScalarType) -> int:
    return 1 if type_ is BOOL else 4 if type_ is FLOAT32 else 8


def _inline(node: Expr, depth: int = 0) -> str:
    """A node as one expression for a label, cut where it gets deep."""
    if node.op == "const":
        return str(node.value)
    if not node.args:
        return "x" if node.op == "load" else "i" if node.op == "index" else node.op
    if depth == 3:
        return "…"
    parts = [_inline(arg, depth + 1) for arg in node.args]
    symbol = OPS[node.op].symbol if node.op in OPS else ""
    if symbol and len(parts) == 2:
        text = f"{parts[0]} {symbol} {parts[1]}"
        return f"({text})" if depth else text
    return f"{symbol.strip()}{parts[0]}" if symbol and len(parts) == 1 else f"{node.op}({', '.join(parts)})"


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."
