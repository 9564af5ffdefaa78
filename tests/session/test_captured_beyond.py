"""Integers beyond 64 bits in functions that read NumPy's integers: these count as Python's, which have no limit."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from hastega_magic.errors import IntegerOverflowWarning
from hastega_magic.session import Options, Session

TURNS = "def f(x):\n    s = 0\n    for i in range(x % 3):\n        s = s + x * T[i % 2]\n    return s\n"
CELLS = [
    "r = xs |> map(lambda x: x * T[0]) |> to_list",
    "r = xs |> map(lambda x: x * T[0])",
    "r = xs |> map(lambda x: x * T[0]) |> sum",
    "r = xs |> map(lambda x: x * 4 - T[0]) |> to_list",
    "r = xs |> map(lambda x: x * T[x % 2]) |> map(lambda y: y - 1) |> to_list",
    "r = xs |> map(lambda x: 1 if x * T[0] > 3 else 0) |> to_list",
    "r = xs |> filter(lambda x: x * T[1] > 10) |> to_list",
    "r = xs |> map(lambda x: (x, x * T[1])) |> to_list",
    "r = xs |> map(lambda x: x * t) |> to_list",
    "r = xs |> map(lambda x: x * 4 - t) |> to_list",
    "r = xs |> map(lambda x: x * u + 1) |> to_list",
    TURNS + "r = xs |> map(f) |> to_list",
    TURNS + "r = xs |> map(lambda x: f(x) * t) |> to_list",
    "r = xs |> map(lambda x: i * 1000 + x * 10) |> to_list",
    "r = xs |> map(lambda x: N[x % 2] * 1000 + (x << 3)) |> map(lambda y: y * 10**7) |> to_list",
]
XS = [1, 2**62, 3, 2**61, 3 * 2**60, -(2**63), 0]


@pytest.mark.parametrize("on", ["simd", "parallel", "opencl"])
@pytest.mark.parametrize("cell", CELLS)
def test_they_are_exact(cell: str, on: str) -> None:
    if on == "opencl":
        pytest.importorskip("pyopencl")
    numpys = {
        "T": np.array([5, 7]),
        "t": np.int64(5),
        "u": np.uint8(200),
        "i": np.int8(5),
        "N": np.array([5, -7], np.int8),
    }
    pythons = {"T": [5, 7], "t": 5, "u": 200, "i": 5, "N": [5, -7]}
    results = []
    for captured in (numpys, pythons):
        session = Session({"xs": XS, **captured}, Options(on=on, threads=2, baseline=False, quiet=True))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IntegerOverflowWarning)
            session.run_cell(cell)
        results.append(session.namespace["r"])
    found, expected = (list(each) if not isinstance(each, int) else [each] for each in results)
    assert found == expected
    assert [type(each) for each in found] == [type(each) for each in expected]


def test_what_python_raises_is_raised() -> None:
    session = Session(
        {"xs": [1, 2**62], "T": np.array([5, 7])}, Options(on="simd", baseline=False, quiet=True)
    )
    with pytest.raises(IndexError):
        session.run_cell("r = xs |> map(lambda x: x * 4 - T[x % 5]) |> to_list")
    with pytest.raises(OverflowError, match="infinity"):
        session.run_cell("r = xs |> map(lambda x: int(x * 1e308 * 10) + T[0]) |> to_list")
