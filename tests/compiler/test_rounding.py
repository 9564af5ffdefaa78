"""`round` to digits, value by value as CPython rounds: exactly in decimal, ties to the even digit."""

import itertools

import numpy as np
import pytest

from hastega_magic.session import Options, Session
from tests.compiler.battery import EFFORT, assert_like_python, on_target, one_loop, run

R = np.random.default_rng(3)
COUNT = 3000


def adversarial():
    """Ties, their neighbours, numbers with few digits, whole numbers around 2^52 and 2^53, and any bits."""
    parts = [
        R.integers(-(2**63), 2**63 - 1, COUNT).view(np.float64),
        R.normal(size=COUNT) * 10.0 ** R.integers(-5, 18, COUNT),
        R.integers(-(10**7), 10**7, COUNT) / 8,
        R.integers(-(10**17), 10**17, COUNT) * 1.0,
        R.integers(2**50, 2**55, COUNT) / 4.0,
        np.array(
            [0.0, -0.0, np.inf, -np.inf, np.nan, 0.5, 1.5, 2.5, -0.5, -2.5, 2.675, 1.005, 0.125, 5e-324]
        ),
        np.array(
            [-5e-324, 1.7976931348623157e308, 4503599627370496.5, 4503599627370497.5, 9007199254740991.0]
        ),
    ]
    for digits in (1, 2, 3, 5):
        ties = (2 * R.integers(-(10**7), 10**7, COUNT) + 1) / (2 * 10.0**digits)
        parts += [ties, np.nextafter(ties, np.inf), np.nextafter(ties, -np.inf)]
    return np.concatenate(parts)


XS = adversarial()


def bits(values):
    """Of numbers; all NaN are one."""
    return np.where(np.isnan(values), np.nan, values).tobytes()


@pytest.mark.parametrize("digits", [0, 1, 2, 3, 5, 10, 15, 17, 22, -1, -2, -5, -22])
def test_the_bits_are_pythons(digits):
    wanted = bits(np.array([round(x, digits) for x in XS.tolist()]))
    cell = f"xs |> map(lambda x: round(x, {digits}))\n"
    for options in ({"on": "parallel"}, {"on": "simd", "width": 1}, {"on": "opencl"}):
        ran = run(cell, {"xs": XS}, quiet=True, **options)
        one_loop(ran)
        assert bits(ran.value) == wanted, options
    for name in ("avx2", "sse2") if digits in {0, 2, 17, -2} or EFFORT > 1 else ():
        with on_target(name):
            assert bits(run(cell, {"xs": XS[::7]}, on="simd", quiet=True).value) == bits(
                np.array([round(x, digits) for x in XS[::7].tolist()])
            )


NAMES = {
    "xs": XS,
    "ns": np.arange(-50, 50),
    "narrow": np.linspace(-3, 3, 50, dtype=np.float32),
    "table": np.linspace(0, 1, 8),
    "weight": np.float64(0.3),
    "digits": 2,
}


@pytest.mark.parametrize(
    "cell",
    [
        "ns |> map(lambda n: round(n, 2)) |> sum",
        "ns |> map(lambda n: round(n / 7, digits)) |> to_list",
        "ns |> map(lambda n: np.sqrt(round(abs(n) / 7, 1))) |> to_list",
        "ns |> map(lambda n: n / 3) |> map(lambda x: round(x, 2) + 0.5) |> filter(lambda x: x > 1) |> to_list",
    ],
)
def test_more_of_it_is_compiled(cell):
    ran = run(f"{cell}\n", NAMES)
    if "np.sqrt" not in cell:  # beside NumPy's numbers it is Python's, wherever it stands
        one_loop(ran)
    assert_like_python(f"{cell}\n", NAMES, quiet=True)


@pytest.mark.parametrize(
    "cell",
    [
        "ns |> map(lambda n: round(np.sqrt(abs(n)), 2)) |> to_list",
        "ns |> map(lambda n: round(table[n % 8] / 7, 2)) |> to_list",
        "ns |> map(lambda n: round(n * weight, 1)) |> to_list",
        "ns |> map(lambda n: round(np.float64(n) / 8, 2)) |> to_list",
        "narrow |> map(lambda x: round(x, 1)) |> to_list",
        "ns |> map(lambda n: round(n, -1)) |> to_list",
        "ns |> map(lambda n: round(n / 7, n)) |> to_list",
        "ns |> map(lambda n: round(n / 7, 30)) |> to_list",
        "ns |> map(lambda n: round(n / 7, 1.0)) |> to_list",
    ],
)
def test_the_rest_is_pythons(cell):
    """NumPy's floats round otherwise: they multiply, round and divide."""
    ran = assert_like_python(f"{cell}\n", NAMES)
    if ran.error is None:
        assert ran.report["pipelines"][0]["barriers"]


FLOATS = [0.125, 2.675, 1.005, 0.375, 1.115] * 9


@pytest.mark.parametrize("on", ["parallel", "numpy"])
@pytest.mark.parametrize(
    "cell",
    [
        "xs |> map(weighed) |> map(rounded)",
        "xs |> map(weighed) |> map(lambda x: x + 0) |> filter(lambda x: rounded(x) > 2.67)",
        "xs |> map(weighed) |> reverse |> map(rounded)",
        "range(60) |> map(lambda i: table[i % 8]) |> map(lambda x: round(x, 2))",
        "xs |> window(2) |> map(np.mean) |> map(rounded)",
        "xs |> clip(weight, 9.0) |> map(rounded)",
        "xs |> where(lambda x: x > 3, weight) |> map(rounded)",
        "xs |> scan(lambda s, x: round(s + x, 2), weight)",
        "xs |> scan(lambda s, x: (round(s[0] + x, 2), s[1] + 1), (weight, 0))",
        "xs |> scan(lambda s, x: (s[0] + x, 1), (weight, 0)) |> map(lambda s: round(s[0], 2))",
    ],
)
def test_numpys_floats_of_an_earlier_stage_are_rounded_as_numpys(cell, on):
    """Also where a loop, or a stage of Python's, ends between: an array of results would not tell what they were."""
    names = NAMES | {"xs": FLOATS, "weight": np.float64(2.675), "table": np.linspace(2.665, 2.735, 8)}
    names["rounded"] = lambda x: round(x, 2)
    names["weighed"] = lambda x: x * np.float64(2.675)
    assert_like_python(f"{cell}\n", names, on=on, quiet=True)


def test_what_a_running_function_begins_with_may_become_numpys():
    names = {"xs": FLOATS, "begin": 0.0}
    session = Session(names, Options(on="parallel", baseline=False))
    for begin in [1.0, 2.5, 3.5, np.float64(2.675), 2.675, np.float64(0.5), np.float64(1.5), 1.5, 2.0]:
        names["begin"] = begin
        session.run_cell("y = xs |> scan(lambda s, x: round(s + x, 2), begin)\n")
        wanted = list(itertools.accumulate(FLOATS, lambda s, x: round(s + x, 2), initial=begin))[1:]
        assert names["y"].tolist() == wanted
