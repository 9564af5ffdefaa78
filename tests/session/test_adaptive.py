"""Captured numbers are constants; one that keeps changing becomes a parameter, and costs no compilation any more."""

import pytest

from hastega_magic.compiler import loops
from hastega_magic.session import Options, Session

DEFINED = """
import numpy as np
xs = np.arange(1, 301)
fs = xs * 0.5
k = 3
def helper(x): return x * k
def total(n): return xs |> map(lambda x: x * n + k) |> sum
def through(n): return xs |> map(helper) |> map(lambda x: x - n) |> filter(_ % 2 == 0) |> to_list
def floats(t): return fs |> map(lambda x: x * t - t) |> sum
def pairs(n): return xs |> map(lambda x: x + n) |> zip(fs) |> map(lambda a, b: a * b - n) |> to_list
def powers(n): return xs |> map(lambda x: x ** n) |> sum
def shifted(n): return xs |> map(lambda x: x << n) |> to_list
def divided(n): return xs |> map(lambda x: (x * 7 // n, x % n)[1]) |> sum
def plain(n): return [x * n for x in range(300) if x % 2 == 0]
"""


@pytest.fixture
def names():
    session = Session({}, Options(baseline=False))
    session.run_cell(DEFINED)
    return session.namespace


def compiled():
    return sum(len(loop.bodies) for loop in loops.cached_loops())


XS = range(1, 301)
EXPECTED = {
    "total": lambda n, k: sum(x * n + k for x in XS),
    "through": lambda n, k: [y for x in XS if (y := x * k - n) % 2 == 0],
    "pairs": lambda n, k: [(x + n) * (x * 0.5) - n for x in XS],
    "powers": lambda n, k: sum(x**n for x in XS),
    "shifted": lambda n, k: [x << n for x in XS],
    "divided": lambda n, k: sum(x % n for x in XS),
    "plain": lambda n, k: [x * n for x in range(300) if x % 2 == 0],
}


@pytest.mark.filterwarnings("ignore::hastega_magic.errors.IntegerOverflowWarning")
@pytest.mark.parametrize("name", EXPECTED)
def test_every_value_gives_what_python_gives(names, same, name):
    for n in (2, 3, 4, 5, 2, 61, 9, 1):
        names["k"] = n + 1 if n == 5 else 3
        assert same(names[name](n), EXPECTED[name](n, names["k"]))


@pytest.mark.parametrize("name", ["total", "through", "pairs", "plain"])
def test_the_second_change_and_all_further_ones_compile_nothing(names, name):
    call = names[name]
    call(2)
    call(3)
    before = compiled()
    for n in range(4, 40):
        assert call(n) == EXPECTED[name](n, 3)
    assert compiled() == before


def test_floats(names):
    values = [names["floats"](t) for t in (0.5, 0.25, 1e300, float("inf"), -0.0)]
    assert values[0] == sum(x * 0.5 * 0.5 - 0.5 for x in XS)
    assert values[2] == pytest.approx(sum(x * 0.5 * 1e300 - 1e300 for x in XS))
    assert values[3] != values[3] or values[3] == float("inf")


def test_types_and_sizes_that_change_as_well(names, same):
    for n in (2, 3, 0.5, 3, True, 2**40, 2**62, 2**70, -5, 0):
        assert same(names["plain"](n), [x * n for x in range(300) if x % 2 == 0])


def test_a_changed_global_of_a_function_that_is_called(names):
    for k in range(30):
        names["k"] = k
        assert names["through"](1) == EXPECTED["through"](1, k)


def test_the_report_says_which(names):
    session = Session(names, Options(baseline=False))
    session.run_cell(
        "from hastega_magic import hastega\n@hastega\ndef f(n):\n    return xs |> map(lambda x: x * n) |> sum\n"
        "for n in range(2, 9):\n    f(n)"
    )
    [pipeline] = names["f"].explain().pipelines
    assert any("`n` kept changing" in sentence for sentence in pipeline.why)
    assert "load n" in pipeline.code.fused


def test_what_raises_has_the_present_value(names):
    session = Session(names, Options(baseline=False))
    session.run_cell("def g(n): return xs |> map(lambda x: x // (x - n)) |> sum")
    for n in (1000, 2000, 3000):
        assert names["g"](n) == sum(x // (x - n) for x in XS)
    with pytest.raises(ZeroDivisionError) as caught:
        names["g"](17)
    assert "element 16 of xs, 17" in caught.value.__notes__[0]


def test_on_opencl():
    pytest.importorskip("pyopencl")
    from hastega_magic.runtime import opencl

    if not opencl.devices():
        pytest.skip("there is no OpenCL device")
    session = Session({}, Options(baseline=False, on="opencl"))
    session.run_cell(DEFINED)
    for n in (2, 3, 4, 5):
        assert session.namespace["total"](n) == EXPECTED["total"](n, 3)
        assert session.namespace["pairs"](n) == EXPECTED["pairs"](n, 3)
