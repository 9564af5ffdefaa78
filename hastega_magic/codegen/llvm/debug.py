"""Debug locations of LLVM IR: which line of the printed kernel an instruction computes.

    %v9 = mul <8 x i64> %v1, %v8, !dbg !6           !6 = !DILocation(line: 6, scope: !22)
    %i.next = add i64 %i, 64, !dbg !23              !23 = !DILocation(line: 0, scope: !22)

Location !k is line k. Of the kernel rather than of the cell, as the same code serves every cell with this loop.
They ask for directives in the assembly alone (no debug sections), and do not change the machine code. A kernel
need not have them (`located`).
"""

from __future__ import annotations

from collections.abc import Sequence

from hastega_magic.codegen.llvm.text import Writer
from hastega_magic.ir import abi
from hastega_magic.records import dataclass


@dataclass(frozen=True)
class Located:
    """A function's lines with their locations, what to put behind its attributes, and the metadata."""

    lines: Sequence[str]
    attachment: str
    metadata: Sequence[str]


def located(writer: Writer, first: int) -> Located:
    """The written function with its locations; names of other metadata begin at `first` or later."""
    used = sorted(set(writer.places.values()))
    if not used:
        return Located(writer.lines, "", [])
    unit, flags, file, program, none = range(1 + max(first, used[-1]), 6 + max(first, used[-1]))
    lines: list[str] = []
    after = False  # an instruction without a location is taken for part of the one before
    for number, line in enumerate(writer.lines):
        if not line.startswith("  "):
            after = False
            lines.append(line)
            continue
        place = writer.places.get(number, 0)
        lines.append(f"{line}, !dbg !{place or none}" if place or after else line)
        after = after or place > 0
    metadata = [
        f"!llvm.dbg.cu = !{{!{unit}}}",
        f"!llvm.module.flags = !{{!{flags}}}",
        *(f"!{place} = !DILocation(line: {place}, scope: !{program})" for place in used),
        f"!{unit} = distinct !DICompileUnit(language: DW_LANG_C, file: !{file}, emissionKind: DebugDirectivesOnly)",
        f'!{flags} = !{{i32 2, !"Debug Info Version", i32 3}}',
        f'!{file} = !DIFile(filename: "kernel", directory: "")',
        f'!{program} = distinct !DISubprogram(name: "{abi.ENTRY}", file: !{file}, unit: !{unit})',
        f"!{none} = !DILocation(line: 0, scope: !{program})",
    ]
    return Located(lines, f" !dbg !{program}", metadata)
