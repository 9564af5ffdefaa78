from __future__ import annotations

import html
import json
import re
from dataclasses import replace

import pytest

from hastega_magic.report import Report, units
from hastega_magic.report.escape import NO_BREAK, columns, one_line, shorten, visible
from hastega_magic.report.html import render_html
from hastega_magic.report.model import CellInfo, Phase, PipelineReport
from hastega_magic.report.text import render_text
from hastega_magic.report.verdict import about, parted, reasons, verdict

GOLDEN = """\
ys, total   1 fused loop · AVX-512, 8 lanes × 4 · 2 threads · 14.8 ms · 19.7 ms to compile, once
            1 630 × pure Python ≈ · 21 × NumPy ✓
  phase            time    bytes        rate
  parse         1.10 ms
  infer          900 µs
  fuse           400 µs
  codegen       1.60 ms
  compile       15.7 ms
  kernel        14.8 ms   268 MB   18.1 GB/s
  convert out   12.0 µs      8 B
  baseline        time    ÷ ours
  pure Python   24.1 s   1 630 ×   ≈ from 41 000 elements · ✓ equal on these · 23.9 s to 24.4 s
  NumPy         312 ms      21 ×   ✓ equal · 309 ms to 320 ms
  break-even: parallel is faster than pure Python from ≈ 120, than NumPy from ≈ 7 900 elements on

  ✓ checked equal to our result · ≈ extrapolated from a part of the input"""


def test_the_whole_text(sample):
    assert render_text(sample.logistic()).replace(units.THIN, " ") == GOLDEN


@pytest.mark.parametrize("width", range(40, 100, 3))
def test_numbers_stand_on_one_line_with_their_units(sample, width):
    slow = "predicted 1.68 ms, 2 threads 2.20 ms, pthread 2.26 ms, from ≈ 46000 elements on 4.0 × as fast"
    told = replace(sample.logistic().pipelines[0], foremost=(slow,), warnings=(slow,))
    text = render_text(replace(sample.logistic(), pipelines=(told,)), width)
    assert not re.search(r"from ≈\n|\d\n +(ms|µs|s|×)(?!\w)", text)
    assert " ".join(text.split()).count(slow) == 2
    assert "\u00a0" not in text


@pytest.mark.parametrize("width", [80, 100, 120])
def test_no_line_is_too_long(sample, width):
    for report in (sample.logistic(), sample.troubled()):
        for line in render_text(report, width).splitlines():
            assert columns(line) <= max(width, 96), line
        first = render_text(report, width).splitlines()[0]
        assert columns(first) <= width


def test_a_cached_run_does_not_speak_of_compiling(sample):
    (pipeline,) = sample.logistic().pipelines
    assert "compile" not in " ".join(p.text for p in verdict(replace(pipeline, cached=True)))


def test_vectorised_is_said_only_of_vector_code(sample):
    (pipeline,) = sample.logistic().pipelines
    for lanes in (0, 1):
        other = replace(pipeline, vector=replace(pipeline.vector, lanes=lanes))
        said = render_text(Report(pipelines=(other,))) + " ".join(reasons(other))
        assert "AVX" not in said
        assert "lanes" not in said
        assert "Vectorised" not in said
    assert any(line.startswith("Vectorised: AVX-512, 8 lanes × 4") for line in reasons(pipeline))


def test_the_gpu_is_never_named_by_the_report_itself(sample):
    (pipeline,) = sample.logistic().pipelines
    other = replace(pipeline, backend="opencl", device="pocl, x86-64 CPU")
    assert "OpenCL on pocl, x86-64 CPU" in render_text(Report(pipelines=(other,)))
    assert "GPU" not in Report(pipelines=(other,)).to_page()


def test_a_baseline_with_another_result_shows_no_time(sample):
    report = sample.troubled()
    for shown in (report.to_text(), report.to_html()):
        assert "NumPy gave another result" in shown
        assert "100 µs ✓" not in shown
        assert "100 µs · " not in shown
    assert "1.9 × slower than pure Python ✓" in report.to_text()


def test_barriers_fallbacks_and_warnings_are_in_the_text(sample):
    said = sample.troubled().to_text()
    assert "✗ 1 barrier" in said
    assert "✗ barrier tap(print): it looks at every value" in said
    assert "✗ integers recomputed exactly in Python" in said
    assert "needs more than 64 bits" in said


def test_the_running_time_holds_the_transfers_and_not_the_compiler(sample):
    (pipeline,) = sample.logistic().pipelines
    assert pipeline.seconds() == pytest.approx(0.014812)
    assert pipeline.seconds(compiling=True) == pytest.approx(0.0197)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0, "0 s"), (1.2e-9, "1.20 ns"), (9.996e-7, "1.00 µs"), (0.0148, "14.8 ms"), (0.99951, "1.00 s"),
        (0.9994, "999 ms"), (24.1, "24.1 s"), (119.0, "119 s"), (192.0, "3.20 min"), (7200.0, "2.00 h"),
        (-1.0, "0 s"),
    ],
)  # fmt: skip
def test_seconds(value, said):
    assert units.seconds(value) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.00 kB"),
        (268_435_456, "268 MB"),
        (999_600_000, "1.00 GB"),
        (10**19, "10 000 PB"),
    ],
)
def test_size(value, said):
    assert units.size(value).replace(units.THIN, " ") == said


@pytest.mark.parametrize(
    ("value", "said"),
    [(1634.2, "1 630"), (21.06, "21"), (4.24, "4.2"), (0.52, "0.52"), (99.7, "99.7"), (123456, "123 000")],
)
def test_times(value, said):
    assert units.times(value).replace(units.THIN, " ") == said


def test_hidden_characters_are_shown():
    assert visible("a\u202eb\x00\ud800\u200b") == "a⟨U+202E⟩b⟨U+0000⟩⟨U+D800⟩⟨U+200B⟩"
    assert visible("👩\u200d🚀 é\n\t") == "👩\u200d🚀 é\n\t"


def test_shorten_counts_terminal_columns():
    assert shorten("ab\ncd", 10) == "ab cd"
    assert columns(shorten("漢字" * 20, 11)) <= 11


def test_a_loop_that_python_computed_says_so_and_what_it_was_compiled_to():
    vector = {"lanes": 8, "bits": 512, "in_flight": 8, "isa": "AVX-512"}
    data = {
        "name": "ys",
        "loops": 1,
        "backend": "python",
        "device": "CPython",
        "threads": 1,
        "vector": vector,
    }
    text = Report.from_dict({"pipelines": [data]}).to_text(200)
    assert (
        "1 fused loop · compiled to AVX-512, 8 lanes × 8 · computed by plain Python, which is faster here"
        in text
    )
    assert "ran in Python" not in text
    guarded = {**data, "int": {"mode": "exact", "guarded": True}}
    for backend, told in (("python", False), ("simd", True)):
        (pipeline,) = Report.from_dict({"pipelines": [{**guarded, "backend": backend}]}).pipelines
        assert ("No guard fired: every integer did fit." in reasons(pipeline)) is told


def test_a_stage_that_is_computed_one_element_after_the_other_is_named():
    ops = ["vdivsd", "scan(lambda a, x: a / x)", "scan(lambda a, x: a - x)", "reduce(f, 1)"]
    vector = {"lanes": 8, "bits": 512, "in_flight": 8, "isa": "AVX-512", "scalar_ops": ops}
    data = {"name": "ys", "loops": 1, "backend": "simd", "threads": 1, "vector": vector}
    told = "1 fused loop · AVX-512, 8 lanes × 8 · serial scan · serial reduce · 1 thread"
    assert told in Report.from_dict({"pipelines": [data]}).to_text(200)
    scalar = {**data, "vector": {**vector, "lanes": 1}}
    assert "serial" not in Report.from_dict({"pipelines": [scalar]}).to_text(200).partition("\n")[0]


def test_python_is_not_held_against_itself():
    row = {"backend": "python", "seconds": 2.0, "elements": 5, "equal": True}
    data = {"name": "ys", "loops": 1, "backend": "python", "phases": [{"name": "kernel", "seconds": 4.0}]}
    text = Report.from_dict(
        {"pipelines": [{**data, "baselines": [row, {**row, "backend": "numpy"}]}]}
    ).to_text(200)
    assert "slower than NumPy" in text
    assert "than pure Python" not in text
    (line,) = [each for each in text.splitlines() if each.strip().startswith("pure Python")]
    assert "×" not in line
    compiled = {**data, "backend": "simd", "baselines": [row]}
    assert "slower than pure Python" in Report.from_dict({"pipelines": [compiled]}).to_text(200)


def test_digits_of_a_number_stay_together():
    assert one_line("a \t b\n from 3\u202f500\u2003on ") == "a b from 3\u202f500 on"


def test_why_an_option_does_nothing(sample):
    (first, *others) = sample.logistic().pipelines
    why = "--on all: the CPU computed all of it, for running values pass from each block to the next."
    told = replace(first, why=(*first.why, why), foremost=(why,))
    report = replace(sample.logistic(), pipelines=(told, *others))
    assert f"  {why}" in render_text(report).splitlines()
    assert not any(each in render_text(report) for each in first.why)
    assert Report.from_dict(json.loads(json.dumps(report.to_dict()))) == report


def test_what_a_cell_waited_for_beside_its_pipelines_is_said_once(sample):
    report = sample.logistic()
    phases = Phase("load", 0.139), Phase("device", 0.312), Phase("parse", 0.0011), Phase("baselines", 1.02)
    cell = replace(report.cell, phases=phases, why=("A sentence about the cell.",))
    once = "loading the compiler 139 ms, once; starting OpenCL 312 ms, once"
    waited = f"Beside the pipelines: {once}; reading the cell 1.10 ms; timing the baselines 1.02 s."
    told = waited, "A sentence about the cell."
    assert about(cell) == told
    text = " ".join(render_text(replace(report, cell=cell)).split())
    page = html.unescape(replace(report, cell=cell).to_html()).replace(NO_BREAK, " ")
    for each in told:
        assert text.count(each) == page.count(each) == 1
    assert text.endswith(told[-1])
    assert about(replace(cell, phases=(Phase("parse", 0.0049),), why=())) == ()


def test_what_python_took_has_one_row():
    phases = (Phase("kernel", 4.0, 8, python=1.0), Phase("convert_out", 3.0, 0, python=2.0))
    pipeline = PipelineReport(name="y", phases=phases, backend="simd", loops=1)
    found = [(each.name, each.seconds, each.bytes) for each in parted(phases)]
    assert found == [("kernel", 3.0, 8), ("python", 3.0, 0), ("convert_out", 1.0, 0)]
    assert render_text(Report(pipelines=(pipeline,))).count("Python") == 1
    alone = [Phase("kernel", 1.0, 0, python=1.5), Phase("convert_out", 2.0, 0, python=2.0)]
    assert [(each.name, each.seconds) for each in parted(alone)] == [("python", 3.0)]


@pytest.mark.parametrize("form", [render_text, render_html])
def test_that_no_pipeline_ran_is_said_where_nothing_says_why(form):
    assert "no pipeline ran that is written in this cell" in form(Report())
    told = form(Report(cell=CellInfo(warnings=("The function has not been called yet.",))))
    assert "The function has not been called yet." in told
    assert "no pipeline ran" not in told
