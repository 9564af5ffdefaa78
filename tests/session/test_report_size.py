"""Saved notebooks live in version control: what a cell leaves in them is bounded."""

import json

import pytest

from hastega_magic.session import Options, Session

CELL = """\
p, mu = 6_700_417, 22
ys = (range(1, 0x200001)
      |> map(lambda x: mu * x * (x + 1) % p)
      |> map(lambda x: mu * x * (x + 1) % p))
total = ys |> filter(lambda y: y % 2 == 0) |> sum
"""


def sizes(report):
    return len(report.to_html()), len(json.dumps(report.published(), ensure_ascii=False).encode())


def test_the_cell_of_the_design_with_everything_measured():
    html, data = sizes(Session({}).run_cell(CELL, options=Options(compare=("simd",))).report)
    assert html < 100_000
    assert data < 150_000


def test_on_opencl():
    pytest.importorskip("pyopencl")
    options = Options(on="opencl", compare=("parallel", "simd"))
    html, data = sizes(Session({}).run_cell(CELL, options=options).report)
    assert html < 100_000
    assert data < 150_000


def test_many_stages_are_cut_with_a_note():
    stages = "\n".join(f"    |> map(lambda x: (x * 3 + {number}) % 1000003)" for number in range(120))
    report = Session({}).run_cell(f"ys = (range(4000)\n{stages})", options=Options(baseline=False)).report
    html = report.to_html()
    assert len(html) < 100_000
    assert "%hastega report --save FILE.html" in html
    assert "more stages" in html
    assert report.pipelines[0].loops == 1


def test_strange_text_of_a_cell_stays_text():
    evil = "</pre><script>alert(1)</script>\u202e\U0001f680 'quoted'"
    text = f"名 = [3, 1] |> sorted |> map(lambda x: x * {{{evil!r}: 2}}[{evil!r}]) |> map(lambda x: x + 1)"
    session = Session({})
    report = session.run_cell(text, options=Options(compare=("simd",))).report
    assert session.namespace["名"].tolist() == [3, 7]
    for shown in (report.to_html(), report.to_page(), report.to_html(full=True)):
        assert "<script" not in shown
        assert "\u202e" not in shown
        assert "名" in shown
    assert "\u202e" not in report.to_text()


def thousand(stages):
    return "ys = (range(4000)\n" + "\n".join(f"    |> {stage}" for stage in stages) + ")"


def test_a_thousand_maps_are_one_loop_and_a_small_report():
    text = thousand(f"map(lambda x: (x * 3 + {number}) % 1000003)" for number in range(1000))
    session = Session({})
    report = session.run_cell(text, options=Options(baseline=False)).report
    expected = list(range(4000))
    for number in range(1000):
        expected = [(x * 3 + number) % 1000003 for x in expected]
    assert session.namespace["ys"].tolist() == expected
    (pipeline,) = report.pipelines
    assert (pipeline.loops, len(pipeline.barriers), len(pipeline.stages)) == (1, 0, 1001)
    assert len(report.to_html()) < 100_000
    data = report.published()
    assert len(json.dumps(data, ensure_ascii=False).encode()) < 150_000
    assert data["pipelines"][0]["cut"]["stages"] == 1001


def test_a_thousand_stages_with_barriers():
    # Stages that are alike share their code: the test is of what a thousand of anything costs the report.
    text = thousand("tap(seen.append)" if number % 2 else "map(lambda x: x + 1)" for number in range(1000))
    session = Session({"seen": []})
    report = session.run_cell(text, options=Options(baseline=False)).report
    assert session.namespace["ys"].tolist() == [x + 500 for x in range(4000)]
    assert len(session.namespace["seen"]) >= 500
    (pipeline,) = report.pipelines
    assert (pipeline.loops, len(pipeline.barriers)) == (500, 500)
    assert len(report.to_html()) < 100_000
    data = report.published()
    assert len(json.dumps(data, ensure_ascii=False).encode()) < 150_000
    assert data["pipelines"][0]["cut"]["barriers"] == 500
