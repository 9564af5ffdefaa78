"""The lane view: the first vector of a loop, value by value, as Python computes it."""

from __future__ import annotations

import json
import math
import re
import warnings
from dataclasses import replace

import battery
import grammar
import numpy as np
import pytest
from hypothesis import given

from hastega_magic.compiler.loops import cached_loops, clear_cache
from hastega_magic.compiler.reporting import lanes
from hastega_magic.session import Options, Session

CELL = """\
p, mu = 6_700_417, 22
ys = (range(1, 0x20001)
      |> map(lambda x: mu * x * (x + 1) % p)
      |> map(lambda x: mu * x * (x + 1) % p))
total = ys |> filter(lambda y: y % 2 == 0) |> sum
"""
PLAIN = Options(baseline=False)


def run(text, options=PLAIN, **names):
    return Session(dict(names)).run_cell(text, options=options).report.to_dict()["pipelines"]


def alive(step):
    return [value for value, active in zip(step["values"], step["active"], strict=True) if active]


def check(pipeline):
    """Every step is well-formed, and is the line of the fused listing that it says."""
    view = json.loads(json.dumps(pipeline["lanes"], allow_nan=False))
    lines = pipeline["code"]["fused"].splitlines()
    assert 1 <= len(view["steps"]) <= 64
    assert view["total"] >= len(view["steps"])
    for step in view["steps"]:
        assert set(step) == {"line", "text", "values", "active"}
        assert len(step["values"]) == len(step["active"]) == view["lanes"]
        assert all(isinstance(value, str) and len(value) < 60 for value in step["values"])
        assert lines[step["line"] - 1].strip().startswith(re.sub(r"(  \(turn \d\))+$", "", step["text"]))
        assert not re.search(r"; line", step["text"])
    return view


def test_the_cell_of_the_design():
    (pipeline,) = run(CELL, Options(baseline=False, width=8))
    view = check(pipeline)
    assert (view["lanes"], view["total"]) == (8, 13)
    p, mu = 6_700_417, 22

    def step(x):
        return mu * x * (x + 1) % p

    by_text = {each["text"].rpartition(" = ")[2]: each for each in view["steps"]}
    assert by_text["load range(1, 0x20001)"]["values"] == [str(x) for x in range(1, 9)]
    ys = [step(step(x)) for x in range(1, 9)]
    assert by_text["array %8"]["values"] == list(map(str, ys))
    total = by_text["sum %8 where %10"]
    assert total["active"] == [y % 2 == 0 for y in ys]
    assert alive(total) == [str(y) for y in ys if y % 2 == 0]
    assert [value == "" for value in total["values"]] == [not active for active in total["active"]]


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
def test_there_are_as_many_lanes_as_a_vector_has(width):
    (pipeline,) = run(CELL, Options(baseline=False, width=width))
    view = check(pipeline)
    assert view["lanes"] == width == pipeline["vector"]["lanes"]


def test_at_most_sixteen_lanes_are_shown():
    (pipeline,) = run(CELL, Options(baseline=False, width=64))
    assert check(pipeline)["lanes"] == 16


def test_work_items_of_a_device():
    pytest.importorskip("pyopencl")
    (pipeline,) = run(CELL, Options(baseline=False, on="opencl"))
    assert check(pipeline)["lanes"] == 8


def test_lanes_beyond_the_end_of_the_source_take_no_part():
    (pipeline,) = run("ys = [7, 5, 9] |> map(lambda x: x + 1)", Options(baseline=False, width=8))
    for step in check(pipeline)["steps"]:
        assert step["active"] == [True] * 3 + [False] * 5
    (pipeline,) = run("ys = range(0) |> map(lambda x: x + 1)", Options(baseline=False, width=4))
    assert not any(any(step["active"]) for step in check(pipeline)["steps"])


def test_a_filter_and_a_branch_leave_lanes_out():
    text = "ys = xs |> filter(lambda x: x != 0) |> map(lambda x: 6 // x if x < 3 else x * 7)"
    (pipeline,) = run(text, Options(baseline=False, width=4), xs=np.array([1, 0, 2, 5]))
    steps = {step["text"].rpartition(" = ")[2].split()[0]: step for step in check(pipeline)["steps"]}
    assert steps["floordiv"]["active"] == [True, False, True, False]
    assert steps["mul"]["active"] == [False, False, False, True]
    assert alive(steps["array"]) == ["6", "3", "35"]


def test_an_element_that_raises_has_the_name_of_what_it_raises():
    text = "found = xs |> map(lambda x: 6 // x > 2) |> any"
    (pipeline,) = run(text, Options(baseline=False, width=4), xs=[1, 2, 0, 5])
    steps = check(pipeline)["steps"]
    assert steps[0]["values"] == ["1", "2", "0", "5"]
    for step in steps[1:]:
        assert step["values"][2] == "ZeroDivisionError"
        assert "ZeroDivisionError" not in step["values"][:2] + step["values"][3:]


def test_tuples_floats_and_large_ints_are_short():
    values = {
        6_700_416: "6700416", -1: "-1", True: "True", 123456789012: "123456789012",
        987_702_788_016_384: "9.877e+14", -(2**62): "-4.612e+18", 2**64: "1.845e+19", 10**400: "about 1e+400",
        -(10**400): "-about 1e+400", 1 / 3: "0.333333", float("nan"): "nan", np.float32(0.5): "0.5",
    }  # fmt: skip
    assert {value: lanes.short(value) for value in values} == values
    (pipeline,) = run(
        "ys = range(3) |> enumerate |> map(lambda i, x: (i, x / 3))", Options(baseline=False, width=4)
    )
    assert alive(check(pipeline)["steps"][-1]) == ["(0, 0)", "(1, 0.333333)", "(2, 0.666667)"]


def test_long_loops_keep_their_ends():
    body = "x"
    for number in range(40):
        body = f"({body} * 3 + {number}) % 1009"
    (pipeline,) = run(f"ys = range(9) |> map(lambda x: {body})")
    view = check(pipeline)
    assert len(view["steps"]) == 64
    assert view["total"] > 100
    assert view["steps"][-1]["text"].startswith("ys = array")


# ----------------------------------------------------------------------------------------------- caching


@pytest.fixture
def made(monkeypatch):
    """Counts the views that are made anew."""
    count = []
    view = lanes._view

    def counted(*args):
        count.append(1)
        return view(*args)

    monkeypatch.setattr(lanes, "_view", counted)
    clear_cache()
    return count


def test_the_same_elements_are_shown_again_at_no_cost(made):
    session = Session({})
    views = [session.run_cell(CELL, options=PLAIN).report.pipelines[0].lanes for _ in range(3)]
    assert len(made) == 1
    assert views[0] == views[1] == views[2]


def test_other_elements_give_another_view(made):
    session = Session({"xs": np.arange(100)})
    text = "ys = xs |> map(lambda x: x * 3)"
    first = session.run_cell(text, options=PLAIN).report.pipelines[0].lanes
    session.namespace["xs"][2] = 50
    second = session.run_cell(text, options=PLAIN).report.pipelines[0].lanes
    assert len(made) == 2
    assert [a == b for a, b in zip(first.steps[-1].values, second.steps[-1].values, strict=True)].count(
        False
    ) == 1
    assert second.steps[-1].values[2] == "150"
    # Elements behind the first vector are not looked at.
    session.namespace["xs"][99] = 7
    assert session.run_cell(text, options=PLAIN).report.pipelines[0].lanes == second
    assert len(made) == 2


def test_other_names_give_another_view_of_the_same_values(made):
    session = Session({"xs": np.arange(100)})
    session.run_cell("ys = xs |> map(lambda x: x * 3)", options=PLAIN)
    session.namespace["other"] = session.namespace["xs"]
    (pipeline,) = session.run_cell("zs = other |> map(lambda x: x * 3)", options=PLAIN).report.pipelines
    assert pipeline.lanes.steps[0].text.endswith("load other")
    assert pipeline.lanes.steps[-1].text.startswith("zs = ")
    assert len(made) == 1


def test_a_captured_array_that_changed_gives_another_view(made):
    session = Session({"t": np.arange(100) * 10})
    text = "def at(i):\n    return t[i] + 1\nys = range(50) |> map(at)"
    first = session.run_cell(text, options=PLAIN).report.pipelines[0].lanes
    assert first is not None
    assert first.steps[-1].values[3] == "31"
    session.run_cell(text, options=PLAIN)
    assert len(made) == 1
    session.namespace["t"][3] = 7
    assert session.run_cell(text, options=PLAIN).report.pipelines[0].lanes.steps[-1].values[3] == "8"
    session.namespace["t"][90] = 7  # nobody looked there
    session.run_cell(text, options=PLAIN)
    assert len(made) == 2


def test_quiet_cells_have_none(made):
    Session({}).run_cell(CELL, options=Options(quiet=True, baseline=False))
    assert not made
    assert all("lanes" not in loop.pictures for loop in cached_loops())


# --------------------------------------------------------------------------------------- random pipelines


def any_pipeline(text, source):
    """What the lanes of an array come to is what the array begins with."""
    names = {"source": source, "other": list(reversed(source)), "table": list(range(8)), "math": math}
    session = Session(names)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            report = session.run_cell(f"found = {text}", options=PLAIN).report
        except (ArithmeticError, ValueError, LookupError, TypeError):
            return
    (pipeline,) = report.to_dict()["pipelines"]
    if "lanes" not in pipeline:
        return
    steps = check(pipeline)["steps"]
    found = session.namespace["found"]
    if isinstance(found, np.ndarray) and pipeline["loops"] == 1 and not pipeline["barriers"]:
        first = alive(steps[-1])
        assert first == [lanes.short(value) for value in found.tolist()[: len(first)]]


@battery.examples(60)
@given(grammar.pipelines(grammar.int_expressions(), ("sum", "min", "any", "to_list")), battery.int_sources)
def test_any_pipeline_over_ints(text, source):
    any_pipeline(text, source)


@battery.examples(60)
@given(grammar.pipelines(grammar.float_expressions(), ("sum", "max", "to_list")), battery.float_sources)
def test_any_pipeline_over_floats(text, source):
    any_pipeline(text, source)


def test_the_first_turns_of_loops():
    text = (
        "def f(v):\n    s = 0\n    while v > 1:\n        v = v // 2\n"
        "        for i in range(v):\n            s += i\n    return s\n"
    )
    (pipeline,) = run(text + "y = xs |> map(f)", replace(PLAIN, width=8), xs=np.arange(1, 9))
    view = check(pipeline)
    steps = {step["text"]: step for step in view["steps"]}
    (outer,) = (step for name, step in steps.items() if "turns while s0" in name)
    assert outer["values"][:4] == ["0 turns", "1 turn", "1 turn", "2 turns"]
    halves = [step for name, step in steps.items() if re.search(r"shr .*\d  \(turn \d\)$", name)]
    assert [alive(step)[-1] for step in halves[:3]] == ["4", "2", "1"]
    assert [sum(step["active"]) for step in halves[:3]] == [view["lanes"] - 1, view["lanes"] - 3, 1]
    assert any(name.endswith("(turn 1)  (turn 1)") for name in steps)


def test_a_loop_of_many_turns_is_not_followed_to_its_end():
    text = (
        "def f(v):\n    s = 0\n    for i in range(v * 10**8):\n        s = s ^ i\n"
        "        if i == 7:\n            return v\n    return s\n"
    )
    endless = "def f(v):\n    s = 0\n    for i in range(10**7):\n        s = s ^ i\n    return s + v\n"
    (pipeline,) = run(text + "y = xs |> map(f)", xs=np.arange(1, 9))
    assert not any("…" in step["values"] for step in check(pipeline)["steps"])
    (pipeline,) = run(endless + "y = xs |> map(f)", xs=np.arange(1, 9))
    view = check(pipeline)
    assert view["steps"][-1]["values"] == ["…"] * view["lanes"]
    assert any("or more" in value for step in view["steps"] for value in step["values"])
