"""Steps beyond 64 bits leave one element, which is as small as it is."""

import warnings

import pytest

from hastega_magic.session import Options, Session


@pytest.mark.parametrize("on", ["simd", "numpy", "opencl"])
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("range(6) |> step(10**30) |> to_list", [0]),
        ("range(9) |> reverse |> step(10**30) |> map(lambda x: x + 1) |> to_list", [9]),
        ("range(6) |> drop(1) |> step(10**30) |> enumerate |> map(lambda n, x: n + x) |> to_list", [1]),
        ("range(5, 6, 2**70) |> map(lambda x: x + 1) |> to_list", [6]),
        ("range(2**63 - 1, 2**63, 2**70) |> map(lambda x: x - 1) |> to_list", [2**63 - 2]),
    ],
)
def test_nothing_is_said_of_64_bits(text, value, on):
    pytest.importorskip("pyopencl")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Session({}, Options(on=on, baseline=False, quiet=True)).run_cell(text).value == value


def test_steps_that_change_from_turn_to_turn():
    text = """
found = []
for k in [1, 10**30, 2, 10**30, 10**30, 3]:
    found.append((range(6) |> step(k) |> map(lambda x: x + 1) |> sum, range(0, 6, k) |> map(lambda x: x + 1) |> sum))
found
"""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = Session({}, Options(on="simd", baseline=False, quiet=True)).run_cell(text).value
    assert found == [(21, 21), (1, 1), (9, 9), (1, 1), (1, 1), (5, 5)]
