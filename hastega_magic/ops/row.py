"""What a row of the operator table holds."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Protocol

from hastega_magic.errors import MixedTypes, NotCompilable
from hastega_magic.interval import Interval
from hastega_magic.records import dataclass
from hastega_magic.types import BOOL, FLOAT, FLOAT32, INT, ScalarType, promote

untyped: Any = operator
"""The operator module; its stub leaves some functions without types."""


class Term(Protocol):
    """A node of the scalar graph, as far as rows look at it."""

    @property
    def type(self) -> ScalarType:
        """The type the value has to the user's functions."""
        ...


class Builder(Protocol):
    """Makes nodes for the rules of rows, which must not know the graph's own module."""

    @property
    def estimates(self) -> bool:
        """Whether the target estimates reciprocals of float64 in one instruction."""
        ...

    @property
    def serial(self) -> bool:
        """Whether one element waits for what the one before gives, so that no vector is worth its way there."""
        ...

    def op(self, name: str, *args: Any) -> Any:
        """A node that applies the operator `name`."""
        ...

    def const(self, value: bool | int | float, type_: ScalarType | None = None) -> Any:
        """A constant node."""
        ...

    def range_of(self, term: Any) -> Interval:
        """The value range of an integer node."""
        ...


@dataclass(frozen=True)
class Signature:
    """The types an operator takes (operands are converted to them) and the type it gives."""

    operands: tuple[ScalarType, ...]
    result: ScalarType


Function = (
    Callable[[Any], Any]
    | Callable[[Any, Any], Any]
    | Callable[[Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any], Any]
)
"""A function of one to four operands."""

SignatureRule = Callable[[tuple[ScalarType, ...]], Signature]
RangeRule = (
    Callable[[Interval], Interval]
    | Callable[[Interval, Interval], Interval]
    | Callable[[Interval, Interval, Interval], Interval]
)
TermRule = Callable[[Builder, Sequence[Any]], Any]


@dataclass(frozen=True)
class Op:
    """One operator.

    name       its name in every printed form; `symbol` where it prints as infix or prefix
    written    what users write for it, where neither the symbol nor the name is that
    python     what it means: a function over Python scalars that raises what Python raises
    numpy      the same over arrays, for the NumPy baseline (None: it has no such form)
    signature  operand types -> Signature; raises NotCompilable where Python would raise TypeError
    range      intervals of the operands -> interval of an integer result
    llvm       spelling per operand class ("bool", "int", "float"): {r} result type, {t} operand type,
               {m} mangled operand type, {0} {1} {2} operands
    opencl     the same for OpenCL C
    trouble    builds the condition under which Python must evaluate the element (it raises there, or the
               machine's value would not be Python's); None: never
    reason     the elements of the trouble, in words that reports and listings say; else these are operands
    overflow   builds a condition that holds at least wherever the int64 result is not the exact one
    expand     builds the value from smaller operators, where a target has no spelling
    spellings  the Python objects that mean this operator
    traits     facts: "commutative", "associative"; "approximate" (CPython's last bit may differ)
    """

    name: str
    arity: int
    python: Function
    signature: SignatureRule
    symbol: str = ""
    numpy: Function | None = None
    range: RangeRule | None = None
    llvm: Mapping[str, str] = field(default_factory=dict[str, str])
    opencl: Mapping[str, str] = field(default_factory=dict[str, str])
    trouble: TermRule | None = None
    reason: str = ""
    overflow: TermRule | None = None
    expand: TermRule | None = None
    spellings: tuple[object, ...] = ()
    written: str = ""
    traits: frozenset[str] = frozenset()

    @property
    def as_written(self) -> str:
        """The operator as users write it."""
        return self.written or self.symbol or self.name.removeprefix("math_").replace("np_", "np.", 1)


def arithmetic(types: tuple[ScalarType, ...]) -> Signature:
    """Numbers in, their common type out; bools count as ints."""
    result = promote(INT, *types)
    return Signature((result,) * len(types), result)


def one_kind(types: tuple[ScalarType, ...]) -> Signature:
    """Operands of one kind, and the result is one of them (min and max give an operand back unchanged)."""
    if len({type_.is_float for type_ in types}) > 1:
        raise MixedTypes("the result would be an int for some elements and a float for others")
    if FLOAT32 in types and len(set(types)) > 1:
        raise MixedTypes("the result would be float32 for some elements and float64 for others")
    result = promote(*types)
    return Signature((result,) * len(types), result)


def division(types: tuple[ScalarType, ...]) -> Signature:
    """True division: always floating point."""
    result = promote(FLOAT, *types)
    return Signature((result,) * len(types), result)


def comparison(types: tuple[ScalarType, ...]) -> Signature:
    """Two numbers in, a bool out."""
    common = promote(*types)
    return Signature((common, common), BOOL)


def bitwise(types: tuple[ScalarType, ...]) -> Signature:
    """Ints in, an int out; of bools alone a bool."""
    common = promote(*types)
    if common.is_float:
        raise NotCompilable("bit operations need integers, not floats")
    return Signature((common,) * len(types), common)


def integers(types: tuple[ScalarType, ...]) -> Signature:
    """Ints in, an int out."""
    if promote(*types).is_float:
        raise NotCompilable("this operator needs integers, not floats")
    return Signature((INT,) * len(types), INT)


def math_float(types: tuple[ScalarType, ...]) -> Signature:
    """A function of the math module: Python floats (float64) in and out."""
    return Signature((FLOAT,) * len(types), FLOAT)


def ufunc_float(types: tuple[ScalarType, ...]) -> Signature:
    """A floating-point ufunc: float32 stays float32."""
    result = promote(FLOAT, *types)
    return Signature((result,) * len(types), result)


def numpy_float(types: tuple[ScalarType, ...]) -> Signature:
    """The same where users may write it over bools."""
    if set(types) == {BOOL}:
        raise NotCompilable("of bools NumPy makes float16, which is left to NumPy")
    return ufunc_float(types)


def float_predicate(types: tuple[ScalarType, ...]) -> Signature:
    """A float in, a bool out."""
    return Signature((promote(FLOAT, *types),), BOOL)


def fixed(operands: tuple[ScalarType, ...], result: ScalarType) -> SignatureRule:
    """Always these types."""
    signature = Signature(operands, result)
    return lambda types: signature
