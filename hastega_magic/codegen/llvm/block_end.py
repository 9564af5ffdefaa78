"""The end of a block: partial results, status, and what is remembered of it until packed results are handed over."""

from __future__ import annotations

from hastega_magic.codegen.llvm.fold import Carried, Fold
from hastega_magic.codegen.llvm.frame import Frame
from hastega_magic.codegen.llvm.scan import Scans
from hastega_magic.codegen.llvm.text import splat
from hastega_magic.ir.kernel import TROUBLE


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
        if self.frame.rejoins:
            w.line(f"%trouble.any = icmp ne i8 {status}, 0")
            w.line("%many = icmp ugt i64 %count, 1")
            w.line("%unclear = and i1 %trouble.any, %many")
            w.line("br i1 %unclear, label %again, label %told")
            w.label("again")
            w.line("br label %block")
            w.label("told")
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
        if self.frame.packs:
            self._record(final)
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
        elif fold.in_128_bits or fold.statement.wide:
            if fold.statement.wide:
                value, low = fold.wide_sum(w, final.folds[number][0])
            else:
                (low, value), bit = fold.words_across(self.frame.body(), final.folds[number][0])
                overflowed += [bit] if fold.multiplies_ints else []
            second = w.let(f"getelementptr i64, ptr {where}, i64 1")
            w.line(f"store i64 {low}, ptr {second}, align 8")
            w.line(f"store i64 {value}, ptr {where}, align 8")
            return
        else:
            value = fold.across(w, [final.folds[number][0][0]])
        element, value = fold.stored(w, value)
        if words == 2:
            second = w.let(f"getelementptr i64, ptr {where}, i64 1")
            if fold.statement.high is not None:
                low, value = value, "0"
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
        zeros: list[str] = []
        for number, (interval, code) in enumerate(self.frame.bounds):
            assert interval.hi is not None
            self.frame.at(next(a for a in self.frame.assumes if (a.interval, a.status) == (interval, code)))
            assert interval.lo is not None
            if (interval, code) in self.frame.least:
                least = final.ranges[number]
                outside = self._any_lane(w.let(f"icmp slt {i64} {least}, zeroinitializer"))
                zeros.append(self._any_lane(w.let(f"icmp eq {i64} {least}, zeroinitializer")))
                status = w.let(f"select i1 {outside}, i8 {code}, i8 {status}")
                continue
            bits = (interval.hi - interval.lo).bit_length()
            high = w.let(f"lshr {i64} {final.ranges[number]}, {splat('i64', bits)}")
            outside = self._any_lane(w.let(f"icmp ne {i64} {high}, zeroinitializer"))
            status = w.let(f"select i1 {outside}, i8 {code}, i8 {status}")
        if self.frame.troubled or zeros:
            products = (fold.statement for fold in self.frame.folds if fold.multiplies_ints)
            self.frame.at(next(iter(self.frame.guards), None) or next(products, None))
            bad = self._any_lane(final.trouble) if self.frame.troubled else "false"
            for bit in (*overflowed, *zeros):
                bad = w.let(f"or i1 {bad}, {bit}")
            violated = w.let(f"icmp ne i8 {status}, 0")
            trouble = w.let(f"select i1 {bad}, i8 {TROUBLE}, i8 0")
            status = w.let(f"select i1 {violated}, i8 {status}, i8 {trouble}")
        self.frame.at(None)
        return status

    def _record(self, final: Carried) -> None:
        """What the block's handing over needs to know, which comes when those claimed with it are done."""
        w, frame = self.frame.writer, self.frame
        groups = frame.layout.group_count
        if not frame.trail:
            w.line(f"store i64 %number, ptr {frame.record('%place', 0)}, align 8")
        for group, name in enumerate(final.positions):
            index = w.let(f"mul i64 %number, {groups}")
            index = w.let(f"add i64 {index}, {group}")
            where = w.let(f"getelementptr i64, ptr {frame.kept}, i64 {index}")
            w.line(f"store i64 {name}, ptr {where}, align 8")
            if not frame.trail:
                w.line(f"store i64 {name}, ptr {frame.record('%place', 1 + group)}, align 8")
        if frame.trail:
            frame.trail.end_block(final.positions)
        Scans(frame).before(final.positions, final.sums)
        w.line("br label %done")
