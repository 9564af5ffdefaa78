"""Scans that multiply the value so far by a number and add to it: rows with the same bits everywhere, and in order."""

import itertools

import numpy as np
import pytest

from hastega_magic.ir.scan import running_affine, running_sums
from hastega_magic.session import Options, Session
from tests.compiler.battery import (
    assert_interpreted,
    assert_like_python,
    on_target,
    python,
    run,
    run_in,
    some,
)

BLOCKS = 3 * 4096 + 5

AVERAGES = {
    "lambda a, x: 0.1 * x + (1 - 0.1) * a": (0.9, lambda x: 0.1 * x),
    "lambda a, x: a + (x - a) * 0.25": (0.75, lambda x: x * 0.25),
    "lambda a, x: x * x - a / 4": (-0.25, lambda x: x * x),
}


@pytest.mark.parametrize("source", [[], range(0), np.arange(0, dtype=np.int8)])
def test_values_of_no_elements_are_of_one_type_on_every_back_end(source):
    for function in ("s * 0.5 + x", "s + x", "s if x > s else s * 0.3"):
        found = [run(f"xs |> scan(lambda s, x: {function}, 0.5)", {"xs": source}, on=on).value.dtype
                 for on in ("simd", "parallel", "opencl")]  # fmt: skip
        assert found == [np.float64] * 3


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

    @pytest.mark.parametrize(
        ("text", "start"), some(itertools.product(SIGNED, ("", ", 0.0", ", -0.0")), every=3)
    )
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


@pytest.mark.parametrize("dtype", ["int64", "float64"])
@pytest.mark.parametrize(
    "stages", ["cumsum", "map(lambda x: x * 3) |> cumsum", "scan(lambda a, x: a * 0.5 + x, 0.0)"]
)
def test_what_is_written_comes_from_the_stage(stages, dtype):
    ran = run(f"xs |> {stages}", {"xs": np.arange(5000).astype(dtype)}, on="simd")
    (pipeline,) = ran.report["pipelines"]
    lines = pipeline["code"]["llvm"].splitlines()
    linked = {number for link in pipeline["links"] for number in link["llvm"]}
    written = [number for number, line in enumerate(lines, 1) if "call void @llvm.masked.store" in line]
    assert written
    assert linked.issuperset(written)
