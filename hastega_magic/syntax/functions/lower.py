"""From a Python function to a graph: its body is evaluated once, over nodes instead of numbers.

With k = 5, `lambda x: x * x if x > 3 else k` becomes `select(x > 3, x * x, 5)`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any, cast

from hastega_magic.errors import NOWHERE, NotCompilable, Span
from hastega_magic.ir.expr import Expr, Value, constant_text, leaf, made_like
from hastega_magic.ir.pipeline import Fn
from hastega_magic.ir.rows import taken_apart
from hastega_magic.lru import LruCache
from hastega_magic.syntax.closures.bytecode import global_names
from hastega_magic.syntax.closures.given import default_of, is_method, owner_given
from hastega_magic.syntax.closures.numpy_read import reads_numbers
from hastega_magic.syntax.functions.expressions import Frame
from hastega_magic.syntax.reading.depth import with_deeper_stack
from hastega_magic.syntax.reading.functions import ast_of, described, name_of, spreads
from hastega_magic.syntax.reading.names import own_names
from hastega_magic.syntax.values.environment import Environment
from hastega_magic.syntax.values.graph import Graph
from hastega_magic.syntax.values.neighbours import Over, neighbours, spelled
from hastega_magic.syntax.values.values import (
    BOOLS_BESIDE_NUMPY,
    TUPLES_BESIDE_NUMPY,
    Known,
    Listed,
    Nested,
    Partly,
    Poison,
    Record,
    Symbolic,
)
from hastega_magic.types import Composite, ScalarType

_DEEPEST_CALL = 100


def parameters(structure: object, first: int = 0) -> Value:
    """An element made of parameters, numbered from left to right, of a ScalarType or a tuple of such."""
    return _number_parameters(structure, [first])


def _number_parameters(structure: object, counter: list[int]) -> Value:
    if isinstance(structure, ScalarType):
        counter[0] += 1
        return leaf("param", structure, counter[0] - 1)
    parts = cast("tuple[object, ...]", structure)
    return made_like(parts, [_number_parameters(part, counter) for part in parts])


def lower(
    function: object,
    element: Value,
    env: Environment,
    arguments: tuple[Value, ...] | None = None,
    *,
    predicate: bool = False,
) -> Fn:
    """The graph of calling `function` with an element (or with these arguments instead).

    A tuple element is spread over the function's parameters as `spreads` says. `predicate`: the result is
    bool(result). Effects hold all that may raise, the result included. NotCompilable, with a sentence and its
    place in the cell, where Python must do it.
    """
    kept = arguments is None and not getattr(env, "varying", None)
    read = _read(function) if kept and isinstance(function, FunctionType) else None
    if read is None:
        return _lowered(function, element, env, arguments, predicate)
    assert isinstance(function, FunctionType)
    marked = getattr(env, "scalars", None) is not None
    beside = getattr(env, "numpy_numbers", False)
    code = function.__code__
    # Equal code of another cell is written alike where its text and its places are the same, too.
    key = (code, code.co_linetable, *_place(function, env), read, element, predicate, marked, beside)
    known = _kept.get(key)
    return _kept.put(key, _lowered(function, element, env, None, predicate)) if known is None else known


_kept: LruCache[object, Fn] = LruCache(512)
"""Graphs of functions that read nothing but numbers."""


def _read(function: FunctionType) -> tuple[tuple[type, object], ...] | None:
    """The numbers that a function reads from around it; None where it may read anything else."""
    code = function.__code__
    inner = any(isinstance(each, CodeType) for each in code.co_consts)
    if inner or function.__defaults__ or function.__kwdefaults__:
        return None
    around: list[object] = [function.__globals__.get(name) for name in global_names(code)]
    try:
        around += [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:  # a name without a value yet
        return None
    if any(type(each) not in (int, bool, float) for each in around):
        return None
    # Equal floats may differ in their sign.
    return tuple((type(each), constant_text(each) if isinstance(each, float) else each) for each in around)


def _users(function: Any) -> Any:
    """The user's function, where another was made of it."""
    apart = taken_apart(function)
    if apart is not None:
        return apart[0]
    return function.function if isinstance(function, Over) else function


BESIDE_NUMPY = "`round` to digits is left to Python beside NumPy's numbers, which round otherwise"


def _look_at_numbers(graph: Graph, env: Environment, function: object) -> None:
    """NotCompilable where what may be NumPy's, of this or an earlier function, is rounded, or meets bools or tuples."""
    beside = getattr(env, "numpy_numbers", False) or graph.numpy or graph.ufuncs or reads_numbers(function)
    if beside and graph.rounds:
        raise NotCompilable(BESIDE_NUMPY)
    if beside and graph.of_bools and getattr(env, "scalars", None) is None:
        raise NotCompilable(BOOLS_BESIDE_NUMPY)
    if beside and graph.of_tuples:
        raise NotCompilable(TUPLES_BESIDE_NUMPY)
    if beside:
        env.numpy_numbers = True


def _lowered(
    function: object,
    element: Value,
    env: Environment,
    arguments: tuple[Value, ...] | None,
    predicate: bool,
) -> Fn:
    if arguments is None:
        parts = element if isinstance(element, tuple) and not isinstance(element, Composite) else ()
        arguments = parts if parts and spreads(function, len(parts)) else (element,)
    try:
        graph, value = with_deeper_stack(lambda: _evaluated(function, env, arguments, predicate))
    except RecursionError:
        raise NotCompilable(f"`{name_of(function)}` is nested too deeply") from None
    text, span = _place(_users(function), env)
    return Fn(element, value, tuple(graph.effects), text, span, graph.spans)


def _evaluated(
    function: object, env: Environment, arguments: tuple[Value, ...], predicate: bool
) -> tuple[Graph, Value]:
    graph = Graph(env, _inline)
    if isinstance(function, Over):
        (place,) = arguments
        items = neighbours(graph, function, cast(Expr, place))
        result = _inline(graph, spelled(function.function), (items,), {}, predicate=predicate)
    elif isinstance(function, FunctionType):
        result = _inline(graph, function, arguments, {}, predicate=predicate)
    elif is_method(function):
        own, called = owner_given(function, lambda given: given), cast(FunctionType, function.__func__)
        owner = graph.captured(own.where, own.value, own.where[2])
        result = _inline(graph, called, (owner, *arguments), {}, predicate=predicate)
    else:
        from hastega_magic.syntax.operations.calls import call

        result = call(graph, Known(function, name_of(function)), arguments, {})
        result = graph.truth(result) if predicate else result
    graph.keep(result)
    value = _numbers(result, name_of(function))
    _look_at_numbers(graph, env, _users(function))
    return graph, value


def _place(function: object, env: Environment) -> tuple[str, Span]:
    function = function.__func__ if is_method(function) else function
    if not isinstance(function, FunctionType):
        return name_of(function), NOWHERE
    syntax = ast_of(function)
    return syntax.text, syntax.span if syntax.filename == env.filename else NOWHERE


def _numbers(result: Symbolic, name: str) -> Value:
    if isinstance(result, Expr):
        return result
    if isinstance(result, tuple):
        if not result:
            raise NotCompilable("the result is an empty tuple")
        return made_like(result, [_numbers(part, name) for part in result])
    if isinstance(result, Poison):
        raise NotCompilable(result.reason)
    if isinstance(result, Partly):
        raise NotCompilable(f"`{name}` returns None for some elements, and only numbers are compiled")
    if result.value is None:
        raise NotCompilable(f"`{name}` returns None, and only numbers are compiled")
    if isinstance(result.value, Listed):
        raise NotCompilable("a list is built")
    if isinstance(result.value, Record):
        raise NotCompilable(
            f"the result is a named tuple, `{result.name}`, and elements are numbers or plain tuples"
        )
    raise NotCompilable(
        f"the result is `{result.name}`, {described(result.value)}, and only numbers are compiled"
    )


def _inline(
    graph: Graph,
    function: FunctionType | Nested,
    args: Sequence[Symbolic],
    kwargs: Mapping[str, Symbolic],
    *,
    predicate: bool = False,
) -> Symbolic:
    """The value of a call, by evaluating the function's own body."""
    if isinstance(function, Nested):
        outer = cast(Frame, function.frame)
        node, code = function.node, function.node
        name = node.name if isinstance(node, ast.FunctionDef) else "lambda"
        bound = _bind(name, node.args, function.defaults, args, kwargs)
        frame = outer.within(bound, own_names(node))
    else:
        name, code, syntax = name_of(function), function.__code__, ast_of(function)
        bound = _bind(name, syntax.node.args, _defaults(graph, function, syntax.node.args), args, kwargs)
        node, frame = syntax.node, Frame(graph, function, syntax, bound)
    if code in graph.active and not _ends(graph, code, args):
        raise NotCompilable(f"`{name}` calls itself")
    if len(graph.active) >= _DEEPEST_CALL:
        raise NotCompilable("functions call each other too deeply")
    graph.active.append(code)
    try:
        with graph.store.running(frame):
            frame.assigns(_outer_names(node))
            frame.share(_assigned_inside(node))
            if isinstance(node, ast.Lambda):
                return frame.condition(node.body) if predicate else frame.evaluate(node.body)
            from hastega_magic.syntax.functions.flow import Flow

            return Flow(frame, name, predicate, graph.path).run(node.body)
    finally:
        graph.active.pop()


_RECURSIONS = 256
"""Calls of functions by themselves in one stage, and how many inside each other."""
_DEPTH = 16


def _ends(graph: Graph, code: object, args: Sequence[Symbolic]) -> bool:
    """Whether a function's call of itself may be written out: an argument is known, which may end it."""
    graph.recursions += 1
    known_one = any(isinstance(arg, Expr) and arg.op == "const" for arg in args)
    return known_one and graph.recursions <= _RECURSIONS and graph.active.count(code) < _DEPTH


@lru_cache(maxsize=512)
def _assigned_inside(node: ast.Lambda | ast.FunctionDef) -> frozenset[str]:
    """The function's variables that functions inside it assign."""
    if isinstance(node, ast.Lambda):
        return frozenset()
    own = _outer_names(node)
    found = {name for each in ast.walk(node) if isinstance(each, ast.Nonlocal) for name in each.names}
    return frozenset(found - own)


@lru_cache(maxsize=512)
def _outer_names(node: ast.Lambda | ast.FunctionDef) -> frozenset[str]:
    """Names that the function itself declares to be an outer function's."""
    found: set[str] = set()
    pending: list[ast.AST] = [] if isinstance(node, ast.Lambda) else [*node.body]
    while pending:
        each = pending.pop()
        if isinstance(each, ast.Nonlocal):
            found.update(each.names)
        elif isinstance(each, ast.stmt) and not isinstance(each, (ast.FunctionDef, ast.ClassDef)):
            pending += ast.iter_child_nodes(each)
        elif isinstance(each, (ast.ExceptHandler, ast.match_case)):
            pending += each.body
    return frozenset(found)


def _defaults(graph: Graph, function: FunctionType, signature: ast.arguments) -> dict[str, Symbolic]:
    positional = [arg.arg for arg in (*signature.posonlyargs, *signature.args)]
    defaults, by_name = function.__defaults__ or (), function.__kwdefaults__ or {}
    if len(defaults) > len(positional) or not by_name.keys() <= {arg.arg for arg in signature.kwonlyargs}:
        raise NotCompilable(f"`{function.__name__}` has defaults of parameters that it does not have")
    given = dict(zip(positional[len(positional) - len(defaults) :], defaults, strict=True))
    return {
        parameter: graph.captured(default_of(function, parameter), value, parameter)
        for parameter, value in {**given, **by_name}.items()
    }


def _bind(
    name: str,
    signature: ast.arguments,
    defaults: Mapping[str, Symbolic],
    args: Sequence[Symbolic],
    kwargs: Mapping[str, Symbolic],
) -> dict[str, Symbolic]:
    """Parameters by name, as Python's call binds them."""
    positional = [arg.arg for arg in (*signature.posonlyargs, *signature.args)]
    rest = signature.vararg
    if len(args) > len(positional) and rest is None:
        taken = "1 argument" if len(positional) == 1 else f"{len(positional)} arguments"
        raise NotCompilable(f"`{name}` takes {taken}, {len(args)} given")
    bound = dict(zip(positional, args, strict=False))
    by_name = {arg.arg for arg in (*signature.args, *signature.kwonlyargs)}
    for keyword, value in kwargs.items():
        if keyword in bound or keyword not in by_name:
            raise NotCompilable(f"`{name}` cannot take the argument `{keyword}`")
        bound[keyword] = value
    bound = {**defaults, **bound}
    if rest is not None:
        bound[rest.arg] = tuple(args[len(positional) :])
    missing = [arg for arg in (*positional, *(arg.arg for arg in signature.kwonlyargs)) if arg not in bound]
    if missing:
        raise NotCompilable(f"`{name}` is called without its argument `{missing[0]}`")
    return bound


__all__ = ["BESIDE_NUMPY", "BOOLS_BESIDE_NUMPY", "Environment", "lower", "parameters"]
