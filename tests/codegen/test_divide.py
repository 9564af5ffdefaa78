"""Divisions by constants that are multiplied: the bits of a division, for every dividend."""

import math
from fractions import Fraction

import battery
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hastega_magic.codegen.llvm.divide import steps
from hastega_magic.ir.reciprocal import doubtful, reciprocal

DIVISORS = [
    3.0,
    5.0,
    7.0,
    -11.0,
    49.0,
    0.1,
    -0.3,
    1e20,
    1e-25,
    1.0000000000000002,
    1.9999999999999998,
    10,
    2.0**99 * 3,
]


def hard_dividends(size: float) -> np.ndarray:
    """Those whose quotients are next to the middle of two floats, whether or not products may miss them."""
    return np.array([*doubtful(size, math.ulp(1 / size))], float)


def dividends(divisor: float, seed: int = 3) -> np.ndarray:
    """Any bits, numbers next to exact quotients, and next to those half way between two."""
    rng = np.random.default_rng(seed)
    quotients = 1 + rng.integers(0, 2**52, 4000) * 2.0**-52
    exact = quotients * divisor
    halfway = ((quotients.astype(np.longdouble) + np.longdouble(2) ** -53) * divisor).astype(float)
    edges = [2.0**-800, 2.0**900, 2.0**-1022, 5e-324, 1.7976931348623157e308, np.inf, 0.0]
    around = [np.nextafter(each, towards) for each in (exact, halfway) for towards in (np.inf, -np.inf)]
    signed = np.array([*edges, *(-each for each in edges), np.nan])
    whole = rng.integers(-(2**53), 2**53, 4000).astype(float)
    bits = rng.integers(-(2**63), 2**63, 4000).view(np.float64)
    hardest = hard_dividends(abs(divisor))
    scaled = [scale * hardest for scale in (1.0, -1.0, 2.0**300, 2.0**-500, 2.0**-700)]
    others = [np.zeros(4096), whole, bits, signed, np.repeat(signed, 64)]
    return np.concatenate([exact, halfway, *around, *scaled, *others])


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    nan = np.isnan(a) & np.isnan(b)
    return bool(np.all(nan | (a.view(np.int64) == b.view(np.int64))))


@pytest.mark.parametrize("target", [*battery.FEATURE_SETS])
@pytest.mark.parametrize("divisor", DIVISORS)
def test_quotients_are_those_of_a_division(divisor, target):
    xs = dividends(divisor)
    with battery.on_target(target), np.errstate(all="ignore"):
        ran = battery.run("xs |> map(lambda x: x / c)", {"xs": xs, "c": divisor})
        assert ran.error is None
        assert same_bits(ran.value, xs / divisor)


@battery.examples(40)
@given(st.floats(2.0**-100, 2.0**100), st.booleans(), st.integers(0, 2**32))
def test_quotients_by_any_divisor(divisor, negative, seed):
    divisor = -divisor if negative else divisor
    xs = dividends(divisor, seed)
    with np.errstate(all="ignore"):
        ran = battery.run("xs |> map(lambda x: x / c)", {"xs": xs, "c": divisor})
        assert same_bits(ran.value, xs / divisor)


def test_a_reciprocal_that_is_too_far_off_takes_another_step():
    assert (steps(5.0), steps(49.0)) == (1, 2)


@battery.examples(200)
@given(st.floats(2.0**-100, 2.0**100))
def test_two_parts_of_a_reciprocal_are_nearly_all_of_it(divisor):
    found = reciprocal(divisor)
    if found is None:
        return
    high, low = map(Fraction, found)
    exact = 1 / Fraction(divisor)
    assert high < exact
    assert abs(high + low - exact) <= low / 2**53
    assert reciprocal(-divisor) == (-found[0], -found[1])


def test_divisors_that_products_do_not_serve_are_divided_by_in_steps():
    """One of twenty that take all binary digits; of shorter ones only powers of two, which have no second part."""
    rng = np.random.default_rng(5)
    divisors = [1 + float(each) * 2.0**-52 for each in rng.integers(1, 2**52, 400)]
    left = [each for each in divisors if reciprocal(each) is None]
    assert 5 <= len(left) <= 60
    assert [each for each in range(1, 2000) if reciprocal(float(each)) is None] == [2**k for k in range(11)]
    for each in left[:8]:
        xs = dividends(each)
        with np.errstate(all="ignore"):
            ran = battery.run("xs |> map(lambda x: x / c)", {"xs": xs, "c": each})
            assert same_bits(ran.value, xs / each)


WHOLE = "def f(k):\n    x = 0.0\n    for i in range(3):\n        x = x + k / 7 + i\n    return x\n"


@pytest.mark.parametrize("target", [*battery.FEATURE_SETS])
@pytest.mark.parametrize("cell", ["ks |> map(lambda k: k / 7)", WHOLE + "ks |> map(f)"], ids=["map", "loop"])
def test_ints_are_multiplied_without_a_branch(cell, target):
    """A zero, or no very small number: in loops, too."""
    rng = np.random.default_rng(7)
    ks = np.concatenate([rng.integers(-(2**52), 2**52, 3000), np.zeros(64, int), np.arange(-50, 50)])
    with battery.on_target(target):
        ran = battery.run(cell, {"ks": ks})
    assert ran.error is None
    python: dict[str, object] = {}
    exec(WHOLE, python)
    of_loops = np.array([python["f"](k) for k in ks.tolist()])
    expected = of_loops if "def" in cell else ks / 7
    assert same_bits(ran.value, expected)
    texts = [body.program.text for each in ran.executions for body in each.compiled.bodies.values()]
    if "llvm.fma" in "".join(texts):
        assert all("fdiv" not in text for text in texts)


def test_what_is_not_multiplied():
    """Divisors of any size, variables, and loops, whose turns may not begin other blocks."""
    names = {"xs": np.linspace(-3, 3, 5000)}
    cells = [
        "xs |> map(lambda x: x / 1e300)", "xs |> map(lambda x: x / (x + 9.0))",
        "def f(x):\n    while x > 0.1:\n        x = x / 3.0\n    return x\nxs |> map(f)",
    ]  # fmt: skip
    for cell in cells:
        ran = battery.run(cell, names)
        texts = [body.program.text for each in ran.executions for body in each.compiled.bodies.values()]
        assert texts
        assert all("fdiv" in text and "divide" not in text for text in texts)


def test_what_is_multiplied_is_divided_where_that_is_exact_alone():
    names = {"xs": np.linspace(-3, 3, 5000)}
    with battery.on_target("host"):
        ran = battery.run("xs |> map(lambda x: x / 3.0)", names)
    (text,) = [body.program.text for each in ran.executions for body in each.compiled.bodies.values()]
    if "llvm.fma" not in text:
        pytest.skip("the machine's vectors have no multiply-adds")
    assert "br i1" in text[: text.index("fdiv")]
