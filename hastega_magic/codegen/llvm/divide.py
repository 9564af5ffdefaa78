"""Division of float64 by a constant: a few multiply-adds, which take a fraction of its time.

    h + l = 1 / c            q = x · h + (x · l)        where ir/reciprocal.py proves it of the divisor

Very small dividends are divided. For other divisors:

    z = 1 / c rounded        q0 = x · z        r = x − q0 · c, exact        q = q0 + r · z

If q0 is next to x / c, on either side, q is x / c correctly rounded (P. Markstein, Computation of elementary functions
on the IBM RISC System/6000 processor, 1990; proved again by D. Russinoff as "Quotient Refinement"). Where z is too far
from 1 / c to grant that, a first step of the same kind comes before. Very small and very large dividends, infinities
and NaN are divided.
"""

from __future__ import annotations

import functools
import struct
from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from hastega_magic.codegen.llvm.text import literal, mangled, splat
from hastega_magic.ir.expr import Expr
from hastega_magic.ir.reciprocal import reciprocal
from hastega_magic.types import FLOAT

if TYPE_CHECKING:
    from hastega_magic.codegen.llvm.body import Body

_DIVIDENDS = (-800, 900)
"""Exponents of dividends for which nothing overflows and remainders are exact; passes/quotients.py limits divisors."""

_NOT_SMALL = 3 << 61
"""Bits of exponents of which one at least is set from 2^-511 on."""


def quotients(body: Body, node: Expr) -> list[str]:
    """The quotients of a `divided_by` node's vectors; begins new blocks."""
    w, i1, f64 = body.writer, body.vector("i1"), body.vector("double")
    dividend, divisor = node.args
    assert isinstance(divisor.value, (int, float))
    by = float(divisor.value)
    parts = reciprocal(by)
    near = Refined(body, by) if parts is None else Product(body, *parts)
    fast = [near.of(x) for x in body[dividend]]
    doubtful = [near.doubtful(x) for x in body[dividend]]
    here, look, divide, done = w.block, *(w.name(hint)[1:] for hint in ("look", "divide", "divided"))
    w.line(f"br i1 {_any(body, doubtful)}, label %{look}, label %{done}")
    w.label(look)
    nonzero = (w.let(f"fcmp une {f64} {x}, zeroinitializer") for x in body[dividend])
    beyond = [
        w.let(f"and {i1} {near.beyond(x)}, {some}") for x, some in zip(body[dividend], nonzero, strict=True)
    ]
    w.line(f"br i1 {_any(body, beyond)}, label %{divide}, label %{done}")
    w.label(divide)
    constant = splat("double", literal(by, FLOAT))
    slow = [w.let(f"fdiv {f64} {x}, {constant}") for x in body[dividend]]
    w.line(f"br label %{done}")
    w.label(done)
    return [
        w.let(f"phi {f64} [ {quick}, %{here} ], [ {quick}, %{look} ], [ {exact}, %{divide} ]")
        for quick, exact in zip(fast, slow, strict=True)
    ]


def _any(body: Body, masks: Sequence[str]) -> str:
    """Whether there is a lane in one of the masks."""
    w, i1 = body.writer, body.vector("i1")
    joined = functools.reduce(lambda one, other: w.let(f"or {i1} {one}, {other}"), masks)
    whole = w.let(f"bitcast {i1} {joined} to i{body.lanes}")
    return w.let(f"icmp ne i{body.lanes} {whole}, 0")


class Quotient(ABC):
    """Quotients by a constant without a division."""

    def __init__(self, body: Body) -> None:
        """Write into the body."""
        self.writer, self.vector, self.i64 = body.writer, body.vector("double"), body.vector("i64")
        self.suffix = mangled("double", body.lanes)

    def fma(self, a: str, b: str, c: str) -> str:
        """Write a multiply-add, which rounds once."""
        v = self.vector
        return self.writer.let(f"call {v} @llvm.fma.{self.suffix}({v} {a}, {v} {b}, {v} {c})")

    @abstractmethod
    def of(self, x: str) -> str:
        """The quotient of a vector; zeros keep the sign that a division gives them."""

    @abstractmethod
    def doubtful(self, x: str) -> str:
        """Lanes among which are all in which that may not be it: those to look at."""

    @abstractmethod
    def beyond(self, x: str) -> str:
        """Those in which that may not be it; zeros may be among them."""


class Product(Quotient):
    """By two parts of the divisor's reciprocal."""

    def __init__(self, body: Body, high: float, low: float) -> None:
        """Write into the body."""
        super().__init__(body)
        self._high, self._low = (splat("double", literal(each, FLOAT)) for each in (high, low))

    def of(self, x: str) -> str:
        """Zeros and infinities have the parts' signs."""
        less = self.writer.let(f"fmul {self.vector} {x}, {self._low}")
        return self.fma(x, self._high, less)

    def doubtful(self, x: str) -> str:
        """Zeros and very small numbers: the highest bits of exponents tell, in one operation."""
        w, i64 = self.writer, self.i64
        bits = w.let(f"bitcast {self.vector} {x} to {i64}")
        high = w.let(f"and {i64} {bits}, {splat('i64', _NOT_SMALL)}")
        return w.let(f"icmp eq {i64} {high}, zeroinitializer")

    def beyond(self, x: str) -> str:
        """Dividends of which x · l loses places."""
        w, v = self.writer, self.vector
        size = w.let(f"call {v} @llvm.fabs.{self.suffix}({v} {x})")
        return w.let(f"fcmp olt {v} {size}, {splat('double', literal(2.0 ** _DIVIDENDS[0], FLOAT))}")


class Refined(Quotient):
    """By the divisor's rounded reciprocal, and what is left then."""

    def __init__(self, body: Body, divisor: float) -> None:
        """Write into the body."""
        super().__init__(body)
        self._against = splat("double", literal(-divisor, FLOAT))
        self._reciprocal = splat("double", literal(1.0 / divisor, FLOAT))
        self._steps = steps(divisor)

    def of(self, x: str) -> str:
        """As many steps as it takes."""
        w, v = self.writer, self.vector
        first = found = w.let(f"fmul {v} {x}, {self._reciprocal}")
        for _ in range(self._steps):
            rest = self.fma(found, self._against, x)
            found = self.fma(rest, self._reciprocal, found)
        return w.let(f"call {v} @llvm.copysign.{self.suffix}({v} {found}, {v} {first})")

    def doubtful(self, x: str) -> str:
        """The same, zeros among them."""
        return self.beyond(x)

    def beyond(self, x: str) -> str:
        """Dividends of no ordinary size, and NaN."""
        w, i64 = self.writer, self.i64
        low, high = (struct.unpack("<q", struct.pack("<d", 2.0**each))[0] for each in _DIVIDENDS)
        bits = w.let(f"bitcast {self.vector} {x} to {i64}")
        size = w.let(f"and {i64} {bits}, {splat('i64', (1 << 63) - 1)}")
        above = w.let(f"sub {i64} {size}, {splat('i64', low)}")
        return w.let(f"icmp ugt {i64} {above}, {splat('i64', high - low)}")


def steps(divisor: float) -> int:
    """How many steps lead from x · z to the quotient.

    With z = (1 + d) / c, x · z is off by |d| of the quotient, less than 2 |d| · 2^e for one in [2^e, 2^(e+1)), and by
    half a last place of rounding: by one last place at most, so next to the quotient, if |d| is at most 2^-54. From
    anywhere nearby, one step leads there.
    """
    off = abs(Fraction(1.0 / divisor) * Fraction(divisor) - 1)
    return 1 if off <= Fraction(1, 1 << 54) else 2
