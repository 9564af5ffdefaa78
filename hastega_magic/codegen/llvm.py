"""LLVM IR in explicit vectors from a Kernel.

    claim a run of blocks -> for each block: main loop (lanes · in_flight elements a turn), tail loop (one masked vector a
    turn), then partial results, status and packed results of the block.

What is written is what runs: no optimiser is asked to vectorise anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hastega_magic.codegen.llvm_body import Address, Body, memory_type
from hastega_magic.codegen.llvm_fold import Fold, Register, memory_lanes
from hastega_magic.codegen.llvm_text import Writer, mangled, splat
from hastega_magic.ir import abi
from hastega_magic.ir.kernel import TROUBLE, Assume, Guard, Kernel, Store
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.ir.target import Target
from hastega_magic.types import BOOL, RESULT_STORAGE


def generate(kernel: Kernel, target: Target) -> str:
    """The module's text; its function is described in ir/abi.py."""
    return _Module(kernel, target).text()


@dataclass(frozen=True)
class _Carried:
    """What a loop carries: names of the vectors of folds, of range checks and trouble, and packed positions."""

    folds: list[list[list[str]]]  # fold -> vector in flight -> registers
    ranges: list[str]
    trouble: str
    positions: list[str]


class _Module:
    def __init__(self, kernel: Kernel, target: Target) -> None:
        self.kernel = kernel
        self.target = target
        self.layout = abi.layout(kernel)
        self.writer = Writer()
        self.lanes = kernel.schedule.lanes
        self.folds = [Fold(statement, self.lanes) for statement in self.layout.folds]
        self.assumes = kernel.of(Assume)
        self.bounds = list(dict.fromkeys((each.interval, each.status) for each in self.assumes))
        self.guards = kernel.of(Guard)
        products = any(fold.kind == "mul" and fold.element == "i64" for fold in self.folds)
        self.troubled = bool(self.guards) or products
        self.sources: list[Address] = []
        self.tables: list[Address] = []
        self.words: dict[int, str] = {}
        self.counts: list[str] = []

    # The function's frame

    def text(self) -> str:
        self._entry()
        self._claim()
        self._block()
        attributes = (
            f'attributes #0 = {{ nounwind "prefer-vector-width"="{self.target.vector_bits}" '
            f'"min-legal-vector-width"="{self.target.vector_bits}" }}'
        )
        lines = [
            f'target triple = "{self.target.triple}"',
            "",
            f"define void @{abi.ENTRY}(ptr noalias %words, ptr noalias %scratch) #0 {{",
            *self.writer.lines,
            "}",
            "",
            *self.writer.declarations.values(),
            "",
            attributes,
        ]
        return "\n".join(lines) + "\n"

    def _word(self, number: int, type_: str, hint: str) -> str:
        place = self.writer.let(f"getelementptr i64, ptr %words, i64 {number}")
        self.words[number] = self.writer.let(f"load {type_}, ptr {place}, align 8", hint)
        return self.words[number]

    def _entry(self) -> None:
        w = self.writer
        w.label("entry")
        self.length = self._word(abi.LENGTH, "i64", "length")
        self.blocks = self._word(abi.BLOCKS, "i64", "blocks")
        self.block_list = self._word(abi.BLOCK_LIST, "ptr", "list")
        self.status = self._word(abi.STATUS, "ptr", "status")
        self.shared = self._word(abi.SHARED, "ptr", "shared")
        self.kept = self._word(abi.COUNTS, "ptr", "kept")
        self.origin = self._word(abi.ORIGIN, "i64", "origin")
        for slot, source in enumerate(self.kernel.sources):
            first = self.layout.source(slot)
            base = self._word(first, "i64" if source.storage is None else "ptr", "source")
            self.sources.append(Address(base, self._word(first + 1, "i64", "stride")))
        for slot in range(len(self.kernel.tables)):
            first = self.layout.table(slot)
            base, stride = self._word(first, "ptr", "table"), self._word(first + 1, "i64", "stride")
            self.tables.append(Address(base, stride, self._word(first + 2, "i64", "length")))
        self.results = [
            self._word(self.layout.store(number), "ptr", "result") for number in range(len(self.layout.stores))
        ]
        self.partials = [
            self._word(self.layout.fold(number), "ptr", "partial") for number in range(len(self.folds))
        ]
        self.memory = {
            number: w.let(f"alloca {memory_lanes(fold)}, align 64", "lanes")
            for number, fold in enumerate(self.folds)
            if fold.tree
        }
        packed = [number for number, group in enumerate(self.layout.groups) if group is not None]
        self.scratch = {
            number: w.let(f"getelementptr i8, ptr %scratch, i64 {place * (BLOCK + abi.SLACK) * 8}", "packed")
            for place, number in enumerate(packed)
        }
        self.next = self._shared(abi.NEXT)
        self.stop = self._shared(abi.STOP)
        self.turn = self._shared(abi.TURN)
        self.flags = self._shared(abi.FLAGS)
        self.positions = [
            self._shared(abi.POSITIONS + abi.LINE * group) for group in range(self.layout.group_count)
        ]
        lane_numbers = ", ".join(f"i64 {lane}" for lane in range(self.lanes))
        self.iota = w.let(f"or <{self.lanes} x i64> <{lane_numbers}>, zeroinitializer", "iota")
        w.line("br label %claim")

    def _shared(self, offset: int) -> str:
        return self.writer.let(f"getelementptr i64, ptr {self.shared}, i64 {offset}", "shared")

    def _claim(self) -> None:
        w = self.writer
        grain = 1 if self.layout.group_count else self.kernel.schedule.grain
        w.label("claim")
        w.line(f"%first = atomicrmw add ptr {self.next}, i64 {grain} seq_cst, align 8")
        w.line(f"%none = icmp uge i64 %first, {self.blocks}")
        w.line("br i1 %none, label %leave, label %ask")
        w.label("ask")
        w.line(f"%asked = load atomic i64, ptr {self.stop} monotonic, align 8")
        w.line("%halt = icmp ne i64 %asked, 0")
        w.line("br i1 %halt, label %leave, label %run")
        w.label("leave")
        w.line("ret void")
        w.label("run")
        w.line(f"%bound0 = add i64 %first, {grain}")
        w.line(f"%bound1 = icmp ult i64 %bound0, {self.blocks}")
        w.line(f"%bound = select i1 %bound1, i64 %bound0, i64 {self.blocks}")
        w.line("br label %block")

    def _block(self) -> None:
        w = self.writer
        w.label("block")
        w.line("%turn = phi i64 [ %first, %run ], [ %turn.next, %done ]")
        w.line(f"%listed = icmp ne ptr {self.block_list}, null")
        w.line("br i1 %listed, label %lookup, label %start")
        w.label("lookup")
        w.line(f"%entry.at = getelementptr i64, ptr {self.block_list}, i64 %turn")
        w.line("%entry.number = load i64, ptr %entry.at, align 8")
        w.line("br label %start")
        w.label("start")
        w.line("%number = phi i64 [ %turn, %block ], [ %entry.number, %lookup ]")
        w.line(f"%begin = mul i64 %number, {BLOCK}")
        w.line(f"%end0 = add i64 %begin, {BLOCK}")
        w.line(f"%end1 = icmp ult i64 %end0, {self.length}")
        w.line(f"%end = select i1 %end1, i64 %end0, i64 {self.length}")
        w.line("%size = sub i64 %end, %begin")
        w.line(f"%whole = and i64 %size, {-self.kernel.schedule.step}")
        w.line("%main.end = add i64 %begin, %whole")
        for number, fold in enumerate(self.folds):
            if fold.tree:
                self._store_lanes(number, [splat(fold.element, fold.identity)] * (64 // self.lanes), "0")
        w.line("%any = icmp ult i64 %begin, %main.end")
        w.line("br i1 %any, label %main, label %joined")
        after = self._main_loop()
        joined = self._join(after)
        final = self._tail_loop(joined)
        self._finish(final)
        w.label("done")
        w.line("%turn.next = add i64 %turn, 1")
        w.line("%more = icmp ult i64 %turn.next, %bound")
        w.line("br i1 %more, label %block, label %claim")

    # Loops

    def _registers(self, number: int, in_registers: bool) -> list[Register]:
        fold = self.folds[number]
        return [] if fold.tree and not in_registers else fold.registers

    @property
    def _tree_in_registers(self) -> bool:
        return self.kernel.schedule.step == 64

    def _phis(self, vectors: int, tree: bool, sources: tuple[str, ...], hint: str) -> tuple[_Carried, list[int]]:
        """Placeholder phi lines, completed by `_close`; returns the carried names and the lines' numbers."""
        w, places = self.writer, list[int]()

        def phi(type_: str) -> str:
            name = w.name(hint)
            places.append(len(w.lines))
            w.lines.append(f"  {name} = phi {type_} ")
            return name

        folds = [
            [
                [phi(f"<{self.lanes} x {register.element}>") for register in self._registers(number, tree)]
                for _ in range(vectors)
            ]
            for number in range(len(self.folds))
        ]
        ranges = [phi(f"<{self.lanes} x i64>") for _ in self.bounds]
        trouble = phi(f"<{self.lanes} x i1>") if self.troubled else ""
        positions = [phi("i64") for _ in range(self.layout.group_count)]
        return _Carried(folds, ranges, trouble, positions), places

    def _names(self, carried: _Carried) -> list[str]:
        folds = [name for fold in carried.folds for vector in fold for name in vector]
        return [*folds, *carried.ranges, *([carried.trouble] if self.troubled else []), *carried.positions]

    def _starts(self, vectors: int, tree: bool) -> list[str]:
        folds = [
            register.start
            for number in range(len(self.folds))
            for _ in range(vectors)
            for register in self._registers(number, tree)
        ]
        none = [splat("i1", "false")] if self.troubled else []
        return [*folds, *[splat("i64", 0)] * len(self.bounds), *none, *["0"] * self.layout.group_count]

    def _close(self, places: list[int], incoming: list[tuple[list[str], str]]) -> None:
        for order, place in enumerate(places):
            pairs = ", ".join(f"[ {names[order]}, %{label} ]" for names, label in incoming)
            self.writer.lines[place] += pairs

    def _main_loop(self) -> _Carried:
        w, vectors = self.writer, self.kernel.schedule.in_flight
        w.label("main")
        w.line("%i = phi i64 [ %begin, %start ], [ %i.next, %main ]")
        carried, places = self._phis(vectors, self._tree_in_registers, ("start", "main"), "a")
        body = self._body("%i", vectors, None)
        after = self._turn(body, carried, self._tree_in_registers)
        w.line(f"%i.next = add i64 %i, {self.kernel.schedule.step}")
        w.line("%i.more = icmp ult i64 %i.next, %main.end")
        w.line("br i1 %i.more, label %main, label %main.done")
        self._close(
            places,
            [(self._starts(vectors, self._tree_in_registers), "start"), (self._names(after), "main")],
        )
        return after

    def _join(self, after: _Carried) -> _Carried:
        """Vectors in flight become one per fold, whether or not the main loop ran."""
        w = self.writer
        w.label("main.done")
        folds: list[list[list[str]]] = []
        for number, fold in enumerate(self.folds):
            if fold.tree:
                if self._tree_in_registers:
                    self._store_lanes(number, [vector[0] for vector in after.folds[number]], "0")
                folds.append([[]])
                continue
            state = after.folds[number][0]
            for other in after.folds[number][1:]:
                state = [fold.combine(w, a, b, self.lanes) for a, b in zip(state, other, strict=True)]
            folds.append([state])
        summed = _Carried(folds, after.ranges, after.trouble, after.positions)
        w.line("br label %joined")
        w.label("joined")
        carried, places = self._phis(1, False, ("start", "main.done"), "j")
        self._close(places, [(self._starts(1, False), "start"), (self._names(summed), "main.done")])
        return carried

    def _tail_loop(self, joined: _Carried) -> _Carried:
        w = self.writer
        w.line("%rest = icmp ult i64 %main.end, %end")
        w.line("br i1 %rest, label %tail, label %finish")
        w.label("tail")
        w.line("%t = phi i64 [ %main.end, %joined ], [ %t.next, %tail ]")
        carried, places = self._phis(1, False, ("joined", "tail"), "b")
        live = w.let("sub i64 %end, %t")
        body = self._body("%t", 1, None)
        lanes = f"<{self.lanes} x i64>"
        body.mask = w.let(f"icmp ult {lanes} {self.iota}, {body.splatted('i64', live)}", "live")
        after = self._turn(body, carried, False)
        w.line(f"%t.next = add i64 %t, {self.lanes}")
        w.line("%t.more = icmp ult i64 %t.next, %end")
        w.line("br i1 %t.more, label %tail, label %finish")
        self._close(places, [(self._names(joined), "joined"), (self._names(after), "tail")])
        w.label("finish")
        final, places = self._phis(1, False, ("joined", "tail"), "f")
        self._close(places, [(self._names(joined), "joined"), (self._names(after), "tail")])
        return final

    def _body(self, position: str, vectors: int, mask: str | None) -> Body:
        return Body(
            self.writer, self.kernel, self.sources, self.tables, self.iota, self.origin, position, vectors, mask
        )

    def _turn(self, body: Body, carried: _Carried, tree: bool) -> _Carried:
        """One turn of a loop: all values, then folds, checks and stores."""
        w = self.writer
        body.emit(self.kernel.roots())
        i1 = body.vector("i1")
        trouble = carried.trouble
        for guard in self.guards:
            for number in range(body.vectors):
                condition = body[guard.condition][number]
                if body.mask is not None:
                    condition = w.let(f"and {i1} {condition}, {body.mask}")
                trouble = w.let(f"or {i1} {trouble}, {condition}")
        folds: list[list[list[str]]] = []
        for number, fold in enumerate(self.folds):
            states: list[list[str]] = []
            for vector in range(body.vectors):
                if fold.tree and not tree:
                    place = w.let(f"and i64 {body.position}, 63")
                    place = w.let(f"add i64 {place}, {vector * self.lanes}")
                    (old,) = self._load_lanes(number, [place])
                    (new,), _ = fold.take(body, vector, [old])
                    self._store_lanes(number, [new], place)
                    states.append([])
                    continue
                state, overflow = fold.take(body, vector, carried.folds[number][vector])
                if overflow is not None:
                    trouble = w.let(f"or {i1} {trouble}, {overflow}")
                states.append(state)
            folds.append(states)
        ranges = [self._range_check(body, number, carried.ranges[number]) for number in range(len(self.bounds))]
        return _Carried(folds, ranges, trouble, self._stores(body, carried.positions))

    def _range_check(self, body: Body, number: int, sticky: str) -> str:
        """OR of all values that the bound is on (of v ^ (v >> 63) for a signed one): its high bits tell of a violation."""
        w, i64 = self.writer, body.vector("i64")
        interval, status = self.bounds[number]
        for each in self.assumes:
            if (each.interval, each.status) != (interval, status):
                continue
            for value in body[each.load]:
                if interval.lo != 0:
                    sign = w.let(f"ashr {i64} {value}, {splat('i64', 63)}")
                    value = w.let(f"xor {i64} {value}, {sign}")
                sticky = w.let(f"or {i64} {sticky}, {value}")
        return sticky

    # Memory

    def _lane_places(self, number: int, place: str, count: int) -> list[str]:
        fold = self.folds[number]
        base = self.writer.let(f"getelementptr {fold.element}, ptr {self.memory[number]}, i64 {place}")
        return [base] + [
            self.writer.let(f"getelementptr {fold.element}, ptr {base}, i64 {vector * self.lanes}")
            for vector in range(1, count)
        ]

    def _store_lanes(self, number: int, vectors: Sequence[str], place: str) -> None:
        fold = self.folds[number]
        for name, where in zip(vectors, self._lane_places(number, place, len(vectors)), strict=True):
            self.writer.line(f"store <{self.lanes} x {fold.element}> {name}, ptr {where}, align 8")

    def _load_lanes(self, number: int, places: Sequence[str]) -> list[str]:
        fold = self.folds[number]
        return [
            self.writer.let(
                f"load <{self.lanes} x {fold.element}>, ptr {self._lane_places(number, place, 1)[0]}, align 8"
            )
            for place in places
        ]

    def _stores(self, body: Body, positions: list[str]) -> list[str]:
        w, positions = self.writer, list(positions)
        for vector in range(body.vectors):
            for number, store in enumerate(self.layout.stores):
                if self.layout.groups[number] is None:
                    self._dense_store(body, number, store, vector)
            for group in range(self.layout.group_count):
                mask = self._packed_mask(body, group, vector)
                for number, store in enumerate(self.layout.stores):
                    if self.layout.groups[number] == group:
                        self._packed_store(body, number, store, vector, mask, positions[group])
                bits = w.let(f"bitcast {body.vector('i1')} {mask} to i{self.lanes}")
                count = w.let(f"call i{self.lanes} @llvm.ctpop.i{self.lanes}(i{self.lanes} {bits})")
                if self.lanes < 64:
                    count = w.let(f"zext i{self.lanes} {count} to i64")
                positions[group] = w.let(f"add i64 {positions[group]}, {count}")
        return positions

    def _packed_mask(self, body: Body, group: int, vector: int) -> str:
        store = next(s for s, g in zip(self.layout.stores, self.layout.groups, strict=True) if g == group)
        assert store.mask is not None
        mask = body[store.mask][vector]
        if body.mask is None:
            return mask
        return self.writer.let(f"and {body.vector('i1')} {mask}, {body.mask}")

    def _memory_value(self, body: Body, store: Store, vector: int) -> tuple[str, str, int]:
        """Element type in memory, vector name, bytes of an element."""
        storage = RESULT_STORAGE[store.value.type]
        name = body[store.value][vector]
        if store.value.type is BOOL:
            name = self.writer.let(f"zext {body.vector('i1')} {name} to {body.vector('i8')}")
        return memory_type(storage), name, storage.size

    def _dense_store(self, body: Body, number: int, store: Store, vector: int) -> None:
        w = self.writer
        element, name, size = self._memory_value(body, store, vector)
        place = w.let(f"add i64 {body.position}, {vector * self.lanes}")
        where = w.let(f"getelementptr {element}, ptr {self.results[number]}, i64 {place}")
        type_ = body.vector(element)
        if body.mask is None:
            w.line(f"store {type_} {name}, ptr {where}, align {size}")
        else:
            w.line(
                f"call void @llvm.masked.store.{mangled(element, self.lanes)}.p0({type_} {name}, ptr {where}, "
                f"i32 {size}, {body.vector('i1')} {body.mask})"
            )

    def _packed_store(
        self, body: Body, number: int, store: Store, vector: int, mask: str, position: str
    ) -> None:
        w = self.writer
        element, name, size = self._memory_value(body, store, vector)
        type_ = body.vector(element)
        packed = w.let(
            f"call {type_} @llvm.experimental.vector.compress.{mangled(element, self.lanes)}({type_} {name}, "
            f"{body.vector('i1')} {mask}, {type_} poison)"
        )
        where = w.let(f"getelementptr {element}, ptr {self.scratch[number]}, i64 {position}")
        w.line(f"store {type_} {packed}, ptr {where}, align {size}")

    # The end of a block

    def _finish(self, final: _Carried) -> None:
        w = self.writer
        overflowed: list[str] = []
        for number, fold in enumerate(self.folds):
            self._partial(number, fold, final, overflowed)
        status = self._status(final, overflowed)
        w.line(f"%status.at = getelementptr i8, ptr {self.status}, i64 %number")
        w.line(f"store i8 {status}, ptr %status.at, align 1")
        if status != "0":
            wide = w.let(f"zext i8 {status} to i64")
            w.line(f"%bad = icmp ne i64 {wide}, 0")
            w.line("br i1 %bad, label %report, label %reported")
            w.label("report")
            w.line(f"%reported.old = atomicrmw or ptr {self.flags}, i64 {wide} monotonic, align 8")
            w.line("br label %reported")
            w.label("reported")
        if self.layout.group_count:
            self._publish(final)
        else:
            w.line("br label %done")

    def _partial(self, number: int, fold: Fold, final: _Carried, overflowed: list[str]) -> None:
        w, words = self.writer, fold.statement.words
        index = w.let(f"mul i64 %number, {words}")
        where = w.let(f"getelementptr i64, ptr {self.partials[number]}, i64 {index}")
        if not fold.registers:
            w.line(f"store i64 %size, ptr {where}, align 8")
            return
        if fold.tree:
            places = [str(vector * self.lanes) for vector in range(64 // self.lanes)]
            value = fold.across(w, self._load_lanes(number, places))
        elif fold.kind == "mul":
            value, bit = fold.product_across(w, final.folds[number][0][0])
            overflowed.append(bit)
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
        w = self.writer
        bits = w.let(f"bitcast <{self.lanes} x i1> {name} to i{self.lanes}")
        return w.let(f"icmp ne i{self.lanes} {bits}, 0")

    def _status(self, final: _Carried, overflowed: list[str]) -> str:
        w, status = self.writer, "0"
        i64 = f"<{self.lanes} x i64>"
        for number, (interval, code) in enumerate(self.bounds):
            assert interval.hi is not None
            bits = interval.hi.bit_length()
            high = w.let(f"lshr {i64} {final.ranges[number]}, {splat('i64', bits)}")
            outside = self._any_lane(w.let(f"icmp ne {i64} {high}, zeroinitializer"))
            status = w.let(f"select i1 {outside}, i8 {code}, i8 {status}")
        if self.troubled:
            bad = self._any_lane(final.trouble)
            for bit in overflowed:
                bad = w.let(f"or i1 {bad}, {bit}")
            violated = w.let(f"icmp ne i8 {status}, 0")
            trouble = w.let(f"select i1 {bad}, i8 {TROUBLE}, i8 0")
            status = w.let(f"select i1 {violated}, i8 {status}, i8 {trouble}")
        return status

    def _publish(self, final: _Carried) -> None:
        """Wait for the block before, take its place in the results, let the next one go on, then copy."""
        w = self.writer
        groups = self.layout.group_count
        for group, name in enumerate(final.positions):
            index = w.let(f"mul i64 %number, {groups}")
            index = w.let(f"add i64 {index}, {group}")
            where = w.let(f"getelementptr i64, ptr {self.kept}, i64 {index}")
            w.line(f"store i64 {name}, ptr {where}, align 8")
        w.line("br label %wait")
        w.label("wait")
        w.line(f"%turn.now = load atomic i64, ptr {self.turn} acquire, align 8")
        w.line("%turn.mine = icmp eq i64 %turn.now, %turn")
        w.line("br i1 %turn.mine, label %place, label %wait.asked")
        w.label("wait.asked")  # a thread that was asked to stop may have left with the block before
        w.line(f"%wait.stop = load atomic i64, ptr {self.stop} monotonic, align 8")
        w.line("%wait.halt = icmp ne i64 %wait.stop, 0")
        w.line("br i1 %wait.halt, label %leave, label %wait")
        w.label("place")
        starts: list[str] = []
        for where, count in zip(self.positions, final.positions, strict=True):
            starts.append(w.let(f"load i64, ptr {where}, align 8"))
            end = w.let(f"add i64 {starts[-1]}, {count}")
            w.line(f"store i64 {end}, ptr {where}, align 8")
        w.line("%turn.after = add i64 %turn, 1")
        w.line(f"store atomic i64 %turn.after, ptr {self.turn} release, align 8")
        for number, store in enumerate(self.layout.stores):
            group = self.layout.groups[number]
            if group is None:
                continue
            size = RESULT_STORAGE[store.value.type].size
            where = w.let(f"getelementptr i8, ptr {self.results[number]}, i64 {self._bytes(starts[group], size)}")
            length = self._bytes(final.positions[group], size)
            w.line(
                f"call void @llvm.memcpy.p0.p0.i64(ptr {where}, ptr {self.scratch[number]}, i64 {length}, i1 false)"
            )
        w.line("br label %done")

    def _bytes(self, count: str, size: int) -> str:
        return count if size == 1 else self.writer.let(f"mul i64 {count}, {size}")



