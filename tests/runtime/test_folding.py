"""Totals of partial results, in native code and without: Python's integers, and the bits of the fixed tree."""

from __future__ import annotations

import ctypes
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from hastega_magic.ir.reduction import tree_sum
from hastega_magic.runtime import cpu
from hastega_magic.runtime.cpu import folding
from hastega_magic.runtime.cpu.folding import Totals

BLOCKS = st.integers(1, 700)
HALVES = st.integers(-(2**43), 2**43)
"""As the sum of 4096 words of 32 bits may be."""


pytestmark = pytest.mark.skipif(
    cpu.host().vector_bits < 256, reason="NumPy adds where vectors are not loaded in part"
)


@pytest.fixture(scope="module", autouse=True)
def native():
    folding.native.made = folding.native._make()


def totals(*arrays):
    found = Totals(arrays)
    found.prepare()
    assert found.code
    return found.get(made=False)


def bits(number):
    return struct.pack("d", number)


@given(arrays.arrays(np.int64, st.tuples(BLOCKS, st.just(1))))
def test_integers_of_any_size_are_added_exactly(array):
    assert totals(array) == [sum(array[:, 0].tolist())]


@given(arrays.arrays(np.int64, st.tuples(BLOCKS, st.just(2)), elements=HALVES))
def test_halves_are_added_exactly(array):
    high, low = (sum(column) for column in zip(*array.tolist(), strict=True))
    assert totals(array) == [(high << 32) + low]


@pytest.mark.parametrize("blocks", [1, 7, 8, 9, 2442, 1 << 18])
@pytest.mark.parametrize("value", [2**63 - 1, -(2**63), -1, 0])
def test_the_largest_are_added_exactly(blocks, value):
    assert totals(np.full((blocks, 1), value)) == [blocks * value]
    largest = min(max(value, -(2**43)), 2**44 - 4096)
    assert totals(np.full((blocks, 2), largest)) == [blocks * largest * (2**32 + 1)]


@given(arrays.arrays(np.float64, st.tuples(BLOCKS, st.just(1))))
def test_floats_are_added_in_the_fixed_tree(array):
    with np.errstate(all="ignore"):
        expected = float(tree_sum(array[:, 0]))
    (found,) = totals(array)
    assert bits(found) == bits(expected) or (found != found and expected != expected)


@pytest.mark.parametrize("blocks", [1, 63, 64, 2442])
def test_a_sum_of_negative_zeros_is_zero(blocks):
    assert bits(totals(np.full((blocks, 1), -0.0))[0]) == bits(0.0)


def test_several_are_folded_at_once():
    floats, counts, halves = np.ones((20, 1)) / 3, np.full((20, 1), 4096), np.ones((20, 2), np.int64)
    found = totals(floats, counts, halves)
    assert found == [float(tree_sum(floats[:, 0])), 81920, 20 * (2**32 + 1)]
    assert list(map(type, found)) == [float, int, int]


def test_they_are_of_what_is_there_when_they_are_asked():
    array = np.zeros((20, 2), np.int64)
    found = Totals([array])
    found.prepare()
    assert found.get(made=False) == [0]
    array[:] = 1, 2
    assert found.get(made=False) == [20 * (2**32 + 2)]
    array[:] = 5
    assert found.get(made=True) == [20 * (2**32 + 2)]  # as made before


def test_others_may_run_the_code():
    array = np.arange(40).reshape(20, 2)
    found = Totals([array])
    found.prepare()
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(found.code)(found.address, None)
    high, low = map(sum, zip(*array.tolist(), strict=True))
    assert found.get(made=True) == [(high << 32) + low]


@pytest.mark.parametrize(
    "array", [np.ones((40, 1), np.float32), np.ones((40, 2))[:, :1], np.ones(((1 << 18) + 1, 2), np.int64)]
)
def test_what_is_out_of_the_ordinary_is_left_to_numpy(array):
    found = Totals([array])
    found.prepare()
    assert not found.code
    blocks = len(array)
    assert found.get(made=False) == [blocks * (2**32 + 1) if array.dtype == np.int64 else blocks]


def test_numpy_gives_the_same_until_the_code_is_there(monkeypatch):
    asked = []
    later = folding.Later(lambda: asked.append("made"))
    monkeypatch.setattr(folding, "native", later)
    monkeypatch.setattr(later, "ask", lambda: asked.append("asked"))
    halves, floats = np.arange(100).reshape(50, 2), np.arange(50).reshape(50, 1) / 7
    expected = [(sum(range(0, 100, 2)) << 32) + sum(range(1, 100, 2)), float(tree_sum(floats[:, 0]))]
    found = Totals([halves, floats])
    assert found.get(made=False) == expected
    assert not asked
    found.prepare()
    assert asked == ["asked"]
    assert not found.code
    assert found.get(made=False) == expected
