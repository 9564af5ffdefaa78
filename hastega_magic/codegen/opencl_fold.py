"""Accumulators in OpenCL C: how each fold starts, takes values in, and is combined at the end of a block.

Floating-point sums and products follow the fixed tree of ir/reduction.py: 64 virtual lanes, which are the
elements of private vectors or the work-items of a group, then lanes h apart for h = 32, 16, ..., 1.
"""

from __future__ import annotations

from hastega_magic.codegen.opencl_body import Body
from hastega_magic.codegen.opencl_text import Writer, literal, scalar_type, suffix
from hastega_magic.ir.kernel import Accumulate
from hastega_magic.types import BOOL, FLOAT, FLOAT32, INT, ScalarType

_INT_IDENTITY = {
    "add": 0, "mul": 1, "min": (1 << 63) - 1, "max": -(1 << 63), "and": -1, "or": 0, "xor": 0, "count": 0,
}  # fmt: skip
_FLOAT_IDENTITY = {"add": -0.0, "mul": 1.0, "min": float("inf"), "max": float("-inf")}
_SYMBOL = {"add": "+", "mul": "*", "and": "&", "or": "|", "xor": "^"}
_NEAR_2_63 = float((1 << 63) - 1) * (1 - 2.0**-40)


class Fold:
    """One Accumulate statement's code. `states`: how many accumulators it has (none: an unmasked count)."""

    def __init__(self, number: int, statement: Accumulate, lanes: int) -> None:
        """Choose the accumulators."""
        self.number = number
        self.statement = statement
        self.kind = statement.kind
        self.lanes = lanes
        self.type: ScalarType = INT if self.kind == "count" else statement.value.type
        self.is_float = self.type.is_float
        self.tree = self.is_float and self.kind in ("add", "mul")
        self.states = 0 if self.kind == "count" and statement.mask is None else 2 if statement.wide else 1
        self.limit = _NEAR_2_63.hex()
        self.checked = self.kind == "mul" and self.type is INT

    def vector(self, lanes: int | None = None) -> str:
        """The accumulators' type for so many lanes."""
        lanes = self.lanes if lanes is None else lanes
        return scalar_type(self.type, self.lanes) + suffix(lanes)

    def identity(self, lanes: int | None = None) -> str:
        """What changes nothing."""
        lanes = self.lanes if lanes is None else lanes
        if self.type is BOOL:
            return literal(self.kind == "and", BOOL, lanes)
        if self.is_float:
            return literal(_FLOAT_IDENTITY[self.kind], FLOAT32 if self.type is FLOAT32 else FLOAT, lanes)
        return literal(_INT_IDENTITY[self.kind], INT, lanes)

    def take(self, body: Body, number: int, states: list[str], trouble: str) -> None:
        """Fold vector `number` of the body into the accumulators, and what overflows into `trouble`."""
        if not self.states:
            return
        writer = body.writer
        mask = None if self.statement.mask is None else body[self.statement.mask][number]
        if body.live is not None:
            mask = body.live if mask is None else writer.let(f"long{body.n}", f"{mask} & {body.live}", "m")
        if self.kind == "count":
            assert mask is not None
            # A mask is 1 per lane alone, -1 in vectors.
            writer.line(f"{states[0]} = {states[0]} {'+' if self.lanes == 1 else '-'} {mask};")
            return
        value = body[self.statement.value][number]
        if mask is not None:
            if self.type is FLOAT32 and self.lanes > 1:
                mask = f"convert_int{body.n}({mask})"
            value = writer.let(self.vector(), f"{mask} ? {value} : {self.identity()}", "m")
        if self.statement.wide:
            writer.line(f"{states[0]} = {states[0]} + ({value} >> 32);")
            writer.line(f"{states[1]} = {states[1]} + ({value} & 0xffffffffL);")
            return
        if self.checked:
            writer.line(f"{trouble} |= {self.overflow(states[0], value, self.lanes)};")
        writer.line(f"{states[0]} = {self.combined(states[0], value, self.lanes)};")

    def overflow(self, left: str, right: str, lanes: int) -> str:
        """A mask that holds wherever an int64 product may be inexact."""
        n = suffix(lanes)
        product = f"convert_double{n}({left}) * convert_double{n}({right})"
        return f"(fabs({product}) >= {self.limit})"

    def combined(self, left: str, right: str, lanes: int) -> str:
        """Left ∘ right; `left` holds the earlier elements."""
        n = suffix(lanes)
        if self.kind in ("min", "max"):
            if not self.is_float:
                return f"{self.kind}({left}, {right})"
            return f"{right} {'<' if self.kind == 'min' else '>'} {left} ? {right} : {left}"
        if self.checked:
            return f"as_long{n}(as_ulong{n}({left}) * as_ulong{n}({right}))"
        return f"{left} {_SYMBOL.get(self.kind, '+')} {right}"

    def store(self, writer: Writer, names: list[str], size: str) -> None:
        """Write the block's partial result; `names`: one scalar per accumulator."""
        where = f"p{self.number}[number * {self.statement.words}"
        if not self.states:
            writer.line(f"{where}] = {size};")
        elif self.statement.wide:
            writer.line(f"{where}] = {names[0]};")
            writer.line(f"{where} + 1] = {names[1]};")
        elif self.statement.words == 2:
            writer.line(f"{where}] = {names[0]} >> 32;")
            writer.line(f"{where} + 1] = {names[0]} & 0xffffffffL;")
        else:
            writer.line(f"{where}] = {f'{names[0]} & 1L' if self.type is BOOL else names[0]};")
