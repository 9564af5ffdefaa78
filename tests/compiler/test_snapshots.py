"""What pipelines look like as loops: short, so that a change is seen and read."""

from __future__ import annotations

import re

import battery
import numpy as np
import pytest

NAMES = {"xs": np.arange(10, dtype=np.int32), "fs": np.zeros(10), "ls": [1, 2, 3], "table": [1, 2, 4]}
SNAPSHOTS = {
    "xs |> map(lambda x: x * x + 1)": """
        %0: int [-2147483648, 2147483647] = load xs
        %1: int [0, 4611686018427387904] = mul %0, %0
        %2: int [1, 4611686018427387905] = add %1, 1
        line 1 = array %2""",
    "xs |> map(lambda x: (x + 0) * 1 % 8)": """
        %0: int [-2147483648, 2147483647] = load xs
        %1: int [0, 7] = and %0, 7
        line 1 = array %1""",
    "xs |> filter(lambda x: x > 2) |> sum": """
        %0: int [-2147483648, 2147483647] = load xs
        %1: bool = gt %0, 2
        line 1 = sum %0 where %1""",
    "xs |> map(lambda x: x % 10) |> filter(lambda x: x < 10)": """
        %0: int [-2147483648, 2147483647] = load xs
        %1: int [0, 9] = mod %0, 10
        line 1 = array %1 where True""",
    "fs |> map(lambda x: x * 2 + 0.0)": """
        %0: float64 = load fs
        %1: float64 = mul %0, 2.0
        %2: float64 = add %1, 0.0
        line 1 = array %2""",
    "fs |> map(lambda x: x / 4 if x > 0 else -(-x))": """
        %0: float64 = load fs
        %1: bool = gt %0, 0.0
        %2: float64 = mul %0, 0.25
        %3: float64 = select %1, %2, %0
        line 1 = array %3""",
    "a = xs |> min\nb = xs |> max": """
        %0: int [-2147483648, 2147483647] = load xs
        a = min %0
        b = max %0""",
    "ys = xs |> map(lambda x: x + 1)\nt = ys |> filter(lambda y: y % 2 == 0) |> count": """
        %0: int [-2147483648, 2147483647] = load xs
        %1: int [-2147483647, 2147483648] = add %0, 1
        %2: int [0, 1] = and %1, 1
        %3: bool = eq %2, 0
        ys = array %1
        t = count %1 where %3""",
    "xs |> zip(fs) |> map(lambda x, f: x * f)": """
        %0: int [-2147483648, 2147483647] = load xs
        %1: float = int_to_float %0
        %2: float64 = load ndarray
        %3: float64 = mul %1, %2
        line 1 = array %3""",
    "xs |> enumerate(2) |> map(lambda i, x: i - x)": """
        %0: int [0, 281474976710656] = index
        %1: int [2, 281474976710658] = add %0, 2
        %2: int [-2147483648, 2147483647] = load xs
        %3: int [-2147483645, 281477124194306] = sub %1, %2
        line 1 = array %3""",
}


def lines(text: str) -> list[str]:
    found = [re.sub(r"\s*; lines? .*$", "", line).strip() for line in text.strip().splitlines()]
    return [line for line in found if re.match(r"(%\d+:|[\w ]+ = )", line)]


@pytest.mark.parametrize("cell", SNAPSHOTS)
def test_the_loop(cell):
    ran = battery.run(cell, NAMES)
    assert ran.error is None
    (pipeline,) = ran.report["pipelines"]
    assert lines(pipeline["code"]["fused"]) == lines(SNAPSHOTS[cell])
