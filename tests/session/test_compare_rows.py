"""`--compare`: a row for every back end that was asked for, or a sentence that says why there is none."""

import re

import numpy as np
import pytest

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
