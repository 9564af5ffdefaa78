"""Accumulators in OpenCL C: how each fold starts, takes values in, and is combined at the end of a block.

Floating-point sums and products follow the fixed tree of ir/reduction.py: 64 virtual lanes, which are the
elements of private vectors or the work-items of a group, then lanes h apart for h = 32, 16, ..., 1.
"""

from __future__ import annotations

from hastega_magic.codegen.opencl.body import Body
from hastega_magic.codegen.opencl.text import Writer, literal, scalar_type, suffix, vector_type
from hastega_magic.codegen.product import times
from hastega_magic.ir.expr import is_const
from hastega_magic.ir.kernel import Accumulate
from hastega_magic.types import BOOL, FLOAT, FLOAT32, INT, ScalarType

_INT_IDENTITY = {
    "add": 0, "mul": 1, "min": (1 << 63) - 1, "max": -(1 << 63), "and": -1, "or": 0, "xor": 0, "count": 0,
}  # fmt: skip
_FLOAT_IDENTITY = {"add": -0.0, "mul": 1.0, "min": float("inf"), "max": float("-inf")}
_SYMBOL = {"add": "+", "mul": "*", "and": "&", "or": "|", "xor": "^"}


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
        self.checked = self.kind == "mul" and self.type is INT
        self.pairs = statement.high is not None and not is_const(statement.high, 0)
        if self.checked or self.pairs:
            self.states = 2  # low words, and what is beyond them

    def vector(self, lanes: int | None = None) -> str:
        """The accumulators' type for so many lanes."""
        lanes = self.lanes if lanes is None else lanes
        return scalar_type(self.type, self.lanes) + suffix(lanes)

    def identity(self, state: int = 0) -> str:
        """What changes nothing."""
        lanes = self.lanes
        if self.checked and state:
            return literal(0, INT, lanes)
        if self.type is BOOL:
            return literal(self.kind == "and", BOOL, lanes)
        if self.is_float:
            return literal(_FLOAT_IDENTITY[self.kind], FLOAT32 if self.type is FLOAT32 else FLOAT, lanes)
        return literal(_INT_IDENTITY[self.kind], INT, lanes)

    def take(self, body: Body, number: int, states: list[str], trouble: str) -> None:
        """Fold vector `number` of the body into the accumulators, and what overflows into `trouble`."""
        if not self.states or (self.kind == "add" and is_const(self.statement.value, 0)):
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
        words = [self.statement.value]
        if self.pairs and self.statement.high is not None:
            words.append(self.statement.high)
        values = [body[word][number] for word in words]
        if mask is not None:
            if self.type is FLOAT32 and self.lanes > 1:
                mask = f"convert_int{body.n}({mask})"
            values = [
                writer.let(self.vector(), f"{mask} ? {value} : {self.identity()}", "m") for value in values
            ]
        if self.pairs:
            for state, name in zip(states, self._extreme(writer, states, values), strict=True):
                writer.line(f"{state} = {name};")
            return
        (value,) = values
        if self.statement.wide:
            writer.line(f"{states[0]} = {states[0]} + ({value} >> 32);")
            writer.line(f"{states[1]} = {states[1]} + ({value} & 0xffffffffL);")
            return
        if self.checked:
            new, beyond = times(body.at_lanes(self.lanes), self.statement.product, states, value)
            writer.line(f"{trouble} |= {beyond};")
            for state, name in zip(states, new, strict=True):
                writer.line(f"{state} = {name};")
            return
        writer.line(f"{states[0]} = {self.combined(states[0], value, self.lanes)};")

    def joined(self, body: Body, left: list[str], right: list[str]) -> tuple[list[str], str]:
        """One state of two, and a mask that holds wherever a product may be none that 128 bits hold ("": nowhere).

        `body`: where nodes are emitted, with as many lanes as the vectors of the states have.
        """
        if self.pairs:
            return self._extreme(body.writer, left, right, body.lanes), ""
        if not self.checked:
            return [self.combined(a, b, body.lanes) for a, b in zip(left, right, strict=True)], ""
        w, long = body.writer, f"long{body.n}"
        large = [w.let(vector_type(BOOL, body.lanes), f"{state[1]} != 0", "large") for state in (left, right)]
        bigger = [w.let(long, f"{large[1]} ? {b} : {a}", "bigger") for a, b in zip(left, right, strict=True)]
        factor = w.let(long, f"{large[1]} ? {left[0]} : {right[0]}", "factor")
        state, trouble = times(body, self.statement.product, bigger, factor)
        return state, f"({trouble} | ({large[0]} & {large[1]}))"

    def _extreme(self, w: Writer, left: list[str], right: list[str], lanes: int = 0) -> list[str]:
        """The lesser or greater of integers in two words, of which the low one counts as an int64 as well."""
        lanes = lanes or self.lanes
        better = "<" if self.kind == "min" else ">"
        (low, high), (other_low, other_high) = left, right
        within = f"(({other_high} == {high}) & ({other_low} {better} {low}))"
        other = w.let(vector_type(BOOL, lanes), f"({other_high} {better} {high}) | {within}", "other")
        return [
            w.let(self.vector(lanes), f"{other} ? {b} : {a}", "extreme")
            for a, b in zip(left, right, strict=True)
        ]

    def combined(self, left: str, right: str, lanes: int) -> str:
        """Left ∘ right; `left` holds the earlier elements."""
        if self.kind in ("min", "max"):
            if not self.is_float:
                return f"{self.kind}({left}, {right})"
            return f"{right} {'<' if self.kind == 'min' else '>'} {left} ? {right} : {left}"
        return f"{left} {_SYMBOL.get(self.kind, '+')} {right}"

    def store(self, writer: Writer, names: list[str], size: str) -> None:
        """Write the block's partial result; `names`: one scalar per accumulator."""
        where = f"p{self.number}[number * {self.statement.words}"
        if not self.states:
            writer.line(f"{where}] = {size};")
        elif self.checked or self.pairs:
            writer.line(f"{where}] = {names[1]};")
            writer.line(f"{where} + 1] = {names[0]};")
        elif self.statement.wide:
            writer.line(f"{where}] = {names[0]};")
            writer.line(f"{where} + 1] = {names[1]};")
        elif self.statement.high is not None:
            writer.line(f"{where}] = 0;")
            writer.line(f"{where} + 1] = {names[0]};")
        elif self.statement.words == 2:
            writer.line(f"{where}] = {names[0]} >> 32;")
            writer.line(f"{where} + 1] = {names[0]} & 0xffffffffL;")
        else:
            writer.line(f"{where}] = {f'{names[0]} & 1L' if self.type is BOOL else names[0]};")
