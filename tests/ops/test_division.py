"""Integer and float division as lowered, against Python: corner values in full, others by hypothesis."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hastega_magic.interval import INT64, INT64_MAX, INT64_MIN, Interval, point
from hastega_magic.ir.expr import const, leaf, postorder
from hastega_magic.ir.interpreter import evaluate
from hastega_magic.ops import OPS
from hastega_magic.types import FLOAT, INT

X, Y = leaf("load", INT, 0), leaf("load", INT, 1)
CORNERS = [
    INT64_MIN, INT64_MIN + 1, INT64_MIN // 2, -(2**53) - 1, -(2**53), -(2**53) + 1, -(2**32), -7, -3, -2,
    -1, 0, 1, 2, 3, 7, 61, 6700417, 2**31 - 1, 2**52 + 1, 2**53 - 1, 2**53, 2**53 + 1, 2**62,
    INT64_MAX - 1, INT64_MAX,
]  # fmt: skip
DIVISORS = [1, 2, 3, 4, 5, 7, 10, 61, 1000, 6700417, 2**26 + 1, 2**31 - 1, 2**52 - 1, 2**53 - 1]


@pytest.fixture(
    params=[(False, False), (True, False), (True, True)],
    ids=["divides", "estimates", "serial"],
    scope="session",
)
def divide(builder_class, request):
    """Quotient and remainder by the rows' expansions, for operands known to lie in intervals.

    On machines that estimate reciprocals, and on others; and where one element waits for the one before.
    """
    made = {}

    def run(x, y, x_range, y_range):
        divisor = const(y) if y_range.lo == y_range.hi else Y
        key = divisor, x_range, y_range
        if key not in made:
            builder = builder_class({X: x_range, Y: y_range}, *request.param)
            made[key] = [OPS[name].expand(builder, (X, divisor)) for name in ("floordiv", "mod")]
        roots = made[key]
        found = evaluate(roots, lambda node: (x, y)[node.value])
        return found[roots[0]], found[roots[1]]

    return run


def expected(x, y):
    quotient, remainder = x // y, x % y
    return (quotient if quotient in INT64 else INT64_MIN), remainder


@pytest.mark.parametrize("x", CORNERS)
def test_corner_values_over_the_whole_range(divide, x):
    for y in CORNERS:
        found = divide(x, y, INT64, INT64)
        if y:
            assert found == expected(x, y), (x, y)


@pytest.mark.parametrize("y", [y for y in CORNERS if y])
def test_corner_values_by_constants(divide, y):
    for x in CORNERS:
        assert divide(x, y, INT64, point(y)) == expected(x, y), (x, y)


@pytest.mark.parametrize("y", DIVISORS)
def test_constants_below_two_to_the_53(divide, y):
    limit = 2**53 - 1
    around = [limit, limit - 1, limit // 2, 0, 1]
    around += [k * y + d for k in (limit // y, limit // (2 * y), 1, 0) for d in (-1, 0, 1)]
    for x in {value for each in around for value in (each, -each) if abs(value) <= limit}:
        assert divide(x, y, Interval(-limit, limit), point(y)) == (x // y, x % y), x
        assert divide(x, -y, Interval(-limit, limit), point(-y)) == (x // -y, x % -y), x


def sized(bits):
    """Integers of at most so many bits, of all magnitudes alike."""
    return st.integers(0, bits).flatmap(lambda most: st.integers(-(1 << most) + 1, (1 << most) - 1))


@given(x=sized(53), y=sized(53), signed=st.booleans(), bits=st.sampled_from([53, 40]))
def test_small_variable_divisors(divide, x, y, signed, bits):
    x >>= 53 - bits
    most = (1 << bits) - 1
    low = 1 - 2**53 if signed or y < 0 else 0
    found = divide(x, y, Interval(-most, most), Interval(low, 2**53 - 1))  # must not trap where y is zero
    assert not y or found == (x // y, x % y)


@given(
    k=sized(53), y=st.integers(0, 53).flatmap(lambda bits: st.integers(1, 1 << bits)), d=st.integers(-1, 1)
)
def test_small_divisors_around_multiples(divide, k, y, d):
    most = 2**53 - 1
    x, y = min(max(k // y * y + d, -most), most), min(y, most)
    for divisor in (y, -y):
        assert divide(x, divisor, Interval(-most, most), Interval(-most, most)) == (x // divisor, x % divisor)


@given(
    x=st.integers(INT64_MIN, INT64_MAX),
    y=st.integers(INT64_MIN, INT64_MAX).filter(bool),
    shift=st.integers(0, 62),
)
def test_wide_division(divide, x, y, shift):
    y = y >> shift or 1
    assert divide(x, y, INT64, INT64) == expected(x, y)


@given(
    k=st.integers(-(2**62), 2**62),
    y=st.integers(1, 2**40),
    d=st.integers(-1, 1),
    sign=st.sampled_from([1, -1]),
)
def test_wide_division_around_multiples(divide, k, y, d, sign):
    x = k // y * y + d
    assert divide(x, sign * y, INT64, INT64) == expected(x, sign * y)


def test_a_small_range_needs_no_wide_arithmetic(builder_class):
    small = OPS["mod"].expand(builder_class({X: Interval(0, 2**40)}), (X, const(6700417)))
    names = {node.op for node in postorder([small])}
    assert "wrapping_mul" not in names
    assert "fdiv" not in names
    wide = {
        node.op for node in postorder([OPS["mod"].expand(builder_class({X: INT64}), (X, const(6700417)))])
    }
    assert "wrapping_mul" in wide


FLOATS = [
    0.0, 5e-324, 2.2250738585072014e-308, 1e-300, 0.1, 0.3, 0.5, 1.0, 1.5, 3.0, 7.0, 10.0, 1e9 + 0.1,
    2.0**52 + 1, 2.0**53 - 1, 1e16, 1e308, math.inf, math.nan,
]  # fmt: skip


@pytest.mark.parametrize("name", ["mod", "floordiv"])
def test_floats_in_full(name, builder_class, same):
    row = OPS[name]
    nodes = (leaf("load", FLOAT, 0), leaf("load", FLOAT, 1))
    value, trouble = row.expand(builder_class(), nodes), row.trouble(builder_class(), nodes)
    signed = [sign * each for each in FLOATS for sign in (1, -1)]
    compared = 0
    for pair in itertools.product(signed, repeat=2):
        found = evaluate([trouble], lambda node, pair=pair: pair[node.value])[trouble]
        if found:
            continue
        compared += 1
        result = evaluate([value], lambda node, pair=pair: pair[node.value])[value]
        assert same(result, row.python(*pair)), pair
    assert compared > 500
