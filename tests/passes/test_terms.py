"""`reduce` by functions that combine the value so far with a term of the element alone."""

from __future__ import annotations

import functools
import itertools
import warnings

import numpy as np
import pytest
from battery import some
from outcomes import value_on

from hastega_magic.compiler.options import Options
from hastega_magic.errors import IntegerOverflowWarning
from hastega_magic.session import Session

RNG = np.random.default_rng(7)
WIDE = RNG.integers(-(2**63), 2**63 - 1, 5_003)
WIDE[:5] = (2**63 - 1, -(2**63), 0, -1, 1)
NAMES = {"xs": WIDE, "sm": RNG.integers(-(2**17), 2**17, 5_003)}


def python_value(cell: str) -> object:
    return value_on(cell, "python", NAMES)


REDUCTIONS = (
    ("lambda a, x: a + x * 2", "0"),
    ("lambda a, x: x * x + a", "7"),
    ("lambda a, x: a - x * 3", "2**70"),
    ("lambda a, x: a ^ (x >> 3)", "5"),
    ("lambda a, x: a & (x | 7)", "-1"),
    ("lambda a, x: a | x % 8", "0"),
    ("lambda a, x: a * (2 - x % 2)", "3"),
    ("lambda a, x: max(a, x * 4)", "-(2**70)"),
    ("lambda a, x: min(x * x, a)", "2**127"),
    ("lambda a, x: a if a >= x * 4 else x * 4", "3"),
    ("lambda a, x: x * 4 if x * 4 < a else a", "3"),
)


@pytest.mark.parametrize(("function", "init"), REDUCTIONS)
def test_a_reduction_of_terms(function, init):
    cell = f"xs |> filter(lambda x: x % 100 == 1) |> reduce({function}, {init})"
    with warnings.catch_warnings():
        warnings.simplefilter("error", IntegerOverflowWarning)
        assert value_on(cell, "simd", NAMES) == python_value(cell)


@pytest.mark.parametrize(
    ("function", "on"),
    some(
        itertools.product([each for each, _ in REDUCTIONS], ["simd", "parallel", "numpy", "opencl"]), every=2
    ),
)
def test_a_reduction_of_terms_from_the_second_element_on(function, on):
    if on == "opencl":
        pytest.importorskip("pyopencl")
    for cell in (
        f"xs |> take(40) |> reduce({function})",
        f"sm |> reverse |> map(lambda x: x // 3) |> reduce({function})",
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore" if on == "numpy" else "error", IntegerOverflowWarning)
            found, wanted = value_on(cell, on, NAMES), python_value(cell)
        assert found == wanted
        assert type(found) is type(wanted)


@pytest.mark.parametrize("on", ["simd", "numpy"])
@pytest.mark.parametrize("size", [0, 1, 2])
def test_a_reduction_of_few_terms(size, on):
    names: dict[str, object] = {"xs": np.array([3, 9][:size], np.int64)}
    for call in ("a - 12 // (x - 3), 5", "max(a, 12 // (x - 3)), -9"):
        if not size:
            assert value_on(f"xs |> reduce(lambda a, x: {call})", on, names) == int(call.split(", ")[-1])
            continue
        with pytest.raises(ZeroDivisionError):
            value_on(f"xs |> reduce(lambda a, x: {call})", on, names)
    cell = "xs |> reduce(lambda a, x: a - 12 // (x - 3))"  # of which the first element is no term
    if size:
        assert value_on(cell, on, names) == [3, 1][size - 1]
    else:
        with pytest.raises(TypeError, match="empty"):
            value_on(cell, on, names)


@pytest.mark.parametrize("init", [", 2**80", ""])
@pytest.mark.parametrize(
    "function",
    [
        "lambda a, x: max(a, x ** 5)",
        "lambda a, x: x ** 3 if x ** 3 < a else a",
        "lambda a, x: min(a, x << 2000)",
        "lambda a, x: a - x ** 7",
    ],
)
def test_a_reduction_of_terms_beyond_128_bits(function, init):
    cell = f"xs |> reduce({function}{init})"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IntegerOverflowWarning)
        for on in ("simd", "numpy"):
            assert value_on(cell, on, NAMES) == python_value(cell)


@pytest.mark.parametrize("mode", ["exact", "checked", "wrap"])
@pytest.mark.parametrize("function", [function for function, _ in REDUCTIONS])
def test_numpy_combines_terms_with_the_start_once(function, mode):
    cell = f"t = sm |> reduce({function}, 12)"
    session = Session(dict(NAMES), Options(on="numpy", int_mode=mode, baseline=False, quiet=True))
    session.run_cell(cell)
    wanted = functools.reduce(eval(function), NAMES["sm"].tolist(), 12)
    if mode == "wrap":
        wanted = (wanted + 2**63) % 2**64 - 2**63
    assert session.namespace["t"] == wanted


@pytest.mark.parametrize("function", ["lambda a, x: a + x ** 9", "lambda a, x: a - 10 // (x % 50 - 3)"])
def test_a_reduction_of_terms_that_python_has_to_help_with(function):
    cell = f"xs |> reduce({function}, 1)"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IntegerOverflowWarning)
        if "//" not in function:
            assert value_on(cell, "simd", NAMES) == python_value(cell)
            return
        with pytest.raises(ZeroDivisionError):
            value_on(cell, "simd", NAMES)
