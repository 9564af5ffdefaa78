"""What the elementary functions are written with: terms as numbers with operators, and rows made of them.

A function is written once, over Real and Whole; each operator is one row of the machine's exact or correctly
rounded operations, in the order written, so that every back end computes the same bits. Python's value of such
a row (the oracle's) is the same function over scalars. float32 operands are computed in float64 and rounded
once at the end.

Largest errors in units in the last place, as tools/ulp.py saw them in 3 to 5 million float64 arguments each, rounded
up, and numbers of operations:

    exp   0.86  30    log   0.80  40    sin   0.73  52    asin  0.63  86    sinh  0.73  69
    expm1 0.88  42    log1p 0.83  55    cos   0.73  50    acos  0.64  89    cosh  0.84  42
    exp2  0.86  35    log2  0.70  50    tan   0.84  66    atan  0.63  62    tanh  0.73  60
    pow   0.77 142    log10 0.65  52                      atan2 0.63  88    asinh 0.89  90
    erf   0.85 132    erfc  0.78 149    cbrt  0.51  51    hypot 0.51  43    acosh 0.88  89
                                                                            atanh 0.90  66

(erf and erfc: 200 thousand arguments. hypot is np.hypot; that of math has CPython's bits.) logaddexp is NumPy's
formula, which is off by up to 1.5, and by more where it is the difference of two numbers. For float32 all are 0.5000.
sin, cos and tan beyond 2^40 are the C library's for float64 (at most 1 in those that are current), rounded once for
float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hastega_magic.interval import INT64, Interval
from hastega_magic.ops import arithmetic, compare, convert, elementary, machine
from hastega_magic.ops.row import Builder, Op, TermRule, math_float, numpy_float
from hastega_magic.records import dataclass
from hastega_magic.types import BOOL, FLOAT, FLOAT32, INT, ScalarType, type_of_constant

SHIFT = 1.5 * 2.0**52
"""Added to a float64 below 2^51 in magnitude it leaves the nearest integer in the low bits."""

_APPROXIMATE = frozenset({"approximate"})


@dataclass(frozen=True, eq=False, slots=True)
class Flag:
    """A BOOL term."""

    builder: Builder
    term: Any

    def __and__(self, other: Flag) -> Flag:
        return Flag(self.builder, self.builder.op("and", self.term, other.term))

    def __or__(self, other: Flag) -> Flag:
        return Flag(self.builder, self.builder.op("or", self.term, other.term))


@dataclass(frozen=True, eq=False, slots=True)
class Whole:
    """An INT term as a machine word: sums wrap, >> moves zeros in."""

    builder: Builder
    term: Any

    def _op(self, name: str, other: Whole | int) -> Whole:
        right = other.term if isinstance(other, Whole) else self.builder.const(other, INT)
        return Whole(self.builder, self.builder.op(name, self.term, right))

    def __add__(self, other: Whole | int) -> Whole:
        return self._op("wrapping_add", other)

    def __sub__(self, other: Whole | int) -> Whole:
        return self._op("wrapping_sub", other)

    def __lshift__(self, count: int) -> Whole:
        return self._op("wrapping_shl", count)

    def __rshift__(self, count: int) -> Whole:
        return self._op("lshr", count)

    def __and__(self, other: Whole | int) -> Whole:
        return self._op("and", other)

    def __or__(self, other: Whole | int) -> Whole:
        return self._op("or", other)

    def __xor__(self, other: Whole | int) -> Whole:
        return self._op("xor", other)

    def differs(self, other: int) -> Flag:
        """Whether it is another number."""
        return Flag(self.builder, self._op("ne", other).term)

    def real(self) -> Real:
        """The float64 with these bits."""
        return Real(self.builder, self.builder.op("bits_float", self.term))


@dataclass(frozen=True, eq=False, slots=True)
class Real:
    """A float64 term."""

    builder: Builder
    term: Any

    def _term(self, other: Real | float) -> Any:
        return other.term if isinstance(other, Real) else self.builder.const(other, FLOAT)

    def constant(self, value: float) -> Real:
        """A float of the same graph."""
        return Real(self.builder, self.builder.const(value))

    def _op(self, name: str, other: Real | float) -> Real:
        return Real(self.builder, self.builder.op(name, self.term, self._term(other)))

    def _reversed(self, name: str, other: float) -> Real:
        return Real(self.builder, self.builder.op(name, self._term(other), self.term))

    def _test(self, name: str, other: Real | float) -> Flag:
        return Flag(self.builder, self._op(name, other).term)

    def __add__(self, other: Real | float) -> Real:
        return self._op("add", other)

    def __radd__(self, other: float) -> Real:
        return self._reversed("add", other)

    def __sub__(self, other: Real | float) -> Real:
        return self._op("sub", other)

    def __rsub__(self, other: float) -> Real:
        return self._reversed("sub", other)

    def __mul__(self, other: Real | float) -> Real:
        return self._op("mul", other)

    def __rmul__(self, other: float) -> Real:
        return self._reversed("mul", other)

    def __truediv__(self, other: Real | float) -> Real:
        return self._op("fdiv", other)

    def __rtruediv__(self, other: float) -> Real:
        return self._reversed("fdiv", other)

    def __neg__(self) -> Real:
        return self.unary("neg")

    def __abs__(self) -> Real:
        return self.unary("fabs")

    def __lt__(self, other: Real | float) -> Flag:
        return self._test("lt", other)

    def __le__(self, other: Real | float) -> Flag:
        return self._test("le", other)

    def __gt__(self, other: Real | float) -> Flag:
        return self._test("gt", other)

    def __ge__(self, other: Real | float) -> Flag:
        return self._test("ge", other)

    def equals(self, other: Real | float) -> Flag:
        """Equality (== of terms means identity to those who keep them)."""
        return self._test("eq", other)

    def differs(self, other: Real | float) -> Flag:
        """Inequality; NaN differs from all."""
        return self._test("ne", other)

    def unary(self, name: str) -> Real:
        """A row of one operand."""
        return Real(self.builder, self.builder.op(name, self.term))

    def fma(self, factor: Real | float, summand: Real | float) -> Real:
        """Self · factor + summand, rounded once."""
        operands = self.term, self._term(factor), self._term(summand)
        return Real(self.builder, self.builder.op("fma", *operands))

    def with_sign_of(self, other: Real) -> Real:
        """Its magnitude with the other's sign."""
        return self._op("copysign", other)

    def bits(self) -> Whole:
        """Its bits."""
        return Whole(self.builder, self.builder.op("float_bits", self.term))


def where(condition: Flag, yes: Real | float, no: Real | float) -> Real:
    """One of two numbers."""
    b = condition.builder
    yes_term, no_term = (each.term if isinstance(each, Real) else b.const(each, FLOAT) for each in (yes, no))
    return Real(b, b.op("select", condition.term, yes_term, no_term))


def polynomial(x: Real, coefficients: Sequence[float]) -> Real:
    """Horner's scheme; coefficients from the lowest power up."""
    result = x.fma(coefficients[-1], coefficients[-2])
    for coefficient in coefficients[-3::-1]:
        result = result.fma(x, coefficient)
    return result


def two_product(x: Real, y: Real | float) -> tuple[Real, Real]:
    """The rounded product and its rounding error."""
    product = x * y
    return product, x.fma(y, -product)


def fast_two_sum(large: Real, small: Real) -> tuple[Real, Real]:
    """The rounded sum and its error, where |large| ≥ |small|, or large is zero or a multiple of small's last place."""
    total = large + small
    return total, (large - total) + small


def two_sum(x: Real, y: Real | float) -> tuple[Real, Real]:
    """The rounded sum and its rounding error."""
    return machine.two_sum(x, y)


def divided(top: Real, top_low: Real, bottom: Real, bottom_low: Real) -> tuple[Real, Real]:
    """(top + top_low) / (bottom + bottom_low) as a number and a much smaller one."""
    inverse = 1.0 / bottom
    first = top * inverse
    rest = (-first).fma(bottom, top) + (-first).fma(bottom_low, top_low)
    return first, rest * inverse


def quotient(top: Real, top_low: Real, bottom: Real, bottom_low: Real) -> Real:
    """The same, rounded."""
    first, rest = divided(top, top_low, bottom, bottom_low)
    return first + rest


Function = Callable[..., Real]
"""A function over one or two Real."""
Condition = Callable[..., Flag]
"""A condition over one or two Real."""


def _wide(b: Builder, args: Sequence[Any]) -> list[Real]:
    return [Real(b, b.op("to_float64", arg) if arg.type is FLOAT32 else arg) for arg in args]


def expansion(function: Function) -> TermRule:
    """The rule of a row that computes this function, for float32 and float64 operands."""

    def expand(b: Builder, args: Sequence[Any]) -> Any:
        result = function(*_wide(b, args)).term
        return b.op("to_float32", result) if args[0].type is FLOAT32 else result

    return expand


def condition(rule: Condition) -> TermRule:
    """The same for a condition."""
    return lambda b, args: rule(*_wide(b, args)).term


# Over scalars


@dataclass(frozen=True, slots=True)
class _Scalar:
    type: ScalarType
    value: Any


PRIMITIVES = {
    row.name: row for module in (arithmetic, compare, convert, elementary, machine) for row in module.ROWS
}
_AS: dict[ScalarType, Callable[[Any], Any]] = {BOOL: bool, INT: int, FLOAT32: np.float32}


class _ScalarBuilder:
    """Computes where other builders make nodes."""

    estimates = False
    serial = False

    def op(self, name: str, *args: _Scalar) -> _Scalar:
        row = PRIMITIVES[name]
        result = row.signature(tuple(arg.type for arg in args)).result
        value: Any = row.python(*(arg.value for arg in args))
        return _Scalar(result, _AS.get(result, float)(value))

    def const(self, value: Any, type_: ScalarType | None = None) -> _Scalar:
        return _Scalar(type_ or type_of_constant(value), value)

    def range_of(self, term: _Scalar) -> Interval:
        return INT64


def over_scalars(function: Function) -> Callable[..., Any]:
    """The function over Python floats; over np.float32 its result is one."""

    def python(*args: Any) -> Any:
        builder = _ScalarBuilder()
        with np.errstate(all="ignore"):
            value = function(*(Real(builder, _Scalar(FLOAT, float(arg))) for arg in args)).term.value
            return np.float32(value) if type(args[0]) is np.float32 else value

    return python


def raising_as(reference: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, after the reference has had its chance to raise."""

    def python(*args: float) -> Any:
        reference(*args)
        return function(*args)

    return python


def ufunc_row(
    name: str,
    function: Function,
    ufunc: Callable[..., Any],
    spellings: tuple[object, ...] = (),
    arity: int = 1,
) -> Op:
    """The row of a ufunc that has a value everywhere and never raises."""
    return Op(name, arity, over_scalars(function), numpy_float, numpy=ufunc, expand=expansion(function),
              spellings=spellings or (ufunc,), traits=_APPROXIMATE)  # fmt: skip


def math_row(
    name: str,
    function: Function,
    reference: Callable[..., Any],
    numpy: Callable[..., Any] | None = None,
    trouble: Condition | None = None,
) -> Op:
    """The row `math_name` of a function of the math module that raises where `trouble` holds."""
    return Op(f"math_{name}", 1, raising_as(reference, over_scalars(function)), math_float, numpy=numpy,
              expand=expansion(function), trouble=None if trouble is None else condition(trouble),
              spellings=(reference,), traits=_APPROXIMATE)  # fmt: skip


def rows(
    name: str,
    function: Function,
    reference: Callable[..., Any],
    numpy: Callable[..., Any],
    trouble: Condition | None = None,
    beyond: Condition | None = None,
    arity: int = 1,
) -> tuple[Op, ...]:
    """The row `name` (NumPy's ufunc, which never raises) and the row `math_name` (of the math module).

    `trouble` holds wherever the math function raises; `beyond` where the function itself has no value, so that
    Python computes it, for both rows. It only compares, which is the same over Python's own floats.
    """
    is_beyond: Callable[..., Any] | None = beyond

    def evaluated(*args: Any) -> Any:
        if is_beyond is not None and is_beyond(*map(float, args)):
            value = reference(*map(float, args))
            return np.float32(value) if type(args[0]) is np.float32 else value
        return scalar(*args)

    scalar, expand = over_scalars(function), expansion(function)
    both = trouble or beyond
    if trouble is not None and beyond is not None:
        both = _either(trouble, beyond)
    return (
        Op(name, arity, evaluated, numpy_float, numpy=numpy, expand=expand,
           trouble=None if beyond is None else condition(beyond), spellings=(numpy,), traits=_APPROXIMATE),
        Op(f"math_{name}", arity, raising_as(reference, evaluated), math_float, numpy=numpy, expand=expand,
           trouble=None if both is None else condition(both), spellings=(reference,), traits=_APPROXIMATE),
    )  # fmt: skip


def _either(first: Condition, second: Condition) -> Condition:
    return lambda *args: first(*args) | second(*args)


def finite(x: Real) -> Flag:
    """Neither infinite nor NaN."""
    return abs(x) < math.inf
