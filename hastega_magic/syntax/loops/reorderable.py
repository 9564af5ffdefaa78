"""Whether anybody could tell that stages run later than Python would run them.

    map(f) |> sum      over ints, with a function that is compiled and raises for none of them: nobody
    map(f) |> sum      over strings: Python raises at the first one, before the second is there

A stage is quiet for a type of elements if it calls nothing but functions that have compiled forms over that type,
and raises for no value of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from hastega_magic.errors import NotCompilable
from hastega_magic.frames import reraise_signal
from hastega_magic.ir.expr import Expr, flatten, postorder, structure
from hastega_magic.ir.pipeline import Fn
from hastega_magic.syntax.functions.lower import Environment, lower, parameters
from hastega_magic.syntax.loops.loop import BoundStage, Cut, Loop, Probed, View
from hastega_magic.syntax.loops.rules import RULES
from hastega_magic.syntax.loops.rules_order import WIDEST
from hastega_magic.syntax.stages import STAGES
from hastega_magic.types import BOOL, FLOAT, FLOAT64, INT, Complex, Either

_ALL_FIRST = frozenset({"reverse", "var", "std", "count", "last", "to_list"})
"""Stages that have drawn all elements before they look at one, if they do."""
_RULED = frozenset({"map", "filter", "where", "clip", "scan", "reduce"})
_REAL = frozenset({BOOL, INT, FLOAT, FLOAT64})
_PLAIN = frozenset({bool, int, float, complex})
_LENGTH = 1 << 20
"""Of a source that stands for any."""

WORD = 64.0
"""Bits of an int that is an element."""
_FLOATS = 1023.0
"""Bits of ints that floats certainly hold; a larger one raises OverflowError where it becomes one."""


def quiet(stages: Sequence[BoundStage], element: object, env: Environment, bits: float = WORD) -> bool:
    """Whether all of the stages are, up to one that needs all elements anyway.

    `element`: the types of an element, a ScalarType, a Complex, or a tuple of such; `bits`: as many as its ints have.
    """
    try:
        for stage in stages:
            name, given = stage.site.name, STAGES[stage.site.name].bind(stage.args, stage.kwargs)
            if name in _ALL_FIRST:
                return True
            if STAGES[name].sink and name != "reduce":
                return _ends(name, given, element, env)
            element, bits = _after(stage, given, element, env, bits)
    except (NotCompilable, Cut, Probed, TypeError) as error:
        reraise_signal(error)
        return False
    return True


def _after(
    stage: BoundStage, given: Mapping[str, Any], element: object, env: Environment, bits: float
) -> tuple[object, float]:
    """What elements are behind a stage, and the bits of their ints; NotCompilable where the stage is not quiet."""
    name = stage.site.name
    if name in ("drop", "step"):
        return element, bits
    if name in ("window", "chunk"):  # with a shorter chunk at the end nobody waits for another element
        return (element,) * min(given["n"], WIDEST), bits
    if name == "enumerate":
        return (INT, element), bits
    if name == "cumsum":
        return _sum_of(element), bits + WORD
    if name == "drop_while":
        _look_at([lower(given["f"] or bool, parameters(element), env, predicate=True)], bits)
        return element, bits
    if name not in _RULED:
        raise NotCompilable(f"`{name}` may tell when its elements come")
    anywhere = View(count=_LENGTH)
    loop = Loop(env, parameters(element), anywhere, {}, anywhere)
    loop.bound = stage
    RULES[name](loop, stage.site, given)
    functions = [each.fn for each in loop.stages if each.fn is not None]
    if loop.sink is not None and loop.sink.fn is not None:
        _look_at([loop.sink.fn], math.inf)  # the value so far may be an int of any size
        return structure(loop.sink.fn.result), math.inf
    bits = _look_at(functions, bits) if name != "filter" else max(bits, _look_at(functions, bits))
    return structure(loop.element), bits


def _sum_of(element: object) -> object:
    if element in (BOOL, INT):
        return INT
    if element in _REAL or isinstance(element, Complex):
        return element
    raise NotCompilable("`cumsum` refuses some elements")


def _ends(name: str, given: Mapping[str, Any], element: object, env: Environment) -> bool:
    """Whether a sink takes all elements of this kind."""
    if name in ("sum", "prod", "mean"):
        return type(given.get("start", 0)) in _PLAIN and (_is_real(element) or isinstance(element, Complex))
    if name in ("min", "max", "argmin", "argmax"):
        if given.get("key") is not None:
            fn = lower(given["key"], parameters(element), env)
            _look_at([fn], WORD)
            element = structure(fn.result)
        return _ordered(element)
    return False


def _is_real(element: object) -> bool:
    return element in _REAL or (isinstance(element, Either) and all(each in _REAL for each in element))


def _ordered(element: object) -> bool:
    """Whether elements can be compared: numbers, or tuples of such."""
    if isinstance(element, tuple) and not isinstance(element, (Complex, Either)):
        return all(map(_ordered, cast("tuple[object, ...]", element)))
    return _is_real(element)


def _look_at(functions: Iterable[Fn], bits: float) -> float:
    """The bits of the ints that functions give; NotCompilable for one that may raise."""
    most = 0.0
    for fn in functions:
        roots = fn.roots()
        sizes = _sizes(roots, bits)
        if fn.effects or any(_made_float(node, sizes) for node in sizes):
            raise NotCompilable("an element may raise")
        results = flatten(fn.result)
        most = max([most, *(sizes[node] for node in results if node.type is INT)])
    return most


def _made_float(node: Expr, sizes: Mapping[Expr, float]) -> bool:
    """Whether an int becomes a float that may be too large for one."""
    return node.type.is_float and any(arg.type is INT and sizes[arg] > _FLOATS for arg in node.args)


def _sizes(roots: Iterable[Expr], bits: float) -> dict[Expr, float]:
    """At most how many bits each int has."""
    sizes: dict[Expr, float] = {}
    for node in postorder(roots):
        sizes[node] = _size(node, [sizes[arg] for arg in node.args if arg.type is not BOOL], bits)
    return sizes


def _size(node: Expr, sizes: Sequence[float], bits: float) -> float:
    if node.type is not INT:
        return 1.0
    match node.op:
        case "param":
            return bits
        case "const":
            return float(cast(int, node.value).bit_length())
        case "add" | "sub" | "and" | "or" | "xor" | "invert" | "neg":
            return max(sizes, default=1.0) + 1
        case "mul":
            return sum(sizes, 1.0)
        case "min" | "max" | "select" | "abs" | "pos" | "floordiv" | "mod" | "shr":
            return max(sizes, default=1.0)
        case "pow" | "shl":
            return _grown(node, sizes)
        case "gather" | "length" | "bool_to_int" | "bit_length" | "bit_count" | "isqrt":
            return WORD
        case "int" | "floor_int" | "ceil_int" | "round_int" | "float_to_int":
            return _FLOATS  # of floats, which hold it
        case _:
            return math.inf


def _grown(node: Expr, sizes: Sequence[float]) -> float:
    """The same of a power or a shift to the left."""
    by: Any = node.args[-1].value if node.args[-1].op == "const" else math.inf
    return sizes[0] * max(by, 1) if node.op == "pow" else sizes[0] + by


__all__ = ["quiet"]
