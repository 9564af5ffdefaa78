"""Functions of one element, of which stages of CPython's are made: each a function of the stage's arguments."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np

from hastega_magic.runtime.python_calls import over_tuples
from hastega_magic.runtime.python_numbers import whole_number


def clipping(lo: Any, hi: Any) -> Callable[[Any], Any]:
    """The element, or the bound that it lies beyond; None is no bound, and NaN lies beyond none.

    Where `lo` is beyond `hi` it is `hi`, as of NumPy's.
    """

    def clip(value: Any) -> Any:
        result = value
        if lo is not None and value < (least := _alike(lo, value)):
            result = least
        if hi is not None and result > (most := _alike(hi, value)):
            return most
        return result

    return clip


def choosing(predicate: Any, other: Any) -> Callable[[Any], Any]:
    """The element where the predicate holds, else `other`: a value, or a function of the element."""
    holds = operator.truth if predicate is None else over_tuples(predicate)
    instead = substitute(other)

    def choose(value: Any) -> Any:
        return value if holds(value) else instead(value)

    return choose


def substitute(other: Any) -> Callable[[Any], Any]:
    """What stands in place of an element: a function of it, or a value."""
    return over_tuples(other) if callable(other) else lambda value: _alike(other, value)


def _alike(number: Any, value: Any) -> Any:
    """A number given beside elements, as one of their kind: an int becomes a float among floats, a bool stays one."""
    if type(number) is int and type(value) in (float, np.float64):
        return float(number)
    if type(value) is np.float32 and type(number) in (int, float):
        with np.errstate(over="ignore"):
            return np.float32(number)
    return number


def converting(dtype: Any) -> Callable[[Any], Any]:
    """The element as a dtype has it: a bool, int, float, complex or np.float32; of any other dtype NumPy's scalar.

    OverflowError for an integer that the dtype does not hold; TypeError for something that is no dtype.
    """
    try:
        found: np.dtype[Any] = np.dtype(dtype)
    except TypeError:
        raise TypeError(f"astype knows no type {dtype!r}") from None
    if found.kind in "iu":
        limits = np.iinfo(found)
        lowest, highest = int(limits.min), int(limits.max)

        def as_int(value: Any) -> int:
            number = whole_number(value)
            if not lowest <= number <= highest:
                raise OverflowError(f"Python integer {number} out of bounds for {found.name}")
            return number

        # A Python int has no bounds, and `int` asks for one.
        return whole_number if dtype is int else as_int
    if found == np.float32:
        return _as_float32
    plain: Mapping[Any, Callable[[Any], Any]] = {
        np.dtype(bool): bool, np.dtype(float): float, np.dtype(complex): complex,
        np.dtype(object): lambda value: value,
    }  # fmt: skip
    if found.kind in "SMmV":
        return lambda value: _scalar_of(value, found)
    return plain.get(found, cast("Callable[[Any], Any]", found.type))


def _scalar_of(value: Any, dtype: np.dtype[Any]) -> Any:
    """The value as an array of the dtype has it; the scalar's class alone knows no unit and no fields."""
    cell = np.empty((), object)
    cell[()] = value
    return cell.astype(dtype)[()]


_ROOMY = 2.0**127
"""Python's numbers up to here are float32 numbers; an `errstate` takes ten times as long as making one."""


def _as_float32(value: Any) -> Any:
    if (type(value) is float or type(value) is int) and -_ROOMY < value < _ROOMY:
        return np.float32(value)
    with np.errstate(over="ignore"):
        return np.float32(value)


def _numbering(start: int = 0) -> Callable[[Any], Any]:
    """A pair of a number from 0 on and an element, with the number that it has from the start on."""
    return lambda pair: (pair[0] + operator.index(start), pair[1])


ELEMENT_FUNCTIONS: Mapping[str, Callable[..., Callable[[Any], Any]]] = {
    "clip": clipping, "where": choosing, "astype": converting, "enumerate": _numbering,
}  # fmt: skip
"""What maps an element, by stage: functions of the stage's arguments."""


__all__ = ["ELEMENT_FUNCTIONS", "choosing", "clipping", "converting", "substitute"]
