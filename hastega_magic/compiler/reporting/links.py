"""Links between the cell and the listings of its code: which lines each stretch of the text became.

    mu * x * (x + 1)  ->  fused 5 · llvm 70 to 77, 102 to 109 · asm 88 to 103 · opencl 31 to 34

What a line belongs to is known by the structure of the loop, and is found once per variant; where that stands in
the text is the present cell's.
"""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, cast

from hastega_magic.compiler.options import Options
from hastega_magic.compiler.reporting.listings import LOOP, Key, fused_keys, kernel_keys, pass_texts
from hastega_magic.compiler.reporting.spellings import Listing, Others, llvm_listings, opencl_listings, others
from hastega_magic.errors import NOWHERE, Span
from hastega_magic.ir.expr import Expr, postorder
from hastega_magic.ir.fused import Fused
from hastega_magic.ir.kernel import Kernel
from hastega_magic.ir.origins import UNNAMED
from hastega_magic.ir.pipeline import Pipeline, Source
from hastega_magic.records import cached_property, dataclass
from hastega_magic.report.model import PassText
from hastega_magic.syntax.reading.pipe import normalise
from hastega_magic.syntax.reading.text import Text

if TYPE_CHECKING:
    from hastega_magic.compiler.loops import Body, CompiledLoop

Lines = Mapping[Key, Sequence[int]]
"""The lines of a listing, from 1 and in order, that belong to something."""

LISTINGS = ("fused", "llvm", "asm", "opencl")


@dataclass(frozen=True)
class Shown:
    """What the report shows of a variant: the form after each pass, its text for other back ends, and the links.

    `places`: what the links follow from beside the variant itself; `sources`: what the forms name in addition.
    """

    cell: str
    passes: tuple[PassText, ...]
    links: Sequence[Mapping[str, object]]
    places: object
    sources: Sequence[Source]
    others: Others

    def is_for(self, places: object, cell: str) -> bool:
        """Whether the links are those of a cell: what they lead from stands at the same places of it."""
        if self.places != places or cell == self.cell:
            return self.places == places
        text = Text(normalise(cell))
        spans = [Span(*cast("list[int]", each["span"])) for each in self.links]
        within = all(each.end_line <= len(text.lines) for each in spans)
        return within and [text.cut(each) for each in spans] == [each["text"] for each in self.links]


def shown(
    compiled: CompiledLoop,
    number: int,
    now: Fused,
    pipelines: Sequence[Pipeline],
    cell: str,
    options: Options,
) -> Shown:
    """Passes, texts and links of a variant for a cell; kept beside it until another cell shows it."""
    body = compiled.bodies[number]
    asked = tuple(name for name in options.compare if name not in ("python", "numpy"))
    places = (now.spans, [(each.name, each.span) for each in pipelines], asked)
    known = body.shown if body.shown is not None and body.shown.is_for(places, cell) else None
    if known is None or known.sources != now.sources:
        if body.lines is None:
            body.lines = _lines(compiled, body)
        text = Text(normalise(cell))
        beside = _beside(compiled, number, body.lines, asked, options)
        links = _links(beside.numbers, now, pipelines, text) if known is None else known.links
        passes = pass_texts(compiled, number, now, pipelines)
        known = body.shown = Shown(cell, passes, links, places, now.sources, beside.others)
    return known


@dataclass(frozen=True)
class LineNumbers:
    """The lines of all listings that belong to keys; of keys at one place they are found once, wherever it is."""

    lines: Mapping[str, Lines]
    together: dict[frozenset[Key], dict[str, list[int]]] = field(
        default_factory=dict[frozenset[Key], dict[str, list[int]]]
    )

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        """All that lines belong to."""
        return tuple(dict.fromkeys(key for each in self.lines.values() for key in each))

    def of(self, keys: frozenset[Key]) -> Mapping[str, list[int]]:
        """By listing, the lines of all these keys, in order."""
        found = self.together.get(keys)
        if found is None:
            listings = {name: self.lines.get(name, {}) for name in LISTINGS}
            found = {
                name: sorted({line for key in keys for line in lines.get(key, ())})
                for name, lines in listings.items()
            }
            if len(self.together) >= _PLACES:
                self.together.clear()
            self.together[keys] = found
        return found


_PLACES = 1000
"""Places whose lines are kept for a loop: cells that write it in other ways have other keys at one place."""


@dataclass(frozen=True)
class _Beside:
    asked: tuple[str, ...]
    others: Others
    numbers: LineNumbers


def _beside(
    compiled: CompiledLoop, number: int, own: Mapping[str, Lines], asked: tuple[str, ...], options: Options
) -> _Beside:
    """The variant's texts for other back ends, and what all lines belong to; kept for the next cell."""
    known = compiled.pictures.get(f"others {number}")
    if isinstance(known, _Beside) and known.asked == asked:
        return known
    found = others(replace(compiled.state, variant=number), compiled.backend, options)
    lines = {**own}
    for each in found.spellings:
        lines |= _listed(each.kernel, each.listings, compiled.written)
    made = compiled.pictures[f"others {number}"] = _Beside(asked, found, LineNumbers(lines))
    return made


def _links(
    numbers: LineNumbers, now: Fused, pipelines: Sequence[Pipeline], cell: Text
) -> list[Mapping[str, object]]:
    """An entry for every stretch of the cell that some line came from, in the order of the text."""
    found: dict[Span, set[Key]] = {}
    for key in numbers.keys:
        for span in _spans(key, now, pipelines):
            found.setdefault(span, set()).add(key)
    _gather(found, pipelines)
    return [
        {"span": span.to_list(), "text": cell.cut(span), **numbers.of(frozenset(found[span]))}
        for span in sorted(found)
        if 0 < span.line <= span.end_line <= len(cell.lines)
    ]


def _gather(found: dict[Span, set[Key]], pipelines: Sequence[Pipeline]) -> None:
    """Let each stage have the lines of all that stands in it, so that its name leads to its code."""
    order = sorted(found)
    for span in {stage.span for each in pipelines for stage in (*each.stages, each.sink)}:
        begun_in = order[bisect_left(order, span[:2]) : bisect_right(order, (*span[2:], sys.maxsize))]
        inside = [found[other] for other in begun_in if other != span and other.within(span)]
        if span != NOWHERE and inside:
            found.setdefault(span, set()).update(*inside)


def _spans(key: Key, now: Fused, pipelines: Sequence[Pipeline]) -> Iterable[Span]:
    """Where something stands: a result where its sink is written, or the pipeline that gives it."""
    if isinstance(key, Expr):
        return now.spans.get(key, ())
    if key == LOOP:
        return [each.span for each in pipelines]
    own = now.outputs[key].sink.span
    return [pipelines[key].span if own == NOWHERE else own]


def _lines(compiled: CompiledLoop, body: Body) -> dict[str, Lines]:
    """By listing, the lines that belong to each node and output of the written loop."""
    text = body.program.text
    if body.backend.language == "llvm":
        if not compiled.located:  # compiled where nobody looked; but for locations, the text is the same
            text = body.backend.generate(body.kernel, compiled.fast_math)
        listings = llvm_listings(text)
    else:
        listings = opencl_listings(body.kernel, body.backend.target, compiled.fast_math)
        assert listings["opencl"].text == text, "the text that was built is another one"
    fused = _absorbed(_inverted(fused_keys(compiled.state, compiled.written)), compiled.written)
    return {"fused": fused, **_listed(body.kernel, listings, compiled.written)}


def _listed(kernel: Kernel, listings: Mapping[str, Listing], written: Fused) -> dict[str, Lines]:
    """The same for listings of a kernel."""
    keys = kernel_keys(kernel)
    return {
        name: _absorbed(_inverted([keys.get(place, ()) for place in each.places]), written)
        for name, each in listings.items()
    }


def _inverted(keys: Sequence[Iterable[Key]]) -> dict[Key, list[int]]:
    found: dict[Key, list[int]] = {}
    for number, each in enumerate(keys, 1):
        for key in each:
            found.setdefault(key, []).append(number)
    return found


def _absorbed(lines: Mapping[Key, Sequence[int]], written: Fused) -> Lines:
    """Nodes that became part of others, such as x + 1 in a multiply-add, have the lines of what uses them."""
    found = dict(lines)
    pending: dict[Expr, set[int]] = {}
    for node in reversed(list(postorder(written.roots()))):
        if node.op in UNNAMED:
            continue
        if node not in found and node in pending:
            found[node] = sorted(pending[node])
        for arg in node.args:
            if arg not in lines and node in found:
                pending.setdefault(arg, set()).update(found[node])
    return found
