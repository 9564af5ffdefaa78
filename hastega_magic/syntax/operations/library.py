"""Functions of Python that are compiled as Python functions over smaller ones.

Where they raise, or leave 64 bits, Python computes the element by its own function.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any, cast

from hastega_magic.errors import NotCompilable
from hastega_magic.ir.expr import Expr, const
from hastega_magic.ops import OPS
from hastega_magic.ops.functions.hypot import HYPOTS
from hastega_magic.syntax.operations import arithmetic
from hastega_magic.syntax.values.graph import Graph
from hastega_magic.syntax.values.values import Rule, Symbolic, is_none, items_in, number, required


def _require(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    value, condition = args
    return required(number(value), number(condition))


require: Any = Rule(_require)
"""The first argument, where the second holds."""


def _gcd(a: int, b: int) -> int:
    a, b = abs(a), abs(b)
    while b:
        a, b = b, a % b
    return abs(a)  # where the size of the smallest int64 has wrapped around


def _lcm(a: int, b: int) -> int:
    # Not the size of the product: where that wrapped around, its sign is another.
    return abs(a // _gcd(a, b)) * abs(b) if a and b else 0


def _comb(n: int, k: int) -> int:
    n = require(n, (n >= 0) & (k >= 0))
    k = min(k, n - k)
    result = 1 if k >= 0 else 0
    for i in range(k):
        result = result * (n - i) // (i + 1)
    return result


def _factorial(n: int) -> int:
    n = require(n, n >= 0)
    result = 1
    for i in range(2, n + 1):
        result *= i
    return result


def _perm(n: int, k: int) -> int:
    n = require(n, (n >= 0) & (k >= 0))
    result = 1
    for i in range(min(k, n + 1)):  # to a factor 0 where there are fewer than k
        result *= n - i
    return result


def _power_modulo(base: int, exponent: int, modulus: int) -> int:
    exponent = require(exponent, (exponent >= 0) & (modulus != 0))
    base %= modulus
    result = 1 % modulus
    while exponent:
        if exponent & 1:
            result = result * base % modulus
        exponent >>= 1
        if exponent:
            base = base * base % modulus
    return result


def power_modulo(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    """`pow` of three ints, of Python's alone: NumPy's have none."""
    if getattr(graph.env, "scalars", None) is not None:
        raise NotCompilable("`pow` of three of NumPy's numbers raises a TypeError")
    return _plain_power_modulo(graph, args)


def _isclose(a: float, b: float, *, rel_tol: float = 1e-09, abs_tol: float = 0.0) -> bool:
    rel_tol = require(rel_tol, (rel_tol >= 0.0) & (abs_tol >= 0.0))
    if a == b:
        return True
    if math.isinf(a) or math.isinf(b):
        return False
    apart = abs(b - a)
    return apart <= abs(rel_tol * b) or apart <= abs(rel_tol * a) or apart <= abs_tol


def isclose(graph: Graph, args: Sequence[Symbolic], kwargs: Mapping[str, Symbolic]) -> Symbolic:
    """`math.isclose`: of floats, which its arguments become."""
    floats = [arithmetic.as_float(number(each)) for each in args]
    named = {name: arithmetic.as_float(number(each)) for name, each in kwargs.items()}
    return graph.inline(graph, cast(FunctionType, _isclose), floats, named)


def log(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    """`math.log`, to a base too: one logarithm divided by the other."""
    if not 1 <= len(args) <= 2:
        raise NotCompilable(f"`math.log` takes 1 or 2 arguments, {len(args)} given")
    found = [graph.make("math_log", number(each)) for each in args]
    return found[0] if len(found) == 1 else graph.make("truediv", *found)


def hypot(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    """`math.hypot`."""
    return _norm(graph, "math.hypot", [number(each) for each in args])


def dist(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    """`math.dist` of two tuples."""
    points = list(map(items_in, args))
    if len(points) != 2 or points[0] is None or points[1] is None or len(points[0]) != len(points[1]):
        raise NotCompilable("`math.dist` is compiled for two tuples of as many numbers")
    pairs = zip(*points, strict=True)
    apart = [graph.make("sub", *(arithmetic.as_float(number(each)) for each in pair)) for pair in pairs]
    return _norm(graph, "math.dist", apart)


def _norm(graph: Graph, name: str, numbers: Sequence[Expr]) -> Symbolic:
    if not numbers:
        return const(0.0)
    if len(numbers) == 1:
        return graph.make("math_fabs", numbers[0])
    if len(numbers) > len(HYPOTS) + 1:
        raise NotCompilable(f"`{name}` of more than {len(HYPOTS) + 1} numbers has no compiled form")
    return graph.make(HYPOTS[len(numbers) - 2], *numbers)


def in_parts(name: str, *rows: str) -> Callable[[Graph, Sequence[Symbolic]], Symbolic]:
    """A call that gives a tuple: one row for each item."""

    def handler(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
        if len(args) != OPS[rows[0]].arity:
            raise NotCompilable(f"`{name}` with {len(args)} arguments has no compiled form")
        return tuple(graph.make(row, *args) for row in rows)

    return handler


def perm(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    """`math.perm`; of one number, or with None, its factorial."""
    if len(args) == 1 or (len(args) == 2 and is_none(args[1])):
        return factorial(graph, args[:1])
    return _of_ints("math.perm", _perm, 2)(graph, args)


def _of_ints(
    name: str, function: Callable[..., int], *counts: int
) -> Callable[[Graph, Sequence[Symbolic]], Symbolic]:
    """A call of a function that takes ints alone, and so many."""

    def handler(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
        if len(args) not in counts:
            raise NotCompilable(f"`{name}` with {len(args)} arguments has no compiled form")
        return graph.inline(graph, cast(FunctionType, function), _ints(graph, name, args), {})

    return handler


def _folded(
    name: str, function: Callable[..., int], empty: int
) -> Callable[[Graph, Sequence[Symbolic]], Symbolic]:
    """A call of a function of any number of ints, which takes one after the other."""

    def handler(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
        given = _ints(graph, name, args)
        if not given:
            return const(empty)
        if len(given) == 1:
            return graph.make("abs", given[0])
        inline, known = graph.inline, cast(FunctionType, function)
        return functools.reduce(lambda a, b: inline(graph, known, (a, b), {}), given)

    return handler


def _ints(graph: Graph, name: str, args: Sequence[Symbolic]) -> list[Symbolic]:
    nodes = list(map(number, args))
    if any(node.type.is_float for node in nodes):
        raise NotCompilable(f"`{name}` of a float: Python raises TypeError")
    return [arithmetic.as_int(graph, graph.counted(node)) for node in nodes]


gcd = _folded("math.gcd", _gcd, 0)
lcm = _folded("math.lcm", _lcm, 1)
comb = _of_ints("math.comb", _comb, 2)
factorial = _of_ints("math.factorial", _factorial, 1)
_plain_power_modulo = _of_ints("pow", _power_modulo, 3)
modf = in_parts("math.modf", "math_modf_fraction", "math_modf_whole")
frexp = in_parts("math.frexp", "math_frexp_mantissa", "math_frexp_exponent")
