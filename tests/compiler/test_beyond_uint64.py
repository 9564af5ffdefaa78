"""`astype("uint64")` of numbers that it does not hold raises OverflowError on every back end, whatever comes behind."""

import numpy as np
import pytest
from battery import run

SOURCES = [
    ("[1e300, 3.0]", int(1e300)), ("[2e19]", 20_000_000_000_000_000_000),
    ("np.array([2**63], 'uint64') |> map(lambda x: x * 2)", 2**64), ("[5, -1]", -1),
]  # fmt: skip


@pytest.mark.parametrize("on", ["python", "numpy", "simd", "opencl"])
@pytest.mark.parametrize("sink", ["", " |> sum", " |> max", " |> to_list"])
@pytest.mark.parametrize(("source", "number"), SOURCES)
def test_it_raises(source, number, sink, on):
    if on == "opencl":
        pytest.importorskip("pyopencl")
    error = run(f"out = {source} |> astype('uint64'){sink}", on=on).error
    assert type(error) is OverflowError
    assert str(error) == f"Python integer {number} out of bounds for uint64"


def test_what_it_holds_is_given():
    made = run("out = [0.0, 1.8e19, 9.5e18] |> astype('uint64')", on="simd").namespace["out"]
    assert made.dtype == np.uint64
    assert made.tolist() == [0, 18_000_000_000_000_000_000, 9_500_000_000_000_000_000]
