"""Interval arithmetic: what the operator table's own soundness tests do not reach."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hastega_magic import interval
from hastega_magic.interval import BIT, INT64, TOP, Interval, point

bounds = st.none() | st.integers(-20, 20)
intervals = st.tuples(bounds, bounds).map(
    lambda ends: Interval(*ends) if None in ends or ends[0] <= ends[1] else Interval(ends[1], ends[0])
)
small = st.integers(-6, 6)


def members(found, reach=25):
    return [value for value in range(-reach, reach + 1) if value in found]


@given(a=intervals, b=intervals)
def test_join_and_meet(a, b):
    both = set(members(a)) & set(members(b))
    assert set(members(a)) | set(members(b)) <= set(members(a.join(b)))
    assert not both or set(members(a.meet(b))) == both
    assert not a.within(b) or set(members(a)) <= set(members(b))
    assert a.within(a)
    assert a.within(a.join(b))
    assert a.within(TOP)


@given(a=intervals, b=intervals)
def test_less_is_known_where_all_members_agree(a, b):
    answers = {x < y for x in members(a) for y in members(b)}
    assert interval.less(a, b) is (answers.pop() if len(answers) == 1 else None)


def test_an_empty_meet_is_the_other():
    assert Interval(0, 1).meet(Interval(5, 6)) == Interval(5, 6)


@given(ends=st.tuples(small, small).map(sorted), exponent=st.integers(0, 4))
def test_squares_and_powers_are_exact_at_their_ends(ends, exponent):
    found = interval.power(Interval(*ends), exponent)
    values = [value**exponent for value in range(ends[0], ends[1] + 1)]
    assert min(values) in found
    assert max(values) == found.hi
    squares = [value * value for value in range(ends[0], ends[1] + 1)]
    assert interval.square(Interval(*ends)) == Interval(min(squares), max(squares))


@pytest.mark.parametrize(
    ("function", "python"),
    [
        (interval.add, lambda a, b: a + b),
        (interval.sub, lambda a, b: a - b),
        (interval.mul, lambda a, b: a * b),
        (interval.minimum, min),
        (interval.maximum, max),
        (interval.floordiv, lambda a, b: a // b),
    ],
)
@given(a=st.tuples(small, small).map(sorted), b=st.tuples(small, small).map(sorted))
def test_bounded_arithmetic_is_tight(function, python, a, b):
    divisors = [y for y in range(b[0], b[1] + 1) if y or function is not interval.floordiv]
    values = [python(x, y) for x in range(a[0], a[1] + 1) for y in divisors]
    if values:
        assert function(Interval(*a), Interval(*b)) == Interval(min(values), max(values))


@given(a=st.integers(0, 1000), b=st.integers(1, 1000), x=st.integers(0, 1000))
def test_mod_of_what_is_smaller_already(a, b, x):
    found = interval.mod(Interval(0, a), Interval(b, b))
    assert found.hi == min(a, b - 1)
    assert x > a or x % b in found


def test_shifts_of_huge_ranges_keep_their_reach():
    huge = Interval(0, 1 << 300)
    assert (1 << 100) in interval.shift_right(huge, point(200))
    assert interval.shift_right(huge, Interval(0, None)) == Interval(0, 1 << 300)
    assert interval.shift_right(Interval(-5, 5), Interval(3, None)) == Interval(-1, 0)


def test_facts_about_constants():
    assert INT64.fits_int64
    assert not TOP.fits_int64
    assert BIT.within(INT64)
    assert INT64.magnitude == 1 << 63
    assert point(-3).at_most(3)
    assert not TOP.at_most(1 << 200)
    assert str(Interval(None, 3)) == "[-∞, 3]"
    assert str(Interval(-1, None)) == "[-1, ∞]"
