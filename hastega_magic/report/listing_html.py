"""Listings as HTML: cut at a readable length, the hot loop first, and what each pass changed."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import lru_cache
from operator import itemgetter

from hastega_magic.report import units
from hastega_magic.report.escape import markup, one_line, sentence
from hastega_magic.report.listing import SAVE, Excerpt, all_shortened, changes, excerpt, hot_loop
from hastega_magic.report.model import Code, PassText

LINES = 80
"""How many lines of one listing are shown under a cell."""

_PRE = (
    "border:1px solid #8b8b85;padding:6px;margin:4px 0;overflow:auto;max-height:420px;"
    "font-family:ui-monospace,Menlo,monospace;font-size:12px;line-height:1.35;white-space:pre"
)
_DIFF = {
    "+": "background:#d6f0dc;color:#0c3a1c",
    "-": "background:#f4e3bd;color:#4a3300",
    "@": "background:#e4e4df;color:#44443f",
}


@lru_cache(maxsize=64)
def listings(code: Code, limit: int, loops: int = 1) -> str:
    """The sections that a cell of the same shape shows again as they are."""
    changed = ", ".join(one_line(step.name) for step in code.passes)
    return "".join(
        (
            details("Fused IR", _became(loops), listing(code.fused, limit)),
            details("Passes", changed, _passes(code, limit)),
            details("LLVM IR", _count(code, "llvm", ", as compiled"), _hot(code.llvm, limit)),
            details("Assembly", _count(code, "asm", ", as run"), _hot(code.asm, limit)),
            details("OpenCL C", _count(code, "opencl"), listing(code.opencl, limit)),
        )
    )


def _became(loops: int) -> str:
    return "the loop that all stages became" if loops < 2 else f"{loops} loops, one after the other"


def details(name: str, hint: str, body: str) -> str:
    """A section that opens on a click; nothing where the body is empty."""
    if not body:
        return ""
    small = f' <span style="opacity:0.8;font-size:12px">{sentence(hint)}</span>' if hint else ""
    return (
        f'<details style="margin:2px 0"><summary style="cursor:pointer"><b>{name}</b>{small}</summary>'
        f'<div style="margin:4px 0 8px 14px">{body}</div></details>'
    )


def pre(body: str) -> str:
    """A block of code, of text already escaped."""
    return f'<pre dir="ltr" style="{_PRE}">{body}</pre>'


def nested(name: str, body: str) -> str:
    """A part of a section that opens on a click; nothing where the body is empty."""
    if not body:
        return ""
    return f'<details><summary style="cursor:pointer">{markup(name)}</summary>{body}</details>'


def _count(code: Code, name: str, ran: str = "") -> str:
    lines = units.plural(len(getattr(code, name).splitlines()), "line")
    return lines + (", not run in this cell" if name in (code.not_run or ()) else ran)


def _cut(part: Excerpt) -> str:
    """A note on what is not shown; nothing where all is."""
    if part.whole:
        return ""
    said = f"Lines {part.first} to {part.last} of {units.grouped(part.total)}. All of them: "
    how = f"<code>{SAVE}</code>"
    return f'<div style="opacity:0.8;font-size:12px">{said}{how}</div>'


@lru_cache(maxsize=256)
def listing(text: str, limit: int) -> str:
    """A listing from its beginning."""
    if not text.strip():
        return ""
    part = excerpt(text, limit)
    return pre(markup(part.text)) + _cut(part)


@lru_cache(maxsize=64)
def _hot(text: str, limit: int) -> str:
    """A listing with its hot loop first, the rest behind a click."""
    loop = hot_loop(text) if text.strip() else None
    if loop is None:
        return listing(text, limit)
    hot = excerpt(text, limit, *loop)
    cut = "" if hot.last == loop[1] else f", of which the first {limit} are shown"
    head = f"The hot loop, lines {loop[0] + 1} to {loop[1]} of {units.grouped(hot.total)}{cut}:"
    # What does not fit whole repeats little beside the loop: its beginning, for the declarations.
    most = limit if hot.total <= limit else limit // 3
    name = f"all {units.plural(hot.total, 'line')}" if hot.total <= limit else f"the first {most} lines"
    return f"<div>{head}</div>{pre(markup(hot.text))}{nested(name, listing(text, most))}"


def _passes(code: Code, limit: int) -> str:
    """Each pass with what it changed, against the one before."""
    out: list[str] = []
    before = code.pipeline
    for number, step in enumerate(code.passes, 1):
        out.append(_pass(step, before, number, min(limit, 80) if limit <= LINES else limit))
        before = step.text
    return "".join(out)


@lru_cache(maxsize=256)
def _pass(step: PassText, before: str, number: int, limit: int) -> str:
    lines = changes(before, step.text)
    signs = [line[0] for line in lines]
    added, removed = signs.count("+"), signs.count("-")
    told = f"+{added} −{removed} lines" if lines else "no change"
    doc = f"<div>{markup(one_line(step.doc))}</div>" if step.doc else ""
    if lines:
        body = doc + pre(_coloured(all_shortened(lines[:limit], limit)))
        body += _cut(Excerpt("", 1, min(limit, len(lines)), len(lines)))
    else:
        body = doc
    if lines or number == 1:  # else the text above it stands
        body += nested(f"all after {one_line(step.name)}", listing(step.text, limit))
    return nested(f"{number}. {one_line(step.name)}  {told}", body or f"<div>{told}</div>")


def _coloured(lines: Sequence[str]) -> str:
    """Lines of a diff: their signs say what they are, the backgrounds only repeat it."""
    parts: list[str] = []
    signs = [line[0] if line[0] in _DIFF else "" for line in lines]
    for sign, group in itertools.groupby(zip(signs, lines, strict=True), itemgetter(0)):
        text = "\n".join([markup(line) for _, line in group])
        parts.append(f'<span style="{_DIFF[sign]}">{text}</span>' if sign else text)
    return "\n".join(parts)
