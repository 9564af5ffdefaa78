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
        if type(each) in OWN:
            return tuple(map(own, element))
    return element


def _fields(element: Any) -> object:
    """The tuple that an element of a structured array is."""
    return (
        element if element.dtype.names is None else tuple(own(element[name]) for name in element.dtype.names)
    )


OWN: dict[type, Callable[[Any], object]] = {
    np.bool: bool, np.float64: float, np.complex128: complex, tuple: _parts, np.void: _fields,
    **{np.dtype(code).type: int for code in "bBhHiIlLqQ"},
}  # fmt: skip
"""What NumPy's scalars are among the elements of an array; float32 and complex64 have no Python type of their own."""


def own(element: object) -> object:
    """The element with Python's numbers for NumPy's."""
    type_ = type(element)
    return OWN[type_](element) if type_ in OWN else element


def owned(value: object) -> object:
    """A list or tuple with Python's numbers for NumPy's among its elements; other values as they are."""
    if type(value) is not list and type(value) is not tuple:
        return value
    elements = cast("list[object] | tuple[object, ...]", value)
    return elements if OWN.keys().isdisjoint(set(map(type, elements))) else list(map(own, elements))


__all__ = ["OWN", "own", "owned"]
