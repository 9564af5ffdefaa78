"""A first run beside the same run again: which figure is which, and where the difference went."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hastega_magic.report import Report, build_report
from hastega_magic.report.model import Baseline, Phase
from hastega_magic.report.verdict import backend_name, compared, reasons, remarks, verdict
from hastega_magic.trace import Trace


def report(first: float, again: float, **facts) -> Report:
    trace = Trace()
    trace.next_group()
    trace.add("run", backend="parallel", device="here", threads=2, elements=9, loops=1, cached=False)
    trace.add("phase", name="compile", seconds=5.0, bytes=0)
    trace.add("phase", name="kernel", seconds=first, bytes=72)
    trace.add(
        "baseline",
        backend="parallel, run again",
        seconds=again,
        spread=(again, again),
        elements=9,
        equal=True,
        **facts,
    )
    return build_report(trace)


def test_a_cold_run_is_explained():
    (pipeline,) = report(0.1, 0.02).pipelines
    (sentence,) = (each for each in reasons(pipeline) if "run again" in each)
    assert sentence.startswith("This run took 100 ms, the same loop run again 20.0 ms: 80.0 ms went into")
    assert "20.0 ms when run again ✓" in [part.text for part in verdict(pipeline)]
    html = report(0.1, 0.02).to_html()
    assert "this run" in html
    assert "80.0\u00a0ms went into" in html


@pytest.mark.parametrize(
    ("first", "again", "facts"), [(0.1, 0.09, {}), (0.1, 0.5, {}), (0.1, 0.01, {"extrapolated": True})]
)
def test_no_cause_is_claimed_without_a_difference(first, again, facts):
    (pipeline,) = report(first, again, **facts).pipelines
    assert not any("went into" in each for each in reasons(pipeline))


def test_another_back_end_is_no_run_of_ours(sample):
    (pipeline,) = sample.logistic().pipelines
    other = replace(
        pipeline, phases=(Phase("kernel", 0.1),), baselines=(Baseline("simd", 0.01, elements=9, equal=True),)
    )
    assert "10 × slower than one SIMD thread ✓" in [part.text for part in verdict(other)]
    assert not any("went into" in each for each in reasons(other))


def test_a_ratio_to_ours_run_again_says_so():
    (pipeline,) = report(0.1, 0.02).pipelines
    rows = (Baseline("simd", 0.01, elements=9, equal=True), Baseline("numpy", 0.4, elements=9, equal=True))
    both = replace(pipeline, baselines=(*rows, *pipeline.baselines))
    said = [part.text for part in verdict(both)]
    assert "2.0 × slower than one SIMD thread when run again ✓" in said
    assert "4.0 × NumPy ✓" in said
    assert [remarks(both, each) for each in both.baselines] == ["÷ run again · ✓ equal", "✓ equal", "✓ equal"]
    for shown in (Report(pipelines=(both,)).to_text(), Report(pipelines=(both,)).to_html()):
        assert "÷ run again · ✓ equal" in shown
    alone = replace(pipeline, baselines=rows)
    assert "run again" not in Report(pipelines=(alone,)).to_text()
    assert "10 × slower than one SIMD thread ✓" in [part.text for part in verdict(alone)]


def test_transfers_alone_are_told_without_what_launches_take():
    moved = (Phase("to_device", 1.2e-3), Phase("fuse", 24e-3), Phase("from_device", 0.5e-3))
    empty = Baseline("empty", 26e-3, elements=9, equal=True, phases=moved)
    assert compared(empty, 10e-3) == "transfers alone 17 % of it"
    assert compared(replace(empty, phases=()), 10e-3) == "transfers alone 26.0 ms"
    assert compared(replace(empty, phases=()), 52e-3) == "transfers alone 50 % of it"


def test_a_row_that_was_run_again_has_the_name_of_its_back_end():
    names = [backend_name(each) for each in ("simd, run again", "parallel, run again", "opencl:0, run again")]
    assert names == ["one SIMD thread, run again", "parallel, run again", "OpenCL, run again"]


def test_figures_of_a_narrow_page_are_not_broken():
    html = report(0.1, 0.02).to_html()
    assert html.count("white-space:nowrap") >= html.count("text-align:right") > 2
