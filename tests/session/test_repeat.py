"""`--repeat`: the median of the runs, and how far they went apart."""

import re

import numpy as np
import pytest

from hastega_magic.report.model import Report
from hastega_magic.session import Options, Session

SAID = re.compile(r", the median of 3 runs \([\d.]+\s[mµn]?s to [\d.]+\s[mµn]?s\)")


def reported(text, **options):
    session = Session({"a": np.arange(30_000) % 100}, Options(baseline=False, repeat=3, **options))
    return session.run_cell(text).report


@pytest.mark.parametrize("on", ["simd", "parallel", "opencl", "all"])
@pytest.mark.parametrize(
    "text",
    [
        "s = a |> map(_ + 1) |> sum",
        "v = a |> var",
        "s = a |> window(3) |> map(sum) |> max",
        "s = a |> map(_ * 2) |> tap(lambda v: None) |> sum",
        "s = (a |> sum) + 1",
    ],
)
def test_the_verdict_says_that_its_time_is_a_median_and_from_where_to_where_runs_went(text, on):
    if on in ("opencl", "all"):
        pytest.importorskip("pyopencl")
    report = reported(text, on=on)
    (pipeline,) = report.pipelines
    assert pipeline.repeated.runs == 3
    low, high = pipeline.repeated.spread
    assert 0 <= low <= pipeline.seconds() <= high
    assert SAID.search(report.to_text(1000))
    assert SAID.search(report.to_html())
    assert any(sentence.startswith("--repeat: each loop ran 3 times") for sentence in pipeline.foremost)
    assert set(pipeline.foremost) <= set(pipeline.why)
    assert Report.from_dict(report.to_dict()).pipelines[0].repeated == pipeline.repeated


def test_what_auto_leaves_to_python_is_repeated_too(monkeypatch):
    monkeypatch.setenv("HASTEGA_AUTO", "python")
    (pipeline,) = reported("s = [1, 2] |> sum").pipelines
    assert pipeline.backend == "python"
    assert pipeline.repeated.runs == 3


def test_what_has_no_loop_ran_once_and_says_so():
    report = reported("s = a |> sum", on="python")
    assert report.pipelines[0].repeated is None
    assert "! --repeat is for compiled loops: CPython computed it, once." in report.to_text()


def test_without_the_option_nothing_is_said_of_runs():
    session = Session({"a": np.arange(3000)}, Options(baseline=False))
    report = session.run_cell("s = a |> sum").report
    assert "repeated" not in report.to_dict()["pipelines"][0]
    assert "median" not in report.to_text()
