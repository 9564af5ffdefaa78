"""Python's numbers for NumPy's among the elements behind a stage, as for those of an array.

    range(3) |> map(_ + 2**62) |> sorted |> map(_ * 2)      `sorted` gets an array, and gives a list of numpy.int64

A pipeline's integers do not wrap around, wherever its stages have them from. Floats of 64 bits stay NumPy's beside
narrower ones, to which NumPy rounds Python's own:

    [2.5, True] |> map(np.sqrt) |> sum      float64 and float16, whose sum is a float64
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

NARROW = frozenset({np.float16, np.float32, np.complex64})
"""Types beside which NumPy's float64 and complex128 are not what Python's numbers are."""


def _parts(element: tuple[object, ...]) -> tuple[object, ...]:
    types = set(map(type, element))
    if MADE.keys().isdisjoint(types):
        return element
    return tuple(map(python_number if NARROW.isdisjoint(types) else counted, element))


def _counted_parts(element: tuple[object, ...]) -> tuple[object, ...]:
    return element if COUNTED.keys().isdisjoint(set(map(type, element))) else tuple(map(counted, element))


def _fields(element: Any) -> object:
    """The tuple that an element of a structured array is."""
    names = element.dtype.names
    return element if names is None else tuple(python_number(element[name]) for name in names)


COUNTED: dict[type, Callable[[Any], object]] = {
    np.bool: bool, tuple: _counted_parts, np.void: _fields, **{np.dtype(code).type: int for code in "bBhHiIlLqQ"},
}  # fmt: skip
"""What NumPy's ints and bools are, whatever stands beside them."""
MADE: dict[type, Callable[[Any], object]] = {
    **COUNTED, np.float64: float, np.complex128: complex, tuple: _parts,
}  # fmt: skip
"""What NumPy's scalars are among the elements of an array; float32 and complex64 have no Python type of their own."""


def python_number(element: object) -> object:
    """The element with Python's numbers for NumPy's, also those in a tuple."""
    type_ = type(element)
    return MADE[type_](element) if type_ in MADE else element


def counted(element: object) -> object:
    """The element with Python's ints and bools for NumPy's, also those in a tuple."""
    type_ = type(element)
    return COUNTED[type_](element) if type_ in COUNTED else element


def python_numbers(value: Any) -> Any:
    """A list or tuple with Python's numbers for NumPy's among its elements; other values as they are."""
    if type(value) is not list and type(value) is not tuple:
        return value
    elements = cast("list[object] | tuple[object, ...]", value)
    types = set(map(type, elements))
    if MADE.keys().isdisjoint(types):
        return elements
    if types == {np.float64}:
        return list(map(float, cast("list[float]", elements)))
    if tuple in types:
        for each in elements:
            types.update(map(type, cast("tuple[object, ...]", each) if type(each) is tuple else ()))
    return list(map(python_number if NARROW.isdisjoint(types) else counted, elements))


def whole_number(value: Any) -> int:
    """The value as an int; of a date or duration what NumPy counts in its unit, for which `int` has no meaning."""
    return int(value.astype(np.int64) if isinstance(value, _UNITS) else value)


_UNITS = (np.datetime64, np.timedelta64)


__all__ = ["COUNTED", "MADE", "counted", "python_number", "python_numbers", "whole_number"]
