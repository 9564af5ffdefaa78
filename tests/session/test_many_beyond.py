"""Many integers beyond 64 bits: Python computes all of them, with nothing but the functions, and as it says."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

from hastega_magic.compiler.python.elements import Elements
from hastega_magic.errors import IntegerOverflowWarning
from hastega_magic.session import Options, Session

N = 20_000
XS = np.arange(N) * 10**14

PLAIN = {
    "xs |> map(lambda x: x ** 2)": lambda xs: [x**2 for x in xs],
    "xs |> map(lambda x: x * x) |> filter(lambda y: y % 3 == 0) |> sum": lambda xs: sum(
        x * x for x in xs if x * x % 3 == 0
    ),
    "xs |> filter(lambda x: x % 7) |> map(lambda x: x * x - 1) |> max": lambda xs: max(
        x * x - 1 for x in xs if x % 7
    ),
    "xs |> map(lambda x: (x, x * 10**6)) |> map(lambda a, b: a + b) |> to_list": lambda xs: [
        x + x * 10**6 for x in xs
    ],
    "xs |> map(lambda x: (x, x * 10**6)) |> map(lambda t: t[1] - t[0]) |> sum": lambda xs: sum(
        x * 10**6 - x for x in xs
    ),
    "xs |> map(lambda x: x * x > 10**30) |> to_list": lambda xs: [x * x > 10**30 for x in xs],
    "xs |> window(2) |> map(lambda a, b: a * b) |> to_list": lambda xs: [
        a * b for a, b in itertools.pairwise(xs)
    ],
    "xs |> zip(ys) |> enumerate |> map(lambda i, t: i + t[0] * t[1]) |> window(3) |> map(lambda t: t[2] - t[0])"
    " |> filter(lambda d: d % 3 == 0) |> to_list": lambda xs: [
        d
        for a, _, c in windows([i + x * y for i, (x, y) in enumerate(zip(xs, reversed(xs), strict=True))], 3)
        if (d := c - a) % 3 == 0
    ],
    "xs |> map(lambda x: x * x) |> window(2) |> map(lambda a, b: a - b) |> window(2) |> map(lambda a, b: b - a)"
    " |> to_list": lambda xs: [(b * b - c * c) - (a * a - b * b) for a, b, c in windows(xs, 3)],
    "xs |> map(lambda x: x * x) |> chunk(3) |> map(sum) |> to_list": lambda xs: [
        sum(x * x for x in xs[first : first + 3]) for first in range(0, len(xs), 3)
    ],
    "xs |> window(100) |> map(sum) |> to_list": lambda xs: [
        sum(xs[first : first + 100]) for first in range(len(xs) - 99)
    ],
}
OTHERS = {
    "xs |> enumerate |> map(lambda i, x: i * x * 1000) |> sum": lambda xs: sum(
        i * x * 1000 for i, x in enumerate(xs)
    ),
    "xs |> zip(xs) |> map(lambda a, b: a * b) |> sum": lambda xs: sum(x * x for x in xs),
}


def windows(xs, size):
    return zip(*(xs[first:] for first in range(size)), strict=False)


def outcome(text, space, **options):
    session = Session(dict(space), Options(on="simd", baseline=False, quiet=True, **options))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        value = session.run_cell(text).value
    return value, [each for each in told if each.category is IntegerOverflowWarning]


@pytest.mark.parametrize("text", [*PLAIN, *OTHERS])
def test_values(monkeypatch, text):
    at, one_by_one = Elements.at, []
    monkeypatch.setattr(Elements, "at", lambda self, index: one_by_one.append(index) or at(self, index))
    found, told = outcome(text, {"xs": XS, "ys": XS[::-1]})
    expected = (PLAIN | OTHERS)[text](XS.tolist())
    assert (found.tolist() if isinstance(found, np.ndarray) else found) == expected
    assert len(told) <= 1  # sums and filters are computed in 128 bits where these hold them
    assert told or any(each in text for each in ("sum", "filter", ">"))
    if text in PLAIN and told:
        assert len(one_by_one) < N // 2


@pytest.mark.parametrize("bad", [15_000, N - 1])
def test_what_raises_is_named_once_and_first(bad):
    text = "xs |> map(lambda x: x * x) |> map(lambda y: 1 // (y - k)) |> to_list"
    with pytest.raises(ZeroDivisionError) as raised:
        outcome(text, {"xs": XS, "k": int(XS[bad]) ** 2})
    (note,) = (each for each in raised.value.__notes__ if "element" in each)
    assert f"element {bad} of xs" in note


def test_what_raises_within_a_window_is_named():
    text = "xs |> map(lambda x: x * x) |> window(2) |> map(lambda a, b: 1 // (b - k)) |> to_list"
    with pytest.raises(ZeroDivisionError) as raised:
        outcome(text, {"xs": XS, "k": int(XS[15_000]) ** 2})
    (note,) = (each for each in raised.value.__notes__ if "element" in each)
    assert "element 14999 of" in note


def test_checked_and_wrapped_as_ever():
    with pytest.raises(OverflowError, match="element"):
        outcome("xs |> map(lambda x: x * x) |> sum", {"xs": XS}, int_mode="checked")
    found, _ = outcome("xs |> map(lambda x: x * x)", {"xs": XS}, int_mode="wrap")
    assert np.array_equal(found, XS * XS)
