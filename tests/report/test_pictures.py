from __future__ import annotations

import re
import tracemalloc
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hastega_magic.report.charts import Row, baseline_svg, graph_svg
from hastega_magic.report.graph import layered
from hastega_magic.report.listing import changes, excerpt, hot_loop
from hastega_magic.report.model import Graph, GraphEdge, GraphNode
from hastega_magic.report.svg import DECADE, decades, text_width, wrapped
from hastega_magic.report.units import decade

BOX = (100.0, 30.0)


def test_a_chain_is_straight_and_runs_down():
    plan = layered(dict.fromkeys("abcd", BOX), [("a", "b"), ("b", "c"), ("c", "d")])
    assert {plan.places[n].x for n in "abcd"} == {50.0}
    assert all(plan.places[a].y + 30 < plan.places[b].y for a, b in pairwise("abcd"))


def test_an_edge_that_skips_layers_passes_beside_the_boxes():
    plan = layered(dict.fromkeys("abc", BOX), [("a", "b"), ("b", "c"), ("a", "c")])
    middle = plan.places["b"]
    inside = [p for p in plan.paths["a", "c"] if middle.y <= p[1] <= middle.y + middle.height]
    assert inside
    assert all(abs(x - middle.x) > middle.width / 2 for x, _ in inside)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=20), st.integers(0, 8))
def test_any_graph_has_a_layout_without_overlaps(pairs, last):
    nodes = {str(i): (60.0 + 15 * i, 20.0 + 5 * i) for i in range(last + 1)}
    plan = layered(nodes, [(str(a), str(b)) for a, b in pairs])
    assert set(plan.places) == set(nodes)
    for p, q in combinations(plan.places.values(), 2):
        apart = abs(p.x - q.x) >= (p.width + q.width) / 2 - 1e-6
        assert apart or p.y + p.height <= q.y or q.y + q.height <= p.y
    for (a, b), path in plan.paths.items():
        assert path[0] == pytest.approx((plan.places[a].x, plan.places[a].y + plan.places[a].height))
        assert path[-1] == pytest.approx((plan.places[b].x, plan.places[b].y))
        assert all(low[1] <= high[1] for low, high in pairwise(path))
    for place in plan.places.values():
        assert place.x - place.width / 2 >= -1e-6
        assert place.x + place.width / 2 <= plan.width + 1e-6
        assert place.y + place.height <= plan.height + 1e-6


def test_barriers_are_named_and_not_only_red():
    nodes = (GraphNode("a", "source", "xs"), GraphNode("b", "barrier", "tap(print)", reason="it prints"))
    svg = graph_svg(Graph(nodes, (GraphEdge("a", "b"),)), "Before")
    assert "✗ barrier: runs in Python" in svg
    assert "it prints" in svg


def test_labels_of_a_join_stand_on_its_outer_sides():
    nodes = tuple(GraphNode(name, "source", "a source with a name") for name in "abz")
    svg = graph_svg(
        Graph(nodes, (GraphEdge("a", "z", "left one"), GraphEdge("b", "z", "right one"))), "Before"
    )
    left, right = (float(re.search(rf"x='([\d.]+)'[^>]*>{t}", svg)[1]) for t in ("left one", "right one"))
    assert left < right
    assert "text-anchor='end'" in svg


def test_baselines_are_on_a_log_scale():
    rows = [
        Row("a", 0.001, "1 ms", ours=True),
        Row("b", 0.1, "100 ms"),
        Row("c", 10.0, "10 s", extrapolated=True),
    ]
    svg = baseline_svg(rows)
    lengths = [
        float(part.split("'")[0]) for part in svg.split("width='")[1:] if "height='18'" in part.split("/>")[0]
    ]
    assert len(lengths) == 3
    assert lengths[2] - lengths[1] == pytest.approx(lengths[1] - lengths[0], abs=0.2)
    assert "hatched: extrapolated" in svg
    assert baseline_svg([])


LLVM = """\
define void @f() {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %j, %inner ]
  br label %inner
inner:
  %v = add <8 x i64> %a, %b
  br i1 %c, label %inner, label %latch
latch:
  br i1 %d, label %loop, label %exit
exit:
  ret void
}
define void @g() {
loop:
  br label %loop
}"""
AARCH64 = """\
f:
.LBB0_1:
\tldr\tx1, [x0], #8
\tcbnz\tx1, .LBB0_1
.LBB0_2:
\tadd\tv0.2d, v0.2d, v1.2d
\tsubs\tx2, x2, #2
\tb.ne\t.LBB0_2
\tret"""


@given(st.integers(-10, 2), st.integers(1, 12), st.floats(120, 900))
def test_labels_of_a_scale_do_not_touch(low, many, span):
    found = [*decades(low, low + many, span, decade)]
    assert len(found) == many + 1
    assert found[-1][0] == pytest.approx(span)
    shown = [(place, text_width(label, DECADE) / 2) for place, label in found if label]
    assert all(place + half < other - its for (place, half), (other, its) in pairwise(shown))
    assert shown or many < 3


def test_the_hot_loop_is_the_innermost_with_the_most_vector_work(sample):
    assert hot_loop(LLVM) == (6, 9)
    assert hot_loop(AARCH64) == (4, 8)
    assert hot_loop("ret\n") is None
    # Of several listings the first one's, whatever the second does.
    heavier = LLVM.replace("  %v =", "  %w = add <8 x i64> %a, %b\n  %v =")
    assert hot_loop(f"; ── loop 1 of 2: map(f)\n{LLVM}\n; ── loop 2 of 2: sum\n{heavier}") == (7, 10)
    (pipeline,) = sample.logistic().pipelines
    for text in (pipeline.code.llvm, pipeline.code.asm):
        loop = hot_loop(text)
        assert loop is not None
        assert text.splitlines()[loop[0]] in {"loop:", ".LBB0_1:"}


def test_an_excerpt_says_what_it_left_out():
    part = excerpt("\n".join(map(str, range(10))), 4, 2)
    assert (part.text, part.first, part.last, part.total, part.whole) == ("2\n3\n4\n5", 3, 6, 10, False)
    assert excerpt("a\nb", 4).whole


def test_changes():
    assert changes("a\nb\nc", "a\nx\nc") == ("@@ line 1", "  a", "- b", "+ x", "  c")
    assert changes("a", "a") == ()


@given(st.text(max_size=200), st.integers(4, 40), st.integers(1, 5))
def test_wrapped_text_fits(text, limit, lines):
    out = wrapped(text, limit, lines)
    assert 1 <= len(out) <= lines
    assert all(len(line) <= limit for line in out)
    if not out[-1].endswith("…"):
        assert "".join("".join(out).split()) == "".join(text.split())


@pytest.mark.parametrize("letter", ["x", "語"])
def test_the_pieces_of_a_long_word_are_not_kept(letter):
    word = letter * 30_000
    tracemalloc.start()
    try:
        wrapped(word, 36, 14)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 10 * len(word)  # the key at most; there are hundreds of pieces


@pytest.mark.parametrize(("main", "tail", "hot"), [(20, 24, (1, 23)), (20, 30, (23, 55))])
def test_of_loops_that_are_nearly_alike_the_first_is_hot(main, tail, hot):
    def loop(name, vectors):
        return [
            f"{name}:",
            *["  %a = add <8 x i64> %b, %c"] * vectors,
            f"  br i1 %d, label %{name}, label %done",
        ]

    assert hot_loop("\n".join(["define void @f() {", *loop("main", main), *loop("tail", tail), "}"])) == hot
