"""`--compare`: a row for every back end that was asked for, or a sentence that says why there is none."""

import re

import numpy as np
import pytest

from hastega_magic.compiler.comparing import baselines
from hastega_magic.progress import task
from hastega_magic.session import Options, Session


def reported(text, **options):
    """The report's pipelines. Rows that need no seconds of measuring are not looked at."""
    a = np.arange(3000) % 100
    session = Session({"a": a, "xs": a.tolist()}, Options(baseline=False, **options))
    return session.run_cell(text).report


WHOLE = (
    "v = a |> var",
    "s = a |> window(3) |> map(sum) |> max",
    "s = xs |> take_while(_ < 50) |> map(_ * 2) |> sum",
    "s = a |> cumsum |> max",
    "s = a |> dot(a)",
    "s = a |> zip(a) |> window(2) |> map(lambda w: w[0][0] + w[1][1]) |> max",
)


@pytest.mark.parametrize("text", WHOLE)
def test_loops_that_are_made_for_their_elements_are_compared_with_other_back_ends(text):
    (pipeline,) = reported(text, on="parallel", compare=("simd",)).pipelines
    own, other = pipeline.baselines
    assert (own.backend, other.backend) == ("parallel, run again", "simd")
    assert own.equal
    assert other.equal
    assert other.elements == 3000
    assert 0 < other.spread[0] <= other.seconds <= other.spread[1]


@pytest.mark.parametrize("on", ["python", "numpy"])
@pytest.mark.parametrize("text", ["s = a |> map(_ + 1) |> sum", "v = a |> var"])
def test_python_and_numpy_are_compared_with_compiled_back_ends(on, text):
    (pipeline,) = reported(text, on=on, compare=("simd",)).pipelines
    (row,) = pipeline.baselines
    assert (row.backend, row.equal) == ("simd", True)


@pytest.mark.parametrize(
    ("text", "on", "why"),
    [
        ("s = a |> map(_ * 2) |> tap(lambda v: None) |> sum", "simd", "Python computed a part of it"),
        ("s = a |> tap(lambda v: None) |> sum", "python", "Python computed it, and one loop alone could not"),
        ("s = iter(xs) |> var", "simd", "its source gives its elements only once"),
        (
            "s = a |> window(3) |> map(sum) |> max\nm = a |> window(3) |> map(sum) |> min",
            "simd",
            "gives other results",
        ),
        ("s = (a |> sum) + 1", "simd", "a part of a loop, a function or a larger expression"),
        ("s = set(xs) |> last", "simd", "a list, tuple, range or array"),
    ],
)
def test_what_is_not_compared_says_why_in_text_and_html(text, on, why):
    report = reported(text, on=on, compare=("parallel",))
    (pipeline,) = report.pipelines
    assert pipeline.baselines == ()
    shown = " ".join(report.to_text(1000).split())
    assert "Not compared with parallel: " in shown
    assert why in shown
    assert "Not compared with parallel: " in report.to_html()


def test_nothing_is_said_of_back_ends_that_nobody_asked_for():
    session = Session({"a": np.arange(3000)}, Options(on="simd"))
    report = session.run_cell("s = a |> tap(lambda v: None) |> sum").report
    assert "ompared" not in report.to_text()


@pytest.mark.parametrize(
    "stages", ["cumsum |> to_list", "cumsum |> map(_ * 2) |> to_list", "scan(_A, 0.0) |> to_list"]
)
def test_lists_of_running_values_are_equal_up_to_their_roundings(stages):
    session = Session({"xs": np.random.default_rng(5).normal(size=500).tolist()}, Options(on="simd"))
    report = session.run_cell(f"r = xs |> {stages}".replace("_A", "lambda a, x: a + x")).report
    for each in report.pipelines[0].baselines:
        assert each.equal
        assert re.match(r"equal to \de-1\d of the largest element|$", each.note)


@pytest.mark.parametrize(
    ("text", "rows", "why"),
    [
        (
            "s = a |> map(_ * 2) |> tap(lambda v: None) |> sum",
            [],
            "Pure Python and NumPy were not timed: Python computed a part of it.",
        ),
        (
            "s = a |> map(lambda x: f(x)) |> sum",
            ["python"],
            "NumPy was not timed: it has no form for all of it.",
        ),
        ("s = a |> map(_ * 2) |> sum", ["python", "numpy"], None),
        ("s = ['a', 'b'] |> map(_ * 2) |> to_list", [], None),  # nothing to be held against anything
    ],
)
def test_a_baseline_that_is_not_there_says_why(text, rows, why):
    session = Session({"a": np.arange(3000)}, Options(on="simd"))
    define = "def f(x):\n    while x > 9:\n        x = x - 7\n    return x\n"
    (pipeline,) = session.run_cell(define + text).report.pipelines
    assert [each.backend for each in pipeline.baselines] == rows
    assert [each for each in pipeline.why if "not timed" in each] == ([why] if why else [])


def test_the_phases_of_a_run_are_all_of_its_seconds():
    report = reported("s = a |> map(_ * 2) |> sum", on="parallel", compare=("simd",))
    assert "everything else" in report.to_html()
    for each in report.pipelines[0].baselines:
        together = sum(phase.seconds for phase in each.phases)
        assert each.spread[0] * 0.999 <= together <= each.spread[1] * 1.001, each.backend
        assert [phase.name for phase in each.phases if phase.name == "call"] == ["call"]


def test_what_a_first_launch_takes_is_not_counted_for_each_element(monkeypatch):
    """It was multiplied by the elements: 7.78 s in place of 2 ms."""
    sizes = []

    def timed(run, size):
        sizes.append(size)
        return (5.0 if len(sizes) == 1 else 1e-3 + size * 1e-9), []

    monkeypatch.setattr(baselines, "_timed", timed)
    compared = baselines.Comparison([], None, None, [], 1_000_000, [], Options())
    with task("parallel", 1_000_000) as work:
        size, seconds, _ = compared._within(lambda size: [], 0.1, work, warm=True)
    assert (size, seconds) == (1_000_000, 2e-3)
    assert sizes[:2] == [512, 512]
