"""The listings of a statement that became several loops, one below the other, with links that still meet their lines.

; ── loop 1 of 2: map(lambda x: x * 2)
fused ...
; ── loop 2 of 2: map(lambda x: x + 1)
fused ...
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import cast

from hastega_magic.compiler.execute import Execution
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.reporting.describe_cost import cost_of
from hastega_magic.compiler.reporting.links import LISTINGS, shown
from hastega_magic.compiler.statement import Loop
from hastega_magic.passes.pipelines import CPU
from hastega_magic.records import dataclass
from hastega_magic.report import units
from hastega_magic.report.model import PassText
from hastega_magic.trace import Trace

MOST = 24
"""Loops of a statement whose listings are shown."""

_COMMENT = {"asm": "#", "opencl": "//"}


@dataclass(frozen=True)
class LoopTexts:
    """What a report shows of a loop that ran: its stages, listings by name, forms after each pass, and links."""

    stages: str
    code: Mapping[str, str]
    passes: tuple[PassText, ...]
    links: Sequence[Mapping[str, object]]
    not_run: Sequence[str]
    cost: Mapping[str, object] = field(default_factory=dict[str, object])
    """What the cost model says of it."""

    @classmethod
    def of(cls, execution: Execution, loops: Sequence[Loop], options: Options, trace: Trace) -> LoopTexts:
        """The texts of the variant that ran first, linked to the cell that the trace begins with."""
        compiled = execution.compiled
        body = compiled.bodies[compiled.first]
        cell = next((str(event.data.get("source", "")) for event in trace.of("cell")), "")
        pipelines = [loop.pipeline for loop in loops]
        found = shown(compiled, compiled.first, execution.fused, pipelines, cell, options)
        code = {
            "pipeline": found.passes[0].text,
            "fused": found.passes[-1 - len(CPU)].text,
            **({"asm": body.assembly} if body.assembly else {}),
            execution.backend.language: body.program.text,
            **found.others.texts,
        }
        stages = ", ".join(stage.site.text for loop in loops for stage in loop.stages)
        return cls(
            stages, code, found.passes, found.links, found.others.not_run, cost_of(execution, loops, options)
        )


def stacked(parts: Sequence[LoopTexts], total: int) -> LoopTexts:
    """The texts of the first of `total` loops, as one: a line above each says which it is."""
    if len(parts) == 1 and total == 1:
        return parts[0]
    code: dict[str, str] = {}
    offsets: dict[str, list[int]] = {}
    for name in dict.fromkeys(name for each in parts for name in each.code):
        text, starts = _below(
            [(each.stages, each.code.get(name, "")) for each in parts], total, _COMMENT.get(name, ";")
        )
        code[name], offsets[name] = text, starts
    docs = {step.name: step.doc for each in parts for step in each.passes}
    passes: list[PassText] = []
    for name, doc in docs.items():
        texts = {id(each): step.text for each in parts for step in each.passes if step.name == name}
        found, _ = _below([(each.stages, texts.get(id(each), "")) for each in parts], total, ";")
        passes.append(PassText(name, doc, found))
    not_run = tuple(dict.fromkeys(name for each in parts for name in each.not_run))
    return LoopTexts("", code, tuple(passes), _links(parts, offsets), not_run, parts[0].cost)


def _below(texts: Sequence[tuple[str, str]], total: int, comment: str) -> tuple[str, list[int]]:
    """Texts with a line above each; how many lines stand above each one's first."""
    lines: list[str] = []
    starts: list[int] = []
    for number, (stages, text) in enumerate(texts, 1):
        told = " ".join(stages.split())
        lines.append(
            f"{comment} ── loop {number} of {total}: {told if len(told) <= 100 else told[:99] + '…'}"
        )
        starts.append(len(lines))
        lines += text.rstrip("\n").split("\n")
    if total > len(texts):
        lines.append(f"{comment} ── {units.plural(total - len(texts), 'more loop')}, without listings")
    return "\n".join(lines) + "\n", starts


def _links(parts: Sequence[LoopTexts], offsets: Mapping[str, Sequence[int]]) -> list[Mapping[str, object]]:
    """Links of all parts, by their stretch of the cell."""
    found: dict[tuple[int, ...], dict[str, object]] = {}
    for number, part in enumerate(parts):
        for link in part.links:
            span = tuple(cast("Sequence[int]", link["span"]))
            entry = found.setdefault(span, {**link, **{name: [] for name in LISTINGS}})
            for name in LISTINGS:
                above = offsets[name][number] if name in offsets else 0
                lines = cast("list[int]", entry[name])
                lines += [line + above for line in cast("Sequence[int]", link[name])]
    return [found[span] for span in sorted(found)]


__all__ = ["MOST", "LoopTexts", "stacked"]
