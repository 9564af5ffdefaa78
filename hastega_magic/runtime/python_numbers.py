"""Python's numbers for NumPy's among the elements behind a stage, as for those of an array.

    range(3) |> map(_ + 2**62) |> sorted |> map(_ * 2)      `sorted` gets an array, and gives a list of numpy.int64

A pipeline's integers do not wrap around, wherever its stages have them from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np


def _parts(element: tuple[object, ...]) -> tuple[object, ...]:
    for each in element:
        if type(each) in MADE:
            return tuple(map(python_number, element))
    return element


def _fields(element: Any) -> object:
    """The tuple that an element of a structured array is."""
    names = element.dtype.names
    return element if names is None else tuple(python_number(element[name]) for name in names)


MADE: dict[type, Callable[[Any], object]] = {
    np.bool: bool, np.float64: float, np.complex128: complex, tuple: _parts, np.void: _fields,
    **{np.dtype(code).type: int for code in "bBhHiIlLqQ"},
}  # fmt: skip
"""What NumPy's scalars are among the elements of an array; float32 and complex64 have no Python type of their own."""


def python_number(element: object) -> object:
    """The element with Python's numbers for NumPy's, also those in a tuple."""
    type_ = type(element)
    return MADE[type_](element) if type_ in MADE else element


def python_numbers(value: Any) -> Any:
    """A list or tuple with Python's numbers for NumPy's among its elements; other values as they are."""
    if type(value) is not list and type(value) is not tuple:
        return value
    elements = cast("list[object] | tuple[object, ...]", value)
    if MADE.keys().isdisjoint(set(map(type, elements))):
        return elements
    return list(map(python_number, elements))


__all__ = ["MADE", "python_number", "python_numbers"]
