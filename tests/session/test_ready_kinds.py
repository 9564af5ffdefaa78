"""Sinks of functions that are called again: ready forms give what a first run gives, and what Python gives."""

from __future__ import annotations

import itertools
import math
import struct

import numpy as np
import pytest
from battery import some

from hastega_magic.compiler.fastpath.prepared import Prepared
from hastega_magic.compiler.fastpath.repeated import Repeated
from hastega_magic.runtime.cpu.direct import MOST
from hastega_magic.session import Options, Session

OPTIONS = Options(on="parallel", threads=2, baseline=False, quiet=True)
SIZES = 1, 20, 4097, 2 * MOST + 5

OF_ALL = {
    "mean": "xs |> mean",
    "mean of some": "xs |> filter(lambda x: x > 3) |> mean",
    "mean of squares": "xs |> map(lambda x: x * x) |> mean",
    "max": "xs |> max",
    "min": "xs |> min",
    "argmax": "xs |> argmax",
    "argmin": "xs |> argmin",
    "added": "xs |> reduce(lambda a, b: a + b)",
    "added to a start": "xs |> reduce(lambda a, b: a + b, 1000)",
    "product of some": "xs |> filter(lambda x: x > 90) |> map(lambda x: x / 95) |> prod",
    "product from a start": "xs |> filter(lambda x: x > 990) |> prod(start=-3)",
    "multiplied": "xs |> map(lambda x: 1 if x > 90 else -1) |> reduce(lambda a, b: a * b)",
    "multiplied by a start": "xs |> map(lambda x: 2 if x > 95 else 1) |> reduce(lambda a, b: a * b, 5)",
    "dot": "xs |> dot(ys)",
    "dot of itself": "xs |> dot(xs)",
    "dot of some": "xs |> map(lambda x: x - 1) |> dot(ys)",
}
OF_INTS = {
    "product": "xs |> map(lambda x: 1 - (x > 90) * 2) |> prod",
    "product of few": "xs |> take(9) |> map(lambda x: x * x + 7) |> prod",
    "cumsum": "xs |> cumsum",
    "cumsum of some": "xs |> filter(lambda x: x > 3) |> cumsum",
    "max of squares": "xs |> map(lambda x: x * x) |> max",
    "min of some": "xs |> filter(lambda x: x > 3) |> min",
    "greatest": "xs |> reduce(max)",
}
OF_FLOATS = {
    "greatest of products": "xs |> map(lambda x: x * 2.5) |> max",
    "least of some": "xs |> filter(lambda x: x > 0.5) |> min",
    "farthest": "xs |> zip(ys) |> map(lambda x, y: abs(x - y)) |> max",
    "numbered": "xs |> enumerate |> map(lambda i, x: i - x / 3) |> min",
}
MAKERS = {
    "ints": lambda n, r: r.integers(-1000, 1000, n),
    "bytes": lambda n, r: r.integers(-100, 100, n).astype(np.int8),
    "large": lambda n, r: r.integers(-(2**62), 2**62, n),
    "floats": lambda n, r: r.standard_normal(n) * 100,
    "float32": lambda n, r: (r.standard_normal(n) * 100).astype(np.float32),
    "range": lambda n, r: range(int(r.integers(0, 50)), int(r.integers(0, 50)) + 3 * n + 150, 3)[:n],
    "list": lambda n, r: r.integers(-1000, 1000, n).tolist(),
    "list of floats": lambda n, r: r.standard_normal(n).tolist(),
    "bools": lambda n, r: r.random(n) < 0.5,
}
CASES = [
    (name, maker)
    for maker in MAKERS
    for name in [*OF_ALL, *(OF_FLOATS if "float" in maker else [] if maker == "bools" else OF_INTS)]
    if (name, maker) != ("product of some", "large")  # whose quotients are all Python's: that takes long
]


def same(found, expected):
    if isinstance(expected, np.ndarray):
        assert isinstance(found, np.ndarray)
        assert found.dtype == expected.dtype
        assert found.tolist() == expected.tolist()
        return
    assert type(found) is type(expected)
    if isinstance(expected, float):
        assert struct.pack("d", found) == struct.pack("d", expected) or (
            found != found and expected != expected
        )
    else:
        assert found == expected


def outcome(call, *given):
    """What it gives, or the type of what it raises."""
    try:
        return call(*given)
    except Exception as error:
        return type(error)


def function(text):
    session = Session({}, OPTIONS)
    session.run_cell(f"def f(xs, ys): return {text}\n")
    return session.namespace["f"]


def first(text, xs, ys):
    """In a session that has not seen it."""
    session = Session({"xs": xs, "ys": ys}, OPTIONS)
    session.run_cell(f"r = {text}")
    return session.namespace["r"]


def check(text, pairs):
    repeated = function(text)
    for xs, ys in pairs:
        found, expected = outcome(repeated, xs, ys), outcome(first, text, xs, ys)
        if isinstance(expected, type):
            assert found is expected
        else:
            same(found, expected)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "maker"), some(CASES))
def test_it_is_what_a_first_run_gives(name, maker):
    text = {**OF_ALL, **OF_INTS, **OF_FLOATS}[name]
    rng = np.random.default_rng(7)
    for size in SIZES:
        make = MAKERS[maker]
        check(text, [(make(size, rng), make(size, rng)) for _ in range(4)])


NAN, INF = math.nan, math.inf
ODD = [
    [NAN, 1.0, 2.0], [1.0, NAN, 2.0], [NAN, NAN], [1.0, NAN], [-0.0, 0.0], [0.0, -0.0], [-1.0, -0.0, 0.0, -2.0],
    [1.0, 0.0, -0.0], [INF, NAN, -INF], [-INF, INF], [NAN, INF], [INF, INF], [-INF, NAN], [0.0], [-0.0], [NAN],
    [5e-324, -5e-324],
]  # fmt: skip


@pytest.mark.parametrize(
    ("stages", "sink", "kind", "copies"),
    some(
        itertools.product(
            ["", "map(lambda x: x * 1.0) |> ", "filter(lambda x: x != 77.5) |> "],
            ["max", "min", "argmax", "argmin", "mean"],
            [np.array, list],
            [1, 5000, MOST],
        ),
        4,
    ),
)
def test_odd_floats_are_as_in_python(stages, sink, kind, copies):
    """Also where whole blocks are NaN: each number is repeated, so that blocks end within such a run."""
    text = f"xs |> {stages}{sink}"
    repeated = function(text)
    for numbers in [[2.0, 1.0]] * 4 + ODD:
        values = [each for each in numbers for _ in range(copies)]
        found = repeated(kind(values), None)
        if sink == "mean":
            assert math.isclose(found, sum(numbers) / len(numbers)) or not math.isfinite(sum(numbers))
            same(found, first(text, kind(values), None))
            continue
        best = (min if sink.endswith("min") else max)(values)
        expected = (
            next(n for n, each in enumerate(values) if each is best or each == best)
            if "arg" in sink
            else best
        )
        same(found, expected)


@pytest.mark.parametrize("sink", ["max", "min", "mean", "reduce(lambda a, b: a + b)", "argmax"])
def test_nothing_is_complained_of_as_a_first_time(sink):
    for text in (f"xs |> {sink}", f"xs |> filter(lambda x: x > 100) |> {sink}"):
        repeated = function(text)
        for _ in range(5):
            repeated(np.arange(200), None)
        for nothing in (np.arange(50), np.arange(0)):
            if "filter" not in text and len(nothing):
                continue
            found = outcome(repeated, nothing, None)
            assert found is outcome(first, text, nothing, None)
            assert issubclass(found, Exception)


def test_a_dot_of_other_lengths_is_pythons():
    repeated = function("xs |> dot(ys)")
    for size in (20, 20, 20, 30):
        xs = np.arange(size)
        assert repeated(xs, xs + 1) == sum(x * (x + 1) for x in range(size))
    with pytest.raises(ValueError, match="one length"):
        repeated(np.arange(20), np.arange(21))
    with pytest.raises(ValueError, match="one length"):
        repeated(np.arange(21), np.arange(20))
    assert repeated(np.arange(3), np.arange(3)) == 5


@pytest.mark.parametrize("text", ["xs |> mean", "xs |> max", "xs |> argmax", "xs |> cumsum", "xs |> dot(ys)"])
@pytest.mark.parametrize("size", [100, 2 * MOST])
def test_they_are_ready(text, size, monkeypatch):
    """No loop is described anew once it ran twice."""
    repeated = function(text)
    xs, ys = np.arange(size), np.arange(size)
    for _ in range(3):
        repeated(xs, ys)
    monkeypatch.setattr(Prepared, "_launched", None)
    for _ in range(3):
        same(repeated(xs, ys), first(text, xs, ys))


@pytest.mark.parametrize("size", [100, 2 * MOST])
def test_what_a_form_cannot_tell_makes_no_other_form(size, monkeypatch):
    """Kernels do not tell zeros apart: the usual way does, from where the loop is compiled."""
    repeated = function("xs |> map(lambda x: x * 2.0) |> max")
    for _ in range(3):
        assert repeated(np.ones(size), None) == 2.0
    monkeypatch.setattr(Repeated, "_first", None)
    for _ in range(3):
        same(repeated(np.full(size, -0.0), None), -0.0)
        same(repeated(np.zeros(size), None), 0.0)
    assert repeated(np.ones(size), None) == 2.0


@pytest.mark.parametrize(
    ("sink", "other", "cut"),
    [("sum", 1.5, 4096), ("sum", True, 1 << 20), ("to_list", 1.5, 1 << 20), ("to_list", True, 4096)],
)
def test_types_that_change_within_a_long_list_are_seen(sink, other, cut):
    """Also where a stretch that is converted at once begins with the other type, and holds no more of the first."""
    count = (1 << 20) + 50_000
    for text_, make in (
        (f"xs |> map(lambda x: x * 2) |> {sink}", lambda x: x),
        (f"xs |> map(lambda x, _: x * 2) |> {sink}", lambda x: (x, 1)),
    ):
        repeated = function(text_)
        for number in (1, 3):
            repeated([make(number)] * count, None)
        found = repeated([make(1)] * cut + [make(other)] * (count - cut), None)
        expected = [2] * cut + [2 * other] * (count - cut)
        assert found == (expected if sink == "to_list" else sum(expected))
        if sink == "to_list":
            assert type(found[-1]) is type(expected[-1])


def test_a_form_for_each_of_numpys_usual_types(monkeypatch):
    firsts, first = [], Repeated._first
    monkeypatch.setattr(Repeated, "_first", lambda self, *given: firsts.append(self) or first(self, *given))
    arrays = [np.arange(50).astype(each) for each in ("i1", "i2", "i4", "i8", "u1", "u2", "f4", "f8")]
    space = {"arrays": arrays}
    cell = "t = [xs |> map(lambda x: x * 2) |> sum for _ in range(9) for xs in arrays]"
    Session(space, OPTIONS).run_cell(cell)
    assert space["t"] == [2450] * 72
    assert len(firsts) <= len(arrays)
