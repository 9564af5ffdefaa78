"""Sums and products from a number on: `xs |> sum(10)`, `xs |> prod(start=2)`."""

import math

import numpy as np
import pytest

from tests.compiler.battery import assert_like_python, close, one_loop, python, run

SOURCES = {
    "list": [3, -1, 4, 1, -5, 9, 2],
    "bools": np.arange(9000) % 3 == 0,
    "bytes": np.arange(20000).astype(np.uint8),
    "large": np.array([2**64 - 1] * 5, np.uint64),
    "floats": np.sin(np.arange(20001.0)),
    "zeros": [-0.0, -0.0],
    "odd": [math.nan, 0.5, math.inf],
    "empty": [],
    "no floats": np.array([]),
}
FUSED = ["5", "-7", "0", "2**70", "0.5", "0.0", "math.inf", "math.nan"]
LEFT = ["-0.0", "True", "2j", "np.float64(2)", "np.int8(3)", "'a'", "None", "[]"]
"""What Python adds to the elements by rules of its own."""


@pytest.mark.parametrize("start", FUSED + LEFT)
@pytest.mark.parametrize("source", SOURCES)
def test_sums(source, start):
    names, floats = {"xs": SOURCES[source]}, source in ("floats", "zeros", "odd", "no floats")
    for stages in (
        f"sum({start})",
        f"filter(lambda x: x > 2) |> sum(start={start})",
        f"map(lambda x: x + 1) |> sum({start})",
    ):
        found = assert_like_python(f"xs |> {stages}", names, close)
        if start in FUSED and not (floats and start == "2**70"):
            one_loop(found)


@pytest.mark.parametrize("start", ["5", "0", "2**70", "0.5", "-0.0", "True"])
@pytest.mark.parametrize("source", ["list", "bools", "large", "floats", "zeros", "empty"])
def test_products(source, start):
    names = {"xs": SOURCES[source]}
    for stages in (f"prod(start={start})", f"filter(lambda x: x > 2) |> prod(start={start})"):
        found = assert_like_python(f"xs |> {stages}", names, close)
        if type(eval(start)) is int and source not in ("floats", "zeros"):
            one_loop(found)


@pytest.mark.parametrize("kind", [np.float32, np.complex64, np.complex128])
def test_numpys_numbers_are_left_to_python(kind):
    for start in ("5", "0.5"):
        found = assert_like_python(f"xs |> sum({start})", {"xs": np.array([0.1, 2.5, -1], kind)})
        assert type(found.value) is type(
            python(f"xs |> sum({start})", {"xs": np.array([0.1, 2.5, -1], kind)}).value
        )


@pytest.mark.parametrize(
    "options", [{"on": "numpy"}, {"on": "opencl"}, {"on": "numpy", "int_mode": "checked"}]
)
def test_in_every_mode(options):
    for values in SOURCES.values():
        text, names = "xs |> filter(lambda x: x > 2) |> sum(1000)", {"xs": values}
        found, expected = run(text, names, **options), python(text, names)
        if found.error is None:
            assert close(found.value, expected.value)
        else:
            assert isinstance(found.error, OverflowError)
            assert expected.value > 2**63


def test_where_python_evaluates_blocks():
    for start in ("7", "2**66"):
        assert_like_python(f"xs |> map(lambda x: x * 2**62) |> sum({start})", {"xs": list(range(9000))})
        assert_like_python(
            f"xs |> map(lambda x: x * 2**62 if x % 3 else 0) |> prod(start={start})", {"xs": [1, 2, 4]}
        )
    found = assert_like_python("xs |> map(lambda x: 10 / x) |> sum(0.5)", {"xs": [1, 2, 0]})
    assert isinstance(found.error, ZeroDivisionError)
