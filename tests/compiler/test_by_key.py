"""`min` and `max` by a key: the first element of which that is least or greatest, found by a loop of its own."""

import itertools
import math

import numpy as np
import pytest

from hastega_magic.session import Options, Session
from tests.compiler.battery import assert_like_python, one_loop, run, some

RANDOM = np.random.default_rng(0)
SOURCES = {
    "ints": RANDOM.integers(-50, 50, 9001),
    "floats": RANDOM.normal(size=9001),
    "list": [3, -7, 7, 2],
    "one": [5],
    "none": [],
    "flags": [True, False, True],
    "nans": [1.0, math.nan, 3.0, -2.0, math.nan],
    "first nan": [math.nan, 1.0, 5.0],
    "complex": [1 + 1j, 2j, -3 + 0j],
}
STAGES = [
    "max(key=abs)", "min(key=abs)", "max(key=lambda x: -x)", "max(key=lambda x: x > 0)", "max(key=None)",
    "enumerate |> max(key=lambda p: p[1])", "enumerate |> reverse |> min(key=lambda p: p[1])",
    "map(lambda x: x * 2) |> max(key=lambda x: x % 7)", "filter(lambda x: x > 0) |> min(key=lambda x: -x)",
    "zip(fs) |> max(key=lambda p: p[0] * p[1])", "zip(fs) |> max(key=lambda a, b: b)",
    "drop(2) |> max(key=abs)", "take(3) |> reverse |> max(key=abs)", "chunk(2) |> max(key=sum)",
    "window(3) |> max(key=lambda w: w[2])", "max(key=lambda x: 1 / x)",
    "max(key=lambda x: x * (1 << 62) if x > 3 else x)",
    "max(key=lambda x: (x % 3, x))", "max(key=abs, default=0)", "max(key=lambda x: math.nan if x > 1 else 2.0)",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
@pytest.mark.parametrize(
    ("stages", "source", "on"), some(itertools.product(STAGES, SOURCES, ["parallel", "opencl", "numpy"]), 4)
)
def test_as_python_has_it(stages, source, on):
    names = {"xs": SOURCES[source], "fs": SOURCES["floats"], "math": math}
    assert_like_python(f"xs |> {stages}", names, on=on, quiet=True)


@pytest.mark.parametrize("stages", STAGES[:8])
def test_it_is_no_barrier(stages):
    assert run(f"xs |> {stages}", {"xs": SOURCES["ints"]}).report["pipelines"][0]["barriers"] == []


def test_two_loops_and_a_sentence():
    ran = run("xs |> max(key=abs)", {"xs": SOURCES["ints"]})
    one_loop(ran)
    whys = ran.report["pipelines"][0]["why"]
    assert any("`max`: the first element of that key is number" in each for each in whys)


def test_it_is_ready_when_it_runs_again():
    text = """
for number in range(6):
    found.append([xs |> max(key=lambda x: (x - number) ** 2), xs |> enumerate |> min(key=lambda p: p[1])])
    expected.append([max(xs, key=lambda x: (x - number) ** 2), min(enumerate(xs), key=lambda p: p[1])])
    xs = [x * 3 % 17 for x in xs] + [number]
"""
    space = {"xs": list(range(1, 12)), "found": [], "expected": []}
    Session(space, Options(baseline=False, quiet=True, on="parallel")).run_cell(text)
    assert space["found"] == space["expected"]
