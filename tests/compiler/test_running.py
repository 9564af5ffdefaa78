"""Running values: sums with the same bits everywhere, ints exactly, functions of the value so far in Python's order."""

import itertools
import operator

import numpy as np
import pytest

from hastega_magic.ir.scan import running_sums
from tests.compiler.battery import FEATURE_SETS, assert_like_python, on_target, run

BLOCKS = 3 * 4096 + 5


@pytest.mark.parametrize("dtype", ["float32", "float64"])
class TestSumsOfFloats:
    def test_have_the_same_bits_on_any_number_of_threads_and_lanes(self, dtype):
        xs = np.random.default_rng(0).normal(size=BLOCKS).astype(dtype)
        wanted = running_sums(xs).tobytes()
        for options in (
            {"threads": 1},
            {"threads": 3},
            {"width": 1},
            {"width": 2},
            {"width": 16},
            {"on": "opencl"},
        ):
            assert run("xs |> cumsum", {"xs": xs}, **options).value.tobytes() == wanted, options

    @pytest.mark.parametrize("features", FEATURE_SETS)
    def test_have_them_on_every_instruction_set(self, dtype, features):
        xs = np.random.default_rng(0).normal(size=BLOCKS).astype(dtype)
        with on_target(features):
            assert run("xs |> cumsum", {"xs": xs}).value.tobytes() == running_sums(xs).tobytes()

    def test_are_those_of_the_kept_elements(self, dtype):
        xs = np.random.default_rng(0).normal(size=BLOCKS).astype(dtype)
        found = run("xs |> filter(_ > 0) |> map(_ + 1) |> cumsum", {"xs": xs})
        assert found.value.tobytes() == running_sums(xs[xs > 0] + 1).tobytes()
        assert found.report["pipelines"][0]["barriers"] == []


class TestSumsOfInts:
    @pytest.mark.parametrize("top", [10, 1 << 40, (1 << 50) - 1])
    def test_exact(self, top):
        xs = np.random.default_rng(0).integers(-top, top, BLOCKS)
        ran = run("xs |> cumsum", {"xs": xs}, threads=3)
        assert ran.value.dtype == np.int64
        assert ran.value.tolist() == list(itertools.accumulate(xs.tolist()))
        assert ran.warnings == []

    def test_of_filtered_elements_take_one_loop(self):
        xs = np.arange(BLOCKS)
        ran = run("xs |> filter(_ % 3 == 0) |> cumsum", {"xs": xs})
        assert ran.value.tolist() == list(itertools.accumulate(range(0, BLOCKS, 3)))
        assert ran.report["pipelines"][0]["loops"] == 1

    @pytest.mark.parametrize("value", [1 << 51, (1 << 63) - 1, -(1 << 63)])
    def test_beyond_64_bits_are_pythons(self, value):
        xs = np.full(BLOCKS, value)
        ran = run("xs |> cumsum", {"xs": xs})
        assert ran.value.tolist() == [value * number for number in range(1, BLOCKS + 1)]
        fits = abs(value) * BLOCKS < 1 << 63
        assert bool(ran.warnings) is not fits
        assert ran.report["pipelines"][0]["int"]["fell_back"] is not fits

    def test_checked_and_wrapped(self):
        xs = np.array([(1 << 63) - 1, 1, 5])
        ran = run("xs |> cumsum", {"xs": xs}, int_mode="checked")
        assert isinstance(ran.error, OverflowError)
        assert "`cumsum`" in str(ran.error)
        assert run("xs |> cumsum", {"xs": xs}, int_mode="wrap").value.tolist() == np.cumsum(xs).tolist()

    def test_bools_are_counted(self):
        ran = run("xs |> map(_ > 2) |> cumsum", {"xs": np.arange(6)})
        assert ran.value.tolist() == [0, 0, 0, 1, 2, 3]
        assert ran.value.dtype == np.int64


@pytest.mark.parametrize("backend", ["auto", "opencl"])
@pytest.mark.parametrize(
    "text",
    [
        "i |> scan(lambda a, x: a * 0.9 + x * 0.1, 0)",
        "f |> scan(lambda a, x: a * 0.9 + x * 0.1, 0.0)",
        "f |> map(_ * 3) |> scan(lambda a, x: a if a > x else x) |> max",
        "i |> filter(_ > 2) |> scan(lambda a, x: (a * 31 + x) % 1009)",
        "i |> scan(lambda a, x: a + table[x % 4], 1)",
        "i |> map(_ > 0) |> scan(lambda a, x: a ^ x)",
        "i |> map(_ > 0) |> scan(lambda a, x: a + x, 0)",
        "i |> reduce(lambda a, x: (a * 31 + x) % 1009, 7)",
        "i |> filter(_ > 99) |> reduce(lambda a, x: x - a, 7)",
        "i |> filter(_ > 99) |> reduce(lambda a, x: x - a)",
        "i |> map(100 // _) |> reduce(lambda a, x: x - a)",
        "i |> scan(lambda a, x: a // x, 10**6)",
        "i |> scan(lambda a, x: a + table[x], 1)",
        "i |> take(700) |> scan(lambda a, x: a * 3 + x, 1)",
        "f |> reduce(lambda a, x: a - x)",
        "i |> take(1) |> scan(lambda a, x: a - x)",
        "i |> take(0) |> scan(lambda a, x: a - x, 5)",
    ],
)
def test_functions_of_the_value_so_far(text, backend):
    random = np.random.default_rng(0)
    names = {"i": random.integers(-9, 10, BLOCKS), "f": random.normal(size=BLOCKS), "table": [3, 1, 4, 1]}
    assert_like_python(text, names, on=backend, threads=3)


def test_the_report_says_that_the_order_counts():
    ran = run("xs |> reduce(lambda a, x: a - x)", {"xs": np.arange(9.0)})
    (pipeline,) = ran.report["pipelines"]
    assert (pipeline["loops"], pipeline["barriers"]) == (1, [])
    assert "in their order" in " ".join(pipeline["why"])
    assert "= fold %0" in pipeline["code"]["fused"]


def test_two_running_results_in_one_loop():
    text = "a = xs |> cumsum\nb = xs |> scan(lambda t, x: t - x, 0)\nc = xs |> map(_ * 2)\nd = xs |> sum\n(a, b, c, d)"
    xs = np.arange(BLOCKS)
    ran = run(text, {"xs": xs}, threads=3)
    assert len(ran.executions) == 1
    assert ran.value[0].tolist() == list(itertools.accumulate(range(BLOCKS)))
    assert ran.value[1].tolist() == list(itertools.accumulate(range(BLOCKS), operator.sub, initial=0))[1:]
    assert ran.value[2].tolist() == list(range(0, 2 * BLOCKS, 2))
    assert ran.value[3] == sum(range(BLOCKS))
