"""Stages that need to know something before their loop can be built, and views of sources."""

import numpy as np
import pytest

from hastega_magic.compiler.python.elements import Elements
from tests.compiler.battery import assert_like_python, run

LONG = 1 << 21


def test_take_while_stops_where_it_ends():
    ran = run("xs |> take_while(_ < 70000) |> map(_ * 2) |> sum", {"xs": range(1, LONG)})
    assert ran.value == sum(range(2, 140000, 2))
    assert [execution.length for execution in ran.executions] == [69999]
    (pipeline,) = ran.report["pipelines"]
    assert "element 69999 is the first to fail" in " ".join(pipeline["why"])


@pytest.mark.parametrize(
    "text",
    [
        "xs |> map(1000 // (90000 - _)) |> take_while(_ < 1) |> count",
        "xs |> map(1000 // (90000 - _)) |> take_while(_ < 1000) |> count",
        "xs |> take_while(1 // (80000 - _) < 1) |> count",
        "xs |> take_while(1 // (70 - _) < 5) |> count",
        "xs |> drop_while(1 // (70 - _) < 1) |> count",
        "xs |> filter(1 // (70000 - _) == 0) |> first",
        "xs |> filter(1 // (70 - _) > 5) |> first",
        "xs |> map(1 // (70 - _)) |> last",
        "xs |> filter(_ % 7 == 3) |> drop_while(_ < 100000) |> take(5) |> to_list",
        "xs |> enumerate |> drop_while(lambda i, x: x < 1000) |> map(lambda i, x: i - x) |> take(3)",
        "xs |> map(10 // (_ - 50)) |> reverse |> first",
        "xs |> map(10 // (_ - 50)) |> step(100) |> sum",
        "xs |> filter(_ > 10**9) |> last",
        "xs |> filter(_ > 10**9) |> var",
        "xs |> map(_ / 7) |> var(ddof=10**9)",
    ],
)
def test_python_sees_no_difference(text):
    """Elements that Python never comes to may raise as they like; what it comes to raises first."""
    assert_like_python(text, {"xs": range(120000)}, equal=np.array_equal, quiet=True)


def test_an_error_names_the_element_of_the_source():
    ran = run("xs |> take_while(1 // (80000 - _) < 2) |> count", {"xs": range(100000)})
    assert isinstance(ran.error, ZeroDivisionError)
    assert "element 80000 of xs, which is 80000" in ran.notes


@pytest.mark.parametrize(
    "values",
    [[3.0, 1.0, 1.0, 2.0], [float("nan"), 1.0], [2.0, float("nan"), 1.0, 1.0], [0.0, -0.0], [True, False]],
)
@pytest.mark.parametrize("stage", ["argmin", "argmax"])
def test_the_first_of_equals_and_nan_as_python_has_it(stage, values):
    wanted = (min if stage == "argmin" else max)(range(len(values)), key=values.__getitem__)
    assert run(f"xs |> {stage}", {"xs": np.array(values)}).value == wanted


@pytest.mark.parametrize("place", [0, 255, 256, 4095, 4096, 9000, 12_287])
@pytest.mark.parametrize(
    ("stages", "values"),
    [
        ("map(lambda x: x * 2 - 1) |> argmax", np.zeros(12_288)),
        ("map(lambda x: x * 3 % 1009) |> argmax", np.full(12_288, 5)),
        ("map(lambda x: -x) |> argmin", np.full(12_288, -3)),
        ("zip(xs) |> map(lambda x, y: x * y) |> argmax", np.zeros(12_288, "f4")),
        ("argmax", np.zeros((12_288, 2))[:, 1]),
        ("map(lambda x: min(x, 0.0) * -1.0) |> min", np.full(12_288, -1.5)),
    ],
)
def test_the_element_sought_is_not_evaluated_by_itself(stages, values, place, monkeypatch):
    values, alone = values.copy(), []
    values[place:] = 7  # more of them, of which the first counts
    at = Elements.at

    def noted(self, index):
        alone.append(index)
        return at(self, index)

    monkeypatch.setattr(Elements, "at", noted)
    found, wanted = (run(f"xs |> {stages}", {"xs": values}, on=on).value for on in ("parallel", "python"))
    assert repr(found) == repr(wanted)
    assert len(alone) <= 1


def test_windows_are_not_in_memory():
    ran = run("xs |> window(5) |> map(sum)", {"xs": np.arange(9000)})
    (execution,) = ran.executions
    assert ran.value.tolist() == [5 * x + 10 for x in range(8996)]
    assert all(np.shares_memory(column.data, execution.columns[0].data) for column in execution.columns)


def test_an_error_in_a_window_names_its_element():
    ran = run("xs |> map(10 // (_ - 5000)) |> window(3) |> map(max)", {"xs": np.arange(9000)})
    assert isinstance(ran.error, ZeroDivisionError)
    assert "element" in ran.notes


@pytest.mark.parametrize(
    "text",
    ["xs |> chunk(3) |> map(sum)", "xs |> chunk(3) |> to_list", "xs |> chunk(2) |> map(lambda a, b: a * b)"],
)
@pytest.mark.parametrize("length", [0, 1, 2, 3, 6, 8, 8191])
def test_chunks(text, length):
    assert_like_python(text, {"xs": np.arange(length)}, quiet=True)


def test_astype_gives_arrays_of_the_type():
    for dtype in ("int8", "uint16", "float32", "int64", "float64", "bool"):
        ran = run("xs |> map(_ % 100) |> astype(kind)", {"xs": np.arange(5000), "kind": dtype})
        assert ran.value.dtype == np.dtype(dtype)
        assert ran.value.tolist() == (np.arange(5000) % 100).astype(dtype).tolist()
    ran = run("xs |> astype('int8')", {"xs": np.arange(5000)})
    assert isinstance(ran.error, OverflowError)
    assert "128 out of bounds for int8" in str(ran.error)
