"""What a few elements are, as far as it decides whether stages over them are a loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

FEW = 4096
"""More elements are worth the way of every statement, which may find a loop for what Python ran over others."""


def kind_of(value: Any) -> object:
    """The type of an array's elements, the types in a list; None where there are none, more than a few, or any others.

    Of ints, those that 64 bits hold. Objects of other types may do as they like when they are looked at.
    """
    if type(value) is np.ndarray:
        if value.ndim != 1 or not 0 < len(value) <= FEW or value.dtype == np.uint64:
            return None
        return value.dtype if value.dtype != object else kind_of(value.tolist())
    if type(value) not in (list, tuple, range, bytes, bytearray) or not 0 < len(value) <= FEW:
        return None
    types = frozenset(map(type, value))
    return types if int not in types or _fit(value, len(types) == 1) else None


def of_scalars(value: Any) -> bool:
    """Whether it is a list of NumPy's scalars, which calculate otherwise than Python's numbers."""
    return type(value) in (list, tuple) and bool(value) and isinstance(value[0], np.generic)


def _fit(values: Sequence[Any], ints: bool) -> bool:
    """Whether 64 bits hold all ints."""
    if ints:
        return min(values) >= -(1 << 63) and max(values) < 1 << 63
    return all(-(1 << 63) <= each < 1 << 63 for each in values if type(each) is int)


__all__ = ["FEW", "kind_of", "of_scalars"]
