"""NumPy's functions that are compiled as several rows, or as Python functions over smaller ones."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence

import numpy as np

from hastega_magic.errors import NotCompilable
from hastega_magic.ir.expr import Expr
from hastega_magic.ops import OPS
from hastega_magic.syntax.operations import arithmetic, complex_numbers, library
from hastega_magic.syntax.operations.number_functions import Handler
from hastega_magic.syntax.values.graph import Graph
from hastega_magic.syntax.values.values import Symbolic, is_none, number
from hastega_magic.types import BOOL, Complex

_LIMITS = ("a_min", "a_max"), ("min", "max")
_NAMES = frozenset(inspect.signature(np.clip).parameters)


def clip(graph: Graph, args: Sequence[Symbolic], kwargs: Mapping[str, Symbolic]) -> Symbolic:
    """`np.clip` of a number: both old names of limits, in any way, or some of the new ones; None is no limit."""
    graph.ufuncs = True
    graph.only_python("`np.clip`")
    given = {**dict(zip(_LIMITS[0], args[1:], strict=False)), **kwargs}
    names = _LIMITS[0] if given.keys() == set(_LIMITS[0]) else _LIMITS[1]
    once = len(args) + len(kwargs) == 1 + len(given)
    if not args or not once or not given.keys() <= _NAMES.intersection(names):
        raise NotCompilable("`np.clip` with these arguments has no compiled form")
    result = number(args[0])
    limits = {name: number(limit) for name, limit in given.items() if not is_none(limit)}
    if not limits or {result.type, *(limit.type for limit in limits.values())} == {BOOL}:
        raise NotCompilable("`np.clip` of bools alone, or without limits, is left to NumPy")
    rows = ("np_at_least", "np_at_most") if len(limits) == len(names) else ("np_maximum", "np_minimum")
    for name, op in zip(names, rows, strict=True):
        result = graph.make(op, result, limits[name]) if name in limits else result
    return result


def _logical(name: str, op: str) -> Handler:
    """Both operands are evaluated, whatever the first one is."""

    def handler(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
        first, second = _two(name, args)
        return graph.own(graph.make(op, graph.truth(first), graph.truth(second)))

    return handler


def _two(name: str, args: Sequence[Symbolic]) -> list[Expr]:
    if len(args) != 2:
        raise NotCompilable(f"`{name}` with {len(args)} arguments has no compiled form")
    return list(map(number, args))


def _conjugate(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    if len(args) != 1:
        raise NotCompilable(f"`np.conjugate` with {len(args)} arguments has no compiled form")
    if isinstance(args[0], Complex):
        return complex_numbers.conjugate(graph, args[0])
    graph.only_python("`np.conjugate`")
    value = number(args[0])
    if value.type is BOOL:
        raise NotCompilable("`np.conjugate` of a bool is left to NumPy")
    return value


def _invert(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    if len(args) != 1:
        raise NotCompilable(f"`np.invert` with {len(args)} arguments has no compiled form")
    value = number(args[0])
    return graph.own(graph.negation(value)) if value.type is BOOL else graph.make("invert", value)


def _of_more_than_bools(name: str, op: str) -> Handler:
    """NumPy's arithmetic of bools gives bools, or raises."""
    row = OPS[op]

    def handler(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
        if len(args) != row.arity:
            raise NotCompilable(f"`{name}` with {len(args)} arguments has no compiled form")
        if complex_numbers.is_complex(*args):
            return complex_numbers.called(graph, getattr(np, name.removeprefix("np.")), args)
        if all(number(each).type is BOOL for each in args):
            raise NotCompilable(f"`{name}` of bools is left to NumPy")
        return graph.make(op, *args)

    return handler


def _float_power(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    """np.power of float64 numbers, whatever is given."""
    base, exponent = (arithmetic.as_float64(graph, each) for each in _two("np.float_power", args))
    return graph.make("power", base, exponent)


def _of_ints(name: str, function: Handler) -> Handler:
    """What `math` has of the same meaning, of ints."""

    def handler(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
        graph.only_python(f"`{name}`")
        if all(each.type is BOOL for each in _two(name, args)):
            raise NotCompilable(f"`{name}` of bools: NumPy raises TypeError")
        return function(graph, args)

    return handler


def _bitwise_count(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    raise NotCompilable(
        "`np.bitwise_count` gives a np.uint8, which wraps around at 256 where it is added to: use `x.bit_count()`"
    )


_ARITHMETIC = {
    "add": "add",
    "subtract": "sub",
    "multiply": "mul",
    "negative": "neg",
    "positive": "pos",
    "absolute": "abs",
}

HANDLERS: tuple[tuple[object, Handler], ...] = (
    (np.divmod, library.in_parts("np.divmod", "np_floor_divide", "np_remainder")),
    (np.modf, library.in_parts("np.modf", "modf_fraction", "modf_whole")),
    (np.logical_and, _logical("np.logical_and", "and")),
    (np.logical_or, _logical("np.logical_or", "or")),
    (np.logical_xor, _logical("np.logical_xor", "xor")),
    (np.conjugate, _conjugate),
    (np.invert, _invert),
    *((getattr(np, name), _of_more_than_bools(f"np.{name}", op)) for name, op in _ARITHMETIC.items()),
    (np.float_power, _float_power),
    (np.gcd, _of_ints("np.gcd", library.gcd)),
    (np.lcm, _of_ints("np.lcm", library.lcm)),
    (getattr(np, "bitwise_count", None), _bitwise_count),
)
"""By identity of the Python object."""
