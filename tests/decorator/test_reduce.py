"""What `reduce` begins with decides by whose rules its first step computes, and the type of what it gives."""

import warnings
from functools import reduce

import numpy as np
import pytest

from hastega_magic.decorator import hastega


def total(xs, begun):
    return reduce(lambda so_far, x: so_far + x, xs, begun)


def of_elements(xs, begun):
    return reduce(lambda so_far, x: so_far * 2 % 101 + x, (x + 1 for x in xs if x % 3), begun)


def of_pairs(xs, begun):
    return reduce(lambda so_far, x: (so_far[0] + x, so_far[1]), xs, (begun, 3))


def outcome(function, *arguments):
    """Its value and their types, or its error, and what it warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = function(*arguments)
        except OverflowError as error:
            value = error
    types = [type(each) for each in value] if isinstance(value, tuple) else type(value)
    return repr(value), types, [str(each.message) for each in caught]


@pytest.mark.parametrize("function", [total, of_elements, of_pairs])
@pytest.mark.parametrize(
    "xs", [list(range(600)), [x * 0.5 for x in range(600)], range(600)], ids=["ints", "floats", "range"]
)
def test_numbers_of_numpys_are_by_numpys_rules(function, xs):
    compiled = hastega(function)
    kinds = (
        int,
        np.int8,
        np.uint8,
        np.int32,
        float,
        np.int64,
        np.float32,
        np.float64,
        np.bool_,
        int,
        np.float64,
    )
    for kind in kinds:
        assert outcome(compiled, xs, kind(1)) == outcome(function, xs, kind(1)), kind
