"""LLVM IR in explicit vectors from a Kernel.

    claim a run of blocks -> for each block: main loop (lanes · in_flight elements a turn), tail loop (one
    masked vector a turn), then partial results and status of the block -> packed results of the run.

What is written is what runs: no optimiser is asked to vectorise anything.
"""

from __future__ import annotations

from hastega_magic.codegen.llvm.block_end import BlockEnd
from hastega_magic.codegen.llvm.claim import Claims
from hastega_magic.codegen.llvm.debug import located
from hastega_magic.codegen.llvm.factor import factors
from hastega_magic.codegen.llvm.frame import Frame
from hastega_magic.codegen.llvm.handover import Handover
from hastega_magic.codegen.llvm.loops import Loops
from hastega_magic.ir import abi
from hastega_magic.ir.kernel import Kernel
from hastega_magic.ir.target import Target


def generate(kernel: Kernel, target: Target) -> str:
    """The module's text; its function is described in ir/abi.py."""
    frame = Frame(kernel, target)
    w = frame.writer
    frame.entry()
    factors(frame)
    Claims(frame).emit()
    frame.begin_block()
    BlockEnd(frame).emit(Loops(frame).emit())
    w.label("done")
    w.line(f"%turn.next = add i64 %turn, {'%count' if frame.joins else 1}")
    w.line("%more = icmp ult i64 %turn.next, %bound")
    w.line(f"br i1 %more, label %block, label %{'handover' if frame.packs else 'claim'}")
    if frame.packs:
        Handover(frame).emit()
    bits = target.vector_bits
    attributes = f'nounwind "prefer-vector-width"="{bits}" "min-legal-vector-width"="{bits}"'
    found = located(w, 0)
    streamed = ["!0 = !{i32 1}"] if kernel.schedule.stream else []
    metadata = [*streamed, *found.metadata]
    lines = [
        f'target triple = "{target.triple}"',
        "",
        f"define void @{abi.ENTRY}(ptr noalias %words, ptr noalias %scratch) #0{found.attachment} {{",
        *found.lines,
        "}",
        "",
        *w.declarations.values(),
        "",
        f"attributes #0 = {{ {attributes} }}",
        *(["", *metadata] if metadata else []),
    ]
    return "\n".join(lines) + "\n"
