"""The stages as CPython means them, over the user's own functions: the baseline, and every barrier.

Stages are composed as iterators, so that elements pass one by one, as in a generator expression, and
exceptions come in Python's order. A value is materialised only for `tap` and for callables that are no
stage.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import BuiltinFunctionType, FunctionType
from typing import Any, cast

import numpy as np
import numpy.typing as npt

StageCall = tuple[str, Callable[..., Any] | None, Sequence[Any], Mapping[str, Any]]
"""Name, callee (None: the stage of that name), arguments, keyword arguments."""

_CHUNK = 4096
"""Elements of an array that become Python objects at a time."""


def run(source: object, stages: Sequence[StageCall]) -> Any:
    """What Python computes for `source |> stage |> ...`.

    A chain that ends with an element stage gives an array (see `as_result`), a sink what it computes.
    Whatever the user's functions raise propagates.
    """
    value: Any = source
    lazy = False
    for name, callee, args, kwargs in stages:
        observes = callee is not None or name not in _KNOWN
        if lazy and observes:
            value = as_result(list(value), source)
        value = apply(name, value, args, kwargs, callee)
        lazy = not observes and name in _LAZY
    return as_result(list(value), source) if lazy else value


def apply(
    stage_name: str,
    value: Any,
    args: Sequence[Any] = (),
    kwargs: Mapping[str, Any] | None = None,
    callee: Callable[..., Any] | None = None,
) -> Any:
    """One stage: an iterator for element stages, the result for sinks, `tap` and other callables.

    A callee is called with the value as its first argument. NameError for a name that is no stage.
    """
    named = kwargs or {}
    if callee is not None:
        return callee(value, *args, **named)
    if stage_name == "tap":
        return _tap(value, *args, **named)
    if stage_name not in _KNOWN:
        raise NameError(f"name {stage_name!r} is not defined", name=stage_name)
    return _KNOWN[stage_name](elements(value), *args, **named)


def elements(source: Any) -> Iterator[Any]:
    """The source's elements as Python scalars.

    Arrays of bools, integers and float64 (any stride and byte order) give bool, int and float; float32
    arrays give np.float32; structured arrays give tuples. Anything else is iterated as Python does;
    TypeError where it cannot be.
    """
    if not isinstance(source, np.ndarray):
        return iter(source)
    array = cast("npt.NDArray[Any]", source)
    if array.ndim == 1 and array.dtype.names:
        return zip(*(elements(array[name]) for name in array.dtype.names), strict=True)
    if array.ndim == 1 and (array.dtype.kind in "biu" or array.dtype.str[1:] == "f8"):
        chunks = (array[start : start + _CHUNK].tolist() for start in range(0, len(array), _CHUNK))
        return itertools.chain.from_iterable(chunks)
    return iter(array)


def as_result(values: Sequence[Any], like: object = None) -> npt.NDArray[Any]:
    """The elements of a result as a one-dimensional array.

    bool gives bool; int gives int64, uint64 or, beyond both, object; float gives float64, np.float32
    float32; tuples of one length give a structured array with fields f0, f1, ...; anything else, and
    mixtures, object. Without elements the dtype follows `like`, the source: its kind if it is an array or a
    range, otherwise float64.
    """
    if not values:
        return np.empty(0, _kind_of(like))
    types = set(map(type, values))
    if types <= {bool, np.bool_}:
        return np.array(values, np.bool_)
    if types == {np.float32}:
        return np.array(values, np.float32)
    if types <= {float, np.float64}:
        return np.array(values, np.float64)
    if all(issubclass(type_, (int, np.integer)) and type_ is not bool for type_ in types):
        return _integers(values)
    if types == {tuple} and len({len(value) for value in values}) == 1 and values[0]:
        return structured([as_result(column) for column in zip(*values, strict=True)])
    return _objects(values)


def structured(columns: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Arrays of one length as the fields f0, f1, ... of one structured array."""
    fields = [(f"f{number}", column.dtype) for number, column in enumerate(columns)]
    result = np.empty(len(columns[0]), np.dtype(fields))
    for (name, _), column in zip(fields, columns, strict=True):
        result[name] = column
    return result


def mean(values: Iterable[Any]) -> Any:
    """The sum (of ints: exact) divided by the number of elements; StatisticsError without elements."""
    counted = _Counted(values)
    total = sum(counted)
    if not counted.count:
        raise statistics.StatisticsError("mean requires at least one data point")
    return total / counted.count


def spreads(function: Any, size: int) -> bool:
    """Whether a function over tuples of `size` elements takes that many arguments, not one tuple."""
    if size < 2:
        return False
    if isinstance(function, np.ufunc):
        return function.nin == size
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some builtins have no signature; min and max take both forms alike
        return False
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    positional = [each for each in parameters if each.kind in kinds]
    required = sum(each.default is inspect.Parameter.empty for each in positional)
    if any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in parameters):
        counts_all = isinstance(function, BuiltinFunctionType) and function.__module__ == "math"  # gcd, hypot
        return required == size or (required == 0 and counts_all)
    return 1 < required <= size <= len(positional)


class _Counted:
    """An iterator that counts what it gave."""

    def __init__(self, values: Iterable[Any]) -> None:
        self._values = iter(values)
        self.count = 0

    def __iter__(self) -> _Counted:
        return self

    def __next__(self) -> Any:
        value = next(self._values)
        self.count += 1
        return value


class _OverTuples:
    """A function that is given tuples whole or spread, as its signature asks; decided once per length."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._spreads: dict[int, bool] = {}

    def __call__(self, value: Any) -> Any:
        if type(value) is not tuple:
            return self._function(value)
        members = cast("tuple[Any, ...]", value)
        spread = self._spreads.get(len(members))
        if spread is None:
            spread = self._spreads[len(members)] = spreads(self._function, len(members))
        return self._function(*members) if spread else self._function(members)


def _over_tuples(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself where it cannot take a tuple's members: a baseline is not to pay for a check."""
    if isinstance(function, FunctionType):
        code = function.__code__
        if code.co_argcount <= 1 and not code.co_flags & inspect.CO_VARARGS:
            return function
    return _OverTuples(function)


def _map(values: Iterator[Any], function: Callable[..., Any], /) -> Iterator[Any]:
    return map(_over_tuples(function), values)


def _filter(values: Iterator[Any], predicate: Callable[..., Any] | None, /) -> Iterator[Any]:
    return filter(None if predicate is None else _over_tuples(predicate), values)


def _zip(values: Iterator[Any], /, *others: Any, strict: bool = False) -> Iterator[Any]:
    return zip(values, *(elements(other) for other in others), strict=strict)


def _enumerate(values: Iterator[Any], /, start: int = 0) -> Iterator[Any]:
    return enumerate(values, start)


def _take(values: Iterator[Any], n: int, /) -> Iterator[Any]:
    return itertools.islice(values, n)


def _drop(values: Iterator[Any], n: int, /) -> Iterator[Any]:
    return itertools.islice(values, n, None)


def _reduce(values: Iterator[Any], function: Callable[[Any, Any], Any], /, *init: Any) -> Any:
    return functools.reduce(function, values, *init)


def _count(values: Iterator[Any], /) -> int:
    return sum(1 for _ in values)


def _tap(value: Any, function: Callable[[Any], object], /) -> Any:
    function(value)
    return value


_LAZY: Mapping[str, Callable[..., Iterator[Any]]] = {
    "map": _map, "filter": _filter, "zip": _zip, "enumerate": _enumerate, "take": _take, "drop": _drop,
}  # fmt: skip
_KNOWN: Mapping[str, Callable[..., Any]] = {
    **_LAZY, "reduce": _reduce, "sum": sum, "prod": math.prod, "min": min, "max": max, "count": _count,
    "mean": mean, "any": any, "all": all, "to_list": list,
}  # fmt: skip


def _kind_of(like: object) -> npt.DTypeLike:
    if isinstance(like, range):
        return np.int64
    if not isinstance(like, np.ndarray):
        return np.float64
    dtype: np.dtype[Any] = cast("npt.NDArray[Any]", like).dtype
    if dtype.kind in "iu":
        return np.int64
    return dtype.newbyteorder("=") if dtype.kind in "bf" and dtype.itemsize in (1, 4, 8) else np.float64


def _integers(values: Sequence[Any]) -> npt.NDArray[Any]:
    for dtype in (np.int64, np.uint64):
        try:
            return np.array(values, dtype)
        except OverflowError:
            continue
    return _objects(values)


def _objects(values: Sequence[Any]) -> npt.NDArray[Any]:
    result = np.empty(len(values), object)
    for number, value in enumerate(values):  # element by element: sequences are elements, not rows
        result[number] = value
    return result
