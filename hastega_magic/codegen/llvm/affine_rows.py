"""Rows of affine steps, the value so far times a factor plus the element, and rows of such rows.

The last values of eight rows are a row of rows, and what one row of rows hands to the next is all that is computed one
after the other.
"""

from __future__ import annotations

from hastega_magic.codegen.llvm.frame import Frame
from hastega_magic.codegen.llvm.rows import Rows
from hastega_magic.codegen.llvm.text import literal
from hastega_magic.ir.scan import ROW
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.types import FLOAT

_ONE = literal(1.0, FLOAT)


class AffineRows(Rows):
    """Emits the parts for one store of affine steps."""

    def lasts(self, name: str, lanes: int, position: str) -> None:
        """Keep the last value of each row of a vector."""
        w, place = self.frame.writer, self._total(position)
        for row in range(lanes // ROW):
            where = w.let(f"getelementptr {self.element}, ptr {place}, i64 {row}") if row else place
            own = w.let(f"extractelement <{lanes} x {self.element}> {name}, i32 {row * ROW + ROW - 1}")
            w.line(f"store {self.element} {own}, ptr {where}, align {self.size}")

    def _computed(self, value: str, position: str) -> None:
        self.lasts(value, ROW, position)

    def combine(self, count: str) -> None:
        """The kept last values of rows, each with those before it in its row of rows."""
        w, loop = self.frame.writer, f"far{self.number}"
        _, end = self._over(loop, count)
        where = self._total(f"%{loop}.j")
        value = w.let(f"load {self.row}, ptr {where}, align {self.size}")
        value = self.within(value, ROW, self.further)
        w.line(f"store {self.row} {value}, ptr {where}, align {self.size}")
        self._again(loop, count, end, ROW * ROW)
        w.label(end)

    def fade(self, count: str, start: str) -> str:
        """Keep for each row of rows the value before it, from `start` on; the last value of the block."""
        w, loop = self.frame.writer, f"fade{self.number}"
        before, end = self._over(loop, count)
        w.line(f"%{loop}.value = phi {self.element} [ {start}, %{before} ], [ %{loop}.new, %{loop} ]")
        w.line(f"store {self.element} %{loop}.value, ptr {self._value(f'%{loop}.j')}, align {self.size}")
        last = self._total(w.let(f"add i64 %{loop}.j, {ROW * (ROW - 1)}"))
        own = w.let(f"load {self.element}, ptr {last}, align {self.size}")
        left = w.let(f"fmul {self.element} %{loop}.value, {self.further[-1]}")
        w.line(f"%{loop}.new = fadd {self.element} {left}, {own}")
        self._again(loop, count, end, ROW * ROW)
        w.label(end)
        return w.let(f"phi {self.element} [ {start}, %{before} ], [ %{loop}.new, %{loop} ]")

    def spread(self, count: str) -> None:
        """For each row the value before it, from that of its row of rows."""
        w, loop = self.frame.writer, f"near{self.number}"
        _, end = self._over(loop, count)
        where = self._total(f"%{loop}.j")
        lasts = w.let(f"load {self.row}, ptr {where}, align {self.size}")
        order = ", ".join(f"i32 {ROW if lane == 0 else lane - 1}" for lane in range(ROW))
        missing = self._missing(self.row)
        moved = w.let(f"shufflevector {self.row} {lasts}, {self.row} {missing}, <{ROW} x i32> <{order}>")
        value = w.let(f"load {self.element}, ptr {self._value(f'%{loop}.j')}, align {self.size}")
        scaled = w.let(
            f"fmul {self.row} {self._splatted(self.element, value)}, {self._each((_ONE, *self.further[:-1]))}"
        )
        w.line(
            f"store {self.row} {w.let(f'fadd {self.row} {scaled}, {moved}')}, ptr {where}, align {self.size}"
        )
        self._again(loop, count, end, ROW * ROW)
        w.label(end)

    def _value(self, position: str) -> str:
        """Where the value before the row of rows at a position lies."""
        place = self.frame.writer.let(f"lshr i64 {position}, {2 * (ROW.bit_length() - 1)}")
        place = self.frame.writer.let(f"add i64 {place}, {BLOCK // ROW}")
        base = self.frame.totals[self.number]
        return self.frame.writer.let(f"getelementptr {self.element}, ptr {base}, i64 {place}")


def rows_of(frame: Frame, number: int) -> Rows:
    """What emits the rows of a store."""
    affine = frame.layout.stores[number].running == "affine"
    return AffineRows(frame, number) if affine else Rows(frame, number)


__all__ = ["AffineRows", "rows_of"]
