"""Powers of a half: `np.power` takes roots, of -0.0 and -inf too, and all others are IEEE's powers."""

from __future__ import annotations

import itertools
import math
import operator
from typing import Any

import numpy as np
import pytest
from battery import some

from hastega_magic.session import Options, Session

VALUES = [-0.0, 0.0, -math.inf, math.inf, math.nan, 4.0, 0.25, 1.0, -1.0]
"""Of which one after the other is an element."""

POWERS = (
    "np.power(x, .5)", "np.power(x, half)", "np.power(x, np.float64(.5))", "np.float_power(x, .5)", "x ** .5",
    "np.float_power(x, half)", "math.pow(x, .5)", "math.sqrt(x)", "np.sqrt(x)", "pow(x, half)", "np.power(x, -.5)",
    "operator.pow(x, .5)", "np.power(x, -0.5 + (x == x))", "np.float_power(x, -0.5 + (x == x))",
)  # fmt: skip


def same(found: Any, expected: Any) -> bool:
    if isinstance(found, complex) or isinstance(expected, complex):
        return bool(found == expected)
    if found != found or expected != expected:
        return bool(found != found and expected != expected)
    return found == expected and math.copysign(1.0, found) == math.copysign(1.0, expected)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
@pytest.mark.parametrize(
    ("on", "dtype", "power"),
    some(itertools.product(["simd", "opencl", "numpy"], [None, "float64", "float32"], POWERS), every=2),
)
def test_they_are_numpys_and_pythons(on: str, dtype: str | None, power: str) -> None:
    names: dict[str, Any] = {"np": np, "math": math, "operator": operator, "half": 0.5}
    function = eval(f"lambda x: {power}", names)
    for value in VALUES:
        expected, raised = None, ()
        try:
            expected = function(np.float32(value) if dtype == "float32" else value)
        except (ValueError, ZeroDivisionError, OverflowError) as error:
            raised = type(error)
        xs = [value] * 9 if dtype is None else np.full(9, value, dtype)
        session = Session({**names, "xs": xs}, Options(on=on, baseline=False, quiet=True))
        if raised:
            with pytest.raises(raised):
                session.run_cell(f"out = xs |> map(lambda x: {power}) |> to_list")
            continue
        session.run_cell(f"out = xs |> map(lambda x: {power}) |> to_list")
        assert all(same(each, expected) for each in session.namespace["out"]), (value, expected)
