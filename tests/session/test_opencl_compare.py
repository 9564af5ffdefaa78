"""Back ends that are compared: named wrongly, failing, or not askable, each says so; and the rows of those that run."""

import contextlib
import dataclasses
import re
import sys

import numpy as np
import pytest

from hastega_magic.compiler.comparing import baselines
from hastega_magic.compiler.loops import clear_cache
from hastega_magic.errors import IntegerOverflowWarning, UsageError
from hastega_magic.runtime import opencl
from hastega_magic.session import Options, Session

pytest.importorskip("pyopencl")

CELL = "seen.append(1)\ny = xs |> map(lambda x: x * 3 + 1)"


def run(text=CELL, **options):
    session = Session({"xs": np.arange(50_000), "seen": []}, Options(**{"baseline": False, **options}))
    session.run_cell(text)
    return session.last_report


def rows(report):
    """The back ends' rows; the transfers alone have one more where there are any."""
    return {row.backend: row for row in report.pipelines[0].baselines if row.backend != "empty"}


@pytest.mark.parametrize("options", [{"on": "opencl:7"}, {"compare": ("parallel", "opencl:7")}])
def test_a_device_that_does_not_exist_is_refused_before_anything_runs(options):
    session = Session({"xs": np.arange(10), "seen": []})
    with pytest.raises(UsageError, match=r"there is no OpenCL device '7'; opencl:0 is ") as raised:
        session.run_cell(CELL, options=Options(**options))
    assert len(raised.value._render_traceback_()) == 1
    assert session.namespace["seen"] == []
    assert session.last_report.pipelines == ()


def test_an_unknown_back_end_is_refused_before_anything_runs():
    with pytest.raises(UsageError, match=r"no back end 'cuda': did you mean opencl"):
        Options(compare=("parallel", "cuda"))


@pytest.mark.parametrize("options", [{"on": "opencl"}, {"compare": ("opencl",)}])
def test_without_pyopencl_the_command_that_installs_it_is_named(options, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyopencl", None)
    with pytest.raises(UsageError, match=r"needs pyopencl.*pip install hastega-magic\[pocl\]"):
        run(**options)


@pytest.mark.parametrize("options", [{"on": "opencl"}, {"compare": ("opencl",)}])
def test_without_a_platform_the_command_that_installs_one_is_named(options, monkeypatch):
    import pyopencl as cl

    def none():
        raise cl.LogicError("clGetPlatformIDs failed: PLATFORM_NOT_FOUND_KHR")

    monkeypatch.setattr(cl, "get_platforms", none)
    with pytest.raises(
        UsageError,
        match=r"no OpenCL device was found; `pip install hastega-magic\[pocl\]`.*`%hastega doctor`",
    ):
        run(**options)


def test_what_is_compared_has_a_row():
    report = run(compare=("parallel", "opencl", "opencl:0"))
    assert list(rows(report)) == ["parallel, run again", "opencl", "opencl:0"]
    assert all(row.equal and row.seconds > 0 for row in rows(report).values())
    assert re.search(r"× (slower than )?OpenCL when run again ✓", report.to_text())


@pytest.mark.parametrize(
    ("on", "named", "expected"),
    [
        ("opencl", ("opencl",), ["opencl, run again"]),
        ("opencl:0", ("opencl",), ["opencl:0, run again"]),
        ("opencl", ("parallel",), ["opencl, run again", "parallel"]),
        ("opencl", ("parallel", "opencl:0"), ["opencl, run again", "parallel"]),
        ("auto", ("parallel", "numpy", "opencl"), ["parallel, run again", "numpy", "opencl"]),
        ("parallel", ("numpy", "python"), ["numpy", "python"]),
    ],
)
def test_the_cells_own_back_end_is_run_again_beside_others_that_compile(on, named, expected):
    report = run(on=on, compare=named)
    assert list(rows(report)) == expected
    again = [row for name, row in rows(report).items() if name.endswith(", run again")]
    told = [text for text in report.pipelines[0].why if "once more" in text]
    assert len(again) == len(told) == any("run again" in name for name in expected)
    for row in again:
        assert row.equal
        assert row.note == "timed as the others: its memory in use already"
        assert row.note in report.to_text()


def test_back_ends_that_compile_are_timed_alike_after_a_first_run(monkeypatch):
    timed, measure, runs = baselines._timed, baselines.Comparison.measure, {}

    def noted(run, size):
        seconds, values = timed(run, size)
        runs[list(runs)[-1]].append((seconds, size))
        return seconds, values

    def named(self, backend, budget, lasting=False):
        runs[backend] = []
        return measure(self, backend, budget, lasting)

    monkeypatch.setattr(baselines, "_timed", noted)
    monkeypatch.setattr(baselines.Comparison, "measure", named)
    found = rows(run(on="opencl", compare=("opencl", "parallel"), repeat=3))
    assert [name.partition(",")[0] for name in found] == list(runs) == ["opencl", "parallel"]
    for row, each in zip(found.values(), runs.values(), strict=True):
        if row.elements == 50_000:
            first, *others = [seconds for seconds, size in each if size == row.elements]
            assert set(row.spread) <= set(others)
            assert first not in row.spread


def test_the_time_of_a_compared_back_end_is_without_its_compiler(monkeypatch):
    programs, runs = [], []
    built, timed = opencl.Device.built, baselines._timed

    def counted(self, text, contract=False):
        programs.append((text, contract))
        return built(self, text, contract)

    def noted(run, size):
        before = len(set(programs))
        seconds, values = timed(run, size)
        runs.append((seconds, len(set(programs)) - before))
        return seconds, values

    monkeypatch.setattr(opencl, "_DEVICES", {})
    monkeypatch.setattr(opencl.Device, "built", counted)
    monkeypatch.setattr(baselines, "_timed", noted)
    for size in (100, 50_000):
        runs.clear()
        row = rows(run(f"y = xs[:{size}] |> map(lambda x: x * {size} + 12_321)", compare=("opencl",)))[
            "opencl"
        ]
        assert (row.elements, row.extrapolated) == (size, False)
        assert sum(new for _, new in runs) == 1
        assert set(row.spread) <= {seconds for seconds, new in runs if not new}


def test_a_compared_back_end_that_fails_has_a_row_that_says_so(monkeypatch):
    def refuse(self, text, contract=False):
        raise opencl.BuildError(
            "the OpenCL compiler of this device refused the kernel", "a log\nof two lines"
        )

    monkeypatch.setattr(opencl, "_DEVICES", {})
    monkeypatch.setattr(opencl.Device, "built", refuse)
    report = run("y = xs |> map(lambda x: x * 5 + 171)", compare=("opencl", "parallel"))
    row = rows(report)["opencl"]
    assert (row.equal, row.elements, row.seconds) == (False, 0, 0)
    assert row.note == "did not run: the OpenCL compiler of this device refused the kernel"
    assert rows(report)["parallel, run again"].equal
    assert "✗ OpenCL did not run" in report.to_text()
    assert row.note in report.to_text()
    assert row.note in report.to_html()


def test_a_compared_device_without_float64_says_so(monkeypatch):
    described = opencl._described
    monkeypatch.setattr(
        opencl, "_described", lambda *args: dataclasses.replace(described(*args), float64=False)
    )
    monkeypatch.setattr(opencl, "_DEVICES", {})
    clear_cache()
    report = run("y = xs |> map(lambda x: x / 7)", compare=("opencl",))
    assert "did not run" in rows(report)["opencl"].note
    assert "no float64" in rows(report)["opencl"].note


def test_numpy_is_silent_unless_asked_for():
    text = "y = xs |> map(lambda x: int(x / 7)) |> reduce(lambda a, b: a ^ b, 1)"
    assert "numpy" in rows(run(text, compare=("numpy",)))


@pytest.mark.parametrize(
    "text", ["y = xs |> map(lambda x: [x]) |> count", "y = xs |> map(lambda x: x * 2**61)"]
)
def test_what_python_computed_is_not_compared_and_says_so(text):
    with pytest.warns(IntegerOverflowWarning) if "61" in text else contextlib.nullcontext():
        report = run(text, compare=("opencl", "parallel"))
    assert report.pipelines[0].baselines == ()
    assert "Not compared with opencl, parallel: Python computed a part of it." in report.pipelines[0].warnings
