"""Claiming blocks: in order where results are packed, else from the thread's own part of them, then from the others'.

Loops with results that are not packed have one part (`abi.Layout.parts`).

    claim      take the next run of blocks of a part
    empty      there is none: the part is done, or others do the rest
    other      go on with the next part, which another thread has begun with, or nobody
    ask        whether to stop
    run        go through the blocks

Who goes through the same elements again finds those of its own part in the caches of its core, or cluster of cores.
"""

from __future__ import annotations

from hastega_magic.codegen.llvm.frame import Frame
from hastega_magic.ir import abi


class Claims:
    """Emits what a thread does before each run of blocks, and its end."""

    def __init__(self, frame: Frame) -> None:
        """Write into the frame's function."""
        self.frame = frame

    def emit(self) -> None:
        """From the end of the entry to the label `block`: `%first` to `%bound` are claimed."""
        w, frame = self.frame.writer, self.frame
        (self._in_order if frame.packs else self._of_parts)()
        w.label("ask")
        w.line(f"%asked = load atomic i64, ptr {frame.stop} monotonic, align 8")
        w.line("%halt = icmp ne i64 %asked, 0")
        w.line("br i1 %halt, label %leave, label %run")
        w.label("leave")
        if frame.trail:
            frame.trail.rest("last")
        if frame.kernel.schedule.stream:
            w.line("fence seq_cst")  # streaming stores are not ordered by what tells other threads of them
        w.line("ret void")
        w.label("run")
        w.line("br label %block")

    def _in_order(self) -> None:
        """Claim the blocks that come next."""
        w, frame = self.frame.writer, self.frame
        w.line("br label %claim")
        w.label("claim")
        if frame.trail:
            w.line(f"%first = {frame.claiming(frame.next)}")
        else:
            w.line(f"%claim.first = {frame.claiming(frame.next)}")
            w.line("br label %claimed")
            w.label("claimed")
            w.line("%first = phi i64 [ %claim.first, %claim ], [ %ahead, %handed ]")
        w.line(f"%none = icmp uge i64 %first, {frame.blocks}")
        w.line(f"%run.end = add i64 %first, {frame.handed}")
        w.line(f"%bound = {_least('%run.end', frame.blocks)}")
        w.line("br i1 %none, label %leave, label %ask")

    def _of_parts(self) -> None:
        """Claim blocks of a part, from its beginning or from its end on (`runtime/cpu/traversal.py`)."""
        w, frame = self.frame.writer, self.frame
        others = frame.word(abi.OTHERS, "i64", "others")
        w.line(f"%single = icmp eq i64 {others}, 0")
        w.line(f"%span = select i1 %single, i64 {frame.blocks}, i64 {frame.word(abi.SPAN, 'i64', 'span')}")
        w.line("%thread = load i64, ptr %scratch, align 8")
        w.line(f"%thread.part = and i64 %thread, {abi.MOST_PARTS - 1}")
        w.line("%own = select i1 %single, i64 0, i64 %thread.part")
        w.line(f"%back = icmp ne i64 {frame.word(abi.BACK, 'i64', 'backwards')}, 0")
        entry = w.block
        w.line("br label %claim")
        w.label("claim")
        w.line(f"%part.number = phi i64 [ %own, %{entry} ], [ %part.number, %done ], [ %part.next, %other ]")
        w.line(f"%unasked = phi i64 [ {others}, %{entry} ], [ %unasked, %done ], [ %unasked.next, %other ]")
        w.line(f"%part.word = mul i64 %part.number, {abi.LINE}")
        w.line(f"%part.at = getelementptr i64, ptr {frame.shared_word(abi.CLAIMS)}, i64 %part.word")
        w.line(f"%part.claimed = {frame.claiming('%part.at')}")
        w.line("%part.first = mul i64 %part.number, %span")
        w.line(f"%part.begin = {_least('%part.first', frame.blocks)}")
        w.line("%part.whole = add i64 %part.begin, %span")
        w.line(f"%part.end = {_least('%part.whole', frame.blocks)}")
        w.line("%part.size = sub i64 %part.end, %part.begin")
        w.line("%none = icmp uge i64 %part.claimed, %part.size")
        w.line(f"%part.asked = add i64 %part.claimed, {frame.handed}")
        w.line(f"%part.taken = {_least('%part.asked', '%part.size')}")
        w.line("%ahead.first = add i64 %part.begin, %part.claimed")
        w.line("%ahead.bound = add i64 %part.begin, %part.taken")
        w.line("%back.first = sub i64 %part.end, %part.taken")
        w.line("%back.bound = sub i64 %part.end, %part.claimed")
        w.line("%first = select i1 %back, i64 %back.first, i64 %ahead.first")
        w.line("%bound = select i1 %back, i64 %back.bound, i64 %ahead.bound")
        w.line("br i1 %none, label %empty, label %ask")
        w.label("empty")
        w.line("%asked.all = icmp eq i64 %unasked, 0")
        w.line("br i1 %asked.all, label %leave, label %other")
        w.label("other")
        w.line("%unasked.next = sub i64 %unasked, 1")
        w.line("%part.more = add i64 %part.number, 1")
        w.line(f"%part.last = icmp ugt i64 %part.more, {others}")
        w.line("%part.next = select i1 %part.last, i64 0, i64 %part.more")
        w.line("br label %claim")


def _least(one: str, other: str) -> str:
    """The lesser of two numbers of blocks."""
    return f"call i64 @llvm.umin.i64(i64 {one}, i64 {other})"
