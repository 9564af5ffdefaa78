"""Rows over columns of numbers have the bits that their own functions give for each."""

import itertools
import math
import struct

import numpy as np
import pytest
from battery import some
from hypothesis import example, given
from hypothesis import strategies as st

from hastega_magic.errors import NotCompilable
from hastega_magic.ops import OPS
from hastega_magic.ops.functions.columns import over_columns
from hastega_magic.types import FLOAT, FLOAT32

ROWS = [name for name, row in OPS.items() if "approximate" in row.traits and row.expand is not None]
EDGES = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    2.0,
    5e-324,
    1e-310,
    1e308,
    -1e300,
    2.0**53,
    2.0**41,
    math.inf,
    -math.inf,
    math.nan,
]
PYTHON_RAISES = (ValueError, OverflowError, ZeroDivisionError)
RANDOM = np.random.default_rng(8)
NUMBERS = [
    *EDGES,
    *RANDOM.uniform(-30, 30, 20).tolist(),
    *RANDOM.uniform(-1, 1, 10).tolist(),
    *RANDOM.integers(-(2**63), 2**63, 20).view(np.float64).tolist(),
]


def bits(value):
    """The type of a number and its bits; all NaNs are one."""
    parts = (value.real, value.imag) if isinstance(value, complex) else (float(value),)
    return type(value), [b"NaN" if math.isnan(part) else struct.pack("d", part) for part in parts]


@pytest.mark.parametrize(("name", "type_"), some(itertools.product(ROWS, [FLOAT, FLOAT32]), every=2))
def test_as_one_by_one(name, type_):
    row = OPS[name]
    try:
        operands = row.signature((type_,) * row.arity).operands
    except NotCompilable:
        return
    made = np.float32 if operands[0] is FLOAT32 else float
    expected, kept = [], []
    with np.errstate(all="ignore"):
        for place, number in enumerate(NUMBERS):
            numbers = made(number), *[made(NUMBERS[place * 7 % len(NUMBERS)])] * (row.arity - 1)
            try:
                expected.append(row.python(*numbers))
                kept.append(numbers)
            except PYTHON_RAISES:
                with pytest.raises(PYTHON_RAISES):
                    over_columns(row, operands, [[each] for each in numbers])
    found = over_columns(row, operands, list(zip(*kept, strict=True)))
    assert list(map(bits, found)) == list(map(bits, expected))


@given(a=st.floats(), b=st.floats(), c=st.floats(), near=st.integers(-3, 3), cancels=st.booleans())
@example(a=1.0 + 2.0**-52, b=1.0 - 2.0**-53, c=-1.0, near=0, cancels=False)
@example(a=1e200, b=1e200, c=-1e308, near=0, cancels=False)
@example(a=1e-200, b=1e-200, c=5e-324, near=0, cancels=False)
@example(a=3.0, b=2.0**-1074, c=1.0, near=0, cancels=False)
@example(a=0.0, b=-1.0, c=0.0, near=0, cancels=False)
def test_multiplications_and_additions_are_rounded_once(a, b, c, near, cancels):
    if cancels and math.isfinite(a * b):
        c = -a * b * (1 + near * 2.0**-52)
    fma = OPS["fma"]
    with np.errstate(all="ignore"):
        (found,) = fma.numpy(np.array([a]), np.array([b]), np.array([c])).tolist()
        assert bits(found) == bits(float(fma.python(a, b, c)))
