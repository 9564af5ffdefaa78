"""Accumulators: how each fold starts, takes a vector in, and becomes one value at the end of a block.

Floating-point sums and products follow the fixed tree: 64 virtual lanes held in memory at `lane = position
mod 64`
between loops and in registers within them, then lanes h apart for h = 32, 16, ..., 1.
"""

from __future__ import annotations

from dataclasses import dataclass

from hastega_magic.codegen.llvm_body import Body
from hastega_magic.codegen.llvm_text import Writer, element_type, mangled, splat
from hastega_magic.ir.kernel import Accumulate
from hastega_magic.ir.schedule import VIRTUAL_LANES

_INT_IDENTITY = {
    "add": "0",
    "mul": "1",
    "min": str((1 << 63) - 1),
    "max": str(-(1 << 63)),
    "and": "-1",
    "or": "0",
    "xor": "0",
}
_FLOAT_IDENTITY = {
    "add": "0x8000000000000000", "mul": "0x3FF0000000000000",
    "min": "0x7FF0000000000000", "max": "0xFFF0000000000000",
}  # fmt: skip
_INT_FOLD = {"add": "add", "mul": "mul", "and": "and", "or": "or", "xor": "xor"}
_NEAR_2_63 = "0x43DFFFFFFFFFF000"


@dataclass(frozen=True)
class Register:
    """A loop-carried vector: its element type and starting constant."""

    element: str
    start: str


class Fold:
    """One Accumulate statement's code."""

    def __init__(self, statement: Accumulate, lanes: int) -> None:
        """Choose the accumulators."""
        self.statement = statement
        self.lanes = lanes
        self.kind = statement.kind
        self.element = "i64" if statement.kind == "count" else element_type(statement.value.type)
        self.is_float = self.element in ("double", "float")
        self.tree = self.is_float and self.kind in ("add", "mul")

    @property
    def multiplies_ints(self) -> bool:
        """Whether the fold can leave int64 on its way, so that every step is checked."""
        return self.kind == "mul" and self.element == "i64"

    @property
    def identity(self) -> str:
        """The scalar that changes nothing."""
        if self.kind == "count":
            return "0"
        if self.element == "i1":
            return "true" if self.kind == "and" else "false"
        return (_FLOAT_IDENTITY if self.is_float else _INT_IDENTITY)[self.kind]

    @property
    def registers(self) -> list[Register]:
        """Loop-carried vectors per vector in flight (tree folds keep their lanes apart); a wide sum has two."""
        if self.kind == "count" and self.statement.mask is None:
            return []
        one = Register(self.element, splat(self.element, self.identity))
        return [one, one] if self.statement.wide else [one]

    def take(self, body: Body, number: int, state: list[str]) -> tuple[list[str], str | None]:
        """Fold vector `number` of the body into the state; also the mask of lanes in which a product overflows."""
        if not self.registers:
            return state, None
        writer, vector = body.writer, body.vector(self.element)
        mask = None if self.statement.mask is None else body[self.statement.mask][number]
        if body.mask is not None:
            mask = body.mask if mask is None else writer.let(f"and {body.vector('i1')} {mask}, {body.mask}")
        if self.kind == "count":
            assert mask is not None
            ones = writer.let(f"zext {body.vector('i1')} {mask} to {vector}")
            return [writer.let(f"add {vector} {state[0]}, {ones}")], None
        value = body[self.statement.value][number]
        if mask is not None:
            neutral = splat(self.element, self.identity)
            value = writer.let(f"select {body.vector('i1')} {mask}, {vector} {value}, {vector} {neutral}")
        if self.statement.wide:
            low = writer.let(f"and {vector} {value}, {splat('i64', (1 << 32) - 1)}")
            high = writer.let(f"ashr {vector} {value}, {splat('i64', 32)}")
            return [
                writer.let(f"add {vector} {old}, {new}") for old, new in zip(state, (high, low), strict=True)
            ], None
        overflow = None
        if self.multiplies_ints:
            overflow = product_overflow(writer, self.lanes, state[0], value)
        return [self.combine(writer, state[0], value, self.lanes)], overflow

    def combine(self, writer: Writer, left: str, right: str, lanes: int) -> str:
        """Left ∘ right on vectors; `left` holds the earlier elements."""
        vector = f"<{lanes} x {self.element}>"
        if self.kind == "count":
            return writer.let(f"add {vector} {left}, {right}")
        if self.kind in ("min", "max"):
            if not self.is_float:
                suffix = mangled(self.element, lanes)
                return writer.let(
                    f"call {vector} @llvm.s{self.kind}.{suffix}({vector} {left}, {vector} {right})"
                )
            better = writer.let(f"fcmp {'olt' if self.kind == 'min' else 'ogt'} {vector} {right}, {left}")
            return writer.let(f"select <{lanes} x i1> {better}, {vector} {right}, {vector} {left}")
        operator = ("f" if self.is_float else "") + _INT_FOLD[self.kind]
        return writer.let(f"{operator} {vector} {left}, {right}")

    def across(self, writer: Writer, vectors: list[str]) -> str:
        """One scalar from equally long vectors: halves together until one vector, then halves of lanes."""
        while len(vectors) > 1:
            half = len(vectors) // 2
            vectors = [
                self.combine(writer, vectors[i], vectors[i + half], self.lanes) for i in range(half)
            ] + vectors[2 * half :]
        name, lanes = vectors[0], self.lanes
        while lanes > 1:
            half = lanes // 2
            vector = f"<{lanes} x {self.element}>"
            low = ", ".join(f"i32 {i}" for i in range(half))
            high = ", ".join(f"i32 {i + half}" for i in range(half))
            first = writer.let(f"shufflevector {vector} {name}, {vector} poison, <{half} x i32> <{low}>")
            second = writer.let(f"shufflevector {vector} {name}, {vector} poison, <{half} x i32> <{high}>")
            name, lanes = self.combine(writer, first, second, half), half
        return writer.let(f"extractelement <1 x {self.element}> {name}, i32 0")

    def product_across(self, writer: Writer, name: str) -> tuple[str, str]:
        """An int64 product of the lanes, and an i1 that says whether it overflowed on the way."""
        result, overflowed = "1", "false"
        for lane in range(self.lanes):
            part = writer.let(f"extractelement <{self.lanes} x i64> {name}, i32 {lane}")
            pair = writer.let(f"call {{ i64, i1 }} @llvm.smul.with.overflow.i64(i64 {result}, i64 {part})")
            result = writer.let(f"extractvalue {{ i64, i1 }} {pair}, 0")
            bit = writer.let(f"extractvalue {{ i64, i1 }} {pair}, 1")
            overflowed = writer.let(f"or i1 {overflowed}, {bit}")
        return result, overflowed

    def stored(self, writer: Writer, name: str) -> tuple[str, str]:
        """Type and name of the scalar as it is kept among partial results."""
        if self.element == "i1":
            return "i64", writer.let(f"zext i1 {name} to i64")
        if self.element == "float":
            return "double", writer.let(f"fpext float {name} to double")
        return self.element, name


def memory_lanes(fold: Fold) -> str:
    """The array type of a tree fold's virtual lanes."""
    return f"[{VIRTUAL_LANES} x {fold.element}]"


def product_overflow(writer: Writer, lanes: int, left: str, right: str) -> str:
    """The mask of lanes in which a product may leave int64."""
    i64, f64 = f"<{lanes} x i64>", f"<{lanes} x double>"
    a = writer.let(f"sitofp {i64} {left} to {f64}")
    b = writer.let(f"sitofp {i64} {right} to {f64}")
    product = writer.let(f"fmul {f64} {a}, {b}")
    size = writer.let(f"call {f64} @llvm.fabs.v{lanes}f64({f64} {product})")
    return writer.let(f"fcmp oge {f64} {size}, {splat('double', _NEAR_2_63)}")


__all__ = ["Fold", "Register", "memory_lanes"]
