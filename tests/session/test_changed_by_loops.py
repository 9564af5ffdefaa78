"""Captured numbers that a loop around a pipeline changes are parameters from its first turn on."""

import math

import numpy as np
import pytest
from outcomes import compiled

from hastega_magic.compiler.driver import Driver
from hastega_magic.compiler.fastpath.repeated import Repeated
from hastega_magic.session import Options, Session

pytestmark = pytest.mark.usefixtures("nothing_compiled")

XS = range(1, 301)


@pytest.fixture
def names():
    xs = np.arange(1, 301)
    return {"xs": xs, "fs": xs * 0.5, "k": 3}


DESCENT = """
def moved(w): return w - 0.01 * (fs |> map(lambda x: (w * x - 3.0 * x) * q) |> mean)
w, q = 0.0, 2
for _ in range(5):
    w = moved(w)
"""


def test_what_changes_in_a_cell_does_so_when_it_runs_again(names, monkeypatch):
    """Its first turn begins with the same number each time."""
    expected, mean = 0.0, sum(x * 0.5 for x in XS) / 300
    for _ in range(5):
        expected -= 0.01 * (expected - 3.0) * 2 * mean
    session = Session(names, Options(baseline=False))
    whys = []
    for turn in range(3):
        if turn:
            monkeypatch.setattr(
                Repeated, "_first", None
            )  # a turn that does not begin where the loop is compiled
        before = compiled()
        session.run_cell(DESCENT)
        assert names["w"] == pytest.approx(expected, rel=1e-12)
        assert (compiled() == before) == (turn > 0)
        [pipeline] = session.last.report.pipelines
        whys.append(pipeline.why)
    assert any("Later `w` kept changing" in each for each in whys[0])
    assert any(each.startswith("`w` kept changing") for each in whys[1])
    assert all(any("`q` is a constant" in each for each in why) for why in whys[1:])
    assert all(any("ran 5 times" in each for each in why) for why in whys)


LOOPS = {
    "for": "t = []\nfor n in range(2, 7):\n    t.append(xs |> map(lambda x: x * n + k) |> sum)",
    "assigned": "t, n = [], 1\nfor _ in range(5):\n    n += 1\n    t.append(xs |> map(lambda x: x * n + k) |> sum)",
    "while": "t, n = [], 1\nwhile n < 6:\n    n += 1\n    t.append(xs |> map(lambda x: x * n + k) |> sum)",
    "comprehension": "t = [xs |> map(lambda x: x * n + k) |> sum for n in range(2, 7)]",
    "function": (
        "def f():\n    for n in range(2, 7):\n        yield xs |> map(lambda x: x * n + k) |> sum\nt = list(f())"
    ),
}


@pytest.mark.parametrize("loop", LOOPS)
def test_what_a_loop_changes_is_a_parameter_at_once(names, loop):
    session, before = Session(names, Options(baseline=False)), compiled()
    session.run_cell(LOOPS[loop])
    assert names["t"] == [sum(x * n + 3 for x in XS) for n in range(2, 7)]
    assert compiled() == before + 1
    [pipeline] = session.last.report.pipelines
    assert any(each.startswith("`n` kept changing") for each in pipeline.why)
    assert any("`k` is a constant" in each for each in pipeline.why)


@pytest.mark.parametrize("stage", ["x ** n", "x << n", "(1, x, 3, 4)[n]"])
def test_what_a_loop_changes_and_code_has_to_know_is_a_constant(names, stage):
    session = Session(names, Options(baseline=False))
    session.run_cell(f"t = [xs |> map(lambda x: {stage}) |> max for n in range(2, 4)]")
    assert names["t"] == [max(eval(stage, {"x": x, "n": n}) for x in XS) for n in range(2, 4)]


def test_numbers_of_the_first_turn_count(monkeypatch):
    """What the loop changes is a parameter at once; what it does not is compiled once, too."""
    runs = []
    alone = Driver.run_alone
    monkeypatch.setattr(
        Driver, "run_alone", lambda self, bound, source: runs.append(1) or alone(self, bound, source)
    )
    names = {"xs": [1.5, 2.5]}
    session = Session(names, Options(baseline=False))
    session.run_cell("ts = [t for k in range(5) for t in [xs |> map(lambda x: x * 3) |> sum]]")
    assert (len(runs), names["ts"]) == (1, [12.0] * 5)
    runs.clear()
    session.run_cell("ts = []\nfor k in (0.5, 1.5, 2.5, 3.5): ts.append(xs |> map(lambda x: x * k) |> sum)")
    assert (len(runs), names["ts"]) == (1, [2.0, 6.0, 10.0, 14.0])


@pytest.mark.parametrize(
    "sink", ["argmin", "argmax", "min", "max", "first", "last", "sum", "to_list", "count", "std"]
)
@pytest.mark.parametrize("of", ["k", "(k, x)", "-k", "k if x else x"])
def test_a_number_that_is_the_element_itself(names, same, sink, of):
    """It is a source of the loop as the elements are, but not where they lie."""
    if of == "(k, x)" and sink in ("min", "max", "sum", "std"):
        of, sink = "k", "to_list"
    turns = [9, 2, 1, 5, 5, 7]
    expected = {
        "argmin": lambda v: v.index(min(v)), "argmax": lambda v: v.index(max(v)), "min": min, "max": max, "sum": sum,
        "first": lambda v: v[0], "last": lambda v: v[-1], "to_list": list, "count": len, "std": lambda v: 0.0,
    }[sink]  # fmt: skip
    session = Session(names, Options(baseline=False))
    for text in (
        "for k in turns: r.append(xs |> map(lambda x: {}) |> {})",
        "r = [xs |> map(lambda x: {}) |> {} for k in turns]",
    ):
        names["turns"], names["r"] = turns, []
        session.run_cell(text.format(of, sink))
        assert same(names["r"], [expected([eval(of, {"k": k, "x": x}) for x in XS]) for k in turns])


@pytest.mark.parametrize(
    "element", ["x ** n if x % 2 else x", "x if x < 150 else x ** n", "x ** n", "x ** n if x > 295 else 1"]
)
def test_products_of_ints_that_are_floats_for_some_numbers(names, same, element):
    """A float that vanishes, or is infinite, is computed one factor after the other: ints exactly up to the first."""
    session = Session(names, Options(baseline=False))
    session.run_cell(f"r = [xs |> map(lambda x: {element}) |> prod for n in (-4, 2, -1, 3)]")
    expected = [math.prod(eval(element, {"x": x, "n": n}) for x in XS) for n in (-4, 2, -1, 3)]
    assert [type(each) for each in names["r"]] == [type(each) for each in expected]
    assert names["r"] == pytest.approx(expected, rel=1e-12)


def test_a_product_of_ints_too_large_for_a_float(names):
    session = Session(names, Options(baseline=False))
    with pytest.raises(OverflowError, match="int too large to convert to float"):
        session.run_cell(
            "r = [xs |> map(lambda x: x ** n if x == 200 else 2 ** 40) |> prod for n in (-1, 2)]"
        )
