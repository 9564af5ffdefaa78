"""Measuring a cell again: what is run, over how much, and what it is compared with."""

import importlib.util
from dataclasses import replace

import numpy as np
import pytest

from hastega_magic import progress
from hastega_magic.compiler.comparing.kept import choose
from hastega_magic.compiler.comparing.measure import measure
from hastega_magic.compiler.options import Options
from hastega_magic.errors import IntegerOverflowWarning, UsageError
from hastega_magic.session import Session

CELL = """\
ys = xs |> map(lambda x: x * x % 7) |> filter(lambda y: y > 2)
half = xs |> map(lambda x: x * 0.5) |> sum
again = ys |> map(lambda y: y + 1) |> max
"""
N = 100_003


def session_of(cell, **options):
    session = Session({"xs": np.arange(N), "np": np})
    session.run_cell(cell, options=Options(**{"baseline": False, "quiet": True} | options))
    return session


@pytest.fixture(scope="module")
def kept():
    return session_of(CELL).kept


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        ({}, {"on": "parallel", "n": N}),
        ({"on": "simd"}, {"on": "simd", "threads": 1}),
        ({"on": "parallel", "threads": 1}, {"threads": 1}),
        ({"width": 1}, {"width": 1}),
        ({"int_mode": "wrap"}, {"int_mode": "wrap"}),
        ({"n": 1000}, {"n": 1000}),
        ({"n": 10**9}, {"n": N}),
        ({"n": 0}, {"n": N}),
        ({"repeat": 3}, {"runs": 3}),
        ({"on": "numpy"}, {"on": "numpy", "device": "NumPy"}),
        ({"on": "python", "n": 5000}, {"on": "python", "device": "CPython", "n": 5000}),
    ],
)
def test_choices_are_kept_and_results_are_equal(kept, choices, expected):
    run = measure(kept, **choices)
    assert {name: getattr(run, name) for name in expected} == expected
    assert (run.of, run.equal) == (N, True)
    assert run.seconds > 0
    assert run.spread[0] <= run.seconds <= run.spread[1]


@pytest.mark.skipif(importlib.util.find_spec("pyopencl") is None, reason="pyopencl is not installed")
def test_opencl_and_its_phases(kept):
    run = measure(kept, on="opencl", n=20_000, repeat=1)
    assert (run.on, run.equal) == ("opencl", True)
    assert "kernel" in {phase.name for phase in run.phases}
    assert run.compiling > 0


def test_without_fusion_there_are_more_loops(kept):
    fused, unfused = measure(kept, repeat=1), measure(kept, fuse=False, repeat=1)
    assert (fused.fuse, unfused.fuse) == (True, False)
    assert unfused.loops > fused.loops
    assert unfused.equal


@pytest.mark.parametrize("fuse", [True, False])
@pytest.mark.parametrize(
    "cell",
    [
        "y = xs |> drop(7) |> take(5000) |> map(lambda x: x + 1)",
        "y = xs |> zip(xs[::-1]) |> map(lambda a, b: a - b) |> min",
        "y = xs |> enumerate |> map(lambda i, x: i * x) |> filter(lambda v: v % 5 == 0) |> to_list",
        "y = [1, 2, 3] * 3000 |> map(lambda x: xs[x]) |> sum",
        "y = range(0)  |> map(lambda x: x + 1)",
        "y = range(-5, 9000, 3) |> map(lambda x: x / 4) |> mean",
    ],
)
def test_cells_of_all_kinds_give_equal_results(cell, fuse):
    kept = session_of(cell).kept
    assert measure(kept, fuse=fuse, repeat=1).equal
    assert measure(kept, fuse=fuse, repeat=1, n=3).equal


def test_a_result_that_differs_is_said_to():
    session = Session({"xs": np.array([2**62, 2**62])})
    with pytest.warns(IntegerOverflowWarning):
        session.run_cell("y = xs |> map(lambda x: x * 4)", options=Options(on="simd", baseline=False))
    run = measure(session.kept, int_mode="wrap")
    assert not run.equal
    with pytest.raises(OverflowError):
        measure(session.kept, int_mode="checked")


def test_a_slow_function_is_timed_on_a_part():
    session = session_of("y = xs |> map(lambda x: x % 3 + x % 5 + x % 7 + x % 11) |> sum")
    run = measure(session.kept, on="python", within=0.002)
    assert run.extrapolated
    assert run.n == N
    assert run.equal


def test_nothing_is_assigned_and_nothing_changes(kept):
    session = session_of(CELL)
    before = dict(session.namespace)
    measure(session.kept, on="simd", n=10)
    assert session.namespace.keys() == before.keys()
    assert all(session.namespace[name] is value for name, value in before.items())


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"on": "cuda"}, "no back end 'cuda'"),
        ({"width": 3}, "power of two"),
        ({"int_mode": "sloppy"}, "sloppy"),
        ({"repeat": 0}, "^repeat takes a whole number from 1 on, not 0$"),
        ({"n": -1}, "^n takes a whole number from 0 on, not -1$"),
        ({"threads": -1}, "^threads takes zero or more, not -1"),
        ({"threads": "x"}, "threads takes a whole number"),
        ({"n": "x"}, "^n takes a whole number from 0 on, not 'x'$"),
    ],
)
def test_what_cannot_be_chosen(kept, choices, words):
    with pytest.raises(UsageError, match=words):
        measure(kept, **choices)


def test_a_cell_without_compiled_pipelines():
    with pytest.raises(UsageError, match="ran no pipeline that became one loop"):
        measure(session_of("y = xs |> map(str)").kept)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("y = xs |> window(5) |> map(sum)", r"the loop of `y` is made .*because of `window\(5\)`"),
        ("y = xs |> chunk(7) |> map(sum)", r"because of `chunk\(7\)`"),
        ("y = xs |> dot(xs)", r"because of `dot\(xs\)`"),
        ("y = xs |> filter(_ > 3) |> take(3)", "`y` is computed by 2 loops"),
        ("y = xs |> map(_ * 2) |> map(str)", r"Python computes a part of `y`, from `map\(str\)` on"),
    ],
)
def test_why_a_result_cannot_be_measured_again(text, words):
    with pytest.raises(UsageError, match=words):
        measure(session_of(text).kept)


def test_why_one_result_of_several_is_not_there():
    kept = session_of("a = xs |> sum\nb = xs |> var\nc = xs |> filter(_ > 3) |> take(3)").kept
    assert choose(kept, "a").names == ("a",)
    with pytest.raises(UsageError, match=r"the loop of `b` is made .*because of `var`"):
        choose(kept, "b")
    with pytest.raises(UsageError, match="`c` is computed by 2 loops"):
        choose(kept, "c")
    with pytest.raises(UsageError, match=r"the loop of `b`"):
        choose(session_of("b = xs |> var\nc = xs |> filter(_ > 3) |> take(3)").kept, "b")
    with pytest.raises(UsageError, match=r"has no result 'd' .*; there are a$"):
        choose(kept, "d")


def test_progress_is_told(kept, monkeypatch):
    monkeypatch.setattr(progress, "AFTER", 0.0)
    monkeypatch.setattr(progress, "EVERY", 0.0)
    seen = []

    class Heard:
        def show(self, task):
            seen.append((task.label, task.fraction))

        def close(self):
            seen.append(None)

    with progress.listening(Heard()):
        measure(kept, on="simd", repeat=4)
    assert seen.pop() is None
    assert {label for label, _ in seen} == {"measure"}
    fractions = [fraction for _, fraction in seen]
    assert len(set(fractions)) >= 5
    assert max(fractions) > 0.7


def test_a_measurement_is_read_as_one_line(kept):
    from IPython.lib.pretty import pretty

    found = measure(kept, on="simd", repeat=3, n=1000)
    assert pretty(found) == str(found)
    assert "\n" not in str(found)
    assert str(found).startswith("one SIMD thread on ")
    for words in (
        "(the median of 3 runs, ",
        f"1 000 of {N:_} elements".replace("_", " "),
        "kernel ",
        " · equal",
    ):
        assert words in str(found).replace("\u202f", " ")
    assert repr(found).startswith("Run(on='simd'")
    estimated = replace(found, on="python", device="CPython", runs=1, extrapolated=True, n=N, compiling=0.25)
    assert str(estimated).startswith("pure Python: ")
    assert "(extrapolated)" in str(estimated)
    assert "250 ms to compile, once" in str(estimated)
    assert str(replace(found, equal=False)).endswith("another result")
