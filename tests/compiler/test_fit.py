"""Fitted lines: the arithmetic, what is measured for it, and what a cell with `--compare` says."""

from __future__ import annotations

import json
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hastega_magic.compiler.comparing import fit
from hastega_magic.compiler.comparing.baselines import Comparison
from hastega_magic.compiler.comparing.fit import Run
from hastega_magic.errors import HastegaError
from hastega_magic.report.costs import Crossing, ModelPhase, ModelRow
from hastega_magic.session import Options, Session

CELL = "ys = range(1, 50_001) |> map(lambda x: 22 * x * (x + 1) % 6_700_417)\ntotal = ys |> sum\n"

POINTS = st.lists(
    st.tuples(st.integers(1, 10**7), st.floats(1e-9, 1e3)), min_size=2, max_size=8, unique_by=lambda p: p[0]
)


def loss(points, weights, a, b):
    return sum(w * (a * x + b - y) ** 2 for w, (x, y) in zip(weights, points, strict=True))


@given(
    st.lists(st.integers(1, 10**7), min_size=2, max_size=8, unique=True),
    st.just(0.0) | st.floats(1e-13, 1e-3),
    st.just(0.0) | st.floats(1e-9, 1.0),
)
def test_points_on_a_line_give_the_line(sizes, a, b):
    points = [(n, a * n + b) for n in sizes]
    found = fit.fit(points, [1.0] * len(points))
    largest = max(y for _, y in points)
    assert all(
        math.isclose(found[0] * n + found[1], y, rel_tol=1e-6, abs_tol=1e-9 * largest) for n, y in points
    )


@given(POINTS, st.data())
def test_no_other_line_without_negative_coefficients_is_better(points, data):
    weights = [1 / y**2 for _, y in points]
    a, b = fit.fit(points, weights)
    assert a >= 0
    assert b >= 0
    least = loss(points, weights, a, b)
    steepest = max(y / x for x, y in points)
    highest = max(y for _, y in points)
    for share in (0.0, 0.5, 0.99, 1.01, 2.0):
        for other in ((a * share, b), (a, b * share), (0.0, highest * share), (steepest * share, 0.0)):
            assert least <= loss(points, weights, *other) * (1 + 1e-6) + 1e-12
    other = data.draw(st.floats(0, steepest)), data.draw(st.floats(0, highest))
    assert least <= loss(points, weights, *other) * (1 + 1e-6) + 1e-12


def test_unconstrained_fits_are_those_of_numpy():
    sizes = np.array([256.0, 2353, 21_619, 198_668])
    times = np.array([3.0e-4, 2.9e-4, 3.3e-4, 7.1e-4])
    a, b = fit.fit(list(zip(sizes, times, strict=True)), list(1 / times**2))
    expected = np.polyfit(sizes, times, 1, w=1 / times)
    assert (a, b) == pytest.approx(tuple(expected), rel=1e-9)


def test_small_sizes_count_as_much_as_large_ones():
    model = fit.model(lambda backend, size: (1e-4 + 1e-9 * size, ()), ["x"], 10**7, 100.0)
    (row,) = model.rows
    assert (row.points[0][0], row.points[-1][0]) == (256, 10**7)
    a, b = fit.line(row)
    assert all(a * n + b == pytest.approx(seconds, rel=1e-3) for n, seconds in row.points)


def test_a_run_that_was_disturbed_pulls_little():
    def timed(backend, size):
        return (1e-4 + 1e-9 * size) * (100 if 10_000 < size < 100_000 else 1), ()

    (row,) = fit.model(timed, ["x"], 10**7, 100.0).rows
    a, b = fit.line(row)
    assert (a, b) == (pytest.approx(1e-9, rel=0.1), pytest.approx(1e-4, rel=0.1))


@given(st.integers(0, 10**9))
def test_sizes_are_geometric_up_to_the_cells_own(length):
    found = fit.sizes(length)
    assert found == sorted(set(found))
    assert all(1 <= n <= length for n in found)
    if length >= 10:
        assert found[-1] == min(length, 1 << 24)
        assert 2 <= len(found) <= 6
        assert all(b / a > 2 for a, b in pairwise(found))
    if length >= 5000:
        assert found[0] == 256


class Clock:
    """Runs that take what their coefficients say. `log`: what was run."""

    def __init__(self, coefficients, compiling=()):
        self.coefficients, self.log, self.compiled = coefficients, [], set()
        self.compiling = compiling

    def __call__(self, backend, size):
        self.log.append((backend, size))
        phases = [{"name": name, "seconds": a * size + b} for name, a, b in self.coefficients[backend]]
        extra = 0.0
        if backend in self.compiling and (backend, size) not in self.compiled:
            self.compiled.add((backend, size))
            extra = 5.0
            phases.append({"name": "compile", "seconds": extra})
        return sum(a * size + b for _, a, b in self.coefficients[backend]) + extra, phases


PARALLEL = [("kernel", 1e-9, 1e-4), ("convert_out", 0.0, 1e-5)]
CARD = [("to_device", 2e-9, 1e-5), ("kernel", 1e-10, 2e-5), ("from_device", 2e-9, 5e-5)]


def test_each_phase_is_fitted_and_the_lines_cross_where_they_must():
    clock = Clock({"parallel": PARALLEL, "opencl": CARD, "python": [("kernel", 1e-6, 0.0)]})
    model = fit.model(clock, ["parallel", "opencl", "python"], 10**6, 1000.0)
    assert [row.backend for row in model.rows] == ["parallel", "opencl", "python"]
    for row in model.rows:
        assert {line.name for line in row.phases} == {name for name, _, _ in clock.coefficients[row.backend]}
        for line in row.phases:
            a, b = next((a, b) for name, a, b in clock.coefficients[row.backend] if name == line.name)
            assert line.a == pytest.approx(a, rel=1e-3, abs=1e-15)
            assert line.b == pytest.approx(b, rel=1e-3, abs=1e-9)
    crossings = {(each.faster, each.than): each.n for each in model.crossings}
    assert crossings == {
        ("opencl", "python"): pytest.approx(8e-5 / (1e-6 - 4.1e-9), rel=1e-2),
        ("parallel", "python"): pytest.approx(1.1e-4 / (1e-6 - 1e-9), rel=1e-2),
        ("parallel", "opencl"): pytest.approx(3e-5 / 3.1e-9, rel=1e-2),
    }


def test_the_time_of_compiling_is_left_out():
    clock = Clock({"x": PARALLEL}, compiling=("x",))
    model = fit.model(clock, ["x"], 10**6, 1e6)
    assert "compile" not in {line.name for line in model.rows[0].phases}
    assert max(seconds for _, seconds in model.rows[0].points) < 1


def test_the_budget_ends_the_runs_but_two_are_made():
    clock = Clock({"slow": [("kernel", 1e-3, 0.0)], "fast": PARALLEL})
    model = fit.model(clock, ["slow", "fast"], 10**7, 5.0)
    by_name = {row.backend: [n for n, _ in row.points] for row in model.rows}
    assert by_name["slow"] == [256, by_name["fast"][1]]
    assert len(by_name["fast"]) == 6
    assert model.n == tuple(by_name["fast"])
    spent = sum(1e-3 * size for backend, size in clock.log if backend == "slow")
    assert spent < 2 * 5.0


def test_what_was_timed_before_is_used():
    clock = Clock({"x": PARALLEL})
    known = Run(
        40_000, 1.5e-4, [{"name": "kernel", "seconds": 1.4e-4}, {"name": "convert_out", "seconds": 1e-5}]
    )
    model = fit.model(clock, ["x"], 10**7, 1000.0, {"x": known})
    assert model.rows[0].points[-1] == (40_000, 1.5e-4)
    assert max(size for _, size in clock.log) < 40_000


def test_a_back_end_that_fails_is_left_out():
    def timed(backend, size):
        if backend == "broken":
            raise HastegaError("no such device")
        return 1e-4, ()

    model = fit.model(timed, ["parallel", "broken"], 10**6, 1.0)
    assert [row.backend for row in model.rows] == ["parallel"]
    assert fit.model(timed, ["broken"], 10**6, 1.0) is None
    assert fit.model(timed, ["parallel"], 1, 1.0) is None
    assert fit.model(timed, ["parallel"], 0, 1.0) is None


def test_phases_that_ran_at_once_share_the_time():
    phases = [{"name": "to_device", "seconds": 3.0}, {"name": "kernel", "seconds": 1.0}]
    model = fit.model(lambda backend, size: (2.0, phases), ["x"], 10**6, 1e6)
    assert {line.name: line.b for line in model.rows[0].phases} == {"to_device": 1.5, "kernel": 0.5}
    model = fit.model(lambda backend, size: (5.0, phases), ["x"], 10**6, 1e6)
    assert {line.name: line.b for line in model.rows[0].phases} == {
        "to_device": 3.0,
        "kernel": 1.0,
        "call": 1.0,
    }


LINES = st.tuples(st.floats(0, 1e-5), st.floats(0, 1e-1))


@given(st.lists(LINES, min_size=2, max_size=5))
def test_crossings_separate_the_sizes_where_one_or_the_other_is_faster(lines):
    rows = [ModelRow(f"r{i}", (ModelPhase("kernel", a, b),), ()) for i, (a, b) in enumerate(lines)]
    found = fit.crossings(rows, 1e9)
    assert list(found) == sorted(found, key=lambda each: each.n)
    for each in found:
        (a, b), (c, d) = (lines[int(name[1:])] for name in (each.faster, each.than))
        assert 1 <= each.n <= 1.001e9
        assert a * each.n * 1.01 + b <= c * each.n * 1.01 + d
        assert a * each.n * 0.99 + b >= c * each.n * 0.99 + d
    pairs = {frozenset((each.faster, each.than)) for each in found}
    for i, (a, b) in enumerate(lines):
        for j, (c, d) in enumerate(lines[:i]):
            if (
                (a + b < c + d) is not (a * 1e9 + b < c * 1e9 + d)
                and a + b != c + d
                and a * 1e9 + b != c * 1e9 + d
            ):
                assert frozenset((f"r{i}", f"r{j}")) in pairs


def test_equal_lines_do_not_cross():
    same = [ModelRow(name, (ModelPhase("kernel", 1e-9, 1e-4),), ()) for name in "ab"]
    assert fit.crossings(same, 1e9) == ()
    apart = [*same, ModelRow("c", (ModelPhase("kernel", 1e-9, 1e-5),), ())]
    assert fit.crossings(apart, 1e9) == ()
    assert fit.crossings([same[0], ModelRow("d", (ModelPhase("k", 0.0, 1e-3),), ())], 1e9) == (
        Crossing("d", "a", 900_000.0),
    )


# ------------------------------------------------------------------------------------------------ cells


def test_a_cell_with_compare_has_a_model_of_every_back_end():
    report = Session({}).run_cell(CELL, options=Options(compare=("simd",))).report
    (pipeline,) = report.to_dict()["pipelines"]
    model = json.loads(json.dumps(pipeline["model"], allow_nan=False))
    assert [row["backend"] for row in model["rows"]] == ["parallel", "simd", "python", "numpy"]
    assert model["n"] == sorted(set(model["n"]))
    assert {n for row in model["rows"] for n, _ in row["points"]} == set(model["n"])
    assert min(model["n"]) == 256
    assert max(model["n"]) <= 50_000
    for row in model["rows"]:
        assert len(row["points"]) >= 2
        assert all(set(phase) == {"name", "a", "b"} for phase in row["phases"])
        assert all(phase["a"] >= 0 and phase["b"] >= 0 for phase in row["phases"])
        assert sum(phase["a"] + phase["b"] for phase in row["phases"]) > 0
    names = {row["backend"] for row in model["rows"]}
    assert all({each["faster"], each["than"]} <= names and each["n"] >= 1 for each in model["crossings"])
    assert "kernel" in {phase["name"] for phase in model["rows"][0]["phases"]}


def test_without_compare_nothing_is_measured(monkeypatch):
    def never(*args, **kwargs):
        raise AssertionError

    monkeypatch.setattr(fit, "model", never)
    monkeypatch.setattr(Comparison, "timed", never)
    report = Session({}).run_cell(CELL).report
    assert report.pipelines[0].model is None
    assert "model" not in report.to_dict()["pipelines"][0]


def test_without_baselines_only_what_was_asked_for_is_run():
    report = Session({}).run_cell(CELL, options=Options(compare=("simd",), baseline=False)).report
    assert [row.backend for row in report.pipelines[0].model.rows] == ["parallel", "simd"]


def test_the_back_end_of_the_cell_is_named_once():
    report = Session({}).run_cell(CELL, options=Options(on="simd", compare=("simd", "parallel"))).report
    assert [row.backend for row in report.pipelines[0].model.rows] == ["simd", "parallel", "python", "numpy"]


@pytest.mark.parametrize("source", ["range(3)", "[]", "[1]"])
def test_short_sources_have_no_model_and_no_trouble(source):
    text = f"ys = {source} |> map(lambda x: x + 1)"
    report = Session({}).run_cell(text, options=Options(compare=("simd",))).report
    assert report.pipelines[0].model is None or len(report.pipelines[0].model.n) >= 2


def test_a_back_end_with_another_result_has_no_line(monkeypatch):
    measure = Comparison.measure

    def wrong(self, backend, budget, lasting=False):
        found = measure(self, backend, budget, lasting)
        return fit_other(found) if backend == "simd" else found

    def fit_other(found):
        return type(found)(**{**found.__dict__, "equal": False})

    monkeypatch.setattr(Comparison, "measure", wrong)
    report = Session({}).run_cell(CELL, options=Options(compare=("simd",))).report
    assert "simd" not in {row.backend for row in report.pipelines[0].model.rows}


def test_repeat_does_not_make_baselines_longer(monkeypatch):
    from hastega_magic.compiler.comparing import baselines

    repeats = []
    run_loops = baselines.run_loops

    def spy(loops, workspace, options, trace):
        repeats.append(options.repeat)
        return run_loops(loops, workspace, options, trace)

    monkeypatch.setattr(baselines, "run_loops", spy)
    Session({}).run_cell(CELL, options=Options(compare=("simd",), repeat=7))
    assert repeats
    assert set(repeats) == {1}


def test_opencl_is_fitted_by_phases():
    pytest.importorskip("pyopencl")
    report = Session({}).run_cell(CELL, options=Options(compare=("opencl",))).report
    row = next(row for row in report.pipelines[0].model.rows if row.backend == "opencl")
    assert "kernel" in {phase.name for phase in row.phases}
