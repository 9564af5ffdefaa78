"""Functions of numbers that are not simply one row: conversions, rounding, powers, the smallest and the largest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

import numpy as np

from hastega_magic.errors import NotCompilable
from hastega_magic.ir.expr import Expr, const
from hastega_magic.ops import OPS, Op
from hastega_magic.ops.rounding import MOST_DIGITS
from hastega_magic.syntax.operations import arithmetic, library
from hastega_magic.syntax.values.graph import Graph
from hastega_magic.syntax.values.values import Symbolic, is_none, number
from hastega_magic.types import FLOAT, FLOAT32, FLOAT64, INT, Composite

Handler = Callable[[Graph, Sequence[Symbolic]], Symbolic]
"""What a call of a function gives."""


def apply_row(graph: Graph, row: Op, name: str, args: Sequence[Symbolic]) -> Expr:
    """The row of these arguments; NotCompilable for another number of them."""
    if len(args) != row.arity:
        taken = "1 argument" if row.arity == 1 else f"{row.arity} arguments"
        raise NotCompilable(f"`{name}` takes {taken}, {len(args)} given")
    values = [number(arg) for arg in args]
    if row.name == "math_ldexp":
        graph.counted(values[1])
    if row.name in ("int", "floor_int", "ceil_int", "round_int"):
        return arithmetic.rounded(graph, row.name, values[0])
    return graph.make(row.name, *values)


def of_one(name: str, rule: Callable[[Graph, Expr], Expr]) -> Handler:
    """A function of one number."""

    def handler(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
        if len(args) != 1:
            raise NotCompilable(f"`{name}` with {len(args)} arguments has no compiled form")
        return rule(graph, number(args[0]))

    return handler


def rounding(name: str, op: str) -> Handler:
    """Rounding to an int, as Python does it."""

    def rule(graph: Graph, value: Expr) -> Expr:
        # NumPy's ints go by way of a float elsewhere, its bools refuse.
        exact = INT if op == "round_int" else None
        scalars = getattr(graph.env, "scalars", None)
        if value.type.is_integral and value.type is not exact and scalars is not None:
            raise NotCompilable(f"`{name}` of {value.type.value}s is left to NumPy")
        if name in ("round", "math.trunc"):  # which NumPy's bools do not have
            graph.counted(value)
        if name == "math.trunc" and value.type is FLOAT32:
            raise NotCompilable(
                "`math.trunc` of a np.float32 raises TypeError in Python: it has no `__trunc__`"
            )
        return graph.own(arithmetic.rounded(graph, op, value))

    return of_one(name, rule)


def int64(graph: Graph, value: Expr) -> Expr:
    """`np.int64` of a constant."""
    if value.op == "const" and value.type.is_integral:
        return const(int(cast("int", value.value)))
    raise NotCompilable(
        "`np.int64` of an element makes a NumPy integer, which wraps around where Python's do not: use `int`"
    )


def truth(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    """`bool`."""
    if len(args) != 1:
        raise NotCompilable(f"`bool` with {len(args)} arguments has no compiled form")
    graph.keep(args[0])
    return graph.own(graph.truth(args[0]))


def negation(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    """`not` as a function."""
    return graph.own(graph.negation(number(truth(graph, args))))


def whole_number(ufunc: np.ufunc, op: str) -> Handler:
    """Rounding by NumPy, which leaves integers as they are from 2.1 on, and made floats of them before."""
    row, keeps = OPS[op], ufunc(1).dtype.kind == "i"

    def rule(graph: Graph, value: Expr) -> Expr:
        return value if keeps and value.type.is_integral else apply_row(graph, row, f"np.{op}", [value])

    return of_one(f"np.{op}", rule)


def power(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    """`pow`, also of three numbers."""
    if len(args) == 3 and is_none(args[2]):
        args = args[:2]
    if len(args) == 3:
        return library.power_modulo(graph, args)
    if len(args) != 2:
        raise NotCompilable(f"`pow` takes 2 or 3 arguments, {len(args)} given")
    return arithmetic.power(graph, number(args[0]), number(args[1]))


def ufunc_power(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    """`np.power`."""
    if len(args) != 2:
        raise NotCompilable(f"`np.power` with {len(args)} arguments has no compiled form")
    return arithmetic.ufunc_power(graph, number(args[0]), number(args[1]))


def division(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    """`divmod`."""
    if len(args) != 2:
        raise NotCompilable(f"`divmod` takes 2 arguments, {len(args)} given")
    return graph.make("floordiv", *args), graph.make("mod", *args)


def extremum(op: str) -> Handler:
    """`min` or `max`, of several numbers or of a tuple of them."""

    def handler(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
        several = len(args) == 1 and isinstance(args[0], tuple) and not isinstance(args[0], Composite)
        values = cast("tuple[Symbolic, ...]", args[0]) if several else args
        if len(args) == 1 and values is args:
            raise NotCompilable(f"`{op}` of one argument has no compiled form, unless it is a tuple")
        return arithmetic.extremum(graph, op, [number(value) for value in values])

    return handler


def rounded(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    """`round`, to an int or to digits."""
    if not 1 <= len(args) <= 2:
        raise NotCompilable(f"`round` takes 1 or 2 arguments, {len(args)} given")
    digits = args[1] if len(args) == 2 else None
    if digits is None or is_none(digits):
        return rounding("round", "round_int")(graph, args[:1])
    value = number(args[0])
    graph.only_python("`round` to digits")
    if not isinstance(digits, Expr) or digits.op != "const" or digits.type is not INT:
        raise NotCompilable("`round` is compiled where the number of digits is a constant")
    places = cast(int, digits.value)
    if value.type is INT and places >= 0:
        return value
    if value.type not in (FLOAT, FLOAT64) or abs(places) > MOST_DIGITS:
        raise NotCompilable(f"`round` of {value.type.value} to {places} digits is not compiled")
    graph.rounds = True
    name = "round_decimals" if places >= 0 else "round_tens"
    return graph.make(name, value, const(float(10 ** abs(places))))


def _is_integer(graph: Graph, value: Expr) -> Symbolic:
    if value.type not in (FLOAT, FLOAT64):
        raise NotCompilable("`is_integer` of something that is no Python float")
    return graph.make(
        "and", graph.make("isfinite", value), graph.make("eq", graph.make("floor", value), value)
    )


METHODS: Mapping[str, Callable[[Graph, Expr], Symbolic]] = {
    "bit_length": lambda graph, value: graph.make("bit_length", graph.counted(value)),
    "bit_count": lambda graph, value: graph.make("bit_count", graph.counted(value)),
    "is_integer": _is_integer,
}
"""Methods of numbers."""


__all__ = [
    "METHODS", "Handler", "apply_row", "division", "extremum", "int64", "negation", "of_one", "power", "rounded",
    "rounding", "truth", "ufunc_power", "whole_number",
]  # fmt: skip
