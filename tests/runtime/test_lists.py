"""Lists and tuples read by native code: every layout of ints, every refusal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hastega_magic.runtime.objects import lists

INTS = st.integers(-(2**63), 2**63 - 1)


def read(data, kind, dtype):
    out = np.zeros(len(data), dtype)
    return out.tolist() if lists.read(data, kind, out) else None


pytestmark = pytest.mark.skipif(lists.reader(int) is None, reason="this Python's layout of ints is not known")


@given(st.lists(INTS | st.integers(-5, 300) | st.integers(-(2**31), 2**31)))
def test_ints(values):
    assert read(values, int, "int64") == values
    assert read(tuple(values), int, "int64") == values


@given(st.lists(st.floats(allow_nan=False)))
def test_floats(values):
    found = read(values, float, "float64")
    assert list(map(repr, found)) == list(map(repr, values))


def test_bools_and_limits():
    assert read([True, False] * 9, bool, "bool") == [True, False] * 9
    edges = [
        sign * (2**bits + off) for bits in (29, 30, 59, 60, 62) for off in (-1, 0, 1) for sign in (1, -1)
    ]
    edges += [2**63 - 1, -(2**63), -(2**63) + 1]
    assert read(edges, int, "int64") == edges


class Own(int):
    pass


@pytest.mark.parametrize("odd", [2**63, -(2**63) - 1, 2**64, 2**90, -(2**90), True, 1.0, "a", None, Own(3)])
def test_what_does_not_fit_is_refused(odd):
    assert read([1, 2, odd, 3], int, "int64") is None
    assert read([1, 2, odd], int, "int64") is None


def test_types_alone():
    assert lists.read([1, 2, 2**70], int, None)
    assert not lists.read([1, 2, 1.5], int, None)
    assert not lists.read([1, True], int, None)
    assert not lists.read([1], complex, None)


def test_pieces():
    values = list(range(-5000, 5000))
    out = np.zeros(len(values), np.int64)
    assert lists.read(values, int, out, piece=777)
    assert out.tolist() == values
    assert not lists.read([*values, "x"], int, np.zeros(10001, np.int64), piece=777)


@pytest.mark.parametrize("piece", [1, 7, 5000, 1 << 20])
@pytest.mark.parametrize("other", [0, 1, 6, 7, 2500, 4999])
def test_how_many_are_of_the_type_of_the_first(other, piece):
    values = [2**70, *range(4999)]
    assert lists.alike(values, piece) == 5000
    values[other] = 0.5
    assert lists.alike(values, piece) == (other or 1)
    assert lists.alike(tuple(values), piece) == (other or 1)


def test_of_other_types_it_cannot_be_told():
    assert lists.alike(["a", "a"]) == 0
