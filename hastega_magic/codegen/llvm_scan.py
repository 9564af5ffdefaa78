"""Running values at the end of a block: prefix sums in a fixed shape, and functions of the value so far, in order.

A block's elements lie packed in the thread's scratch. Sums: rows of 8 are summed by lanes 1, 2 and 4 apart, row after
row, before the block's turn comes; then the block takes the sum of all blocks before, hands on its own, and adds. The
shape depends on nothing but the elements' places, so that every width and back end gives the same bits. Other functions
are applied one element after the other while the block has its turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hastega_magic.codegen.llvm_body import Body, memory_type
from hastega_magic.codegen.llvm_frame import Frame
from hastega_magic.codegen.llvm_text import element_type, mangled, splat
from hastega_magic.ir.kernel import TROUBLE, Store
from hastega_magic.ir.loop import results_used
from hastega_magic.ir.scan import ROW, SAFE_BITS
from hastega_magic.types import BOOL, RESULT_STORAGE, ScalarType

_IOTA = f"<{', '.join(f'i64 {lane}' for lane in range(ROW))}>"


class Scans:
    """Emits what stores with running values need around a block's turn."""

    def __init__(self, frame: Frame) -> None:
        """Write into the frame's function."""
        self.frame = frame
        self.stores = [(number, store) for number, store in enumerate(frame.layout.stores) if store.running]
        self.totals: dict[int, str] = {}
        self.carries: dict[int, str] = {}
        self.troubles: list[str] = []

    def before(self, counts: Sequence[str]) -> None:
        """Sums within the block, in its scratch. `counts`: how many elements each packed group has."""
        for number, store in self.stores:
            if store.running == "cumsum":
                self.frame.at(store)
                self._prefix(number, store, counts[self._group(number)])

    def within(self, counts: Sequence[str], starts: Sequence[str]) -> None:
        """While the block has its turn: take what the blocks before hand on, and hand on what this one comes to."""
        for number, store in self.stores:
            self.frame.at(store)
            if store.running == "cumsum":
                self._take(number, store)
            else:
                group = self._group(number)
                self._steps(number, store, counts[group], starts[group])

    def after(self, counts: Sequence[str], starts: Sequence[str]) -> None:
        """The turn is the next block's: write the sums, and tell of trouble."""
        for number, store in self.stores:
            if store.running == "cumsum":
                self.frame.at(store)
                group = self._group(number)
                self._write(number, store, counts[group], starts[group])
        self.frame.at(None)
        if self.troubles:
            self._report()

    def _group(self, number: int) -> int:
        group = self.frame.layout.groups[number]
        assert group is not None
        return group

    def _types(self, store: Store) -> tuple[str, str, str, int]:
        """Element, row of elements, what changes nothing in a sum, bytes."""
        element = element_type(store.value.type)
        neutral = "0" if element == "i64" else "0x8000000000000000"
        return element, f"<{ROW} x {element}>", neutral, RESULT_STORAGE[store.value.type].size

    def _carry(self, number: int) -> str:
        return self.frame.writer.let(
            f"getelementptr i64, ptr {self.frame.shared}, i64 {self.frame.layout.carry(number)}"
        )

    # Sums

    def _prefix(self, number: int, store: Store, count: str) -> None:
        w = self.frame.writer
        element, row, neutral, size = self._types(store)
        before, loop, end = w.block, f"prefix{number}", f"prefixed{number}"
        add = "add" if element == "i64" else "fadd"
        start = splat(element, neutral)
        none = w.let(f"icmp eq i64 {count}, 0")
        w.line(f"br i1 {none}, label %{end}, label %{loop}")
        w.label(loop)
        w.line(f"%{loop}.j = phi i64 [ 0, %{before} ], [ %{loop}.next, %{loop} ]")
        w.line(f"%{loop}.sum = phi {row} [ {start}, %{before} ], [ %{loop}.total, %{loop} ]")
        if element == "i64":
            w.line(f"%{loop}.bits = phi {row} [ {splat('i64', 0)}, %{before} ], [ %{loop}.seen, %{loop} ]")
        where = w.let(f"getelementptr {element}, ptr {self.frame.scratch[number]}, i64 %{loop}.j")
        raw = w.let(f"load {row}, ptr {where}, align {size}")
        live = self._live(f"%{loop}.j", count)
        value = w.let(f"select <{ROW} x i1> {live}, {row} {raw}, {row} {start}")
        if element == "i64":
            sign = w.let(f"ashr {row} {value}, {splat('i64', 63)}")
            folded = w.let(f"xor {row} {value}, {sign}")
            w.line(f"%{loop}.seen = or {row} %{loop}.bits, {folded}")
        for apart in (1, 2, 4):
            lanes = ", ".join(f"i32 {ROW if lane < apart else lane - apart}" for lane in range(ROW))
            moved = w.let(f"shufflevector {row} {value}, {row} {start}, <{ROW} x i32> <{lanes}>")
            value = w.let(f"{add} {row} {value}, {moved}")
        found = w.let(f"{add} {row} %{loop}.sum, {value}")
        w.line(f"store {row} {found}, ptr {where}, align {size}")
        last = ", ".join([f"i32 {ROW - 1}"] * ROW)
        across = w.let(f"shufflevector {row} {value}, {row} poison, <{ROW} x i32> <{last}>")
        w.line(f"%{loop}.total = {add} {row} %{loop}.sum, {across}")
        w.line(f"%{loop}.next = add i64 %{loop}.j, {ROW}")
        w.line(f"%{loop}.more = icmp ult i64 %{loop}.next, {count}")
        w.line(f"br i1 %{loop}.more, label %{loop}, label %{end}")
        w.label(end)
        total = w.let(f"phi {row} [ {start}, %{before} ], [ %{loop}.total, %{loop} ]")
        seen = ""
        if element == "i64":
            seen = w.let(f"phi {row} [ {splat('i64', 0)}, %{before} ], [ %{loop}.seen, %{loop} ]")
            high = w.let(f"lshr {row} {seen}, {splat('i64', SAFE_BITS)}")
            self.troubles.append(self._any(w.let(f"icmp ne {row} {high}, zeroinitializer")))
        self.totals[number] = w.let(f"extractelement {row} {total}, i32 0")

    def _live(self, position: str, count: str) -> str:
        w = self.frame.writer
        left = w.let(f"sub i64 {count}, {position}")
        return w.let(f"icmp ugt <{ROW} x i64> {self._splatted('i64', left)}, {_IOTA}")

    def _splatted(self, element: str, name: str) -> str:
        w, row = self.frame.writer, f"<{ROW} x {element}>"
        first = w.let(f"insertelement {row} poison, {element} {name}, i32 0")
        return w.let(f"shufflevector {row} {first}, {row} poison, <{ROW} x i32> zeroinitializer")

    def _any(self, mask: str) -> str:
        bits = self.frame.writer.let(f"bitcast <{ROW} x i1> {mask} to i{ROW}")
        return self.frame.writer.let(f"icmp ne i{ROW} {bits}, 0")

    def _take(self, number: int, store: Store) -> None:
        w = self.frame.writer
        element, _, _, size = self._types(store)
        word = self._carry(number)
        self.carries[number] = old = w.let(f"load {element}, ptr {word}, align {size}")
        add = "add" if element == "i64" else "fadd"
        new = w.let(f"{add} {element} {old}, {self.totals[number]}")
        w.line(f"store {element} {new}, ptr {word}, align {size}")

    def _write(self, number: int, store: Store, count: str, start: str) -> None:
        """Rows of the block, on top of the blocks before; the last, shorter one under a mask."""
        w = self.frame.writer
        element, row, _, size = self._types(store)
        result = w.let(f"getelementptr {element}, ptr {self.frame.results[number]}, i64 {start}")
        carry = self._splatted(element, self.carries[number])
        whole = w.let(f"and i64 {count}, {-ROW}")
        before, loop, rest = w.block, f"write{number}", f"written{number}"
        some = w.let(f"icmp ne i64 {whole}, 0")
        zero = splat("i64", 0)
        w.line(f"br i1 {some}, label %{loop}, label %{rest}")
        w.label(loop)
        w.line(f"%{loop}.j = phi i64 [ 0, %{before} ], [ %{loop}.next, %{loop} ]")
        if element == "i64":
            w.line(f"%{loop}.bits = phi {row} [ {zero}, %{before} ], [ %{loop}.seen, %{loop} ]")
        found, over = self._row(number, element, row, size, f"%{loop}.j", carry)
        if element == "i64":
            w.line(f"%{loop}.seen = or {row} %{loop}.bits, {over}")
        where = w.let(f"getelementptr {element}, ptr {result}, i64 %{loop}.j")
        streamed = store.mask is None and self.frame.streams(size)
        hint = f"align {ROW * size}, !nontemporal !0" if streamed else f"align {size}"
        w.line(f"store {row} {found}, ptr {where}, {hint}")
        w.line(f"%{loop}.next = add i64 %{loop}.j, {ROW}")
        w.line(f"%{loop}.more = icmp ult i64 %{loop}.next, {whole}")
        w.line(f"br i1 %{loop}.more, label %{loop}, label %{rest}")
        w.label(rest)
        seen = ""
        if element == "i64":
            seen = w.let(f"phi {row} [ {zero}, %{before} ], [ %{loop}.seen, %{loop} ]")
        found, over = self._row(number, element, row, size, whole, carry)
        live = self._live(whole, count)
        where = w.let(f"getelementptr {element}, ptr {result}, i64 {whole}")
        w.line(
            f"call void @llvm.masked.store.{mangled(element, ROW)}.p0({row} {found}, ptr {where}, i32 {size}, "
            f"<{ROW} x i1> {live})"
        )
        if element == "i64":
            last = w.let(f"select <{ROW} x i1> {live}, {row} {over}, {row} {zero}")
            negative = w.let(f"icmp slt {row} {w.let(f'or {row} {seen}, {last}')}, zeroinitializer")
            self.troubles.append(self._any(negative))

    def _row(
        self, number: int, element: str, row: str, size: int, position: str, carry: str
    ) -> tuple[str, str]:
        """The sums of a row, and (of ints) a row whose sign bits tell of an overflow."""
        w = self.frame.writer
        where = w.let(f"getelementptr {element}, ptr {self.frame.scratch[number]}, i64 {position}")
        own = w.let(f"load {row}, ptr {where}, align {size}")
        if element != "i64":
            return w.let(f"fadd {row} {carry}, {own}"), ""
        found = w.let(f"add {row} {carry}, {own}")
        left, right = w.let(f"xor {row} {carry}, {found}"), w.let(f"xor {row} {own}, {found}")
        return found, w.let(f"and {row} {left}, {right}")

    # Functions of the value so far

    def _steps(self, number: int, store: Store, count: str, start: str) -> None:
        w, step = self.frame.writer, store.step
        assert step is not None
        type_, own = store.type, store.value.type
        element, scratch = element_type(type_), self.frame.scratch[number]
        word = self._carry(number)
        carried = self._load(word, type_)
        started = w.let(f"icmp ne i64 {start}, 0")
        if step.init is None:
            first, begin = self._load(scratch, type_), w.let(f"select i1 {started}, i64 0, i64 1")
        else:
            first, begin = self._load(self.frame.sources[step.init].base, type_), "0"
        initial = w.let(f"select i1 {started}, {element} {carried}, {element} {first}")
        before, loop, done, end = w.block, f"step{number}", f"stepped{number}", f"steps{number}"
        none = w.let(f"icmp eq i64 {count}, 0")
        w.line(f"br i1 {none}, label %{end}, label %{loop}.first")
        w.label(f"{loop}.first")
        some = w.let(f"icmp ult i64 {begin}, {count}")
        w.line(f"br i1 {some}, label %{loop}, label %{done}")
        w.label(loop)
        heads = len(w.lines)
        w.line(f"%{loop}.j = phi i64 [ {begin}, %{loop}.first ], [ %{loop}.next, %LAST ]")
        w.line(f"%{loop}.total = phi {element} [ {initial}, %{loop}.first ], [ %{loop}.new, %LAST ]")
        w.line(f"%{loop}.bad = phi i1 [ false, %{loop}.first ], [ %{loop}.worse, %LAST ]")
        where = w.let(f"getelementptr {memory_type(RESULT_STORAGE[own])}, ptr {scratch}, i64 %{loop}.j")
        body = self._body(store, f"%{loop}.total", self._load(where, own))
        body.emit(step.roots())
        worse = f"%{loop}.bad"
        for guard in step.guards:
            worse = w.let(f"or i1 {worse}, {self._scalar(body[guard][0], 'i1')}")
        w.line(f"%{loop}.worse = or i1 {worse}, false")
        new = self._scalar(body[step.result][0], element)
        w.line(f"%{loop}.new = select i1 true, {element} {new}, {element} {new}")
        if store.running == "scan":
            if type_ is not own:  # of another size than what lies in the scratch
                there = w.let(f"add i64 {start}, %{loop}.j")
                kind = memory_type(RESULT_STORAGE[type_])
                where = w.let(f"getelementptr {kind}, ptr {self.frame.results[number]}, i64 {there}")
            self._keep(f"%{loop}.new", where, type_)
        w.line(f"%{loop}.next = add i64 %{loop}.j, 1")
        w.line(f"%{loop}.more = icmp ult i64 %{loop}.next, {count}")
        for place in range(heads, heads + 3):
            w.lines[place] = w.lines[place].replace("%LAST", f"%{w.block}")
        last = w.block
        w.line(f"br i1 %{loop}.more, label %{loop}, label %{done}")
        w.label(done)
        total = w.let(f"phi {element} [ {initial}, %{loop}.first ], [ %{loop}.new, %{last} ]")
        bad = w.let(f"phi i1 [ false, %{loop}.first ], [ %{loop}.worse, %{last} ]")
        self._keep(total, word, type_)
        if store.running == "fold":
            self._keep(total, self.frame.results[number], type_)
        w.line(f"br label %{end}")
        w.label(end)
        if step.guards:
            self.troubles.append(w.let(f"phi i1 [ false, %{before} ], [ {bad}, %{done} ]"))

    def _body(self, store: Store, total: str, value: str) -> Body:
        """The step's graph over single elements."""
        frame, step = self.frame, store.step
        assert step is not None
        kernel = replace(frame.kernel, schedule=replace(frame.kernel.schedule, lanes=1, in_flight=1))
        body = Body(
            frame.writer, kernel, [], frame.tables, splat("i64", 0), "0", "0", 1,
            stop=frame.stop, used=results_used(step.roots()),
        )  # fmt: skip
        for leaf, name in ((step.total, total), (step.element, value)):
            element = element_type(leaf.type)
            vector = f"<1 x {element}>"
            body.values[leaf] = [frame.writer.let(f"insertelement {vector} poison, {element} {name}, i32 0")]
        return body

    def _scalar(self, vector: str, element: str) -> str:
        return self.frame.writer.let(f"extractelement <1 x {element}> {vector}, i32 0")

    def _load(self, where: str, type_: ScalarType) -> str:
        storage = RESULT_STORAGE[type_]
        raw = self.frame.writer.let(f"load {memory_type(storage)}, ptr {where}, align {storage.size}")
        return self.frame.writer.let(f"icmp ne i8 {raw}, 0") if type_ is BOOL else raw

    def _keep(self, name: str, where: str, type_: ScalarType) -> None:
        storage = RESULT_STORAGE[type_]
        if type_ is BOOL:
            name = self.frame.writer.let(f"zext i1 {name} to i8")
        self.frame.writer.line(f"store {memory_type(storage)} {name}, ptr {where}, align {storage.size}")

    def _report(self) -> None:
        """Trouble that was met after the status was written."""
        w = self.frame.writer
        bad = self.troubles[0]
        for other in self.troubles[1:]:
            bad = w.let(f"or i1 {bad}, {other}")
        old = w.let("load i8, ptr %status.at, align 1")
        fine = w.let(f"icmp eq i8 {old}, 0")
        told = w.let(f"select i1 {w.let(f'and i1 {bad}, {fine}')}, i8 {TROUBLE}, i8 {old}")
        w.line(f"store i8 {told}, ptr %status.at, align 1")
        flag = w.let(f"zext i8 {told} to i64")
        w.line(f"%scanned.old = atomicrmw or ptr {self.frame.flags}, i64 {flag} monotonic, align 8")
