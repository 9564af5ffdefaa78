"""Packed results and running values in the order of blocks: how a thread hands over the blocks that it claimed at once.

    handover   wait until all blocks before are handed over
    turns      for each block: where its results go, what its running values come to
    passed     the next thread may go on
    writes     for each block: copy from the scratch, compute running values from what came before
    handed     claim again

While results are written, the elements that this thread reads next are asked for: it has claimed them already.
Where all results are packed and go past the caches, they trail behind instead (codegen/llvm/trail.py).
"""

from __future__ import annotations

from collections.abc import Callable

from hastega_magic.codegen.llvm.frame import Frame
from hastega_magic.codegen.llvm.scan import Scans
from hastega_magic.ir.kernel import ROW_BY_ROW
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.types import RESULT_STORAGE

_PATIENCE = 100
"""How often a thread looks whether its turn has come before it lets other threads have its core."""

_SHORT = 1024
"""Bytes of a block up to which a copy past the caches is not worth its alignment."""


class Handover:
    """Emits what follows the last of the blocks that were claimed at once."""

    def __init__(self, frame: Frame) -> None:
        """Write into the frame's function."""
        self.frame = frame

    def emit(self) -> None:
        """From the label `handover` to the label `claimed`."""
        w, frame = self.frame.writer, self.frame
        w.label("handover")
        if frame.trail:
            frame.trail.rest("rest")
        else:
            w.line(f"%ahead = {frame.claiming(frame.next)}")
        self._wait()
        w.label("placed")
        if frame.trail:
            frame.trail.place()
            return
        w.line("%run.length = sub i64 %bound, %first")
        begins = [w.let(f"load i64, ptr {each}, align 8") for each in frame.positions]
        w.line("br label %turns")
        ends = self._each("turns", begins, "passed", self._turn)
        for where, end in zip(frame.positions, ends, strict=True):
            w.line(f"store i64 {end}, ptr {where}, align 8")
        w.line(f"store atomic i64 %bound, ptr {frame.turn} release, align 8")
        w.line("br label %writes")
        self._each("writes", begins, "handed", self._write)
        w.line("br label %claimed")

    def _each(
        self, loop: str, begins: list[str], after: str, emit: Callable[[str, list[str], list[str]], None]
    ) -> list[str]:
        """A loop over the blocks; `emit` is told a block's place among them, its counts and where its results begin.

        Returns where the results of the last one end.
        """
        w, frame = self.frame.writer, self.frame
        before = w.block
        w.label(loop)
        heads = len(w.lines)
        w.line(f"%{loop}.j = phi i64 [ 0, %{before} ], [ %{loop}.next, %LAST ]")
        starts = [f"%{loop}.start{group}" for group in range(len(begins))]
        for start, begin in zip(starts, begins, strict=True):
            w.line(f"{start} = phi i64 [ {begin}, %{before} ], [ {start}.next, %LAST ]")
        frame.enter(f"%{loop}.j")
        counts = [
            w.let(f"load i64, ptr {frame.record(f'%{loop}.j', 1 + group)}, align 8")
            for group in range(len(begins))
        ]
        emit(f"%{loop}.j", counts, starts)
        frame.at(None)
        for start, count in zip(starts, counts, strict=True):
            w.line(f"{start}.next = add i64 {start}, {count}")
        w.line(f"%{loop}.next = add i64 %{loop}.j, 1")
        w.line(f"%{loop}.more = icmp ult i64 %{loop}.next, %run.length")
        for line in range(heads, heads + 1 + len(starts)):
            w.lines[line] = w.lines[line].replace("%LAST", f"%{w.block}")
        w.line(f"br i1 %{loop}.more, label %{loop}, label %{after}")
        w.label(after)
        return [f"{start}.next" for start in starts]

    def _turn(self, place: str, counts: list[str], starts: list[str]) -> None:
        Scans(self.frame).within(place, counts, starts)

    def _write(self, place: str, counts: list[str], starts: list[str]) -> None:
        w, frame = self.frame.writer, self.frame
        asks = self._asking(place)
        for number, store in enumerate(frame.layout.stores):
            group = frame.layout.groups[number]
            written = store.running == "fold" or store.running in ROW_BY_ROW
            if group is None or written or not store.written or not store.in_place:
                continue
            frame.at(store)
            size = RESULT_STORAGE[store.value.type].size
            where = w.let(
                f"getelementptr i8, ptr {frame.results[number]}, i64 {self._bytes(starts[group], size)}"
            )
            self._copy(number, where, self._bytes(counts[group], size), asks)
            asks = None
        Scans(frame).after(place, counts, starts, asks)

    def _copy(self, number: int, into: str, length: str, asks: Callable[[str], None] | None) -> None:
        """What lies packed in the scratch: whole vectors past the caches, where results do not fit into them."""
        w, frame = self.frame.writer, self.frame
        size, packed = frame.target.vector_bits // 8, frame.scratch[number]
        memcpy = "call void @llvm.memcpy.p0.p0.i64(ptr {}, ptr {}, i64 {}, i1 false)"
        if not frame.kernel.schedule.stream or size < 16:
            w.line(memcpy.format(into, packed, length))
            return
        loop, end, vector = f"copy{number}", f"copied{number}", f"<{size // 8} x i64>"
        w.line(f"br i1 {w.let(f'icmp ult i64 {length}, {_SHORT}')}, label %{loop}.short, label %{loop}.long")
        w.label(f"{loop}.short")
        w.line(memcpy.format(into, packed, length))
        w.line(f"br label %{end}")
        w.label(f"{loop}.long")
        address = w.let(f"ptrtoint ptr {into} to i64")
        head = w.let(f"and i64 {w.let(f'sub i64 0, {address}')}, {size - 1}")
        w.line(memcpy.format(into, packed, head))
        stop = w.let(f"sub i64 {length}, {size}")
        w.line(f"br label %{loop}")
        w.label(loop)
        w.line(f"%{loop}.j = phi i64 [ {head}, %{loop}.long ], [ %{loop}.next, %{loop} ]")
        source = w.let(f"getelementptr i8, ptr {packed}, i64 %{loop}.j")
        value = w.let(f"load {vector}, ptr {source}, align 1")
        if asks:
            asks(w.let(f"lshr i64 %{loop}.j, 3"))
        where = w.let(f"getelementptr i8, ptr {into}, i64 %{loop}.j")
        w.line(f"store {vector} {value}, ptr {where}, align {size}, !nontemporal !0")
        w.line(f"%{loop}.next = add i64 %{loop}.j, {size}")
        w.line(f"%{loop}.more = icmp ule i64 %{loop}.next, {stop}")
        w.line(f"br i1 %{loop}.more, label %{loop}, label %{loop}.rest")
        w.label(f"{loop}.rest")
        source = w.let(f"getelementptr i8, ptr {packed}, i64 %{loop}.next")
        where = w.let(f"getelementptr i8, ptr {into}, i64 %{loop}.next")
        w.line(memcpy.format(where, source, w.let(f"sub i64 {length}, %{loop}.next")))
        w.line(f"br label %{end}")
        w.label(end)

    def _asking(self, place: str) -> Callable[[str], None] | None:
        """Emits a request for the elements at a position of a block that comes next, for the level-2 cache."""
        w, frame = self.frame.writer, self.frame
        dense = [
            (address.base, source.storage.size)
            for source, address in zip(frame.kernel.sources, frame.sources, strict=True)
            if source.storage is not None and source.layout == "dense" and not source.beside
        ]
        if not frame.kernel.schedule.prefetch or not dense:
            return None
        block = w.let(f"add i64 %ahead, {place}")
        begin = w.let(f"mul i64 {block}, {BLOCK}")
        bases = [
            w.let(f"getelementptr i8, ptr {base}, i64 {self._bytes(begin, size)}") for base, size in dense
        ]

        def ask(position: str) -> None:
            for base, (_, size) in zip(bases, dense, strict=True):
                where = w.let(f"getelementptr i8, ptr {base}, i64 {self._bytes(position, size)}")
                w.line(f"call void @llvm.prefetch.p0(ptr {where}, i32 0, i32 2, i32 1)")

        return ask

    def _wait(self) -> None:
        """Until the blocks before are handed over: in a loop, for some microseconds, then leaving the core to others.

        The thread that has them may have no core, and this one might be waiting on the core that it needs.
        """
        w, triple = self.frame.writer, self.frame.target.triple
        before = w.block
        w.line("br label %wait")
        w.label("wait")
        w.line(f"%waited = phi i64 [ 0, %{before} ], [ %wait.more, %wait.again ]")
        w.line(f"%turn.now = load atomic i64, ptr {self.frame.turn} acquire, align 8")
        w.line("%turn.mine = icmp eq i64 %turn.now, %first")
        w.line("br i1 %turn.mine, label %placed, label %wait.asked")
        w.label("wait.asked")  # a thread that was asked to stop may have left with the blocks before
        w.line(f"%wait.stop = load atomic i64, ptr {self.frame.stop} monotonic, align 8")
        w.line("%wait.halt = icmp ne i64 %wait.stop, 0")
        w.line("br i1 %wait.halt, label %leave, label %wait.on")
        w.label("wait.on")
        w.line("%wait.more = add i64 %waited, 1")
        if triple.startswith("x86_64"):
            w.line("call void @llvm.x86.sse2.pause()")
        if "windows" in triple:
            w.line("br label %wait.again")
        else:
            w.line(f"%wait.long = icmp ugt i64 %waited, {_PATIENCE}")
            w.line("br i1 %wait.long, label %wait.yield, label %wait.again")
            w.label("wait.yield")
            w.let("call i32 @sched_yield()")
            w.line("br label %wait.again")
        w.label("wait.again")
        w.line("br label %wait")

    def _bytes(self, count: str, size: int) -> str:
        return count if size == 1 else self.frame.writer.let(f"mul i64 {count}, {size}")
