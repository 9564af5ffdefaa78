"""Whether functions read something of NumPy's, whose numbers have rules of their own."""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType, ModuleType
from typing import Any, cast

import numpy as np

from hastega_magic.ir.items import Items
from hastega_magic.syntax.around import codes, contents


def numpy_read(functions: Sequence[object]) -> str:
    """What of NumPy's functions, or functions that they read, read: "" for nothing, "arrays", or "others" as well."""
    found = ""
    seen: set[int] = set()
    todo: list[Any] = list(functions)
    while todo:
        value = todo.pop()
        if isinstance(value, np.ndarray) or (isinstance(value, Items) and value.of_numpy):
            found = "arrays"
        if isinstance(value, (np.generic, np.ufunc)) or value is np.clip:
            return "others"
        if isinstance(value, ModuleType):
            if value.__name__.partition(".")[0] == "numpy":
                return "others"
            continue
        if isinstance(value, tuple):
            todo += cast("tuple[Any, ...]", value)
        if not isinstance(value, FunctionType) or id(value.__code__) in seen:
            continue
        seen.add(id(value.__code__))
        names = {name for code in codes(value.__code__) for name in code.co_names}
        todo += [value.__globals__.get(name) for name in names]
        todo += [contents(cell) for cell in value.__closure__ or ()]
        todo += [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
    return found


__all__ = ["numpy_read"]
