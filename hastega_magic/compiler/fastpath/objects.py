"""Results of loops over NumPy's scalars as Python code has them: lists of objects, or one."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from hastega_magic.frames import reraise_signal
from hastega_magic.runtime.objects.boxes import listed
from hastega_magic.syntax.ordinary.numpys_rules import is_numpy

if TYPE_CHECKING:
    from hastega_magic.syntax.ordinary.scalars import Scalars


class NotExact(Exception):
    """The result would differ from Python's, in value or type."""


def objects(value: Any, scalars: Scalars | None) -> Any:
    """The result of a loop over NumPy's scalars as Python code has it: a list of objects, or one.

    NotExact where the loop's value does not tell. None: no such take part.
    """
    if scalars is None:
        return value
    if isinstance(value, np.ndarray):
        return listed_as(cast("np.ndarray[Any, Any]", value), scalars.kinds)
    kind: Any = scalars.kinds
    if scalars.begun and scalars.filtered and _is_same(value, scalars.begun[0]):
        raise NotExact("the value is what it began with, perhaps of no elements, where it is Python's")
    if not is_numpy(kind):
        return _of_kinds(value, kind)
    if np.dtype(kind).kind == "f":
        if type(value) is int:
            return value  # the sum of none
        if scalars.summed and not np.isfinite(value):
            raise NotExact("the sum is not finite, of which NumPy warns")
    elif scalars.summed and value == 0 and scalars.filtered:
        raise NotExact("the sum is 0, perhaps of no elements, where it is Python's")
    return kind(value)


def are_objects(_: object) -> bool:
    """Whether the like of it is objects that Python code may have noticed: all of what such loops give."""
    return True


def _is_same(value: Any, begun: Any) -> bool:
    """Whether numbers, or those of tuples, are equal, or NaN."""
    if isinstance(begun, tuple):
        return all(map(_is_same, value, cast("tuple[object, ...]", begun)))
    return value == begun or (value != value and begun != begun)


def _of_kinds(value: Any, kinds: Any) -> Any:
    """A number of this kind, or a tuple of such."""
    if isinstance(kinds, tuple):
        return tuple(map(_of_kinds, value, cast("tuple[Any, ...]", kinds)))
    return kinds(value) if is_numpy(kinds) else value


def holds_nan_keys(made: object) -> bool:
    """Whether it is a set or a dict with NaN among its items or keys, or in tuples that are such."""
    return isinstance(made, (set, frozenset, dict)) and holds_nan(cast("Collection[object]", made))


def holds_nan(values: Collection[object]) -> bool:
    """Whether NaN is among the values, or in tuples that are such."""
    numbers: list[Any] = cast("list[Any]", values) if type(values) is list else [*values]
    while numbers and type(numbers[0]) is tuple:
        if any(type(each) is not tuple for each in numbers):
            return any(
                holds_nan(cast("tuple[object, ...]", each)) if type(each) is tuple else each != each
                for each in numbers
            )
        numbers = [*itertools.chain.from_iterable(numbers)]
    try:
        with np.errstate(all="ignore"):  # NumPy's narrow scalars may overflow
            total = sum(numbers)  # in a tenth of the time; that of inf and -inf is NaN, too
    except (TypeError, OverflowError) as error:
        reraise_signal(error)
        total = math.nan
    return total != total and any(map(operator.ne, numbers, numbers))


def listed_as(array: np.ndarray[Any, Any], kinds: Any) -> list[Any]:
    """The elements as objects of these kinds (None: Python's own); fields of a structured array as tuples."""
    if isinstance(kinds, tuple):
        pairs = zip(array.dtype.names or (), cast("tuple[Any, ...]", kinds), strict=True)
        return list(zip(*(listed_as(array[name], kind) for name, kind in pairs), strict=True))
    if is_numpy(kinds):
        return listed(np.ascontiguousarray(array, dtype=np.dtype(kinds)), scalars=True)
    plain = kinds is not None or not (array.dtype.hasobject or array.dtype.names)
    return listed(np.ascontiguousarray(array)) if plain else array.tolist()


__all__ = ["NotExact", "are_objects", "holds_nan", "holds_nan_keys", "listed_as", "objects"]
