"""Lists of numbers made by native code: the very objects of `tolist` and `list`, and freed like them."""

import gc
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hastega_magic.runtime.objects import boxes, lists
from hastega_magic.runtime.objects.boxes import listed

LONG = lists.WORTH
INTS = st.integers(-(2**63), 2**63 - 1) | st.integers(-10, 300) | st.integers(-(2**31), 2**31)
DTYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]

pytestmark = pytest.mark.skipif(lists.layout() is None, reason="this Python's layout of ints is not known")


def repeated(values, dtype):
    return np.resize(np.array(values, dtype), LONG)


@pytest.mark.parametrize("dtype", DTYPES)
def test_it_is_native_for(dtype):
    assert boxes._maker(np.dtype(dtype), True) is not None
    assert (boxes._maker(np.dtype(dtype), False) is not None) == (dtype in ("int64", "float64"))


@given(st.lists(INTS, min_size=1, max_size=30))
def test_ints(values):
    array = repeated(values, "int64")
    found = listed(array)
    assert found == array.tolist()
    assert {type(each) for each in found} == {int}
    assert all(each + 1 == value + 1 for each, value in zip(found, array.tolist(), strict=True))


@given(st.lists(st.floats(), min_size=1, max_size=30))
def test_floats(values):
    array = repeated(values, "float64")
    assert list(map(repr, listed(array))) == list(map(repr, array.tolist()))


@pytest.mark.parametrize("dtype", [*DTYPES, "bool", ">i4"])
def test_numpys_scalars(dtype):
    array = np.resize(np.array([0, 1, 2, 100, 101], dtype), LONG)
    found = listed(array, scalars=True)
    assert list(map(repr, found)) == list(map(repr, list(array)))
    assert [type(each) for each in found[:5]] == [type(each) for each in array[:5]]


def test_what_is_short_strided_or_structured():
    for array in (np.arange(5), np.arange(3 * LONG)[::3], np.zeros(LONG, "i8,f8")):
        assert listed(array) == array.tolist()


def test_objects_are_freed():
    array = np.arange(10_000, 10_000 + LONG)
    gc.collect()  # what other tests have left holds sevens too
    small = sys.getrefcount(7)
    for scalars in (False, True):
        listed(array, scalars)
        gc.collect()
        before = sys.getallocatedblocks()
        for _ in range(20):
            listed(array, scalars)
            listed(np.full(LONG, 7), scalars)
        assert sys.getallocatedblocks() - before < LONG
    assert abs(sys.getrefcount(7) - small) < LONG


def test_pieces(monkeypatch):
    monkeypatch.setattr(boxes, "PIECE", 1000)
    array = np.arange(-5000, 5001) * 12345678901
    assert listed(array) == array.tolist()


def test_kept_memory_has_a_limit_and_is_let_go_of(monkeypatch):
    monkeypatch.setattr(boxes, "KEPT", 3)
    boxes.forget()
    listed(np.arange(1_000_000))
    assert len(boxes._kept) == 3
    other = listed(np.arange(10**6, 2 * 10**6))  # the last result counts
    assert len(boxes._kept) == 3
    assert set(boxes._kept) <= {id(each) >> boxes._HALF for each in other}
    boxes.forget()
    assert not boxes._kept
