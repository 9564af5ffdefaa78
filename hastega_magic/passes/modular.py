"""Modulo by a constant through 52-bit multiply-add (AVX-512 IFMA), kept as a lazy residue between reductions.

    x * (x + 1) * 22 % p        s = madd52lo(x, x, x)                 x² + x
                                q = madd52hi(0, s, 22·2^52 // p)      Barrett's quotient, at most one too
                                small
                                v = madd52lo(0, s, 22)
                                r = madd52lo(v, q, 2^52 - p)          22·s - q·p in the low 52 bits, in [0,
                                2p)

A residue that only +, · and another % p look at stays in [0, 2p), with unspecified bits above the 52nd,
which the
instructions ignore. Anything else sees the canonical value: mask, then umin(r, r - p). Barrett, CRYPTO '86.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hastega_magic.interval import Interval
from hastega_magic.ir.expr import Expr, const, is_const, make, postorder
from hastega_magic.passes.builder import GraphBuilder

SMALL = 1 << 52
"""Below this, 52-bit multiply-add and float64 division of integers are exact."""


def unnoted(node: Expr, found: Expr) -> None:
    """Nobody wants to know that `found` stands for the node."""


@dataclass(frozen=True)
class Residue:
    """A node whose low 52 bits are a value in [0, most], congruent to the node it stands for."""

    node: Expr
    most: int


class ModularLowering:
    """Lowers `mod` by a constant; `lowered` gives the plain lowering of any node."""

    def __init__(
        self,
        builder: GraphBuilder,
        lowered: Callable[[Expr], Expr],
        note: Callable[[Expr, Expr], None] = unnoted,
    ) -> None:
        """Keep what is known of ranges, how other nodes are lowered, and who is told which node stands for which."""
        self._builder = builder
        self._lowered = lowered
        self._note = note
        self._lazy: dict[tuple[Expr, int], Residue | None] = {}
        self._met: set[Expr] = set()

    def lower(self, node: Expr) -> Expr | None:
        """The canonical remainder of a `mod` node; None where the method does not apply."""
        for each in postorder([node], self._met):  # innermost first: chains may be longer than Python's stack
            self._met.add(each)
            if each.op == "mod":
                self._reduce(each)
        residue = self._reduce(node)
        if residue is None:
            return None
        modulus = int(node.args[1].value)  # pyright: ignore[reportArgumentType]
        low = make("and", residue.node, const(SMALL - 1))
        return make("umin", low, make("wrapping_sub", low, const(modulus)))

    def _reduce(self, node: Expr) -> Residue | None:
        """Node = dividend % p as a residue in [0, 2p)."""
        if node.op != "mod" or not is_const(node.args[1]):
            return None
        modulus = node.args[1].value
        if not isinstance(modulus, int) or not 2 < modulus < SMALL // 2:
            return None
        key = (node, modulus)
        if key not in self._lazy:
            self._lazy[key] = found = self._barrett(node.args[0], modulus)
            if found is not None:
                self._note(node, found.node)
        return self._lazy[key]

    def _barrett(self, dividend: Expr, modulus: int) -> Residue | None:
        factor, rest = split_constant(dividend)
        factor %= modulus
        scaled = None if factor == 0 or rest is None else self._ring(rest, modulus)
        if scaled is None or rest is None:
            factor, scaled = 1, self._ring(dividend, modulus)
        if scaled is None:
            return None
        zero = const(0)
        quotient = make("madd52hi", zero, scaled.node, const((factor << 52) // modulus))
        value = scaled.node if factor == 1 else make("madd52lo", zero, scaled.node, const(factor))
        for each in (dividend, *scalings(dividend)) if factor != 1 else (dividend,):
            self._note(each, value)
        if rest is not None and is_regrouped(rest, dividend):
            self._note(dividend, scaled.node)
        return Residue(make("madd52lo", value, quotient, const(SMALL - modulus)), 2 * modulus - 1)

    def _ring(self, node: Expr, modulus: int) -> Residue | None:
        """The node over lazy residues, if its value then stays below 2^52; else over canonical values."""
        for lazy in (True, False):
            found = self._over(node, modulus, lazy)
            if found is not None:
                return found
        return None

    def _over(self, node: Expr, modulus: int, lazy: bool) -> Residue | None:
        if node.op == "mod" and lazy and is_const(node.args[1], modulus):
            return self._reduce(node)
        if node.op == "const" and isinstance(node.value, int):
            return Residue(const(node.value % modulus), node.value % modulus)
        if node.op == "add":
            return self._sum(node, modulus, lazy)
        if node.op == "mul":
            return self._product(None, node, modulus, lazy)
        found = self._builder.range_of(node)
        if found.within(Interval(0, SMALL - 1)) and found.hi is not None:
            return Residue(self._lowered(node), found.hi)
        return None

    def _sum(self, node: Expr, modulus: int, lazy: bool) -> Residue | None:
        left, right = node.args
        if left.op == "mul" and right.op != "mul":
            left, right = right, left
        first = self._over(left, modulus, lazy)
        if first is None:
            return None
        if right.op == "mul":
            return self._product(first, right, modulus, lazy)
        second = self._over(right, modulus, lazy)
        if second is None or first.most + second.most >= SMALL:
            return None
        found = make("wrapping_add", first.node, second.node)
        self._note(node, found)
        return Residue(found, first.most + second.most)

    def _product(self, addend: Residue | None, node: Expr, modulus: int, lazy: bool) -> Residue | None:
        """Addend + left · right in one multiply-add; x · (x + 1) is x + x · x."""
        left, right = node.args
        absorbed = node
        for x, other in ((left, right), (right, left)):
            if addend is None and other.op == "add" and other.args[0] is x and is_const(other.args[1], 1):
                addend, left, right, absorbed = self._over(x, modulus, lazy), x, x, other
                if addend is None:
                    return None
                break
        first, second = self._over(left, modulus, lazy), self._over(right, modulus, lazy)
        if first is None or second is None:
            return None
        most = first.most * second.most + (0 if addend is None else addend.most)
        if most >= SMALL:
            return None
        start = const(0) if addend is None else addend.node
        found = make("madd52lo", start, first.node, second.node)
        self._note(node, found)
        self._note(absorbed, found)
        return Residue(found, most)


def is_regrouped(rest: Expr, dividend: Expr) -> bool:
    """Whether the rest of a product is one that was not written: x · (x + 1) of k · x · (x + 1)."""
    return rest.op == "mul" and rest is not dividend and rest not in dividend.args


def scalings(node: Expr) -> list[Expr]:
    """The products with a constant that `split_constant` takes apart."""
    if node.op != "mul":
        return []
    own = [node] if any(map(is_const, node.args)) else []
    return own + [each for part in node.args for each in scalings(part)]


def split_constant(node: Expr) -> tuple[int, Expr | None]:
    """Node = constant · rest, looking through products."""
    if node.op == "const" and isinstance(node.value, int):
        return node.value, None
    if node.op != "mul":
        return 1, node
    factor, rest = 1, None
    for part in node.args:
        own, remaining = split_constant(part)
        factor *= own
        if remaining is not None:
            rest = remaining if rest is None else make("mul", rest, remaining)
    return factor, rest
