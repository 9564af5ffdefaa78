"""`sorted`, `isinstance`, `math.isclose`, `math.log` to a base, `math.fmod`, and NumPy's extremes and signs."""

import itertools
import math
import statistics

import numpy as np
import pytest

from tests.compiler.battery import assert_interpreted, assert_like_python, one_loop, python, run, some

RANDOM = np.random.default_rng(0)
ODD = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e300, -1e-300, math.inf, -math.inf]
NAMES = {
    "math": math,
    "np": np,
    "statistics": statistics,
    "i": RANDOM.integers(-9, 10, 5003),
    "j": RANDOM.integers(-9, 10, 5003),
    "f": RANDOM.normal(size=5003) * 3,
    "g": RANDOM.normal(size=5003),
    "odd": [x for x, _ in itertools.product(ODD, ODD)],
    "others": [y for _, y in itertools.product(ODD, ODD)],
    "nans": [math.nan if k % 7 == 3 else k * 0.5 for k in range(200)],
    "flags": RANDOM.integers(0, 2, 500).astype(bool),
    "h": RANDOM.normal(size=500).astype(np.float32),
}
CLOSE = {"equal": lambda a, b: np.allclose(a, b, rtol=1e-14, atol=1e-300, equal_nan=True)}

CELLS = [
    "f |> window(3) |> map(lambda w: sorted(w)[1])",
    "i |> window(5) |> map(lambda w: sorted(w)[2]) |> to_list",
    "i |> window(9) |> map(lambda *w: sorted(w, reverse=True)[0] - sorted(w)[0])",
    "f |> window(4) |> map(lambda w: sum(sorted(w)[1:-1]) / 2)",
    "f |> window(3) |> map(statistics.median)",
    "i |> chunk(4) |> map(statistics.median)",
    "odd |> zip(others) |> map(lambda a, b: math.copysign(1.0, sorted((a, b, 0.0))[1])) |> to_list",
    "odd |> zip(others) |> map(lambda a, b: math.copysign(1.0, sorted([a, b], reverse=True)[0])) |> to_list",
    "i |> zip(j) |> map(lambda a, b: max(sorted([a, b, 3])) + len(sorted((a, b))))",
    "i |> zip(j) |> filter(lambda a, b: a in sorted((b, 3))) |> count",
    "nans |> window(3) |> map(lambda w: sorted(w)[1])",
    "flags |> window(3) |> map(lambda w: sorted(w)[1]) |> to_list",
    "h |> window(3) |> map(lambda w: sorted(w)[1])",
    "i |> map(lambda x: 1 if isinstance(x, int) else 2) |> sum",
    "f |> map(lambda x: isinstance(x, (int, float)) and x > 0) |> any",
    "h |> map(lambda x: isinstance(x, float)) |> any",
    "f |> zip(g) |> filter(lambda a, b: math.isclose(a, b, abs_tol=0.1)) |> count",
    "odd |> zip(others) |> map(lambda a, b: math.isclose(a, b)) |> to_list",
    "i |> zip(j) |> map(lambda a, b: math.isclose(a, b, rel_tol=0.2)) |> to_list",
    "i |> map(lambda x: math.isclose(x, 1.0, rel_tol=-1)) |> count",
    "odd |> zip(others) |> map(lambda a, b: math.fmod(a, b if b else 1.0)) |> to_list",
    "f |> zip(g) |> map(lambda a, b: math.fmod(a, b))",
    "f |> map(lambda x: math.fmod(x, 0.0))",
    "i |> map(lambda x: np.maximum(x, 0)) |> sum",
    "odd |> zip(others) |> map(lambda a, b: np.maximum(a, b)) |> to_list",
    "odd |> zip(others) |> map(lambda a, b: np.minimum(a, b)) |> to_list",
    "nans |> map(lambda x: np.maximum(x, 1.0)) |> to_list",
    "nans |> map(lambda x: np.minimum(2.0, x)) |> to_list",
    "nans |> map(np.sign) |> to_list",
    "odd |> map(np.sign) |> to_list",
    "i |> map(lambda x: np.sign(x)) |> sum",
    "h |> map(lambda x: np.maximum(x, np.float32(0.5)))",
]


def same(a, b):
    """Equal, NaN as NaN and zeros with their signs, whatever class the numbers have."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    return (
        a.shape == b.shape and np.array_equal(a, b, equal_nan=True) and (np.signbit(a) == np.signbit(b)).all()
    )


@pytest.mark.parametrize(
    ("cell", "on"), some(itertools.product(CELLS, ["parallel", "simd", "opencl"]), every=2)
)
def test_as_python_has_it(cell, on):
    expected, found = python(cell, NAMES), run(cell, NAMES, on=on)
    assert type(found.error) is type(expected.error), (found.error, expected.error)
    assert str(found.error) == str(expected.error)
    if expected.error is None:
        assert same(found.value, expected.value)
        one_loop(found)


@pytest.mark.parametrize("cell", [each for each in CELLS if "nans |> window" not in each])
def test_the_interpreter_agrees(cell):
    ran = run(cell.replace("5003", "300"), {**NAMES, **{name: NAMES[name][:300] for name in "ijfg"}})
    if ran.error is None and not any(execution.fell_back for execution in ran.executions):
        assert_interpreted(ran, same)


def test_a_logarithm_to_a_base():
    assert_like_python("f |> map(lambda x: math.log(x * x + 1, 3))", NAMES, **CLOSE, quiet=True)
    assert_like_python("f |> map(lambda x: math.log(abs(x) + 1, 1))", NAMES, quiet=True)
    assert_like_python("f |> map(lambda x: math.log(x, -1))", NAMES, quiet=True)


@pytest.mark.parametrize(
    ("stages", "why"),
    [
        ("map(lambda x: sorted((x, 1), key=abs)[0])", "with a `key`"),
        ("map(lambda x: sorted((x, 1)))", "a list is built"),
        ("map(lambda x: (x, sorted((x, 1))))", "a list is built"),
        ("map(lambda x: sorted((x, 1)) < [x, 2])", ""),
        ("map(lambda x: sorted((x, 1.5))[0])", "of several types"),
        ("map(lambda x: isinstance(x > 1, bool))", "of a bool"),
        ("window(17) |> map(lambda w: sorted(w)[0])", "of 17 numbers"),
    ],
)
def test_what_is_left_to_python_is_right_too(stages, why):
    found, expected = run(f"i |> {stages} |> to_list", NAMES), python(f"i |> {stages} |> to_list", NAMES)
    assert found.error is expected.error is None
    assert list(map(repr, found.value)) == list(map(repr, expected.value))
    (barrier, *_) = found.report["pipelines"][0]["barriers"]
    assert why in barrier["reason"]
