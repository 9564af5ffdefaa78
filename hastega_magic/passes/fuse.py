"""Fusion: stages of a pipeline into one loop body (vertical), and neighbouring statements into one loop (horizontal).

    ys = range(1, n) |> map(f) |> map(g)          loop over range(1, n):
    total = ys |> filter(p) |> sum                    ys     = store g(f(x))
                                                      total  = sum   g(f(x)) where p(g(f(x)))

A filter becomes a conjunct of the mask. A second predicate counts only where the first holds, so the
conjunction is
a select, whose branch is not evaluated for the other elements.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from hastega_magic.errors import NOWHERE, Span
from hastega_magic.ir.expr import Expr, Value, const, flatten, leaf, make, rewrite
from hastega_magic.ir.fused import Effect, Fused, Output
from hastega_magic.ir.origins import UNNAMED
from hastega_magic.ir.pipeline import Fn, Pipeline, Source, Stage, Table
from hastega_magic.types import BOOL, INT


@dataclass
class _Loop:
    """A Fused in the making."""

    sources: list[Source] = field(default_factory=list[Source])
    outputs: list[Output] = field(default_factory=list[Output])
    effects: list[Effect] = field(default_factory=list[Effect])
    spans: dict[Expr, tuple[Span, ...]] = field(default_factory=dict[Expr, "tuple[Span, ...]"])

    def note(self, node: Expr, places: Iterable[Span]) -> None:
        """The node comes from these places too."""
        known = self.spans.get(node, ())
        new = tuple(span for span in places if span not in known and span != NOWHERE)
        if new:
            self.spans[node] = known + new

    def load(self, source: Source, place: Span) -> Expr:
        """An element of the source, which is written there."""
        node = leaf("load", source.type, self.slot(source))
        self.note(node, (place,))
        return node

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


def fuse(pipelines: Sequence[Pipeline], tables: tuple[Table, ...] = ()) -> Fused:
    """One loop that computes all the pipelines, whose sources have one length; "result" sources name earlier ones."""
    loop = _Loop()
    for pipeline in pipelines:
        value, mask = _start(loop, pipeline)
        for stage in pipeline.stages:
            value, mask = _after(loop, stage, value, mask)
        loop.outputs.append(Output(pipeline.name, pipeline.sink, value, mask))
    return Fused(tuple(loop.sources), tables, tuple(loop.outputs), tuple(loop.effects), {}, loop.spans)


def elements(pipelines: Sequence[Pipeline]) -> list[list[Value]]:
    """For each pipeline the element of its source, and that after each stage, as nodes of the fused loop."""
    loop = _Loop()
    found: list[list[Value]] = []
    for pipeline in pipelines:
        value, mask = _start(loop, pipeline)
        found.append([value])
        for stage in pipeline.stages:
            value, mask = _after(loop, stage, value, mask)
            found[-1].append(value)
        loop.outputs.append(Output(pipeline.name, pipeline.sink, value, mask))
    return found


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


def _start(loop: _Loop, pipeline: Pipeline) -> tuple[Value, Expr | None]:
    """An element of the source, and the mask under which there is one."""
    source = pipeline.source
    if source.kind != "result":
        return loop.load(source, pipeline.source_span), None
    producer = next(output for output in reversed(loop.outputs) if output.name == source.name)
    return producer.value, producer.mask


def _after(loop: _Loop, stage: Stage, value: Value, mask: Expr | None) -> tuple[Value, Expr | None]:
    """The element and its mask after a stage."""
    match stage.kind:
        case "map":
            assert stage.fn is not None
            return _apply(loop, stage, stage.fn, value, mask), mask
        case "filter":
            assert stage.fn is not None
            kept = _apply(loop, stage, stage.fn, value, mask)
            assert isinstance(kept, Expr)
            found = both(mask, kept)
            if found is not kept:
                loop.note(found, (stage.span,))
            return value, found
        case "zip":
            return (value, *(loop.load(source, stage.span) for source in stage.sources)), mask
        case "enumerate":
            index = leaf("index", INT)
            number = make("add", index, const(stage.number)) if stage.number else index
            loop.note(index, (stage.span,))
            loop.note(number, (stage.span,))
            return (number, value), mask
        case _:
            raise AssertionError(stage.kind)


def _apply(loop: _Loop, stage: Stage, fn: Fn, value: Value, mask: Expr | None) -> Value:
    mapping = dict(zip(flatten(fn.params), flatten(value), strict=True))
    roots = [*flatten(fn.result)]
    for condition, node in fn.effects:
        roots += [node] if condition is None else [condition, node]
    new = rewrite(roots, lambda node: mapping.get(node, node))
    _place(loop, stage, fn, new)
    for condition, node in fn.effects:
        demanded = mask if condition is None else both(mask, new[condition])
        if demanded is not None and demanded not in loop.spans:
            loop.note(demanded, loop.spans.get(new[node], ()))
        loop.effects.append(Effect(new[node], demanded))
    return _mapped(fn.result, new)


def _place(loop: _Loop, stage: Stage, fn: Fn, new: dict[Expr, Expr]) -> None:
    """Note where the function's nodes come from: their own places, or those of what uses them, or the stage."""
    pending: dict[Expr, dict[Span, None]] = {}
    for condition, node in fn.effects:
        if condition is not None and condition not in fn.spans:
            pending.setdefault(condition, {}).update(dict.fromkeys(fn.spans.get(node, ())))
    for old in reversed(new):  # users before what they use
        if old.op == "param" or old.op in UNNAMED:
            continue
        places = fn.spans.get(old) or tuple(pending.get(old, ())) or (stage.span,)
        loop.note(new[old], places)
        for arg in old.args:
            if arg not in fn.spans:
                pending.setdefault(arg, {}).update(dict.fromkeys(places))
