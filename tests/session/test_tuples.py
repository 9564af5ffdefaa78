"""Lists of tuples and structured arrays: read field by field, and what comes of them is what Python says."""

from __future__ import annotations

import functools
import itertools
import warnings
from typing import NamedTuple

import numpy as np
import pytest

from hastega_magic import hastega
from hastega_magic.compiler.fastpath.repeated import Repeated
from hastega_magic.errors import StrictError
from hastega_magic.runtime.cpu.direct import MOST
from hastega_magic.runtime.objects import fields
from hastega_magic.runtime.objects.lists import WORTH
from hastega_magic.runtime.sources import Column
from hastega_magic.session import Options, Session


class Place(NamedTuple):
    x: int
    y: int


SIZES = 1, 7, WORTH - 1, WORTH, 5000, MOST + 3

PIPELINES = {
    "products": ("map(lambda a, b, c: a * b) |> sum", lambda ps: sum(a * b for a, b, _ in ps)),
    "chosen": (
        "map(lambda a, b, c: a if c else a - 1) |> max",
        lambda ps: max(a if c else a - 1 for a, _, c in ps),
    ),
    "one argument": ("map(lambda p: p[0] % 5 - p[1]) |> to_list", lambda ps: [p[0] % 5 - p[1] for p in ps]),
    "of some": (
        "filter(lambda p: p[2]) |> map(lambda p: p[1] + p[0]) |> to_list",
        lambda ps: [p[1] + p[0] for p in ps if p[2]],
    ),
    "tuples": ("filter(lambda a, b, c: a > 3) |> to_list", lambda ps: [p for p in ps if p[0] > 3]),
    "taken apart": (
        "map(lambda p: (p[2], p[0], p[1])) |> filter(lambda c, a, b: c) |> to_list",
        lambda ps: [(c, a, b) for a, b, c in ps if c],
    ),
    "numbered": (
        "enumerate |> map(lambda i, p: i - p[0]) |> min",
        lambda ps: min(i - p[0] for i, p in enumerate(ps)),
    ),
    "some of them": (
        "drop(2) |> step(3) |> map(lambda a, b, c: a) |> to_list",
        lambda ps: [p[0] for p in ps[2::3]],
    ),
    "backwards": (
        "reverse |> map(lambda a, b, c: a - b) |> to_list",
        lambda ps: [p[0] - p[1] for p in ps[::-1]],
    ),
    "while": (
        "take_while(lambda p: p[0] != 9) |> count",
        lambda ps: next((i for i, p in enumerate(ps) if p[0] == 9), len(ps)),
    ),
    "smallest": ("min(key=lambda p: -p[1])", lambda ps: min(ps, key=lambda p: -p[1])),
    "whole functions": ("map(max) |> max", lambda ps: max(map(max, ps))),
    "in between": (
        "map(lambda a, b, c: a * 2) |> tap(lambda _: None) |> map(lambda v: v + 1) |> sum",
        lambda ps: sum(p[0] * 2 + 1 for p in ps),
    ),
    "neighbours": (
        "window(2) |> map(lambda p, q: q[0] - p[0]) |> to_list",
        lambda ps: [q[0] - p[0] for p, q in itertools.pairwise(ps)],
    ),
}


@functools.cache
def rows(count, seed=0):
    """With quarters, whose sums are exact."""
    rng = np.random.default_rng(seed)
    columns = rng.integers(-20, 20, count), rng.integers(-99, 99, count) / 4, rng.random(count) < 0.5
    return list(zip(*(each.tolist() for each in columns), strict=True))


def value(text, names, **options):
    session = Session(dict(names), Options(baseline=False, quiet=True, **options))
    session.run_cell(f"t = {text}")
    return session.namespace["t"], session.last_report.pipelines[0]


@pytest.mark.parametrize("on", ["parallel", "simd", "opencl", "numpy", "python"])
@pytest.mark.parametrize("name", PIPELINES)
def test_it_is_what_python_says(name, on):
    if on == "opencl":
        pytest.importorskip("pyopencl")
    text, python = PIPELINES[name]
    for size in SIZES if on in ("parallel", "python") else SIZES[1:5:3]:
        for kind in (list, tuple) if on != "opencl" else (list,):
            ps = kind(rows(size))
            found, pipeline = value(f"ps |> {text}", {"ps": ps}, on=on, threads=3)
            expected = python(ps)
            assert (found, type(found)) == (expected, type(expected))
            if name not in ("whole functions", "in between") and on == "parallel" and size > 2:
                assert pipeline.barriers == ()


def test_arrays_of_tuples_are_as_they_were():
    ps = rows(30)
    found, _ = value("ps |> filter(lambda a, b, c: c)", {"ps": ps}, on="parallel")
    expected, _ = value("ps |> filter(lambda a, b, c: c)", {"ps": ps}, on="python")
    assert found.dtype == expected.dtype
    assert found.tolist() == expected.tolist() == [p for p in ps if p[2]]


@pytest.mark.parametrize("count", [20, 3 * WORTH])
@pytest.mark.parametrize(
    "odd",
    [(1, 2.5), (1, 2.5, True, 4), [1, 2.5, True], ("a", 2.5, True), (1.5, 2.5, True), (None,) * 3],
    ids=repr,
)
def test_tuples_that_are_not_alike_are_pythons(count, odd):
    ps = [*rows(count), odd]
    text = "ps |> map(lambda p: p[-2] if len(p) > 2 else 7) |> to_list"
    found, pipeline = value(text, {"ps": ps}, on="parallel")
    assert found == [p[-2] if len(p) > 2 else 7 for p in ps]
    assert pipeline.barriers
    with pytest.raises(StrictError, match="of one length" if type(odd) is tuple else "of these types"):
        value(text, {"ps": ps}, on="parallel", strict=True)


@pytest.mark.parametrize(
    "text", ["ps |> count", "ps |> to_list", "ps |> first", "ps |> reverse |> to_list", "ps |> max"]
)
def test_tuples_of_which_nothing_is_computed_are_pythons_own(text):
    ps = rows(50)
    found, pipeline = value(text, {"ps": ps}, on="parallel")
    assert found == {"count": 50, "first": ps[0], "max": max(ps)}.get(
        text[6:], ps[::-1] if "reverse" in text else ps
    )
    assert pipeline.barriers


@pytest.mark.parametrize("count", [5, 2 * WORTH])
@pytest.mark.parametrize("on", ["parallel", "numpy", "opencl"])
def test_ints_beyond_64_bits_are_exact(count, on):
    ps = [*((number, 3) for number in range(count)), (2**70, 1)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found, _ = value("ps |> map(lambda a, b: a * b) |> sum", {"ps": ps}, on=on)
    assert found == sum(a * b for a, b in ps)
    assert "beyond 64 bits" in str(caught[0].message)


@pytest.mark.parametrize("count", [5, 2 * WORTH])
def test_an_element_that_raises_is_named(count):
    ps = [(number, 1) for number in range(count)]
    ps[3] = 3, 0
    with pytest.raises(ZeroDivisionError) as caught:
        value("ps |> map(lambda a, b: a // b) |> sum", {"ps": ps}, on="parallel")
    assert "element 3 of ps, which is (3, 0), in" in caught.value.__notes__[0]


def test_no_statement_takes_effect_after_the_failing_one():
    session = Session({"ps": [(1, 0)] * 9})
    with pytest.raises(ZeroDivisionError):
        session.run_cell("a = ps |> map(lambda a, b: a + b) |> sum\nb = ps |> map(lambda a, b: a / b) |> sum")
    assert session.namespace["a"] == 9
    assert "b" not in session.namespace


@pytest.fixture
def first_runs(monkeypatch):
    """How often a pipeline ran as for the first time."""
    runs, usual = [], Repeated._first
    monkeypatch.setattr(Repeated, "_first", lambda self, *given: runs.append(given) or usual(self, *given))
    return runs


@pytest.mark.parametrize("count", [20, WORTH, 5000, MOST + 9])
@pytest.mark.parametrize("name", ["products", "one argument", "of some", "chosen", "in between"])
def test_it_is_ready_for_other_tuples(first_runs, name, count):
    text, python = PIPELINES[name]
    if name == "in between" and count > 1000:
        pytest.skip("stages that Python runs are kept for few elements")
    session = Session({}, Options(on="parallel", threads=2, baseline=False, quiet=True))
    session.run_cell(f"def f(ps): return ps |> {text}\n")
    for seed in range(5):
        ps = rows(count + seed, seed)
        assert session.namespace["f"](ps) == python(ps)
    assert len(first_runs) == 1
    others = [(a * 0.5, b, c) for a, b, c in rows(count)]
    assert session.namespace["f"](others) == python(others)
    assert session.namespace["f"](rows(count)) == python(rows(count))
    mixed = [*rows(count), (1.5, 2.5, True)]
    assert session.namespace["f"](mixed) == python(mixed)
    assert len(first_runs) == 3


@pytest.mark.parametrize("count", [20, 5000])
def test_structured_arrays_are_ready(first_runs, count):
    session = Session({}, Options(on="parallel", threads=2, baseline=False, quiet=True))
    session.run_cell("def f(ps): return ps |> map(lambda a, b: a * b) |> sum\n")
    for seed in range(4):
        ps = [(a, b) for a, b, _ in rows(count, seed)]
        array = np.array(ps, [("a", "i8"), ("b", "f8")])
        assert session.namespace["f"](array) == sum(a * b for a, b in ps)
    assert len(first_runs) == 1


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("count", [20, 5000, MOST + 9])
@pytest.mark.parametrize("source", ["tuples", "list", "array"])
def test_captured_numbers_may_change(first_runs, source, count):
    ps = [(a, b) for a, b, _ in rows(count)]
    sources = {"tuples": ps, "list": [a for a, _ in ps], "array": np.array([b for _, b in ps])}
    of_pairs = source == "tuples"
    text = "a, b: a * k + b" if of_pairs else "a: a * k"
    session = Session({"xs": sources[source]}, Options(on="parallel", threads=2, baseline=False, quiet=True))
    session.run_cell(f"def f(k): return xs |> map(lambda {text}) |> to_list\n")
    session.run_cell(f"def g(k): return xs |> map(lambda {text}) |> sum\n")

    def python(k):
        return [x[0] * k + x[1] if of_pairs else x * k for x in sources[source]]

    for k in (3, 4, 5, 6, 100):
        assert session.namespace["f"](k) == python(k)
        assert session.namespace["g"](k) == sum(python(k))
    assert len(first_runs) == 4  # of each the first, and the one that made a parameter of it
    for k in (0.5, 2**40, True, 2**70 if source == "list" else 0.25):
        assert session.namespace["f"](k) == python(k)


def test_ordinary_code_over_tuples():
    @hastega
    def f(ps, k):
        return [a * b + k for a, b, _ in ps if a > 2], sum(a for a, _, c in ps if c), [p[1] for p in ps]

    def python(ps, k):
        return [a * b + k for a, b, _ in ps if a > 2], sum(a for a, _, c in ps if c), [p[1] for p in ps]

    for seed in range(6):
        for count in (5, 300, WORTH + 7):
            ps = rows(count, seed)
            assert repr(f(ps, seed)) == repr(python(ps, seed))
    assert not any(pipeline.barriers for pipeline in f.explain().pipelines)
    for odd in ((1, 2.5), (1, 2.5, True, 4), 5, "abc", (1.5, 2.5, True), ([], 2.5, True)):
        ps = [*rows(400), odd]
        assert outcome(f, ps) == outcome(python, ps)


def outcome(function, ps):
    """What it gives, or raises, in words."""
    try:
        return repr(function(ps, 1))
    except Exception as error:
        return repr(error)


@pytest.mark.parametrize("source", ["pairs", "xs |> zip(flags)"])
def test_none_of_them_are_left(source):
    names = {"pairs": [(1.5, True)], "xs": (1.5,), "flags": (True,)}
    session = Session(names, Options(on="parallel", baseline=False))
    session.run_cell(f"t = {source} |> drop(3) |> map(lambda x, flag: -x if flag else x) |> to_list")
    assert session.namespace["t"] == []


@pytest.mark.parametrize(
    ("element", "stage"), [(7, "map(lambda x: x + 1)"), ((7, 1), "map(lambda a, b: a + b)")]
)
def test_lists_that_are_made_shorter_meanwhile_are_not_read_beyond_their_end(monkeypatch, element, stage):
    names, usual = {"xs": [element] * 300_000}, Column.array

    def shorter(column, start, stop):
        del names["xs"][10:]
        return usual(column, start, stop)

    session = Session(names, Options(on="parallel", baseline=False))
    monkeypatch.setattr(Column, "array", shorter)
    session.run_cell(f"t = xs |> {stage} |> max")
    assert session.namespace["t"] == 8
    monkeypatch.undo()
    session.run_cell(f"t = xs |> {stage} |> max")
    assert session.namespace["t"] == 8


def test_no_more_numbers_are_read_than_there_are():
    pairs, out = [(1, 2)] * WORTH, np.zeros(WORTH + 1, np.int64)
    assert fields.read(fields.Field(pairs, 1, 2), int, out[1:])
    assert not fields.read(fields.Field(pairs, 1, 2), int, out)
    assert not fields.read([2] * WORTH, int, out)
    assert not fields.read((2,) * WORTH, int, out)


@pytest.mark.parametrize("on", ["python", "simd"])
@pytest.mark.parametrize(
    ("stages", "wanted"),
    [
        ("map(lambda x, y: x + y) |> to_list", [3, 7]),
        ("map(lambda p: p.x * 2) |> to_list", [2, 6]),
        ("filter(lambda x, y: y > 2) |> count", 1),
        ("enumerate |> map(lambda n, p: n + p.y) |> sum", 7),
    ],
)
def test_named_tuples_are_tuples(stages, wanted, on):
    session = Session({"ps": [Place(1, 2), Place(3, 4)]}, Options(on=on, baseline=False, quiet=True))
    assert session.run_cell(f"ps |> {stages}").value == wanted


def test_an_error_names_the_members_of_a_named_tuple():
    session = Session({"ps": [Place(1, 0)]}, Options(baseline=False, quiet=True))
    with pytest.raises(ZeroDivisionError) as error:
        session.run_cell("ps |> map(lambda x, y: x / y)")
    assert any("element 0, which is Place(x=1, y=0)," in note for note in error.value.__notes__)
