"""`sorted` inside functions: few numbers, by neighbours that change places."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from hastega_magic.errors import NotCompilable
from hastega_magic.ir.expr import Expr, const, is_const
from hastega_magic.syntax.values.graph import Graph
from hastega_magic.syntax.values.values import Symbolic, members, number, required

_MOST = 16
"""More numbers are left to Python: the comparisons grow with their square."""


def ordered(graph: Graph, args: Sequence[Symbolic], kwargs: Mapping[str, Symbolic]) -> Symbolic:
    """The list that `sorted` makes of a tuple's or a list's numbers; equal ones stay in their order.

    NaN is left to Python, as the order around it hangs on which elements are compared.
    """
    items = members(args[0]) if len(args) == 1 else None
    if items is None:
        raise NotCompilable("`sorted` of something that is no tuple or list of numbers is not compiled")
    if len(items) > _MOST:
        raise NotCompilable(f"`sorted` of {len(items)} numbers is not compiled: of {_MOST} it is")
    if not kwargs.keys() <= {"reverse"}:
        raise NotCompilable("`sorted` with a `key` is not compiled")
    descending = _constant(kwargs.get("reverse", const(False)))
    nodes = [number(item) for item in items]
    if len({node.type for node in nodes}) > 1:
        raise NotCompilable("`sorted` of numbers of several types is not compiled")
    nodes = _numbers(graph, nodes)
    first, second = ("max", "min") if descending else ("min", "max")
    for end in range(len(nodes) - 1, 0, -1):
        for at in range(end):
            # As of Python's own two arguments: of equal ones the earlier stays where it is.
            one, other = nodes[at : at + 2]
            nodes[at], nodes[at + 1] = graph.make(first, one, other), graph.make(second, other, one)
    return graph.store.new(tuple(nodes), "sorted(...)")


def _constant(value: Symbolic) -> bool:
    if not isinstance(value, Expr) or not is_const(value):
        raise NotCompilable("`sorted` with `reverse` that is no constant is not compiled")
    return bool(value.value)


def _numbers(graph: Graph, nodes: list[Expr]) -> list[Expr]:
    """The nodes, which have to be numbers: the first one is asked for all of them."""
    if len(nodes) < 2 or not nodes[0].type.is_float:
        return nodes
    numbers = functools.reduce(
        lambda a, b: graph.make("and", a, b), [graph.make("eq", node, node) for node in nodes]
    )
    first = required(nodes[0], numbers)
    graph.keep(first)
    assert isinstance(first, Expr)
    return [first, *nodes[1:]]
