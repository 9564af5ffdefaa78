"""Fusion: stages of a pipeline into one loop body (vertical), and neighbouring statements into one loop (horizontal).

    ys = range(1, n) |> map(f) |> map(g)          loop over range(1, n):
    total = ys |> filter(p) |> sum                    ys     = store g(f(x))
                                                      total  = sum   g(f(x)) where p(g(f(x)))

A filter becomes a conjunct of the mask. A second predicate counts only where the first holds, so the
conjunction is
a select, whose branch is not evaluated for the other elements.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hastega_magic.errors import Span
from hastega_magic.ir.expr import Expr, Value, const, flatten, leaf, make, rewrite
from hastega_magic.ir.fused import Effect, Fused, Output
from hastega_magic.ir.pipeline import Fn, Pipeline, Source, Stage, Table
from hastega_magic.types import BOOL, INT


@dataclass
class _Loop:
    """A Fused in the making."""

    sources: list[Source] = field(default_factory=list[Source])
    outputs: list[Output] = field(default_factory=list[Output])
    effects: list[Effect] = field(default_factory=list[Effect])

    def slot(self, source: Source) -> int:
        """The number of the source among the loop's; the same object is loaded once."""
        for number, known in enumerate(self.sources):
            if known.key == source.key and known.kind == source.kind:
                return number
        self.sources.append(source)
        return len(self.sources) - 1


def both(first: Expr | None, second: Expr) -> Expr:
    """`first and second`, where `second` is evaluated only if `first` holds."""
    return second if first is None else make("select", first, second, const(False, BOOL))


def _mapped(value: Value, new: Mapping[Expr, Expr]) -> Value:
    return new[value] if isinstance(value, Expr) else tuple(_mapped(part, new) for part in value)


def fuse(
    pipelines: Sequence[Pipeline],
    tables: tuple[Table, ...] = (),
    spans: Mapping[Expr, Sequence[Span]] | None = None,
) -> Fused:
    """One loop that computes all the pipelines, whose sources have one length; "result" sources name earlier ones."""
    loop = _Loop()
    moved: dict[Expr, tuple[Span, ...]] = {}
    for pipeline in pipelines:
        _add(loop, pipeline, spans or {}, moved)
    return Fused(tuple(loop.sources), tables, tuple(loop.outputs), tuple(loop.effects), {}, moved)


def can_fuse(group: Sequence[Pipeline], candidate: Pipeline) -> bool:
    """Whether the candidate's loop is the group's: over a result of it, or over sources of the same length."""
    if candidate.source.kind == "result":
        producer = next((p for p in reversed(group) if p.name == candidate.source.name), None)
        if producer is None or producer.sink.kind != "array":
            return False
        filtered = any(stage.kind == "filter" for stage in producer.stages)
        pairs = any(stage.kind in ("zip", "enumerate") for stage in candidate.stages)
        if filtered and pairs:
            return False
        return _extent(candidate) is None or _extent(candidate) == _extent(group[0])
    if any(source.kind == "result" for source in _sources(candidate)):
        return False
    return _extent(candidate) == _extent(group[0])


def _sources(pipeline: Pipeline) -> list[Source]:
    return [pipeline.source, *(source for stage in pipeline.stages for source in stage.sources)]


def _extent(pipeline: Pipeline) -> int | None:
    lengths = [source.length for source in _sources(pipeline) if source.kind != "result"]
    return min(lengths) if lengths else None


def _add(
    loop: _Loop, pipeline: Pipeline, spans: Mapping[Expr, Sequence[Span]], moved: dict[Expr, tuple[Span, ...]]
) -> None:
    value, mask = _start(loop, pipeline.source)
    for stage in pipeline.stages:
        value, mask = _after(loop, stage, value, mask, spans, moved)
    loop.outputs.append(Output(pipeline.name, pipeline.sink, value, mask))


def _start(loop: _Loop, source: Source) -> tuple[Value, Expr | None]:
    """An element of the source, and the mask under which there is one."""
    if source.kind != "result":
        return _load(loop, source), None
    producer = next(output for output in reversed(loop.outputs) if output.name == source.name)
    return producer.value, producer.mask


def _after(
    loop: _Loop,
    stage: Stage,
    value: Value,
    mask: Expr | None,
    spans: Mapping[Expr, Sequence[Span]],
    moved: dict[Expr, tuple[Span, ...]],
) -> tuple[Value, Expr | None]:
    """The element and its mask after a stage."""
    match stage.kind:
        case "map":
            assert stage.fn is not None
            return _apply(loop, stage.fn, value, mask, spans, moved), mask
        case "filter":
            assert stage.fn is not None
            kept = _apply(loop, stage.fn, value, mask, spans, moved)
            assert isinstance(kept, Expr)
            return value, both(mask, kept)
        case "zip":
            return (value, *(_load(loop, source) for source in stage.sources)), mask
        case "enumerate":
            index = leaf("index", INT)
            number = make("add", index, const(stage.number)) if stage.number else index
            return (number, value), mask
        case _:
            raise AssertionError(stage.kind)


def _load(loop: _Loop, source: Source) -> Expr:
    return leaf("load", source.type, loop.slot(source))


def _apply(
    loop: _Loop,
    fn: Fn,
    value: Value,
    mask: Expr | None,
    spans: Mapping[Expr, Sequence[Span]],
    moved: dict[Expr, tuple[Span, ...]],
) -> Value:
    mapping = dict(zip(flatten(fn.params), flatten(value), strict=True))
    roots = [*flatten(fn.result)]
    for condition, node in fn.effects:
        roots += [node] if condition is None else [condition, node]
    new = rewrite(roots, lambda node: mapping.get(node, node))
    for old, place in new.items():
        if old in spans:
            known = moved.get(place, ())
            moved[place] = known + tuple(span for span in spans[old] if span not in known)
    for condition, node in fn.effects:
        demanded = mask if condition is None else both(mask, new[condition])
        loop.effects.append(Effect(new[node], demanded))
    return _mapped(fn.result, new)
