"""Baselines of a cell that runs again: those of its run before where everything is as it was, and only there."""

import time

import numpy as np
import pytest

from hastega_magic.compiler.comparing import baselines, remembered
from hastega_magic.session import Options, Session

TEXT = "total = xs |> map(lambda x: x * k) |> sum\n"


@pytest.fixture
def timed(monkeypatch):
    """The back ends that were timed."""
    asked, measure = [], baselines.Comparison.measure

    def noted(self, backend, budget, lasting=False):
        asked.append(backend)
        return measure(self, backend, budget, lasting)

    monkeypatch.setattr(baselines.Comparison, "measure", noted)
    return asked


def session(**names):
    return Session({"k": 3, **names}, Options(on="parallel"))


def ran(session, text=TEXT):
    session.run_cell(text)
    return session.last_report.pipelines[0].baselines


@pytest.mark.parametrize(
    "source",
    [range(5000), np.arange(5000), np.linspace(0, 1, 8000), np.array([np.nan] * 600)],
    ids=["range", "ints", "floats", "nan"],
)
def test_the_same_again_is_not_timed_again(timed, source):
    mine = session(xs=source)
    first = ran(mine)
    assert timed == ["python", "numpy"]
    second = ran(mine)
    assert timed == ["python", "numpy"]
    for before, now in zip(first, second, strict=True):
        assert (now.backend, now.seconds, now.spread) == (before.backend, before.seconds, before.spread)
        assert before.equal
        assert now.equal
        assert now.note == f"{before.note or '✓ equal'}, timed when this cell ran before"


def test_equality_up_to_rounding_is_still_said(timed):
    mine = session(xs=np.random.default_rng(3).random(5000))
    (before,) = [each for each in ran(mine) if each.backend == "python"]
    (now,) = [each for each in ran(mine) if each.backend == "python"]
    assert before.note.startswith("equal to ")
    assert now.note == f"{before.note}, timed when this cell ran before"


def test_arrays_of_small_results(timed):
    mine = session(xs=range(5000))
    for _ in range(2):
        ran(mine, "ys = xs |> map(lambda x: x * k)\n")
    assert timed == ["python", "numpy"]


@pytest.mark.parametrize(
    "change",
    [
        lambda names: names.update(xs=range(5001)),
        lambda names: names.update(xs=np.arange(5000)),
        lambda names: names.update(k=4),
        lambda names: names.update(k=3.0),
    ],
    ids=["longer", "an array", "another number", "another type"],
)
def test_what_changed_is_timed_again(timed, change):
    mine = session(xs=range(5000))
    ran(mine)
    change(mine.namespace)
    ran(mine)
    assert timed == ["python", "numpy"] * 2


def test_an_array_that_was_written_into_is_another(timed):
    xs = np.arange(5000)
    mine = session(xs=xs)
    ran(mine)
    xs[17] = 5
    ran(mine)
    xs[18], xs[19] = xs[19], xs[18]  # the same sum
    ran(mine)
    assert timed == ["python", "numpy"] * 3


def test_so_is_a_captured_one(timed):
    table = np.arange(10)
    mine = session(xs=range(5000), table=table)
    text = "total = xs |> map(lambda x: table[x % 10]) |> sum\n"
    ran(mine, text)
    ran(mine, text)
    assert timed == ["python", "numpy"]
    table[3] = 7
    ran(mine, text)
    assert timed == ["python", "numpy"] * 2


@pytest.mark.parametrize("source", [np.arange(100_000), list(range(5000))], ids=["large", "list"])
def test_what_is_not_kept_is_timed_again(timed, source):
    mine = session(xs=source)
    ran(mine)
    assert not any("before" in each.note for each in ran(mine))
    assert timed == ["python", "numpy"] * 2


def test_another_text_of_the_same_loop_is_timed(timed):
    mine = session(xs=range(5000))
    ran(mine)
    ran(mine, "# slower?\n" + TEXT)
    assert timed == ["python", "numpy"] * 2


@pytest.mark.parametrize("helper", [False, True], ids=["itself", "a helper"])
def test_so_is_a_function_that_computes_the_same_otherwise(timed, helper):
    mine = session(xs=range(5000))
    name = "g" if helper else "f"
    text = "total = xs |> map(f) |> sum\n"
    if helper:
        mine.run_cell("def f(x):\n    return g(x)\n")
    mine.run_cell(f"def {name}(x):\n    return x + 1\n")
    ran(mine, text)
    ran(mine, text)
    assert timed == ["python", "numpy"]
    mine.run_cell(f"def {name}(x):\n    a = x * 7\n    b = a * 8\n    return x + 1\n")
    ran(mine, text)
    assert timed == ["python", "numpy"] * 2


def test_a_loop_that_a_cell_has_twice_is_timed_twice(timed):
    mine = session(xs=range(5000))
    text = f"{TEXT}print(total)\n{TEXT}"
    mine.run_cell(text)
    assert timed == ["python", "numpy"] * 2
    assert not any("before" in each.note for p in mine.last_report.pipelines for each in p.baselines)
    mine.run_cell(text)
    assert timed == ["python", "numpy"] * 2


def test_so_many_runs_are_kept_and_no_more(timed):
    mine = session(xs=np.arange(5000))
    for number in range(20):
        mine.run_cell(f"def f(x):\n    return x * {number + 2}\n")
        ran(mine, "total = xs |> map(f) |> sum\n")
    cell = mine.memory.remembered.of("total = xs |> map(f) |> sum\n")
    assert 0 < len(cell._runs.values()) <= remembered._LOOPS


def test_after_a_minute_they_are_timed_again(timed, monkeypatch):
    mine = session(xs=range(5000))
    ran(mine)
    now = time.monotonic()
    monkeypatch.setattr(remembered.time, "monotonic", lambda: now + remembered.LASTING + 1)
    ran(mine)
    assert timed == ["python", "numpy"] * 2


def test_back_ends_that_the_user_compares_are_all_timed_together(timed):
    mine = session(xs=range(5000))
    for _ in range(2):
        mine.run_cell(TEXT, options=Options(on="parallel", compare=("simd",)))
    assert timed == ["python", "numpy", "parallel", "simd"] * 2


def test_what_was_not_equal_is_compared_again(timed, monkeypatch):
    mine = session(xs=range(5000))
    with monkeypatch.context() as patched:
        patched.setattr(baselines.Comparison, "equal", lambda self, theirs, ours: (False, "another result"))
        assert not any(each.equal for each in ran(mine))
    assert all(each.equal for each in ran(mine))
    assert timed == ["python", "numpy"] * 2


def test_why_pythons_floats_differ_beside_float32():
    mine = session(xs=np.full(600, 0.1, np.float32), ys=np.full(600, 0.7))
    mine.run_cell("zs = xs |> zip(ys) |> map(lambda x, y: x * y)")
    by_python, by_numpy = mine.last_report.pipelines[0].baselines
    assert not by_python.equal
    assert "Python rounds its floats to float32" in by_python.note
    assert by_numpy.equal
