"""Comparisons inside functions: of numbers, tuples and None, `in` and `is`, chained as Python chains them."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from hastega_magic.errors import NotCompilable
from hastega_magic.ir.expr import Expr, const, make, postorder
from hastega_magic.ir.items import Items
from hastega_magic.ir.rows import Rows
from hastega_magic.syntax.closures.captured_objects import is_instance
from hastega_magic.syntax.closures.contained import is_small
from hastega_magic.syntax.operations import complex_numbers
from hastega_magic.syntax.operations.arithmetic import COMPARE
from hastega_magic.syntax.reading.functions import described
from hastega_magic.syntax.values import mixed
from hastega_magic.syntax.values.branches import both, opposite
from hastega_magic.syntax.values.dimensions import Part
from hastega_magic.syntax.values.graph import Graph
from hastega_magic.syntax.values.neighbours import Neighbours
from hastega_magic.syntax.values.values import (
    FALSE,
    TRUE,
    TUPLES_BESIDE_NUMPY,
    Built,
    Known,
    Listed,
    Partly,
    Range,
    Symbolic,
    is_none,
    items_in,
    known_item,
    members,
    number,
)
from hastega_magic.types import BOOL, FLOAT32, Complex, Either

if TYPE_CHECKING:
    from hastega_magic.syntax.functions.expressions import Frame


def comparison(frame: Frame, left: Symbolic, ops: Sequence[ast.cmpop], others: Sequence[ast.expr]) -> Expr:
    """`left < a <= b ...`: each operand is evaluated once, and none behind a comparison that fails."""
    graph, op = frame.graph, ops[0]
    right = _container(frame, others[0]) if isinstance(op, (ast.In, ast.NotIn)) else frame.evaluate(others[0])
    result = compared(graph, op, left, right)
    if len(ops) == 1:
        return result
    graph.keep(right)
    return frame.joined(True, result, lambda: comparison(frame, right, ops[1:], others[1:]))


def _container(frame: Frame, node: ast.expr) -> Symbolic:
    """What stands behind `in`: lists and sets that are written out hold the same items as tuples."""
    if isinstance(node, (ast.List, ast.Set)):
        return tuple(frame.evaluate(item) for item in node.elts)
    return frame.evaluate(node)


def compared(graph: Graph, op: ast.cmpop, left: Symbolic, right: Symbolic) -> Expr:
    """One comparison."""
    of_tuples = items_in(left) is not None or items_in(right) is not None
    if isinstance(op, (ast.In, ast.NotIn, ast.Is, ast.IsNot)) or of_tuples:
        if not (isinstance(op, (ast.Is, ast.IsNot)) and (is_none(left) or is_none(right))):
            graph.only_python("such a comparison")
        graph.keep(left)  # what may raise, also where the answer does not depend on it
        graph.keep(right)
    match op:
        case ast.In():
            return _contains(graph, left, right)
        case ast.NotIn():
            return opposite(_contains(graph, left, right))
        case ast.Is():
            return identical(left, right)
        case ast.IsNot():
            return opposite(identical(left, right))
        case ast.Eq():
            return equal(graph, left, right)
        case ast.NotEq():
            return _unequal(graph, left, right)
        case _:
            return _ordered(graph, COMPARE[type(op)], left, right)


def equal(graph: Graph, left: Symbolic, right: Symbolic) -> Expr:
    """`left == right`."""
    for each in (left, right):
        _check(each)
    if is_none(left) or is_none(right):
        return identical(left, right)
    if isinstance(left, Either) or isinstance(right, Either):
        return _by_sides(graph, equal, left, right)
    if isinstance(left, Partly) or isinstance(right, Partly):
        return _equal_partly(graph, left, right)
    ones, others = items_in(left), items_in(right)
    if complex_numbers.is_complex(left, right) and ones is None and others is None:
        return number(complex_numbers.binary(graph, "eq", left, right))
    if ones is None and others is None:
        return graph.make("eq", left, right)
    graph.keep(left)
    graph.keep(right)
    if ones is None or others is None:
        return _apart(graph, left if ones is None else right)
    result = TRUE
    for one, other in zip(ones, others, strict=False):  # which Python compares whatever the lengths are
        result = both(result, same(graph, one, other))
    return result if len(ones) == len(others) else FALSE


def _check(value: Symbolic) -> None:
    """NotCompilable for objects whose class says what they are equal to, tuples and None among it."""
    if isinstance(value, Known) and isinstance(value.value, _STAND_INS):
        raise NotCompilable(
            "rows are compared, of which a list and a tuple of the same numbers are two things"
        )
    kind = type(value.value) if isinstance(value, Known) else object
    own = kind.__eq__ is not object.__eq__ or kind.__ne__ is not object.__ne__
    if own and not issubclass(kind, tuple) and kind not in _OF_THEIR_KIND:
        assert isinstance(value, Known)
        raise NotCompilable(f"`{value.name}`, {described(value.value)}, says itself what it is equal to")


_OF_THEIR_KIND: frozenset[Any] = frozenset({
    type(None), str, bytes, bytearray, list, set, frozenset, dict, builtins.range, slice, type(len), type("".join),
})  # fmt: skip
"""Types of objects that are equal to others of their kind alone."""


def _apart(graph: Graph, other: Symbolic) -> Expr:
    """A tuple is no number, and no object of another kind; NumPy's numbers compare themselves with each item."""
    parts = other if isinstance(other, Complex) else (other,)
    nodes = [node for node in parts if isinstance(node, Expr)]
    if any(node.type is FLOAT32 for node in postorder(nodes)):
        raise NotCompilable(TUPLES_BESIDE_NUMPY)
    graph.of_tuples = graph.of_tuples or bool(nodes)
    return FALSE


def _unequal(graph: Graph, left: Symbolic, right: Symbolic) -> Expr:
    if isinstance(left, Expr) and isinstance(right, Expr):
        return graph.make("ne", left, right)
    if isinstance(left, (Expr, Complex)) and isinstance(right, (Expr, Complex)):
        return number(
            complex_numbers.binary(graph, "ne", left, right)
        )  # of NumPy's numbers a bool of its own
    return opposite(equal(graph, left, right))


def _equal_partly(graph: Graph, left: Symbolic, right: Symbolic) -> Expr:
    if isinstance(left, Partly) and isinstance(right, Partly):
        raise NotCompilable(f"`{left.name}` and `{right.name}`, which may be None, are compared")
    some, other = (left, right) if isinstance(left, Partly) else (right, left)
    assert isinstance(some, Partly)
    return both(some.present, equal(graph, some.value, other))


def same(graph: Graph, left: Symbolic, right: Symbolic) -> Expr:
    """`left is right or left == right`, as tuples and `in` compare; whether two NaNs are one, only Python knows."""
    if complex_numbers.is_complex(left, right):
        raise NotCompilable("complex numbers are compared within tuples, or looked for")
    if isinstance(left, Either) or isinstance(right, Either):
        return _by_sides(graph, same, left, right)
    result = equal(graph, left, right)
    nodes = [node for node in (left, right) if isinstance(node, Expr)]
    if len(nodes) < 2 or not all(_may_be_nan(node) for node in nodes):
        return result
    neither = graph.make("and", *(graph.make("isnan", node) for node in nodes))
    return make("required", result, opposite(neither))


def _by_sides(
    graph: Graph, rule: Callable[[Graph, Symbolic, Symbolic], Expr], left: Symbolic, right: Symbolic
) -> Expr:
    return number(mixed.distributed(graph, (left, right), lambda sides: rule(graph, *sides)))


def _may_be_nan(node: Expr) -> bool:
    return node.type.is_float and (node.op != "const" or node.value != node.value)


def identical(left: Symbolic, right: Symbolic) -> Expr:
    """`left is right`, where one is None, or both are known."""
    if is_none(left) or is_none(right):
        other = right if is_none(left) else left
        return opposite(other.present) if isinstance(other, Partly) else const(is_none(other))
    if isinstance(left, Known) and isinstance(right, Known):
        if any(isinstance(each.value, Listed) and each.value.shared for each in (left, right)):
            raise NotCompilable("`is` compares lists of which one is one of several")
        one, other = left.value, right.value
        if isinstance(one, _STAND_INS) or isinstance(other, _STAND_INS):
            raise NotCompilable("`is` compares rows, which are no objects in a loop: write `==`")
        if type(one) is type(other) is str:
            raise NotCompilable("`is` compares texts, of which the same may be several objects: write `==`")
        if (is_small(one) and is_small(other)) or _is_opened(one, other):
            raise NotCompilable("`is` compares containers, which are looked at by what is in them")
        if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
            raise NotCompilable("`is` compares arrays, which may be others in the next run")
        if left.where != right.where and is_instance(cast(Any, one)) and is_instance(cast(Any, other)):
            raise NotCompilable("`is` compares objects, which are looked at by what is read of them")
        return const(one is other)
    kinds = [node.type for node in (left, right) if isinstance(node, Expr)]
    if len(kinds) == 2 and kinds.count(BOOL) == 1:  # True is no other number
        return FALSE
    raise NotCompilable("`is` compares objects, and numbers have none when compiled: write `==`")


_STAND_INS = (Part, Neighbours, Rows, Items)
"""Made anew wherever a row, a window or a chunk, or what holds them, is named."""


def _is_opened(one: object, other: object) -> bool:
    """Whether both may be one captured dict, of which items are parameters: each look at it gives another object."""
    built = isinstance(one, Built), isinstance(other, Built)
    return (all(built) and one is not other) or (any(built) and (is_small(one) or is_small(other)))


def _ordered(graph: Graph, op: str, left: Symbolic, right: Symbolic) -> Expr:
    """`<`, `<=`, `>` and `>=`: tuples are ordered by the first of their items that differ."""
    if isinstance(left, Either) or isinstance(right, Either):
        return _by_sides(graph, lambda graph, one, other: _ordered(graph, op, one, other), left, right)
    one, other = items_in(left), items_in(right)
    if complex_numbers.is_complex(left, right):
        return number(complex_numbers.binary(graph, op, left, right))
    if one is None and other is None:
        return graph.make(op, left, right)
    if one is None or other is None:
        raise NotCompilable("a tuple and a number are compared: Python raises TypeError")
    graph.keep(one)
    graph.keep(other)
    result = const({"lt": len(one) < len(other), "le": len(one) <= len(other), "gt": len(one) > len(other),
                    "ge": len(one) >= len(other)}[op])  # fmt: skip
    for first, second in reversed(list(zip(one, other, strict=False))):
        result = make("select", same(graph, first, second), result, _ordered(graph, op, first, second))
    return result


def _contains(graph: Graph, item: Symbolic, container: Symbolic) -> Expr:
    held: Any = container.value if isinstance(container, Known) else None
    if isinstance(held, (Range, builtins.range)):
        from hastega_magic.syntax.functions.iterate import (
            in_range,  # which evaluates expressions with this module
        )

        given = held if isinstance(held, Range) else Range(const(held.start), const(held.stop), held.step)
        if items_in(item) is not None or is_none(item):
            return FALSE
        return in_range(graph, number(item), given)
    if isinstance(held, Built):
        container = tuple(map(const, held.items))
    items = members(container) if type(held) not in _HOLDERS else _held(held, cast(Known, container).name)
    if items is not None:
        graph.keep(item)
        graph.keep(items)
        result = FALSE
        for each in items:
            result = graph.either(result, lambda each=each: same(graph, each, item))
        return result
    if isinstance(container, Known):
        what = f"`{container.name}`, {described(cast(object, held))}"
        raise NotCompilable(
            f"`in` looks into {what}: into a tuple, list, set, dict or `range` it is compiled"
        )
    number(container)
    raise NotCompilable("`in` looks into a number: Python raises TypeError")


_HOLDERS = (list, set, frozenset, dict)
_MOST = 64
"""Items of these that are compared one by one."""


def _held(container: Any, name: str) -> tuple[Symbolic, ...]:
    """What a captured list, set or dict holds now."""
    if len(container) > _MOST:
        raise NotCompilable(
            f"`in` looks into `{name}`, {len(container)} items: into up to {_MOST} it is compiled"
        )
    return tuple(known_item(item, name) for item in tuple(container))
