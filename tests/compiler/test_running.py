"""Running values: sums with the same bits everywhere, ints exactly, functions of the value so far in Python's order."""

import contextlib
import itertools
import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hastega_magic.ir.scan import running_affine, running_sums
from hastega_magic.runtime import buffers
from hastega_magic.session import Options, Session
from tests.compiler.battery import (
    FEATURE_SETS,
    assert_interpreted,
    assert_like_python,
    on_target,
    run,
)

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
        "f |> scan(lambda a, x: a * x + 0.1, 0.5)",
        "f |> scan(lambda a, x: a * 1.5 - x if a < 1e9 else x, 0)",
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
        "i |> scan(lambda a, x: a + x // 10**30)",
        "i |> map(lambda x: x * 2**62) |> scan(lambda a, x: a | (x // 10**30))",
        "f |> reduce(lambda a, x: a - x)",
        "i |> take(1) |> scan(lambda a, x: a - x)",
        "i |> take(0) |> scan(lambda a, x: a - x, 5)",
        "f.astype('f') |> scan(lambda a, x: a * x + 1, 0.5)",
        "f.astype('f') |> scan(lambda a, x: a * 0.1 + x, 3)",
        "f.astype('f') |> reduce(lambda a, x: x - a, 0)",
    ],
)
def test_functions_of_the_value_so_far(text, backend):
    random = np.random.default_rng(0)
    names = {"i": random.integers(-9, 10, BLOCKS), "f": random.normal(size=BLOCKS), "table": [3, 1, 4, 1]}
    assert_like_python(text, names, on=backend, threads=3, quiet=True)


DIVISORS = [1, 2, 7, 61, 1009, -1, -2, -61, 2**31, 2**40 + 1, -(2**62), 2**63 - 1, -(2**63)]


@pytest.mark.parametrize("divisor", DIVISORS)
@pytest.mark.parametrize("by", ["d", "table[x % 2]"])
def test_steps_that_divide_integers(divisor, by):
    random = np.random.default_rng(0)
    i = random.integers(-(2**63), 2**63, BLOCKS) >> random.integers(0, 64, BLOCKS)
    names = {"i": i, "d": divisor, "table": np.array([divisor, 3])}
    for text in (
        f"i |> scan(lambda a, x: (a ^ x) // {by}, 0)",
        f"i |> reduce(lambda a, x: (a ^ x) % {by} - 1)",
    ):
        assert_like_python(text, names, quiet=True)


@pytest.mark.parametrize("i", [[-(2**63), -1, 2], [5, 0, 1], [5, 2, 0], [-(2**63), 1, -1, 3]])
@pytest.mark.parametrize("operator", ["//", "%"])
def test_steps_that_have_no_quotient(i, operator):
    assert_like_python(f"i |> scan(lambda a, x: a {operator} x)", {"i": np.array(i)}, quiet=True)
    assert_like_python(f"i |> reduce(lambda a, x: a {operator} x)", {"i": i}, quiet=True)


STEPS = [
    ("reduce(math.gcd, 0)", [12, -18, 0, 30]),
    ("reduce(math.lcm)", [4, 0, 6]),
    ("scan(remainders, 5)", [3, 0, 7, -2]),
    ("scan(lambda a, x: a % (abs(x) * 4 + 4), 100)", [2**62 - 1, 3]),
    ("scan(lambda a, x: a // min(abs(x) * 4 + 4, 4), 100)", [2**62 - 1, 3]),
]


@pytest.mark.parametrize(("stage", "xs"), STEPS)
def test_steps_divide_by_no_zero_that_python_does_not_divide_by(stage, xs):
    """What a finished turn has, or a sum that wrapped around; a division that traps ends the process."""
    text = "def remainders(a, b):\n    while b:\n        a, b = b, a % b\n    return a\n"
    assert_like_python(f"{text}xs |> {stage}", {"xs": xs}, on="simd", quiet=True)


OVERFLOWING = [
    np.array([-1e308, -1e308, 0, 0, 0, 0, 0, 0, 1e308, 1e308, 1.0]),
    np.array([-1e308, 0, 0, 0, 0, 0, 0, 0, 1e308, 1e308, 1.0]),
    np.array([-0.0, np.inf, 1.0, -np.inf, 2.0]),
    np.array([-0.0, np.nan, 1.0]),
    np.array([3e38, 0, 0, 0, 0, 0, 0, 0, -3e38, -3e38, 3e38], "f4"),
    np.array([-1e308 + 1j, -1e308, 0, 0, 0, 0, 0, 0, 1e308, 1e308 - 2j]),
]


@pytest.mark.parametrize("xs", OVERFLOWING, ids=str)
def test_sums_that_overflow_are_added_in_order(xs):
    xs = np.concatenate([np.full(4096, xs.dtype.type(-0.0)), xs, np.ones(4096, xs.dtype)])
    for options in ({"threads": 2}, {"width": 1}, {"on": "opencl"}):
        ran = assert_like_python("xs |> cumsum", {"xs": xs}, **options)
        assert ran.report["pipelines"][0]["barriers"] == []
    assert_interpreted(ran)
    assert_like_python("xs |> cumsum |> map(abs) |> max", {"xs": xs}, quiet=True)


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


@contextlib.contextmanager
def guarded():
    """Results stand between pages that cannot be written."""
    buffers.guard()
    try:
        yield
    finally:
        buffers.guard(False)


class TestManyBlocks:
    """Blocks are handed over by runs of several, and results of this size go past the caches."""

    N = 131 * 4096 + 5

    @pytest.mark.parametrize("threads", [1, 3])
    def test_sums_and_averages_have_the_same_bits(self, threads):
        xs = np.random.default_rng(0).normal(size=self.N)
        for cell, wanted in {
            "xs |> cumsum": running_sums(xs),
            "xs |> map(lambda x: x * 0.5) |> cumsum": running_sums(xs * 0.5),
            "xs |> filter(lambda x: x > 0) |> cumsum": running_sums(xs[xs > 0]),
            "xs |> scan(lambda a, x: a * 0.75 + x, 1.0)": running_affine(xs, 0.75, 1.0),
        }.items():
            assert wanted is not None
            for options in ({}, {"width": 4}):
                found = run(cell, {"xs": xs}, on="parallel", threads=threads, **options).value
                assert found.tobytes() == wanted.tobytes(), (cell, options)

    @pytest.mark.parametrize("threads", [1, 3])
    def test_what_filters_keep_lies_in_order(self, threads):
        xs = np.random.default_rng(1).integers(-(10**6), 10**6, self.N)
        small, floats = xs.astype(np.int8), xs.astype(np.float32)
        for kept in (xs % 97 == 0, xs > 2 * 10**6, (xs > 0) | (np.arange(self.N) < 50_000)):
            values = {"xs": xs, "fs": floats, "ks": kept, "small": small}
            cell = "zip(xs, ks) |> filter(lambda x, k: k) |> map(lambda x, k: x * 3)"
            assert np.array_equal(run(cell, values, on="parallel", threads=threads).value, xs[kept] * 3)
            cell = "zip(fs, ks, small) |> filter(lambda f, k, s: k) |> map(lambda f, k, s: (f, s > 0))"
            found = run(cell, values, on="parallel", threads=threads).value
            assert len(found) == kept.sum()
            if kept.any():
                assert np.array_equal(found["f0"], floats[kept])
                assert np.array_equal(found["f1"], small[kept] > 0)

    @pytest.mark.parametrize("features", FEATURE_SETS)
    @settings(max_examples=4, deadline=None)
    @given(
        shares=st.lists(st.sampled_from([0, 1, 14, 50, 99, 100]), min_size=1, max_size=9),
        threads=st.sampled_from([1, 2, 3]),
        width=st.sampled_from([0, 1, 4]),
        odd=st.integers(0, 4095),
        seed=st.integers(0, 99),
    )
    def test_what_trails_behind_is_all_written_and_nothing_else(
        self, features, shares, threads, width, odd, seed
    ):
        """Each part of the elements is kept to a share of its own; the result lies between guarded pages."""
        n, rng = 150 * 4096 + odd, np.random.default_rng(seed)
        xs = rng.integers(-(10**6), 10**6, n)
        ks = rng.integers(0, 100, n) < np.repeat(shares, -(-n // len(shares)))[:n]
        values = {"xs": xs, "ks": ks, "hs": xs.astype(np.float32)}
        cell = """
a = zip(xs, ks) |> filter(lambda x, k: k) |> map(lambda x, k: x * 3)
b = zip(xs, ks) |> filter(lambda x, k: not k) |> map(lambda x, k: (x > 0, x))
c = zip(hs, ks) |> filter(lambda h, k: k) |> map(lambda h, k: h)
(a, b, c)"""
        with on_target(features), guarded():
            a, b, c = run(cell, values, on="parallel", threads=threads, width=width, quiet=True).value
            assert np.array_equal(a, xs[ks] * 3)
            assert np.array_equal(b["f0"], xs[~ks] > 0)
            assert np.array_equal(b["f1"], xs[~ks])
            assert np.array_equal(c, values["hs"][ks])

    def test_steps_and_sums_that_need_python_are_found_in_any_block(self):
        largest, sums = "xs |> scan(lambda a, x: max(a, x) + 1, 0)", "xs |> cumsum"
        for cell, place in (
            (sums, 0),
            (sums, 70 * 4096 + 17),
            (largest, 70 * 4096 + 17),
            (largest, self.N - 1),
        ):
            xs = np.ones(self.N, np.int64)
            xs[place] = 2**63 - 1 - self.N // 2
            step = operator.add if cell == sums else lambda a, x: max(a, x) + 1
            found = run(cell, {"xs": xs}, on="parallel", threads=3).value
            assert list(found) == list(itertools.accumulate(xs.tolist(), step, initial=0))[1:], (cell, place)


@pytest.mark.parametrize("backend", ["simd", "parallel", "opencl"])
@pytest.mark.parametrize("size", [1, 2, 5000])
def test_the_first_value_is_the_first_element_whose_numbers_are_numpys(backend, size):
    """What the function gives are Python's floats, the elements NumPy's: of one size, and in one place."""
    xs = np.full(size, 7.5)
    for stages, rest in (
        ("scan(lambda a, x: 1.5 if x > 2 else 0.5)", 1.5),
        ("scan(lambda a, x: 0.0 * a + 3.0)", 3.0),
    ):
        session = Session({"xs": xs}, Options(on=backend, baseline=False, quiet=True))
        session.run_cell(f"t = xs |> {stages}")
        assert session.namespace["t"].tolist() == [7.5] + [rest] * (size - 1)


@pytest.mark.parametrize("options", [{"on": "simd"}, {"on": "parallel", "threads": 3}, {"on": "opencl"}])
def test_running_integers_wrap_around_where_that_is_asked_for(options):
    """Without Python's help, which would take hundreds of times as long."""
    xs = np.random.default_rng(1).integers(-(2**62), 2**62, 3 * 4096 + 5)

    def wrap(value):
        return (value + 2**63) % 2**64 - 2**63

    sums = list(itertools.accumulate(xs.tolist(), lambda a, x: wrap(a + x)))
    steps = list(itertools.accumulate(xs.tolist(), lambda a, x: wrap(a * 3 - x * x)))
    kept = list(itertools.accumulate(xs[xs > 0].tolist(), lambda a, x: wrap(a + x)))
    for cell, wanted in (
        ("xs |> cumsum", sums),
        ("xs |> filter(lambda x: x > 0) |> cumsum", kept),
        ("xs |> scan(lambda a, x: a * 3 - x * x)", steps),
    ):
        ran = run(f"{cell}\n", {"xs": xs}, int_mode="wrap", **options)
        assert ran.value.tolist() == wanted
        assert not any("Python" in sentence for sentence in ran.report["pipelines"][0]["why"])
    total = run("xs |> reduce(lambda a, x: a * 3 - x * x)\n", {"xs": xs}, int_mode="wrap", **options)
    assert total.value == steps[-1]
