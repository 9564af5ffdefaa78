"""Which of the values that functions read are the user's to have freed: arrays, objects, large containers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, cast

import numpy as np

from hastega_magic.ir.items import Items
from hastega_magic.ir.rows import Rows
from hastega_magic.syntax.closures.attributes import ABSENT
from hastega_magic.syntax.closures.free_variables import SMALL

_LONG = 4096
"""Characters, or bytes, beyond which a text is data."""


# Of tuples whatever their class says.
_TUPLE = cast(Any, tuple)
_length: Callable[[object], int] = _TUPLE.__len__
_items: Callable[[object], Iterator[object]] = _TUPLE.__iter__

_NUMBERS = (type(None), bool, int, float, complex, np.generic, np.dtype, np.ufunc)
_CODE = (FunctionType, ModuleType, Items, Rows)
_CONTAINERS = (list, set, frozenset, dict)


def is_data(value: object) -> bool:
    """Whether keeping the value keeps something alive that may be large, or that somebody waits for the end of.

    No code of the user's runs: no `__class__`, no `__len__`, nothing of a class of classes.
    """
    cls = type(value)
    if issubclass(cls, _NUMBERS) or issubclass(cls, _CODE) or value is ABSENT:
        return False
    if cls in (str, bytes):
        return len(cast("str | bytes", value)) > _LONG
    if cls is BuiltinFunctionType:
        return not issubclass(type(cast(BuiltinFunctionType, value).__self__), (ModuleType, type(None)))
    if cls is partial:
        made = cast("partial[Any]", value)
        return any(map(is_data, (made.func, *made.args, *made.keywords.values())))
    if issubclass(cls, tuple):
        return _length(value) > SMALL or any(map(is_data, _items(value)))
    if cls in _CONTAINERS:
        return len(cast("list[object]", value)) > SMALL
    return not (cls is type and _lives_anyway(cast(type, value)))


def _lives_anyway(cls: type) -> bool:
    """Whether a module has the class by its name: of a notebook's own another run of a cell makes another."""
    name, place = cls.__qualname__, cls.__dict__.get("__module__", "builtins")
    module = vars(sys.modules.get(place, sys)) if type(place) is str and place != "__main__" else {}
    return module.get(name) is cls


__all__ = ["is_data"]
