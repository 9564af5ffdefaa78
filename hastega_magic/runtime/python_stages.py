"""The less simple stages as CPython means them: each a function of an iterator and the stage's arguments.

Element stages give iterators, which take no more elements than they need; sinks give their value.
"""

from __future__ import annotations

import collections
import functools
import itertools
import operator
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from hastega_magic.ir.sinks import extreme, spread
from hastega_magic.runtime.python_calls import Noted, elements, over_tuples
from hastega_magic.runtime.python_elements import choosing, clipping, converting, substitute
from hastega_magic.runtime.special_methods import has

_MISSING: Any = object()
_AT_ONCE = 1 << 16


def drawn(values: Iterable[Any]) -> list[Any]:
    """All elements. Of an endless iterator Ctrl-C ends it, which `list` hears only when there is no memory left."""
    kept: list[Any] = []
    for part in _parts(values):
        kept += part
    return kept


def _parts(values: Iterable[Any]) -> Iterator[list[Any]]:
    given, full = iter(values), True
    while full:
        part = list(itertools.islice(given, _AT_ONCE))
        full = len(part) == _AT_ONCE  # an iterator that has ended is not asked again
        yield part


def dropped(values: Iterable[Any], count: int) -> Iterator[Any]:
    """The elements behind the first ones. Ctrl-C may end going past many, which `islice` alone does not hear."""
    given = iter(values)
    return itertools.islice(given, count, None) if count <= _AT_ONCE else _behind(given, count)


def _behind(given: Iterator[Any], count: int) -> Iterator[Any]:
    if _passed(given, count):
        yield from given


def _every(given: Iterator[Any], step: int) -> Iterator[Any]:
    """The first element and each that is so many behind; likewise."""
    for each in given:
        yield each
        if not _passed(given, step - 1):
            return


def _passed(given: Iterator[Any], count: int) -> bool:
    """Go past so many elements; whether there were as many."""
    for first in range(0, count, _AT_ONCE):
        part = min(_AT_ONCE, count - first)
        if next(itertools.islice(given, part - 1, part), _MISSING) is _MISSING:
            return False
    return True


def _astype(values: Iterator[Any], /, dtype: Any) -> Iterator[Any]:
    convert = converting(dtype)
    # A look at the first element alone: Python's own functions take the others in a loop of C.
    return (
        itertools.chain.from_iterable(_floats(values, convert))
        if convert in _FLOATS
        else map(convert, values)
    )


_FLOATS: tuple[Any, ...] = (float, complex)


def _floats(values: Iterator[Any], convert: Callable[[Any], Any]) -> Iterator[Iterator[Any]]:
    """The elements as Python's floats or complex numbers; dates and durations, which it refuses, as NumPy has them."""
    for first in values:
        if isinstance(first, (np.datetime64, np.timedelta64)):
            dates: Iterator[Any] = itertools.chain((cast(Any, first),), values)
            yield (convert(each.astype(np.int64)) for each in dates)
            return
        yield map(convert, (first,))
        yield map(convert, values)
        return


def _clip(values: Iterator[Any], /, lo: Any, hi: Any) -> Iterator[Any]:
    return map(clipping(lo, hi), values)


def _where(values: Iterator[Any], /, f: Any, other: Any) -> Iterator[Any]:
    if isinstance(f, Noted):
        return f.chosen(values, substitute(other))
    return map(choosing(f, other), values)


# Order


def _take_while(values: Iterator[Any], /, f: Any) -> Iterator[Any]:
    if isinstance(f, Noted):
        return f.taken_while(values)
    return itertools.takewhile(operator.truth if f is None else over_tuples(f), values)


def _drop_while(values: Iterator[Any], /, f: Any) -> Iterator[Any]:
    if isinstance(f, Noted):
        return f.dropped_while(values)
    return itertools.dropwhile(operator.truth if f is None else over_tuples(f), values)


def _reverse(values: Iterator[Any], /) -> Iterator[Any]:
    return reversed(drawn(values))


def _step(values: Iterator[Any], /, n: Any) -> Iterator[Any]:
    step = positive("step", n)
    return itertools.islice(values, None, None, step) if step <= _AT_ONCE else _every(values, step)


def _window(values: Iterator[Any], /, n: Any) -> Iterator[tuple[Any, ...]]:
    size = positive("window", n)

    def windows() -> Iterator[tuple[Any, ...]]:
        recent: collections.deque[Any] = collections.deque(maxlen=size)
        for value in values:
            recent.append(value)
            if len(recent) == size:
                yield tuple(recent)

    return windows()


def _chunk(values: Iterator[Any], /, n: Any) -> Iterator[tuple[Any, ...]]:
    size = positive("chunk", n)
    return iter(lambda: tuple(itertools.islice(values, size)), ())


def positive(name: str, count: Any) -> int:
    """The number of elements that a stage is given; ValueError below 1, TypeError for no integer."""
    return counted_from(1, name, count)


def counted_from(least: int, name: str, count: Any) -> int:
    """The same, from another number on."""
    try:
        number = operator.index(count)
    except TypeError:
        raise TypeError(f"{name} takes a whole number of elements, not {count!r}") from None
    if number < least:
        raise ValueError(f"{name} takes a number of elements from {least} on, not {number}")
    return min(number, sys.maxsize)


# Running values


def _scan(values: Iterator[Any], /, f: Callable[[Any, Any], Any], init: Any = _MISSING) -> Iterator[Any]:
    if isinstance(f, Noted):
        return f.scanned(values) if init is _MISSING else f.scanned(values, init)
    if init is _MISSING:
        return itertools.accumulate(values, f)
    # Not by `initial=`, for which None is none.
    return itertools.islice(itertools.accumulate(itertools.chain((init,), values), f), 1, None)


def _cumsum(values: Iterator[Any], /) -> Iterator[Any]:
    return itertools.islice(itertools.accumulate(values, operator.add, initial=0), 1, None)


# Sinks


def mean(values: Iterable[Any]) -> Any:
    """The sum (of ints: exact) divided by the number of elements; StatisticsError without elements."""
    counted = Counted(iter(values))
    total = sum(counted)
    if not counted.count:
        raise statistics.StatisticsError("mean requires at least one data point")
    return total / counted.count


class Counted:
    """An iterator that counts what it gave."""

    def __init__(self, values: Iterator[Any]) -> None:
        self._values, self.count = values, 0

    def __iter__(self) -> Counted:
        return self

    def __next__(self) -> Any:
        value = next(self._values)
        self.count += 1
        return value


def variance(values: Iterable[Any], /, ddof: Any = 0) -> Any:
    """The sum of squared deviations from the mean, divided by the number of elements less `ddof`.

    Two passes, as NumPy's: mean(x), then sum((x - mean) · (x - mean)). StatisticsError without elements, and where
    there are no more than `ddof`.
    """
    kept = drawn(values)
    deviate = deviation(mean(kept))
    return spread("var", sum(map(deviate, kept)), len(kept), ddof)


def standard_deviation(values: Iterable[Any], /, ddof: Any = 0) -> Any:
    """The square root of the variance."""
    kept = drawn(values)
    deviate = deviation(mean(kept))
    return spread("std", sum(map(deviate, kept)), len(kept), ddof)


def deviation(center: Any) -> Callable[[Any], Any]:
    """The squared distance from the center."""

    def squared(value: Any) -> Any:
        distance = value - center
        return distance * distance

    return squared


def _argmin(values: Iterator[Any], /) -> int:
    return extreme("argmin", values)


def _argmax(values: Iterator[Any], /) -> int:
    return extreme("argmax", values)


def _first(values: Iterator[Any], /, *, default: Any = _MISSING) -> Any:
    return at_end("first", next(values, _MISSING), default)


def _last(values: Iterator[Any], /, *, default: Any = _MISSING) -> Any:
    return at_end("last", functools.reduce(lambda _, value: value, values, _MISSING), default)


def at_end(name: str, found: Any = _MISSING, default: Any = _MISSING) -> Any:
    """What was found, or the default; ValueError where there is neither."""
    if found is not _MISSING:
        return found
    if default is _MISSING:
        raise ValueError(f"{name} of no elements")
    return default


def _dot(values: Iterator[Any], /, other: Any) -> Any:
    pairs = itertools.zip_longest(values, elements(other), fillvalue=_MISSING)
    total: Any = 0
    for number, (left, right) in enumerate(pairs):
        if left is _MISSING:
            raise ValueError(
                f"dot takes sequences of one length, and the other has more than {number} element{'s' * (number != 1)}"
            )
        if right is _MISSING:
            raise ValueError(
                f"dot takes sequences of one length, and the other has only {number} element{'s' * (number != 1)}"
            )
        total = total + left * right
    return total


def bincount(values: Iterable[Any], /, *, minlength: Any = 0) -> npt.NDArray[np.int64]:
    """How often each of 0, 1, ... occurs: int64, as long as the largest element asks for, or `minlength`.

    ValueError for a negative element, TypeError for one that is no integer.
    """
    if not has(minlength, "__index__"):
        raise TypeError(f"bincount takes a whole number as minlength, not {minlength!r}")
    length = operator.index(minlength)
    if length < 0:
        raise ValueError(f"bincount takes a minlength from 0 on, not {length}")
    given = cast(Any, values)
    if isinstance(given, np.ndarray) and cast("npt.NDArray[Any]", given).dtype.kind in "bi":
        array = cast("npt.NDArray[Any]", given).astype(np.int64, copy=False)
        if len(array) and array.min() < 0:
            raise ValueError(f"bincount counts numbers from 0 on, not {array.min()}")
        if max(length, int(array.max(initial=0)) + 1) <= sys.maxsize // 8:
            return np.bincount(array, minlength=length).astype(np.int64, copy=False)
    counts: collections.Counter[int] = collections.Counter()
    for part in _parts(map(operator.index, values)):
        counts.update(part)
    least, size = min(counts, default=0), max(max(counts, default=-1) + 1, length)
    if least < 0:
        raise ValueError(f"bincount counts numbers from 0 on, not {least}")
    if size > sys.maxsize // 8:
        raise MemoryError(f"bincount of an element of {size - 1} needs as many numbers")
    found = np.zeros(size, np.int64)
    for number, count in counts.items():
        found[number] = count
    return found


LAZY: Mapping[str, Callable[..., Iterator[Any]]] = {
    "astype": _astype, "clip": _clip, "where": _where, "take_while": _take_while, "drop_while": _drop_while,
    "reverse": _reverse, "step": _step, "window": _window, "chunk": _chunk, "scan": _scan, "cumsum": _cumsum,
}  # fmt: skip
SINKS: Mapping[str, Callable[..., Any]] = {
    "mean": mean, "var": variance, "std": standard_deviation, "argmin": _argmin, "argmax": _argmax, "first": _first,
    "last": _last, "dot": _dot, "bincount": bincount,
}  # fmt: skip
