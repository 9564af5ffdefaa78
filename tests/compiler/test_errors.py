"""Exceptions are Python's, with a note; what Python does not evaluate raises nothing."""

from __future__ import annotations

import battery
import numpy as np
import pytest

RAISING = {
    "1 // x": [3, 2, 0, 1],
    "1 % x": [3, 0, 1],
    "1 / x": [3, 0, 1],
    "1.5 % x": [3.0, 0.0],
    "1.5 // x": [3.0, -0.0],
    "1 / x ": [2.0, 0.0],
    "math.sqrt(x)": [4.0, -1.0],
    "math.sqrt(x) ": [4, -1],
    "1 << x": [3, -1],
    "1 >> x": [3, -1],
    "int(x)": [1.5, float("nan")],
    "int(x) ": [1.5, float("inf")],
    "round(x)": [1.5, float("-inf")],
    "math.floor(x)": [1.5, float("nan")],
    "table[x]": [0, 2, 3],
    "table[x] ": [0, -3, -4],
    "divmod(7, x)": [1, 0],
}


@pytest.mark.parametrize("text", RAISING)
@pytest.mark.parametrize("ahead", [0, 5000])
def test_the_very_exception(text, ahead):
    xs = RAISING[text]
    xs = [xs[0]] * ahead + xs
    names = {"xs": xs, "table": [5, 6, 7]}
    ran = battery.assert_like_python(f"ys = xs |> map(lambda x: {text})", names)
    assert ran.error is not None
    bad = len(xs) - 1 if ahead == 0 and xs[-1] != 1 else None
    place = next(i for i in range(len(xs)) if _raises(text, xs[i], names))
    assert bad in (None, place)
    assert f"element {place} of xs, which is {xs[place]!r}" in ran.notes
    assert f"lambda x: {text.strip()}" in ran.notes
    assert "ys" not in ran.namespace


def _raises(text, x, names):
    try:
        eval(text, {**names, "math": __import__("math"), "x": x})
    except Exception:
        return True
    return False


LAZY = {
    "any stops": ("xs |> map(lambda x: 1 // x == 1) |> any", [1, 0]),
    "all stops": ("xs |> map(lambda x: 1 // x > 0) |> all", [2, 0]),
    "any goes on": ("xs |> map(lambda x: 1 // x == 7) |> any", [1, 0]),
    "take limits": ("xs |> map(lambda x: 1 // x) |> take(2)", [1, 1, 0]),
    "take before": ("xs |> take(2) |> map(lambda x: 1 // x)", [1, 1, 0]),
    "take is too late": ("xs |> map(lambda x: 1 // x) |> take(3)", [1, 1, 0]),
    "drop evaluates": ("xs |> map(lambda x: 1 // x) |> drop(1)", [0, 1, 1]),
    "drop before": ("xs |> drop(1) |> map(lambda x: 1 // x)", [0, 1, 1]),
    "take after a filter": ("xs |> filter(lambda x: 6 // x > 1) |> take(2)", [1, 2, 0]),
    "a filter protects": ("xs |> filter(lambda x: x) |> map(lambda x: 6 // x)", [1, 0, 2]),
    "a second filter protects": ("xs |> filter(lambda x: x) |> filter(lambda x: 6 // x > 2)", [1, 0, 2]),
    "and protects": ("xs |> map(lambda x: x != 0 and 6 // x > 2)", [1, 0, 2]),
    "or protects": ("xs |> map(lambda x: x == 0 or 6 // x > 2)", [1, 0, 2]),
    "a condition protects": ("xs |> map(lambda x: 6 // x if x else -1)", [1, 0, 2]),
    "an unused value raises": ("def f(x):\n    y = 6 // x\n    return x\nxs |> map(f)", [1, 0, 2]),
    "times zero raises": ("xs |> map(lambda x: (6 // x) * 0)", [1, 0, 2]),
    "a decided comparison raises": ("xs |> filter(lambda x: 0 < 0 // x)", [0]),
    "a constant remainder raises": ("xs |> map(lambda x: (6 // x) % 1)", [1, 0]),
    "count evaluates": ("xs |> map(lambda x: 1 // x) |> count", [1, 0]),
    "zip stops at the shorter": ("xs |> map(lambda x: 1 // x) |> zip([5]) |> count", [1, 1, 0]),
    "the first stage first": ("xs |> map(lambda x: 1 // x) |> map(lambda x: [5][x])", [1, 0]),
    "elements in order": ("xs |> map(lambda x: 1 // x) |> map(lambda x: table[x * 9])", [1, 0]),
    "any behind a barrier": ("xs |> map(lambda x: str(1 // x)) |> any", [1, 0]),
}


@pytest.mark.parametrize("name", LAZY)
def test_what_is_evaluated(name):
    text, xs = LAZY[name]
    battery.assert_like_python(text, {"xs": xs, "table": [5, 6]}, quiet=True)
    battery.assert_like_python(text, {"xs": np.array(xs), "table": [5, 6]}, quiet=True)


def test_statements_before_the_failing_one_have_taken_effect():
    text = "a = xs |> map(lambda x: x + 1)\nb = a |> sum\nc = a |> map(lambda x: 1 // (x - 1))\nd = a |> max"
    ran = battery.run(text, {"xs": [3, 0, 5]})
    assert isinstance(ran.error, ZeroDivisionError)
    assert ran.namespace["a"].tolist() == [4, 1, 6]
    assert ran.namespace["b"] == 11
    assert "c" not in ran.namespace
    assert "d" not in ran.namespace
    assert "element 1" in ran.notes


def test_a_failing_statement_leaves_the_old_value():
    ran = battery.run("a = xs |> map(lambda x: 1 // x)", {"xs": [0], "a": "before"})
    assert ran.namespace["a"] == "before"


@pytest.mark.parametrize("sink", ["min", "max", "reduce(lambda a, b: a + b)"])
@pytest.mark.parametrize(
    "source", ["[]", "range(0)", "np.array([], np.int32)", "[1] |> filter(lambda x: x > 1)"]
)
def test_reductions_of_nothing(source, sink):
    ran = battery.assert_like_python(f"{source} |> {sink}")
    assert isinstance(ran.error, (ValueError, TypeError))


@pytest.mark.parametrize(
    "sink", ["sum", "prod", "count", "any", "all", "to_list", "reduce(lambda a, b: a + b, 7)", "mean"]
)
@pytest.mark.parametrize("source", ["[]", "range(0)", "np.array([], np.float64)", "[1, 5] |> take(0)"])
def test_other_sinks_of_nothing(source, sink):
    battery.assert_like_python(f"{source} |> {sink}", quiet=True)


def test_the_place_of_an_error_counts_from_the_source():
    ran = battery.run("xs |> drop(2) |> map(lambda x: 1 // x)", {"xs": [5, 6, 7, 0]})
    assert ", which is 0, in" in ran.notes


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "xs |> map(lambda x: 1 // x)",
            "element 1 of xs, which is 0, in `map(lambda x: 1 // x)` (cell line 1)",
        ),
        (
            "xs |> zip([1, 1, 0]) |> map(lambda a, b: a // b)",
            "element 2 of xs, which is 3, in `map(lambda a, b: a // b)` (cell line 1), which was given (3, 0)",
        ),
        ("xs |> enumerate |> map(lambda i, x: 1 // x)", "which was given (1, 0)"),
        ("xs |> window(2) |> map(lambda a, b: a // b)", "element 0 of xs, which is 2, in"),
        ("xs |> window(2) |> map(lambda a, b: a // b)", "which was given (2, 0)"),
        ("xs |> map(_ - 2) |> map(lambda x: 1 // x)", "element 0 of xs, which is 2, in"),
        ("xs |> map(_ - 2) |> map(lambda x: 1 // x)", "which was given 0"),
        (
            "ps |> map(lambda a, b: a // b)",
            "element 1 of ps, which is (3, 0), in `map(lambda a, b: a // b)` (cell line 1)",
        ),
    ],
)
def test_a_note_tells_what_the_stage_was_given_where_that_is_not_the_sources_own(text, told):
    ran = battery.run(text, {"xs": [2, 0, 3], "ps": [(1, 2), (3, 0)]})
    assert told in ran.notes
    own = told.endswith("(cell line 1)")
    assert ("which was given" in ran.notes) is not own


IN_ORDER = {
    "scan(lambda a, x: a // (x - 3))": "element 3, which is 3, with 0 so far,",
    "scan(lambda a, x: a // (x - 3), 5)": "element 3, which is 3, with -1 so far,",
    "reduce(lambda a, x: a / (x - 3), 1.0)": "element 3, which is 3, with -0.16666666666666666 so far,",
    "reduce(lambda a, x: a % (x - 4))": "element 4, which is 4, with 0 so far,",
    "take_while(lambda x: 5 // (3 - x)) |> sum": "element 3 of xs, which is 3,",
    "drop_while(lambda x: 5 // (3 - x)) |> to_list": "element 3 of xs, which is 3,",
    "scan(lambda a, x: (a + 7) ** 3 // (x - 7), 1)": "with a number of ",
}


@pytest.mark.parametrize("stages", IN_ORDER)
def test_functions_over_values_in_order_name_the_element(stages):
    ran = battery.assert_like_python(f"ys = xs |> {stages}", {"xs": list(range(9))})
    assert isinstance(ran.error, ZeroDivisionError)
    assert IN_ORDER[stages] in ran.notes


@pytest.mark.parametrize("on", ["python", "parallel"])
@pytest.mark.parametrize(
    ("cell", "stage"),
    [
        ("y = [1, 2] |> all |> any", "any"),
        ("y = 3 |> print |> sum", "sum"),
        ("y = range(9) |> map(_ + 1) |> sum |> map(_ * 2) |> max", "map(_ * 2)"),
    ],
)
def test_the_stage_that_goes_through_one_value_is_marked(cell, stage, on):
    ran = battery.run(cell, on=on)
    assert isinstance(ran.error, TypeError)
    line, caret = ran.notes.splitlines()[-2:]
    assert line == f"    {cell}"
    assert caret == " " * (4 + cell.rindex(f"|> {stage}") + 3) + "^" * len(stage)
