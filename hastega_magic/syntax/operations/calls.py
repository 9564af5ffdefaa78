"""Calls inside functions: rows of the operator table, Python's number functions, other Python functions."""

from __future__ import annotations

import builtins
import functools
import math
import operator
from collections.abc import Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any, cast

import numpy as np

from hastega_magic.errors import NotCompilable
from hastega_magic.ir.expr import Expr, const
from hastega_magic.ops import op_of_callable
from hastega_magic.ops.convert import NUMPY_INTEGERS
from hastega_magic.syntax.closures.attributes import is_made
from hastega_magic.syntax.closures.given import is_method
from hastega_magic.syntax.operations import (
    applying,
    arithmetic,
    complex_numbers,
    library,
    lists,
    operators,
    ufuncs,
)
from hastega_magic.syntax.operations.classes import is_instance
from hastega_magic.syntax.operations.mappings import mapping
from hastega_magic.syntax.operations.number_functions import (
    Handler,
    apply_row,
    division,
    extremum,
    int64,
    negation,
    of_one,
    power,
    rounded,
    rounding,
    truth,
    ufunc_power,
    whole_number,
)
from hastega_magic.syntax.operations.ordering import ordered
from hastega_magic.syntax.operations.positional import in_places
from hastega_magic.syntax.operations.sums import product_of_tuple, sum_of_tuple
from hastega_magic.syntax.values import captured_arrays, mixed
from hastega_magic.syntax.values.dimensions import whole
from hastega_magic.syntax.values.graph import Graph
from hastega_magic.syntax.values.neighbours import Neighbours
from hastega_magic.syntax.values.values import (
    Known,
    Nested,
    Range,
    Rule,
    Symbolic,
    known,
    members,
    number,
)
from hastega_magic.types import Composite

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
    if isinstance(function, functools.partial) or is_method(function):
        return call(graph, *_applied(callee, function, args, kwargs))
    if isinstance(function, (FunctionType, Nested)):
        return graph.inline(graph, function, args, kwargs)
    if applying.is_named_tuple(function):
        return applying.named_tuple(function, callee.name, args, kwargs)
    if kwargs and (function is builtins.min or function is builtins.max):
        return applying.optimum(graph, callee, args, kwargs)
    graph.ufuncs = graph.ufuncs or isinstance(function, np.ufunc) or _is_numpy_number(function)
    if mixed.is_mixed(*args):
        return mixed.distributed(graph, args, lambda sides: call(graph, callee, sides, kwargs))
    named_too = next((found for spelled, found in _NAMED if spelled is function), None)
    if named_too is not None:
        return named_too(graph, args, kwargs)
    args, kwargs = in_places(function, callee.name, args, kwargs)
    row = op_of_callable(function)
    handler = _handler(function)
    if handler in _OVER_ITEMS:
        args = [_tuple_of(arg) for arg in args]
    if kwargs and (handler or row):
        raise NotCompilable(f"`{callee.name}` is called with keyword arguments")
    if handler in _PYTHONS:
        graph.only_python(f"`{callee.name}`")
    if handler is not None and not (handler is power and complex_numbers.is_complex(*args)):
        return handler(graph, args)
    if complex_numbers.is_complex(*args):
        return complex_numbers.called(graph, function, args)
    if row is not None:
        return apply_row(graph, row, callee.name, args)
    raise NotCompilable(_no_form(callee))


def _applied(
    callee: Known, function: Any, args: Sequence[Symbolic], kwargs: Mapping[str, Symbolic]
) -> tuple[Known, Sequence[Symbolic], Mapping[str, Symbolic]]:
    """What a `functools.partial`, or a method of an object, calls, and with what."""
    if is_method(function):
        return Known(function.__func__, callee.name), [known(function.__self__, callee.name), *args], kwargs
    bound = [known(value, callee.name) for value in function.args]
    named = {name: known(value, name) for name, value in function.keywords.items()}
    return Known(function.func, callee.name), [*bound, *args], {**named, **kwargs}


def check(callee: Symbolic) -> None:
    """NotCompilable for what has no compiled form whatever it is called with, so that the call is to blame."""
    if not isinstance(callee, Known):
        return
    function = callee.value
    read = isinstance(function, (functools.partial, FunctionType, Nested))
    read = (
        read
        or is_method(function)
        or applying.is_named_tuple(function)
        or any(spelled is function for spelled, _ in _NAMED)
    )
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
    return isinstance(function, type) and issubclass(function, (*NUMPY_INTEGERS, np.floating))


def _no_form(callee: Known) -> str:
    function = callee.value
    if _is_numpy_number(function):
        return f"`{callee.name}` makes a NumPy number of a type that is not compiled: {_INSTEAD}"
    if isinstance(function, ModuleType) or not callable(function):
        return f"`{callee.name}` is called, and it is no function"
    module = str(getattr(function, "__module__", None) or "")  # of methods: what they belong to is not asked
    made = is_made(type(function))  # and may have a `__getattr__`, which would be told of the question
    name = callee.name if made else str(getattr(function, "__name__", callee.name))
    observes = name in _OBSERVERS if module == "builtins" else module.partition(".")[0] in _OBSERVING_MODULES
    owner = None if made else getattr(function, "__self__", None)
    is_method = owner is not None and not isinstance(owner, ModuleType)
    if observes or is_method or "random" in module:
        effect = ", a side effect" if observes and name in _OBSERVERS else ""
        return f"`{callee.name}` is called{effect}: observation prevents optimisation"
    return f"`{callee.name}` has no compiled form yet"


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
        from hastega_magic.syntax.functions.iterate import (
            range_length,  # which evaluates calls with this module
        )

        return range_length(graph, given)
    if isinstance(value.value, Neighbours):
        return value.value.length
    if (items := mapping(value)) is not None:
        return const(len(items))
    part = whole(value)
    return captured_arrays.length(graph, value) if part is None else const(part.shape[0])


def _range(graph: Graph, args: Sequence[Symbolic]) -> Symbolic:
    from hastega_magic.syntax.functions.iterate import range_of  # as above

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


def _handlers(*pairs: tuple[object, Handler]) -> dict[int, list[tuple[object, Handler]]]:
    table: dict[int, list[tuple[object, Handler]]] = {}
    for spelled, handler in pairs:
        table.setdefault(id(spelled), []).append((spelled, handler))
    return table


_HANDLERS = _handlers(
    (builtins.int, of_one("int", lambda graph, value: graph.own(arithmetic.as_int(graph, value)))),
    (builtins.complex, complex_numbers.construct),
    (builtins.float, of_one("float", lambda graph, value: graph.own(arithmetic.as_float(value)))),
    (builtins.round, rounded),
    (np.float64, of_one("np.float64", arithmetic.as_float64)),
    (np.float32, of_one("np.float32", lambda graph, value: arithmetic.as_float32(value))),
    (np.int64, of_one("np.int64", int64)),
    (math.floor, rounding("math.floor", "floor_int")),
    (math.ceil, rounding("math.ceil", "ceil_int")),
    (math.trunc, rounding("math.trunc", "int")),
    (np.floor, whole_number(np.floor, "floor")),
    (np.ceil, whole_number(np.ceil, "ceil")),
    (np.trunc, whole_number(np.trunc, "trunc")),
    (np.square, of_one("np.square", lambda graph, value: graph.make("mul", value, value))),
    (builtins.bool, truth),
    (operator.truth, truth),
    (operator.not_, negation),
    (operator.invert, of_one("operator.invert", operators.inverted)),
    (np.logical_not, negation),
    (builtins.pow, power),
    (cast(object, operator.pow), power),  # pyright: ignore[reportUnknownMemberType]
    (np.power, ufunc_power),
    (builtins.divmod, division),
    (builtins.min, extremum("min")),
    (builtins.max, extremum("max")),
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
