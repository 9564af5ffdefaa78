"""The stages as CPython means them, over the user's own functions: the baseline, and every barrier.

Stages are composed as iterators, so that elements pass one by one, as in a generator expression, and
exceptions come in Python's order. A value is materialised only for `tap` and for callables that are no
stage.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from hastega_magic.ops.convert import NUMPY_INTEGERS
from hastega_magic.runtime import python_stages
from hastega_magic.runtime.columnar import Pieces, is_columnar, numbers
from hastega_magic.runtime.objects import lists
from hastega_magic.runtime.python_calls import OF_MATH, Noted, elements, over_tuples, spreads
from hastega_magic.runtime.python_numbers import python_number, python_numbers
from hastega_magic.runtime.python_stages import mean

StageCall = tuple[str, Callable[..., Any] | None, Sequence[Any], Mapping[str, Any]]
"""Name, callee (None: the stage of that name), arguments, keyword arguments."""


def run(source: object, stages: Sequence[StageCall]) -> Any:
    """What Python computes for `source |> stage |> ...`.

    A chain that ends with an element stage gives an array (see `as_result`), a sink what it computes.
    Whatever the user's functions raise propagates.
    """
    value: Any = source
    lazy = gave = False
    for number, (name, callee, args, kwargs) in enumerate(stages):
        observes = callee is not None or name not in _KNOWN
        if lazy and observes:
            value = collected(value, stages[:number], source)
        elif gave and not observes and not isinstance(value, np.ndarray):
            whole = type(value) is list or type(value) is tuple
            value = python_numbers(value) if whole else map(python_number, elements(value))
        value = apply(name, value, args, kwargs, callee)
        lazy = not observes and name in _LAZY
        gave = gave if name == "tap" and callee is None else observes
    return collected(value, stages, source) if lazy else value


def collected(values: Iterable[Any], stages: Sequence[StageCall], source: object) -> npt.NDArray[Any]:
    """The elements that a chain of element stages over the source gives, as its result."""
    name, callee, args, kwargs = stages[-1]
    drawn = isinstance(values, np.ndarray)  # numbers of one type, which native code has put into an array
    found = cast("npt.NDArray[Any]", values) if drawn else as_result(list(values), source)
    return in_dtype(found, *args, **kwargs) if name == "astype" and callee is None else found


def in_dtype(values: npt.NDArray[Any], /, dtype: Any) -> npt.NDArray[Any]:
    """The result of an `astype`, whose elements the dtype holds, in that dtype; `int` is Python's own, of any size."""
    return values if dtype is int and len(values) else values.astype(np.dtype(dtype), copy=False)


def apply(
    stage_name: str,
    value: Any,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    callee: Callable[..., Any] | None = None,
) -> Any:
    """One stage: an iterator for element stages, the result for sinks, `tap` and other callables.

    A callee is called with the value as its first argument; Python's own collections, and what its library goes
    through, are given the elements of an array or a Series (`|> sorted` gives ints, `|> enumerate |> dict` has tuples,
    `|> math.prod` is exact). NameError for a name that is no stage.
    """
    named = kwargs or {}
    if callee is not None:
        return callee(_elementwise(value, callee) if _collects(callee) else value, *args, **named)
    if stage_name == "tap":
        return tap(value, *args, **named)
    if stage_name not in _KNOWN:
        raise NameError(f"name {stage_name!r} is not defined", name=stage_name)
    return _KNOWN[stage_name](elements(value), *args, **named)


_COLLECTING = frozenset(
    map(id, (
        list, tuple, set, frozenset, dict, sorted, reversed, iter, bytes, bytearray, Counter, OrderedDict, deque,
    ))
)  # fmt: skip
_LIBRARY = OF_MATH | {"itertools", "json", "statistics"}
"""Modules whose functions go through Python's numbers: of int64 a product wraps around, the mean of 1 and 2 is 1."""


def _collects(callee: Callable[..., Any]) -> bool:
    return id(callee) in _COLLECTING or getattr(callee, "__module__", None) in _LIBRARY


def _elementwise(value: Any, callee: Callable[..., Any]) -> Any:
    if isinstance(value, np.ndarray):
        array = cast("npt.NDArray[Any]", value)
        return list(elements(array)) if array.ndim == 1 else array
    if not is_columnar(value) or (callee in (dict, OrderedDict) and hasattr(value, "keys")):  # by its labels
        return value
    return list(elements(value))


def as_result(values: Sequence[Any], like: object = None) -> npt.NDArray[Any]:
    """The elements of a result as a one-dimensional array.

    bool gives bool; int gives int64, uint64 or, beyond both, object; float gives float64, np.float32
    float32, complex complex128 and np.complex64 complex64; tuples of one length give a structured array with
    fields f0, f1, ...; anything else, and mixtures, object. Without elements the dtype follows `like`, the
    source: its kind if it is an array or a range, otherwise float64.
    """
    if not values:
        return np.empty(0, _kind_of(like))
    if (read := _of_one_type(values)) is not None:
        return read
    first = set(map(type, values[:_FEW]))
    if not all(issubclass(type_, _NUMBERS) for type_ in first):  # whatever else there is
        return _objects(values)
    types = set(map(type, values))
    if types <= {bool, np.bool_}:
        return np.array(values, np.bool_)
    if types == {np.float32}:
        return np.array(values, np.float32)
    if types <= {float, np.float64}:
        return np.array(values, np.float64)
    if types <= {complex, np.complex128} or types == {np.complex64}:
        return np.array(values)
    if all(issubclass(type_, (int, *NUMPY_INTEGERS)) and type_ is not bool for type_ in types):
        return _integers(values)
    if types == {tuple} and len(set(map(len, values))) == 1 and values[0]:
        places = range(len(values[0]))
        return structured([as_result([value[place] for value in values]) for place in places])
    return _objects(values)


_FEW = 1024
_NUMBERS = (int, float, complex, np.generic, tuple)
"""Types of which it counts whether all elements have them."""


def _of_one_type(values: Sequence[Any]) -> npt.NDArray[Any] | None:
    """Many of Python's numbers as native code reads them; None where it does not, as for ints beyond int64."""
    first: object = values[0]
    type_ = type(first)
    if len(values) < lists.WORTH or type_ not in lists.DTYPES or type(values) not in (list, tuple):
        return None
    array = np.empty(len(values), lists.DTYPES[type_])
    return array if lists.read(values, type_, array) else None


def structured(columns: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Arrays of one length as the fields f0, f1, ... of one structured array."""
    fields = [(f"f{number}", column.dtype) for number, column in enumerate(columns)]
    result = np.empty(len(columns[0]), np.dtype(fields))
    for (name, _), column in zip(fields, columns, strict=True):
        result[name] = column
    return result


def _map(values: Iterator[Any], /, f: Callable[..., Any] | Noted) -> Iterator[Any]:
    if isinstance(f, Noted):
        return f.mapped(values, {})
    return map(over_tuples(f), values)


def _filter(values: Iterator[Any], /, f: Callable[..., Any] | Noted | None) -> Iterator[Any]:
    if isinstance(f, Noted):
        return f.filtered(values)
    return filter(None if f is None else over_tuples(f), values)


def _zip(values: Iterator[Any], /, *others: Any, strict: bool = False) -> Iterator[Any]:
    return zip(values, *(elements(other) for other in others), strict=strict)


def _enumerate(values: Iterator[Any], /, start: int = 0) -> Iterator[Any]:
    return enumerate(values, start)


def _take(values: Iterator[Any], /, n: int) -> Iterator[Any]:
    return itertools.islice(values, python_stages.counted_from(0, "take", n))


def _drop(values: Iterator[Any], /, n: int) -> Iterator[Any]:
    return python_stages.dropped(values, python_stages.counted_from(0, "drop", n))


_MISSING: Any = object()


def _reduce(values: Iterator[Any], /, f: Callable[[Any, Any], Any], *args: Any, init: Any = _MISSING) -> Any:
    return functools.reduce(f, values, *args, *(() if init is _MISSING else (init,)))


def _count(values: Iterator[Any], /) -> int:
    return sum(1 for _ in values)


def tap(value: Any, /, f: Callable[[Any], object]) -> Any:
    """The value, of which the function was given a look."""
    f(value)
    return value


_LAZY: Mapping[str, Callable[..., Iterator[Any]]] = {
    "map": _map, "filter": _filter, "zip": _zip, "enumerate": _enumerate, "take": _take, "drop": _drop,
    **python_stages.LAZY,
}  # fmt: skip
_KNOWN: Mapping[str, Callable[..., Any]] = {
    **_LAZY, "reduce": _reduce, "sum": sum, "prod": math.prod, "min": min, "max": max, "count": _count,
    "any": any, "all": all, "to_list": list, **python_stages.SINKS,
}  # fmt: skip


def _kind_of(like: object) -> npt.DTypeLike:
    if isinstance(like, range):
        return np.int64
    like = numbers(like)
    if not isinstance(like, (np.ndarray, Pieces)):
        return np.float64
    dtype: np.dtype[Any] = cast("npt.NDArray[Any]", like).dtype
    if dtype.kind in "iu":
        return np.int64
    return dtype.newbyteorder("=") if dtype.kind in "bfc" and dtype.itemsize in (1, 4, 8, 16) else np.float64


def _integers(values: Sequence[Any]) -> npt.NDArray[Any]:
    for dtype in (np.int64, np.uint64):
        try:
            return np.array(values, dtype)
        except OverflowError:
            continue
    return _objects(values)


def _objects(values: Sequence[Any]) -> npt.NDArray[Any]:
    return np.fromiter(values, object, len(values))  # element by element: sequences are elements, not rows


__all__ = [
    "StageCall", "apply", "as_result", "collected", "elements", "in_dtype", "mean", "run", "spreads", "structured",
]  # fmt: skip
