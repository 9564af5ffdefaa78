"""Python's operators and number functions, where one of them is not simply one row of the table."""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from hastega_magic.errors import NotCompilable
from hastega_magic.frames import reraise_signal
from hastega_magic.ir.expr import Expr, const, convert, is_const
from hastega_magic.syntax.values import mixed
from hastega_magic.syntax.values.graph import Graph
from hastega_magic.syntax.values.values import Symbolic, number
from hastega_magic.types import BOOL, FLOAT, FLOAT32, FLOAT64, INT

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.LShift: "shl",
    ast.RShift: "shr",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
}
UNARY: dict[type[ast.unaryop], str] = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert"}
COMPARE: dict[type[ast.cmpop], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}
_LARGEST_POWER = 1024


def power(graph: Graph, base: Expr, exponent: Expr) -> Expr:
    """The power base ** exponent, for the exponents that have a compiled form."""
    if base.op == "const" and exponent.op == "const":
        return _constant_power(base, exponent)
    if base.type.is_integral and exponent.type.is_integral:
        if exponent.op == "const":
            return _integer_power(graph, base, cast(int, exponent.value))
        if is_const(base, 2):
            return graph.make("shl", const(1), exponent)
        return graph.make("pow", base, exponent)
    for node in (base, exponent):
        if node.op == "const" and node.type.is_float and node.type is not FLOAT:
            raise NotCompilable("powers with a NumPy scalar are not compiled yet")
    return _float_power(graph, base, exponent)


def _float_power(graph: Graph, base: Expr, exponent: Expr) -> Expr:
    """A power of which one operand at least is a float."""
    if exponent.op != "const":
        return graph.make("float_pow", base, exponent)
    value = cast(float, exponent.value)
    if value == 2:
        return graph.make("sqr", base)
    if value == 0.5:
        return graph.make("half_power", base)
    if value == 1:
        return convert(base, FLOAT) if base.type.is_integral else base
    if value == 0:
        _typed_by_numpy(graph)
        graph.keep(base)
        return const(1.0, FLOAT if base.type.is_integral else base.type)
    return graph.make("float_pow", base, exponent)


def ufunc_power(graph: Graph, base: Expr, exponent: Expr) -> Expr:
    """np.power: of ints an int; where that wraps around, or NumPy raises, the element is NumPy's."""
    if base.type.is_integral and exponent.type.is_integral:
        return graph.make("np_power", base, exponent)
    found = graph.make("power", base, exponent)
    if not exponent.type.is_float or not _takes_roots():
        return found
    root = graph.make("fsqrt", convert(base, found.type))
    if exponent.op == "const":
        return root if exponent.value == 0.5 else found
    return graph.make("select", graph.make("eq", exponent, const(0.5, exponent.type)), root, found)


@functools.cache
def _takes_roots() -> bool:
    """Whether this NumPy's power of numbers is the root for an exponent of a half: of -0.0 it is -0.0, of -inf NaN."""
    return bool(np.signbit(np.power(-0.0, 0.5)))


def _constant_power(base: Expr, exponent: Expr) -> Expr:
    left, right = cast(Any, base.value), cast(Any, exponent.value)
    plain = all(node.type.is_integral or node.type is FLOAT for node in (base, exponent))
    if plain and abs(right) <= _LARGEST_POWER:
        try:
            result: object = left**right
        except ArithmeticError as error:
            reraise_signal(error)
            result = None
        if isinstance(result, (int, float)):
            return const(result)
    raise NotCompilable("this power of constants is not compiled")


def _integer_power(graph: Graph, base: Expr, exponent: int) -> Expr:
    """Multiplications by squaring: no intermediate is larger than the result. Negative powers are floats."""
    if exponent < 0:
        return graph.make("float_pow", base, const(float(exponent)))
    if exponent > _LARGEST_POWER:
        raise NotCompilable(f"powers above {_LARGEST_POWER} are not compiled")
    square = as_int(graph, base)
    result: Expr | None = None
    while exponent:
        if exponent & 1:
            result = square if result is None else graph.make("mul", result, square)
        exponent >>= 1
        if exponent:
            square = graph.make("mul", square, square)
    if result is None:
        _typed_by_numpy(graph)
        graph.keep(base)
        return const(1)
    return result


def _typed_by_numpy(graph: Graph) -> None:
    """NotCompilable where a 1 would be of the base's type, which may be one of NumPy's."""
    if getattr(graph.env, "scalars", None) is not None:
        raise NotCompilable("the exponent 0 gives a 1 of the base's type: NumPy computes it")


def as_int(graph: Graph, value: Expr) -> Expr:
    """int(value), truncated towards zero."""
    return rounded(graph, "int", value)


def rounded(graph: Graph, op: str, value: Expr) -> Expr:
    """A float made an int by this row; ints are themselves."""
    if value.type is INT:
        return value
    return graph.make("bool_to_int" if value.type is BOOL else op, value)


def as_float(value: Expr) -> Expr:
    """float(value)."""
    try:
        return convert(value, FLOAT)
    except OverflowError:
        raise NotCompilable("an integer constant is too large for a float") from None


def as_float32(value: Expr) -> Expr:
    """np.float32(value): rounded to float32, which stays float32 beside Python's numbers."""
    try:
        if value.op == "const":
            with np.errstate(over="ignore"):
                return const(np.float32(cast("Any", value.value)))
        return convert(value, FLOAT32)
    except OverflowError:
        raise NotCompilable("an integer constant is too large for a float") from None


def as_float64(graph: Graph, value: Expr) -> Expr:
    """np.float64(value), which is float64 beside float32 too, as a Python float is not."""
    number = as_float(value)
    if number.op == "const":
        return const(np.float64(cast("Any", number.value)))
    # Adding -0.0 changes no value, and gives it the type.
    return number if number.type is FLOAT64 else graph.make("add", number, const(np.float64(-0.0)))


def extremum(graph: Graph, op: str, values: Sequence[Expr]) -> Symbolic:
    """The smallest or largest of several values, compared from left to right as Python does."""
    if not values:
        raise NotCompilable(f"`{op}` is called without values")
    result: Symbolic = values[0]
    for value in values[1:]:
        result = mixed.distributed(
            graph, (result, value), lambda pair: _better(graph, op, *map(number, pair))
        )
    return result


def _better(graph: Graph, op: str, one: Expr, other: Expr) -> Symbolic:
    """The second number where it is the better one; of another type than the first, perhaps."""
    found = _without_infinity(op, one, other)
    if found is not None:
        return found
    if mixed.rank(one.type) == mixed.rank(other.type):
        return graph.make(op, one, other)
    return graph.choose(graph.make("lt" if op == "min" else "gt", other, one), other, one)


def _without_infinity(op: str, one: Expr, other: Expr) -> Expr | None:
    """The int of an int and an infinite constant that never is the result."""
    worst = math.inf if op == "min" else -math.inf
    for infinite, value in ((one, other), (other, one)):
        if value.type is INT and infinite.type.is_float and is_const(infinite, worst):
            return value
    return None
