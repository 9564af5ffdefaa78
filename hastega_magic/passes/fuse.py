"""Fusion: stages of a pipeline into one loop body (vertical), and neighbouring statements into one loop (horizontal).

    ys = range(1, n) |> map(f) |> map(g)          loop over range(1, n):
    total = ys |> filter(p) |> sum                    ys     = store g(f(x))
                                                      total  = sum   g(f(x)) where p(g(f(x)))

A filter becomes a conjunct of the mask. A second predicate counts only where the first holds, so the conjunction is a
select, whose branch is not evaluated for the other elements.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import cast

from hastega_magic.errors import NOWHERE, Span
from hastega_magic.ir.affine import affine_scan, in_blocks, varies
from hastega_magic.ir.expr import Expr, Value, const, flatten, leaf, make, map_value, postorder, rewrite
from hastega_magic.ir.fused import Effect, Fused, Output
from hastega_magic.ir.loop import everything, gated, iteration, loops_in
from hastega_magic.ir.origins import UNNAMED
from hastega_magic.ir.pipeline import Fn, Pipeline, Source, Stage, Table
from hastega_magic.lru import LruCache
from hastega_magic.records import changed, dataclass
from hastega_magic.types import BOOL, INT, Complex


@dataclass
class _Loop:
    """A Fused in the making."""

    sources: list[Source] = field(default_factory=list[Source])
    outputs: list[Output] = field(default_factory=list[Output])
    effects: list[Effect] = field(default_factory=list[Effect])
    spans: dict[Expr, tuple[Span, ...]] = field(default_factory=dict[Expr, "tuple[Span, ...]"])
    parameters: Mapping[Expr, Source] = field(default_factory=dict[Expr, Source])
    """Of the pipeline that is being added."""

    def note(self, node: Expr, places: Iterable[Span]) -> None:
        """The node comes from these places too."""
        known = self.spans.get(node, ())
        new = tuple(span for span in places if span not in known and span != NOWHERE)
        if new:
            self.spans[node] = known + new

    def load(self, source: Source, place: Span) -> Value:
        """An element of the source, which is written there."""
        if source.parts:
            assert len(source.parts) == 2  # numbers of two types lie in no memory
            return Complex(self._load(part, place) for part in source.parts)
        return self._load(source, place)

    def _load(self, source: Source, place: Span) -> Expr:
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
    return map_value(new.__getitem__, value)


def fuse(pipelines: Sequence[Pipeline], tables: tuple[Table, ...] = ()) -> Fused:
    """One loop that computes all the pipelines, whose sources have one length; "result" sources name earlier ones."""
    made, sources = _lately(pipelines)
    loop = made.loop
    places = {id(source): place for place, source in enumerate(made.sources)}
    return Fused(
        tuple([sources[places[id(source)]] for source in loop.sources]),
        tables,
        tuple([
            changed(output, name=each.name, sink=each.sink)
            for output, each in zip(loop.outputs, pipelines, strict=True)
        ]),
        tuple(loop.effects),
        {},
        loop.spans,
    )  # fmt: skip


def elements(pipelines: Sequence[Pipeline]) -> Sequence[Sequence[Value]]:
    """For each pipeline the element of its source, and that after each stage, as nodes of the fused loop."""
    return _lately(pipelines)[0].elements


@dataclass(frozen=True)
class _Made:
    """A loop with what its pipelines' elements are, and all sources that these had when it was made."""

    loop: _Loop
    elements: Sequence[Sequence[Value]]
    sources: Sequence[Source]


_made: LruCache[object, _Made] = LruCache(64)
"""Loops of groups that were fused lately: cells run again and again."""


def _lately(pipelines: Sequence[Pipeline]) -> tuple[_Made, Sequence[Source]]:
    """The loop of the pipelines, or of such that differ in nothing that fusion asks for; and their own sources."""
    same, sources = _sameness(pipelines)
    key = _shape(pipelines), same
    found = _made.get(key)
    if found is None:
        loop = _Loop()
        values = [_Part(loop, pipeline).run() for pipeline in pipelines]
        found = _made.put(key, _Made(loop, values, sources))
    return found, sources


def _shape(group: Sequence[Pipeline]) -> tuple[Pipeline, ...]:
    """The pipelines without what fusion does not read: their names, and how sources are called and where they end."""
    numbers: dict[str, str] = {}
    found: list[Pipeline] = []
    for number, each in enumerate(group):
        source = each.source
        name = numbers.get(source.name, source.name) if source.kind == "result" else ""
        numbers[each.name] = own = str(number)
        found.append(changed(each, name=own, source=changed(source, name=name, interval=None)))
    return tuple(found)


def _sameness(group: Sequence[Pipeline]) -> tuple[object, list[Source]]:
    """What a comparison of pipelines leaves out but fusion asks: which sources are one, and places in the cell.

    With all sources, in the order of the group.
    """
    found: list[Source] = []
    for each in group:
        for source in (*each.sources, *each.sink.init, *(source for _, source in each.parameters)):
            found += (source, *source.parts)
    numbers: dict[tuple[str, int], int] = {}
    same = tuple([numbers.setdefault((source.kind, source.key), len(numbers)) for source in found])
    functions = [
        function for each in group for function in (*(stage.fn for stage in each.stages), each.sink.fn)
    ]
    return (same, tuple([frozenset(each.spans.items()) for each in functions if each is not None])), found


def can_fuse(group: Sequence[Pipeline], candidate: Pipeline) -> bool:
    """Whether the candidate's loop is the group's: over a result of it, or over sources of the same length."""
    scans = [each.sink for each in (*group, candidate) if affine_scan(each.sink)]
    if len(scans) > 1 and any(map(varies, scans)):
        return False  # where one's factor forbids rows, the others are not to be without them
    if candidate.source.kind == "result":
        producer = next((p for p in reversed(group) if p.name == candidate.source.name), None)
        if producer is None or producer.sink.kind != "array":
            return False
        pairs = any(stage.kind in ("zip", "enumerate") for stage in candidate.stages)
        places = pairs or candidate.sink.kind in ("argmin", "argmax")
        if (places or in_blocks(candidate.sink, _floats(candidate))) and _filtered(group, producer):
            return False
        return _extent(candidate) is None or _extent(candidate) == _extent(group[0])
    if any(source.kind == "result" for source in candidate.sources):
        return False
    return _extent(candidate) == _extent(group[0])


def _filtered(group: Sequence[Pipeline], pipeline: Pipeline) -> bool:
    """Whether elements of the group's loop are missing from the pipeline's result."""
    if any(stage.kind == "filter" for stage in pipeline.stages):
        return True
    source = pipeline.source
    before = next((each for each in group if source.kind == "result" and each.name == source.name), None)
    return before is not None and _filtered(group, before)


def _floats(pipeline: Pipeline) -> bool:
    results = [stage.fn.result for stage in pipeline.stages if stage.kind == "map" and stage.fn is not None]
    last = flatten(results[-1]) if results else ()
    return any(node.type.is_float for node in last) or pipeline.source.type.is_float


def _extent(pipeline: Pipeline) -> int | None:
    lengths = [source.length for source in pipeline.sources if source.kind != "result"]
    return min(lengths) if lengths else None


def _start(loop: _Loop, pipeline: Pipeline) -> tuple[Value, Expr | None]:
    """An element of the source, and the mask under which there is one."""
    source = pipeline.source
    if source.kind != "result":
        return loop.load(source, pipeline.source_span), None
    producer = next(output for output in reversed(loop.outputs) if output.name == source.name)
    return producer.value, producer.mask


def _given(loop: _Loop, pipeline: Pipeline) -> Iterator[tuple[Expr, Expr]]:
    """The parameters that the sink's function reads, and their loads."""
    fn = pipeline.sink.fn
    assert fn is not None
    read = set(postorder(fn.roots()))
    for node, source in pipeline.parameters:
        if node in read:
            found = loop.load(source, NOWHERE)
            assert isinstance(found, Expr)
            yield node, found


def _begun(loop: _Loop, fn: Fn, sources: Sequence[Source]) -> Value:
    """The loads of what a function begins with, put together as its first parameter is."""
    loads = iter([loop.load(source, NOWHERE) for source in sources])

    def like(value: Value) -> Value:
        return next(loads) if isinstance(value, (Expr, Complex)) else tuple(map(like, value))

    return like(cast("tuple[Value, Value]", fn.params)[0])


class _Part:
    """One pipeline on its way into the loop: its sources so far, its element, and the mask under which there is one."""

    def __init__(self, loop: _Loop, pipeline: Pipeline) -> None:
        self.loop = loop
        self.pipeline = pipeline
        loop.parameters = dict(pipeline.parameters)
        self.sources = [pipeline.source]
        self.effects = len(loop.effects)
        self.value, self.mask = _start(loop, pipeline)

    def run(self) -> list[Value]:
        """Add all stages and the output; the element as the source has it, and after each stage."""
        found: list[Value] = [self.value]
        for stage in self.pipeline.stages:
            self._after(stage)
            found.append(self.value)
        sink = self.pipeline.sink
        init = None if sink.fn is None or not sink.init else _begun(self.loop, sink.fn, sink.init)
        given = tuple(_given(self.loop, self.pipeline)) if sink.fn is not None else ()
        self.loop.outputs.append(Output(self.pipeline.name, sink, self.value, self.mask, init, given))
        return found

    def _after(self, stage: Stage) -> None:
        loop = self.loop
        match stage.kind:
            case "map":
                assert stage.fn is not None
                self.value = _apply(loop, stage, stage.fn, self.value, self.mask)
            case "filter":
                assert stage.fn is not None
                kept = _apply(loop, stage, stage.fn, self.value, self.mask)
                assert isinstance(kept, Expr)
                found = both(self.mask, kept)
                if found is not kept:
                    loop.note(found, (stage.span,))
                self.mask = found
            case "zip":
                self.sources += stage.sources
                self.value = (self.value, *(loop.load(source, stage.span) for source in stage.sources))
            case "enumerate":
                index = leaf("index", INT)
                number = index if stage.stride == 1 else make("mul", index, const(stage.stride))
                number = make("add", number, const(stage.number)) if stage.number else number
                loop.note(index, (stage.span,))
                loop.note(number, (stage.span,))
                self.value = (number, self.value)
            case "index":
                self.value = leaf("index", INT)
            case "window":
                self._window(stage)
            case _:
                raise AssertionError(stage.kind)

    def _window(self, stage: Stage) -> None:
        """The same computation over the sources moved on by 1, 2, ... elements, side by side."""
        loop, known = self.loop, self.sources
        effects = loop.effects[self.effects :]
        nodes = [*flatten(self.value)]
        for effect in effects:
            nodes += [effect.node] if effect.mask is None else [effect.mask, effect.node]
        parts = [self.value]
        for distance in range(1, stage.number):
            moved = stage.sources[(distance - 1) * len(known) : distance * len(known)]
            change: dict[Expr, Expr] = {leaf("index", INT): make("add", leaf("index", INT), const(distance))}
            for old, source in zip(known, moved, strict=True):
                change |= {
                    leaf("load", before.type, loop.slot(before)): after
                    for before, after in zip(
                        old.parts or (old,), flatten(loop.load(source, stage.span)), strict=True
                    )
                }
            new = rewrite(nodes, lambda node, change=change: change.get(node, node))
            for old, node in new.items():
                loop.note(node, loop.spans.get(old, ()))
            parts.append(_mapped(self.value, new))
            loop.effects += [
                Effect(new[effect.node], None if effect.mask is None else new[effect.mask])
                for effect in effects
            ]
        self.sources = [*known, *stage.sources]
        self.value = tuple(parts)


def _apply(loop: _Loop, stage: Stage, fn: Fn, value: Value, mask: Expr | None) -> Value:
    mapping = dict(zip(flatten(fn.params), flatten(value), strict=True))
    roots = [*flatten(fn.result)]
    for condition, node in fn.effects:
        roots += [node] if condition is None else [condition, node]
    for node in [each for each in postorder(roots) if each in loop.parameters]:
        (mapping[node],) = flatten(loop.load(loop.parameters[node], stage.span))
    new = rewrite(roots, lambda node: mapping.get(node, node))
    if mask is not None:  # elements that are left out make no turns: theirs might never end
        kept = mask
        new = rewrite(roots, lambda node: mapping.get(node) or gated(node, lambda first: both(kept, first)))
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
    for inner in loops_in(new):
        for node in everything(iteration(inner).roots()):
            loop.note(node, fn.spans.get(node, ()))
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
