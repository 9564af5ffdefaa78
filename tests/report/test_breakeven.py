from __future__ import annotations

import base64
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hastega_magic.report import Report, svg
from hastega_magic.report.breakeven import lines_of, model_svg, sentences
from hastega_magic.report.costs import Cost, Crossing, Model, ModelPhase, ModelRow, PredictedCurve
from hastega_magic.report.mispredicted import told
from hastega_magic.report.model import PipelineReport

SVG = "{http://www.w3.org/2000/svg}"


def row(backend: str, a: float, b: float, *points: tuple[float, float]) -> ModelRow:
    return ModelRow(backend, (ModelPhase("kernel", a, b),), points)


OURS = row("parallel", 1e-9, 1e-4, (1000, 1.01e-4), (10**6, 1.1e-3))
PYTHON = row("python", 1e-6, 0.0, (1000, 1e-3))
CARD = row("opencl", 1e-10, 1e-2, (1000, 1e-2))
MODEL = Model(
    (1000, 10**6),
    (OURS, PYTHON, CARD),
    (
        Crossing("parallel", "python", 100.1),
        Crossing("opencl", "python", 10001.0),
        Crossing("opencl", "parallel", 1.1e7),
    ),
)


def test_sentences_are_about_the_back_end_of_the_cell():
    said = [text.replace("\u202f", " ") for text in sentences(MODEL)]
    assert said == [
        "parallel is faster than pure Python from ≈ 100 elements on",
        "OpenCL is faster than parallel from ≈ 11 000 000 elements on",
    ]
    apart = Model((10,), (OURS, row("numpy", 1e-8, 1e-3), row("simd", 1e-10, 1e-5), row("b", 1.0, 1.0)), ())
    assert sentences(apart) == (
        "parallel is faster than NumPy and b for every size",
        "parallel is slower than one SIMD thread for every size",
    )
    assert sentences(Model((10,), (OURS,), ())) == ()
    alike = Model((10,), (OURS, row("simd", 1e-9, 1e-4), row("numpy", 2e-9, 1e-4)), ())
    assert sentences(alike) == ()


def texts(picture: str) -> list[str]:
    return [
        "".join(node.itertext()).replace("\u202f", " ") for node in ET.fromstring(picture).iter(f"{SVG}text")
    ]


def test_the_plot_names_lines_and_crossings_and_shows_what_was_measured():
    picture = model_svg(MODEL, 33_554_432)
    said = texts(picture)
    assert {"parallel", "pure Python", "OpenCL", "this cell"} <= set(said)
    assert {"parallel from ≈ 100", "OpenCL from ≈ 11 000 000"} <= set(said)
    assert "OpenCL from ≈ 10 000" not in said  # neither the fastest nor the cell's own
    circles = list(ET.fromstring(picture).iter(f"{SVG}circle"))
    assert sum(node.get("r") == "3" for node in circles) == 4
    assert sum(node.get("r") == "5" for node in circles) == 2
    dashes = {node.get("stroke-dasharray") for node in ET.fromstring(picture).iter(f"{SVG}path")}
    assert len(dashes) >= 4  # grid, the cell's mark, and lines that differ without their colours


def test_lines_cross_where_the_ring_is():
    picture = model_svg(Model((1000, 10**6), (OURS, PYTHON), MODEL.crossings[:1]), 0)
    root = ET.fromstring(picture)
    ring = next(node for node in root.iter(f"{SVG}circle") if node.get("r") == "5")
    x, y = float(ring.get("cx", 0)), float(ring.get("cy", 0))
    for colour in ("#1565a8", "#8a3d00"):
        path = next(node for node in root.iter(f"{SVG}path") if node.get("stroke") == colour)
        points = [
            tuple(map(float, pair.split())) for pair in re.findall(r"[ML]([\d.]+ [\d.]+)", path.get("d", ""))
        ]
        near = [
            ay + (by - ay) * (x - ax) / (bx - ax)
            for (ax, ay), (bx, by) in pairwise(points)
            if ax <= x <= bx and bx > ax
        ]
        assert near
        assert min(abs(each - y) for each in near) < 4


def test_labels_do_not_lie_on_each_other():
    many = tuple(row(f"b{i}", 1e-9 / 3**i, 1e-5 * 2**i, (100, 1e-3)) for i in range(6))
    crossings = tuple(Crossing(f"b{i + 1}", "b0", 20_000.0 + i) for i in range(5))
    root = ET.fromstring(model_svg(Model((100,), many, crossings), 0))
    boxes = [
        (float(node.get("x", 0)), float(node.get("y", 0)), svg.text_width("".join(node.itertext()), 11))
        for node in root.iter(f"{SVG}text")
        if "from" in "".join(node.itertext())
    ]
    assert len(boxes) >= 2
    for (ax, ay, aw), (bx, by, bw) in combinations(boxes, 2):
        assert abs(ay - by) >= 13 or ax + aw < bx or bx + bw < ax


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.text(min_size=1, max_size=9),
            st.floats(0, 1e300),
            st.floats(0, 1e300),
            st.lists(st.tuples(st.floats(1, 1e12), st.floats(1e-12, 1e9)), max_size=4),
        ),
        min_size=1,
        max_size=9,
    ),
    st.floats(0, 1e300),
    st.integers(-5, 10**12),
)
def test_any_numbers_give_a_picture_within_its_card(rows, at, elements):
    data = {
        "rows": [
            {"backend": name, "phases": [{"name": "k", "a": a, "b": b}], "points": [list(p) for p in points]}
            for name, a, b, points in rows
        ],
        "crossings": [{"faster": rows[0][0], "than": rows[-1][0], "n": at}],
        "n": [1],
    }
    report = Report.from_dict({"pipelines": [{"model": data, "elements": elements}]})
    assert report.to_html()
    assert report.to_text()
    model = report.pipelines[0].model
    assert model is not None
    root = ET.fromstring(model_svg(model, elements))
    for node in root.iter(f"{SVG}text"):
        assert 0 <= float(node.get("x", 0)) <= 760
        assert 0 <= float(node.get("y", 0)) <= 340
    for node in root.iter(f"{SVG}circle"):
        assert 0 <= float(node.get("cy", 0)) <= 340


def test_the_section_has_the_picture_the_sentences_and_the_coefficients(sample):
    html = sample.logistic().to_html()
    section = html[html.index("<b>Break-even</b>") : html.index("<b>Times and transfers</b>")]
    assert "0.440 ns" in section
    assert "90.0 µs" in section
    assert "parallel is faster than pure Python from ≈ 120, than NumPy" in section
    alt = re.search(r'<img alt="([^"]*)"', section)
    assert alt
    assert "parallel is faster than pure Python" in alt[1]
    data = re.search(r'base64,([^"]*)"', section)
    assert data
    assert "pure Python" in base64.b64decode(data[1]).decode()


def test_without_a_model_there_is_no_section(sample):
    (pipeline,) = sample.logistic().pipelines
    report = Report(pipelines=(replace(pipeline, model=None),))
    assert "Break-even" not in report.to_html()
    assert "break-even" not in report.to_text()
    assert "model" not in report.to_dict()["pipelines"][0]


@pytest.mark.parametrize(
    "data",
    [
        3,
        {"rows": 3},
        {"rows": [{"backend": "", "phases": [{"name": "k"}]}]},
        {"rows": [{"backend": "x", "phases": []}]},
        {
            "rows": [
                {"backend": "x", "phases": [{"a": "no", "b": None}], "points": [[1], "ab", [0, 0], [1, -1]]}
            ]
        },
        {"rows": [{"backend": "x", "phases": [{"a": -1, "b": float("inf")}]}], "crossings": [{"n": -3}, 4]},
    ],
)
def test_a_broken_model_is_read_as_far_as_it_goes(data):
    report = Report.from_dict({"pipelines": [{"model": data}]})
    assert report.to_html()
    assert report.to_text()
    model = report.pipelines[0].model
    assert model is None or all(p.a >= 0 and p.b >= 0 for each in model.rows for p in each.phases)
    assert model is None or all(n > 0 and s > 0 for each in model.rows for n, s in each.points)


PREDICTED = {
    "chosen": "parallel", "because": "2 threads: predicted 1 ms.", "measured": 2e-3,
    "predicted": [{"backend": "python", "seconds": 0.9, "bound": "arithmetic"}],
    "curves": [
        {"backend": "python", "points": [[1, 1e-6], [10**6, 1.0]], "measured": []},
        {"backend": "parallel", "points": [[1, 1e-4], [10**6, 1e-3]], "measured": [[500_000, 2e-3]]},
        {"backend": "bad", "points": [[1, "x"], [3]], "measured": 5},
    ],
    "crossings": [{"faster": "parallel", "than": "python", "n": 130.0}, {"faster": "x", "n": -1}],
}  # fmt: skip


def test_predicted_lines_are_drawn_where_nothing_else_was_measured():
    report = Report.from_dict({"pipelines": [{"cost": PREDICTED, "elements": 500_000, "loops": 1}]})
    drawn = lines_of(report.pipelines[0])
    assert [row.backend for row in drawn.rows] == ["parallel", "python"]
    assert drawn.rows[0].points == ((500_000, 2e-3),)
    assert drawn.rows[1].seconds(1000) == pytest.approx(1e-3, rel=0.01)
    assert drawn.rows[1].seconds(2e6) == pytest.approx(2.0)
    assert drawn.rows[1].seconds(0.1) == 1e-6
    html = report.to_html()
    assert "predicted by the cost model" in html
    assert "bound by arithmetic" in html
    assert "predicted: parallel is faster than pure Python from ≈ 130 elements on" in report.to_text()
    assert Report.from_dict(report.to_dict()) == report


COMPARED = {
    "n": [10, 1000],
    "rows": [
        {"backend": "parallel", "phases": [{"name": "kernel", "a": 1e-9, "b": 1e-4}], "points": [[1000, 2e-4]]},
        {"backend": "opencl", "predicted": "opencl:2", "phases": [{"name": "kernel", "a": 1e-9, "b": 1e-5}],
         "points": [[10, 1e-3], [1000, 1e-4]]},
        {"backend": "numpy", "phases": [{"name": "kernel", "a": 1e-7, "b": 1e-5}], "points": [[1000, 1.1e-4]]},
    ],
    "crossings": [{"faster": "parallel", "than": "python", "n": 80.0}],
}  # fmt: skip


def test_lines_crossings_and_words_are_of_one_source_and_a_device_is_drawn_once():
    curves = [
        *PREDICTED["curves"][:2],
        {"backend": "opencl:2", "points": [[1, 9e-4], [10**6, 9e-3]], "measured": []},
    ]
    cost = PREDICTED | {"curves": curves}
    report = Report.from_dict({"pipelines": [{"cost": cost, "model": COMPARED, "elements": 1000}]})
    (pipeline,) = report.pipelines
    drawn = lines_of(pipeline)
    assert [row.backend for row in drawn.rows] == ["parallel", "python", "opencl:2", "numpy"]
    rows = {row.backend: row for row in drawn.rows}
    assert rows["parallel"].points == ((500_000, 2e-3), (1000, 2e-4))
    assert rows["opencl:2"].points == ((10, 1e-3), (1000, 1e-4)), "the dots of its one line"
    assert rows["parallel"].seconds(1) == 1e-4, "the prediction"
    assert rows["numpy"].seconds(1000) == pytest.approx(1.1e-4), "the fit"
    assert Crossing("parallel", "python", 130.0) in drawn.crossings
    for each in (each for each in drawn.crossings if each.n != 130.0):
        assert rows[each.faster].seconds(each.n) == pytest.approx(rows[each.than].seconds(each.n), rel=0.05)
        assert rows[each.faster].seconds(4 * each.n) < rows[each.than].seconds(4 * each.n)
    assert ("parallel", "numpy") in {(each.faster, each.than) for each in drawn.crossings}
    text, html = " ".join(report.to_text().split()), report.to_html()
    took = "parallel 200 µs (predicted 316 µs), opencl:2 100 µs (predicted 2.85 ms)"
    assert f"measured otherwise: over 1 000 elements {took}" in text
    assert "faster than opencl:2" not in text, "what was measured says otherwise"
    assert "≈ 80 " not in text + html
    assert "fitted to what was measured" in html
    section = html[html.index("<b>Break-even</b>") :]
    for words in ("≈ 316 µs", "200 µs", "100 µs", "110 µs"):
        assert f">{words}</td>" in section.replace("\u202f", " "), words


def test_lines_that_meet_in_one_place_are_told_of_in_one_order():
    backends = [f"b{number}" for number in range(8)]
    crossings = tuple(Crossing(backend, "python", 700.0) for backend in backends)
    curves = tuple(PredictedCurve(each, ((1, 1e-5), (10**6, 1e-2))) for each in (*backends, "python"))
    cost = Cost(chosen="b0", curves=curves, crossings=crossings)
    measured = Model((1000,), (row("card", 1e-9, 1e-4, (1000, 1e-4)),))
    drawn = lines_of(PipelineReport(name="a", backend="b0", cost=cost, model=measured))
    assert drawn is not None
    assert len(drawn.crossings) > len(crossings)  # those with the line that is not predicted
    assert tuple(each for each in drawn.crossings if each.n == 700.0) == crossings


def test_sentences_about_many_back_ends_are_folded_and_not_cut():
    names = ("python", "numpy", "simd", "opencl", "all")
    times = enumerate((*names, "parallel"), 1)
    rows = [
        {"backend": name, "phases": [{"name": "kernel", "a": 1e-9 * k, "b": 1e-4}], "points": [[3_000_000, 1e-2 / k]]}
        for k, name in times
    ]  # fmt: skip
    curves = [
        {"backend": each, "points": [[1, 1e-6], [1000, 1e-3]], "measured": []} for each in ("parallel", "x")
    ]
    cost = {"chosen": "parallel", "curves": curves}
    report = Report.from_dict({"pipelines": [{"cost": cost, "model": {"rows": rows}, "elements": 1000}]})
    text = report.to_text(80)
    assert "…" not in text
    said = told(report.pipelines[0])
    assert sum(map(len, said)) > 400
    for each in said:
        _, _, sentence = each.partition(": ")
        assert " ".join(sentence.split()) in " ".join(text.split())
        assert each in report.to_html()
    assert max(map(len, text.splitlines())) <= 80


def test_lines_that_meet_several_times_have_ranges():
    rows = tuple(ModelRow(name, (ModelPhase("kernel", 1e-9, 1e-6),)) for name in ("simd", "parallel"))
    meet = [
        Crossing("parallel", "simd", 12e3),
        Crossing("simd", "parallel", 47e3),
        Crossing("parallel", "simd", 1.1e6),
    ]
    name = "one SIMD thread is faster than parallel"
    assert sentences(Model((1000,), rows, tuple(meet))) == (
        f"{name} up to ≈ 12\u202f000 elements and from ≈ 47\u202f000 to ≈ 1\u202f100\u202f000 elements",
    )
    assert sentences(Model((1000,), rows, tuple(meet[1:]))) == (
        f"{name} from ≈ 47\u202f000 to ≈ 1\u202f100\u202f000 elements",
    )
    assert sentences(Model((1000,), rows, tuple(meet[:2]))) == (
        f"{name} up to ≈ 12\u202f000 elements and from ≈ 47\u202f000 elements on",
    )


@pytest.mark.parametrize(
    ("meets", "said"),
    [
        ([3, 10, 21, 120], "faster than parallel up to ≈ 21 elements and from ≈ 120 elements on"),
        ([50, 52, 210, 1200], "faster than parallel up to ≈ 210 elements and from ≈ 1\u202f200 elements on"),
        ([210, 1200, 1250], "faster than parallel up to ≈ 210 elements"),
        ([500, 510], "faster than parallel for almost every size"),
        ([-500, 510], "slower than parallel for almost every size"),
        ([2, 10, 12], "faster than parallel up to ≈ 12 elements"),
        (
            [20, 40, 80, 160, 320],
            "faster than parallel up to ≈ 20 elements, by turns from ≈ 20 to ≈ 320 elements",
        ),
        (
            [-20, 40, 80, 160, 320],
            "faster than parallel by turns from ≈ 20 to ≈ 320 elements and from there on",
        ),
    ],
)
def test_ranges_that_touch_are_one_and_many_are_not_told_one_by_one(meets, said):
    """The own back end is the faster one below the first crossing, or (a negative one) the slower."""
    rows = tuple(ModelRow(name, (ModelPhase("kernel", 1e-9, 1e-6),)) for name in ("simd", "parallel"))
    pairs = [("parallel", "simd"), ("simd", "parallel")]
    meet = [Crossing(*pairs[(k + (meets[0] < 0)) % 2], float(abs(n))) for k, n in enumerate(meets)]
    assert sentences(Model((1000,), rows, tuple(meet))) == (f"one SIMD thread is {said}",)


def test_times_that_are_none_are_left_out():
    points = ((10.0, -3600.0), (100.0, 0.0), (1000.0, 1e-5))
    row = ModelRow("simd", (ModelPhase("kernel", 1e-9, 1e-6),), points)
    curve = PredictedCurve("simd", ((1.0, 1e-6), (1e9, 1.0)), points)
    for cost in (None, Cost(chosen="simd", curves=(curve,))):
        pipeline = PipelineReport(name="y", elements=1000, model=Model((10, 100, 1000), (row,)), cost=cost)
        model = lines_of(pipeline)
        assert [each for each, _ in model.rows[0].points] == [1000.0]
        assert "<img" in Report(pipelines=(pipeline,)).to_html()
