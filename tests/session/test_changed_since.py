"""Baselines of statements whose data, variables or results the rest of the cell has changed."""

from __future__ import annotations

import numpy as np
import pytest

from hastega_magic.session import Options, Session

CELLS = [
    "s = a |> map(lambda x: x + K) |> sum\nK += 1",
    "s = a |> sum\na[0] = 7",
    "s = a |> sum\na += 1\nt = a |> sum",
    "s = a |> argmax\na.sort()",
    "ys = a |> map(_ + 1)\nys[0] = 99",
    "s = a |> map(lambda x: T[x % 3]) |> sum\nT[0] = 100",
    "s = a |> map(lambda x: L[x % 3]) |> sum\nL[0] = 100",
    "s = L |> map(lambda x: x * K) |> sum\nL[1] = 70",
    "s = a |> map(lambda x: x * K) |> argmin\nK = -1\nt = a |> map(lambda x: x * K) |> argmin",
    "ys = a |> map(_ + K)\nt = ys |> filter(_ > 3) |> sum\nK = 9\na[:] = 4",
    "s = a |> window(3) |> map(sum) |> max\na[5] = 10**6",
    "s = a |> var\na[5] = 10**6",
]


@pytest.mark.parametrize("on", ["parallel", "numpy", "python"])
@pytest.mark.parametrize("cell", CELLS)
def test_they_are_compared_with_a_run_over_the_same(cell: str, on: str) -> None:
    names = {
        "a": np.random.default_rng(1).permutation(3000),
        "L": [3, 1, 2],
        "T": np.array([1, 2, 3]),
        "K": 5,
    }
    session = Session(names, Options(on=on))
    session.run_cell(cell)
    found = [each for pipeline in session.last_report.pipelines for each in pipeline.baselines]
    assert found or on != "parallel"
    assert all(each.equal for each in found), found
    assert not found or any("on the data as the cell has left them" in each.note for each in found)


def test_what_has_not_changed_is_compared_with_the_cells_own_result() -> None:
    session = Session({"a": np.arange(3000)}, Options(on="simd"))
    session.run_cell("s = a |> map(_ * 3) |> sum\nt = 5")
    assert all(each.equal and not each.note for each in session.last_report.pipelines[0].baselines)


def test_another_result_is_still_told() -> None:
    session = Session({"a": np.arange(3000)}, Options(on="simd", int_mode="wrap"))
    session.run_cell("s = a |> map(lambda x: x * 2**62) |> sum\na[0] = 7")
    python, *_ = session.last_report.pipelines[0].baselines
    assert not python.equal
    assert "another result" in python.note
