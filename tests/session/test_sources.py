"""Pipelines over Series, Arrow arrays and iterators: Python's values, whoever holds the memory, and what is told."""

from __future__ import annotations

import ctypes
import itertools
import math
import sys
import weakref

import numpy as np
import pytest
from battery import some

from hastega_magic import pipe
from hastega_magic.compiler.sources import iterators
from hastega_magic.errors import IntegerOverflowWarning
from hastega_magic.runtime.columnar import NullsError
from hastega_magic.session import Options, Session, StrictError

STAGES = (
    "map(lambda x: x * 3 + 1)", "filter(lambda x: x > 2)", "sum", "max",
    "map(lambda x: x / 4) |> to_list", "drop(1) |> map(lambda x: x * 2)", "reverse |> map(lambda x: x * 2)",
    "step(2) |> map(lambda x: -x)", "chunk(3) |> map(sum)", "window(2) |> map(lambda a, b: b - a)",
    "take_while(lambda x: x < 5)", "enumerate |> map(lambda i, x: i - x)", "cumsum", "argmax",
    "zip(xs) |> map(lambda a, b: a * b) |> mean", "map(lambda x: 1 / (x - 1))",
)  # fmt: skip


def run(text, on="parallel", **space):
    return Session(space, Options(baseline=False, on=on)).run_cell(text)


def outcome(text, **space):
    try:
        return run(text, **space).value
    except ArithmeticError as error:
        return type(error), str(error)


def same(ours, python):
    if isinstance(ours, np.ndarray) and isinstance(python, np.ndarray):
        return ours.dtype == python.dtype and ours.tolist() == python.tolist()
    return type(ours) is type(python) and ours == python


def make(library, xs, kind=""):
    found = pytest.importorskip(library)
    if library == "pandas":
        return found.Series(xs, dtype=kind or None)
    if library == "polars":
        parts = [found.Series(xs[:2]), found.Series(xs[2:3]), found.Series(xs[3:])]
        return found.concat(parts, rechunk=False) if kind == "chunks" else found.Series(xs)
    return found.chunked_array([xs[:2], xs[2:3], xs[3:]]) if kind == "chunks" else found.array(xs)


INTS, FLOATS, BOOLS = [3, -1, 4, 1, 5, 9, 2, 6], [0.5, -2.25, 1e10, 1.0, 3.5], [True, False, True, True]
KINDS = [
    ("pandas", ""), ("pandas", "Int64"), ("pandas", "int64[pyarrow]"), ("polars", ""), ("polars", "chunks"),
    ("pyarrow", ""), ("pyarrow", "chunks"),
]  # fmt: skip


@pytest.mark.parametrize(("made_by", "stage"), some(itertools.product(KINDS, STAGES), every=4))
def test_a_series_is_its_list(made_by, stage):
    library, kind = made_by
    for xs in (INTS, FLOATS, BOOLS):
        if xs is not INTS and kind not in ("", "chunks"):
            continue
        made = make(library, xs, kind)
        ours = outcome(f"xs |> {stage}", xs=made)
        assert same(ours, outcome(f"xs |> {stage}", xs=np.array(xs))), xs
        assert same(outcome(f"xs |> {stage}", xs=made, on="python"), ours)
        python = outcome(f"xs |> {stage}", xs=xs, on="python")
        assert same(ours, python) or len(python) == 0, (xs, ours, python)


def test_empty_sources_keep_their_type():
    pa, pl, pd = map(pytest.importorskip, ("pyarrow", "polars", "pandas"))
    for made in (
        pa.array([], pa.int16()), pa.chunked_array([], pa.int64()), pl.Series([], dtype=pl.UInt8),
        pd.Series([], dtype="int32"), pd.Series([], dtype="Int32"),
    ):  # fmt: skip
        for on in ("parallel", "python"):
            assert run("xs |> map(lambda x: x + 1)", on, xs=made).value.dtype == np.int64
            assert run("xs |> sum", on, xs=made).value == 0
    assert run("xs |> filter(None)", xs=pl.Series([], dtype=pl.Float32)).value.dtype == np.float64


def test_a_series_in_a_function_is_compiled_once():
    pl = pytest.importorskip("polars")
    space = {}
    session = Session(space, Options(baseline=False, quiet=True))
    session.run_cell("def total(xs, ys):\n    return xs |> zip(ys) |> map(lambda a, b: a * b) |> sum")
    xs = pl.Series(range(5))
    assert space["total"](xs, xs) == 30
    form = next(iter(session.memory.nested.values())).form
    assert form.prepared is not None
    for length in (7, 100, 3):
        xs = pl.Series(range(length))
        assert space["total"](xs, xs) == sum(x * x for x in range(length))
    assert next(iter(session.memory.nested.values())).form is form


def test_chunks_are_converted_and_that_is_told():
    pa = pytest.importorskip("pyarrow")
    xs = np.arange(5000)
    for made, size in (
        (pa.chunked_array([xs, xs]), 16 * 5000),
        (pa.chunked_array([xs]), 0),
        (pa.array(xs), 0),
    ):
        ran = run("xs |> map(lambda x: x + 1) |> sum", xs=made)
        assert ran.value == sum(x + 1 for x in made.to_pylist())
        phases = {each["name"]: each["bytes"] for each in ran.report.to_dict()["pipelines"][0]["phases"]}
        assert phases["convert_in"] == size


@pytest.mark.parametrize("count", [100, 5000, 200_000])
def test_lists_are_converted_and_that_is_told(count):
    ran = run("xs |> map(lambda x: x + 1) |> sum", "simd", xs=list(range(count)))
    phases = {each["name"]: each["bytes"] for each in ran.report.to_dict()["pipelines"][0]["phases"]}
    assert phases["convert_in"] == 8 * count


def test_opencl_reads_series_too():
    pytest.importorskip("pyopencl")
    pl = pytest.importorskip("polars")
    for made in (pl.Series(INTS), make("polars", INTS, "chunks")):
        assert run("xs |> map(lambda x: x * x) |> sum", "opencl", xs=made).value == sum(x * x for x in INTS)


@pytest.mark.parametrize(
    ("cell", "marked"),
    [
        ("a = ns |> map(_ + 1)\nb = xs |> map(_ + 1)", "xs"),
        ("b = (xs\n    |> sum)", "xs"),
        ("ns |> zip(xs) |> map(lambda a, b: a + b)", "zip(xs)"),
        ("ns |> map(_ + 1) |> dot(xs)", "dot(xs)"),
        ("for _ in range(2):\n    b = xs |> sum", "xs"),
    ],
)
def test_what_holds_nulls_is_marked(cell, marked):
    pl = pytest.importorskip("polars")
    space = {"xs": pl.Series([1, None, None]), "ns": [1, 2, 3]}
    with pytest.raises(NullsError) as caught:
        Session(space, Options(baseline=False, quiet=True)).run_cell(cell)
    _, *shown = caught.value._render_traceback_()
    line, caret = "\n".join(shown).splitlines()
    assert line[caret.index("^") : caret.rindex("^") + 1] == marked


def test_nulls_are_an_error_of_one_sentence_when_their_statement_comes():
    pl = pytest.importorskip("polars")
    space = {"xs": pl.Series([1, None, None]), "ns": [1, 2]}
    with pytest.raises(NullsError, match=r"^`xs` holds 2 nulls.*`xs\.fill_null\(0\)`") as caught:
        Session(space, Options(baseline=False, quiet=True)).run_cell(
            "a = ns |> map(_ + 1)\nb = xs |> map(_ + 1)"
        )
    assert "\n" not in str(caught.value)
    assert space["a"].tolist() == [2, 3]
    assert "b" not in space
    with pytest.raises(NullsError, match="a Series holds 2 nulls"):
        Session(space, Options(baseline=False, quiet=True)).run_cell(
            "ns |> zip(xs) |> map(lambda a, b: a + b)"
        )
    with pytest.raises(NullsError, match=r"^a Series holds 2 nulls.*`\.fill_null\(0\)`"):
        pipe(space["xs"]).map(lambda x: x + 1).sum()
    assert run("xs.fill_null(0) |> map(_ + 1)", **space).value.tolist() == [2, 1, 1]
    assert run("xs |> len", **space).value == 3
    assert run("xs |> filter(lambda x: x is not None) |> to_list", "python", **space).value == [1]


def test_strings_are_a_barrier_with_a_reason():
    pl = pytest.importorskip("polars")
    ran = run("xs |> map(len) |> to_list", xs=pl.Series(["a", "bcd"]))
    assert ran.value == [1, 3]
    assert "strings" in ran.report.to_dict()["pipelines"][0]["barriers"][0]["reason"]
    with pytest.raises(StrictError, match="strings"):
        Session({"xs": pl.Series(["a"])}, Options(strict=True)).run_cell("xs |> map(len)")


def test_ctypes_arrays():
    made = (ctypes.c_int * 4)(1, 2, 3, 4)
    assert run("xs |> map(lambda x: x * x)", xs=made).value.tolist() == [1, 4, 9, 16]


# Iterators

LENGTHS = [0, 1, 10, 255, 256, 257, 1000]
ITERATED = (
    "map(lambda x: x * 3 + 1)", "filter(lambda x: x % 3 == 0)", "map(lambda x: x * 3) |> sum", "max", "count",
    "filter(lambda x: x > 400) |> min", "map(lambda x: (x, x / 2))", "to_list", "map(lambda x: x + 0.5) |> sum",
    "filter(lambda x: x < 0) |> map(lambda x: x / 3)", "map(lambda x: x * 2 ** 55) |> map(lambda x: x * 3)",
    "map(lambda x: x % 5 + 1) |> filter(lambda x: x == 2) |> prod", "clip(5, 300)", "where(lambda x: x > 9, -1)",
    "map(lambda x: 100 / (x - 700))", "map(lambda x: math.sqrt(x)) |> sum", "take(3)", "mean", "any", "first",
    "map(lambda x: x - 300) |> reduce(lambda a, b: a + b, 5)", "filter(None) |> last", "enumerate |> to_list",
)  # fmt: skip


UNREADABLE = (
    memoryview((ctypes.c_int * 3)(1, 2, 3)), memoryview(np.arange(3, dtype=">i4")), memoryview(np.arange(3) * 1j),
    memoryview(np.arange(4).reshape(2, 2)), memoryview(np.array(5)), memoryview(np.empty(0, ">f8")),
)  # fmt: skip


@pytest.mark.parametrize("xs", UNREADABLE, ids=lambda xs: f"{xs.format}{xs.shape}")
def test_memory_over_which_python_cannot_iterate(xs):
    if xs.format == "Zd" and sys.version_info >= (3, 15):
        assert list(run("xs |> map(lambda x: x + 1)", xs=xs).value) == [x + 1 for x in xs]
        return
    with pytest.raises((NotImplementedError, TypeError)) as python:
        iter(xs)
    for stages in ("sum", "map(lambda x: x + 1)"):
        with pytest.raises(python.type) as ours:
            run(f"xs |> {stages}", xs=xs)
        assert str(ours.value) == str(python.value)


@pytest.fixture
def chunks(monkeypatch):
    monkeypatch.setattr(iterators, "CHUNK", 256)


@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
@pytest.mark.parametrize(("kind", "stage"), some(itertools.product([int, float, bool], ITERATED), every=2))
def test_an_iterator_gives_what_python_gives(chunks, stage, kind):
    for length in LENGTHS:
        found = []
        for on in ("python", "parallel"):
            xs = map(kind, range(length))
            try:
                value = run(f"xs |> {stage}", on, xs=xs, math=math).value
            except (ArithmeticError, ValueError, TypeError) as error:
                value = type(error), str(error)
            found.append((value, list(xs)))
        (python, left), (ours, ours_left) = found
        assert ours_left == left, length
        if isinstance(python, float):
            assert type(ours) is float
            assert math.isclose(ours, python, rel_tol=1e-12), length
        else:
            assert same(ours, python), (length, ours, python)


def test_chunks_are_told(chunks):
    ran = run("xs |> map(lambda x: x * 3) |> sum", xs=iter(range(1000)))
    told = ran.report.to_dict()["pipelines"][0]
    assert (told["loops"], told["elements"], told["barriers"]) == (1, 1000, [])
    assert any("1000 elements were drawn in 2 chunks" in each for each in told["why"])
    assert (
        run("xs |> map(lambda x: x * 3) |> sum", xs=iter(range(100))).report.to_dict()["pipelines"][0][
            "loops"
        ]
        == 1
    )


@pytest.mark.parametrize(
    ("stages", "why"),
    [("take(3)", "may not need all"), ("map(lambda x: 1 / x)", "may raise"), ("map(lambda x: [x])", "list")],
)
def test_what_is_left_to_python_says_why(stages, why):
    ran = run(f"xs |> {stages}", xs=iter(range(1, 1000)))
    (barrier,) = ran.report.to_dict()["pipelines"][0]["barriers"]
    assert "gives its elements only once" in barrier["reason"]
    assert why in barrier["reason"]
    with pytest.raises(StrictError):
        Session({"xs": iter([1, 2])}, Options(strict=True)).run_cell(f"xs |> {stages}")


@pytest.mark.parametrize(
    ("place", "odd", "stage"),
    some(
        itertools.product(
            [0, 3, 300, 511, 512, 600],
            [0.5, True, 2**70, math.nan, "a", None],
            ["map(lambda x: x * 2)", "map(lambda x: x * 2) |> sum", "min", "count", "to_list"],
        ),
        every=2,
    ),
)
def test_another_type_on_the_way(chunks, stage, odd, place):
    def source():
        xs = [*range(5, 605)]
        xs[min(place, 599)] = odd
        return iter(xs)

    found = []
    for on in ("python", "parallel"):
        xs = source()
        try:
            value = run(f"xs |> {stage}", on, xs=xs).value
        except TypeError as error:
            value = str(error)
        found.append((value, list(xs)))
    (python, left), (ours, ours_left) = found
    assert len(ours_left) == len(left)
    assert repr(ours) == repr(python)
    assert getattr(ours, "dtype", None) == getattr(python, "dtype", None)


@pytest.mark.parametrize("nan", [[0], [300], [255, 256], [599]])
@pytest.mark.parametrize("sink", ["min", "max"])
def test_nan_is_met_in_pythons_order(chunks, sink, nan):
    xs = [math.nan if number in nan else float(number * 7919 % 601) for number in range(600)]
    ours, python = (run(f"xs |> {sink}", on, xs=iter(xs)).value for on in ("parallel", "python"))
    assert ours == python or (ours != ours and python != python)


def test_what_the_iterator_raises_is_raised(chunks):
    def source():
        yield from range(700)
        raise LookupError("no more")

    for stage in ("map(lambda x: x + 1)", "sum"):
        with pytest.raises(LookupError, match="no more"):
            run(f"xs |> {stage}", xs=source())


def test_nothing_is_drawn_before_a_stage_that_only_python_knows():
    drawn_ = []
    source = (drawn_.append(x) or x for x in range(1000))
    assert run("xs |> next", xs=source).value == 0
    assert drawn_ == [0]


def test_no_more_than_a_chunk_is_held(chunks, monkeypatch):
    alive = weakref.WeakSet()
    most = 0

    class Number(float):
        __slots__ = ("__weakref__",)

    def source():
        nonlocal most
        for number in range(2000):
            made = Number(number)
            alive.add(made)
            most = max(most, len(alive))
            yield made

    assert run("xs |> map(lambda x: x * 2) |> sum", xs=source()).value == 2000 * 1999
    assert most < 10  # of a subclass: Python, one after the other

    held = []
    original = iterators.run_loops

    def watching(loops, *rest):
        held.append(len(loops[0].source))
        return original(loops, *rest)

    monkeypatch.setattr(iterators, "run_loops", watching)
    assert run("xs |> map(lambda x: x * 2) |> sum", xs=map(float, range(5000))).value == 5000 * 4999
    assert held == [256, *[1024] * 4, 648]


def test_overflow_warns_once(chunks):
    with pytest.warns(IntegerOverflowWarning) as caught:
        value = run("xs |> map(lambda x: x * 2 ** 60)", xs=iter(range(600))).value
    assert value.tolist() == [x * 2**60 for x in range(600)]
    assert len(caught) == 1


@pytest.mark.parametrize("on", ["auto", "simd", "python"])
def test_types_without_a_module(on):
    """Where a namespace has no `__name__`, types that are made without a class statement have no `__module__`."""
    session = Session({"ctypes": ctypes}, Options(on=on, baseline=False, quiet=True))
    assert list(session.run_cell("(ctypes.c_int * 3)(1, 2, 3) |> map(str)").value) == ["1", "2", "3"]
    session.run_cell("T = type('T', (), {'__getitem__': lambda self, i: [4, 5, 6][i]})")
    assert not hasattr(session.namespace["T"], "__module__")
    assert session.run_cell("T() |> map(_ + 1) |> sum").value == 18
