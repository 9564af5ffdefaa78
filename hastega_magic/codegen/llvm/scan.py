"""Running values at the end of a block: sums and affine steps in rows, and functions of the value so far, in order.

A block's elements lie packed in the thread's scratch, or are computed again (codegen/llvm/rows.py). Sums: the block is
totalled before its turn comes; then it takes the sum of all blocks before, hands on its own, and adds. Affine steps:
what one row hands to the next is computed while the block has its turn. Other functions are applied one element after
the other then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hastega_magic.codegen.llvm.affine_rows import AffineRows, rows_of
from hastega_magic.codegen.llvm.body import memory_type
from hastega_magic.codegen.llvm.frame import Frame
from hastega_magic.codegen.llvm.single import Single, given, load
from hastega_magic.codegen.llvm.text import element_type
from hastega_magic.ir.kernel import ROW_BY_ROW, TROUBLE, VIOLATED, Store
from hastega_magic.types import BOOL, INT, RESULT_STORAGE, ScalarType


class Scans:
    """Emits what stores with running values need around a block's turn."""

    def __init__(self, frame: Frame) -> None:
        """Write into the frame's function."""
        self.frame = frame
        self.stores = [(number, store) for number, store in enumerate(frame.layout.stores) if store.running]
        self.rows = {
            number: rows_of(frame, number) for number, store in self.stores if store.running in ROW_BY_ROW
        }

    def before(self, counts: Sequence[str], sums: Sequence[str]) -> None:
        """At the end of a block: its rows, in its scratch, and what they come to.

        `counts`: how many elements each packed group has. `sums`: totals that are known already.
        """
        known = iter(sums)
        for number, store in self.stores:
            self.frame.at(store)
            count = counts[self._group(number)]
            rows = self.rows.get(number)
            if rows is not None and not rows.early and not rows.ints:
                rows.compute(count)
            if rows is not None and store.running == "cumsum":
                total = next(known) if rows.totalled else rows.totals(count)
                total = rows.across(total) if rows.ints else total
                place = self.frame.record("%place", self.frame.total_word(number))
                self._keep(total, place, store.value.type)
            elif isinstance(rows, AffineRows):
                rows.combine(count)
        self.frame.at(None)

    def within(self, place: str, counts: Sequence[str], starts: Sequence[str]) -> None:
        """While the thread has its turn, for each block: take what the blocks before hand on, and hand on its own."""
        for number, store in self.stores:
            self.frame.at(store)
            group = self._group(number)
            if store.running == "cumsum":
                self._take(number, store, place)
            elif isinstance(rows := self.rows.get(number), AffineRows):
                self._chain(rows, store, counts[group], starts[group])
            elif store.part == 0:
                bad = self._steps(number, store, counts[group], starts[group])
                self._report(number, bad, TROUBLE, place)

    def after(
        self, place: str, counts: Sequence[str], starts: Sequence[str], asks: Callable[[str], None] | None
    ) -> None:
        """The turn is the next thread's: write the results of rows, and tell of trouble."""
        for number, store in self.stores:
            rows = self.rows.get(number)
            if rows is None:
                continue
            self.frame.at(store)
            group, carry = self._group(number), ""
            if store.running == "cumsum":
                carry = load(
                    self.frame, self.frame.record(place, self.frame.total_word(number)), store.value.type
                )
            if isinstance(rows, AffineRows):
                rows.spread(counts[group])
            block = load(self.frame, self.frame.record(place, 0), INT)
            bad = rows.write(block, counts[group], starts[group], carry, asks)
            asks = None
            self._report(number, bad, VIOLATED if store.value.type.is_float else TROUBLE, place)

    def _group(self, number: int) -> int:
        group = self.frame.layout.groups[number]
        assert group is not None
        return group

    def _carry(self, number: int) -> str:
        return self.frame.writer.let(
            f"getelementptr i64, ptr {self.frame.shared}, i64 {self.frame.layout.carry(number)}"
        )

    def _take(self, number: int, store: Store, place: str) -> None:
        """What a sum has come to in the blocks before, in the place of the block's own total."""
        w, rows, type_ = self.frame.writer, self.rows[number], store.value.type
        word, own = self._carry(number), self.frame.record(place, self.frame.total_word(number))
        old = load(self.frame, word, type_)
        self._keep(w.let(f"{rows.add} {rows.element} {old}, {load(self.frame, own, type_)}"), word, type_)
        self._keep(old, own, type_)

    def _chain(self, rows: AffineRows, store: Store, count: str, start: str) -> None:
        """One row of rows after the other, from the last value of the block before."""
        w, word = self.frame.writer, self._carry(rows.number)
        carried, first = load(self.frame, word, store.value.type), rows.neutral
        if store.init is not None:
            first = load(self.frame, self.frame.sources[store.init].base, store.value.type)
        started = w.let(f"icmp ne i64 {start}, 0")
        begin = w.let(f"select i1 {started}, {rows.element} {carried}, {rows.element} {first}")
        self._keep(rows.fade(count, begin), word, store.value.type)

    # Functions of the value so far

    def _steps(self, number: int, store: Store, count: str, start: str) -> str:
        """Whether a step needs Python; "" where none can. The stores of all parts follow the first one."""
        w, step = self.frame.writer, store.step
        assert step is not None
        types, loop, done, end = step.totals, f"step{number}", f"stepped{number}", f"steps{number}"
        elements = [element_type(total.type) for total in types]
        words = [self._carry(number + part) for part in range(len(types))]
        carried = [load(self.frame, word, total.type) for word, total in zip(words, types, strict=True)]
        started = w.let(f"icmp ne i64 {start}, 0")
        places = [self.frame.sources[slot].base for slot in step.init]
        begin = "0" if places else w.let(f"select i1 {started}, i64 0, i64 1")
        places = places or [self.frame.scratch[number + part] for part in range(len(types))]
        firsts = [load(self.frame, place, total.type) for place, total in zip(places, types, strict=True)]
        initial = [
            w.let(f"select i1 {started}, {element} {old}, {element} {first}")
            for element, old, first in zip(elements, carried, firsts, strict=True)
        ]
        numbers = given(self.frame, step.given)
        before, none = w.block, w.let(f"icmp eq i64 {count}, 0")
        w.line(f"br i1 {none}, label %{end}, label %{loop}.first")
        w.label(f"{loop}.first")
        some = w.let(f"icmp ult i64 {begin}, {count}")
        w.line(f"br i1 {some}, label %{loop}, label %{done}")
        w.label(loop)
        heads = len(w.lines)
        w.line(f"%{loop}.j = phi i64 [ {begin}, %{loop}.first ], [ %{loop}.next, %LAST ]")
        w.line(f"%{loop}.bad = phi i1 [ false, %{loop}.first ], [ %{loop}.worse, %LAST ]")
        totals, news = ([f"%{loop}.{name}{part}" for part in range(len(types))] for name in ("total", "new"))
        for total, element, first, new in zip(totals, elements, initial, news, strict=True):
            w.line(f"{total} = phi {element} [ {first}, %{loop}.first ], [ {new}, %LAST ]")
        parts = self._elements(number, len(step.elements), f"%{loop}.j")
        leaves = dict(zip((*step.totals, *step.elements), (*totals, *parts), strict=True))
        found = Single(self.frame, step.roots(), leaves | numbers)
        worse = f"%{loop}.bad"
        for guard in step.guards:
            worse = w.let(f"or i1 {worse}, {found[guard]}")
        w.line(f"%{loop}.worse = or i1 {worse}, false")
        for new, element, result in zip(news, elements, step.results, strict=True):
            value = found[result]
            w.line(f"{new} = select i1 true, {element} {value}, {element} {value}")
        if store.running == "scan":
            self._written(number, news, f"%{loop}.j", start)
        w.line(f"%{loop}.next = add i64 %{loop}.j, 1")
        w.line(f"%{loop}.more = icmp ult i64 %{loop}.next, {count}")
        for place in range(heads, heads + 2 + len(types)):
            w.lines[place] = w.lines[place].replace("%LAST", f"%{w.block}")
        last = w.block
        w.line(f"br i1 %{loop}.more, label %{loop}, label %{done}")
        w.label(done)
        left = [
            w.let(f"phi {element} [ {first}, %{loop}.first ], [ {new}, %{last} ]")
            for element, first, new in zip(elements, initial, news, strict=True)
        ]
        bad = w.let(f"phi i1 [ false, %{loop}.first ], [ %{loop}.worse, %{last} ]")
        for part, (value, word) in enumerate(zip(left, words, strict=True)):
            self._keep(value, word, types[part].type)
            if store.running == "fold":
                self._keep(value, self.frame.results[number + part], types[part].type)
        w.line(f"br label %{end}")
        w.label(end)
        return w.let(f"phi i1 [ false, %{before} ], [ {bad}, %{done} ]") if step.guards else ""

    def _elements(self, number: int, parts: int, position: str) -> list[str]:
        """The parts of an element, from the scratch of as many stores."""
        found: list[str] = []
        for place in range(number, number + parts):
            type_ = self.frame.layout.stores[place].value.type
            kind, scratch = memory_type(RESULT_STORAGE[type_]), self.frame.scratch[place]
            where = self.frame.writer.let(f"getelementptr {kind}, ptr {scratch}, i64 {position}")
            found.append(load(self.frame, where, type_))
        return found

    def _written(self, number: int, values: Sequence[str], position: str, start: str) -> None:
        """A step's values in the place of its element, or where they belong if they are of another size."""
        w = self.frame.writer
        for place, value in enumerate(values, number):
            store, base, at = self.frame.layout.stores[place], self.frame.scratch[place], position
            if not store.in_place:
                base, at = self.frame.results[place], w.let(f"add i64 {start}, {position}")
            kind = memory_type(RESULT_STORAGE[store.type])
            self._keep(value, w.let(f"getelementptr {kind}, ptr {base}, i64 {at}"), store.type)

    def _keep(self, name: str, where: str, type_: ScalarType) -> None:
        storage = RESULT_STORAGE[type_]
        if type_ is BOOL:
            name = self.frame.writer.let(f"zext i1 {name} to i8")
        self.frame.writer.line(f"store {memory_type(storage)} {name}, ptr {where}, align {storage.size}")

    def _report(self, number: int, bad: str, status: int, place: str) -> None:
        """Trouble that was met after the status was written; the first counts."""
        if not bad:
            return
        w = self.frame.writer
        self.frame.at(None)
        w.line(f"br i1 {bad}, label %met{number}, label %fine{number}")
        w.label(f"met{number}")
        block = w.let(f"load i64, ptr {self.frame.record(place, 0)}, align 8")
        where = w.let(f"getelementptr i8, ptr {self.frame.status}, i64 {block}")
        old = w.let(f"load i8, ptr {where}, align 1")
        told = w.let(f"select i1 {w.let(f'icmp eq i8 {old}, 0')}, i8 {status}, i8 {old}")
        w.line(f"store i8 {told}, ptr {where}, align 1")
        flag = w.let(f"zext i8 {told} to i64")
        w.let(f"atomicrmw or ptr {self.frame.flags}, i64 {flag} monotonic, align 8")
        w.line(f"br label %fine{number}")
        w.label(f"fine{number}")
