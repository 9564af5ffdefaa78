"""What Python's own functions take by name: `round(x, ndigits=1)`, `sum(t, start=x)`, `max(t, default=0)`."""

import functools
import math
import sys

import numpy as np
import pytest

from tests.compiler.battery import assert_like_python, one_loop, run

SOURCES = {
    "ints": [3, -1, 4, 1, -5, 9, 2],
    "bools": [True, False, True],
    "floats": [0.5, -2.5, 3.25, 7.05, -0.0, math.inf, 0.25, -1.35],
    "none": [],
    "narrow": np.array([0.5, -1.1, 7.0], np.float32),
    "complex": [1j, 2.5 - 1j, complex(-0.0, 3)],
}
FUNCTIONS = {
    "lambda x: round(x, ndigits=1)": "ints floats",
    "partial(round, ndigits=2)": "ints floats",
    "lambda x: pow(x, exp=2)": "ints floats bools narrow complex",
    "partial(pow, exp=3, mod=7)": "ints bools",
    "lambda x: pow(base=x, mod=None, exp=2)": "ints floats",
    "lambda x: complex(imag=x)": "ints floats bools narrow complex",
    "partial(complex, imag=-0.0)": "ints floats",
    "lambda x: sum((x, 1), start=x)": "ints floats bools narrow complex",
    "lambda x: math.prod([x, 2], start=0.5)": "ints floats bools narrow",
    "lambda x: math.prod((), start=x)": "ints floats bools narrow",
    "lambda x: max((x, 1), default=9)": "ints floats",
    "lambda x: max((), default=x)": "ints floats bools narrow",
    "lambda x: min([x, 2], key=abs, default=0)": "ints",
    "lambda x: min(x, 2, key=None)": "ints",
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_as_by_place(function, source):
    names = {"xs": SOURCES[source], "partial": functools.partial}
    found = assert_like_python(f"xs |> map({function}) |> to_list", names)
    left = sys.version_info >= (3, 14) and source == "complex" and "sum(" in function
    if source in FUNCTIONS[function].split() and not left:
        one_loop(found)


@pytest.mark.parametrize(
    "function",
    [
        "round(x, ndigits=1, digits=2)",
        "round(ndigits=1)",
        "round(x, 2, ndigits=1)",
        "pow(x, mod=3)",
        "max(x, 2, default=1)",
        "max(x, default=1)",
        "math.prod((x, 2), 3)",
        "sum(start=1)",
        "sum((x,), 1, start=2)",
        "complex(x, real=2)",
        "min((x, 1), first=2)",
        "max((), key=abs)",
    ],
)
def test_python_raises_for_other_names(function):
    found = assert_like_python(f"xs |> map(lambda x: {function}) |> to_list", {"xs": [3, -1]})
    assert isinstance(found.error, TypeError | ValueError)


def test_where_numpys_numbers_are_rounded():
    """NumPy rounds its floats to digits otherwise than Python."""
    names = {"xs": np.linspace(0, 3, 1000), "partial": functools.partial}
    for function in ("partial(round, ndigits=2)", "lambda x: round(np.sqrt(x), ndigits=2)"):
        assert_like_python(f"xs |> map(np.sqrt) |> map({function}) |> to_list", names)
    assert run("xs |> map(lambda x: round(x, ndigits=2)) |> sum", names).error is None
