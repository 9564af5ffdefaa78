"""Graphs over single values: the step from one element to the next, and numbers that are the same for all elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hastega_magic.codegen.llvm.body import Body, memory_type
from hastega_magic.codegen.llvm.frame import Frame
from hastega_magic.codegen.llvm.text import element_type, splat
from hastega_magic.ir.expr import Expr
from hastega_magic.ir.loop import results_used
from hastega_magic.types import BOOL, RESULT_STORAGE, ScalarType


class Single:
    """Emits a graph over leaves that have names, and gives the names of its roots."""

    def __init__(self, frame: Frame, roots: Sequence[Expr], leaves: Mapping[Expr, str]) -> None:
        """Write into the frame's function, where it is now."""
        self.frame = frame
        kernel = replace(frame.kernel, schedule=replace(frame.kernel.schedule, lanes=1, in_flight=1))
        self._body = Body(
            frame.writer, kernel, [], frame.tables, splat("i64", 0), "0", "0", 1,
            stop=frame.stop, used=results_used(roots),
        )  # fmt: skip
        for leaf, name in leaves.items():
            element = element_type(leaf.type)
            vector = f"<1 x {element}>"
            self._body.values[leaf] = [
                frame.writer.let(f"insertelement {vector} poison, {element} {name}, i32 0")
            ]
        self._body.emit(list(roots))

    def __getitem__(self, root: Expr) -> str:
        """The value of a root."""
        vector = self._body[root][0]
        return self.frame.writer.let(f"extractelement <1 x {element_type(root.type)}> {vector}, i32 0")


def load(frame: Frame, where: str, type_: ScalarType) -> str:
    """A number from memory."""
    storage = RESULT_STORAGE[type_]
    raw = frame.writer.let(f"load {memory_type(storage)}, ptr {where}, align {storage.size}")
    return frame.writer.let(f"icmp ne i8 {raw}, 0") if type_ is BOOL else raw


def given(frame: Frame, slots: Sequence[tuple[Expr, int]]) -> dict[Expr, str]:
    """Captured numbers, from the sources that hold them."""
    return {leaf: load(frame, frame.sources[slot].base, leaf.type) for leaf, slot in slots}
