"""NumPy's scalar constructors inside functions: NumPy's promotion, or a barrier that says why."""

import math
import warnings
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest

from hastega_magic.session import Options, Session

FLOATS = np.array([1.0, -0.0, 2.5, 1e300, np.inf, np.nan, 1 / 3])


def run(body, xs):
    session = Session({"np": np, "xs": xs, "seen": []})
    with np.errstate(all="ignore"):
        report = session.run_cell(f"ys = xs |> map(lambda x: {body})", options=Options(baseline=False)).report
    return session.namespace["ys"], report.pipelines[0]


@pytest.mark.parametrize(
    "body",
    [
        "x + np.float32(3)",
        "x * np.float32(0.1)",
        "np.float32(x) * 0.1",
        "np.float32(x) + np.float64(1) / 3",
        "np.float64(x) * 0.1",
        "np.float64(3) - x",
        "np.float64(x) / 3 + np.float32(0.1)",
    ],
)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool"])
def test_as_numpy_promotes(body, dtype):
    with np.errstate(all="ignore"):
        xs = FLOATS.astype(dtype) if dtype.startswith("float") else np.arange(9).astype(dtype)
        # Ints and bools are Python's to a function, so what NumPy makes of arrays of them does not matter here.
        of = (lambda x: x) if dtype.startswith("float") else (lambda x: x.item())
        expected = (
            eval(f"lambda x: {body}", {"np": _Arrays})(xs)
            if dtype.startswith("float")
            else np.array([eval(body, {"np": np, "x": of(x)}) for x in xs])
        )
    found, pipeline = run(body, xs)
    assert (pipeline.loops, pipeline.barriers) == (1, ())
    assert found.dtype == expected.dtype
    assert np.array_equal(found, expected, equal_nan=True)
    assert np.array_equal(np.signbit(found), np.signbit(expected))


class _Arrays:
    """The constructors over whole arrays."""

    @staticmethod
    def float32(x):
        return x.astype("float32") if isinstance(x, np.ndarray) else np.float32(x)

    @staticmethod
    def float64(x):
        return x.astype("float64") if isinstance(x, np.ndarray) else np.float64(x)


def test_division_by_zero_is_numpys():
    found, pipeline = run("np.float64(1) / x", np.array([1, 0, 2]))
    assert found.tolist() == [1.0, np.inf, 0.5]
    assert pipeline.loops == 1


def test_an_int_constant_is_an_int():
    found, pipeline = run("np.int64(5) + x", [1, 2])
    assert found.tolist() == [6, 7]
    assert pipeline.loops == 1


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("np.int64(x) + 1", "wraps around where Python's do not: use `int`"),
        ("np.uint8(x) + 1", "`np.uint8` makes a NumPy number of a type that is not compiled"),
        ("np.float16(3) * x", "`np.float16` makes a NumPy number of a type that is not compiled"),
        ("np.float32(10 ** 400)", "too large for a float"),
    ],
)
def test_what_is_left_to_python_says_why(body, words):
    xs = np.array([1, 2])
    if "400" in body:
        with pytest.raises(OverflowError):
            run(body, xs)
        return
    _, pipeline = run(body, xs)
    (barrier,) = pipeline.barriers
    assert words in barrier.reason


@pytest.mark.parametrize(
    "body", ["print('now', x)", "(print(f'{x}'), x)[1]", "x if print([x]) is None else 0"]
)
def test_the_call_is_to_blame_and_not_its_arguments(body, capsys):
    _, pipeline = run(body, [1, 2])
    assert len(capsys.readouterr().out.splitlines()) == 2
    (barrier,) = pipeline.barriers
    assert barrier.reason == "`print` is called, a side effect: observation prevents optimisation"


class Above:
    """Is greater than anything."""

    def __gt__(self, other):
        return True


class Alike:
    """Is equal to anything, and unequal too."""

    __hash__ = None

    def __eq__(self, other):
        return 7

    def __ne__(self, other):
        return 8


class Other(NamedTuple):
    first: int
    second: int

    def __ne__(self, other):
        return True


SOURCES = {
    "pairs": [(1, 2), (3, 4)] * 150,
    "ints": list(range(300)),
    "floats": np.arange(300.0),
    "narrow": np.arange(300, dtype=np.float32),
    "complex": np.arange(300) * 1j,
    "narrow complex": (np.arange(300) * 1j).astype(np.complex64),
    "complexes": [1j, 2 + 1j] * 150,
}


def of_type(value):
    return f"{type(value).__name__} {value}".partition(" at ")[0]


def same_by_python(cell, names):
    """Whether the loop gives what Python gives, errors among it; of its bools Python's own."""
    told = []
    for on in ("simd", "python"):
        session = Session({"np": np, "math": math, **names}, Options(on=on, baseline=False, quiet=True))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = session.run_cell(cell).value
            except Exception as error:
                told.append((type(error), str(error)))
            else:
                told.append(
                    (type(found), repr(found).replace("np.False_", "False").replace("np.True_", "True"))
                )
    return told[0] == told[1]


@pytest.mark.parametrize("source", ["complex", "narrow complex", "complexes"])
@pytest.mark.parametrize("other", [Above(), Fraction(1, 2), "a", None, [1], math, (1, 2)], ids=of_type)
def test_complex_numbers_are_ordered_beside_objects_as_python_says(source, other):
    names = {"xs": SOURCES[source], "w": other}
    for condition in ("x < w", "x > w", "w >= x"):
        assert same_by_python(f"xs |> filter(lambda x: {condition}) |> count", names), condition


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(
    "other",
    [
        np.array([1, 2]),
        np.int64(1),
        np.array(3),
        np.dtype("f4"),
        Alike(),
        Other(1, 2),
        (np.int64(1),),
        [np.int64(1)],
    ],
    ids=of_type,
)
def test_what_tuples_are_equal_to_is_left_to_what_decides_it(source, other):
    names = {"xs": SOURCES[source], "w": other}
    for body in (
        "(x, 1) == w",
        "(x, 1) != w",
        "w == (x, 1)",
        "((x, 1), 2) == w",
        "(x, 1) in (3, w)",
        "None == w",
    ):
        assert same_by_python(f"xs |> map(lambda x: {body}) |> to_list", names), body
        assert same_by_python(f"xs |> filter(lambda x: {body}) |> count", names), body
    assert same_by_python("xs |> enumerate |> filter(lambda p: p == w) |> count", names)


@pytest.mark.parametrize(
    "stages",
    [
        "map(lambda x: x == (1, 2))",
        "map(lambda x: x != ())",
        "map(lambda x: (x > 1) == (1, 2))",
        "map(lambda x: table[0] == (1, 2))",
        "map(np.sqrt) |> map(lambda x: x == (1, 2))",
        "map(lambda x: np.float64(x)) |> filter(lambda x: x == (1, 2)) |> map(_ + 1)",
    ],
)
@pytest.mark.parametrize("source", ["ints", "floats", "narrow"])
def test_numbers_of_numpys_compare_themselves_with_each_item(source, stages):
    names = {"xs": SOURCES[source], "table": np.arange(3)}
    assert same_by_python(f"xs |> {stages} |> to_list", names)


def test_a_tuple_is_no_number_of_pythons():
    session = Session({"xs": SOURCES["ints"], "w": 1}, Options(baseline=False))
    ran = session.run_cell("xs |> map(lambda x: (x, 1) == w or x == (1, 2)) |> any")
    assert ran.value is False
    assert (ran.report.pipelines[0].loops, ran.report.pipelines[0].barriers) == (1, ())


TELLING = [
    "xs |> map(np.sqrt) |> to_list",
    "xs |> map(np.sqrt) |> map(lambda x: x + 1) |> sum",
    "xs |> map(lambda x: np.float64(x) / 0) |> sum",
    "xs |> map(lambda x: x * (zeros[0] / zeros[1])) |> sum",
    "xs |> map(lambda x: seen.append(x) or x) |> map(np.log) |> sum",
    "iter(xs) |> map(np.log) |> sum",
    "pairs |> map(lambda a, b: np.sqrt(a)) |> sum",
    "narrow |> map(lambda x: x * 10) |> to_list",
    "narrow |> sum",
    "xs |> zip(narrow) |> map(lambda a, b: b * b) |> sum",
    "narrow_complex |> map(lambda z: z * z) |> sum",
    "a = xs |> map(np.sqrt) |> sum\nb = xs |> map(np.log) |> sum\na + b",
    "def f():\n    return xs |> map(np.sqrt) |> sum\nfor _ in range(4):\n    total = f()\ntotal",
    "for _ in range(4):\n    total = xs |> map(np.sqrt) |> sum\ntotal",
]


@pytest.mark.parametrize("on", ["simd", "numpy", "python"])
@pytest.mark.parametrize("cell", TELLING)
def test_errors_that_numpy_is_asked_to_tell_of(cell, on):
    huge = np.full(300, 3e38, np.float32)
    names = {
        "np": np, "xs": np.full(300, -1.0), "narrow": huge, "narrow_complex": (huge * (1 + 1j)).astype(np.complex64),
        "zeros": np.zeros(2), "pairs": [(-1.0, 2)] * 300, "seen": [],
    }  # fmt: skip
    session = Session(names, Options(on=on, baseline=False, quiet=True))
    told = []
    for _ in range(3):
        with np.errstate(all="ignore"):
            session.run_cell(cell)
        with np.errstate(all="raise"), pytest.raises(FloatingPointError):
            session.run_cell(cell)
        told.clear()
        with np.errstate(all="call", call=lambda *what: told.append(what)):
            session.run_cell(cell)
        assert told
    names["seen"].clear()
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        session.run_cell(cell)
    assert len(names["seen"]) == ("seen" in cell)


def test_stages_without_numpys_numbers_are_loops_whatever_numpy_is_asked():
    session = Session({"np": np, "xs": np.arange(300.0)}, Options(baseline=False))
    with np.errstate(all="raise"):
        for cell, loops in (("xs |> map(_ * 2) |> sum", 1), ("xs |> map(np.sqrt) |> sum", 0)):
            for _ in range(2):
                (pipeline,) = session.run_cell(cell).report.pipelines
                assert pipeline.loops == loops
    assert "`numpy.seterr` asks for word of errors" in pipeline.barriers[0].reason
    for _ in range(2):
        assert session.run_cell(cell).report.pipelines[0].loops == 1
