"""Numbers that literal texts are read as, which are constants: `float("inf")`."""

import math

import numpy as np
import pytest

from tests.compiler.battery import assert_interpreted, assert_like_python, one_loop, run

SOURCES = {
    "ints": [3, -1, 4, 1, -5, 9, 2],
    "floats": [0.5, -2.5, 3.25, -0.0, math.inf, math.nan],
    "array": np.arange(7) * 0.5,
    "none": [],
}
FUNCTIONS = [
    'lambda x: min(x, float("inf"))',
    'lambda x: max(x, -float("Infinity"))',
    'lambda x: x if x < 2 else float("nan")',
    'lambda x: x * float(" 1e3\\n") + int("7_0")',
    'lambda x: x + int("ff", 16)',
    'lambda x: x + complex("1+2j")',
]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_texts_are_constants(function, source):
    found = assert_like_python(f"xs |> map({function}) |> to_list", {"xs": SOURCES[source]})
    one_loop(found)
    if source == "ints":
        assert_interpreted(found)


def test_a_search_begins_with_infinity():
    text = (
        "def nearest(x):\n    best = float('inf')\n    for i in range(9):\n"
        "        if abs(x - i * i) < best: best = abs(x - i * i)\n    return best\nxs |> map(nearest) |> to_list"
    )
    one_loop(assert_like_python(text, {"xs": SOURCES["floats"]}))


@pytest.mark.parametrize(
    "read", ['float("a")', 'int("1.5")', 'int("1", 1)', 'float("1", 2)', 'complex("1", 2)']
)
def test_other_texts_raise_as_in_python(read):
    found = assert_like_python(f"xs |> map(lambda x: x + {read})", {"xs": [3, -1]})
    assert isinstance(found.error, ValueError | TypeError)


def test_another_function_of_the_name():
    text = "def float(text): return len(text)\nxs |> map(lambda x: x + float('inf')) |> to_list"
    assert run(text, {"xs": [1, 2]}).value == [4, 5]
