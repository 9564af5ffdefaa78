"""Numbers that are converted, and elements that filters keep, without a step for each element."""

from __future__ import annotations

import itertools
import re

import battery
import numpy as np
import pytest

WHOLE, FAR = 2**51, 2**63
EDGES = [
    0,
    1,
    -1,
    2**31,
    -(2**31),
    2**32 - 1,
    2**52 - 1,
    2**52,
    2**53 + 1,
    -(2**53) - 1,
    FAR - 1,
    FAR - 513,
    -FAR,
]
NEAR = [WHOLE - 1, WHOLE, WHOLE + 1]


def ints() -> np.ndarray:
    """Every magnitude, both signs, and what rounding could get wrong: halves of last places."""
    rng = np.random.default_rng(11)
    random = rng.integers(-FAR, FAR - 1, 5000) >> rng.integers(0, 63, 5000)
    halves = [
        sign * (2**power + 2 ** (power - 53) + more)
        for power in range(54, 63)
        for sign in (1, -1)
        for more in (-1, 0, 1)
    ]
    return np.array([*EDGES, *NEAR, *(-each for each in NEAR), *halves, *random], np.int64)


def floats() -> np.ndarray:
    """Numbers that `int` takes, whole or not, up to the last below 2^63."""
    rng = np.random.default_rng(12)
    random = rng.normal(size=5000) * 2.0 ** rng.integers(-5, 62, 5000)
    edges = [
        0.0,
        -0.0,
        0.5,
        -0.5,
        2.0**51 - 0.5,
        -(2.0**51) + 0.5,
        2.0**52 + 1,
        2.0**63 - 1024,
        -(2.0**63),
        5e-324,
    ]
    return np.array([*edges, *random[np.abs(random) < 2.0**63]])


def run(text: str, names: dict[str, object], target: str, **options: object) -> tuple[object, str]:
    with battery.on_target(target):
        ran = battery.run(f"found = {text}", names, quiet=True, **options)
    assert ran.error is None
    (text,) = {
        body.program.text for each in ran.executions for body in each.compiled.bodies.values() if body.program
    }
    return ran.namespace["found"], text


@pytest.mark.parametrize("width", [0, 1, 2, 8])
@pytest.mark.parametrize("target", battery.FEATURE_SETS)
def test_ints_become_the_floats_that_python_makes(target: str, width: int) -> None:
    found, _ = run("xs |> map(float)", {"xs": ints()}, target, width=width)
    assert np.array_equal(found, [float(each) for each in ints().tolist()])
    small = ints() % (2 * WHOLE) - WHOLE
    found, text = run(f"xs |> map(lambda x: x % {2 * WHOLE} - {WHOLE}) |> map(float)", {"xs": ints()}, target)
    assert np.array_equal(found, [float(each) for each in small.tolist()])
    if target == "avx2":
        assert "sitofp" not in text


@pytest.mark.parametrize("width", [0, 1, 2, 8])
@pytest.mark.parametrize("target", battery.FEATURE_SETS)
def test_floats_become_the_ints_that_python_makes(target: str, width: int) -> None:
    for function in ("int", "math.floor", "round"):
        found, text = run(f"xs |> map({function})", {"xs": floats()}, target, width=width)
        own = {"int": int, "math.floor": lambda x: int(np.floor(x)), "round": round}[function]
        assert found.tolist() == [own(each) for each in floats().tolist()]
        if target == "avx2" and width != 1:
            assert "fptosi" not in text
    single = floats()[np.abs(floats()) < 2.0**60].astype(np.float32)
    found, _ = run("xs |> map(int)", {"xs": single}, target, width=width)
    assert found.tolist() == [int(each) for each in single.tolist()]


TUPLES = ("(x,)", "(x, x > 3)", "(x, x * 0.5)", "(x, s)", "(s, s > 3)", "(s, x, s * 0.5)")


@pytest.mark.parametrize(
    ("target", "of"), battery.some(itertools.product(battery.FEATURE_SETS, TUPLES), every=4)
)
def test_filters_keep_the_elements_in_their_order(target: str, of: str) -> None:
    rng = np.random.default_rng(13)
    xs = rng.integers(0, 100, 4301)  # two blocks
    names = {"xs": xs, "ss": xs.astype(np.float32)}
    for condition in ("x % 7 == 0", "x % 2 == 0", "x > 0", "s == s", "s != s"):
        text = f"xs |> zip(ss) |> filter(lambda x, s: {condition}) |> map(lambda x, s: {of})"
        found, code = run(text, names, target)
        keeps, gives = (eval(f"lambda x, s: {each}") for each in (condition, of))
        kept = [gives(x, float(x)) for x in xs.tolist() if keeps(x, x)]
        assert [tuple(each) for each in found.tolist()] == kept
        if target == "avx2" and re.search(r"znver[12]\b", code) is None:
            assert "vector.compress" not in code
