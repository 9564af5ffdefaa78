"""Links between the cell and the listings of its code: which lines each stretch of the text became.

    mu * x * (x + 1)  ->  fused 5 · llvm 70 to 77, 102 to 109 · asm 88 to 103 · opencl 31 to 34

What a line belongs to is known by the structure of the loop, and is found once per variant; where that stands in
the text is the present cell's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hastega_magic.compiler.listings import LOOP, Key, PassText, fused_keys, kernel_keys, pass_texts
from hastega_magic.errors import NOWHERE, Span
from hastega_magic.ir.expr import Expr, postorder
from hastega_magic.ir.fused import Fused
from hastega_magic.ir.origins import UNNAMED
from hastega_magic.ir.pipeline import Pipeline, Source
from hastega_magic.runtime import cpu
from hastega_magic.syntax.pipe import normalise
from hastega_magic.syntax.text import Text

if TYPE_CHECKING:
    from hastega_magic.compiler.loops import Body, CompiledLoop

Lines = Mapping[Key, Sequence[int]]
"""The lines of a listing, from 1 and in order, that belong to something."""

LISTINGS = ("fused", "llvm", "asm", "opencl")

_LOCATION = re.compile(r"^!(\d+) = !DILocation\(line: (\d+),", re.MULTILINE)
_ATTACHED = re.compile(r", !dbg !(\d+)$")


@dataclass(frozen=True)
class Shown:
    """What the report shows of a variant: the form after each pass, and the links.

    `places`: what the links follow from beside the variant itself; `sources`: what the forms name in addition.
    """

    passes: Sequence[PassText]
    links: Sequence[Mapping[str, object]]
    places: object
    sources: Sequence[Source]


def shown(compiled: CompiledLoop, body: Body, now: Fused, pipelines: Sequence[Pipeline], cell: str) -> Shown:
    """Passes and links of a variant for a cell; kept beside it until another cell shows it."""
    places = (cell, now.spans, [(each.name, each.span) for each in pipelines])
    known = body.shown if body.shown is not None and body.shown.places == places else None
    if known is None or known.sources != now.sources:
        if body.lines is None:
            body.lines = _lines(compiled, body)
        links = _links(body.lines, now, pipelines, Text(normalise(cell))) if known is None else known.links
        passes = pass_texts(compiled, now, pipelines, body.kernel)
        known = body.shown = Shown(passes, links, places, now.sources)
    return known


def _links(
    lines: Mapping[str, Lines], now: Fused, pipelines: Sequence[Pipeline], cell: Text
) -> list[Mapping[str, object]]:
    """An entry for every stretch of the cell that some line came from, in the order of the text."""
    found: dict[Span, dict[str, set[int]]] = {}
    for listing, by_key in lines.items():
        for key, numbers in by_key.items():
            for span in _spans(key, now, pipelines):
                found.setdefault(span, {}).setdefault(listing, set()).update(numbers)
    return [
        {"span": span.to_list(), "text": cell.cut(span)}
        | {listing: sorted(found[span].get(listing, ())) for listing in LISTINGS}
        for span in sorted(found)
        if 0 < span.line <= span.end_line <= len(cell.lines)
    ]


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
    keys = kernel_keys(body.kernel)
    places: dict[str, Sequence[int]] = {}
    text = body.program.text
    if body.backend.language == "llvm":
        if not compiled.located:  # compiled where nobody looked; but for locations, the text is the same
            text = body.backend.generate(body.kernel, compiled.fast_math)
        known = {int(number): int(line) for number, line in _LOCATION.findall(text)}
        places["llvm"] = [
            known.get(int(found[1]), 0) if (found := _ATTACHED.search(line)) else 0
            for line in text.splitlines()
        ]
        places["asm"] = cpu.listing(text).places
    else:
        from hastega_magic.codegen import opencl

        again, lines = opencl.located(body.kernel, body.backend.target, compiled.fast_math)
        assert again == text, "the text that was built is another one"
        places["opencl"] = lines
    found = {"fused": _inverted(fused_keys(compiled.state, compiled.written))}
    for listing, each in places.items():
        found[listing] = _inverted([keys.get(place, ()) for place in each])
    return {listing: _absorbed(each, compiled.written) for listing, each in found.items()}


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
