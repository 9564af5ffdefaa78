"""Modulo by a constant through 52-bit multiply-add (AVX-512 IFMA), kept as a lazy residue between reductions.

    x * (x + 1) * 22 % p        s = madd52lo(x, x, x)                 x² + x
                                q = madd52hi(0, s, 22·2^52 // p)      Barrett's quotient, at most one less
                                v = madd52lo(0, s, 22)
                                r = madd52lo(v, q, 2^52 - p)          22·s - q·p in the low 52 bits, < 2p

A residue that only +, · and another % p look at stays in [0, 2p), with unspecified bits above the 52nd, which the
instructions ignore. Anything else sees the canonical value: mask, then umin(r, r - p). Barrett, CRYPTO '86.
"""

from __future__ import annotations

from hastega_magic.interval import Interval
from hastega_magic.ir.expr import Expr, const, is_const, make
from hastega_magic.passes.residues import Residue, Residues, is_regrouped, scalings, split_constant

SMALL = 1 << 52
"""Below this, 52-bit multiply-add and float64 division of integers are exact."""


class MultiplyAdd(Residues):
    """Residues in the low 52 bits of a node, from 0 on; those of `mod` in [0, 2p)."""

    moduli_below = SMALL // 2

    def _canonical(self, residue: Expr, modulus: int) -> Expr:
        low = make("and", residue, const(SMALL - 1))
        return make("umin", low, make("wrapping_sub", low, const(modulus)))

    def _divided(self, dividend: Expr, modulus: int) -> Residue | None:
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


__all__ = ["SMALL", "MultiplyAdd"]
