"""Stores of a turn: dense ones at the elements' own places, packed ones into the thread's scratch."""

from __future__ import annotations

from collections.abc import Sequence

from hastega_magic.codegen.llvm.affine_rows import AffineRows, rows_of
from hastega_magic.codegen.llvm.body import Body, memory_type
from hastega_magic.codegen.llvm.compress import compressing
from hastega_magic.codegen.llvm.frame import Frame
from hastega_magic.codegen.llvm.text import Writer, element_type, mangled, picked
from hastega_magic.ir.kernel import ROW_BY_ROW, Store
from hastega_magic.types import BOOL, FLOAT32, RESULT_STORAGE


class Stores:
    """Emits the stores of a turn."""

    def __init__(self, frame: Frame) -> None:
        """Write into the frame's function."""
        self.frame = frame
        self.rows = {
            number: rows_of(frame, number)
            for number, store in enumerate(frame.layout.stores)
            if store.running in ROW_BY_ROW
        }
        self.totalled = {number: rows for number, rows in self.rows.items() if rows.totalled}
        self._sums: dict[int, str] = {}

    def emit(self, body: Body, positions: list[str], sums: list[str]) -> tuple[list[str], list[str]]:
        """All stores of a turn.

        `positions`: how many elements each packed group holds; `sums`: what the rows of `totalled` come to. Both before
        the turn, and after it.
        """
        positions, self._sums = list(positions), dict(zip(self.totalled, sums, strict=True))
        for vector in range(body.vectors):
            for number, store in enumerate(self.frame.layout.stores):
                if self.frame.layout.groups[number] is None:
                    self.frame.at(store)
                    self._dense_store(body, number, store, vector)
            for group in range(self.frame.layout.group_count):
                positions[group] = self._pack(body, group, vector, positions[group])
        return positions, list(self._sums.values())

    def _packed_mask(self, body: Body, group: int, vector: int) -> str:
        store = next(
            s for s, g in zip(self.frame.layout.stores, self.frame.layout.groups, strict=True) if g == group
        )
        assert store.mask is not None
        mask = body[store.mask][vector]
        if body.mask is None:
            return mask
        return self.frame.writer.let(f"and {body.vector('i1')} {mask}, {body.mask}")

    def _dense_store(self, body: Body, number: int, store: Store, vector: int) -> None:
        w, lanes, mask = self.frame.writer, self.frame.lanes, body.mask
        if store.fields == 1:
            element, name, size = memory_value(body, store, vector)
        elif store.part:  # is stored with the first one
            return
        else:
            fields = self.frame.layout.stores[number : number + store.fields]
            element, name, size = self._record(body, fields, vector)
            mask = None if mask is None else side_by_side(w, [mask] * store.fields, "i1", lanes)
        place = body.start_of(vector)
        place = place if store.fields == 1 else w.let(f"mul i64 {place}, {store.fields}")
        where = w.let(f"getelementptr {element}, ptr {self.frame.results[number]}, i64 {place}")
        count = lanes * store.fields
        type_ = f"<{count} x {element}>"
        if mask is None and self.frame.streams(size):
            w.line(f"store {type_} {name}, ptr {where}, align {lanes * size}, !nontemporal !0")
        elif mask is None:
            w.line(f"store {type_} {name}, ptr {where}, align {size}")
        else:
            w.line(
                f"call void @llvm.masked.store.{mangled(element, count)}.p0({type_} {name}, ptr {where}, "
                f"i32 {size}, <{count} x i1> {mask})"
            )

    def _record(self, body: Body, fields: Sequence[Store], vector: int) -> tuple[str, str, int]:
        """Element type and name of a vector of whole records, and the bytes of a field."""
        w, names = self.frame.writer, list[str]()
        storages = [RESULT_STORAGE[each.value.type] for each in fields]
        size, kinds = storages[0].size, {memory_type(each) for each in storages}
        common = kinds.pop() if len(kinds) == 1 else f"i{8 * size}"
        for store in fields:
            self.frame.at(store)
            kind, name, _ = memory_value(body, store, vector)
            if kind != common:
                name = w.let(f"bitcast {body.vector(kind)} {name} to {body.vector(common)}")
            names.append(name)
        self.frame.at(fields[0])
        return common, side_by_side(w, names, common, self.frame.lanes), size

    def _pack(self, body: Body, group: int, vector: int, position: str) -> str:
        """Append what the mask keeps of a vector to the group's scratch, one register at a time; the new position."""
        w, lanes, stores = self.frame.writer, self.frame.lanes, self.frame.layout.stores
        members = [number for number, each in enumerate(self.frame.layout.groups) if each == group]
        types = [stores[number].value.type for number in members]
        # LLVM compresses neither short vectors of bytes nor (correctly) vectors wider than a register.
        bits = 32 if FLOAT32 in types and all(type_ in (FLOAT32, BOOL) for type_ in types) else 64
        size = min(lanes, max(1, self.frame.target.vector_bits // bits))
        self.frame.at(stores[members[0]])
        if stores[members[0]].mask is None:
            return self._append(body, members, vector, position)
        mask = self._packed_mask(body, group, vector)
        values = [self._packable(body, number, vector, bits) for number in members]
        for number in members:
            self._count(body, number, vector, mask)
        for start in range(0, lanes, size):
            kept = self._part(mask, "i1", start, size)
            compress = compressing(w, self.frame.target, kept, size)
            for number, (element, name) in zip(members, values, strict=True):
                self.frame.at(stores[number])
                packed = compress(element, self._part(name, element, start, size))
                self._packed_store(number, element, packed, size, position)
            self.frame.at(stores[members[0]])
            whole = w.let(f"bitcast <{size} x i1> {kept} to i{size}")
            count = w.let(f"call i{size} @llvm.ctpop.i{size}(i{size} {whole})")
            if size < 64:
                count = w.let(f"zext i{size} {count} to i64")
            position = w.let(f"add i64 {position}, {count}")
        return position

    def _append(self, body: Body, members: list[int], vector: int, position: str) -> str:
        """All of a vector, of which the last one of a block has fewer elements."""
        w = self.frame.writer
        for number in members:
            store = self.frame.layout.stores[number]
            self.frame.at(store)
            element, name, size = memory_value(body, store, vector)
            rows = self.rows.get(number)
            if rows is not None and rows.early:
                name = rows.within(name, self.frame.lanes)
                if isinstance(rows, AffineRows):
                    rows.lasts(name, self.frame.lanes, position)
                else:
                    self._sums[number] = rows.chain(name, position, self._sums[number])
            self._count(body, number, vector, body.mask)
            if rows is not None and rows.recomputed:
                continue
            where = w.let(f"getelementptr {element}, ptr {self.frame.scratch[number]}, i64 {position}")
            w.line(f"store {body.vector(element)} {name}, ptr {where}, align {size}")
        if body.mask is None:
            return w.let(f"add i64 {position}, {self.frame.lanes}")
        live = w.let(f"sub i64 %end, {body.position}")
        few = w.let(f"icmp ult i64 {live}, {self.frame.lanes}")
        return w.let(f"add i64 {position}, {w.let(f'select i1 {few}, i64 {live}, i64 {self.frame.lanes}')}")

    def _count(self, body: Body, number: int, vector: int, mask: str | None) -> None:
        """Add a vector to what running sums of ints come to."""
        rows = self.rows.get(number)
        if rows is not None and rows.ints:
            name = body[self.frame.layout.stores[number].value][vector]
            self._sums[number] = rows.counted(name, mask, self._sums[number])

    def _packable(self, body: Body, number: int, vector: int, bits: int) -> tuple[str, str]:
        """Element type and name of the vector to compress; bools become ints of so many bits."""
        value = self.frame.layout.stores[number].value
        name = body[value][vector]
        if value.type is not BOOL:
            return element_type(value.type), name
        wide = body.vector(f"i{bits}")
        return f"i{bits}", self.frame.writer.let(f"zext {body.vector('i1')} {name} to {wide}")

    def _part(self, name: str, element: str, start: int, size: int) -> str:
        lanes = self.frame.lanes
        if size == lanes:
            return name
        numbers = ", ".join(f"i32 {lane}" for lane in range(start, start + size))
        type_ = f"<{lanes} x {element}>"
        return self.frame.writer.let(
            f"shufflevector {type_} {name}, {type_} poison, <{size} x i32> <{numbers}>"
        )

    def _packed_store(self, number: int, element: str, name: str, size: int, position: str) -> None:
        w, type_ = self.frame.writer, f"<{size} x {element}>"
        storage = RESULT_STORAGE[self.frame.layout.stores[number].value.type]
        memory = memory_type(storage)
        if memory != element:
            name = w.let(f"trunc {type_} {name} to <{size} x {memory}>")
        where = w.let(f"getelementptr {memory}, ptr {self.frame.scratch[number]}, i64 {position}")
        w.line(f"store <{size} x {memory}> {name}, ptr {where}, align {storage.size}")


def side_by_side(w: Writer, vectors: Sequence[str], element: str, lanes: int) -> str:
    """One vector of the first elements of all, then the second ones, and so on."""
    order = [vector * lanes + lane for lane in range(lanes) for vector in range(len(vectors))]
    return picked(w, vectors, element, lanes, order)


def memory_value(body: Body, store: Store, vector: int) -> tuple[str, str, int]:
    """Element type in memory, name of the vector to be stored, bytes of an element."""
    storage = RESULT_STORAGE[store.value.type]
    name = body[store.value][vector]
    if store.value.type is BOOL:
        name = body.writer.let(f"zext {body.vector('i1')} {name} to {body.vector('i8')}")
    return memory_type(storage), name, storage.size
