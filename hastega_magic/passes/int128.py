"""Integers of 128 bits inside a loop: two int64 nodes in two's complement, for values that 64 bits may not hold.

    %1 = mul %0, %0                  high: mul_hi %0, %0         low: wrapping_mul %0, %0
    %2 = gt %1, 10^20                on both words, as all that Python would see of the value is that comparison

Sums, products, shifts and choices are right modulo 2^128, so that only what looks at the whole value asks for a check,
and only where the ranges do not show that 128 bits hold it: an estimate of the magnitude in float64 (`Pairs.size`).
Nodes that know no pairs keep their int64 operands, with the guards these have.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from hastega_magic.interval import INT64, Interval
from hastega_magic.ir.expr import Expr, const, is_const, make, rebuild
from hastega_magic.passes import int128_words as words
from hastega_magic.passes.int128_words import Pair
from hastega_magic.records import dataclass
from hastega_magic.types import INT

HELD = Interval(-(1 << 127) + (1 << 64), (1 << 127) - (1 << 64) - 1)
"""Values of which both the words and their sums of parts fit: one step of the high word away from the ends."""

_SURE = 2.0**127 * (1 - 2.0**-40)
"""Estimates err by far less than the distance to 2^127."""

_MODULAR = frozenset({"add", "sub", "neg", "pos", "mul", "shl", "select"})
"""Right modulo 2^128 whatever their operands' high bits are."""

DIVISIONS = frozenset({"floordiv", "mod"})
_COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})


@dataclass
class Pairs:
    """Rebuilds nodes. `ranges`: of all integer nodes, exact where `is_paired`, else as guards leave them."""

    ranges: Mapping[Expr, Interval]

    def __post_init__(self) -> None:
        self._narrow: dict[Expr, Expr] = {}
        self._pairs: dict[Expr, Pair] = {}
        self._sizes: dict[Expr, Expr] = {}

    @property
    def any_wide(self) -> bool:
        """Whether some value was computed in two words."""
        return any(map(self.is_wide, self._pairs))

    def range_of(self, node: Expr) -> Interval:
        """What the value may be, before any check."""
        return self.ranges.get(node, INT64)

    def is_wide(self, node: Expr) -> bool:
        """Whether an integer may need more than 64 bits."""
        return node.type is INT and not self.range_of(node).fits_int64

    def narrow(self, node: Expr) -> Expr:
        """The node itself, an int64, bool or float, over operands that are rebuilt."""
        if node not in self._narrow:
            self._narrow[node] = self._rebuilt(node)
        return self._narrow[node]

    def _rebuilt(self, node: Expr) -> Expr:
        if any(map(self.is_wide, node.args)) and not self.is_wide(node):
            found = self._by_words(node)
            if found is not None:
                return found
        return rebuild(node, tuple(map(self.narrow, node.args)))

    def _by_words(self, node: Expr) -> Expr | None:
        """A node that is no pair, of operands that are."""
        if node.op in _COMPARISONS:
            return words.compared(node.op, *(self.pair(arg) for arg in node.args))
        if node.op == "int_to_float":
            return words.to_float(self.pair(node.args[0]))
        if node.op == "bit_length":
            return words.bit_length(self.pair(node.args[0]))
        if is_paired(node):
            divisor = node.args[1].value if node.op == "mod" and is_const(node.args[1]) else None
            if isinstance(divisor, int) and 0 < divisor < words.LIMB and divisor & (divisor - 1):
                return make("mod", self._residue(node.args[0], divisor)[0], node.args[1])
            return self._words(node).low
        return None

    def pair(self, node: Expr) -> Pair:
        """The value in two words, checked where 128 bits may not hold it."""
        found = self.raw(node)
        if self.range_of(node).within(HELD):
            return found
        sure = make("lt", self.size(node), const(_SURE))
        return Pair(make("held128", found.high, sure), found.low)

    def raw(self, node: Expr) -> Pair:
        """The value modulo 2^128."""
        if node not in self._pairs:
            narrow = not self.is_wide(node) or not is_paired(node)
            self._pairs[node] = self._extended(self.narrow(node)) if narrow else self._words(node)
        return self._pairs[node]

    def _extended(self, node: Expr) -> Pair:
        return words.extended(node, self.range_of(node))

    def _words(self, node: Expr) -> Pair:
        if node.op == "const":
            assert isinstance(node.value, int)
            return words.of_constant(node.value)
        if node.op == "load":
            return Pair(const(0), make("int64_bits", node))
        operand = self.raw if node.op in _MODULAR else self.pair
        match node.op, node.args:
            case "select", (condition, yes, no):
                return words.chosen(self.narrow(condition), operand(yes), operand(no))
            case "pos", (value,):
                return operand(value)
            case "mul", (left, right):
                return self._product(left, right)
            case (("floordiv" | "mod"), (value, divisor)) if not is_const(divisor):
                return words.divided(self.pair(value), self._divisor(divisor))[node.op == "mod"]
            case (("shl" | "shr" | "floordiv" | "mod"), (value, amount)):
                assert isinstance(amount.value, int)
                return _BY_CONSTANT[node.op](operand(value), amount.value)
            case _:
                return _PLAIN[node.op](*map(operand, node.args))

    def _divisor(self, node: Expr) -> Pair:
        """The value, checked where it may be zero."""
        found = self.pair(node)
        if 0 not in self.range_of(node):
            return found
        sure = words.compared("ne", found, words.of_constant(0))
        return Pair(found.high, make("nonzero", found.low, sure))

    def _product(self, left: Expr, right: Expr) -> Pair:
        for one, other in ((left, right), (right, left)):
            if (
                is_const(one)
                and isinstance(one.value, int)
                and one.value > 0
                and not one.value & (one.value - 1)
            ):
                return words.shifted_left(self.raw(other), one.value.bit_length() - 1)
        if self.is_wide(left) and not self.is_wide(right):
            left, right = right, left
        if not self.is_wide(left):
            factor, lowest = self.narrow(left), self.range_of(left).lo
            if not self.is_wide(right):
                return words.product_of_words(factor, self.narrow(right))
            return words.product_with_word(self.raw(right), factor, lowest is None or lowest < 0)
        return words.product(self.raw(left), self.raw(right))

    def size(self, node: Expr) -> Expr:
        """A float64 that is at least about the magnitude: of sums and products that of their operands'."""
        if node not in self._sizes:
            self._sizes[node] = self._size(node)
        return self._sizes[node]

    def _size(self, node: Expr) -> Expr:
        if is_const(node) and isinstance(node.value, int):
            return const(float(abs(node.value)) if node.value in HELD else math.inf)
        if not self.is_wide(node) or not is_paired(node):
            return make("fabs", make("int_to_float", self.narrow(node)))
        match node.op, node.args:
            case (("neg" | "pos"), (value,)):
                return self.size(value)
            case (("add" | "sub"), (left, right)):
                return make("add", self.size(left), self.size(right))
            case "mul", (left, right):
                return make("mul", self.size(left), self.size(right))
            case "shl", (value, count) if isinstance(count.value, int):
                return make("mul", self.size(value), const(2.0**count.value))
            case "select", (condition, yes, no):
                return make("select", self.narrow(condition), self.size(yes), self.size(no))
            case _:
                return words.magnitude(self.raw(node))

    def _residue(self, node: Expr, modulus: int) -> tuple[Expr, Interval]:
        """An int64 that is congruent to the value, and its range."""
        if is_const(node) and isinstance(node.value, int):
            return const(node.value % modulus), Interval(node.value % modulus, node.value % modulus)
        if not self.is_wide(node) or not is_paired(node):
            return self.narrow(node), self.range_of(node).meet(INT64)
        match node.op, node.args:
            case (("add" | "sub" | "mul"), (left, right)):
                return self._combined(
                    node.op, self._residue(left, modulus), self._residue(right, modulus), modulus
                )
            case "neg", (value,):
                zero = const(0), Interval(0, 0)
                return self._combined("sub", zero, self._residue(value, modulus), modulus)
            case "pos", (value,):
                return self._residue(value, modulus)
            case "shl", (value, count) if isinstance(count.value, int):
                factor = pow(2, count.value, modulus)
                power = const(factor), Interval(factor, factor)
                return self._combined("mul", self._residue(value, modulus), power, modulus)
            case "select", (condition, yes, no):
                (one, within), (other, outside) = self._residue(yes, modulus), self._residue(no, modulus)
                return make("select", self.narrow(condition), one, other), within.join(outside)
            case _:
                return words.remainder(self.pair(node), modulus), Interval(0, modulus - 1)

    @staticmethod
    def _combined(
        op: str, left: tuple[Expr, Interval], right: tuple[Expr, Interval], modulus: int
    ) -> tuple[Expr, Interval]:
        """The larger operand is reduced first, where the result would not fit."""
        while not (found := words.RANGES[op](left[1], right[1])).fits_int64:
            if _extent(left[1]) >= _extent(right[1]):
                left = make("mod", left[0], const(modulus)), Interval(0, modulus - 1)
            else:
                right = make("mod", right[0], const(modulus)), Interval(0, modulus - 1)
        return make(op, left[0], right[0]), found


def _extent(found: Interval) -> int:
    assert found.magnitude is not None
    return found.magnitude


def is_paired(node: Expr) -> bool:
    """Whether the operator has a form over two words."""
    if node.type is not INT:
        return False
    if node.op in _BY_CONSTANT:
        if not is_const(node.args[1]):
            return node.op in DIVISIONS
        value = node.args[1].value
        return isinstance(value, int) and _TAKES[node.op](value)
    return node.op in _MODULAR or node.op in _PLAIN or node.op in ("const", "load")


def _divides(value: int) -> bool:
    return 0 < abs(value) < 1 << 127


_PLAIN: Mapping[str, Callable[..., Pair]] = {
    "add": words.total,
    "sub": words.difference,
    "neg": words.negative,
    "abs": words.absolute,
    "invert": words.inverted,
    "and": words.bitwise("and"),
    "or": words.bitwise("or"),
    "xor": words.bitwise("xor"),
    "min": words.lesser,
    "max": words.greater,
}
_BY_CONSTANT: Mapping[str, Callable[[Pair, int], Pair]] = {
    "shl": words.shifted_left,
    "shr": words.shifted_right,
    "floordiv": words.quotient,
    "mod": words.modulo,
}
_TAKES: Mapping[str, Callable[[int], bool]] = {
    "shl": lambda count: 0 <= count < 128,
    "shr": lambda count: count >= 0,
    "floordiv": _divides,
    "mod": _divides,
}
