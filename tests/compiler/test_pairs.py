"""Python's `zip` and `enumerate` as sources: compiled with the values and types that Python gives."""

import array
import itertools
import re
import warnings

import numpy as np
import pytest

from hastega_magic import pipe
from hastega_magic.errors import UsageError
from hastega_magic.session import Options, Session

RNG = np.random.default_rng(2)
SOURCES = {
    "i64": RNG.integers(-50, 50, 600),
    "i32": RNG.integers(-50, 50, 600).astype("i4"),
    "u8": RNG.integers(0, 3, 600).astype("u1"),
    "f64": RNG.normal(size=600),
    "f32": RNG.normal(size=600).astype("f4"),
    "ints": list(range(590)),
    "reals": array.array("d", range(620)),
    "span": range(5, 700, 1),
}
CHAINS = {
    "zip({0}, {1})": ("map(lambda x, y: x * y + y)", "map(lambda x, y: x - y) |> to_list", "map(max) |> sum"),
    "enumerate({0}, 3)": ("map(lambda k, x: x * k)", "filter(lambda k, x: x > 0) |> count"),
    "enumerate(zip({0}, {1}))": ("map(lambda k, pair: pair[0] - k) |> to_list",),
}  # fmt: skip


def shape(value):
    """A value with all of its types."""
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.tolist()
    if isinstance(value, (list, tuple)):
        return type(value), [shape(each) for each in value]
    return type(value), pytest.approx(value, rel=1e-12) if isinstance(value, float) else value


def ran(source, chain, on, names):
    """The value and what is left of the iterator, or what was raised; and how many loops ran."""
    session = Session(dict(names))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's own, where it wraps
        try:
            cell = f"source = {source}\ny = source |> {chain}\n(y, list(source))"
            found = session.run_cell(cell, options=Options(on=on, baseline=False, quiet=True)).value
        except Exception as error:
            return (type(error), str(error)), 0
    return shape(found), session.last.report.pipelines[0].loops


def test_as_python_does():
    loops = cells = 0
    for source, chains in CHAINS.items():
        for first, second in itertools.product(SOURCES, ("i64", "f32", "ints") if "{1}" in source else ("",)):
            for chain in chains:
                text = source.format(first, second)
                found, count = ran(text, chain, "simd", SOURCES)
                assert (text, chain, found) == (text, chain, ran(text, chain, "python", SOURCES)[0])
                loops, cells = loops + count, cells + 1
    assert loops > 0.6 * cells


@pytest.mark.parametrize(
    ("source", "chain"),
    [
        ("zip(x, x)", "map(lambda a, b: a * b) |> to_list"),  # of one iterator: they take turns
        ("zip(x, y)", "take(2) |> to_list"),
        ("zip(y, x, strict=True)", "map(lambda a, b: a * b) |> sum"),
        ("zip(y, y)", "map(lambda a, b: 10 // (b - 2)) |> to_list"),
        ("zip(y)", "to_list"),
        ("enumerate(reversed(y))", "to_list"),
        ("zip(y, 'abc')", "to_list"),
    ],
)
def test_what_is_left_to_python_is_left_where_python_leaves_it(source, chain):
    def names():
        return {"x": iter([1, 2, 3]), "y": [4, 3, 2, 1], "seen": []}

    found, loops = ran(source, chain, "simd", names())
    assert found == ran(source, chain, "python", names())[0]
    assert loops == 0


def test_iterators_that_have_begun_and_of_several_lengths():
    x, y = iter([1, 2, 3, 4, 5]), iter(np.arange(3))
    next(x)
    assert Session({"z": zip(x, y, strict=False)}).run_cell(
        "z |> map(lambda a, b: a * b) |> to_list"
    ).value == [0, 3, 8]
    assert list(x) == []
    x = iter([1, 2, 3, 4, 5])
    assert pipe(zip(x, [1, 1], strict=False)).map(lambda a, b: a + b).sum() == 5
    assert list(x) == [4, 5], "the first one gives an element more before the other ends"


SERIES = {
    "np": lambda pd, pl: np.arange(20) % 7,
    "ints": lambda pd, pl: pd.Series(np.arange(20)),
    "narrow": lambda pd, pl: pd.Series(np.arange(20, dtype="i1")),
    "column": lambda pd, pl: pd.DataFrame(np.arange(40.0).reshape(20, 2))[1],
    "floats": lambda pd, pl: pd.Series(np.arange(20, dtype="f4") / 3),
    "bools": lambda pd, pl: pd.Series(np.arange(20) % 3 == 0),
    "index": lambda pd, pl: pd.Index(np.arange(30) / 4),
    "polars": lambda pd, pl: pl.Series(range(18)),
    "chunked": lambda pd, pl: pl.concat([pl.Series([0.5] * 15), pl.Series([1.5] * 15)], rechunk=False),
}


@pytest.mark.parametrize("first", SERIES)
@pytest.mark.parametrize("second", ["np", "floats", "polars"])
def test_series_that_iterators_go_through_are_read_where_they_lie(first, second):
    libraries = pytest.importorskip("pandas"), pytest.importorskip("polars")

    def asked(on):
        # Names for the iterators: what is left of them has to be what Python leaves.
        names = {"a": iter(SERIES[first](*libraries)), "b": iter(SERIES[second](*libraries))}
        cell = "y = zip(a, b) |> map(lambda p, q: p * q + q) |> to_list\n(y, list(a), list(b))"
        session = Session(names)
        found = session.run_cell(cell, options=Options(on=on, baseline=False, quiet=True)).value
        return shape(found), session.last.report.pipelines[0].loops

    assert asked("simd") == (asked("python")[0], 1)


def test_what_other_iterators_over_numbers_give_is_pythons():
    pl, four = pytest.importorskip("polars"), np.array([1, 2, 3, 4])
    begun = iter(pl.Series(four))
    next(begun)
    items = [
        (begun, [2, 3, 4]),
        (iter(pl.Series([1, None, 3, 4])), [1, None, 3, 4]),
        (iter(pl.Series(list("abcd"))), list("abcd")),
        (map(four.item, range(1, -3, -1)), [2, 1, 4, 3]),
        (map(four.item, [3, 2, 1, 0]), [4, 3, 2, 1]),
        (map(four.tolist().index, range(1, 5)), [0, 1, 2, 3]),
        (map(four.astype("c8").item, range(4)), [1, 2, 3, 4]),
    ]
    for given, expected in items:
        session = Session({"z": zip(given, four, strict=False)})
        value = session.run_cell("z |> map(lambda a, b: (a, b)) |> to_list").value
        assert [a for a, _ in value] == expected
        assert session.last.report.pipelines[0].loops == 0


@pytest.mark.parametrize("source", ["zip(big, ones)", "enumerate(big)"])
@pytest.mark.parametrize("sink", ["", " |> to_list", " |> max"])
def test_what_leaves_64_bits_is_an_error_where_that_is_checked(source, sink):
    session = Session({"big": [1] * 300 + [2**62], "ones": [1] * 400})
    cell = f"{source} |> map(lambda a, b: (a + b) * 4){sink}"
    with pytest.raises(OverflowError, match=f"element 300 of {re.escape(source)}"):
        session.run_cell(cell, options=Options(int_mode="checked", baseline=False))


@pytest.mark.parametrize(("mode", "error"), [("checked", OverflowError), ("wrap", UsageError)])
def test_sources_beyond_64_bits_are_an_error_where_python_is_not_to_go_on(mode, error):
    session = Session({"big": [1] * 300 + [2**70], "ones": [1] * 400})
    for source in ("zip(big, ones)", "enumerate(big)"):
        with pytest.raises(error, match=f"`{re.escape(source)}` holds integers beyond 64 bits"):
            session.run_cell(f"{source} |> map(lambda a, b: a + b) |> sum", options=Options(int_mode=mode))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's own, where it wraps
@pytest.mark.parametrize(
    "text",
    [
        "zip(fields, ints) |> map(lambda p, x: p[0] * x) |> sum",
        "zip(fields, ints) |> map(lambda p, x: p) |> to_list",
        "enumerate(fields) |> map(lambda k, p: (p[1], k)) |> to_list",
    ],
)
def test_elements_of_structured_arrays_are_numpys(text):
    fields = np.array([(100, 2.5), (27, 4.5)] * 300, [("a", "i1"), ("b", "f8")])
    names = {"fields": fields, "ints": [2] * 600}
    ours, theirs = (
        Session(dict(names)).run_cell(text, options=Options(on=on, baseline=False)).value
        for on in ("simd", "python")
    )
    assert shape(ours) == shape(theirs)
