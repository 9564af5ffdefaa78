"""Windows and chunks of many elements: a loop over places that gives what Python gives for each tuple."""

from __future__ import annotations

import array
import math
import tracemalloc

import numpy as np
import pytest
from battery import some

from hastega_magic.compiler.options import Options
from hastega_magic.session import Session

RNG = np.random.default_rng(11)
SOURCES = {
    "float64": RNG.standard_normal(1003),
    "float32": RNG.standard_normal(1003).astype(np.float32),
    "int64": RNG.integers(-1000, 1000, 1003),
    "big": RNG.integers(-(2**61), 2**61, 1003),
    "uint8": RNG.integers(0, 255, 1003).astype(np.uint8),
    "bool": RNG.random(1003) > 0.3,
    "complex128": RNG.standard_normal(1003) + 1j * RNG.standard_normal(1003),
    "strided": RNG.standard_normal(3009)[::3],
    "swapped": RNG.integers(-1000, 1000, 1003).astype(">i4"),
    "ints": [int(each) for each in RNG.integers(-1000, 1000, 1003)],
    "floats": [float(each) for each in RNG.standard_normal(1003)],
    "range": range(5, 1008),
    "array": array.array("d", RNG.standard_normal(1003)),
}
STAGES = ["window(100)", "window(65)", "chunk(100)", "chunk(59 * 17)", "chunk(1003)"]
FUNCTIONS = {
    "sum": "sum", "mean": "lambda w: sum(w) / len(w)", "ends": "lambda w: (w[0], w[-1])",
    "squares": "lambda w: sum(v * v for v in w)", "half": "lambda w: sum(w[10:50])",
}  # fmt: skip
ORDERED = {"min": "min", "max": "max", "loop": "first_above", "spread": "lambda w: max(w) - min(w)"}
DEFINED = """
def first_above(w):
    for number, v in enumerate(w):
        if v > 0:
            return number
    return -1
"""


def run(cell: str, on: str, names: dict[str, object]) -> tuple[object, Session]:
    session = Session({**names, "math": math}, Options(on=on, threads=2, baseline=False, quiet=True))
    session.run_cell(cell)
    return session.namespace.get("t"), session


def same(found: object, expected: object) -> bool:
    a, b = np.asarray(found), np.asarray(expected)
    return type(found) is type(expected) and a.dtype == b.dtype and np.array_equal(a, b)


RANGES = [
    range(1500, -1509, -3),
    range(2**63 - 4012, 2**63 - 1, 4),
    range(-(2**63), 2**63 - 1, 2**53),
    range(-(2**63) + 4, -(2**63) + 1100),
    range(2**62, -(2**62), -(2**53)),
    range(2**64, 2**64 + 1003),
    range(100),
    range(64),
    range(0),
]


@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
@pytest.mark.parametrize("xs", RANGES, ids=repr)
@pytest.mark.parametrize(
    "function", ["sum", "lambda w: w[0] ^ w[-1]", "max", "lambda w: sum(v % 7 for v in w)", "len"]
)
def test_ranges(xs, function):
    for stage in ("window(100)", "chunk(100)"):
        cell = f"t = xs |> {stage} |> map({function}) |> to_list"
        assert same(run(cell, "parallel", {"xs": xs})[0], run(cell, "python", {"xs": xs})[0])


def test_a_long_range_is_in_nobodys_memory():
    cell = "t = range(10**10, 10**10 + 2 * 10**7) |> window(80) |> map(sum) |> max"
    tracemalloc.start()
    try:
        found, _ = run(cell, "parallel", {})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found == sum(range(10**10 + 2 * 10**7 - 80, 10**10 + 2 * 10**7))
    assert peak < 50 * 10**6


CASES = [
    (source, function, stage)
    for source in SOURCES
    for function in (FUNCTIONS | ORDERED)
    for stage in STAGES
    if not (source == "complex128" and function in ORDERED)  # they have no order
    and not (function == "half" and stage == "chunk(100)")  # a slice of a last, shorter one is left to Python
]


@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
@pytest.mark.parametrize(("source", "function", "stage"), some(CASES, every=9))
def test_what_python_gives(source, function, stage):
    cell = f"{DEFINED}t = xs |> {stage} |> map({(FUNCTIONS | ORDERED)[function]})"
    names = {"xs": SOURCES[source]}
    found, session = run(cell, "parallel", names)
    assert same(found, run(cell, "python", names)[0])
    if source != "big":
        (pipeline,) = session.last_report.pipelines
        assert not pipeline.barriers


def test_a_loop_goes_on_behind():
    xs = SOURCES["float64"]
    cell = "t = xs |> map(lambda x: x * 2) |> window(80) |> map(max) |> filter(lambda m: m > 5) |> sum"
    found, session = run(cell, "parallel", {"xs": xs})
    assert found == pytest.approx(run(cell, "python", {"xs": xs})[0], rel=1e-12)
    assert not session.last_report.pipelines[0].barriers


@pytest.mark.parametrize("stage", ["window(2000)", "chunk(2000)", "window(100)", "chunk(100)"])
@pytest.mark.parametrize("length", [0, 1, 99, 100, 101, 1003])
def test_fewer_elements_than_a_window(stage, length):
    xs = SOURCES["int64"][:length]
    cell = f"t = xs |> {stage} |> map(sum)"
    assert same(run(cell, "parallel", {"xs": xs})[0], run(cell, "python", {"xs": xs})[0])


def test_an_element_that_raises():
    xs = np.ones(500)
    xs[321] = 0
    cell = "t = xs |> window(100) |> map(lambda w: 1 / w[50])"
    with pytest.raises(ZeroDivisionError):
        run(cell, "parallel", {"xs": xs})
    with pytest.raises(IndexError):
        run("t = xs |> window(100) |> map(lambda w: w[k])", "parallel", {"xs": xs, "k": 100})


@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
def test_sums_beyond_int64_are_exact():
    xs = np.full(300, 2**62)
    found, _ = run("t = xs |> chunk(100) |> map(sum) |> to_list", "parallel", {"xs": xs})
    assert found == [100 * 2**62] * 3


def test_what_is_left_to_python_says_so():
    xs = SOURCES["float64"]
    for rest in ("map(sorted)", "filter(any)", "map(lambda w: np.mean(w))", "count"):
        cell = f"import numpy as np\nt = xs |> window(100) |> {rest}"
        found, session = run(cell, "parallel", {"xs": xs})
        assert same(found, run(cell, "python", {"xs": xs})[0])
        assert session.last_report.pipelines[0].barriers


@pytest.mark.parametrize("element", [lambda i: (i,), lambda i: [i, i], lambda i: (i, -i)])
@pytest.mark.parametrize("stage", ["window(100)", "chunk(100)"])
def test_rows_are_no_numbers(element, stage):
    xs = [element(number) for number in range(1003)]
    for on in ("parallel", "python"):
        with pytest.raises(TypeError, match="unsupported operand"):
            run(f"t = xs |> {stage} |> map(sum)", on, {"xs": xs})
        step = 1 if stage == "window(100)" else 100
        tuples = [tuple(xs[k : k + 100]) for k in range(0, 904 if step == 1 else 1003, step)]
        for function in ("max", "lambda w: w[0]", "len"):
            found, _ = run(f"t = xs |> {stage} |> map({function}) |> to_list", on, {"xs": xs})
            assert found == [*map(eval(function), tuples)]


def test_devices_and_baselines():
    pytest.importorskip("pyopencl")
    xs = SOURCES["int64"]
    cell = "t = xs |> window(100) |> map(sum)"
    assert same(run(cell, "opencl", {"xs": xs})[0], run(cell, "python", {"xs": xs})[0])


def test_the_report_has_baselines_and_the_text():
    xs = np.arange(20000.0)
    session = Session({"xs": xs}, Options(on="parallel", threads=2))
    session.run_cell("t = xs |> window(100) |> map(lambda w: sum(w) / 100)")
    (pipeline,) = session.last_report.pipelines
    assert any(each.equal for each in pipeline.baselines)
    assert "window(100) |> map" in session.last_report.to_dict()["cell"]["source"]


TUPLES = [
    "p |> map(lambda a, b: a * b) |> sum", "p |> filter(lambda e: e[0] > 5) |> map(lambda a, b: a + b)", "p |> take(5)",
    "p |> map(lambda a, b: (b, a))", "p |> enumerate |> map(lambda i, e: i + e[1])", "p |> count", "p |> first",
    "p |> reverse |> map(lambda e: e[0]) |> to_list", "p |> max", "p |> zip(p) |> map(lambda a, b: a[0] + b[1])",
]  # fmt: skip


@pytest.mark.parametrize("rest", TUPLES)
def test_an_array_of_tuples_is_read_field_by_field(rest):
    p = np.zeros(600, dtype=[("x", "i4"), ("y", "f8")])
    p["x"], p["y"] = np.arange(600), SOURCES["float64"][:600]
    found, _ = run(f"t = {rest}", "parallel", {"p": p})
    expected, _ = run(f"t = {rest}", "python", {"p": p})
    if isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-12)
    else:
        assert same(found, expected)


COMPLEX_TUPLES = [
    "p |> map(lambda a, b: a * b)", "p |> filter(lambda e: e[0].real > 0)", "p |> map(lambda a, b: (b, a)) |> to_list",
    "p |> enumerate |> map(lambda i, e: i / (e[0] + 9))", "p |> reverse |> map(lambda a, b: abs(a)) |> to_list",
    "p |> window(2) |> map(lambda d, e: d[0] - e[1])", "p |> map(lambda e: e[0]) |> last", "p |> drop(596) |> first",
]  # fmt: skip


@pytest.mark.parametrize("rest", COMPLEX_TUPLES)
@pytest.mark.parametrize("types", ["c16 i8", "c8 f4", ">c16 c16"])
def test_tuples_of_complex_numbers_are_read_field_by_field(rest, types):
    first, second = types.split()
    p = np.zeros(600, dtype=[("f0", first), ("f1", second)])
    p["f0"], p["f1"] = SOURCES["complex128"][:600], np.arange(600)
    p["f0"][7:10] = -0.0, complex(math.nan, 1), complex(math.inf, -0.0)
    found, session = run(f"t = {rest}", "parallel", {"p": p})
    with np.errstate(all="ignore"):  # of NumPy's scalars
        expected, _ = run(f"t = {rest}", "python", {"p": p})
    assert type(found) is type(expected)
    if isinstance(found, np.ndarray):
        assert found.dtype == expected.dtype
        found, expected = found.tolist(), expected.tolist()
    assert repr(found) == repr(expected)
    assert not session.last_report.pipelines[-1].barriers


def test_no_tuples_of_complex_numbers_keep_their_type():
    cell = "t = zs |> map(lambda z: (z.real, z)) |> drop(5000)"
    found, _ = run(cell, "parallel", {"zs": SOURCES["complex128"]})
    assert found.dtype == np.dtype([("f0", "f8"), ("f1", "c16")])
    assert not len(found)


def test_a_pipelines_own_tuples_go_on():
    cell = "p = xs |> zip(fs)\nprint(len(p))\nt = p |> map(lambda a, b: a * b)"
    found, session = run(cell, "parallel", {"xs": SOURCES["int64"], "fs": SOURCES["float64"]})
    assert same(found, SOURCES["int64"] * SOURCES["float64"])
    assert not session.last_report.pipelines[-1].barriers


def test_generators_that_a_comprehension_uses_up():
    names = {"xs": list(range(300)), "ys": np.arange(5)}
    texts = [
        "[sum(i * i for i in range(x % 10)) for x in xs]", "[sum(k for k in (1, 2)) for x in xs]",
        "sum(1 for x in xs if all(x % d for d in range(2, x)))", "[max(min(j, x) for j in ys) for x in xs]",
    ]  # fmt: skip
    for text in texts:
        found, _ = run(f"t = {text}", "parallel", names)
        expected = eval(text, dict(names))
        assert (found, type(found)) == (expected, type(expected))
        if isinstance(found, list):
            assert [*map(type, found)] == [*map(type, expected)]


def test_the_reason_is_that_of_the_function():
    cell = "t = xs |> chunk(100) |> map(lambda w: sum(v if v > 0.5 else v > 0 and 1 for v in w))"
    _, session = run(cell, "parallel", {"xs": SOURCES["float64"]})
    (barrier,) = session.last_report.pipelines[0].barriers
    assert "a bool, an int or a float" in barrier.reason
