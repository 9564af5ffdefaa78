"""What functions read of NumPy, whose numbers have types, and whose functions have rules, of their own."""

from __future__ import annotations

from collections.abc import Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any, cast

import numpy as np

from hastega_magic.ir.items import Items
from hastega_magic.ir.rows import taken_apart
from hastega_magic.syntax.closures.attributes import has_plain, is_disguised
from hastega_magic.syntax.closures.free_variables import SMALL, Unclear, Walk

_PACKAGE = __name__.partition(".")[0]
_MOST = 512
"""Objects with attributes that are looked at; of more it is taken that NumPy's numbers are among them."""


def numpy_read(functions: Sequence[object]) -> str:
    """What of NumPy's functions, or functions that they read, read: "" for nothing, "arrays", or "others" as well."""
    walk = _walked(functions)
    return "others" if walk.numbers or walk.library else "arrays" if walk.arrays else ""


def reads_numbers(function: object) -> bool:
    """Whether a function may come by numbers of NumPy's that are no elements of arrays: captured, or made."""
    return _walked([function]).numbers


class _Reading(Walk):
    """Goes past what is unclear, and into what holds numbers that may become constants of the code."""

    def __init__(self) -> None:
        super().__init__(curious=True)
        self.numbers = False
        self.library = False
        """Whether a module of NumPy's is read, or one of which nothing is known."""
        self._inside: set[int] = set()
        self._objects = 0

    def value(self, value: Any, code: CodeType | None) -> None:
        """Something that code reads."""
        if is_disguised(value):
            return
        apart = taken_apart(value)
        value = value if apart is None else apart[0]
        if _is_own(value):
            return
        self._objects += has_plain(value)
        if self._objects > _MOST:
            raise Unclear
        if isinstance(value, (np.generic, np.ufunc)) or value is np.clip or _is_type_of_numbers(value):
            self.numbers = True
        elif isinstance(value, Items):
            self.arrays = self.arrays or value.of_numpy
        elif isinstance(value, ModuleType):
            self.library = self.library or code is None or value.__name__.partition(".")[0] == "numpy"
        elif type(value) in (list, set, frozenset, dict):
            self._container(value)
        super().value(value, code)

    def _container(self, value: Any) -> None:
        if len(value) > SMALL or id(value) in self._inside:
            return
        self._inside.add(id(value))
        for part in (*value, *(cast("dict[Any, Any]", value).values() if isinstance(value, dict) else ())):
            self.value(part, None)


def _is_type_of_numbers(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, np.generic)


def _is_own(value: object) -> bool:
    """Whether it is what pipelines inside functions have become: calls of this package."""
    name = value.__globals__.get("__name__") if isinstance(value, FunctionType) else ""
    return isinstance(name, str) and name.partition(".")[0] == _PACKAGE


def _walked(functions: Sequence[object]) -> _Reading:
    walk = _Reading()
    try:
        for each in functions:
            walk.value(each, None)
        walk.attributes()
    except Unclear:
        walk.numbers = True
    return walk


__all__ = ["numpy_read", "reads_numbers"]
