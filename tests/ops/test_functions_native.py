"""The elementary functions as compiled: the oracle's bits at every width, CPython's exceptions, no call of libm."""

import functools
import math
import re

import numpy as np
import pytest

from hastega_magic.compiler.options import Options
from hastega_magic.ops import OPS
from hastega_magic.session import Session

UFUNCS = {
    "exp": "exp", "expm1": "expm1", "exp2": "exp2", "log": "log", "log1p": "log1p", "log2": "log2",
    "log10": "log10", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "arcsin", "acos": "arccos",
    "atan": "arctan", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh",
}  # fmt: skip
SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    5e-324,
    -5e-324,
    1e-310,
    0.5,
    2.0,
    math.inf,
    -math.inf,
    math.nan,
    710.0,
    -745.0,
]


@functools.cache
def operands(dtype=np.float64):
    rng = np.random.default_rng(7)
    patterns = rng.integers(0, 2**64, 60, np.uint64).view(np.float64)
    patterns = np.where(abs(patterns) < 2.0**40, patterns, 3.0)
    with np.errstate(all="ignore"):
        return np.concatenate([SPECIAL, patterns, rng.uniform(-4, 4, 60), rng.uniform(0, 1, 17)]).astype(
            dtype
        )


def bits(values):
    values = np.asarray(values)
    canonical = np.where(np.isnan(values), np.array(np.nan, values.dtype), values)
    return canonical.view(np.int64 if values.dtype == np.float64 else np.int32)


def run(cell, width=0, quiet=True, **names):
    options = Options(baseline=False, strict=True, width=width, quiet=quiet)
    session = Session({"np": np, "math": math, **names}, options)
    return session.run_cell(cell).value, session


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", UFUNCS)
def test_the_bits_of_the_oracle(name, dtype):
    xs = operands(dtype)
    scalars = list(xs) if dtype is np.float32 else xs.tolist()
    expected = np.array([OPS[name].python(x) for x in scalars], dtype)
    for width in (1, 4, 8):
        found, _ = run(f"xs |> map(lambda x: np.{UFUNCS[name]}(x))", width, xs=xs)
        assert found.dtype == dtype
        assert (bits(found) == bits(expected)).all(), (width, xs[bits(found) != bits(expected)])


@pytest.mark.parametrize(("name", "call"), [("power", "np.power"), ("atan2", "np.arctan2")])
def test_the_bits_of_the_oracle_for_two_operands(name, call):
    xs = operands()
    ys = np.concatenate([xs[40:], xs[:40]])
    expected = np.array([OPS[name].python(x, y) for x, y in zip(xs.tolist(), ys.tolist(), strict=True)])
    for width in (1, 4, 8):
        found, _ = run(f"xs |> zip(ys) |> map(lambda x, y: {call}(x, y))", width, xs=xs, ys=ys)
        assert (bits(found) == bits(expected)).all(), (width, xs[bits(found) != bits(expected)])


@pytest.mark.parametrize(
    "expression",
    [
        "math.exp(x)", "math.expm1(x)", "math.exp2(x)", "math.log(x)", "math.log1p(x)", "math.log2(x)",
        "math.log10(x)", "math.sin(x)", "math.cos(x)", "math.tan(x)", "math.asin(x)", "math.acos(x)",
        "math.sinh(x)", "math.cosh(x)", "math.pow(x, 0.5)", "math.pow(x, -1)", "math.pow(x, 300.5)",
        "x ** -1.0", "x ** 301.0", "x ** -3",
    ],
)  # fmt: skip
@pytest.mark.parametrize("bad", [0.0, -1.0, -2.0, 1000.0, 1e300, -1e300, math.inf, -math.inf])
def test_exceptions_are_pythons(expression, bad):
    # An int array among the sources, and an ordinary element before the bad one.
    function = eval(f"lambda x: {expression}", {"math": math})
    xs = np.array([0.25, 0.5, bad, 0.75])
    try:
        expected = [function(x) for x in xs.tolist()]
    except (ArithmeticError, ValueError) as error:
        with pytest.raises(type(error), match=re.escape(str(error))):
            run(f"xs |> map(lambda x: {expression})", xs=xs)
    else:
        found, _ = run(f"xs |> map(lambda x: {expression})", xs=xs)
        assert found.tolist() == pytest.approx(expected, rel=4e-16, nan_ok=True)


def test_huge_angles_are_pythons():
    xs = np.array([1.0, 1e300, -(2.0**60), 2.0**40])
    assert run("xs |> map(lambda x: math.sin(x))", xs=xs)[0].tolist() == pytest.approx(
        np.sin(xs).tolist(), rel=4e-16
    )
    assert run("xs |> map(np.cos)", xs=xs)[0].tolist() == pytest.approx(np.cos(xs).tolist(), rel=4e-16)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("call", ["np.sin", "np.cos", "np.tan", "math.sin"])
def test_no_bit_depends_on_a_huge_angle_in_the_same_block(call, dtype):
    xs = np.random.default_rng(11).uniform(-1000, 1000, 5000).astype(dtype)
    beside = xs.copy()
    beside[[7, 4999]] = 1e15, -3e30
    plain, _ = run(f"xs |> map(lambda x: {call}(x))", xs=xs)
    found, session = run(f"xs |> map(lambda x: {call}(x))", quiet=False, xs=beside)
    same = xs == beside
    assert found.dtype == plain.dtype
    assert (bits(found)[same] == bits(plain)[same]).all()
    exact = [getattr(math, call.partition(".")[2])(x) for x in beside[~same].tolist()]
    assert found[~same].tolist() == np.array(exact, found.dtype).tolist()
    (pipeline,) = session.last_report.pipelines
    assert "Python computed 2 of 2 blocks of 4096 elements, one by one." in pipeline.why


def test_reductions_and_filters_beside_a_huge_angle_are_those_of_the_same_elements():
    xs = np.random.default_rng(12).uniform(-1000, 1000, 9000).astype(np.float32)
    beside = np.append(xs, np.float32(1e15))
    cell = "xs |> map(np.cos) |> filter(lambda v: v < 0.9) |> map(lambda v: v * 3)"
    plain, found = run(cell, xs=xs)[0], run(cell, xs=beside)[0]
    assert (bits(found)[: len(plain)] == bits(plain)).all()
    assert len(found) - len(plain) == (3 * np.cos(1e15) < 2.7)
    largest = "xs |> map(np.cos) |> filter(lambda v: v < 0.9) |> max"
    assert run(largest, xs=xs)[0] == run(largest, xs=beside)[0]


def test_math_functions_of_float32_are_float64():
    xs = np.array([0.1, 0.7], np.float32)
    found, _ = run("xs |> map(lambda x: math.exp(x))", xs=xs)
    assert found.dtype == np.float64
    assert found.tolist() == pytest.approx([math.exp(x) for x in xs], rel=4e-16)


def test_powers_of_ints_and_floats():
    xs = np.array([1, 2, 3, -4])
    assert run("xs |> map(lambda x: x ** -1)", xs=xs)[0].tolist() == pytest.approx(
        [1, 0.5, 1 / 3, -0.25], rel=4e-16
    )
    with pytest.raises(ZeroDivisionError):
        run("xs |> map(lambda x: x ** -2)", xs=np.array([1, 0]))
    roots = run("xs |> map(lambda x: x ** 0.5)", xs=abs(xs))[0]
    assert roots.tolist() == pytest.approx([x**0.5 for x in [1, 2, 3, 4]], rel=4e-16)
    found = run("xs |> zip(ys) |> map(lambda x, y: x ** y)", xs=abs(xs), ys=xs / 3)[0]
    assert found.tolist() == pytest.approx([1, 2 ** (2 / 3), 3.0, 4 ** (-4 / 3)], rel=4e-16)
    single = run("xs |> map(lambda x: x ** 1.5)", xs=np.array([2, -1, 0], np.float32))[0]
    assert single.dtype == np.float32
    assert bits(single).tolist() == bits(np.array([2**1.5, np.nan, 0], np.float32)).tolist()


def test_complex_powers_are_pythons():
    with pytest.raises(TypeError) as caught:
        (-8.0) ** 0.5 < 1  # noqa: B015
    with pytest.raises(TypeError, match=re.escape(str(caught.value))):
        run("xs |> map(lambda x: x ** 0.5 < 1)", xs=np.array([1.0, -8.0]))


@pytest.mark.parametrize("name", [*UFUNCS.values(), "arctan2", "power"])
def test_nothing_of_libm_is_called(name):
    xs = operands()
    cell = f"xs |> map(np.{name})"
    if name in ("arctan2", "power"):
        cell = f"xs |> map(lambda x: np.{name}(x, x))"
    _, session = run(cell, quiet=False, xs=xs)
    text = session.last_report.to_dict()["pipelines"][0]["code"]["llvm"]
    called = set(re.findall(r"@([\w.]+)\(", text))
    assert any("fma" in function for function in called)
    allowed = r"llvm\.(fma|fabs|sqrt|rint|copysign|masked\.|prefetch|memcpy)"
    assert not [
        f for f in called if re.search("sin|cos|tan|exp|log|pow", f.lower()) and not re.match(allowed, f)
    ]


def test_hypot_where_its_scale_ends():
    """The reciprocal power of two of numbers from 2^1022 on is no normal number: Python computes those."""
    ys = np.array([2.0**1021, 1.99 * 2.0**1021, 2.0**1022, 1.5 * 2.0**1022, 2.0**-1021, 2.0**-1022])
    for y in ys:
        session = Session({"ys": np.full(3, y), "math": math}, Options(on="simd", baseline=False))
        session.run_cell("t = ys |> map(lambda y: math.hypot(y, 0.0)) |> to_list")
        assert session.namespace["t"] == [math.hypot(y, 0.0)] * 3
