"""Elements of several numbers, from those of their numbers: one array of complex numbers, or of tuples."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from itertools import islice
from typing import Any, cast

import numpy as np

from hastega_magic.ir.expr import Expr, Value, flatten, structure
from hastega_magic.runtime import results
from hastega_magic.runtime.sources import AnyArray
from hastega_magic.types import RESULT_STORAGE, ScalarType


def nested(value: Value, arrays: Iterator[AnyArray]) -> AnyArray:
    """One array of elements, from those of their numbers, which may lie in it already."""
    if isinstance(value, Expr):
        return next(arrays)
    numbers = list(islice(arrays, len(flatten(value))))
    records = results.in_one(numbers)
    if records is None:
        return _put_together(value, iter(numbers))
    return records.view(dtype_of(structure(value)))


@functools.lru_cache(64)
def dtype_of(element: object) -> np.dtype[Any]:
    """Of an array of elements of these types."""
    if isinstance(element, ScalarType):
        return np.dtype(RESULT_STORAGE[element].name)
    parts = cast("tuple[object, ...]", element)
    return results.assembled(parts, [np.empty(0, dtype_of(part)) for part in parts]).dtype


def _put_together(value: Value, arrays: Iterator[AnyArray]) -> AnyArray:
    if isinstance(value, Expr):
        return next(arrays)
    return results.assembled(value, [_put_together(part, arrays) for part in value])


__all__ = ["dtype_of", "nested"]
