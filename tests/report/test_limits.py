"""Reports of unreasonable size, and many of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hastega_magic.report import Report
from hastega_magic.report.model import (
    Barrier,
    Code,
    Graph,
    GraphEdge,
    GraphNode,
    GraphPair,
    Lanes,
    LaneStep,
    PassText,
    PipelineReport,
)
from hastega_magic.report.truncate import FEW, few_nodes


def chain(count: int, barriers: int = 0) -> Graph:
    nodes = tuple(
        GraphNode(f"n{i}", "barrier" if i % 10 < barriers else "stage", f"map(lambda x: x * {i} % 1000003)")
        for i in range(count)
    )
    edges = tuple(GraphEdge(f"n{i}", f"n{i + 1}", "int [0, 1000002] · 268 MB") for i in range(count - 1))
    return Graph(nodes, edges)


def thousand(pipeline: PipelineReport) -> PipelineReport:
    lines = [f"%{i}: int [0, 1000002] = madd52lo %{i - 1}, %{i - 2}, 52875 ; line {i}" for i in range(9000)]
    text = "\n".join(lines)
    return replace(
        pipeline,
        stages=("xs", "ys", *(f"map(lambda x: x * {i} % 1000003)" for i in range(1000))),
        graph=GraphPair(chain(1000), chain(1000, 3)),
        barriers=tuple(Barrier(f"tap(f{i})", "it looks at every value", (i, 0, i, 9)) for i in range(1000)),
        warnings=tuple(f"map(f{i}): element 3 needs more than 64 bits" for i in range(1000)),
        why=tuple(f"Because of {i}." for i in range(1000)),
        code=Code(
            text,
            text,
            tuple(PassText(f"pass{i}", "Does.", "\n".join(lines[i:])) for i in range(6)),
            text,
            text,
        ),
        lanes=Lanes(
            16, tuple(LaneStep(i, lines[i], ("9.877e+14",) * 16, (True,) * 16) for i in range(64)), 9000
        ),
    )


def test_a_thousand_stages_stay_within_the_limit_and_say_what_is_left_out(sample):
    (pipeline,) = sample.logistic().pipelines
    report = Report(pipelines=(thousand(pipeline),))
    html = report.to_html()
    assert len(html) < 100_000
    assert "1\u202f000 stages" in html
    assert "✗ and 992 more barriers" in html
    assert "! and 992 more warnings" in html
    assert "… 983 more stages" in html
    assert "%hastega report --save FILE.html" in html
    text = report.to_text()
    assert "✗ and 992 more barriers" in text
    assert len(text) < 8_000
    whole = report.to_html(full=True)
    assert "more barriers" not in whole
    assert all(f"tap(f{i})" in whole for i in range(1000))
    assert "madd52lo %8998, %8997" in whole


def test_long_sentences_are_cut(sample):
    (pipeline,) = sample.logistic().pipelines
    endless = replace(
        pipeline,
        name="n" * 1_000_000,
        barriers=(Barrier("s" * 1_000_000, "r" * 1_000_000),),
        warnings=("w " * 500_000,),
        why=("y" * 1_000_000,),
    )
    report = Report(pipelines=(endless,))
    assert len(report.to_html()) < 100_000
    assert len(report.to_text()) < 8_000


def test_pipelines_beyond_the_room_have_their_first_line(sample):
    (pipeline,) = sample.logistic().pipelines
    report = Report(pipelines=tuple(replace(pipeline, name=f"name{i}") for i in range(50)))
    html = report.to_html()
    assert len(html) < 400_000
    assert "more pipelines, without details" in html
    assert all(f"<b>name{i}</b>" in html for i in range(50))
    assert "without details" not in report.to_html(full=True)


def test_fifty_reports_are_each_their_own(sample):
    (pipeline,) = sample.logistic().pipelines
    reports = [
        Report(
            pipelines=(replace(pipeline, name=f"name{i}", code=replace(pipeline.code, fused=f"fused {i}")),)
        )
        for i in range(50)
    ]
    first = [report.to_html() for report in reports]
    assert all(f"<b>name{i}</b>" in html and f">fused {i}<" in html for i, html in enumerate(first))
    assert max(map(len, first)) < 100_000
    assert [report.to_html() for report in reports] == first


def test_a_long_graph_keeps_its_ends_and_stays_connected():
    graph = few_nodes(chain(100, 2))
    assert len(graph.nodes) == FEW
    assert (graph.nodes[0].id, graph.nodes[-1].id) == ("n0", "n99")
    (more,) = (node for node in graph.nodes if node.label.startswith("…"))
    gone = 100 - FEW + 1
    assert more.label.startswith(f"… {gone} more stages, ")
    assert "barriers among them" in more.label
    after = {edge.source: edge.target for edge in graph.edges}
    at, seen = "n0", 1
    while at in after:
        at, seen = after[at], seen + 1
    assert (at, seen) == ("n99", FEW)


@pytest.mark.parametrize("count", [0, 1, FEW])
def test_a_short_graph_is_left_alone(count):
    assert few_nodes(chain(count)) is chain(count) or few_nodes(chain(count)) == chain(count)
