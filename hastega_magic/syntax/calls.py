"""Calls inside functions: rows of the operator table, Python's number functions, other Python functions."""

from __future__ import annotations

import builtins
import functools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import cast

import numpy as np

from hastega_magic.errors import NotCompilable
from hastega_magic.ir.expr import Expr, const
from hastega_magic.ops import OPS, Op, op_of_callable
from hastega_magic.ops.rounding import MOST_DIGITS
from hastega_magic.syntax import (
    applying,
    arithmetic,
    complex_numbers,
    library,
    lists,
    mixed,
    operators,
    ufuncs,
)
from hastega_magic.syntax.classes import is_instance
from hastega_magic.syntax.dimensions import whole
from hastega_magic.syntax.graph import Graph
from hastega_magic.syntax.mappings import mapping
from hastega_magic.syntax.neighbours import Neighbours
from hastega_magic.syntax.ordering import ordered
from hastega_magic.syntax.sums import product_of_tuple, sum_of_tuple
from hastega_magic.syntax.values import Known, Nested, Range, Rule, Symbolic, is_none, known, members, number
from hastega_magic.types import FLOAT, FLOAT32, FLOAT64, INT, Composite

Handler = Callable[[Graph, Sequence[Symbolic]], Symbolic]

_INSTEAD = "`int`, `float`, `np.float32` and `np.float64` are"

_OBSERVERS = frozenset(
    {"print", "input", "open", "display", "breakpoint", "exec", "eval", "setattr", "next", "iter"}
)
_OBSERVING_MODULES = frozenset({"random", "time", "secrets", "os", "sys", "io", "datetime", "builtins"})


def call(
    graph: Graph, callee: Symbolic, args: Sequence[Symbolic], kwargs: Mapping[str, Symbolic]
) -> Symbolic:
    """What calling a known object gives; NotCompilable, with a sentence, where it has no compiled form."""
    if not isinstance(callee, Known):
        raise NotCompilable("a number or a tuple is called")
    function = callee.value
    if isinstance(function, functools.partial):
        bound = [known(value, callee.name) for value in function.args]
        named = {name: known(value, name) for name, value in function.keywords.items()}
        return call(graph, Known(function.func, callee.name), [*bound, *args], {**named, **kwargs})
    if isinstance(function, (FunctionType, Nested)):
        return graph.inline(graph, function, args, kwargs)
    if applying.is_named_tuple(function):
        return applying.named_tuple(function, callee.name, args, kwargs)
    if set(kwargs) == {"key"} and function in (builtins.min, builtins.max) and not is_none(kwargs["key"]):
        return applying.by_key(graph, function, args, kwargs["key"])
    graph.ufuncs = graph.ufuncs or isinstance(function, np.ufunc) or _is_numpy_number(function)
    if mixed.is_mixed(*args):
        return mixed.distributed(graph, args, lambda sides: call(graph, callee, sides, kwargs))
    named_too = next((found for spelled, found in _NAMED if spelled is function), None)
    if named_too is not None:
        return named_too(graph, args, kwargs)
    row = op_of_callable(function)
    handler = _handler(function)
    if handler in _OVER_ITEMS:
        args = [_tuple_of(arg) for arg in args]
    if kwargs and (handler or row):
        raise NotCompilable(f"`{callee.name}` is called with keyword arguments")
    if handler in _PYTHONS:
        graph.only_python(f"`{callee.name}`")
    if handler is not None and not (handler is _power and complex_numbers.is_complex(*args)):
        return handler(graph, args)
    if complex_numbers.is_complex(*args):
        return complex_numbers.called(graph, function, args)
    if row is not None:
        return _apply(graph, row, callee.name, args)
    raise NotCompilable(_no_form(callee))


def check(callee: Symbolic) -> None:
    """NotCompilable for what has no compiled form whatever it is called with, so that the call is to blame."""
    if not isinstance(callee, Known):
        return
    function = callee.value
    read = isinstance(function, (functools.partial, FunctionType, Nested))
    read = read or applying.is_named_tuple(function) or any(spelled is function for spelled, _ in _NAMED)
    if not read and op_of_callable(function) is None and _handler(function) is None:
        raise NotCompilable(_no_form(callee))


def _handler(function: object) -> Handler | None:
    if isinstance(function, Rule):
        return function.handler
    return next((found for spelled, found in _HANDLERS.get(id(function), ()) if spelled is function), None)


def _tuple_of(value: Symbolic) -> Symbolic:
    """The items of a list, where they are used up."""
    items = members(value) if isinstance(value, Known) else None
    return value if items is None else items


def _is_numpy_number(function: object) -> bool:
    return isinstance(function, type) and issubclass(function, (np.integer, np.floating))


def _no_form(callee: Known) -> str:
    function = callee.value
    if _is_numpy_number(function):
        return f"`{callee.name}` makes a NumPy number of a type that is not compiled: {_INSTEAD}"
    if isinstance(function, ModuleType) or not callable(function):
        return f"`{callee.name}` is called, and it is no function"
    module = str(getattr(function, "__module__", None) or getattr(function, "__self__", None) or "")
    name = str(getattr(function, "__name__", callee.name))
    observes = name in _OBSERVERS if module == "builtins" else module.partition(".")[0] in _OBSERVING_MODULES
    owner = getattr(function, "__self__", None)
    is_method = owner is not None and not isinstance(owner, ModuleType)
    if observes or is_method or "random" in module:
        effect = ", a side effect" if observes and name in _OBSERVERS else ""
        return f"`{callee.name}` is called{effect}: observation prevents optimisation"
    return f"`{callee.name}` has no compiled form yet"


def _apply(graph: Graph, row: Op, name: str, args: Sequence[Symbolic]) -> Expr:
    if len(args) != row.arity:
        raise NotCompilable(f"`{name}` takes {row.arity} arguments, {len(args)} given")
    values = [number(arg) for arg in args]
    if row.name == "math_ldexp":
        graph.counted(values[1])
    if row.name in ("int", "floor_int", "ceil_int", "round_int"):
        return arithmetic.rounded(graph, row.name, values[0])
    return graph.make(row.name, *values)


def _one(name: str, rule: Callable[[Graph, Expr], Expr]) -> Handler:
    def handler(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
        if len(args) != 1:
            raise NotCompilable(f"`{name}` with {len(args)} arguments has no compiled form")
        return rule(graph, number(args[0]))

    return handler


def _rounding(name: str, op: str) -> Handler:
    def rule(graph: Graph, value: Expr) -> Expr:
        exact = (
            INT if op == "round_int" else None
        )  # NumPy's ints go by way of a float elsewhere, its bools refuse
        if (
            value.type.is_integral
            and value.type is not exact
            and getattr(graph.env, "scalars", None) is not None
        ):
            raise NotCompilable(f"`{name}` of {value.type.value}s is left to NumPy")
        if name in ("round", "math.trunc"):  # which NumPy's bools do not have
            graph.counted(value)
        if name == "math.trunc" and value.type is FLOAT32:
            raise NotCompilable(
                "`math.trunc` of a np.float32 raises TypeError in Python: it has no `__trunc__`"
            )
        return graph.own(arithmetic.rounded(graph, op, value))

    return _one(name, rule)


def _int64(graph: Graph, value: Expr) -> Expr:
    if value.op == "const" and value.type.is_integral:
        return const(int(cast("int", value.value)))
    raise NotCompilable(
        "`np.int64` of an element makes a NumPy integer, which wraps around where Python's do not: use `int`"
    )


def _truth(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    if len(args) != 1:
        raise NotCompilable(f"`bool` with {len(args)} arguments has no compiled form")
    graph.keep(args[0])
    return graph.own(graph.truth(args[0]))


def _negation(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    return graph.own(graph.negation(number(_truth(graph, args))))


def _whole(ufunc: np.ufunc, op: str) -> Handler:
    """Rounding by NumPy, which leaves integers as they are from 2.1 on, and made floats of them before."""
    row, keeps = OPS[op], ufunc(1).dtype.kind == "i"

    def rounded(graph: Graph, value: Expr) -> Expr:
        return value if keeps and value.type.is_integral else _apply(graph, row, f"np.{op}", [value])

    return _one(f"np.{op}", rounded)


def _power(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    if len(args) == 3:
        return library.power_modulo(graph, args)
    if len(args) != 2:
        raise NotCompilable(f"`pow` takes 2 or 3 arguments, {len(args)} given")
    return arithmetic.power(graph, number(args[0]), number(args[1]))


def _ufunc_power(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    if len(args) != 2:
        raise NotCompilable(f"`np.power` with {len(args)} arguments has no compiled form")
    return arithmetic.ufunc_power(graph, number(args[0]), number(args[1]))


def _divmod(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    if len(args) != 2:
        raise NotCompilable(f"`divmod` takes 2 arguments, {len(args)} given")
    return graph.make("floordiv", *args), graph.make("mod", *args)


def _extremum(op: str) -> Handler:
    def handler(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
        several = len(args) == 1 and isinstance(args[0], tuple) and not isinstance(args[0], Composite)
        values = cast("tuple[Symbolic, ...]", args[0]) if several else args
        if len(args) == 1 and values is args:
            raise NotCompilable(f"`{op}` of one argument has no compiled form, unless it is a tuple")
        return arithmetic.extremum(graph, op, [number(value) for value in values])

    return handler


def _len(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    if len(args) != 1 or isinstance(args[0], (Expr, Composite)):
        raise NotCompilable("`len` of a number")
    value = args[0]
    if isinstance(value, tuple):
        graph.keep(value)
        return const(len(value))
    if not isinstance(value, Known):
        return number(value)
    if isinstance(value.value, (Range, range)):
        held = value.value
        given = held if isinstance(held, Range) else Range(const(held.start), const(held.stop), held.step)
        from hastega_magic.syntax.iterate import range_length  # which evaluates calls with this module

        return range_length(graph, given)
    if isinstance(value.value, Neighbours):
        return value.value.length
    if (items := mapping(value)) is not None:
        return const(len(items))
    part = whole(value)
    return graph.length(value) if part is None else const(part.shape[0])


def _range(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    from hastega_magic.syntax.iterate import range_of  # as above

    return Known(range_of(graph, args), "range(...)")


def _decided(name: str, join: str) -> Handler:
    """`any` or `all` of a tuple's items."""

    def handler(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
        if len(args) != 1 or not isinstance(args[0], tuple) or isinstance(args[0], Composite):
            raise NotCompilable(
                f"`{name}` of something that is no tuple, generator or `range` is not compiled"
            )
        graph.keep(args[0])
        result = const(join == "and")
        for part in args[0]:
            result = graph.make(join, result, graph.truth(part))
        return result

    return handler


_some, _every = _decided("any", "or"), _decided("all", "and")


def _round(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    if not 1 <= len(args) <= 2:
        raise NotCompilable(f"`round` takes 1 or 2 arguments, {len(args)} given")
    digits = args[1] if len(args) == 2 else None
    if digits is None or is_none(digits):
        return _rounding("round", "round_int")(graph, args[:1])
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


def _handlers(*pairs: tuple[object, Handler]) -> dict[int, list[tuple[object, Handler]]]:
    table: dict[int, list[tuple[object, Handler]]] = {}
    for spelled, handler in pairs:
        table.setdefault(id(spelled), []).append((spelled, handler))
    return table


_HANDLERS = _handlers(
    (builtins.int, _one("int", lambda graph, value: graph.own(arithmetic.as_int(graph, value)))),
    (builtins.complex, complex_numbers.construct),
    (builtins.float, _one("float", lambda graph, value: graph.own(arithmetic.as_float(value)))),
    (builtins.round, _round),
    (np.float64, _one("np.float64", arithmetic.as_float64)),
    (np.float32, _one("np.float32", lambda graph, value: arithmetic.as_float32(value))),
    (np.int64, _one("np.int64", _int64)),
    (math.floor, _rounding("math.floor", "floor_int")),
    (math.ceil, _rounding("math.ceil", "ceil_int")),
    (math.trunc, _rounding("math.trunc", "int")),
    (np.floor, _whole(np.floor, "floor")),
    (np.ceil, _whole(np.ceil, "ceil")),
    (np.trunc, _whole(np.trunc, "trunc")),
    (np.square, _one("np.square", lambda graph, value: graph.make("mul", value, value))),
    (builtins.bool, _truth),
    (operator.truth, _truth),
    (operator.not_, _negation),
    (operator.invert, _one("operator.invert", operators.inverted)),
    (np.logical_not, _negation),
    (builtins.pow, _power),
    (cast(object, operator.pow), _power),  # pyright: ignore[reportUnknownMemberType]
    (np.power, _ufunc_power),
    (builtins.divmod, _divmod),
    (builtins.min, _extremum("min")),
    (builtins.max, _extremum("max")),
    (builtins.len, _len),
    (builtins.list, lists.made),
    (builtins.tuple, lists.as_tuple),
    (builtins.sum, sum_of_tuple),
    (math.prod, product_of_tuple),
    (builtins.any, _some),
    (builtins.all, _every),
    (builtins.range, _range),
    (math.gcd, library.gcd),
    (math.lcm, library.lcm),
    (math.comb, library.comb),
    (math.factorial, library.factorial),
    (math.perm, library.perm),
    (math.hypot, library.hypot),
    (math.dist, library.dist),
    (math.modf, library.modf),
    (math.frexp, library.frexp),
    (math.log, library.log),
    (builtins.isinstance, is_instance),
    *ufuncs.HANDLERS,
)
"""What is not just one row: by identity of the Python object."""

_OVER_ITEMS = frozenset({
    sum_of_tuple, product_of_tuple, _some, _every, _len, *(_HANDLERS[id(each)][0][1] for each in (min, max)),
})  # fmt: skip
"""Those that use up the items of what they are given."""

_NAMED = ((builtins.sorted, ordered), (math.isclose, library.isclose), (np.clip, ufuncs.clip))
"""Those that take arguments by name."""

_PYTHONS = frozenset(
    {
        sum_of_tuple, product_of_tuple, _some, _every, _range, library.gcd, library.lcm, library.comb,
        library.factorial, library.perm,
    }
)  # fmt: skip
"""Those that make Python's own numbers."""
