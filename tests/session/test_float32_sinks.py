"""Sinks over float32 elements give `numpy.float32`, as Python does with such numbers, on every back end."""

import functools
import itertools

import numpy as np
import pytest
from battery import some

from hastega_magic import hastega
from hastega_magic.compiler import loops
from hastega_magic.session import Options, Session

XS = np.array([0.1, 0.7, 0.3, 0.25, -0.5], np.float32)
MANY = np.random.default_rng(5).normal(size=5003).astype(np.float32)
SINGLE = [
    "sum", "prod", "min", "max", "mean", "var", "std", "first", "last", "dot(xs)", "sum(1.5)", "cumsum |> max",
    "cumsum |> last", "reduce(lambda a, b: a + b)", "reduce(max)", "min(key=lambda x: -x)",
    "window(2) |> map(max) |> min",
]  # fmt: skip
BACK_ENDS = ["simd", "parallel", "opencl", "numpy", "python", "auto"]
SOURCES = {"array": XS, "list": list(XS), "strided": np.repeat(XS, 2)[::2]}


def values(cell, on, times=1, **given):
    session = Session(given, Options(on=on, baseline=False, quiet=True))
    for _ in range(times):
        yield session.run_cell(cell).value


@pytest.mark.parametrize(
    ("sink", "source", "on"), some(itertools.product(SINGLE, SOURCES, BACK_ENDS), every=3)
)
def test_the_type_is_that_of_the_elements(sink, source, on):
    for text in (f"xs |> {sink}", f"xs |> map(lambda x: x * 0.5) |> {sink}"):
        (expected,) = values(text, "python", xs=SOURCES[source])
        for found in values(text, on, 3, xs=SOURCES[source]):
            assert type(found) is type(expected) is np.float32
            assert found == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("on", BACK_ENDS)
@pytest.mark.parametrize("length", [1, 4097, 100_003])
def test_extremes_are_elements(length, on):
    xs = np.random.default_rng(3).normal(size=length).astype(np.float32)
    for name, own in (("min", min), ("max", max)):
        for found in values(f"xs |> {name}", on, 3, xs=xs):
            assert type(found) is np.float32
            assert found == own(xs)


def test_nan_and_zeros_are_kept_as_python_keeps_them():
    for xs in ([np.nan, 1.0], [1.0, np.nan], [-0.0, 0.0], [0.0, -0.0]):
        array = np.array(xs, np.float32)
        for name, own in (("min", min), ("max", max)):
            (found,) = values(f"xs |> {name}", "parallel", xs=array)
            assert repr(found) == repr(own(array))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of NumPy's own, where Python multiplies
@pytest.mark.parametrize("on", BACK_ENDS)
@pytest.mark.parametrize("xs", [[2, 0, 1], [3e38] * 3, [np.nan, 1], [1e-30] * 9, [-0.0, 2]])
def test_products_that_leave_the_numbers(xs, on):
    for found in values("xs |> prod", on, 3, xs=np.array(xs, np.float32)):
        assert type(found) is np.float32
        with np.errstate(all="ignore"):
            assert repr(found) == repr(functools.reduce(lambda a, b: a * b, np.array(xs, np.float32)))


def test_products_of_floats_are_floats_in_each_call():
    session = Session({"k": np.float64(0.5)}, Options(on="parallel", baseline=False, quiet=True))
    session.run_cell("def product(xs):\n    return xs |> map(lambda x: k * x) |> prod")
    assert [type(session.namespace["product"]([0.0, 1.0])) for _ in range(3)] == [float] * 3


def test_in_functions():
    session = Session({}, Options(on="parallel", baseline=False, quiet=True))
    session.run_cell(
        "def total(xs):\n    return xs |> map(lambda x: x * 0.5) |> sum\ndef most(xs):\n    return xs |> max"
    )
    for length in (5, 5, 4097, 100_003):
        xs = np.arange(length, dtype=np.float32)
        total, most = session.namespace["total"](xs), session.namespace["most"](xs)
        assert type(total) is type(most) is np.float32
        assert most == length - 1
        assert total == pytest.approx(functools.reduce(lambda a, b: a + b, xs.tolist()) / 2, rel=1e-6)


@pytest.mark.parametrize("on", BACK_ENDS)
def test_complex64_too(on):
    zs = np.array([1 + 2j, 3 - 1j], np.complex64)
    for sink in ("sum", "mean", "prod", "dot(zs)"):
        for found in values(f"zs |> {sink}", on, 2, zs=zs):
            assert type(found) is np.complex64


def test_of_no_elements_sums_are_ints():
    for sink, expected in (("sum", 0), ("prod", 1)):
        for on in BACK_ENDS:
            (found,) = values(f"xs |> {sink}", on, xs=np.empty(0, np.float32))
            assert (type(found), found) == (int, expected)


@pytest.mark.parametrize("on", ["parallel", "opencl"])
def test_one_that_other_functions_read_is_a_parameter(on):
    """As a Python float is: each turn of an iteration may have another one."""
    if on == "opencl":
        pytest.importorskip("pyopencl")
    session = Session({"xs": MANY}, Options(on=on, baseline=False, quiet=True))
    session.run_cell("def scaled(xs, m): return xs |> map(lambda x: x / m + m) |> to_list")
    before = 0
    for turn in range(6):
        m = MANY[turn]
        session.namespace["m"] = m
        session.run_cell("ys = xs |> map(lambda x: x / m + m)")
        expected = [x / m + m for x in MANY]
        assert session.namespace["ys"].tolist() == expected
        if on == "parallel":  # of a function's loops on a device each number is a constant
            assert session.namespace["scaled"](MANY, m) == expected
        if turn == 2:
            before = len(loops.cached_loops())
    assert len(loops.cached_loops()) == before


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int16, list, float])
def test_ordinary_code_with_one_that_keeps_changing(dtype):
    """Elements of every type beside it give what they give in Python, in value and type."""
    makes = {list: lambda: list(MANY), float: lambda: list(map(float, MANY))}
    xs = makes.get(dtype, lambda: (MANY * 100).astype(dtype))()
    ways = [
        lambda m: [x * m for x in xs],
        lambda m: [x / m + 1 for x in xs if x < m],
        lambda m: max(m - x for x in xs),
        lambda m: [(x, m) for x in xs],
        lambda m: [x * (m + 1e-9) for x in xs],
        lambda m: [m if x > 1 else x for x in xs],
    ]
    for plain in ways:
        compiled = hastega(plain)
        for m in MANY[MANY > 1][:5]:
            found, expected = compiled(m), plain(m)
            assert found == expected
            assert types(found) == types(expected)


def types(value):
    """The types of a value, of its elements and of theirs."""
    return [types(each) for each in value] if isinstance(value, list | tuple) else type(value)


@pytest.mark.parametrize(("sink", "behind"), [("sum", ""), ("mean", ""), ("sum", " of step")])
def test_a_sum_of_numpys_is_equal_to_pythons_but_for_roundings(sink, behind):
    """NumPy adds by pairs, Python one after the other: both round to float32."""
    xs = (np.random.default_rng(3).normal(size=9000) * 1e5 + 1e7).astype(np.float32)
    cell = f"xs |> step(7) |> {sink}" if behind else f"xs |> {sink}"
    (pipeline,) = Session({"xs": xs}).run_cell(cell, options=Options(on="numpy")).report.pipelines
    assert [(each.backend, each.equal) for each in pipeline.baselines] == [("python", True)]
    assert pipeline.baselines[0].note.startswith("equal to ")
