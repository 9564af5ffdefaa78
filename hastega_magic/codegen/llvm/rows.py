"""Running values in rows of 8: what is computed side by side, and what row after row.

    rows     each element with those before it in its row: lanes 1, 2 and 4 apart are combined
    totals   a number for each row, one after the other: what the rows before it come to
    results  each element of a row with its row's number

A sum adds, an affine step multiplies what comes from the left by a power of its factor (codegen/llvm/affine_rows.py).
The shape depends on nothing but the elements' places, so that every width and back end gives the same bits. Sums of
ints are the same in any shape: a turn only totals them by lanes, and rows are computed as results are written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from hastega_magic.codegen.llvm.body import Body
from hastega_magic.codegen.llvm.frame import Frame
from hastega_magic.codegen.llvm.text import NAN, element_type, literal, mangled, splat
from hastega_magic.ir.expr import postorder
from hastega_magic.ir.kernel import Store
from hastega_magic.ir.scan import ROW, SAFE_BITS
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.records import cached_property
from hastega_magic.types import FLOAT, INT, RESULT_STORAGE

_IOTA = f"<{', '.join(f'i64 {lane}' for lane in range(ROW))}>"
_ZERO = literal(0.0, FLOAT)
_CHEAP = frozenset({"add", "sub", "mul", "neg", "int_to_float"})
_FEW = 4
"""So many operators of these kinds are rather computed twice than their result kept."""
_ROW_BITS = SAFE_BITS + ROW.bit_length() - 1


class Rows:
    """Emits the parts for one store."""

    def __init__(self, frame: Frame, number: int) -> None:
        """Of store `number` of the frame's kernel."""
        self.frame = frame
        self.number = number
        self.store: Store = frame.layout.stores[number]
        type_ = self.store.value.type
        self.ints = type_ is INT
        self.checked = self.ints and not self.store.wraps
        self.element, self.size = element_type(type_), RESULT_STORAGE[type_].size
        self.row = f"<{ROW} x {self.element}>"
        self.add = "add" if self.ints else "fadd"
        self.powers, self.further = frame.powers.get(number, ((), ()))
        self.neutral = "0" if self.ints else literal(-0.0, type_)

    @property
    def early(self) -> bool:
        """Whether rows are computed in registers, before they are put into the scratch.

        Rows of ints are computed as results are written: their sum is the same in any order, and known without them.
        """
        return not self.ints and self.store.mask is None and self.frame.lanes % ROW == 0

    @cached_property
    def recomputed(self) -> bool:
        """Whether elements are computed again as results are written: no scratch holds them then.

        The turn before has brought what they are computed of into the caches, and what is not written there leaves it
        room.
        """
        if self.store.mask is not None or not (self.ints or self.early):
            return False
        nodes = list(postorder([self.store.value]))
        sources = [self.frame.kernel.sources[cast(int, node.value)] for node in nodes if node.op == "load"]
        layouts = {source.layout for source in sources if source.storage is not None}
        operators = [node.op for node in nodes if node.op not in ("load", "const")]
        if (
            len(operators) > _FEW
            or not _CHEAP.issuperset(operators)
            or not all(each.storage for each in sources)
        ):
            return False
        return "dense" in layouts and layouts <= {"dense", "scalar"}

    @property
    def totalled(self) -> bool:
        """Whether the turn that computes elements totals them, too: nothing of the blocks before takes part in it."""
        return self.ints or (self.early and not self.powers)

    @property
    def total_type(self) -> str:
        """Of what a turn carries: sums of ints by lanes, of floats one after the other."""
        return f"<{self.frame.lanes} x {self.element}>" if self.ints else self.element

    @property
    def total_start(self) -> str:
        """What it begins with."""
        return splat(self.element, self.neutral) if self.ints else self.neutral

    def counted(self, name: str, mask: str | None, total: str) -> str:
        """The total by lanes with the ints of one more vector, those that the mask keeps."""
        w, type_ = self.frame.writer, self.total_type
        if mask is not None:
            name = w.let(
                f"select <{self.frame.lanes} x i1> {mask}, {type_} {name}, {type_} {self.total_start}"
            )
        return w.let(f"add {type_} {total}, {name}")

    def across(self, total: str) -> str:
        """One number from the total by lanes."""
        return self.frame.writer.let(
            f"call {self.element} @llvm.vector.reduce.add.{mangled(self.element, self.frame.lanes)}"
            f"({self.total_type} {total})"
        )

    def chain(self, name: str, position: str, total: str) -> str:
        """Keep for each row of a vector of floats what those before it come to; the same of all of them."""
        w, lanes = self.frame.writer, self.frame.lanes
        place = self._total(position)
        for row in range(lanes // ROW):
            where = w.let(f"getelementptr {self.element}, ptr {place}, i64 {row}") if row else place
            w.line(f"store {self.element} {total}, ptr {where}, align {self.size}")
            own = w.let(f"extractelement <{lanes} x {self.element}> {name}, i32 {row * ROW + ROW - 1}")
            total = w.let(f"fadd {self.element} {total}, {own}")
        return total

    def within(self, name: str, lanes: int, powers: tuple[str, ...] | None = None) -> str:
        """A vector of whole rows, each element with those before it in its row; `powers`: of another factor."""
        powers = self.powers if powers is None else powers
        w, type_ = self.frame.writer, f"<{lanes} x {self.element}>"
        missing = self._missing(type_) if powers else splat(self.element, self.neutral)
        for apart in (1, 2, 4):
            numbers = (lanes if lane % ROW < apart else lane - apart for lane in range(lanes))
            order = ", ".join(f"i32 {number}" for number in numbers)
            moved = w.let(f"shufflevector {type_} {name}, {type_} {missing}, <{lanes} x i32> <{order}>")
            if powers:
                moved = w.let(
                    f"fmul {type_} {moved}, {self._splatted(self.element, powers[apart - 1], lanes)}"
                )
            name = w.let(f"{self.add} {type_} {name}, {moved}")
        return name

    def compute(self, count: str) -> None:
        """The rows of a block in the scratch, where they were not computed in registers."""
        w, loop = self.frame.writer, f"rows{self.number}"
        _, end = self._over(loop, count)
        where = self._scratch(f"%{loop}.j")
        raw = w.let(f"load {self.row}, ptr {where}, align {self.size}")
        start = splat(self.element, self.neutral)
        value = w.let(
            f"select <{ROW} x i1> {self._live(f'%{loop}.j', count)}, {self.row} {raw}, {self.row} {start}"
        )
        value = self.within(value, ROW)
        w.line(f"store {self.row} {value}, ptr {where}, align {self.size}")
        self._computed(value, f"%{loop}.j")
        self._again(loop, count, end)
        w.label(end)

    def _computed(self, value: str, position: str) -> None:
        """A row is computed; nothing of it is kept beside it."""

    def totals(self, count: str) -> str:
        """Keep for each row what the rows before it come to; the same of all of them. For sums of floats."""
        w, loop = self.frame.writer, f"totals{self.number}"
        before, end = self._over(loop, count)
        w.line(f"%{loop}.sum = phi {self.element} [ {self.neutral}, %{before} ], [ %{loop}.total, %{loop} ]")
        w.line(f"store {self.element} %{loop}.sum, ptr {self._total(f'%{loop}.j')}, align {self.size}")
        last = self._scratch(w.let(f"add i64 %{loop}.j, {ROW - 1}"))
        own = w.let(f"load {self.element}, ptr {last}, align {self.size}")
        w.line(f"%{loop}.total = fadd {self.element} %{loop}.sum, {own}")
        self._again(loop, count, end)
        w.label(end)
        return w.let(f"phi {self.element} [ {self.neutral}, %{before} ], [ %{loop}.total, %{loop} ]")

    def _missing(self, vector: str) -> str:
        """What elements of affine steps have to their left where there are none."""
        return self.frame.missing.get(vector) or splat(self.element, self.neutral)

    # Results

    def write(
        self, number: str, count: str, start: str, carry: str, asks: Callable[[str], None] | None
    ) -> str:
        """The results of the block `number`; `carry`: the sum of the blocks before, for sums. Whether they are none.

        `asks`: emits a request for elements that are read later, at a position of a block.
        """
        w = self.frame.writer
        begin = w.let(f"mul i64 {number}, {BLOCK}") if self.recomputed else ""
        result = w.let(f"getelementptr {self.element}, ptr {self.frame.results[self.number]}, i64 {start}")
        carries = self._splatted(self.element, carry) if carry else ""
        whole = w.let(f"and i64 {count}, {-ROW}")
        before, loop, rest = w.block, f"write{self.number}", f"written{self.number}"
        none = splat("i64", 0) if self.ints else splat(self.element, literal(0.0, self.store.value.type))
        w.line(f"br i1 {w.let(f'icmp ne i64 {whole}, 0')}, label %{loop}, label %{rest}")
        checked = f"<{ROW} x i64>" if self.ints else self.row
        w.label(loop)
        w.line(f"%{loop}.j = phi i64 [ 0, %{before} ], [ %{loop}.next, %{loop} ]")
        marks = [f"%{loop}.mark{k}" for k in range(2 if self.checked else 0 if self.ints else 1)]
        for name in marks:
            w.line(f"{name} = phi {checked} [ {none}, %{before} ], [ {name}.next, %{loop} ]")
        sums = f"%{loop}.sums"
        if self.ints:
            w.line(f"{sums} = phi {self.row} [ {none}, %{before} ], [ {sums}.next, %{loop} ]")
        found, seen, total = self._results(self._own(begin, f"%{loop}.j"), f"%{loop}.j", carries, sums)
        if asks:
            asks(f"%{loop}.j")
        for name, more in zip(marks, seen, strict=True):
            w.line(f"{name}.next = {'or' if self.ints else 'fadd'} {checked} {name}, {more}")
        where = w.let(f"getelementptr {self.element}, ptr {result}, i64 %{loop}.j")
        streamed = self.store.mask is None and self.frame.streams(self.size)
        hint = f"align {ROW * self.size}, !nontemporal !0" if streamed else f"align {self.size}"
        w.line(f"store {self.row} {found}, ptr {where}, {hint}")
        if self.ints:
            w.line(f"{sums}.next = add {self.row} {sums}, {total}")
        self._again(loop, whole, rest)
        w.label(rest)
        before_rest = [
            w.let(f"phi {checked} [ {none}, %{before} ], [ {name}.next, %{loop} ]") for name in marks
        ]
        if self.ints:
            sums = w.let(f"phi {self.row} [ {none}, %{before} ], [ {sums}.next, %{loop} ]")
        live = self._live(whole, count)
        found, seen, _ = self._results(self._own(begin, whole, live), whole, carries, sums)
        where = w.let(f"getelementptr {self.element}, ptr {result}, i64 {whole}")
        w.line(
            f"call void @llvm.masked.store.{mangled(self.element, ROW)}.p0({self.row} {found}, ptr {where}, "
            f"i32 {self.size}, <{ROW} x i1> {live})"
        )
        ends: list[str] = []
        for name, more in zip(before_rest, seen, strict=True):
            last = w.let(f"select <{ROW} x i1> {live}, {checked} {more}, {checked} {none}")
            ends.append(w.let(f"{'or' if self.ints else 'fadd'} {checked} {name}, {last}"))
        return self._bad(ends)

    def _bad(self, marks: list[str]) -> str:
        """Whether a sum left int64 or might have, or a float was not finite."""
        w = self.frame.writer
        if not marks:
            return ""
        if not self.ints:
            return self._any(w.let(f"fcmp uno {self.row} {marks[0]}, {marks[0]}"))
        high = w.let(f"lshr {self.row} {marks[0]}, {splat('i64', _ROW_BITS)}")
        large = w.let(f"icmp ne {self.row} {high}, zeroinitializer")
        negative = w.let(f"icmp slt {self.row} {marks[1]}, zeroinitializer")
        return self._any(w.let(f"or <{ROW} x i1> {large}, {negative}"))

    def _own(self, begin: str, position: str, live: str | None = None) -> str:
        """A row's elements, each with those before it in its row.

        `begin`: the number of the block's first element, where they are computed again; `live`: which of them there
        are, where not all.
        """
        w = self.frame.writer
        if not begin:
            own = w.let(f"load {self.row}, ptr {self._scratch(position)}, align {self.size}")
            return self.within(own, ROW) if self.ints else own
        schedule = replace(self.frame.kernel.schedule, lanes=ROW, in_flight=1, parts=1, prefetch=0)
        body = Body(
            w, replace(self.frame.kernel, schedule=schedule), self.frame.sources, [], "", "",
            w.let(f"add i64 {begin}, {position}"), 1, mask=live, places=self.frame.places.nodes,
        )  # fmt: skip
        body.emit([self.store.value])
        self.frame.at(self.store)
        return self.within(body[self.store.value][0], ROW)

    def _results(self, own: str, position: str, carry: str, sums: str) -> tuple[str, list[str], str]:
        """A row's results; with ints its bits and signs of overflow, with floats NaN for what is none.

        `sums`: what the rows of ints before it come to; what this one comes to is returned beside.
        """
        w = self.frame.writer
        if self.ints:
            last = ", ".join([f"i32 {ROW - 1}"] * ROW)
            total = w.let(f"shufflevector {self.row} {own}, {self.row} poison, <{ROW} x i32> <{last}>")
            summed = w.let(f"add {self.row} {sums}, {own}")
            found = w.let(f"add {self.row} {carry}, {summed}")
            if not self.checked:
                return found, [], total
            sign = w.let(f"ashr {self.row} {own}, {splat('i64', 63)}")
            folded = w.let(f"xor {self.row} {own}, {sign}")
            left, right = (
                w.let(f"xor {self.row} {carry}, {found}"),
                w.let(f"xor {self.row} {summed}, {found}"),
            )
            return found, [folded, w.let(f"and {self.row} {left}, {right}")], total
        known = self._splatted(
            self.element, w.let(f"load {self.element}, ptr {self._total(position)}, align {self.size}")
        )
        if self.powers:
            known = w.let(f"fmul {self.row} {known}, {self._each(self.powers)}")
            found = w.let(f"fadd {self.row} {known}, {own}")
        else:
            found = w.let(f"fadd {self.row} {carry}, {w.let(f'fadd {self.row} {known}, {own}')}")
        return found, [self._marked(found)], ""

    def _marked(self, found: str) -> str:
        """NaN for results that are not finite, or zeros of doubtful signs (ir/affine.py); else a zero."""
        w, factor = self.frame.writer, self.store.factor
        marks = w.let(f"fmul {self.row} {found}, {splat(self.element, _ZERO)}")
        if factor is None:
            return marks
        of_zero = self.frame.in_doubt[self.number]
        if of_zero != _ZERO:
            mark = self._splatted(self.element, of_zero)
            zero = w.let(f"fcmp oeq {self.row} {found}, {splat(self.element, _ZERO)}")
            marks = w.let(f"select <{ROW} x i1> {zero}, {self.row} {mark}, {self.row} {marks}")
        if factor.doubtful == "negative" and of_zero != NAN:
            bits = w.let(f"bitcast {self.row} {found} to <{ROW} x i64>")
            zero = w.let(f"icmp eq <{ROW} x i64> {bits}, {splat('i64', -(2**63))}")
            mark = splat(self.element, NAN)
            marks = w.let(f"select <{ROW} x i1> {zero}, {self.row} {mark}, {self.row} {marks}")
        return marks

    def _over(self, loop: str, count: str) -> tuple[str, str]:
        """Begin a loop over positions of a block; the labels before it and behind it."""
        w, end = self.frame.writer, f"{loop}.end"
        before = w.block
        w.line(f"br i1 {w.let(f'icmp eq i64 {count}, 0')}, label %{end}, label %{loop}")
        w.label(loop)
        w.line(f"%{loop}.j = phi i64 [ 0, %{before} ], [ %{loop}.next, %{loop} ]")
        return before, end

    def _again(self, loop: str, count: str, end: str, step: int = ROW) -> None:
        w = self.frame.writer
        w.line(f"%{loop}.next = add i64 %{loop}.j, {step}")
        w.line(f"%{loop}.more = icmp ult i64 %{loop}.next, {count}")
        w.line(f"br i1 %{loop}.more, label %{loop}, label %{end}")

    def _scratch(self, position: str) -> str:
        base = self.frame.scratch[self.number]
        return self.frame.writer.let(f"getelementptr {self.element}, ptr {base}, i64 {position}")

    def _total(self, position: str) -> str:
        """Where the number of the row at a position lies."""
        place = self.frame.writer.let(f"lshr i64 {position}, {ROW.bit_length() - 1}")
        base = self.frame.totals[self.number]
        return self.frame.writer.let(f"getelementptr {self.element}, ptr {base}, i64 {place}")

    def _live(self, position: str, count: str) -> str:
        w = self.frame.writer
        left = w.let(f"sub i64 {count}, {position}")
        return w.let(f"icmp ugt <{ROW} x i64> {self._splatted('i64', left)}, {_IOTA}")

    def _splatted(self, element: str, name: str, lanes: int = ROW) -> str:
        """A number, or a constant, in every lane."""
        if not name.startswith("%"):
            return splat(element, name)
        w, vector = self.frame.writer, f"<{lanes} x {element}>"
        first = w.let(f"insertelement {vector} poison, {element} {name}, i32 0")
        return w.let(f"shufflevector {vector} {first}, {vector} poison, <{lanes} x i32> zeroinitializer")

    def _any(self, mask: str) -> str:
        bits = self.frame.writer.let(f"bitcast <{ROW} x i1> {mask} to i{ROW}")
        return self.frame.writer.let(f"icmp ne i{ROW} {bits}, 0")

    def _each(self, numbers: tuple[str, ...]) -> str:
        """A row of numbers, or of constants."""
        if not any(name.startswith("%") for name in numbers):
            return f"<{', '.join(f'{self.element} {name}' for name in numbers)}>"
        row = "poison"
        for lane, name in enumerate(numbers):
            row = self.frame.writer.let(f"insertelement {self.row} {row}, {self.element} {name}, i32 {lane}")
        return row
