"""The report names what ran, and says of which run it is."""

from __future__ import annotations

import numpy as np
import pytest

from hastega_magic.errors import IntegerOverflowWarning
from hastega_magic.report.mispredicted import told
from hastega_magic.report.verdict import reasons
from hastega_magic.session import Options, Session

FEW, MANY = np.arange(3000), np.arange(3_000_000)


def ran(text, names, **options):
    session = Session(dict(names))
    report = session.run_cell(text, options=Options(**options)).report
    return report.to_dict()["pipelines"][0], " ".join(report.to_text().split()), report.pipelines[0]


@pytest.mark.parametrize(
    ("options", "xs", "name"),
    [
        ({"on": "parallel"}, FEW, "parallel"),
        ({"on": "parallel", "threads": 1}, MANY, "parallel"),
        ({"on": "parallel", "threads": 2}, MANY, "parallel"),
        ({"on": "simd"}, MANY, "simd"),
        ({"on": "all"}, FEW, "parallel"),
    ],
)
def test_what_ran_is_named_as_it_was_asked_for(options, xs, name):
    pipeline, _, report = ran("y = xs |> map(_ * 3 + 1) |> sum", {"xs": xs}, baseline=False, **options)
    assert pipeline["backend"] == pipeline["cost"]["chosen"] == name
    assert pipeline["threads"] == options.get("threads", 1)
    assert not any("pure Python is" in each for each in told(report))


def test_the_text_says_that_a_pipeline_ran_several_times():
    _, text, _ = ran("t = 0\nfor k in range(3):\n    t += xs |> map(_ * k) |> sum", {"xs": MANY})
    assert "This pipeline ran 3 times in the cell; the figures are those of the first time." in text


NOT_TIMED = "Pure Python and NumPy are not timed in a loop, a function or a larger expression."


@pytest.mark.parametrize(
    "cell",
    [
        "for k in range(3):\n    t = xs |> map(_ * k) |> sum",
        "def f():\n    return xs |> map(_ * 3) |> sum\nt = f()",
        "t = 1 + (xs |> map(_ * 3) |> sum)",
    ],
)
def test_the_text_says_why_there_are_no_baselines(cell):
    assert NOT_TIMED in " ".join(ran(cell, {"xs": MANY})[1].split())
    assert NOT_TIMED not in " ".join(ran(cell, {"xs": MANY}, baseline=False)[1].split())
    assert NOT_TIMED not in ran("t = xs |> map(_ * 3) |> sum", {"xs": MANY})[1]


def test_integers_computed_again_do_not_contradict_the_verdict():
    with pytest.warns(IntegerOverflowWarning):
        report = ran("y = xs |> map(_ * 2**40) |> map(_ * _)", {"xs": list(range(20_000))}, on="simd")[2]
    (python,) = [each for each in report.baselines if each.backend == "python"]
    assert report.integers.fell_back
    said = told(report)
    assert all(each.startswith(("predicted if all integers fit", "measured otherwise")) for each in said)
    if python.seconds < report.seconds() / 1.1:
        assert any(each.startswith("measured otherwise: over") and "pure Python" in each for each in said)


@pytest.mark.parametrize(
    "stage", ["scan(lambda a, v: (a * a + v) % 1009, 7)", "reduce(lambda a, v: (a * a + v) % 1009)"]
)
def test_steps_one_after_the_other_are_not_said_to_be_vectorised(stage):
    pipeline, _, report = ran(f"y = xs |> map(_ + 1) |> {stage}", {"xs": FEW}, on="simd", baseline=False)
    assert pipeline["vector"]["scalar_ops"] == [stage]
    (said,) = [each for each in reasons(report) if each.startswith("Vectorised")]
    assert said.endswith(f"what stayed scalar: {stage}.")
    pipeline, _, _ = ran("y = xs |> map(_ + 1) |> cumsum", {"xs": FEW}, on="simd", baseline=False)
    assert pipeline["vector"]["scalar_ops"] == []
