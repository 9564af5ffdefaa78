"""Numbers that are of one type for some elements and of another for others: as CPython has them, value and type."""

from __future__ import annotations

import math

import battery
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hastega_magic.decorator import hastega

# Two blocks: the interpreter, to which they are given too, takes its time over each element.
INTS = [n * 7 % 23 - 11 for n in range(4_301)]
NAMES = {
    "xs": INTS, "few": INTS[:40], "fs": np.array(INTS) / 4, "narrow": (np.array(INTS) / 4).astype(np.float32),
    "big": [(n % 5 - 2) * 2**61 + n for n in range(4_301)], "none": range(0), "ns": np.array(INTS),
    "bad": [0.5, math.nan, -math.inf, -0.0, 3.0] * 840,
}  # fmt: skip

FUNCTIONS = """
def relu(x):
    if x < 0:
        return 0.0
    return x

def thirds(x):
    y = 0
    if x > 2:
        y = x / 3
    return y

def three(x):
    if x % 3 == 0:
        return 0
    elif x % 3 == 1:
        return x * 0.5
    return x

def halves(x):
    total = 0
    for i in range(x % 5):
        total += i / 2
    return total

def largest(x):
    found = x
    for i in range(x % 7):
        found = max(found, i * 0.75, -2)
    return found

def steps(x):
    s = 0
    for i in range(20):
        if i % (x + 12) == 0:
            s += 0.5
    return s

def least(x):
    y = math.inf
    for i in range(x % 5):
        if i - x < y:
            y = i - x
    return y

def until(x):
    n = 0
    while n < x % 6:
        n += 1
        if n * 1.5 == x:
            return n * 1.5
    return n
"""

SAME = (
    "xs |> map(lambda x: 1 / x if x else 0)",
    "xs |> map(lambda x: max(x, 0.0)) |> to_list",
    "xs |> map(lambda x: x if x > 0 else 0.5)",
    "xs |> map(lambda x: x if x > -50 else 0.5)",
    "xs |> map(lambda x: x if x > 50 else 0.5)",
    "xs |> map(lambda x: min(x, 2.5, 4) + 1)",
    "xs |> map(relu) |> map(lambda y: -y * y + 3) |> to_list",
    "xs |> map(thirds) |> map(lambda y: 1 / y if y else 1)",
    "xs |> map(three) |> map(lambda y: y // 2)",
    "xs |> map(three) |> filter(lambda y: y > 1)",
    "xs |> map(three) |> filter(None) |> count",
    "xs |> map(halves)",
    "xs |> map(largest)",
    "xs |> map(until)",
    "xs |> map(steps)",
    "xs |> map(least) |> to_list",
    "xs |> map(lambda x: (x, relu(x), three(x) == 0)) |> to_list",
    "xs |> map(lambda x: (x, relu(x)))",
    "xs |> map(relu) |> zip(fs) |> map(lambda a, b: a * b)",
    "xs |> map(relu) |> enumerate |> map(lambda n, y: y if n % 2 else n)",
    "xs |> map(three) |> window(2) |> map(lambda a, b: max(a, b))",
    "xs |> map(lambda x: x and 1 / x)",
    "xs |> map(lambda x: x > 0 and x) |> to_list",
    "xs |> map(lambda x: x > 0 or x / 2) |> to_list",
    "xs |> map(lambda x: math.sqrt(max(x, 0.0)))",
    "xs |> map(lambda x: int(three(x)) + round(relu(x)) + abs(-relu(x)))",
    "xs |> map(lambda x: relu(x) == 3 or relu(x) < 2.5 or three(x) in (0.5, 4))",
    "xs |> map(lambda x: sum((relu(x), three(x), 0.1)))",
    "xs |> clip(-3, 5.5)",
    "xs |> clip(None, 2.5) |> clip(-2.5, None) |> to_list",
    "fs |> clip(-3, 2) |> to_list",
    "xs |> where(lambda x: x > 0, 0.5)",
    "xs |> where(lambda x: x > 0, lambda x: x / 2) |> where(lambda y: y < 4, 4)",
    "xs |> map(relu) |> astype(float)",
    "xs |> map(three) |> astype(int)",
    "xs |> map(relu) |> any",
    "xs |> map(relu) |> all",
    "xs |> map(relu) |> first",
    "xs |> map(three) |> last",
    "xs |> map(three) |> min",
    "xs |> map(three) |> max",
    "xs |> map(lambda x: x if x % 2 else float(x)) |> max",
    "xs |> map(lambda x: x if x > 3 else float(x)) |> min",
    "xs |> map(lambda x: 0 if x % 2 else -0.0) |> max",
    "fs |> map(lambda x: max(x, 0)) |> max",
    "narrow |> map(lambda x: max(x, 0)) |> to_list",
    "bad |> map(lambda x: x if x > 0 else 0) |> to_list",
    "bad |> map(lambda x: max(x, 0)) |> min",
    "bad |> map(lambda x: max(0, x)) |> max",
    "bad |> drop(1) |> map(lambda x: max(x, 0)) |> max",
    "none |> map(relu) |> sum",
    "big |> map(lambda x: x if x > 0 else 0.5) |> max",
    "big |> map(lambda x: max(x, 2.0**61))",
    "big |> map(lambda x: x * 3 if x % 2 else x / 3)",
    "big |> map(lambda x: x * 3 if x % 2 else x / 3) |> max",
    "ns |> map(relu) |> map(lambda y: y * 2.0)",
)
ROUNDED = (
    "xs |> map(lambda x: 1 / x if x else 0) |> sum",
    "xs |> map(three) |> mean",
    "xs |> map(three) |> filter(lambda y: y > 0.5) |> sum",
    "xs |> map(three) |> var",
    "xs |> map(relu) |> std",
    "big |> map(lambda x: x if x % 3 else 0.5) |> sum",
    "big |> map(lambda x: x * 3 if x % 3 else 0.5) |> mean",
    "xs |> map(lambda x: 1 / x if x else 0) |> map(lambda y: y * 2.0) |> sum",
    "xs |> map(lambda x: x > 0 and x) |> sum",
)


@pytest.mark.parametrize(
    ("text", "name"),
    [(text, "parallel") for text in battery.some((*SAME, *ROUNDED), every=3)]
    + [(text, "items") for text in (SAME[0], SAME[11], SAME[37], *ROUNDED[:2])]
    + [(SAME[0], "groups"), (ROUNDED[2], "groups")],
)
def test_as_in_python(text, name):
    with battery.in_form(name):
        ran = battery.assert_like_python(
            FUNCTIONS + text, NAMES, battery.same if text in SAME else battery.close, threads=3
        )
    for pipeline in ran.report["pipelines"]:
        assert pipeline["barriers"] == []
        assert pipeline["loops"] == 1
    execution = ran.executions[-1]
    plain = execution.fused.outputs[0].sink.kind not in ("first", "last") and len(ran.executions) == 1
    if name == "parallel" and plain and not execution.recovered and "big" not in text:
        battery.assert_interpreted(ran)


def kinds(value):
    return [type(each) for each in value]


def test_elements_are_pythons_own():
    found = battery.run("xs |> map(lambda x: x if x > 0 else 0.5) |> to_list", NAMES).value
    assert kinds(found) == [int if x > 0 else float for x in INTS]
    array = battery.run("xs |> map(lambda x: x if x > 0 else 0.5)", NAMES).value
    assert kinds(array) == kinds(found)
    floats = battery.run("narrow |> map(lambda x: max(x, 0))", NAMES).value
    assert kinds(floats) == [np.float32 if x >= 0 else int for x in INTS]


def test_what_has_one_type_in_the_end_is_an_array_of_it():
    assert battery.run("xs |> map(lambda x: x if x > -50 else 0.5)", NAMES).value.dtype == np.int64
    assert battery.run("xs |> map(lambda x: x if x > 50 else 0.5)", NAMES).value.dtype == np.float64
    assert battery.run("xs |> map(lambda x: (1 / x if x else 0) * 2.0)", NAMES).value.dtype == np.float64


@pytest.mark.parametrize(
    "text",
    [
        "few |> map(lambda x: 1 / (x - x) if x > 3 else 0)",
        "few |> map(lambda x: x if x > 0 else 0.5) |> map(lambda y: 1 // (y - 0.5))",
        "few |> map(lambda x: x if x > 0 else 0.5) |> map(lambda y: y << 1)",
        "few |> map(lambda x: x if x > 0 else 0.5) |> map(lambda y: 1 % (y - 3))",
        "none |> map(lambda x: x if x > 0 else 0.5) |> max",
        "none |> map(lambda x: x if x > 0 else 0.5) |> mean",
    ],
)
def test_what_raises(text):
    assert battery.assert_like_python(text, NAMES).error is not None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("few |> map(relu) |> prod", "`prod` of ints and floats among each other"),
        ("few |> map(relu) |> cumsum", "`cumsum` of ints and floats"),
        ("few |> map(relu) |> argmax", "`argmax` of ints and floats"),
        ("few |> map(relu) |> reduce(lambda a, b: a + b, 0)", "`reduce` of ints and floats"),
        ("few |> reduce(lambda a, b: a if b > 2 else b * 0.5, 1)", "gives ints and floats"),
        ("narrow |> map(relu) |> zip(fs) |> map(lambda a, b: a if b > 0 else b)", "float32 for some"),
        ("few |> map(lambda x: True if x > 3 else 0.5 if x < 0 else x)", "a bool, an int or a float"),
    ],
)
def test_what_is_left_to_python_says_why(text, reason):
    ran = battery.assert_like_python(FUNCTIONS + text, NAMES, battery.close)
    (barrier, *_) = ran.report["pipelines"][0]["barriers"]
    assert reason in barrier["reason"]


def test_sums_have_the_same_bits_everywhere():
    battery.assert_same_bits_everywhere("xs |> map(lambda x: x / 7 if x > 0 else x) |> sum", NAMES)


def test_ints_of_a_sum_are_exact():
    names = {"ys": [2**62] * 5_000 + [0] * 5_000}
    found = battery.run("ys |> map(lambda y: y if y else 0.5) |> sum", names).value
    assert found == 2**62 * 5_000 + 2_500.0
    found = battery.run("ys |> map(lambda y: y if y >= 0 else 0.5) |> sum", names).value
    assert found == 2**62 * 5_000
    assert type(found) is int


@pytest.mark.parametrize(
    "text",
    [
        "ys = xs |> map(lambda x: x if x > 0 else 0.5)\nt = ys |> filter(lambda y: y > 3) |> max\n(t, list(ys))",
        "ys = xs |> map(lambda x: 1 / x if x else 0)\nt = ys |> map(lambda y: 1 // y if y else 7)\nt.tolist()",
    ],
)
def test_statements_share_the_loop(text):
    ran = battery.assert_like_python(text, NAMES)
    battery.one_loop(ran)
    assert len(ran.executions[0].fused.outputs) == 2


def test_beside_float32_the_array_of_results_decides():
    text = (
        "ys = few |> map(lambda x: x if x > 0 else 0.5)\nt = ys |> zip(narrow) |> map(lambda y, n: y * n)\nt"
    )
    assert battery.assert_like_python(text, NAMES).value.dtype == np.float32


def test_by_numpy():
    for text in SAME[:8]:
        battery.assert_like_python(FUNCTIONS + text, NAMES, on="numpy", quiet=True)
    battery.assert_like_python(FUNCTIONS + ROUNDED[0], NAMES, battery.close, on="numpy", quiet=True)


def test_a_report_shows_both_numbers():
    with battery.on_backend("parallel"):
        ran = battery.run("xs |> map(lambda x: 1 / x if x else 0)", NAMES, quiet=False, baseline=True)
    (pipeline,) = ran.report["pipelines"]
    assert " if %" in pipeline["code"]["fused"]
    assert all(row["equal"] for row in pipeline["baselines"])
    assert "0" in pipeline["lanes"]["steps"][-1]["values"] or pipeline["lanes"]["steps"]


mixtures = (
    "(x if x > 0 else 0.5)",
    "max(x, 0.0)",
    "(y if x else 2)",
    "(x and y)",
    "min(2, y, x)",
    "three(x)",
)
terms = st.sampled_from(("x", "x", "y", "2", "-1", "0", "0.5", "-0.0", "2.0", "math.inf", "True", *mixtures))
conditions = st.tuples(terms, st.sampled_from(("<", "==", ">=")), terms).map(" ".join)
expressions = st.recursive(
    terms,
    lambda term: st.one_of(
        st.tuples(term, st.sampled_from("+-*/"), term).map("({0[0]} {0[1]} {0[2]})".format),
        st.tuples(term, st.sampled_from(("//", "%")), term).map("({0[0]} {0[1]} {0[2]})".format),
        st.tuples(term, conditions, term).map("({0[0]} if {0[1]} else {0[2]})".format),
        st.tuples(term, term, term).map("({0[0]} if {0[1]} > {0[2]} else {0[2]})".format),
        st.tuples(st.sampled_from(("max", "min")), term, term).map("{0[0]}({0[1]}, {0[2]})".format),
        st.tuples(term, st.sampled_from(("and", "or")), term).map("({0[0]} {0[1]} {0[2]})".format),
        st.tuples(term, st.sampled_from(("<", "==", "!=", "<=")), term).map("({0[0]} {0[1]} {0[2]})".format),
        term.map("abs({})".format),
        term.map("(-{})".format),
        term.map("float({})".format),
    ),
    max_leaves=7,
)
sinks = st.sampled_from(("", "", "|> to_list", "|> min", "|> max", "|> count", "|> filter(lambda v: v > 1)"))


@battery.examples(150)
@given(
    first=expressions,
    second=expressions,
    sink=sinks,
    source=st.lists(st.one_of(battery.small_ints, battery.ints), min_size=1, max_size=30),
    others=st.lists(battery.floats, min_size=30, max_size=30),
)
def test_any_expression(first, second, sink, source, others):
    text = FUNCTIONS + f"xs |> zip(ys) |> map(lambda x, y: {first}) |> map(lambda x, y=2: {second}) {sink}"
    battery.assert_like_python(text, {"xs": source, "ys": others}, quiet=True)


@battery.examples(60)
@given(
    text=expressions,
    source=st.lists(battery.small_ints, min_size=1, max_size=30),
    others=st.lists(st.floats(-100, 100), min_size=30, max_size=30),
    sink=st.sampled_from(("sum", "mean", "var")),
)
def test_any_total(text, source, others, sink):
    names = {"xs": source, "ys": others}
    battery.assert_like_python(
        FUNCTIONS + f"xs |> zip(ys) |> map(lambda x, y: {text}) |> {sink}",
        names,
        lambda a, b: type(a) is type(b) and battery.close(a, b, 1e-9),
    )


@hastega
def positive(xs):
    return [x if x > 0 else 0.0 for x in xs]


@hastega
def total(xs):
    return sum(1 / x if x else 0 for x in xs)


def test_decorated_functions():
    found, wanted = positive(INTS), [x if x > 0 else 0.0 for x in INTS]
    assert found == wanted
    assert kinds(found) == kinds(wanted)
    assert total(INTS) == pytest.approx(sum(1 / x if x else 0 for x in INTS))


def test_comprehensions():
    ran = battery.assert_like_python("[x if x > 0 else 0.0 for x in xs]", NAMES)
    assert ran.report["pipelines"][0]["loops"] == 1
    battery.assert_like_python("max([x if x > 0 else x / 2 for x in xs])", NAMES, quiet=True)


@pytest.mark.parametrize("sink", ["sum", "mean", "prod"])
def test_bools_among_ints_beyond_64_bits(sink):
    """Python computes their block, and counts with the ints that they are, not with whether they hold."""
    for stage in ("clip(True, 7)", "map(lambda x: x**13 if x > 5 else x > 3)"):
        battery.assert_like_python(f"range(64) |> {stage} |> {sink}", quiet=True)


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        (
            "y = fs |> map(lambda x: x if x > 0 else 0)",
            "`y` holds ints beside floats, as Python's does, and so is an array",
        ),
        ("fs |> map(lambda x: x if x > 0 else True)", "The result holds bools beside floats"),
        ("y = range(20) |> map(lambda x: x > 3 if x > 5 else x)", "`y` holds bools beside ints"),
        ("y = fs |> map(lambda x: x if x > 0 else 0.0)", ""),
        ("y = fs |> map(lambda x: x if x > -9 else 0)", ""),  # all of one type
        ("y = fs |> map(lambda x: x if x > 0 else 0) |> to_list", ""),
    ],
)
def test_an_array_of_objects_is_explained(cell, said):
    names = {"fs": np.array([-1.5, 2.5, 3.5] * 9)}
    for on in ("simd", "opencl"):
        session = battery.Session(names, battery.Options(on=on, baseline=False))
        for _ in range(2):
            session.run_cell(cell)
            why = " ".join(session.last_report.to_dict()["pipelines"][0]["why"])
            assert ("array of objects" in why) == bool(said)
            assert said in why
