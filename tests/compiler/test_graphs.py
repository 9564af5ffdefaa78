"""The pictures of a pipeline before and after fusion."""

from __future__ import annotations

import pytest

from hastega_magic.session import Options, Session

N = 100_000
CELL = """\
ys = range(1, 100_001) |> map(lambda x: x * 3) |> map(lambda x: x % 7)
total = ys |> filter(lambda y: y > 2) |> sum
"""


def run(text, **options):
    session = Session({"print": lambda *args: None})
    return session.run_cell(text, options=Options(baseline=False, **options)).report.pipelines


def edges(graph):
    """Arrows as (label of the start, text, label of the end), in order."""
    names = {node.id: node.label for node in graph.nodes}
    return [(names[edge.source], edge.label, names[edge.target]) for edge in graph.edges]


def kinds(graph):
    return [(node.kind, node.label) for node in graph.nodes]


def test_types_ranges_and_bytes_stand_on_the_edges():
    (pipeline,) = run(CELL)
    before = edges(pipeline.graph.before)
    assert before == [
        ("range(1, 100_001)", "int [1, 100000]", "map(lambda x: x * 3)"),
        ("map(lambda x: x * 3)", "int [0, 393213] · 800 kB", "map(lambda x: x % 7)"),
        ("map(lambda x: x % 7)", "int [0, 6] · 800 kB", "ys"),
        ("ys", "int [0, 6] · 800 kB", "filter(lambda y: y > 2)"),
        ("filter(lambda y: y > 2)", "int [0, 6] · at most 800 kB", "sum"),
        ("sum", "int", "total"),
    ]
    box = f"one loop over {N:,} elements\nys: 2 × map\ntotal: filter, sum".replace(",", "\u202f", 1)
    after = edges(pipeline.graph.after)
    assert after[0] == ("range(1, 100_001)", "int [1, 100000] · made in registers", box)
    assert after[1] == (box, "int [0, 6] · 800 kB", "ys")
    assert after[2][0::2] == (box, "total")
    assert after[2][1].startswith("int where ")


def test_labels_are_those_of_the_cell_that_runs():
    session = Session({})
    for n in (100_000, 50_000):
        text = CELL.replace("100_001", str(n + 1))
        (pipeline,) = session.run_cell(text, options=Options(baseline=False)).report.pipelines
        assert edges(pipeline.graph.before)[2][1] == f"int [0, 6] · {n * 8 // 1000} kB"


def test_memory_of_sources_and_of_bools():
    text = "found = [1.5, -2.0] |> zip([1, 2]) |> map(lambda a, b: a > b)"
    (pipeline,) = run(text)
    assert [label for _, label, _ in edges(pipeline.graph.before)] == [
        "float · 16 B",
        "int · 16 B",
        "(float, int) · 32 B",
        "bool · 2 B",
    ]


def test_a_barrier_stands_between_the_loops_with_its_reason():
    (pipeline,) = run(
        "n = range(10) |> map(lambda x: x * x) |> tap(print) |> map(lambda x: x + 1) |> filter(lambda x: x > 1) |> sum"
    )
    assert kinds(pipeline.graph.before) == [
        ("source", "range(10)"),
        ("stage", "map(lambda x: x * x)"),
        ("barrier", "tap(print)"),
        ("stage", "map(lambda x: x + 1)"),
        ("stage", "filter(lambda x: x > 1)"),
        ("sink", "sum"),
        ("result", "n"),
    ]
    loops = ["one loop over 10 elements\nn: map", "one loop over 10 elements\nn: map, filter, sum"]
    assert kinds(pipeline.graph.after) == [
        ("source", "range(10)"),
        ("stage", loops[0]),
        ("barrier", "tap(print)"),
        ("stage", loops[1]),
        ("result", "n"),
    ]
    (barrier,) = pipeline.barriers
    for graph in (pipeline.graph.before, pipeline.graph.after):
        (node,) = (node for node in graph.nodes if node.kind == "barrier")
        assert node.reason == barrier.reason
        arrows = edges(graph)
        assert [a[0] for a in arrows[1:]] == [a[2] for a in arrows[:-1]]  # a chain, with nothing left out
    assert (loops[0], "int [0, 225] · 80 B", "tap(print)") in edges(pipeline.graph.after)
    assert ("tap(print)", "int64 · 80 B", loops[1]) in edges(pipeline.graph.after)


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("n = [2, 1] |> sorted", [("source", "[2, 1]"), ("barrier", "sorted"), ("result", "n")]),
        (
            "n = iter([1, 2]) |> map(lambda x: x + 1) |> mean",
            [
                ("source", "iter([1, 2])"),
                ("barrier", "map(lambda x: x + 1)"),
                ("barrier", "mean"),
                ("result", "n"),
            ],
        ),
        (
            "n = ['a'] |> map(lambda s: s + 'b')",
            [("source", "['a']"), ("barrier", "map(lambda s: s + 'b')"), ("result", "n")],
        ),
    ],
)
def test_statements_that_python_ran_have_a_picture_too(text, before):
    (pipeline,) = run(text)
    assert kinds(pipeline.graph.before) == before
    assert next(node for node in pipeline.graph.before.nodes if node.kind == "barrier").reason
    assert pipeline.loops == 0


def test_statements_without_fusion_have_a_box_for_each_loop():
    (pipeline,) = run("n = range(10) |> map(lambda x: x + 1) |> map(lambda x: x * 2)", fuse=False)
    boxes = [node.label for node in pipeline.graph.after.nodes if node.kind == "stage"]
    assert boxes == ["one loop over 10 elements\nn: map"] * 2
    assert len(pipeline.graph.before.nodes) == 4


def test_a_failing_cell_has_what_ran_before():
    session = Session({})
    with pytest.raises(ZeroDivisionError):
        session.run_cell("n = [1, 0] |> map(lambda x: 1 // x)\n", options=Options(baseline=False))
    assert session.last_report is not None
    assert session.last_report.to_html()


def test_quiet_cells_have_no_pictures():
    session = Session({})
    session.run_cell(CELL + "z = [2, 1] |> sorted", options=Options(quiet=True, baseline=False))
    assert not session.last.trace.of("graph")


@pytest.mark.parametrize(
    "stage", ["cumsum", "scan(lambda a, x: max(a, x))", "scan(lambda a, x: a * 0.5 + x)"]
)
def test_running_stages_are_no_sinks(stage):
    (pipeline,) = run(f"s = ([1.5] * 100) |> {stage} |> max", on="simd")
    assert kinds(pipeline.graph.before)[1:3] == [("stage", stage), ("sink", "max")]
    (pipeline,) = run("s = ([1.5] * 100) |> reduce(lambda a, x: a * 0.5 + x)", on="simd")
    assert kinds(pipeline.graph.before)[1][0] == "sink"
