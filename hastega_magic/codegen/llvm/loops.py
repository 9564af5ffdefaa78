"""The loops over a block: whole turns of vectors in flight, then a tail of masked vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from hastega_magic.codegen.llvm.body import Body
from hastega_magic.codegen.llvm.fold import Carried, Register
from hastega_magic.codegen.llvm.frame import Frame
from hastega_magic.codegen.llvm.store import Stores
from hastega_magic.codegen.llvm.text import mangled, splat
from hastega_magic.ir.expr import Expr

_LARGEST = (1 << 63) - 1
_Made = TypeVar("_Made", bound=Body)


class Loops:
    """Emits both loops; values are carried from turn to turn in phis."""

    def __init__(self, frame: Frame) -> None:
        """Write into the frame's function."""
        self.frame = frame
        self.stores = Stores(frame)

    def emit(self) -> Carried:
        """From the label `start` to the label `finish`; what is carried out of the loops."""
        w = self.frame.writer
        for number, fold in enumerate(self.frame.folds):
            if fold.tree:
                self.frame.at(fold.statement)
                neutral = [splat(fold.element, fold.identity)] * (64 // self.frame.lanes)
                self.frame.store_lanes(number, neutral, "0")
        self.frame.at(None)
        if self.frame.kernel.schedule.refill:
            from hastega_magic.codegen.llvm.refill import Refill

            return Refill(self).emit()
        w.line("%any = icmp ult i64 %begin, %main.end")
        w.line("br i1 %any, label %main, label %joined")
        return self._tail_loop(self._join(self._main_loop()))

    def _registers(self, number: int, in_registers: bool) -> list[Register]:
        fold = self.frame.folds[number]
        return [] if fold.tree and not in_registers else fold.registers

    @property
    def _tree_in_registers(self) -> bool:
        return self.frame.kernel.schedule.step == 64

    def _phis(self, vectors: int, tree: bool, hint: str) -> tuple[Carried, list[int]]:
        """Placeholder phi lines, completed by `_close`; returns the carried names and the lines' numbers."""
        w, places = self.frame.writer, list[int]()

        def phi(type_: str) -> str:
            name = w.name(hint)
            places.append(len(w.lines))
            w.lines.append(f"  {name} = phi {type_} ")
            return name

        folds = [
            [
                [
                    phi(f"<{self.frame.lanes} x {register.element}>")
                    for register in self._registers(number, tree)
                ]
                for _ in range(vectors)
            ]
            for number in range(len(self.frame.folds))
        ]
        ranges = [phi(f"<{self.frame.lanes} x i64>") for _ in self.frame.bounds]
        trouble = phi(f"<{self.frame.lanes} x i1>") if self.frame.troubled else ""
        positions = [phi("i64") for _ in range(self.frame.layout.group_count)]
        sums = [phi(rows.total_type) for rows in self.stores.totalled.values()]
        return Carried(folds, ranges, trouble, positions, sums), places

    def _names(self, carried: Carried) -> list[str]:
        folds = [name for fold in carried.folds for vector in fold for name in vector]
        return [
            *folds,
            *carried.ranges,
            *([carried.trouble] if self.frame.troubled else []),
            *carried.positions,
            *carried.sums,
        ]

    def _starts(self, vectors: int, tree: bool) -> list[str]:
        folds = [
            register.start
            for number in range(len(self.frame.folds))
            for _ in range(vectors)
            for register in self._registers(number, tree)
        ]
        none = [splat("i1", "false")] if self.frame.troubled else []
        return [
            *folds,
            *(splat("i64", _LARGEST if bound in self.frame.least else 0) for bound in self.frame.bounds),
            *none,
            *["0"] * self.frame.layout.group_count,
            *[rows.total_start for rows in self.stores.totalled.values()],
        ]

    def _close(self, places: list[int], incoming: list[tuple[list[str], str]]) -> None:
        for order, place in enumerate(places):
            pairs = ", ".join(f"[ {names[order]}, %{label} ]" for names, label in incoming)
            self.frame.writer.lines[place] += pairs

    def _main_loop(self) -> Carried:
        w, schedule = self.frame.writer, self.frame.kernel.schedule
        w.label("main")
        counter = len(w.lines)
        w.line("%i = phi i64 [ %begin, %start ], [ %i.next, %main ]")
        carried, places = self._phis(schedule.in_flight, self._tree_in_registers, "a")
        body = self.body("%i", schedule.in_flight)
        body.parts, body.branches = schedule.parts, True
        after = self._turn(body, carried, self._tree_in_registers)
        if self.frame.trail:
            self.frame.trail.some()
        w.line(f"%i.next = add i64 %i, {schedule.step // schedule.parts}")
        w.line(f"%i.more = icmp ult i64 %i.next, %main.{'stop' if schedule.parts > 1 else 'end'}")
        self._back_from(counter, "main")
        starts = self._starts(schedule.in_flight, self._tree_in_registers)
        self._close(places, [(starts, "start"), (self._names(after), w.block)])
        w.line("br i1 %i.more, label %main, label %main.done")
        return after

    def _back_from(self, counter: int, label: str) -> None:
        """The turn ends in another block than it began in where its body has loops: what the counter's phi names."""
        lines = self.frame.writer.lines
        lines[counter] = lines[counter].replace(f"%{label} ]", f"%{self.frame.writer.block} ]")

    def _join(self, after: Carried) -> Carried:
        """Vectors in flight become one per fold, whether or not the main loop ran."""
        w = self.frame.writer
        w.label("main.done")
        folds: list[list[list[str]]] = []
        trouble = after.trouble
        for number, fold in enumerate(self.frame.folds):
            self.frame.at(fold.statement)
            if fold.tree:
                if self._tree_in_registers:
                    self.frame.store_lanes(number, [vector[0] for vector in after.folds[number]], "0")
                folds.append([[]])
                continue
            state = after.folds[number][0]
            for other in after.folds[number][1:]:
                state, overflow = fold.joined(self.frame.body(), state, other)
                if overflow is not None:
                    trouble = w.let(f"or <{self.frame.lanes} x i1> {trouble}, {overflow}")
            folds.append([state])
        self.frame.at(None)
        summed = Carried(folds, after.ranges, trouble, after.positions, after.sums)
        w.line("br label %joined")
        w.label("joined")
        carried, places = self._phis(1, False, "j")
        self._close(places, [(self._starts(1, False), "start"), (self._names(summed), "main.done")])
        return carried

    def _tail_loop(self, joined: Carried) -> Carried:
        w = self.frame.writer
        w.line("%rest = icmp ult i64 %main.end, %end")
        w.line("br i1 %rest, label %tail, label %finish")
        w.label("tail")
        counter = len(w.lines)
        w.line("%t = phi i64 [ %main.end, %joined ], [ %t.next, %tail ]")
        carried, places = self._phis(1, False, "b")
        self.frame.at_source()
        live = w.let("sub i64 %end, %t")
        body = self.body("%t", 1)
        lanes = f"<{self.frame.lanes} x i64>"
        body.mask = w.let(f"icmp ult {lanes} {self.frame.iota}, {body.splatted('i64', live)}", "live")
        after = self._turn(body, carried, False)
        w.line(f"%t.next = add i64 %t, {self.frame.lanes}")
        w.line("%t.more = icmp ult i64 %t.next, %end")
        w.line("br i1 %t.more, label %tail, label %finish")
        self._back_from(counter, "tail")
        turned = w.block
        self._close(places, [(self._names(joined), "joined"), (self._names(after), turned)])
        w.label("finish")
        final, places = self._phis(1, False, "f")
        self._close(places, [(self._names(joined), "joined"), (self._names(after), turned)])
        return final

    def body(self, position: str, vectors: int) -> Body:
        """Where the nodes of so many vectors from a position on are emitted."""
        return self._made(Body, position, vectors)

    def picking(
        self, elements: list[str], first: list[str], masks: list[str], known: Mapping[Expr, list[str]]
    ) -> Body:
        """The same for elements with these numbers, those under the masks from the first ones on, in order."""
        from hastega_magic.codegen.llvm.lanes import Picking

        body = self._made(Picking, "", len(elements))
        body.elements, body.first, body.masks, body.values = elements, first, masks, dict(known)
        return body

    def _made(self, kind: type[_Made], position: str, vectors: int) -> _Made:
        frame = self.frame
        return kind(
            frame.writer,
            frame.kernel,
            frame.sources,
            frame.tables,
            frame.iota,
            frame.origin,
            position,
            vectors,
            places=frame.places.nodes,
            stop=frame.stop,
            used=frame.used,
            locality=frame.locality,
            sooner=frame.trail is not None,
        )

    def _turn(self, body: Body, carried: Carried, tree: bool) -> Carried:
        """One turn of a loop: all values, then folds, checks and stores."""
        w, body.lost = self.frame.writer, carried.trouble
        ranges = list(carried.ranges)
        early = [number for number, bound in enumerate(self.frame.bounds) if bound in self.frame.least]
        if early:  # at once, so that registers need not hold what was loaded
            body.emit([each.load for each in self.frame.assumes])
            for number in early:
                ranges[number] = self._least(body, number, ranges[number])
        body.emit(self.frame.kernel.roots())
        i1 = body.vector("i1")
        trouble = carried.trouble
        for guard in self.frame.guards:
            self.frame.at(guard)
            for number in range(body.vectors):
                condition = body[guard.condition][number]
                if body.mask is not None:
                    condition = w.let(f"and {i1} {condition}, {body.mask}")
                trouble = w.let(f"or {i1} {trouble}, {condition}")
        folds: list[list[list[str]]] = []
        for number, fold in enumerate(self.frame.folds):
            states: list[list[str]] = []
            self.frame.at(fold.statement)
            for vector in range(body.vectors):
                if fold.tree and not tree:
                    place = w.let(f"and i64 {body.position}, 63")
                    place = w.let(f"add i64 {place}, {vector * self.frame.lanes}")
                    (old,) = self.frame.load_lanes(number, [place])
                    (new,), _ = fold.take(body, vector, [old])
                    self.frame.store_lanes(number, [new], place)
                    states.append([])
                    continue
                state, overflow = fold.take(body, vector, carried.folds[number][vector])
                if overflow is not None:
                    trouble = w.let(f"or {i1} {trouble}, {overflow}")
                states.append(state)
            folds.append(states)
        for number, sticky in enumerate(carried.ranges):
            if number not in early:
                ranges[number] = self.range_check(body, number, sticky)
        positions, sums = self.stores.emit(body, carried.positions, carried.sums)
        self.frame.at(None)
        return Carried(folds, ranges, trouble, positions, sums)

    def _least(self, body: Body, number: int, least: str) -> str:
        """The least of the values under the bound so far: it tells of negative ones and of zeros."""
        w, i64, bound = self.frame.writer, body.vector("i64"), self.frame.bounds[number]
        smaller = f"llvm.smin.{mangled('i64', body.lanes)}"
        for each in self.frame.assumes:
            if (each.interval, each.status) != bound:
                continue
            self.frame.at(each)
            for value in body[each.load]:
                known = value
                if body.mask is not None:  # there is nothing in the other lanes
                    chosen = f"select {body.vector('i1')} {body.mask}, {i64} {value}"
                    known = w.let(f"{chosen}, {i64} {splat('i64', _LARGEST)}")
                least = w.let(f"call {i64} @{smaller}({i64} {least}, {i64} {known})")
        return least

    def range_check(self, body: Body, number: int, sticky: str) -> str:
        """OR of all values under the bound (of their distances from a negative one): high bits tell of a violation."""
        w, i64 = self.frame.writer, body.vector("i64")
        interval, status = self.frame.bounds[number]
        assert interval.lo is not None
        for each in self.frame.assumes:
            if (each.interval, each.status) != (interval, status):
                continue
            self.frame.at(each)
            for value in body[each.load]:
                distance = value
                if interval.lo != 0:
                    distance = w.let(f"sub {i64} {value}, {splat('i64', interval.lo)}")
                sticky = w.let(f"or {i64} {sticky}, {distance}")
        return sticky
