from __future__ import annotations

import json
import math

import numpy as np
import pytest

from hastega_magic.report import SCHEMA, Report, build_report
from hastega_magic.report.model import Phase
from hastega_magic.trace import Event, Trace

PIPELINE_KEYS = {
    "name", "span", "stages", "loops", "barriers", "backend", "device", "threads", "elements", "vector",
    "int", "code", "links", "phases", "cached", "baselines",
}  # fmt: skip


def test_json_has_the_documented_fields_and_comes_back_equal(sample):
    report = sample.logistic()
    data = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert data["schema"] == SCHEMA
    assert set(data["cell"]) >= {"source", "options"}
    (pipeline,) = data["pipelines"]
    assert set(pipeline) >= PIPELINE_KEYS
    assert set(pipeline["vector"]) >= {"lanes", "bits", "in_flight", "scalar_ops"}
    assert set(pipeline["int"]) == {"mode", "proved", "guarded", "fell_back"}
    assert set(pipeline["code"]) == {"pipeline", "fused", "passes", "llvm", "asm", "opencl"}
    assert set(pipeline["baselines"][0]) >= {
        "backend", "seconds", "spread", "elements", "extrapolated", "equal", "phases",
    }  # fmt: skip
    assert Report.from_dict(data) == report


def test_a_report_without_events_has_all_fields_too():
    trace = Trace()
    trace.next_group()
    trace.add("group", name="x")
    (pipeline,) = build_report(trace).to_dict()["pipelines"]  # type: ignore[misc]
    assert set(pipeline) >= PIPELINE_KEYS


def test_build_sums_phases_of_one_name_and_orders_them(sample):
    (pipeline,) = sample.logistic().pipelines
    assert [p.name for p in pipeline.phases] == [
        "parse", "infer", "fuse", "codegen", "compile", "kernel", "convert_out",
    ]  # fmt: skip
    kernel = next(p for p in pipeline.phases if p.name == "kernel")
    assert kernel.seconds == pytest.approx(0.0148)
    assert kernel.bytes == 8 * sample.N
    assert pipeline.results == ("ys", "total")
    assert pipeline.elements_out == sample.N


def test_events_of_the_cell_itself():
    trace = Trace()
    trace.add("cell", source="x = 1", options={"int": "wrap"})
    trace.add("phase", name="parse", seconds=0.25, bytes=0)
    trace.add("warning", text="careful")
    cell = build_report(trace).cell
    assert (cell.source, cell.options, cell.warnings) == ("x = 1", {"int": "wrap"}, ("careful",))
    assert cell.phases == (Phase("parse", 0.25, 0),)


@pytest.mark.parametrize("missing", range(32))
def test_a_trace_that_breaks_off_anywhere_still_renders(sample, missing):
    full = sample.logistic_trace()
    report = build_report(Trace(full.events[:missing]))
    assert report.to_text()
    assert report.to_html()
    assert report.to_page().startswith("<!DOCTYPE html>")
    json.dumps(report.to_dict(), allow_nan=False)


def test_each_event_may_be_missing_or_empty(sample):
    for left_out in range(len(sample.logistic_trace().events)):
        events = sample.logistic_trace().events
        event = events[left_out]
        for changed in ([], [Event(event.kind, event.group, {})]):
            report = build_report(Trace(events[:left_out] + changed + events[left_out + 1 :]))
            assert "ys" in report.to_text() or event.kind == "group"
            report.to_html()


def test_unknown_events_and_ill_typed_data_are_dropped():
    trace = Trace()
    trace.next_group()
    trace.add("telemetry", anything=object())
    trace.add("group", name=None, span="here", stages=7)
    trace.add("run", threads="two", elements=np.int64(5), loops=np.int32(1), cached="yes")
    trace.add("phase", name="kernel", seconds=math.nan, bytes=None)
    trace.add("phase", name="kernel", seconds=np.float64(0.5), bytes=np.int64(8))
    trace.add("vector", lanes=None, instructions=["no"])
    trace.add("graph", before={"nodes": [{"id": 1}, "x"], "edges": [[1, "gone"], None]}, after=3)
    trace.add("baseline", backend="numpy", seconds=math.inf, spread=None)
    (pipeline,) = build_report(trace).pipelines
    assert (pipeline.elements, pipeline.loops, pipeline.threads, pipeline.cached) == (5, 1, 0, False)
    assert pipeline.phases == (Phase("kernel", 0.5, 8),)
    report = build_report(trace)
    assert report.to_html()
    json.dumps(report.to_dict(), allow_nan=False)


def test_a_newer_schema_keeps_what_is_known_and_says_so(sample):
    data = sample.logistic().to_dict()
    data["schema"] = SCHEMA + 1
    data["dashboards"] = [1, 2]
    data["pipelines"][0]["vector"]["tiles"] = 4
    data["pipelines"][0]["phases"].append({"name": "teleport", "seconds": 0.001, "bytes": 0})
    report = Report.from_dict(data)
    assert report.pipelines[0].vector == sample.logistic().pipelines[0].vector
    assert "teleport" in report.to_text()
    assert f"schema {SCHEMA + 1}" in report.to_text()
    assert f"schema {SCHEMA + 1}" in report.to_html()
    assert report.to_dict()["schema"] == SCHEMA
    assert "dashboards" not in report.to_dict()


@pytest.mark.parametrize(
    "data", [{}, {"pipelines": None}, {"pipelines": [None, 3, {}]}, {"schema": "x", "cell": []}]
)
def test_from_dict_never_raises(data):
    report = Report.from_dict(data)
    assert report.to_text()
    assert report.to_html()
