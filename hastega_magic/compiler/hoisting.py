"""What of a statement may be evaluated before the statements that stand above it have run, as nobody can tell.

    a = xs |> sum
    b = xs[1:] |> take(n - 1)        both are one loop: neither `xs[1:]` nor `n - 1` runs code that could read `a`

Where `n` is an object of the user's, its class says what `n - 1` is, and may ask for anything.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import ModuleType
from typing import Any, NamedTuple, cast

import numpy as np

from hastega_magic.syntax.closures.libraries import is_library
from hastega_magic.syntax.reading.names import is_pure_source, owners_read


class Operands(NamedTuple):
    """Names that are subscripted or counted, and names that operators, tests and formats are applied to."""

    parted: frozenset[str]
    operated: frozenset[str]


def source_is_free(source: ast.expr, namespace: Mapping[str, Any]) -> bool:
    """Whether evaluating the source runs no code of the user's, as long as its names keep their values."""
    return is_pure_source(source) and _are_known(operands(source), namespace)


def arguments_are_free(expression: ast.Expression, namespace: Mapping[str, Any]) -> bool:
    """The same of what stages are given, by the call that binds their statement."""
    owners = owners_read(expression)
    if owners is None or not all(isinstance(namespace.get(each), ModuleType) for each in owners):
        return False
    call = expression.body
    assert isinstance(call, ast.Call)
    return all(_are_known(operands(each), namespace) for each in call.args[2:])


@lru_cache(512)  # a cell that runs again has the same nodes
def operands(node: ast.AST) -> Operands:
    """Of an expression, those names; bodies of functions run later."""
    parted, operated = set[str](), set[str]()
    _collect([node], False, parted, operated)
    return Operands(frozenset(parted), frozenset(operated))


def _collect(nodes: Iterable[ast.AST | None], used: bool, parted: set[str], operated: set[str]) -> None:
    """`used`: something is done with their values, beyond handing them on."""
    for node in nodes:
        match node:
            case ast.Name(id=name):
                if used:
                    operated.add(name)
            case ast.Lambda(args=args):
                _collect([*args.defaults, *args.kw_defaults], False, parted, operated)
            case ast.Tuple() | ast.List() | ast.keyword() | ast.Attribute():
                _collect(ast.iter_child_nodes(node), used, parted, operated)
            case ast.Dict(keys=keys, values=values):
                _collect(keys, True, parted, operated)  # which are hashed
                _collect(values, used, parted, operated)
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]):
                parted.add(name)
            case ast.Subscript(value=ast.Name(id=name), slice=index) if not used:
                parted.add(name)
                _collect([index], True, parted, operated)
            case ast.AST():
                _collect(ast.iter_child_nodes(node), True, parted, operated)
            case None:
                continue


def _are_known(names: Operands, namespace: Mapping[str, Any]) -> bool:
    """Whether what is done with the values runs no code of the user's."""
    found = namespace.get
    return all(is_library(type(found(each))) for each in names.parted) and all(
        _is_plain(found(each)) for each in names.operated
    )


_CONTAINERS = (list, tuple, set, frozenset, dict, deque)
_FEW = 64


def _is_plain(value: Any) -> bool:
    if type(value) in _CONTAINERS:
        if len(value) > _FEW:
            return False
        items: list[object] = [*value, *value.values()] if type(value) is dict else list(value)
        return all(type(each) not in _CONTAINERS and _is_plain(each) for each in items)
    if isinstance(value, np.ndarray):
        return not cast("np.ndarray[Any, np.dtype[Any]]", value).dtype.hasobject
    return is_library(type(value))


__all__ = ["arguments_are_free", "operands", "source_is_free"]
