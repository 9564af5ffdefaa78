"""NumPy warns of a constant that float32 does not hold, wherever a float32 meets it."""

import warnings

import numpy as np
import pytest

from hastega_magic.decorator import hastega

FUNCTIONS = [
    lambda xs: [x < 1e39 for x in xs],
    lambda xs: [x for x in xs if x != 2**128],
    lambda xs: sum(1 for x in xs if x > -1e300),
    lambda xs: [x / 1e39 for x in xs],
    lambda xs: any(x < -1e39 for x in xs),
]
HELD = [
    lambda xs: [x < 1e400 for x in xs],
    lambda xs: [x for x in xs if x < 2**127],
    lambda xs: [x * 3.4028235e38 > 0 for x in xs if x < 1],
]


def outcome(function, xs):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        value = function(xs)
    return repr(value), {str(each.message) for each in caught}


@pytest.mark.parametrize("function", [*FUNCTIONS, *HELD])
def test_it_is_said_each_time(function):
    xs, compiled = np.arange(1000, dtype=np.float32), hastega(function)
    expected = outcome(function, xs)
    assert bool(expected[1]) is (function in FUNCTIONS)
    for _ in range(3):
        assert outcome(compiled, xs) == expected
