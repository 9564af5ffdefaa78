"""Arrays that Python's own functions go through number by number, making an object of each."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from hastega_magic.types import STORAGES

MANY = 4096
"""Python goes through fewer numbers of an array in a quarter of a millisecond."""

_NUMBERS = frozenset(np.dtype(name).type for name in STORAGES if np.dtype(name).kind in "biuf")
"""Types of elements. Their names would be put together anew for each array."""


def boxed(operand: Any) -> bool:
    """Whether it is an array of so many numbers that making an object of each, as Python does, takes a while."""
    return is_array(operand) and len(operand) >= MANY


def is_array(operand: object) -> bool:
    """Whether it is an array of NumPy's numbers, whose scalars have rules that are known here."""
    if type(operand) is not np.ndarray:
        return False
    array = cast("np.ndarray[Any, Any]", operand)
    return array.ndim == 1 and array.dtype.type in _NUMBERS


__all__ = ["MANY", "boxed", "is_array"]
