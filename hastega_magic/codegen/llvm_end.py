"""The end of a block: partial results, status, and packed results in the order of blocks."""

from __future__ import annotations

from hastega_magic.codegen.llvm_fold import Fold
from hastega_magic.codegen.llvm_frame import Frame
from hastega_magic.codegen.llvm_loops import Carried
from hastega_magic.codegen.llvm_scan import Scans
from hastega_magic.codegen.llvm_text import splat
from hastega_magic.ir.kernel import ROW_BY_ROW, TROUBLE
from hastega_magic.types import RESULT_STORAGE

_PATIENCE = 100
"""How often a thread looks whether its turn has come before it lets other threads have its core."""


class BlockEnd:
    """Emits what follows the loops."""

    def __init__(self, frame: Frame) -> None:
        """Write into the frame's function."""
        self.frame = frame

    def emit(self, final: Carried) -> None:
        """From the label `finish` to the label `done`."""
        w = self.frame.writer
        overflowed: list[str] = []
        for number, fold in enumerate(self.frame.folds):
            self.frame.at(fold.statement)
            self._partial(number, fold, final, overflowed)
        self.frame.at(None)
        status = self._status(final, overflowed)
        w.line(f"%status.at = getelementptr i8, ptr {self.frame.status}, i64 %number")
        w.line(f"store i8 {status}, ptr %status.at, align 1")
        if status != "0":
            wide = w.let(f"zext i8 {status} to i64")
            w.line(f"%bad = icmp ne i64 {wide}, 0")
            w.line("br i1 %bad, label %report, label %reported")
            w.label("report")
            w.line(f"%reported.old = atomicrmw or ptr {self.frame.flags}, i64 {wide} monotonic, align 8")
            w.line("br label %reported")
            w.label("reported")
        if self.frame.layout.group_count:
            self._publish(final)
        else:
            w.line("br label %done")

    def _partial(self, number: int, fold: Fold, final: Carried, overflowed: list[str]) -> None:
        w, words = self.frame.writer, fold.statement.words
        index = w.let(f"mul i64 %number, {words}")
        where = w.let(f"getelementptr i64, ptr {self.frame.partials[number]}, i64 {index}")
        if not fold.registers:
            w.line(f"store i64 %size, ptr {where}, align 8")
            return
        if fold.tree:
            places = [str(vector * self.frame.lanes) for vector in range(64 // self.frame.lanes)]
            value = fold.across(w, self.frame.load_lanes(number, places))
        elif fold.kind == "mul":
            (low, value), bit = fold.product_across(self.frame.body(), final.folds[number][0])
            overflowed.append(bit)
            second = w.let(f"getelementptr i64, ptr {where}, i64 1")
            w.line(f"store i64 {low}, ptr {second}, align 8")
            w.line(f"store i64 {value}, ptr {where}, align 8")
            return
        else:
            value = fold.across(w, [final.folds[number][0][0]])
        element, value = fold.stored(w, value)
        if words == 2:
            second = w.let(f"getelementptr i64, ptr {where}, i64 1")
            if fold.statement.wide:
                low = fold.across(w, [final.folds[number][0][1]])
            else:
                low = w.let(f"and i64 {value}, {(1 << 32) - 1}")
                value = w.let(f"ashr i64 {value}, 32")
            w.line(f"store i64 {low}, ptr {second}, align 8")
        w.line(f"store {element} {value}, ptr {where}, align 8")

    def _any_lane(self, name: str) -> str:
        w = self.frame.writer
        bits = w.let(f"bitcast <{self.frame.lanes} x i1> {name} to i{self.frame.lanes}")
        return w.let(f"icmp ne i{self.frame.lanes} {bits}, 0")

    def _status(self, final: Carried, overflowed: list[str]) -> str:
        w, status = self.frame.writer, "0"
        i64 = f"<{self.frame.lanes} x i64>"
        for number, (interval, code) in enumerate(self.frame.bounds):
            assert interval.hi is not None
            self.frame.at(next(a for a in self.frame.assumes if (a.interval, a.status) == (interval, code)))
            bits = interval.hi.bit_length()
            high = w.let(f"lshr {i64} {final.ranges[number]}, {splat('i64', bits)}")
            outside = self._any_lane(w.let(f"icmp ne {i64} {high}, zeroinitializer"))
            status = w.let(f"select i1 {outside}, i8 {code}, i8 {status}")
        if self.frame.troubled:
            products = (fold.statement for fold in self.frame.folds if fold.multiplies_ints)
            self.frame.at(next(iter(self.frame.guards), None) or next(products))
            bad = self._any_lane(final.trouble)
            for bit in overflowed:
                bad = w.let(f"or i1 {bad}, {bit}")
            violated = w.let(f"icmp ne i8 {status}, 0")
            trouble = w.let(f"select i1 {bad}, i8 {TROUBLE}, i8 0")
            status = w.let(f"select i1 {violated}, i8 {status}, i8 {trouble}")
        self.frame.at(None)
        return status

    def _publish(self, final: Carried) -> None:
        """Wait for the block before, take its place in the results, let the next one go on, then copy."""
        w = self.frame.writer
        groups = self.frame.layout.group_count
        for group, name in enumerate(final.positions):
            index = w.let(f"mul i64 %number, {groups}")
            index = w.let(f"add i64 {index}, {group}")
            where = w.let(f"getelementptr i64, ptr {self.frame.kept}, i64 {index}")
            w.line(f"store i64 {name}, ptr {where}, align 8")
        scans = Scans(self.frame)
        scans.before(final.positions)
        self._wait()
        w.label("place")
        starts: list[str] = []
        for where, count in zip(self.frame.positions, final.positions, strict=True):
            starts.append(w.let(f"load i64, ptr {where}, align 8"))
            end = w.let(f"add i64 {starts[-1]}, {count}")
            w.line(f"store i64 {end}, ptr {where}, align 8")
        scans.within(final.positions, starts)
        w.line("%turn.after = add i64 %turn, 1")
        w.line(f"store atomic i64 %turn.after, ptr {self.frame.turn} release, align 8")
        for number, store in enumerate(self.frame.layout.stores):
            group = self.frame.layout.groups[number]
            written = store.running == "fold" or store.running in ROW_BY_ROW
            if group is None or written or store.type is not store.value.type:
                continue
            self.frame.at(store)
            size, packed = RESULT_STORAGE[store.value.type].size, self.frame.scratch[number]
            where = w.let(
                f"getelementptr i8, ptr {self.frame.results[number]}, i64 {self._bytes(starts[group], size)}"
            )
            length = self._bytes(final.positions[group], size)
            w.line(f"call void @llvm.memcpy.p0.p0.i64(ptr {where}, ptr {packed}, i64 {length}, i1 false)")
        self.frame.at(None)
        scans.after(final.positions, starts)
        w.line("br label %done")

    def _wait(self) -> None:
        """Until the block before is published: in a loop, for some microseconds, then leaving the core to others.

        The thread with the block before may have no core, and this one might be waiting on the core that it needs.
        """
        w = self.frame.writer
        before, triple = w.block, self.frame.target.triple
        w.line("br label %wait")
        w.label("wait")
        w.line(f"%waited = phi i64 [ 0, %{before} ], [ %wait.more, %wait.again ]")
        w.line(f"%turn.now = load atomic i64, ptr {self.frame.turn} acquire, align 8")
        w.line("%turn.mine = icmp eq i64 %turn.now, %turn")
        w.line("br i1 %turn.mine, label %place, label %wait.asked")
        w.label("wait.asked")  # a thread that was asked to stop may have left with the block before
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
