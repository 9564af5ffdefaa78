"""Accumulators: how each fold starts, takes a vector in, and becomes one value at the end of a block.

Floating-point sums and products follow the fixed tree: 64 virtual lanes held in memory at `lane = position mod 64`
between loops and in registers within them, then lanes h apart for h = 32, 16, ..., 1.
"""

from __future__ import annotations

from hastega_magic.codegen.llvm.body import Body
from hastega_magic.codegen.llvm.text import Writer, element_type, mangled, splat
from hastega_magic.codegen.product import times
from hastega_magic.ir.expr import is_const
from hastega_magic.ir.kernel import Accumulate
from hastega_magic.ir.schedule import VIRTUAL_LANES
from hastega_magic.records import dataclass

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


@dataclass(frozen=True)
class Register:
    """A loop-carried vector: its element type and starting constant."""

    element: str
    start: str


@dataclass(frozen=True)
class Carried:
    """What a loop carries: vectors of folds, range checks and trouble; packed positions; running sums."""

    folds: list[list[list[str]]]  # fold -> vector in flight -> registers
    ranges: list[str]
    trouble: str
    positions: list[str]
    sums: list[str]


class Fold:
    """One Accumulate statement's code."""

    def __init__(self, statement: Accumulate, lanes: int, *, quarters: bool = False) -> None:
        """Choose the accumulators. `quarters`: of wide sums, of values' top quarters in place of their upper halves."""
        self.quarters = quarters and statement.wide
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
    def pairs(self) -> bool:
        """Whether extremes of integers of 128 bits are folded, of which some high word is not 0."""
        return self.statement.high is not None and not is_const(self.statement.high, 0)

    @property
    def in_128_bits(self) -> bool:
        """Whether the state is a low word and what is beyond it."""
        return self.multiplies_ints or self.pairs

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
        """Loop-carried vectors per vector in flight (tree folds keep their lanes apart).

        A wide sum has two, of the values shifted right by 32 and of the values, which wraps: a block's sum is less than
        2^44 beyond what the first says, so the two tell it. Quarters are shifted right by 48, in the upper halves of
        lanes, below which anything may be: a block's sum is less than 2^60 beyond what they say, and 28 bits hold them.
        A product of ints has two as well: low words, and what is beyond.
        """
        if self.kind == "count" and self.statement.mask is None:
            return []
        one = Register(self.element, splat(self.element, self.identity))
        if self.multiplies_ints:
            return [one, Register("i64", splat("i64", 0))]
        return [one, one] if self.statement.wide or self.pairs else [one]

    def take(self, body: Body, number: int, state: list[str]) -> tuple[list[str], str | None]:
        """Fold vector `number` of the body into the state; also the mask of lanes in which a product overflows."""
        if not self.registers or (self.kind == "add" and is_const(self.statement.value, 0)):
            return state, None
        writer, vector = body.writer, body.vector(self.element)
        mask = None if self.statement.mask is None else body[self.statement.mask][number]
        if (live := body.mask_of(number)) is not None:
            mask = live if mask is None else writer.let(f"and {body.vector('i1')} {mask}, {live}")
        if self.kind == "count":
            assert mask is not None
            ones = writer.let(f"zext {body.vector('i1')} {mask} to {vector}")
            return [writer.let(f"add {vector} {state[0]}, {ones}")], None
        words = [self.statement.value]
        if self.pairs and self.statement.high is not None:
            words.append(self.statement.high)
        values = [body[word][number] for word in words]
        if mask is not None:
            neutral = splat(self.element, self.identity)
            values = [
                writer.let(f"select {body.vector('i1')} {mask}, {vector} {value}, {vector} {neutral}")
                for value in values
            ]
        if self.pairs:
            return self._extreme(writer, state, values, self.lanes), None
        (value,) = values
        if self.statement.wide:
            low = writer.let(f"add {vector} {state[1]}, {value}")
            if self.quarters:
                dwords = f"<{2 * self.lanes} x i32>"
                top = writer.let(f"bitcast {vector} {value} to {dwords}")
                top = writer.let(f"ashr {dwords} {top}, {splat('i32', 16)}")
                return [
                    self._quarters(writer, state[0], writer.let(f"bitcast {dwords} {top} to {vector}")),
                    low,
                ], None
            high = writer.let(f"ashr {vector} {value}, {splat('i64', 32)}")
            return [writer.let(f"add {vector} {state[0]}, {high}"), low], None
        if self.multiplies_ints:
            return times(body.at_lanes(self.lanes), self.statement.product, state, value)
        return [self.combine(writer, state[0], value, self.lanes)], None

    def joined(self, body: Body, left: list[str], right: list[str]) -> tuple[list[str], str | None]:
        """One state of two, and the mask of lanes in which a product may be none that 128 bits hold.

        `body`: where nodes are emitted, with as many lanes as the vectors of the states have.
        """
        w, lanes = body.writer, body.lanes
        if self.pairs:
            return self._extreme(w, left, right, lanes), None
        if self.quarters:
            return [self._quarters(w, left[0], right[0]), self.combine(w, left[1], right[1], lanes)], None
        if not self.multiplies_ints:
            return [self.combine(w, a, b, lanes) for a, b in zip(left, right, strict=True)], None
        i64, i1 = body.vector("i64"), body.vector("i1")
        large = [w.let(f"icmp ne {i64} {state[1]}, zeroinitializer") for state in (left, right)]
        both = w.let(f"and {i1} {large[0]}, {large[1]}")
        bigger = [
            w.let(f"select {i1} {large[1]}, {i64} {b}, {i64} {a}") for a, b in zip(left, right, strict=True)
        ]
        factor = w.let(f"select {i1} {large[1]}, {i64} {left[0]}, {i64} {right[0]}")
        state, trouble = times(body, self.statement.product, bigger, factor)
        return state, w.let(f"or {i1} {trouble}, {both}")

    def _quarters(self, writer: Writer, left: str, right: str) -> str:
        """The sums of both's halves of lanes: what carries from the lower one would be in the upper one's way."""
        vector, dwords = f"<{self.lanes} x i64>", f"<{2 * self.lanes} x i32>"
        halves = [writer.let(f"bitcast {vector} {each} to {dwords}") for each in (left, right)]
        total = writer.let(f"add {dwords} {halves[0]}, {halves[1]}")
        return writer.let(f"bitcast {dwords} {total} to {vector}")

    def wide_sum(self, writer: Writer, state: list[str]) -> tuple[str, str]:
        """Two words of a wide sum's state: the sum is 2^32 times the first plus the second, of less than 44 bits."""
        high = state[0]
        if self.quarters:
            high = writer.let(f"ashr <{self.lanes} x i64> {high}, {splat('i64', 32)}")
        high, low = self.across(writer, [high]), self.across(writer, [state[1]])
        if not self.quarters:
            return high, writer.let(f"sub i64 {low}, {writer.let(f'shl i64 {high}, 32')}")
        rest = writer.let(f"sub i64 {low}, {writer.let(f'shl i64 {high}, 48')}")
        carried = writer.let(f"lshr i64 {rest}, 32")
        high = writer.let(f"add i64 {writer.let(f'shl i64 {high}, 16')}, {carried}")
        return high, writer.let(f"and i64 {rest}, {(1 << 32) - 1}")

    def _extreme(self, writer: Writer, left: list[str], right: list[str], lanes: int) -> list[str]:
        """The lesser or greater of integers in two words, of which the low one counts as an int64 as well."""
        w, i64 = writer, f"<{lanes} x i64>"
        better = "slt" if self.kind == "min" else "sgt"
        (low, high), (other_low, other_high) = left, right
        beyond = w.let(f"icmp {better} {i64} {other_high}, {high}")
        alike = w.let(f"icmp eq {i64} {other_high}, {high}")
        below = w.let(f"icmp {better} {i64} {other_low}, {low}")
        within = w.let(f"and <{lanes} x i1> {alike}, {below}")
        other = w.let(f"or <{lanes} x i1> {beyond}, {within}")
        return [
            w.let(f"select <{lanes} x i1> {other}, {i64} {b}, {i64} {a}")
            for a, b in zip(left, right, strict=True)
        ]

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
        """One scalar from equally long vectors: halves together until one vector, then halves of lanes.

        Not of what has a low word and an excess, for which there is `words_across`.
        """
        while len(vectors) > 1:
            half = len(vectors) // 2
            vectors = [
                self.combine(writer, vectors[i], vectors[i + half], self.lanes) for i in range(half)
            ] + vectors[2 * half :]
        name, lanes = vectors[0], self.lanes
        while lanes > 1:
            half = lanes // 2
            first, second = _halves(writer, name, self.element, lanes)
            name, lanes = self.combine(writer, first, second, half), half
        return writer.let(f"extractelement <1 x {self.element}> {name}, i32 0")

    def words_across(self, body: Body, state: list[str]) -> tuple[list[str], str]:
        """One state of the lanes', low word and excess, and an i1 that says whether 128 bits may not hold it."""
        w, lanes, overflowed = body.writer, self.lanes, "false"
        while lanes > 1:
            pairs = [_halves(w, name, "i64", lanes) for name in state]
            lanes //= 2
            first, second = ([pair[side] for pair in pairs] for side in (0, 1))
            state, trouble = self.joined(body.at_lanes(lanes), first, second)
            if trouble is None:
                continue
            bits = w.let(f"bitcast <{lanes} x i1> {trouble} to i{lanes}")
            overflowed = w.let(f"or i1 {overflowed}, {w.let(f'icmp ne i{lanes} {bits}, 0')}")
        return [w.let(f"extractelement <1 x i64> {name}, i32 0") for name in state], overflowed

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


def _halves(writer: Writer, name: str, element: str, lanes: int) -> tuple[str, str]:
    """The first half of a vector's lanes and the second one."""
    vector, half = f"<{lanes} x {element}>", lanes // 2
    found: list[str] = []
    for start in (0, half):
        numbers = ", ".join(f"i32 {start + lane}" for lane in range(half))
        found.append(
            writer.let(f"shufflevector {vector} {name}, {vector} poison, <{half} x i32> <{numbers}>")
        )
    return found[0], found[1]


__all__ = ["Fold", "Register", "memory_lanes"]
