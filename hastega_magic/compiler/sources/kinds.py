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
from hastega_magic.syntax.closures.arguments import held_by
from hastega_magic.syntax.closures.free_variables import Walk
from hastega_magic.syntax.closures.variables import Attribute, Cell, Name
from hastega_magic.syntax.loops.build import BoundStage

Variable = Name | Cell | Attribute

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
    return type(value) in (list, tuple) and bool(value) and issubclass(type(value[0]), np.generic)


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


def are_beside(
    value: object,
    stages: Sequence[BoundStage],
    variables: Sequence[Variable] | None = None,
    *,
    wholly: bool = True,
) -> bool:
    """Whether NumPy's scalars are among the elements, or what stages put beside them or read (`variables_read`).

    `wholly`: many items of what is read are looked at; else the first ones.
    """
    return any(map(holds_scalars, beside(value, stages))) or _reads_scalars(stages, variables, wholly)


def beside(value: object, stages: Sequence[BoundStage]) -> Iterator[object]:
    """The value, and what `zip` puts beside it."""
    yield value
    for each in stages:
        if each.callee is None and each.site.name == "zip":
            yield from each.args


_ALIKE, _OTHERS = 1 << 16, 1 << 12
"""Items that are looked at, of what functions read: of one type, which takes a nanosecond for each, and of several."""
_AGAIN, _INSIDE = 256, 8
"""Those in each turn of a loop, and containers among them."""


def _reads_scalars(stages: Sequence[BoundStage], variables: Sequence[Variable] | None, wholly: bool) -> bool:
    """Whether functions that Python runs read, from around them, lists and the like that hold such."""
    around = variables_read(stages) if variables is None else variables
    own = itertools.chain.from_iterable(map(held_by, _functions(stages)))
    read = itertools.chain((each.now() for each in around), own)
    return any(_has_scalars(each, wholly) for each in read)


def variables_read(stages: Sequence[BoundStage]) -> tuple[Variable, ...]:
    """The variables and attributes with containers that the functions read, but for those of each function alone."""
    walk = Walk(curious=True)
    for function in _functions(stages):
        walk.names(function)
        for value in held_by(function):
            walk.value(value, function.__code__)
    walk.attributes()
    found = (*walk.around, *(each for each in walk.made if isinstance(each, Attribute)))
    return tuple(each for each in found if _is_container(type(cast(object, each.value))))


def _functions(stages: Sequence[BoundStage]) -> Iterator[FunctionType]:
    for each in stages:
        for argument in (*each.args, *each.kwargs.values()):
            if isinstance(argument, FunctionType):
                yield argument


def _has_scalars(value: Any, wholly: bool, inside: bool = False) -> bool:
    """Whether they are among its items, or those of containers among these."""
    kind = type(cast(object, value))
    if not _is_container(kind):
        return False
    items = _items(value, wholly)
    types = set(map(type, items))
    if any(issubclass(each, np.generic) for each in types):
        return True
    if inside or not any(map(_is_container, types)):
        return False
    inner = (each for each in items if _is_container(type(each)))
    return any(
        _has_scalars(each, wholly, True) for each in itertools.islice(inner, None if wholly else _INSIDE)
    )


def _items(value: Any, wholly: bool) -> Sequence[object]:
    """Those that are looked at, without many of Python's numbers that a list begins with."""
    most = _OTHERS if wholly else _AGAIN
    if isinstance(value, np.ndarray):
        array = cast("np.ndarray[Any, Any]", value)
        return array.reshape(-1)[:most].tolist() if array.dtype == object else []
    if wholly and type(value) in (list, tuple) and len(value) >= lists.WORTH:
        same = lists.alike(value, most=_ALIKE)
        return value[same : same + most] if same < _ALIKE else []
    held = cast("Iterable[object]", value.values() if type(value) is dict else value)
    try:
        return [*itertools.islice(held, most)]
    except RuntimeError:  # another thread changes it
        return []


_CONTAINERS = (list, tuple, dict, set, frozenset, deque)


def _is_container(kind: type[object]) -> bool:
    return kind in _CONTAINERS or issubclass(kind, np.ndarray) or attributes.is_named_tuple(kind)


def _fit(values: Sequence[Any], ints: bool) -> bool:
    """Whether 64 bits hold all ints."""
    if ints:
        return min(values) >= -(1 << 63) and max(values) < 1 << 63
    return all(-(1 << 63) <= each < 1 << 63 for each in values if type(each) is int)


__all__ = [
    "FEW",
    "are_beside",
    "beside",
    "holds_scalars",
    "kind_of",
    "of_scalars",
    "variables_read",
]
