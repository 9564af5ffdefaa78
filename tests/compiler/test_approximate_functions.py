"""Functions that are computed within an ulp, as compiled: the oracle's bits, CPython's values and exceptions."""

import math

import numpy as np
import pytest

from hastega_magic.ops import OPS
from tests.compiler.battery import one_loop, run

RANDOM = np.random.default_rng(9)
SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    5e-324,
    -1e-310,
    0.5,
    -0.5,
    2.0,
    27.0,
    -28.5,
    1e300,
    math.inf,
    -math.inf,
    math.nan,
]
XS = np.concatenate(
    [SPECIAL, RANDOM.uniform(-4, 4, 60), RANDOM.uniform(0, 1, 30), np.exp2(RANDOM.uniform(-60, 60, 30))]
)
YS = np.concatenate([XS[50:], XS[:50]])
ONE = {"np.asinh": "asinh", "np.acosh": "acosh", "np.atanh": "atanh", "np.cbrt": "cbrt"}
TWO = {
    "np.hypot": "np_hypot",
    "np.logaddexp": "logaddexp",
    "np.logaddexp2": "logaddexp2",
    "np.float_power": "power",
}
MATH = {
    "math.erf": "math_erf",
    "math.erfc": "math_erfc",
    "math.asinh": "math_asinh",
    "math.cbrt": "math_cbrt",
}


def bits(values):
    """The bits, of NaN those of one."""
    values = np.asarray(values)
    word = np.int64 if values.dtype == np.float64 else np.int32
    return np.where(np.isnan(values), np.array(np.nan, values.dtype), values).view(word).tolist()


@pytest.mark.parametrize(
    ("on", "width", "dtype"),
    [
        ("parallel", 8, np.float64),
        ("parallel", 1, np.float32),
        ("opencl", 0, np.float64),
    ],
)
def test_the_bits_of_the_oracle(on, width, dtype):
    with np.errstate(all="ignore"):
        xs, ys = XS.astype(dtype), YS.astype(dtype)
    one, two = (
        {**ONE, **MATH},
        {name: row for name, row in TWO.items() if dtype is np.float64 or row != "power"},
    )
    if on == "opencl":  # one of each kind: its compiler is slow
        one, two = (
            {"math.erfc": "math_erfc", "np.acosh": "acosh", "np.cbrt": "cbrt"},
            {"np.hypot": "np_hypot"},
        )
    calls = [*(f"{name}(x)" for name in one), *(f"{name}(x, y)" for name in two)]
    ran = run(
        f"xs |> zip(ys) |> map(lambda x, y: ({', '.join(calls)}))", {"xs": xs, "ys": ys}, on=on, width=width
    )
    assert not one_loop(ran).recovered
    elements = list(zip(xs, ys, strict=True))
    for place, name in enumerate([*one, *two]):
        row = OPS[{**one, **two}[name]]
        result = dtype if dtype is np.float32 and name not in MATH else float
        expected = np.array([row.python(*map(result, pair[: row.arity])) for pair in elements], result)
        found = ran.value[f"f{place}"]
        assert found.dtype == result
        assert bits(found) == bits(expected), name


def test_an_option_price():
    """Black and Scholes' formula: the first use of erf."""
    prices = np.linspace(50, 150, 2000)

    def call(price, strike=100.0, rate=0.03, volatility=0.2, years=1.5):
        spread = volatility * math.sqrt(years)
        first = (math.log(price / strike) + (rate + volatility**2 / 2) * years) / spread
        return price * normal(first) - strike * math.exp(-rate * years) * normal(first - spread)

    def normal(x):
        return math.erfc(-x / math.sqrt(2)) / 2

    ran = run("prices |> map(call)", {"prices": prices, "call": call, "normal": normal})
    one_loop(ran)
    assert np.allclose(ran.value, [call(price) for price in prices.tolist()], rtol=1e-12, atol=0)


@pytest.mark.parametrize("on", ["parallel", "numpy", "opencl"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_the_power_of_one_half_is_a_root(on, dtype):
    xs = np.abs(XS[np.abs(XS) < 1e30])
    xs = np.arange(500) if dtype == "int64" else np.append(xs, [-0.0, -math.inf, math.nan]).astype(dtype)
    ran = run("xs |> map(lambda x: x ** 0.5)", {"xs": xs}, on=on)
    assert np.allclose(
        ran.value,
        [float(x) ** 0.5 for x in xs],
        rtol=2.0 ** (-23 if dtype == "float32" else -52),
        atol=0,
        equal_nan=True,
    )
    assert not np.signbit(ran.value[~np.isnan(ran.value)]).any()


def test_the_power_of_one_half_of_a_negative_number_is_complex():
    ran = run("xs |> map(lambda x: x ** 0.5) |> to_list", {"xs": [4.0, -4.0]})
    assert ran.value == [2.0, (-4.0) ** 0.5]
