"""Stores of a turn: dense ones at the elements' own places, packed ones into the thread's scratch."""

from __future__ import annotations

from hastega_magic.codegen.llvm_body import Body, memory_type
from hastega_magic.codegen.llvm_frame import Frame
from hastega_magic.codegen.llvm_text import element_type, mangled
from hastega_magic.ir.kernel import Store
from hastega_magic.types import BOOL, RESULT_STORAGE


class Stores:
    """Emits the stores of a turn."""

    def __init__(self, frame: Frame) -> None:
        """Write into the frame's function."""
        self.frame = frame

    def emit(self, body: Body, positions: list[str]) -> list[str]:
        """All stores of a turn; `positions`: how many elements each packed group holds, before and after."""
        w, positions = self.frame.writer, list(positions)
        for vector in range(body.vectors):
            for number, store in enumerate(self.frame.layout.stores):
                if self.frame.layout.groups[number] is None:
                    self._dense_store(body, number, store, vector)
            for group in range(self.frame.layout.group_count):
                mask = self._packed_mask(body, group, vector)
                for number, store in enumerate(self.frame.layout.stores):
                    if self.frame.layout.groups[number] == group:
                        self._packed_store(body, number, store, vector, mask, positions[group])
                bits = w.let(f"bitcast {body.vector('i1')} {mask} to i{self.frame.lanes}")
                count = w.let(
                    f"call i{self.frame.lanes} @llvm.ctpop.i{self.frame.lanes}(i{self.frame.lanes} {bits})"
                )
                if self.frame.lanes < 64:
                    count = w.let(f"zext i{self.frame.lanes} {count} to i64")
                positions[group] = w.let(f"add i64 {positions[group]}, {count}")
        return positions

    def _packed_mask(self, body: Body, group: int, vector: int) -> str:
        store = next(
            s for s, g in zip(self.frame.layout.stores, self.frame.layout.groups, strict=True) if g == group
        )
        assert store.mask is not None
        mask = body[store.mask][vector]
        if body.mask is None:
            return mask
        return self.frame.writer.let(f"and {body.vector('i1')} {mask}, {body.mask}")

    def _memory_value(self, body: Body, store: Store, vector: int) -> tuple[str, str, int]:
        """Element type in memory, vector name, bytes of an element."""
        storage = RESULT_STORAGE[store.value.type]
        name = body[store.value][vector]
        if store.value.type is BOOL:
            name = self.frame.writer.let(f"zext {body.vector('i1')} {name} to {body.vector('i8')}")
        return memory_type(storage), name, storage.size

    def _dense_store(self, body: Body, number: int, store: Store, vector: int) -> None:
        w = self.frame.writer
        element, name, size = self._memory_value(body, store, vector)
        place = w.let(f"add i64 {body.position}, {vector * self.frame.lanes}")
        where = w.let(f"getelementptr {element}, ptr {self.frame.results[number]}, i64 {place}")
        type_ = body.vector(element)
        if body.mask is None:
            w.line(f"store {type_} {name}, ptr {where}, align {size}")
        else:
            w.line(
                f"call void @llvm.masked.store.{mangled(element, self.frame.lanes)}.p0({type_} {name}, ptr {where}, "
                f"i32 {size}, {body.vector('i1')} {body.mask})"
            )

    def _packed_store(
        self, body: Body, number: int, store: Store, vector: int, mask: str, position: str
    ) -> None:
        w = self.frame.writer
        # LLVM cannot compress short vectors of bytes, so bools are packed as wide as the mask's other users are.
        wide = "i64" if store.value.type is BOOL else element_type(store.value.type)
        type_, name = body.vector(wide), body[store.value][vector]
        if store.value.type is BOOL:
            name = w.let(f"zext {body.vector('i1')} {name} to {type_}")
        packed = name  # one lane is packed as it stands: what is not kept is overwritten
        if self.frame.lanes > 1:
            packed = w.let(
                f"call {type_} @llvm.experimental.vector.compress.{mangled(wide, self.frame.lanes)}({type_} {name}, "
                f"{body.vector('i1')} {mask}, {type_} poison)"
            )
        storage = RESULT_STORAGE[store.value.type]
        element = memory_type(storage)
        if element != wide:
            packed = w.let(f"trunc {type_} {packed} to {body.vector(element)}")
        where = w.let(f"getelementptr {element}, ptr {self.frame.scratch[number]}, i64 {position}")
        w.line(f"store {body.vector(element)} {packed}, ptr {where}, align {storage.size}")
