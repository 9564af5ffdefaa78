"""Statements of a cell: their order, their names, and what stays behind."""

from __future__ import annotations

import battery
import numpy as np
import pytest

from hastega_magic.errors import CellSyntaxError, UsageError
from hastega_magic.session import Options, Session, StrictError


def test_the_last_expression_is_the_value():
    assert battery.run("xs = [1, 2]\nxs |> sum").value == 3
    assert battery.run("xs = [1, 2]\nt = xs |> sum").value is None
    assert battery.run("[1, 2] |> sum\n'text'").value == "text"


def test_ordinary_statements_run_between_pipelines():
    ran = battery.run("log = []\na = [1, 2] |> sum\nlog.append(a)\na = [3] |> sum\nlog.append(a)\nlog")
    assert ran.value == [3, 3]


def test_a_pipeline_in_a_larger_expression_and_in_a_loop():
    text = "found = []\nfor k in range(3):\n    found.append(([1, 2, 3] |> map(lambda x: x * k) |> sum) + 1)\nfound"
    assert battery.run(text).value == [1, 7, 13]


def test_a_function_with_a_pipeline_can_be_called_in_later_cells():
    space = {}
    session = Session(space, Options(baseline=False, quiet=True))
    session.run_cell("def total(xs, k):\n    return xs |> map(lambda x: x * k) |> sum")
    assert session.run_cell("total([1, 2], 5)").value == 15
    assert space["total"]([1, 2, 3], 2) == 12


def test_nothing_of_ours_stays_in_the_namespace():
    space = {}
    Session(space, Options(baseline=False, quiet=True)).run_cell("ys = [1, 2] |> map(lambda x: x + 1)")
    assert set(space) - {"__builtins__"} == {"ys"}


def test_a_result_can_be_its_own_source():
    ran = battery.run(
        "xs = [1, 2, 3]\nxs = xs |> map(lambda x: x + 1)\nxs = xs |> map(lambda x: x * 2)\nxs.tolist()"
    )
    assert ran.value == [4, 6, 8]


def test_changed_sources_are_read_again():
    space = {"xs": [1, 2]}
    session = Session(space, Options(baseline=False, quiet=True))
    assert session.run_cell("xs |> sum").value == 3
    space["xs"].append(10)
    assert session.run_cell("xs |> sum").value == 13


@pytest.mark.parametrize("stage", ["map(lambda y: y * k)", "map(lambda y: y * k) |> sum", "filter(_ > k)"])
@pytest.mark.parametrize("first", ["filter(lambda x: x > 0)", "map(lambda x: x + 1)"])
def test_a_number_that_changes_beside_a_result_of_the_cell(first, stage):
    text = f"ys = range(-5, 9) |> {first}\nzs = ys |> {stage}\n[ys, zs]"
    space = {"k": 1}
    session = Session(space, Options(baseline=False, quiet=True, on="simd"))
    for space["k"] in (1, 2, 3):
        assert battery.same(session.run_cell(text).value, battery.python(text, {"k": space["k"]}).value)


@pytest.mark.parametrize("stages", ["argmax", "argmin", "map(-_) |> argmin"])
def test_the_place_of_an_extreme_is_that_in_the_result_it_is_looked_for_in(stages):
    text = f"ys = [5, -1, 2, -3, 7, 0, 1] |> filter(_ > 0)\nplace = ys |> {stages}\nplace"
    battery.assert_like_python(text, on="simd", quiet=True)


@pytest.mark.parametrize("text", ["xs |> map(", "xs |> |> sum", "1 +", "2 |> ", "def f(:\n  pass"])
def test_a_syntax_error_has_its_line_and_runs_nothing(text):
    space = {}
    with pytest.raises(SyntaxError) as caught:
        Session(space, Options()).run_cell("marker = 1\n" + text)
    assert "marker" not in space
    assert isinstance(caught.value, CellSyntaxError)
    assert caught.value.lineno in (1, 2, 3)


@pytest.mark.parametrize(
    "wrong", [{"on": "gpu9"}, {"int_mode": "lax"}, {"width": 3}, {"threads": -1}, {"repeat": 0}]
)
def test_options_that_cannot_be_are_one_line(wrong):
    with pytest.raises(UsageError) as caught:
        Options(**wrong)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("wrong", "near"),
    [({"on": "simdd"}, "simd"), ({"int_mode": "Exct"}, "exact"), ({"compare": ("nump",)}, "numpy")],
)
def test_the_nearest_value_of_an_option_is_offered(wrong, near):
    with pytest.raises(UsageError, match=rf"did you mean {near}\?$"):
        Options(**wrong)


def test_strict_makes_a_barrier_an_error():
    ran = battery.run("[1, 2] |> map(str)", strict=True)
    assert isinstance(ran.error, StrictError)
    assert "str" in str(ran.error)


@pytest.mark.parametrize("on", ["python", "numpy", "simd", "parallel"])
def test_every_back_end_gives_the_same(on):
    text = "ys = xs |> map(lambda x: x * x % 7) |> filter(lambda x: x > 1)\nt = ys |> sum\n(ys.tolist(), t)"
    xs = list(range(-50, 50))
    ys = [x * x % 7 for x in xs if x * x % 7 > 1]
    assert battery.run(text, {"xs": xs}, on=on).value == (ys, sum(ys))


def test_baselines_are_checked_before_they_are_shown():
    ran = battery.run("range(100000) |> map(lambda x: x * x % 7) |> sum", baseline=True)
    rows = {row["backend"]: row for row in ran.report["pipelines"][0]["baselines"]}
    assert {"python", "numpy"} <= rows.keys()
    assert all(row["equal"] for row in rows.values())


def test_a_captured_number_that_python_would_not_write_out():
    text = "[1, 2, 3] |> map(lambda x: x * k) |> sum"
    assert battery.run(text, {"k": 10**5000}, on="simd").value == 6 * 10**5000


BEFORE = """
class Counted:
    @property
    def sum(self):
        return s

counted, fs = Counted(), [abs]
def total():
    return s
def adding():
    return lambda x, by=s: x + by
s = 1
"""


@pytest.mark.parametrize(
    "stage",
    [
        "take(total())",
        "clip(total(), 6)",
        "map(adding())",
        "zip([total()] * 3)",
        "take(counted.sum)",
        "map(lambda x, by=counted.sum: x + by)",
        "take(globals()['s'])",
        "take(xs.pop())",
    ],
)
def test_arguments_see_what_the_statements_before_have_done(stage):
    space = {}
    session = Session(space, Options(on="simd", baseline=False, quiet=True))
    session.run_cell(BEFORE)
    space["ys"] = [2, 6, 7, 8]
    for _ in range(2):
        space |= {"xs": [0, 2, 1], "s": 1}
        session.run_cell(f"s = xs |> sum\nys |> {stage}")
        found = session.last.value.tolist()
        assert space["s"] == 3
        assert found == session.run_cell(f"xs = [0, 2, 1]\nys |> {stage}").value.tolist()


def test_arguments_that_run_nothing_of_the_user_leave_statements_in_one_loop():
    text = "a = xs |> map(_ + 1)\nb = xs |> astype(np.float64) |> clip(lo, len(xs))\nc = xs |> zip(range(3)) |> count"
    ran = battery.run(text, {"xs": [1, 2, 3], "lo": 2}, on="simd")
    assert len(ran.executions) == 1


def test_a_statement_that_does_not_join_the_loop_before_leaves_no_table():
    space = {"xs": np.arange(3), "table": None}
    session = Session(space, Options(on="simd", baseline=False, quiet=True))
    text = "r = xs |> map(lambda x: x + 1)\nt = ys |> map(lambda y: table[y]) |> sum"
    with pytest.raises(TypeError):
        session.run_cell("ys = [0, 1]\n" + text)
    for _ in range(3):
        with pytest.raises(TypeError):
            session.run_cell("ys = [0, 1]\n" + text, options=session.options)
        space["table"] = [0.5, 1.5]
        session.run_cell("ys = [0, 1]\n" + text)
        assert space["r"].tolist() == [1, 2, 3]
        assert space["t"] == 2.0
        space["table"] = None


@pytest.mark.parametrize(
    "text",
    [
        "next(iter(()))",
        "[1] |> sum\nnext(iter(()))",
        "a = next(iter(())) |> sum",
        "a = iter(()) |> next",
        "a = range(9) |> sum\nb = iter(()) |> next",
    ],
)
def test_an_iterator_that_has_ended_says_so(text):
    """A cell is gone through by a generator, which a StopIteration cannot leave as itself."""
    session = Session({}, Options(baseline=False, quiet=True))
    with pytest.raises(StopIteration) as raised:
        session.run_cell(text)
    assert raised.value.__context__ is None
    assert raised.value.__cause__ is None


def test_what_stop_iteration_was_raised_in_stays_its_context():
    with pytest.raises(StopIteration) as raised:
        Session({}).run_cell("try:\n    1 // 0\nexcept ZeroDivisionError:\n    next(iter(()))")
    assert isinstance(raised.value.__context__, ZeroDivisionError)


MOVED = {  # bytes for each of the elements, the results among them
    "t = xs |> sum": 8,
    "t = xs |> map(_ * k) |> sum": 8,
    "t = xs |> window(3) |> map(sum) |> sum": 8,
    "t = xs |> reverse |> window(3) |> map(sum)": 16,
    "t = zs |> window(3) |> map(lambda a, b, c: a + b - c) |> sum": 16,
    "t = xs |> chunk(4) |> map(sum) |> sum": 8,
    "t = xs |> zip(ys) |> map(lambda x, y: x * y) |> sum": 16,
    "t = xs |> var": 16,  # the mean needs them as well
}


@pytest.mark.parametrize("on", ["simd", "parallel", "opencl"])
@pytest.mark.parametrize("text", MOVED)
def test_the_report_counts_what_memory_gives_and_takes(text, on):
    if on == "opencl":
        pytest.importorskip("pyopencl")
    n = 40_000
    xs = np.arange(n) * 1.0
    session = Session({"xs": xs, "ys": xs + 1, "zs": xs * 1j}, Options(on=on, baseline=False, quiet=True))
    for k in (2.5, 3.5, 4.5, 5.5):  # a number that changes becomes a source of the loop: one for all elements
        session.namespace["k"] = k
        (told,) = session.run_cell(text).report.pipelines
        moved = sum(phase.bytes for phase in told.phases if phase.name == "kernel")
        assert moved == pytest.approx(MOVED[text] * n, rel=1e-3), k
