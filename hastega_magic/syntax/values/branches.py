"""What names hold after a branch: one of two values, or one that only some elements have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeGuard

from hastega_magic.errors import NotCompilable
from hastega_magic.ir.expr import Expr, Value, flatten, is_const, make, postorder
from hastega_magic.ir.loop import iteration
from hastega_magic.ops import OPS
from hastega_magic.syntax.values.store import Store, is_key
from hastega_magic.syntax.values.values import FALSE, NONE, TRUE, Partly, Poison, Symbolic, is_none
from hastega_magic.types import BOOL, INT

Names = dict[str, Symbolic]


class Chooser(Protocol):
    """What makes selections: the graph."""

    @property
    def store(self) -> Store:
        """What lists hold."""
        ...

    def choose(self, condition: Expr, yes: Symbolic, no: Symbolic) -> Symbolic:
        """One of two values of the same shape."""
        ...


def both(first: Expr, second: Expr) -> Expr:
    """`first and second`, of which the second counts only where the first holds."""
    if first is TRUE or second is FALSE:
        return second
    if first is FALSE or second is TRUE or first is second:
        return first
    return make("select", first, second, FALSE)


def either(first: Expr, second: Expr) -> Expr:
    """`first or second`, of which the second counts only where the first does not hold."""
    if first is TRUE or second is FALSE:
        return first
    if first is FALSE or second is TRUE:
        return second
    return make("select", first, TRUE, second)


def opposite(condition: Expr) -> Expr:
    """`not condition`."""
    if is_const(condition):
        return FALSE if condition.value else TRUE
    return condition.args[0] if condition.op == "not" else make("not", condition)


def eager(node: Expr) -> bool:
    """Whether evaluating the node where Python would not changes nothing: it neither raises nor overflows."""
    parts = list(postorder([node]))
    if any(part.op == "turns" for part in parts):
        return False
    rows = [OPS.get(part.op) for part in parts]
    free = all(row is None or (row.trouble is None and row.overflow is None) for row in rows)
    return free and not any(row is not None and row.name == "gather" for row in rows)


def may_raise(node: Expr) -> bool:
    """Whether evaluating the node, its operands given, may raise."""
    if node.op == "gather":
        return True
    if node.op == "turns":
        return bool(iteration(node).effects)
    row = OPS.get(node.op)
    if row is None or row.trouble is None:
        return False
    right = node.args[-1]
    if right.op == "const":
        value: Any = right.value
        if node.op in ("shl", "shr"):
            return value < 0
        if node.op in ("truediv", "int_truediv") or (
            node.op in ("floordiv", "mod") and not right.type.is_float
        ):
            # True division of ints beyond 2^53 is another matter: its operands are nodes of their own.
            return value == 0
    return True


_SILENT = frozenset({
    "own", "select", "min", "max", "bool_to_int", "int_to_float", "exact_float", "to_float32", "to_float64",
})  # fmt: skip


def may_warn(node: Expr) -> bool:
    """Whether NumPy may compute the node otherwise than Python does: a number that it warns of, or refuses."""
    return node.op in OPS and node.type is not BOOL and node.op not in _SILENT


def choice(condition: Expr, yes: Expr, no: Expr) -> Expr:
    """One of two conditions."""
    if yes is no or condition is TRUE:
        return yes
    if no is FALSE:
        return both(condition, yes)
    if yes is FALSE:
        return both(opposite(condition), no)
    if yes is TRUE:
        return either(condition, no)
    if no is TRUE:
        return either(opposite(condition), yes)
    return make("select", condition, yes, no)


def merged(graph: Chooser, condition: Expr, yes: Mapping[str, Symbolic], no: Mapping[str, Symbolic]) -> Names:
    """Names after a branch that elements take where the condition holds."""
    if condition is TRUE:
        return dict(yes)
    found = _Merging(graph, condition, yes, no)
    with graph.store.looking_at(found):
        for name in {**yes, **no}:
            found[name]  # as reading it merges it
    return dict(found)


class _Merging(Names):
    """Names that are merged when they are read: what lists hold, before the lists that are one of several."""

    def __init__(
        self, graph: Chooser, condition: Expr, yes: Mapping[str, Symbolic], no: Mapping[str, Symbolic]
    ) -> None:
        super().__init__()
        self._graph, self._condition, self._yes, self._no = graph, condition, yes, no

    def __missing__(self, name: str) -> Symbolic:
        left, right = self._yes.get(name), self._no.get(name)
        if left is None and right is None:
            raise KeyError(name)
        self[name] = Poison(f"`{name}` holds itself")
        self[name] = self._merge(name, left, right)
        return self[name]

    def _merge(self, name: str, left: Symbolic | None, right: Symbolic | None) -> Symbolic:
        if left is None or right is None:
            only = right if left is None else left
            assert only is not None
            known = is_key(name) or isinstance(only, Poison)
            return only if known else _bound_in_one(name, self._condition, left, right)
        if left is right or isinstance(left, Poison):
            return left
        return (
            right if isinstance(right, Poison) else _one_of(self._graph, name, self._condition, left, right)
        )


def _bound_in_one(name: str, condition: Expr, left: Symbolic | None, right: Symbolic | None) -> Symbolic:
    """A name that has a value on one side alone."""
    value, there = (left, condition) if left is not None else (right, opposite(condition))
    assert value is not None
    if isinstance(value, Partly) and value.unbound:
        return Partly(both(there, value.present), value.value, True, name)
    if numeric(value):
        return Partly(there, value, True, name)
    return Poison(f"`{name}` has a value only for some elements")


def _one_of(graph: Chooser, name: str, condition: Expr, left: Symbolic, right: Symbolic) -> Symbolic:
    try:
        return partly(graph, name, condition, left, right) or graph.choose(condition, left, right)
    except NotCompilable as error:
        return Poison(f"`{name}` depends on the element: {error}{_instead(left, right)}")


def partly(graph: Chooser, name: str, condition: Expr, yes: Symbolic, no: Symbolic) -> Symbolic | None:
    """One of two values of which one at least is missing for some elements; None where both are there."""
    sides = [yes, no]
    if not any(isinstance(side, Partly) or is_none(side) for side in sides):
        return None
    if all(is_none(side) for side in sides):
        return NONE
    kinds = {side.unbound for side in sides if isinstance(side, Partly)} | {
        False for side in sides if is_none(side)
    }
    values = [side.value if isinstance(side, Partly) else side for side in sides if not is_none(side)]
    if len(kinds) > 1 or not all(numeric(value) for value in values):
        raise NotCompilable("it is None, or has no value, for some elements")
    value = values[0] if len(values) == 1 else graph.choose(condition, *values)
    there = [side.present if isinstance(side, Partly) else FALSE if is_none(side) else TRUE for side in sides]
    present = choice(condition, *there)
    assert numeric(value)
    return value if present is TRUE else Partly(present, value, kinds.pop(), name)


def numeric(value: Symbolic) -> TypeGuard[Value]:
    """Whether the value is a number, or a tuple of such: what a loop can carry."""
    pending: list[Symbolic] = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, tuple):
            if not each:
                return False
            pending += each
        elif not isinstance(each, Expr):
            return False
    return True


def _instead(left: Symbolic, right: Symbolic) -> str:
    """How a name is written that has one type for all elements."""
    if not (numeric(left) and numeric(right)):
        return ""
    pairs = [
        pair for pair in zip(flatten(left), flatten(right), strict=False) if pair[0].type is not pair[1].type
    ]
    pairs += [(other, one) for one, other in pairs]
    for node, other in pairs:
        if is_const(node, _INFINITE) or is_const(node, -_INFINITE):
            return "; begin with `None` instead, and test `is None`" if other.type is INT else ""
    for node, other in pairs:
        if is_const(node) and node.type is INT and other.type.is_float:
            return f"; write `{node.value}.0` where it is {node.value}"
    return "; `float(...)` makes both floats" if any(node.type.is_float for node, _ in pairs) else ""


_INFINITE = float("inf")


def implied(path: Expr | None, condition: Expr) -> bool:
    """Whether a condition is seen to hold wherever the path is taken."""
    if condition is TRUE:
        return True
    if path is None:
        return False
    known = set(_parts(path))
    return all(part in known for part in _parts(condition))


def _parts(condition: Expr) -> list[Expr]:
    """Conditions that hold where this one does, in their simplest form."""
    found: list[Expr] = []
    pending = [condition]
    while pending:
        node = pending.pop()
        if node.op == "and" or (node.op == "select" and node.args[2] is FALSE):
            pending += node.args[:2]
        elif node.op == "not" and node.args[0].op == "not":
            pending.append(node.args[0].args[0])
        elif node.op == "not" and _is_or(node.args[0]):
            pending += [opposite(node.args[0].args[0]), opposite(node.args[0].args[-1])]
        else:
            found.append(node)
    return found


def _is_or(node: Expr) -> bool:
    return node.op == "or" or (node.op == "select" and node.args[1] is TRUE)
