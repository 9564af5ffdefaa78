"""Methods of short parts of arrays in cells: every back end and the interpreter give NumPy's bits."""

import numpy as np
import pytest
from battery import assert_interpreted, assert_like_python, one_loop

RANDOM = np.random.default_rng(3)
NAMES = {
    "a": RANDOM.standard_normal(400) * 10.0 ** RANDOM.integers(-6, 7, 400),
    "k": RANDOM.integers(-99, 99, 400),
    "m": RANDOM.standard_normal((300, 12)),
}


@pytest.mark.parametrize("on", ["parallel", "opencl"])
@pytest.mark.parametrize(
    "text",
    [
        "range(390) |> map(lambda i: a[i:i + 3].sum())",
        "range(390) |> map(lambda i: a[i:i + 11].mean() - a[i])",
        "range(390) |> map(lambda i: a[i:i + 11].std(ddof=1))",
        "range(390) |> map(lambda i: k[i:i + 9].var())",
        "range(390) |> map(lambda i: (a[i:i + 4].max(), k[i:i + 4].min()))",
        "range(390) |> filter(lambda i: k[i] == k[i:i + 5].max()) |> count",
        "range(300) |> map(lambda i: m[i].mean())",
        "range(300) |> map(lambda i: m[i].max() - m[i].min()) |> max",
    ],
)
def test_bits_are_numpys(text: str, on: str) -> None:
    if on == "opencl":
        pytest.importorskip("pyopencl")
    ran = assert_like_python(text, NAMES, on=on)
    one_loop(ran)
    assert_interpreted(ran)


def test_where_a_part_is_cut_off_the_element_is_pythons() -> None:
    assert_like_python("range(400) |> map(lambda i: a[i:i + 5].sum())", NAMES)
