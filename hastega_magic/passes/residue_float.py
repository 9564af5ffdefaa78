"""Modulo by a constant in float64, kept as a signed lazy residue between reductions.

    x * (x + 1) * 22 % p        t = fma(x, x, x)                          x² + x
                                q = fma(t, 22/p, 1.5·2^52) - 1.5·2^52     the nearest quotient
                                x = fma(q, -p, 22·t)                      in about [-p/2, p/2]

For machines with a fused multiply-add and no 52-bit integer one. All values are integers below 2^53, so that
every operation but the quotient's is exact, and an error there only widens the residue. What + - · and another
% p look at stays signed; anything else sees the canonical value: one comparison, one addition, one conversion.
Only where no int64 on the way can overflow: with --int wrap it would wrap, and a residue does not.
"""

from __future__ import annotations

from collections.abc import Callable

from hastega_magic.interval import TOP
from hastega_magic.ir.expr import Expr, const, is_const, make, postorder
from hastega_magic.passes.builder import GraphBuilder
from hastega_magic.passes.infer import exact_range
from hastega_magic.passes.residues import Residue, Residues, is_regrouped, scalings, split_constant
from hastega_magic.types import INT

EXACT = 1 << 53
"""Integers up to this magnitude are float64 values."""

_ROUNDER = float(3 << 51)
"""Added and subtracted, it rounds what is below 2^51 to an integer."""

_QUOTIENT = 1 << 51

_RING = frozenset({"add", "sub", "mul", "neg"})


class SignedFloats(Residues):
    """Residues as float64 integers of either sign; those of `mod` of magnitude below p."""

    moduli_below = _QUOTIENT

    def __init__(
        self, builder: GraphBuilder, lowered: Callable[[Expr], Expr], note: Callable[[Expr, Expr], None]
    ) -> None:
        """Nothing is known yet."""
        super().__init__(builder, lowered, note)
        self._wraps: dict[Expr, bool] = {}

    def _canonical(self, residue: Expr, modulus: int) -> Expr:
        negative = make("lt", residue, const(0.0))
        return make(
            "whole_to_int", make("select", negative, make("add", residue, const(float(modulus))), residue)
        )

    def _may_wrap(self, root: Expr) -> bool:
        """Whether the arithmetic that the node is made of can leave int64."""
        for node in postorder([root], self._wraps):
            wraps = False
            if node.op in _RING and node.type is INT:
                ranges = [self._builder.range_of(arg) for arg in node.args]
                exact = exact_range(node, ranges, self._builder.leaves)
                wraps = exact is TOP or not exact.fits_int64 or any(self._wraps[arg] for arg in node.args)
            self._wraps[node] = wraps
        return self._wraps[root]

    def _divided(self, dividend: Expr, modulus: int) -> Residue | None:
        if self._may_wrap(dividend):
            return None
        factor, rest = split_constant(dividend)
        factor = _least(factor, modulus)
        if rest is not None and rest is not dividend and factor:
            scaled = self._over(rest, modulus)
            if scaled is not None:
                if is_regrouped(rest, dividend):
                    self._note(dividend, scaled.node)
                whole = self._quotient(scaled, factor, modulus, dividend)
                if whole is not None:
                    return whole
                small = self._quotient(scaled, 1, modulus)  # k · x % p as k · (x % p) % p
                if small is not None:
                    return self._quotient(small, factor, modulus, dividend)
        found = self._over(dividend, modulus)
        return None if found is None else self._quotient(found, 1, modulus)

    def _quotient(
        self, value: Residue, factor: int, modulus: int, product: Expr | None = None
    ) -> Residue | None:
        """Factor · value (`product`) reduced: what is left after taking away the nearest multiple of p."""
        most = abs(factor) * value.most
        nearest = most // modulus + 1
        if most >= EXACT or nearest >= _QUOTIENT // 2:
            return None
        # The factor 1/p is off by 2^-53, the sum with the rounder by half a place: of p, a half and a bit.
        left = modulus // 2 + 1 + (nearest * modulus >> 51)
        if left >= modulus or nearest * modulus >= EXACT:
            return None
        rounder = const(_ROUNDER)
        shifted = make("fma", value.node, const(factor / modulus), rounder)
        quotient = make("sub", shifted, rounder)
        scaled = value.node if factor == 1 else make("mul", value.node, const(float(factor)))
        if product is not None:
            for each in (product, *scalings(product)) if factor != 1 else (product,):
                self._note(each, scaled)
        return Residue(make("fma", quotient, const(float(-modulus)), scaled), left)

    def _over(self, node: Expr, modulus: int) -> Residue | None:
        """The node as a float64 integer that is congruent to it."""
        if node.op == "mod" and is_const(node.args[1], modulus):
            found = self._reduce(node)
            if found is not None:
                return found
        if node.op == "const" and isinstance(node.value, int):
            value = _least(node.value, modulus)
            return Residue(const(float(value)), abs(value))
        if node.op in ("add", "sub"):
            return self._sum(node, modulus)
        if node.op == "neg":
            found = self._over(node.args[0], modulus)
            return None if found is None else Residue(self._made(node, "neg", found.node), found.most)
        if node.op == "mul":
            found = self._product(None, node, modulus)
            if found is not None:
                return found
        most = self._builder.range_of(node).magnitude
        if most is None or most >= EXACT:
            return None
        return Residue(make("int_to_float", self._lowered(node)), most)

    def _sum(self, node: Expr, modulus: int) -> Residue | None:
        left, right = node.args
        if node.op == "add" and left.op == "mul" and right.op != "mul":
            left, right = right, left
        first = self._over(left, modulus)
        if first is None:
            return None
        if node.op == "add" and right.op == "mul":
            found = self._product(first, right, modulus)
            if found is not None:
                return found
        second = self._over(right, modulus)
        if second is None or first.most + second.most >= EXACT:
            return None
        return Residue(self._made(node, node.op, first.node, second.node), first.most + second.most)

    def _product(self, addend: Residue | None, node: Expr, modulus: int) -> Residue | None:
        """Addend + left · right in one fused operation; x · (x + 1) is x + x · x."""
        left, right = node.args
        absorbed = node
        for x, other in ((left, right), (right, left)):
            if addend is None and other.op == "add" and other.args[0] is x and is_const(other.args[1], 1):
                addend, left, right, absorbed = self._over(x, modulus), x, x, other
                if addend is None:
                    return None
                break
        first, second = self._over(left, modulus), self._over(right, modulus)
        if first is None or second is None:
            return None
        most = first.most * second.most + (0 if addend is None else addend.most)
        if most >= EXACT:
            return None
        if addend is None:
            return Residue(self._made(node, "mul", first.node, second.node), most)
        found = self._made(node, "fma", first.node, second.node, addend.node)
        self._note(absorbed, found)
        return Residue(found, most)

    def _made(self, node: Expr, op: str, *args: Expr) -> Expr:
        """The operator, which stands for the node."""
        found = make(op, *args)
        self._note(node, found)
        return found


def _least(value: int, modulus: int) -> int:
    """The congruent integer of least magnitude."""
    found = value % modulus
    return found - modulus if 2 * found > modulus else found


__all__ = ["EXACT", "SignedFloats"]
