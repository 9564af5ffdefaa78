"""The JSON that a notebook keeps: cut to a size, still consistent, and saying what was cut."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from hastega_magic.report import Report
from hastega_magic.report.listing import hot_loop
from hastega_magic.report.model import Barrier, Code, Graph, GraphEdge, GraphNode, GraphPair, PipelineReport
from hastega_magic.report.publish import ROOM, Kept, cut_pipeline

ASM = "\n".join(
    [
        "kernel:",
        *(f"\tmovq\t%rax, {i}(%rsp)" for i in range(3000)),
        ".LBB0_1:",
        *(f"\tvpaddq\t%zmm{i % 30}, %zmm1, %zmm2 # {i}" for i in range(9000)),
        "\tjne\t.LBB0_1",
        *("\tretq" for _ in range(50)),
    ]
)
FUSED = "\n".join(f"  %{i}: int = add %{i - 1}, {i}" for i in range(9000))


def size(data) -> int:
    return len(json.dumps(data, ensure_ascii=False).encode())


def long(pipeline: PipelineReport) -> PipelineReport:
    nodes = tuple(GraphNode(f"n{i}", "stage", f"map(f{i})") for i in range(1000))
    edges = tuple(GraphEdge(f"n{i}", f"n{i + 1}", "int") for i in range(999))
    links = tuple(
        {
            "span": [i, 0, i, 9],
            "text": f"x + {i}",
            "fused": [i],
            "llvm": [],
            "asm": [3001 + i, 3002 + i],
            "opencl": [],
        }
        for i in range(1, 9000)
    )
    return replace(
        pipeline,
        stages=("xs", "ys", *(f"map(f{i})" for i in range(999))),
        barriers=tuple(Barrier(f"tap(f{i})", "it looks", (i, 0, i, 9)) for i in range(500)),
        graph=GraphPair(Graph(nodes, edges), Graph(nodes, edges)),
        code=Code(FUSED, FUSED, pipeline.code.passes, "", ASM, ""),
        links=links,
    )


@pytest.fixture
def pipeline(sample) -> PipelineReport:
    (found,) = sample.logistic().pipelines
    return found


def test_a_report_that_fits_is_whole(sample):
    report = sample.logistic()
    assert report.published() == report.to_dict()
    assert "cut" not in report.to_dict()["pipelines"][0]


def test_a_long_one_fits_and_says_what_was_cut(pipeline):
    report = Report(pipelines=(long(pipeline),))
    assert size(report.to_dict()) > 4 * ROOM
    data = report.published()
    assert size(data) <= ROOM
    (found,) = data["pipelines"]
    assert found["cut"]["stages"] == 1001
    assert found["cut"]["barriers"] == 500
    assert found["cut"]["code.asm"] == len(ASM.splitlines())
    assert found["cut"]["graph.before"] == 1000
    assert any("%hastega report --save FILE.html" in sentence for sentence in found["why"])
    assert any("last_report()" in sentence for sentence in found["why"])
    assert len(report.pipelines[0].links) == 8999, "the report itself stays whole"


def test_what_is_rendered_from_the_cut_json_counts_what_there_was(pipeline):
    found = Report.from_dict(Report(pipelines=(long(pipeline),)).published())
    assert "999 stages" in found.to_html()
    assert "✗ 500 barriers" in found.to_text()
    assert "more stages" in found.to_html()


def test_links_lead_to_the_same_lines_as_before(pipeline):
    whole = long(pipeline)
    cut = cut_pipeline(whole, 300)
    fused, asm = cut.code.fused.splitlines(), cut.code.asm.splitlines()
    before = {link["text"]: link for link in whole.links}
    assert 0 < len(cut.links) < len(whole.links)
    for link in cut.links:
        was = before[link["text"]]
        old_fused = {FUSED.splitlines()[n - 1] for n in was["fused"]}
        old_asm = {ASM.splitlines()[n - 1] for n in was["asm"]}
        assert {fused[n - 1] for n in link["fused"]} <= old_fused
        assert {asm[n - 1] for n in link["asm"]} <= old_asm
        assert link["fused"] or link["asm"]


def test_the_cut_assembly_keeps_its_hot_loop_a_loop(pipeline):
    asm = cut_pipeline(long(pipeline), 150).code.asm
    found = hot_loop(asm)
    assert found is not None
    lines = asm.splitlines()
    assert lines[found[0]] == ".LBB0_1:"
    assert lines[found[1] - 1] == "\tjne\t.LBB0_1"
    assert any("lines left out" in line and line.startswith("# ") for line in lines[slice(*found)])
    assert len(lines) < 200


def test_lines_of_what_is_kept():
    kept = Kept(((1, 3), (10, 12)))
    assert [kept.line(n) for n in (0, 1, 3, 4, 9, 10, 12, 13)] == [0, 1, 3, 0, 0, 5, 7, 0]


def test_many_pipelines_fit_too(pipeline):
    whole = long(pipeline)
    whole = replace(whole, links=whole.links[:700])  # more than any cut keeps
    report = Report(pipelines=tuple(replace(whole, name=f"name{i}") for i in range(20)))
    data = report.published()
    assert size(data) <= ROOM
    assert [each["name"] for each in data["pipelines"]] == [f"name{i}" for i in range(20)]
    assert "code" in data["pipelines"][-1]["cut"], "there was room for the first ones only"


def test_a_very_long_cell_keeps_its_beginning(sample):
    report = sample.logistic()
    source = "\n".join(f"a{i} = {i}" for i in range(100_000))
    data = replace(report, cell=replace(report.cell, source=source)).published()
    assert size(data) <= ROOM
    assert data["cell"]["source"].startswith("a0 = 0\na1 = 1\n")
    assert "%hastega report --save" in data["cell"]["source"]
