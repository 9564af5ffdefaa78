"""Printed forms with holes: what a cell calls sources, tables and results, and the lines that it has them on.

    %0: int [0, 1023] = load ⟨source 0⟩                 ; lines of what it comes from
    ⟨result 0⟩ = sum %0

A loop is compiled once for all cells of its structure, and so it is printed once; each cell fills the holes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from hastega_magic.errors import NOWHERE, Span
from hastega_magic.ir.expr import Expr
from hastega_magic.ir.fused import Fused
from hastega_magic.ir.kernel import Kernel
from hastega_magic.ir.origins import Origins
from hastega_magic.ir.pipeline import Source, Table
from hastega_magic.ir.printer import NOTE_COLUMN, Line, fused_lines, heads, kernel_lines, named, note
from hastega_magic.records import changed, dataclass

# Characters for private use, of which a name is one: no text of the printer's own has any.
_SOURCE, _TABLE, _RESULT = 0xF0000, 0x100000, 0x108000


class _Printed(NamedTuple):
    """A line without its note.

    `holes`: whether it has any; `width`: where its note begins; `keys`: the written nodes that it comes from;
    `result`: whose line it is.
    """

    text: str
    node: Expr | None
    holes: bool
    width: int
    keys: tuple[Expr, ...] = ()
    result: int | None = None


@dataclass(frozen=True)
class Template:
    """A form: its first line, and those behind what is told of sources and tables."""

    first: str
    lines: Sequence[_Printed]

    @classmethod
    def of_fused(cls, form: Fused) -> Template:
        """Of a fused loop."""
        outputs = tuple(
            replace(each, name=chr(_RESULT + number), sink=changed(each.sink, span=NOWHERE))
            for number, each in enumerate(form.outputs)
        )
        sources, tables = _unnamed(form.sources, form.tables)
        bare = replace(form, sources=sources, tables=tables, outputs=outputs, spans={})
        return cls._of(fused_lines(bare), len(sources) + len(tables), form.origins, len(outputs))

    @classmethod
    def of_kernel(cls, kernel: Kernel) -> Template:
        """Of a kernel."""
        sources, tables = _unnamed(kernel.sources, kernel.tables)
        bare = replace(kernel, sources=sources, tables=tables, spans={})
        return cls._of(kernel_lines(bare), len(sources) + len(tables), kernel.origins, 0)

    @classmethod
    def _of(cls, lines: Sequence[Line], told: int, origins: Origins, results: int) -> Template:
        (first, _), body = lines[0], lines[1 + told :]
        last = len(body) - results
        printed = [
            _Printed(
                text,
                node,
                max(text) >= chr(_SOURCE),
                NOTE_COLUMN + len(text) - len(text.lstrip(" ")),
                () if node is None else origins.get(node, ()),
                number - last if number >= last else None,
            )
            for number, (text, node) in enumerate(body)
        ]
        return cls(first, printed)

    def text(self, filling: Filling) -> str:
        """All of it, as a cell has it."""
        names, notes, results = filling.names, filling.notes, filling.results
        lines = [self.first, *filling.heads]
        for text, _, holes, width, keys, result in self.lines:
            line = text.translate(names) if holes else text
            told = (
                results[result]
                if result is not None
                else notes[keys]
                if keys in notes
                else filling.note(keys)
            )
            lines.append(f"{line:<{width}}{told}" if told else line)
        return "\n".join(lines) + "\n"

    def plain(self, filling: Filling) -> list[Line]:
        """All lines without notes, each with the node that it defines."""
        told: list[Line] = [(self.first, None), *((each, None) for each in filling.heads)]
        names = filling.names
        told += [(each.text.translate(names) if each.holes else each.text, each.node) for each in self.lines]
        return told


class Filling:
    """What a cell fills the holes with: the loop as it is fused in it."""

    def __init__(self, now: Fused) -> None:
        sources, tables, outputs = now.sources, now.tables, now.outputs
        self.names = {_SOURCE + slot: named(sources, slot, "source") for slot in range(len(sources))}
        self.names |= {_TABLE + slot: named(tables, slot, "table") for slot in range(len(tables))}
        self.names |= {_RESULT + slot: each.name or "_" for slot, each in enumerate(outputs)}
        self.heads = [text for text, _ in heads(sources, tables)]
        self.results = [note((each.sink.span,)) for each in outputs]
        self.notes: dict[tuple[Expr, ...], str] = {(): ""}
        self._spans: Mapping[Expr, tuple[Span, ...]] = now.spans

    def note(self, keys: tuple[Expr, ...]) -> str:
        """The lines of the cell where these nodes are written."""
        spans = self._spans
        found = self.notes[keys] = note([span for key in keys for span in spans.get(key, ())])
        return found


def _unnamed(
    sources: Sequence[Source], tables: Sequence[Table]
) -> tuple[tuple[Source, ...], tuple[Table, ...]]:
    return (
        tuple(changed(each, name=chr(_SOURCE + slot)) for slot, each in enumerate(sources)),
        tuple(changed(each, name=chr(_TABLE + slot)) for slot, each in enumerate(tables)),
    )


__all__ = ["Filling", "Template"]
