"""What a pipeline's own callables see: each value once, whatever is compared, and never an iterator."""

from __future__ import annotations

import numpy as np
import pytest

from hastega_magic.compiler.options import Options
from hastega_magic.session import Session

SETTING = """
calls = []
def noisy(x):
    calls.append(x)
    return x
pairs = [(i, i + 1) for i in range(500)]
"""
SEEN = [
    ("[5, 6, 7] |> enumerate |> tap(noisy) |> map(lambda i, x: i * x) |> sum", 1),
    ("range(300) |> cumsum |> map(lambda x: (noisy(x), x)) |> to_list", 300),
    ("range(9000) |> enumerate |> noisy |> map(lambda i, x: i * x) |> sum", 1),
    ("range(9000) |> window(2) |> tap(noisy) |> map(lambda a, b: a * b) |> sum", 1),
    ("range(9000) |> chunk(3) |> map(sum) |> map(noisy) |> drop(50) |> sum", 3000),
    ("pairs |> noisy |> map(lambda a, b: a * b) |> sum", 1),
    ("pairs |> zip(range(500)) |> noisy |> map(lambda p, i: i) |> sum", 1),
]
OPTIONS = [{}, {"compare": ("simd", "parallel")}, {"fuse": False}, {"on": "simd"}, {"quiet": True}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize(("text", "times"), SEEN)
def test_functions_are_called_as_often_as_python_calls_them(text, times, options):
    session = Session({}, Options(**options))
    session.run_cell(SETTING)
    session.run_cell(f"r = {text}")
    assert len(session.namespace["calls"]) == times


def test_the_loops_behind_a_callable_are_not_run_again_by_themselves():
    session = Session({}, Options())
    session.run_cell(SETTING)
    report = session.run_cell("r = pairs |> noisy |> map(lambda a, b: a * b) |> sum").report
    assert session.kept is not None
    assert "Python computes a part" in session.kept.why
    assert report.pipelines[0].barriers


LOOKED_AT = """
import numpy as np
table = np.array([3, 1, 4, 1, 5])
seen = []
def look(values):
    seen.append(type(values).__name__)
    return values
"""


@pytest.mark.parametrize("on", ["auto", "python", "simd"])
@pytest.mark.parametrize(
    ("behind", "kind", "value"),
    [
        ("enumerate |> look |> to_list", "ndarray", None),
        ("enumerate |> len", None, 40),
        ("zip(range(100)) |> look |> map(lambda a, b: a + b) |> sum", "ndarray", None),
        ("filter(_ >= 0) |> look |> sum", "ndarray", None),
        ("filter(_ > 99) |> look", "ndarray", []),
        ("take(3) |> tap(look) |> sum |> look", "ndarray", None),
    ],
)
def test_a_callable_behind_pythons_stages_is_given_an_array(behind, kind, value, on):
    """Python takes the second `map`, whose index is a bool of a loop's."""
    session = Session({}, Options(on=on, baseline=False))
    session.run_cell(LOOKED_AT)
    session.run_cell(f"r = range(40) |> map(_ % 2 == 0) |> map(lambda x: table[int(x)] * abs(x)) |> {behind}")
    if kind is not None:
        assert session.namespace["seen"][0] == kind
    if value is not None:
        assert session.namespace["r"] == value if value else session.namespace["r"].dtype == np.int64


def test_the_time_that_a_generator_takes_is_pythons():
    session = Session({}, Options(baseline=False))
    session.run_cell(
        "import time\ndef slow(n):\n    for i in range(n):\n        time.sleep(1e-4)\n        yield i"
    )
    for n in (10, 300):
        report = session.run_cell(f"r = slow({n}) |> map(_ + 1) |> sum").report
        assert sum(each.python or 0 for each in report.pipelines[0].phases) >= n * 1e-4


@pytest.mark.parametrize("text", ["del map", "del (map, z)", "del [z, map]", "del z, (map,)"])
def test_a_name_that_is_deleted_means_a_stage_again(text):
    session = Session({}, Options(baseline=False))
    session.run_cell("map = lambda f, xs: 1\nz = 2")
    session.run_cell(f"{text}\nr = range(5) |> map(_ + 1) |> to_list")
    assert session.namespace["r"] == [1, 2, 3, 4, 5]
