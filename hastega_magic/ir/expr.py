"""The scalar graph: interned nodes, so that identity is equality and common subexpressions come free."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast
from weakref import WeakValueDictionary

import numpy as np

from hastega_magic.errors import NotCompilable
from hastega_magic.frames import reraise_signal
from hastega_magic.ops import OPS
from hastega_magic.records import cached_property
from hastega_magic.types import BOOL, FLOAT, FLOAT32, INT, Composite, ScalarType, type_of_constant

INVARIANT = frozenset({"const", "table", "length"})
"""Leaves that are the same whichever element is computed."""


class Expr:
    """A node: an operator of the table over nodes, or a leaf.

    Leaves: "const" (value: the constant), "param" (value: number of the function's parameter), "load" (value:
    slot of the source), "index" (number of the element in the loop), "table" (value: slot of a captured
    array), "length" (value: slot of the captured array whose length it is). To build nodes: `make`, `const`,
    `leaf`.
    """

    __slots__ = ("__dict__", "__weakref__", "args", "op", "type", "value")

    def __init__(self, op: str, args: tuple[Expr, ...], type_: ScalarType, value: object) -> None:
        """Not to be called but by the intern table."""
        self.op = op
        self.args = args
        self.type = type_
        self.value = value

    @cached_property
    def digest(self) -> bytes:
        """A hash of the structure, the same in every process."""
        for node in postorder([self], _Hashed()):  # graphs can be deeper than Python's stack
            hasher = hashlib.blake2b(digest_size=16)
            hasher.update(f"{node.op} {node.type.value} {constant_text(node.value)}".encode())
            for arg in node.args:
                hasher.update(arg.__dict__["digest"])
            node.__dict__["digest"] = hasher.digest()  # as the cached property keeps it
        return self.__dict__["digest"]

    def __repr__(self) -> str:
        return _text(self, depth=4)


class _Hashed:
    """The nodes whose digest is known."""

    def __contains__(self, node: object) -> bool:
        return "digest" in cast("Expr", node).__dict__


def _text(node: Expr, depth: int) -> str:
    """The node and what is below it to a depth: a graph with sharing has exponentially long text."""
    if not node.args:
        value = constant_text(node.value) if node.op == "const" else node.value
        return node.op if value is None else f"{node.op}:{value}"
    if depth == 0:
        return f"{node.op}(…)"
    return f"{node.op}({', '.join(_text(arg, depth - 1) for arg in node.args)})"


def constant_text(value: object) -> str:
    """The text of a constant, which no other has: NaN has a sign, too, that `copysign` reads."""
    text = repr(value)
    return "-nan" if text == "nan" and math.copysign(1.0, cast(float, value)) < 0 else text


Value = Expr | tuple["Value", ...]
"""An element: a scalar, one number of several (a Composite), or a tuple of such (after zip and enumerate)."""

_interned: WeakValueDictionary[tuple[object, ...], Expr] = WeakValueDictionary()


def _intern(op: str, args: tuple[Expr, ...], type_: ScalarType, value: object = None) -> Expr:
    # 1, 1.0 and True are equal in Python, and 0.0 is -0.0, so constants are keyed by their text as well.
    key = (op, args, type_, constant_text(value))
    node = _interned.get(key)
    if node is None:
        node = _interned[key] = Expr(op, args, type_, value)
    return node


def leaf(op: str, type_: ScalarType, value: object = None) -> Expr:
    """A leaf node."""
    return _intern(op, (), type_, value)


def node_of(op: str, args: tuple[Expr, ...], type_: ScalarType, value: object) -> Expr:
    """A node that no row of the table describes; ir/loop.py makes such."""
    return _intern(op, args, type_, value)


def const(value: Any, type_: ScalarType | None = None) -> Expr:
    """A constant of the given type (by default its Python type); NotCompilable if it is no number."""
    kind = type_ or type_of_constant(value)
    if kind is BOOL:
        return _intern("const", (), kind, bool(value))
    if kind is INT:
        return _intern("const", (), kind, int(value))
    if kind is FLOAT32:
        with np.errstate(over="ignore"):
            return _intern("const", (), kind, float(np.float32(value)))
    return _intern("const", (), kind, float(value))


def convert(node: Expr, to: ScalarType, exact: bool = False) -> Expr:
    """The node as another type, as Python and NEP 50 convert operands.

    `exact` (comparisons and true division, which Python does without rounding the ints first) asks for a
    conversion that reports ints beyond 2^53.
    """
    if node.type is to or (node.type.is_float and to.is_float and FLOAT32 not in (node.type, to)):
        return node
    if to is BOOL:
        return truth(node)
    if to is INT and node.type.is_float:
        raise NotCompilable("an integer is needed, not a float")
    # A bool that is added stays one until `simplify`: NumPy's rules for True are not those for 1.
    if node.op == "const" and node.type is not BOOL:
        if to.is_float and isinstance(node.value, int):
            _check_float(node.value, exact)
        found = const(node.value, to)
        if to is FLOAT32 and math.isinf(cast(float, found.value)) and not math.isinf(cast(float, node.value)):
            return _intern("to_float32", (const(node.value, FLOAT),), to)  # which NumPy warns of
        return found
    if node.type is BOOL:
        return convert(_intern("bool_to_int", (node,), INT), to, exact)
    if node.type is INT:
        return convert(_intern("exact_float" if exact else "int_to_float", (node,), FLOAT), to)
    if to is FLOAT32:
        return _intern("to_float32", (node,), FLOAT32)
    return _intern("to_float64", (node,), to)


def _check_float(value: int, exact: bool) -> None:
    try:
        unchanged = int(float(value)) == value
    except OverflowError:
        raise NotCompilable("an integer constant is too large for a float") from None
    if exact and not unchanged:
        raise NotCompilable(f"the integer {value} is not a float64 value")


UNROUNDED = frozenset({"eq", "ne", "lt", "le", "gt", "ge", "truediv"})
"""Operators to which Python gives ints as they are, where the other operand is no int, or the result a float."""

_EXACT_OPERANDS = UNROUNDED | {"fdiv"}


def make(op: str, *args: Expr) -> Expr:
    """The operator over the operands, converted as its row says; NotCompilable where the types do not fit."""
    signature = OPS[op].signature(tuple(arg.type for arg in args))
    exact = op in _EXACT_OPERANDS
    operands = tuple(convert(arg, to, exact) for arg, to in zip(args, signature.operands, strict=True))
    return _intern(op, operands, signature.result)


def rebuild(node: Expr, args: tuple[Expr, ...]) -> Expr:
    """The same operator over other operands of the same types."""
    return node if args == node.args else _intern(node.op, args, node.type, node.value)


def truth(node: Expr) -> Expr:
    """bool(node)."""
    if node.type is BOOL:
        return node
    if node.type is INT:
        return make("ne", node, const(0))
    return make("truth", node)


def conjunction(conditions: Iterable[Expr | None]) -> Expr | None:
    """All conditions at once; None where there is none."""
    result: Expr | None = None
    for condition in conditions:
        if condition is not None and condition is not result:
            result = condition if result is None else make("and", result, condition)
    return result


def flatten(value: Value) -> tuple[Expr, ...]:
    """The scalars of an element, from left to right."""
    return (value,) if isinstance(value, Expr) else tuple(node for part in value for node in flatten(part))


def map_value(function: Callable[[Expr], Expr], value: Value) -> Value:
    """The element with each scalar replaced."""
    return (
        function(value)
        if isinstance(value, Expr)
        else made_like(value, [map_value(function, part) for part in value])
    )


def made_like(value: tuple[object, ...], parts: Iterable[Any]) -> tuple[Any, ...]:
    """The parts as a tuple, or as one number where the value is one."""
    return type(value)(parts) if isinstance(value, Composite) else tuple(parts)


def postorder(roots: Iterable[Expr], known: Container[Expr] = ()) -> Iterator[Expr]:
    """Every node below the roots once, operands first; `known` ones are left out, with all below them."""
    seen: set[Expr] = set()
    stack: list[tuple[Expr, bool]] = [(root, False) for root in reversed(list(roots))]
    while stack:
        node, ready = stack.pop()
        if ready:
            yield node
        elif node not in seen and node not in known:
            seen.add(node)
            stack.append((node, True))
            stack.extend((arg, False) for arg in reversed(node.args))


def python_of(node: Expr) -> Any:
    """What Python gives for an operator of constants; None where it raises, or is complex where it is typed real."""
    try:
        with np.errstate(all="ignore"):  # some rows compute with NumPy, which would warn the user of it
            found = OPS[node.op].python(*(arg.value for arg in node.args))
    except (ArithmeticError, ValueError) as error:
        reraise_signal(error)
        return None
    return None if isinstance(found, complex) else found


def rewrite(
    roots: Sequence[Expr], change: Callable[[Expr], Expr], known: Mapping[Expr, Expr] | None = None
) -> dict[Expr, Expr]:
    """Bottom-up: each node, over rewritten operands, goes through `change`. Maps old nodes to new ones.

    `known` nodes are replaced as it says; what is below them is not looked at.
    """
    new = dict(known or {})
    for node in postorder(roots, known or ()):
        new[node] = change(rebuild(node, tuple(new[arg] for arg in node.args)))
    return new


def substitute(value: Value, mapping: Mapping[Expr, Expr]) -> Value:
    """The element with leaves replaced by nodes of the same types."""
    new = rewrite(flatten(value), lambda node: mapping.get(node, node))
    return map_value(lambda node: new[node], value)


def structure(value: Value) -> object:
    """The types of an element: a ScalarType, a Composite of such, or a tuple of such."""
    return value.type if isinstance(value, Expr) else made_like(value, [structure(part) for part in value])


def is_const(node: Expr, value: object = None) -> bool:
    """Whether the node is a constant (of that value)."""
    return node.op == "const" and (value is None or bool(node.value == value))


__all__ = [
    "FLOAT", "Expr", "Value", "conjunction", "const", "constant_text", "convert", "flatten", "is_const", "leaf",
    "made_like", "make", "map_value", "node_of", "postorder", "rebuild", "rewrite", "structure", "substitute", "truth",
]  # fmt: skip
