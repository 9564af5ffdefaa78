"""Numbers that a callable made of an array's: NumPy's, which count as Python's to the stages behind it."""

import functools
import itertools
import json
import math
import statistics
from collections import Counter

import numpy as np
import pytest

from hastega_magic import pipe
from hastega_magic.compiler import driver, groups
from hastega_magic.session import Options, Session, StrictError

CELLS = {
    "[3, 1] |> map(_ + 2**62) |> set |> sum": 9223372036854775812,
    "[2**62] * 4 |> map(_ + 1) |> sorted |> sum": 18446744073709551620,
    "[3, 1, 2] |> map(_ * 2**40) |> sorted |> map(lambda x: x * x) |> to_list": [2**80, 2**82, 9 * 2**80],
    "[3, 1, 2] |> map(_ * 2**40) |> reversed |> map(lambda x: x * x) |> to_list": [2**82, 2**80, 9 * 2**80],
    "[3, 1] |> map(_ + 2**62) |> (lambda v: [v[0], v[1]]) |> sum": 9223372036854775812,
    "[3, 1] |> map(_ + 2**62) |> (lambda v: [(v[0], v[1])]) |> map(lambda a, b: a * b) |> sum": (2**62 + 3)
    * (2**62 + 1),
    "[200, 100] |> astype('u1') |> sorted |> map(lambda x: x + x) |> to_list": [200, 400],
    "[1, 2, 0] |> map(_ > 0) |> list |> map(lambda x: x + x) |> sum": 4,
    "[1, 2, 0] |> map(_ > 0) |> (lambda v: list(v)) |> reduce(lambda a, b: a + b)": 2,
    "[1, 2] |> map(_ > 0) |> (lambda v: list(v)) |> map(lambda x: ~x) |> to_list": [-2, -2],
    "[3, 4] |> enumerate |> (lambda v: list(v)) |> map(lambda p: p[1] * 2**62) |> to_list": [
        3 * 2**62,
        2**64,
    ],
    "[3.0, 1.0] |> map(_ / 2) |> tuple |> map(lambda x: x * 2) |> to_list": [3.0, 1.0],
}


@pytest.mark.filterwarnings("ignore:Bitwise inversion:DeprecationWarning")  # by Python 3.12, of bools
@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
@pytest.mark.parametrize("on", ["parallel", "numpy", "python"])
@pytest.mark.parametrize("cell", CELLS)
def test_they_do_not_wrap(cell, on):
    session = Session({"np": np}, Options(on=on, baseline=False))
    for _ in range(3):
        found = session.run_cell(cell).value
        assert found == CELLS[cell]
        assert type(found) is type(CELLS[cell])
        if isinstance(found, list):
            assert {type(each) for each in found} == {type(each) for each in CELLS[cell]}


@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
def test_so_in_functions_and_in_the_explicit_form():
    session = Session({}, Options(on="parallel", baseline=False))
    session.run_cell(
        "def f(xs):\n    return xs |> map(_ * 2**40) |> sorted |> map(lambda x: x * x) |> to_list"
    )
    for xs in ([3, 1, 2], [3, 1, 2], [5, 4]):
        assert session.namespace["f"](xs) == [(x * 2**40) ** 2 for x in sorted(xs)]
    assert pipe([3, 1]).map(lambda x: x * 2**40).apply(sorted).map(lambda x: x * x).to_list() == [
        2**80,
        9 * 2**80,
    ]


def test_a_callable_at_the_end_gives_what_it_gives():
    found = Session({}, Options(baseline=False)).run_cell("[3, 1] |> map(_ + 1) |> (lambda v: [v[1]])").value
    assert found == [2]
    assert type(found[0]) is np.int64


COLLECTED = {
    "[3, 1] |> map(_ + 1) |> sorted": [2, 4],
    "[3, 1] |> map(_ + 1) |> sorted(reverse=True)": [4, 2],
    "np.array([3, 1]) |> list": [3, 1],
    "[3, 1] |> map(_ / 2) |> tuple": (1.5, 0.5),
    "[3, 1] |> map(_ > 1) |> list": [True, False],
    "[3, 1] |> map(lambda x: complex(x, 1)) |> list": [3 + 1j, 1 + 1j],
    "[3, 1, 3] |> map(_ + 1) |> set": {2, 4},
    "[3, 1, 3] |> map(_ + 1) |> Counter |> (lambda c: sorted(c.items()))": [(2, 1), (4, 2)],
    "[3, 1] |> map(_ + 1) |> reversed |> list": [2, 4],
    "[3, 1] |> enumerate |> list": [(0, 3), (1, 1)],
    "[3, 1] |> enumerate |> dict": {0: 3, 1: 1},
    "[3, 1] |> zip([0.5, 0.25]) |> sorted": [(1, 0.25), (3, 0.5)],
    "[3, 1] |> enumerate |> map(lambda i, x: (x, (i, x > 1))) |> set": {(3, (0, True)), (1, (1, False))},
    "[3, 1] |> enumerate |> list |> map(lambda i, x: i + x) |> to_list": [3, 2],
    "[3, 1] |> enumerate |> (lambda v: list(v)) |> map(lambda i, x: i + x) |> to_list": [3, 2],
    "[64, 65] |> map(_ + 1) |> bytes": b"AB",
    "[64, 65] |> map(_ + 1) |> bytearray |> bytes": b"AB",
    "[0, 1] |> map(_ + 1) |> statistics.mean |> (lambda mean: [mean])": [1.5],
    "[0, 2] |> map(_ + 1) |> statistics.pstdev |> (lambda spread: [spread])": [1.0],
    "range(29) |> map(_ + 1) |> math.prod |> (lambda product: [product])": [math.factorial(29)],
    "range(3) |> map(_ + 2**62) |> itertools.accumulate |> list": [2**62, 2**63 + 1, 2**62 * 3 + 3],
    "[3, 1] |> map(_ + 1) |> json.dumps |> list": list("[4, 2]"),
    "np.arange(6).reshape(3, 2) |> list |> (lambda rows: [row.sum() for row in rows])": [1, 5, 9],
}


def types(value):
    parts = value.items() if isinstance(value, dict) else value
    return [types(each) for each in parts] if isinstance(value, list | tuple | set | dict) else type(value)


@pytest.mark.parametrize("on", ["parallel", "numpy", "python"])
@pytest.mark.parametrize("cell", COLLECTED)
def test_python_s_collections_are_of_python_s_numbers(cell, on):
    library = {"itertools": itertools, "json": json, "math": math, "statistics": statistics}
    session = Session({"np": np, "Counter": Counter, **library}, Options(on=on, baseline=False))
    for _ in range(3):
        found = session.run_cell(cell).value
        assert found == COLLECTED[cell]
        if "rows" not in cell:
            assert types(found) == types(COLLECTED[cell])


SERIES = {
    "pyarrow": lambda library, xs: library.array(xs),
    "pyarrow, chunks": lambda library, xs: library.chunked_array([xs[:1], xs[1:]]),
    "polars": lambda library, xs: library.Series(xs),
    "pandas": lambda library, xs: library.Series(xs, dtype="Int8"),
}


@pytest.mark.parametrize("on", ["parallel", "python"])
@pytest.mark.parametrize("name", SERIES)
def test_python_s_collections_of_a_series_are_of_python_s_numbers(name, on):
    made = SERIES[name](pytest.importorskip(name.partition(",")[0]), [3, 1, 2])
    session = Session({"xs": made, "math": math, "Counter": Counter}, Options(on=on, baseline=False))
    expected = {
        "sorted": [1, 2, 3], "list": [3, 1, 2], "set": {1, 2, 3}, "Counter": Counter([3, 1, 2]), "bytes": b"\3\1\2",
        "math.prod |> (lambda product: [product])": [6], "sorted |> map(lambda x: x * 100) |> to_list": [100, 200, 300],
    }  # fmt: skip
    for stages, value in expected.items():
        found = session.run_cell(f"xs |> {stages}").value
        assert found == value
        assert types(found) == types(value)


def test_a_dict_of_a_series_has_its_labels():
    series = pytest.importorskip("pandas").Series([3, 1], ["a", "b"])
    assert Session({"xs": series}).run_cell("xs |> dict").value == {"a": 3, "b": 1}


def roots(xs):
    return [np.sqrt(x) for x in xs if x is not None]


NARROWER = {
    "map(np.sqrt)": roots,
    "map(lambda x: x if x is None else np.sqrt(x)) |> filter(lambda x: x is not None)": roots,
    "map(np.sqrt) |> (lambda v: [*v])": roots,
    "map(lambda x: np.float64(x) if x > 2 else np.float32(0.1))": lambda xs: [
        np.float64(x) if x > 2 else np.float32(0.1) for x in xs
    ],
    "map(lambda x: np.complex128(x) if x > 2 else np.complex64(0.1j))": lambda xs: [
        np.complex128(x) if x > 2 else np.complex64(0.1j) for x in xs
    ],
    "map(lambda x: (np.sqrt(x), np.float16(0.1))) |> map(lambda a, b: a * b)": lambda xs: [
        y * np.float16(0.1) for y in roots(xs)
    ],
    "map(np.sqrt) |> (lambda v: [(y, v[-1]) for y in v]) |> map(lambda a, b: a * b)": lambda xs: [
        y * np.sqrt(xs[-1]) for y in roots(xs)
    ],
}
ENDS = {
    "sum": sum,
    "mean": lambda ys: sum(ys) / len(ys),
    "prod": math.prod,
    "cumsum |> to_list": lambda ys: [*itertools.accumulate(ys)],
    "reduce(lambda a, y: a * 0.5 + y)": lambda ys: functools.reduce(lambda a, y: a * 0.5 + y, ys),
    "map(lambda y: y + 1) |> sum": lambda ys: sum(y + 1 for y in ys),
    "enumerate |> map(lambda i, y: i * y) |> sum": lambda ys: sum(i * y for i, y in enumerate(ys)),
}


@pytest.mark.parametrize("on", ["simd", "python"])
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("stages", NARROWER)
def test_wide_floats_of_numpys_are_not_rounded_to_narrower_ones(stages, end, on):
    for xs in ([2.5, True], [1, 2.5, True] * 20, [2.5, np.float32(0.1), 3.3], [2.5] * 3000 + [True]):
        for source in (xs, [None, *xs]) if "None" in stages else (xs,):
            session = Session({"np": np, "xs": source}, Options(on=on, baseline=False))
            with np.errstate(all="ignore"):
                found = session.run_cell(f"xs |> {stages} |> {end}").value
                expected = ENDS[end](NARROWER[stages](source))
            np.testing.assert_allclose(found, expected, rtol=1e-14)
            assert np.array(found).dtype == np.array(expected).dtype


@pytest.mark.parametrize(
    ("element", "told"),
    [
        (np.arange(8).reshape(2, 2, 2)[1], "element 0, which is array([[4, 5], [6, 7]]), in"),
        (np.arange(400).reshape(20, 20), "element 0, which is array([["),
        ("a\nb", "element 0, which is 'a\\nb', in"),
    ],
    ids=["rows", "many", "text"],
)
def test_the_note_on_an_element_is_one_line(element, told):
    with pytest.raises(TypeError) as raised:
        Session({"xs": [element]}, Options(baseline=False)).run_cell("xs |> map(lambda x: x + None)")
    (note,) = (each for each in raised.value.__notes__ if each.startswith("hastega: element"))
    assert told in note
    assert "\n" not in note


ARRANGED = {
    "xs |> window(5) |> map(lambda w: str(w[2]))": lambda xs: [str(each) for each in xs[2:-2]],
    "xs |> chunk(4) |> map(lambda w: str(w))": lambda xs: [
        str((*xs[k : k + 4],)) for k in range(0, len(xs), 4)
    ],
    "xs |> enumerate |> map(lambda i, x: f'{i} {x}')": lambda xs: [f"{i} {x}" for i, x in enumerate(xs)],
    "xs |> zip(xs[1:]) |> filter(lambda a, b: str(a) < str(b)) |> map(lambda a, b: a + b)": lambda xs: [
        a + b for a, b in itertools.pairwise(xs) if str(a) < str(b)
    ],
    "xs |> zip(xs) |> window(2) |> map(lambda v, w: repr(v + w))": lambda xs: [
        repr((a, a, b, b)) for a, b in itertools.pairwise(xs)
    ],
}


@pytest.mark.parametrize(
    "make", [list, np.array, lambda xs: np.array(xs) * 0.5, lambda xs: np.array(xs) > 40]
)
@pytest.mark.parametrize("pipeline", ARRANGED)
def test_tuples_for_a_function_of_pythons_are_made_by_python(pipeline, make, monkeypatch):
    """A loop would store each place of them in a column, of which Python makes the same tuples: 48 loops in one."""
    ran, run = [], driver.run_loops
    for module in (driver, groups):
        monkeypatch.setattr(module, "run_loops", lambda *given: ran.append(given) or run(*given))
    xs = make(list(range(97)))
    space = {"xs": xs}
    Session(space, Options(on="parallel", baseline=False, quiet=True)).run_cell("t = " + pipeline)
    elements = xs if isinstance(xs, list) else xs.tolist()
    assert repr(space["t"].tolist()) == repr(ARRANGED[pipeline](elements))
    assert not ran


def test_the_function_is_what_is_told_of():
    space = {"xs": list(range(97))}
    session = Session(space, Options(on="parallel", baseline=False))
    found = session.run_cell("t = xs |> window(5) |> map(lambda w: str(w))")
    assert "map(lambda w: str(w))" in found.report.to_text()
    with pytest.raises(StrictError, match=r"map\(lambda w: str\(w\)\)` is not compiled"):
        session.run_cell("t = xs |> window(5) |> map(lambda w: str(w))", options=Options(strict=True))
