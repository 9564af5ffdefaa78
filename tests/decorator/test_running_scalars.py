"""`for` statements over arrays that hand numbers on are loops, whose values are NumPy's scalars."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hastega_magic import hastega
from tests.decorator.outcomes import warned

WHOLE, HALVES = np.arange(300) % 40, np.arange(300) / 2


def added(xs: Any) -> Any:
    total = 0
    for x in xs:
        total += x
    return total


def smoothed(xs: Any, y: Any) -> Any:
    for x in xs:
        y = 0.1 * x + 0.9 * y
    return y


def largest(xs: Any) -> Any:
    best, at = xs[0], 0
    for i in range(len(xs)):
        if xs[i] > best:
            best, at = xs[i], i
    return best, at


def added_beyond(xs: Any, least: Any) -> Any:
    total = 0
    for x in xs:
        if x > least:
            total += x
    return total


def with_reduce(xs: Any) -> Any:
    return functools.reduce(lambda t, x: t + x * x, xs, np.float64(0.5))


def same(a: Any, b: Any) -> bool:
    if isinstance(b, tuple):
        return isinstance(a, tuple) and all(map(same, a, b))
    return type(a) is type(b) and repr(a) == repr(b)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (added, (WHOLE,)),
        (added, (HALVES,)),
        (smoothed, (HALVES, 0.0)),
        (smoothed, (HALVES, 0)),
        (smoothed, (HALVES, np.float64(2.5))),
        (smoothed, (WHOLE, 1.5)),
        (largest, (WHOLE,)),
        (largest, (HALVES[::-1],)),
        (added_beyond, (WHOLE, 7)),
        (added_beyond, (HALVES, 2.5)),
    ],
)
def test_they_are_loops(function: Callable[..., Any], arguments: Any, loops: list[str]) -> None:
    decorated = hastega(function)
    for _ in range(3):  # the later ones from what the first has left
        assert same(decorated(*arguments), function(*arguments))
    assert len(loops) == 3, str(decorated.explain())


@pytest.mark.parametrize("xs", [HALVES, WHOLE])
def test_reductions_are_loops(xs: Any) -> None:
    decorated = hastega(with_reduce)
    for _ in range(3):
        assert same(decorated(xs), with_reduce(xs))
        assert "1 fused loop" in str(decorated.explain())


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64", "float32"])
def test_of_other_types_they_are_pythons(dtype: str, loops: list[str]) -> None:
    decorated, xs = hastega(added), (WHOLE % 5 == 0).astype(dtype)
    for _ in range(3):
        assert same(decorated(xs), added(xs))
    assert not loops


def test_where_numpy_warns_it_does() -> None:
    decorated, huge = hastega(added), np.full(300, 2**61)
    decorated(WHOLE)
    for xs in (huge, np.full(300, 1.5e306)):
        with pytest.warns(RuntimeWarning, match="overflow encountered in scalar add") as told:
            found = decorated(xs)
        with pytest.warns(RuntimeWarning):
            assert same(found, added(xs))
        assert {each.filename for each in told} == {__file__}


def test_what_is_left_of_no_elements_is_what_it_began_with(loops: list[str]) -> None:
    decorated = hastega(added_beyond)
    assert same(decorated(WHOLE, 7), added_beyond(WHOLE, 7))
    assert same(decorated(WHOLE, 100), 0)
    signed = np.concatenate([WHOLE, -WHOLE])
    assert same(decorated(signed, -50), np.int64(0))
    assert same(decorated(WHOLE, 7), added_beyond(WHOLE, 7))
    assert len(loops) == 2  # where `0` comes of it nobody can tell whether it is of no elements


def test_nothing_is_warned_of_where_numpy_does_not() -> None:
    decorated = hastega(smoothed)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for xs in (np.full(300, np.inf), np.full(300, np.nan), HALVES):
            assert same(decorated(xs, 0.0), smoothed(xs, 0.0))


def test_it_begins_with_another_number_each_time(loops: list[str]) -> None:
    decorated = hastega(smoothed)
    begun: Any = 0.0
    for _ in range(12):
        assert same(decorated(HALVES, begun), smoothed(HALVES, begun))
        begun = decorated(HALVES, begun)
    for begun in (1, 2.5, np.float64(3), np.int64(3), np.float32(1), True):
        assert same(decorated(HALVES, begun), smoothed(HALVES, begun))
    assert len(loops) > 24


def of_rows(xs: Any) -> Any:
    out = []
    for row in xs.reshape(-1, 10):
        t = 0.0
        for x in row:
            t += x * x
        out.append(t)
    return out


def changes_of_sign(xs: Any) -> Any:
    before, n = xs[0], 0
    for x in xs:
        if (x > 0) != (before > 0):
            n += 1
        before = x
    return n, before


def compensated(xs: Any) -> Any:
    total = lost = 0.0
    for x in xs:
        y = x - lost
        t = total + y
        lost = (t - total) - y
        total = t
    return total, lost


def extremes(xs: Any) -> Any:
    low = high = xs[0]
    for x in xs:
        if x < low:
            low = x
        elif x > high:
            high = x
    return low, high


def variance(xs: Any) -> Any:
    n, mean, squares = 0, 0.0, 0.0
    for x in xs:
        n += 1
        d = x - mean
        mean += d / n
        squares += d * (x - mean)
    return mean, squares / (n - 1), n


def hashed(xs: Any) -> Any:
    h = 0
    for x in xs:
        h = (h * 31 + x) % 1000003
    return h


def divided(xs: Any) -> Any:
    q = 1.0
    for x in xs:
        q = q / x
    return q


ARRAYS = [
    WHOLE, HALVES, HALVES - 70, HALVES[::-1], np.zeros(300), -np.zeros(300), HALVES * 1e306, HALVES * np.nan,
    WHOLE * 2**57, WHOLE.astype(np.uint8), WHOLE.astype(np.float32), HALVES > 9, HALVES.astype(">f8"),
    HALVES + 1j, WHOLE[:0], HALVES[:10],
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "function", [of_rows, changes_of_sign, compensated, extremes, variance, hashed, divided]
)
def test_of_any_array_it_is_what_numpys_scalars_are(function: Callable[..., Any]) -> None:
    decorated = hastega(function)
    for xs in ARRAYS:
        for _ in range(2):
            assert warned(decorated, xs) == warned(function, xs), xs
