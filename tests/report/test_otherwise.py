from __future__ import annotations

from dataclasses import replace

from hastega_magic.report import Report
from hastega_magic.report.breakeven import lines_of
from hastega_magic.report.build import build_report
from hastega_magic.report.costs import Cost, Crossing, Model, ModelPhase, ModelRow, PredictedCurve
from hastega_magic.report.mispredicted import told
from hastega_magic.report.model import Barrier, Baseline, IntInfo, Phase, PipelineReport
from hastega_magic.trace import Trace

CURVES = (
    PredictedCurve("python", ((1.0, 1e-6), (1e6, 1.0))),
    PredictedCurve("parallel", ((1.0, 1e-7), (1e6, 1e-3)), ((20_000.0, 0.022),)),
)
COST = Cost(chosen="parallel", curves=CURVES)
RAN = PipelineReport(
    name="y", loops=1, backend="parallel", elements=20_000, cost=COST, phases=(Phase("kernel", 0.022),)
)


def compared(**other: object) -> PipelineReport:
    return replace(RAN, baselines=(replace(Baseline("python", 0.006, equal=True), **other),))


def plain(pipeline: PipelineReport) -> list[str]:
    return [each.replace("\u202f", " ") for each in told(pipeline)]


def test_what_the_line_of_verdict_says_is_not_contradicted():
    assert plain(RAN) == ["predicted: parallel is faster than pure Python for every size"]
    (said,) = plain(compared())
    assert said.startswith("measured otherwise: over 20 000 elements parallel 22.0 ms (predicted ")
    assert "), pure Python 6.00 ms (predicted " in said
    assert "pure Python ≈ 6.00 ms" in plain(compared(extrapolated=True))[0]


def test_baselines_that_say_the_same_or_nothing_leave_the_prediction_alone():
    for each in (
        compared(seconds=0.5),
        compared(equal=False),
        compared(seconds=0.0),
        compared(seconds=0.0215),
    ):
        assert plain(each) == plain(RAN)


def test_predictions_say_that_they_know_nothing_of_integers_computed_again():
    again = replace(RAN, integers=IntInfo("exact", False, True, True))
    assert plain(again)[0].startswith("predicted if all integers fit 64 bits: ")


def test_what_stands_before_several_sentences_is_written_once_in_the_text():
    curves = (
        CURVES[0],
        PredictedCurve("simd", ((1.0, 1e-3), (1e6, 0.9))),
        PredictedCurve("parallel", ((1.0, 1e-2), (1e6, 0.1))),
    )
    cost = Cost(
        chosen="simd",
        curves=curves,
        crossings=(Crossing("simd", "python", 150.0), Crossing("parallel", "simd", 1e4)),
    )
    barred = replace(RAN, backend="simd", cost=cost, barriers=(Barrier("tap(f)", "it looks"),))
    first, second = plain(barred)
    head = "predicted without what Python runs at barriers: "
    assert first.startswith(head)
    assert second.startswith(head)
    text = " ".join(Report(pipelines=(barred,)).to_text().replace("\u202f", " ").split())
    assert f"break-even: {first}; {second.removeprefix(head)}" in text


def test_what_several_share_has_no_sentences_of_another_back_end():
    shared = Report(pipelines=(replace(compared(), cost=replace(COST, chosen="all")),))
    assert told(shared.pipelines[0]) == ()
    assert "break-even" not in shared.to_text()
    html = shared.to_html()
    assert "faster than" not in html
    assert "parallel" in html


def test_the_heading_keeps_what_contradicts_it():
    curves = (
        *CURVES,
        PredictedCurve("simd", ((1.0, 1e-8), (1e6, 2e-3))),
        PredictedCurve("b", ((1.0, 1e-8), (1e6, 5e-3))),
    )
    html = Report(pipelines=(replace(compared(), cost=replace(COST, curves=curves)),)).to_html()
    heading = html[html.index("<b>Break-even</b>") :].partition("</summary>")[0]
    assert "measured otherwise" in heading


def test_a_device_of_which_nothing_is_predicted_has_the_line_fitted_to_it():
    phases = (ModelPhase("kernel", 1e-9, 1e-3),)
    rows = (
        ModelRow("opencl", phases, ((1e6, 2e-3),), predicted="opencl:0"),
        ModelRow("numpy", (ModelPhase("kernel", 1e-8, 0.0),)),
    )
    pipeline = replace(
        RAN, backend="opencl", cost=replace(COST, chosen="opencl:0"), model=Model((10**6,), rows)
    )
    model = lines_of(pipeline)
    assert model is not None
    assert model.rows[0].backend == "opencl"
    said = plain(pipeline)
    assert said
    assert all(each.startswith("fitted: OpenCL is") or "than OpenCL" in each for each in said)


def test_predictions_say_that_they_know_nothing_of_barriers():
    barred = replace(compared(), barriers=(Barrier("map(f)", "it prints"),))
    (said,) = plain(barred)
    assert said.startswith("predicted without what Python runs at barriers: parallel is faster ")


def test_why_a_back_end_was_chosen_does_so_too():
    trace = Trace()
    trace.next_group()
    trace.add("cost", because="2 threads: predicted 1 ms.", chosen="parallel")
    trace.add("why", text="2 threads: predicted 1 ms.")
    trace.add("barrier", stage="map(f)", reason="it prints")
    (pipeline,) = build_report(trace).pipelines
    assert pipeline.cost is not None
    assert pipeline.cost.because == "2 threads: predicted 1 ms; what Python runs at barriers is not counted."
    assert pipeline.why == (pipeline.cost.because,)
