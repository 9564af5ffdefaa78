"""Which of the values that functions read are the user's to have freed: arrays, objects, large containers."""

from __future__ import annotations

import sys
from functools import partial
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, cast

import numpy as np

from hastega_magic.ir.items import Items
from hastega_magic.syntax.closures.around import SMALL
from hastega_magic.syntax.closures.attributes import ABSENT

_LONG = 4096
"""Characters, or bytes, beyond which a text is data."""


def is_data(value: object) -> bool:
    """Whether keeping the value keeps something alive that may be large, or that somebody waits for the end of."""
    match value:
        case None | bool() | int() | float() | complex() | np.generic() | np.dtype() | np.ufunc():
            return False
        case FunctionType() | ModuleType() | Items():
            return False
        case str() | bytes():
            return len(value) > _LONG
        case BuiltinFunctionType():
            return not isinstance(value.__self__, (ModuleType, type(None)))
        case partial():
            made = cast("partial[Any]", value)
            return any(map(is_data, (made.func, *made.args, *made.keywords.values())))
        case tuple():
            parts = cast("tuple[object, ...]", value)
            return len(parts) > SMALL or any(map(is_data, parts))
        case list() | set() | frozenset() | dict():
            return len(cast("list[object]", value)) > SMALL
        case type():
            return not _lives_anyway(value)
        case _:
            return value is not ABSENT


def _lives_anyway(cls: type) -> bool:
    """Whether a module has the class by its name: of a notebook's own another run of a cell makes another."""
    module = sys.modules.get(cls.__module__)
    return cls.__module__ != "__main__" and getattr(module, cls.__qualname__, None) is cls


__all__ = ["is_data"]
