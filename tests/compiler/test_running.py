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
    python,
    run,
    run_in,
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
    assert_like_python(text, names, on=backend, threads=3)


AVERAGES = {
    "lambda a, x: 0.1 * x + (1 - 0.1) * a": (0.9, lambda x: 0.1 * x),
    "lambda a, x: a + (x - a) * 0.25": (0.75, lambda x: x * 0.25),
    "lambda a, x: x * x - a / 4": (-0.25, lambda x: x * x),
}


SIGNED = [
    "a + x", "a * k + x", "x - a * k", "a - x", "-(a * k + x)", "-(x - a) * k", "(a + x) * k", "a + k * (x - a)",
    "a * k + a * 0.25 + x", "x - (a * k + 0.0)", "-(-a * k) - x", "-a / 2 + x * k", "(a + x) * k - (x + a) / 4",
]  # fmt: skip
"""Steps in which signs of zeros are kept, turned, or lost."""


class TestAffineSteps:
    @pytest.mark.parametrize("text", AVERAGES)
    def test_have_the_same_bits_everywhere(self, text):
        xs = np.random.default_rng(0).normal(size=BLOCKS)
        factor, offset = AVERAGES[text]
        wanted = running_affine(offset(xs), factor, 0.5)
        assert wanted is not None
        for options in ({"threads": 3}, {"width": 1}, {"width": 4}, {"width": 16}, {"on": "opencl"}):
            ran = run(f"xs |> scan({text}, 0.5)", {"xs": xs}, **options)
            assert ran.value.tobytes() == wanted.tobytes(), options
        assert_interpreted(run(f"xs |> scan({text}, 0.5)", {"xs": xs[:5000]}))
        with on_target("avx2"):
            assert run(f"xs |> scan({text}, 0.5)", {"xs": xs}).value.tobytes() == wanted.tobytes()

    @pytest.mark.parametrize("text", AVERAGES)
    @pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 4096, BLOCKS])
    def test_are_close_to_one_after_the_other(self, text, length):
        xs = np.random.default_rng(length).normal(size=length)
        for cell in (
            f"xs |> scan({text}, 3.0)",
            f"xs |> scan({text})",
            f"xs |> map(_ - 1) |> scan({text}, 1.5)",
        ):
            found, expected = run(cell, {"xs": xs}), python(cell, {"xs": xs})
            assert np.allclose(found.value, expected.value, rtol=1e-13, atol=1e-14), cell
            assert found.report["pipelines"][0]["barriers"] == []

    def test_a_value_that_fades_keeps_its_digits(self):
        xs = np.zeros(3 * 4096)
        xs[0] = 1e300
        found = run("xs |> scan(lambda a, x: a * 0.8 + x, 0.0)", {"xs": xs}, threads=2).value
        expected = python("xs |> scan(lambda a, x: a * 0.8 + x, 0.0)", {"xs": xs}).value
        large = expected > 1e-290
        assert large.sum() > 6000
        assert np.allclose(found[large], expected[large], rtol=1e-11, atol=0)

    @pytest.mark.parametrize("backend", ["auto", "opencl"])
    @pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), 1.7e308])
    def test_what_is_not_finite_is_computed_in_order(self, value, backend):
        xs = np.random.default_rng(0).normal(size=BLOCKS)
        text = "xs |> scan(lambda a, x: a * 0.5 + x, 0.0)"
        finite = run(text, {"xs": xs}, on=backend).value
        for place in (0, 5000, BLOCKS - 2):
            bad = xs.copy()
            bad[place : place + 2] = value
            ran = assert_like_python(text, {"xs": bad}, on=backend, threads=3)
            assert ran.report["pipelines"][0]["barriers"] == []
        assert run(text, {"xs": xs}, on=backend).value.tobytes() == finite.tobytes()

    @pytest.mark.parametrize("text", SIGNED)
    @pytest.mark.parametrize("start", ["", ", 0.0", ", -0.0"])
    def test_zeros_have_the_signs_that_they_have_in_order(self, text, start):
        random = np.random.default_rng(0)
        cell = f"xs |> scan(lambda a, x: {text}{start})"
        for values in ([0.0, -0.0], [-0.0], [0.0, -0.0, -0.0, 1.0, -1.0, 0.5]):
            for k, options in (
                (0.5, {"threads": 2}),
                (1.0, {"width": 1}),
                (-0.5, {"on": "opencl"}),
                (-1.0, {}),
            ):
                names = {"xs": random.choice(values, 40), "k": k}
                wanted, found = python(cell, names).value, run(cell, names, **options)
                assert np.allclose(found.value, wanted, rtol=1e-14, atol=1e-300), (values, k)
                zeros = (found.value == 0) & (wanted == 0)
                assert np.array_equal(np.signbit(found.value)[zeros], np.signbit(wanted)[zeros]), (values, k)
                assert_interpreted(found)

    @pytest.mark.parametrize("text", ["a + k * (x - a)", "a - 0.25 * (x - a) - 0.75 * (a - x)"])
    def test_zeros_of_a_factor_of_1_and_of_several_sums_too(self, text):
        session = Session({}, Options(baseline=False))
        cell = f"xs |> scan(lambda a, x: {text}, -0.0)"
        for k in (-1e-20, 0.5, -0.0, 0.0, -1e-30, -1e-25):
            names = {"xs": np.array([-0.0, 0.0, -0.0]), "k": k}
            wanted = python(cell, names).value.tobytes()
            session.namespace.update(names)
            assert run_in(session, cell).value.tobytes() == wanted
            assert run(cell, names).value.tobytes() == wanted

    def test_zeros_of_a_number_that_keeps_changing_too(self):
        random = np.random.default_rng(0)
        for text in SIGNED:
            session = Session({}, Options(baseline=False, on="parallel"))
            cell = f"xs |> scan(lambda a, x: {text})"
            for k in (0.25, 0.5, 1.0, -0.5, 0.75, -0.25):
                names = {"xs": random.choice([0.0, -0.0], 40), "k": k}
                session.namespace.update(names)
                assert run_in(session, cell).value.tobytes() == python(cell, names).value.tobytes(), (text, k)

    def test_zeros_do_not_keep_averages_from_rows(self):
        xs = np.concatenate([np.zeros(100), np.random.default_rng(0).normal(size=5000)])
        for text, factor, offset in (
            ("a + 0.1 * (x - a)", 1 - 0.1, 0.1 * xs),
            ("(1 - 0.1) * a + 0.1 * x", 1 - 0.1, 0.1 * xs),
        ):
            found = run(f"xs |> scan(lambda a, x: {text}, 0.0)", {"xs": xs}).value
            assert found.tobytes() == running_affine(offset, factor, 0.0).tobytes()

    def test_rows_are_rows_of_the_elements_that_are_left(self):
        xs = np.random.default_rng(0).normal(size=BLOCKS)
        wanted = running_affine(xs[xs > 0], 0.5, 0.0)
        assert wanted is not None
        step = "scan(lambda a, x: a * 0.5 + x, 0.0)"
        assert run(f"xs |> filter(_ > 0) |> {step}", {"xs": xs}).value.tobytes() == wanted.tobytes()
        ran = run(f"ys = xs |> filter(_ > 0)\nzs = ys |> {step}\nzs", {"xs": xs})
        assert ran.value.tobytes() == wanted.tobytes()
        ran = run("ys = xs |> filter(_ > 0)\nzs = ys |> map(_ + 0.5)\ncs = zs |> cumsum\ncs", {"xs": xs})
        assert ran.value.tobytes() == running_sums(xs[xs > 0] + 0.5).tobytes()

    def test_the_report_says_so(self):
        ran = run("xs |> scan(lambda a, x: a * 0.5 + x, 0.0)", {"xs": np.arange(9.0)})
        (pipeline,) = ran.report["pipelines"]
        assert "rows of 8" in " ".join(pipeline["why"])
        assert "affine 0" in pipeline["code"]["passes"][-1]["text"]
        assert "memcpy" not in pipeline["code"]["llvm"]  # rows are written where they belong, once


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
            a, b, c = run(cell, values, on="parallel", threads=threads, width=width).value
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
