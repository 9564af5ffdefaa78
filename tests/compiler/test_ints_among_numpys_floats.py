"""Ints given to `clip` and `where` beside float64 numbers read from a captured array: floats, whoever computes."""

import numpy as np
import pytest
from battery import run


@pytest.mark.parametrize("on", ["python", "numpy", "parallel"])
@pytest.mark.parametrize(
    ("stage", "expected"),
    [
        ("clip(-5, 52)", [51.0, 52.0, 52.0]), ("clip(52, None)", [52.0, 52.0, 53.0]),
        ("where(lambda x: x > 51, 7)", [7.0, 52.0, 53.0]),
    ],
)  # fmt: skip
def test_they_are_floats(stage, expected, on):
    text = f"[1, 2, 3] |> map(lambda x: table[0] + x) |> {stage}"
    names = {"table": np.array([50.0])}
    array = run(f"out = {text}", names, on=on).namespace["out"]
    assert array.dtype == np.float64
    assert array.tolist() == expected
