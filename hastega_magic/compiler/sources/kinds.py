"""What a few elements are, as far as it decides whether stages over them are a loop."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from types import FunctionType
from typing import Any, cast

import numpy as np

from hastega_magic.runtime.objects import lists
from hastega_magic.runtime.python_calls import hides_elements
from hastega_magic.syntax.closures import attributes
from hastega_magic.syntax.closures.around import Walk
from hastega_magic.syntax.joining.build import BoundStage

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


def holds_scalars(value: Any) -> bool:
    """Whether NumPy's scalars are among its elements, or in tuples of them; such come of masked arrays, too."""
    elements: Any = value
    if isinstance(value, np.ndarray):
        array = cast("np.ndarray[Any, Any]", value)
        if type(array) is not np.ndarray:
            return hides_elements(array)
        elements = array.tolist() if array.ndim == 1 and array.dtype == object else None
    if type(elements) not in (list, tuple) or not elements:
        return False
    listed = cast("Sequence[object]", elements)
    if len(listed) >= lists.WORTH and lists.read(listed, type(listed[0]), None):
        return False
    types = set(map(type, listed))
    if tuple in types:
        parts = (cast("tuple[object, ...]", each) for each in listed if type(each) is tuple)
        types.update(map(type, itertools.chain.from_iterable(parts)))
    return any(issubclass(each, np.generic) for each in types)


def are_beside(value: object, stages: Sequence[BoundStage]) -> bool:
    """Whether NumPy's scalars are among the elements, or what stages put beside them or read."""
    return any(map(holds_scalars, beside(value, stages))) or reads_scalars(stages)


def beside(value: object, stages: Sequence[BoundStage]) -> Iterator[object]:
    """The value, and what `zip` puts beside it."""
    yield value
    for each in stages:
        if each.callee is None and each.site.name == "zip":
            yield from each.args


_LOOKED_AT = 64
"""Items of what functions read that are looked at, of each: a barrier is no reason to go through all."""


def reads_scalars(stages: Sequence[BoundStage]) -> bool:
    """Whether functions that Python runs read, from around them, lists and the like whose first items are such."""
    walk, defaults = Walk(curious=True), list[object]()
    for each in stages:
        for argument in (*each.args, *each.kwargs.values()):
            if isinstance(argument, FunctionType):
                walk.value(argument, None)
                defaults += argument.__defaults__ or ()
    return any(map(_begins_with_scalars, (*(each.value for each in walk.around), *defaults)))


def _begins_with_scalars(value: Any, inside: bool = False) -> bool:
    if isinstance(value, np.ndarray):
        array = cast("np.ndarray[Any, Any]", value)
        return array.dtype == object and _begins_with_scalars(array.reshape(-1)[:_LOOKED_AT].tolist())
    if type(value) not in _CONTAINERS and not attributes.is_named_tuple(cast(object, type(value))):
        return False
    try:
        items = [
            *itertools.islice(
                cast("Iterable[object]", value.values() if type(value) is dict else value), _LOOKED_AT
            )
        ]
    except RuntimeError:  # another thread changes it
        return False
    return any(issubclass(each, np.generic) for each in set(map(type, items))) or (
        not inside and any(_begins_with_scalars(each, inside=True) for each in items)
    )


_CONTAINERS = (list, tuple, dict, set, frozenset, deque)


def _fit(values: Sequence[Any], ints: bool) -> bool:
    """Whether 64 bits hold all ints."""
    if ints:
        return min(values) >= -(1 << 63) and max(values) < 1 << 63
    return all(-(1 << 63) <= each < 1 << 63 for each in values if type(each) is int)


__all__ = ["FEW", "are_beside", "beside", "holds_scalars", "kind_of", "of_scalars", "reads_scalars"]
