"""Baselines warn of nothing: what a cell says does not hang on whether it is compared."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from hastega_magic.session import Options, Session


@pytest.mark.parametrize("on", ["simd", "auto"])
@pytest.mark.parametrize(
    "stages",
    [
        "map(np.log)",
        "map(lambda x: np.log(x))",
        "map(lambda x: np.float64(x) / small)",
        "map(_ * small) |> sum",
    ],
)
def test_of_what_numpy_warns_of(stages: str, on: str) -> None:
    space = {"xs": [0.0, 1.0, 2.0], "np": np, "small": np.int8(0)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = Session(space, Options(on=on)).run_cell(f"xs |> {stages}")
    (pipeline,) = result.report.to_dict()["pipelines"]
    assert pipeline["barriers"] or {each["backend"] for each in pipeline["baselines"]} >= {"python"}
    assert pipeline["barriers"] or not caught


def test_the_cells_own_are_shown_once() -> None:
    text = "import warnings\ndef f(x):\n    warnings.warn(str(x))\n    return x\n[1, 2] |> map(f) |> map(_ * 2) |> sum"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert Session({}, Options(on="simd")).run_cell(text).value == 6
    assert [str(each.message) for each in caught] == ["1", "2"]


def test_where_warnings_are_errors_they_are_compared() -> None:
    space = {"xs": [0.0, 1.0], "np": np}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = Session(space, Options(on="simd")).run_cell("xs |> map(np.log)")
    (pipeline,) = result.report.to_dict()["pipelines"]
    assert all(each["equal"] for each in pipeline["baselines"])
