"""Division of float64 by a constant: one multiplication and two multiply-adds, which take a fraction of its time.

    z = 1 / c rounded        q0 = x · z        r = x − q0 · c, exact        q = q0 + r · z

If q0 is next to x / c, on either side, q is x / c correctly rounded (P. Markstein, Computation of elementary functions
on the IBM RISC System/6000 processor, 1990; proved again by D. Russinoff as "Quotient Refinement"). Where z is too far
from 1 / c to grant that, a first step of the same kind comes before. Very small and very large dividends, infinities
and NaN are divided.
"""

from __future__ import annotations

import struct
from fractions import Fraction
from typing import TYPE_CHECKING

from hastega_magic.codegen.llvm.text import literal, mangled, splat
from hastega_magic.ir.expr import Expr
from hastega_magic.types import FLOAT

if TYPE_CHECKING:
    from hastega_magic.codegen.llvm.body import Body

_DIVIDENDS = (-800, 900)
"""Exponents of dividends for which nothing overflows and remainders are exact; passes/quotients.py limits divisors."""


def quotients(body: Body, node: Expr) -> list[str]:
    """The quotients of a `divided_by` node's vectors; begins new blocks."""
    w, i1, i64, f64 = body.writer, body.vector("i1"), body.vector("i64"), body.vector("double")
    dividend, divisor = node.args
    assert isinstance(divisor.value, (int, float))
    by = float(divisor.value)
    near = Quotient(body, by)
    low, high = (struct.unpack("<q", struct.pack("<d", 2.0**each))[0] for each in _DIVIDENDS)
    odd = ""
    fast: list[str] = []
    for x in body[dividend]:
        fast.append(near.of(x))
        bits = w.let(f"bitcast {f64} {x} to {i64}")
        size = w.let(f"and {i64} {bits}, {splat('i64', (1 << 63) - 1)}")
        above = w.let(f"sub {i64} {size}, {splat('i64', low)}")
        outside = w.let(f"icmp ugt {i64} {above}, {splat('i64', high - low)}")
        nonzero = w.let(f"fcmp une {f64} {x}, zeroinitializer")
        strange = w.let(f"and {i1} {outside}, {nonzero}")
        odd = w.let(f"or {i1} {odd}, {strange}") if odd else strange
    whole = w.let(f"bitcast {i1} {odd} to i{body.lanes}")
    some = w.let(f"icmp ne i{body.lanes} {whole}, 0")
    here, divide, done = w.block, w.name("divide")[1:], w.name("divided")[1:]
    w.line(f"br i1 {some}, label %{divide}, label %{done}")
    w.label(divide)
    slow = [w.let(f"fdiv {f64} {x}, {near.divisor}") for x in body[dividend]]
    w.line(f"br label %{done}")
    w.label(done)
    return [
        w.let(f"phi {f64} [ {quick}, %{here} ], [ {exact}, %{divide} ]")
        for quick, exact in zip(fast, slow, strict=True)
    ]


class Quotient:
    """Quotients of ordinary numbers by a divisor, by multiplication."""

    def __init__(self, body: Body, divisor: float) -> None:
        """Write into the body."""
        self._writer, self._vector = body.writer, body.vector("double")
        self._fma = f"call {self._vector} @llvm.fma.{mangled('double', body.lanes)}"
        self._copysign = f"call {self._vector} @llvm.copysign.{mangled('double', body.lanes)}"
        self.divisor = splat("double", literal(divisor, FLOAT))
        self._against = splat("double", literal(-divisor, FLOAT))
        self._reciprocal = splat("double", literal(1.0 / divisor, FLOAT))
        self._steps = steps(divisor)

    def of(self, x: str) -> str:
        """The quotient of a vector; zeros keep the sign that a division gives them."""
        w, type_ = self._writer, self._vector
        first = found = w.let(f"fmul {type_} {x}, {self._reciprocal}")
        for _ in range(self._steps):
            rest = w.let(f"{self._fma}({type_} {found}, {type_} {self._against}, {type_} {x})")
            found = w.let(f"{self._fma}({type_} {rest}, {type_} {self._reciprocal}, {type_} {found})")
        return w.let(f"{self._copysign}({type_} {found}, {type_} {first})")


def steps(divisor: float) -> int:
    """How many steps lead from x · z to the quotient.

    With z = (1 + d) / c, x · z is off by |d| of the quotient, less than 2 |d| · 2^e for one in [2^e, 2^(e+1)), and by
    half a last place of rounding: by one last place at most, so next to the quotient, if |d| is at most 2^-54. From
    anywhere nearby, one step leads there.
    """
    off = abs(Fraction(1.0 / divisor) * Fraction(divisor) - 1)
    return 1 if off <= Fraction(1, 1 << 54) else 2
