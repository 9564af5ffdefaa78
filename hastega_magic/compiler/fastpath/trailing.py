"""Values that ordinary code reads when Python has made an iterator: asked for before, where nobody can tell."""

from __future__ import annotations

import array
import operator
from collections.abc import Sequence
from types import (
    BuiltinFunctionType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    ModuleType,
)
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.fastpath.objects import NotExact
from hastega_magic.runtime.python_calls import OF_MATH
from hastega_magic.syntax.closures.contained import NUMBERS
from hastega_magic.syntax.ordinary.parts import Ordinary
from hastega_magic.syntax.ordinary.trailing import Root

_OF_PYTHON = frozenset({dict, list, tuple, set, frozenset, str, bytes, int, float, complex, bool})
"""Types, and their objects, whose attributes are read unnoticed."""

_ITEMS = _OF_PYTHON | {range, array.array, bytearray, np.ndarray}

_READING = frozenset({"get", "index", "count", "__getitem__", "__contains__"})
"""Methods of these that change nothing."""

_FUNCTIONS = (abs, bool, complex, divmod, float, int, len, max, min, operator.neg, pow, repr, round, str)

_KEPT = NUMBERS | {
    FunctionType, BuiltinFunctionType, MemberDescriptorType, MethodDescriptorType, staticmethod, classmethod,
}  # fmt: skip
"""What classes hold, of which reading runs none of the user's code."""


def values_behind(code: Ordinary, functions: Sequence[Any]) -> tuple[Any, ...]:
    """The values, the last one first; NotExact where reading them might be noticed.

    Raises what Python raises for variables without a value, though Python may find another error first.
    """
    if code.roots is not None:
        number, roots = code.roots
        if not all(map(_harmless, functions[number](), roots)):
            raise NotExact("what is evaluated when it has begun to iterate may run code of its own")
    return tuple(functions[number]() for number in reversed(code.later))


def _harmless(found: Any, root: Root) -> bool:
    """Whether reading from the object, calling it, or computing with it, changes nothing."""
    value = found
    if root.attribute:
        kind = cast("type[Any]", type(found))
        if root.kind == "function" and kind in _OF_PYTHON:
            return root.attribute in _READING
        if kind is not ModuleType:
            return root.expected is None and not root.kind and _is_plain(found, kind, root.attribute)
        known = cast("dict[str, Any]", vars(found))
        if root.attribute not in known:
            return False
        value = known[root.attribute]
    match root.kind:
        case "number":
            return type(value) in NUMBERS
        case "items":
            return type(value) in _ITEMS
        case "function":
            of_math = type(value) is BuiltinFunctionType and value.__module__ in OF_MATH
            return of_math or any(value is each for each in _FUNCTIONS)
        case _:
            return root.expected is None or value is root.expected


def _is_plain(found: Any, kind: Any, attribute: str) -> bool:
    """Whether it is an attribute of the object's own, or a method of its class, which nothing computes."""
    if kind in _OF_PYTHON or (kind is type and found in _OF_PYTHON):
        return True
    if type(kind) is not type:
        return False
    *classes, _ = (vars(each) for each in cast("tuple[type, ...]", kind.__mro__))
    if any("__getattribute__" in each for each in classes):
        return False
    for each in classes:
        if attribute in each:
            return type(each[attribute]) in _KEPT
    for each in classes:
        own = each.get("__dict__")
        if own is not None:
            values: Any = own.__get__(found) if type(own) is GetSetDescriptorType else None
            return type(values) is dict and attribute in values
    return False


__all__ = ["values_behind"]
