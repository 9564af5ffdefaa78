"""Partial results folded in native code: Python's integers, and the bits of the fixed tree."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from hastega_magic.ir.reduction import tree_sum
from hastega_magic.runtime import folding
from hastega_magic.runtime.folding import Folding

SHAPES = st.tuples(st.integers(0, 300), st.sampled_from([1, 2, 3, 4, 6, 8]))
HALVES = st.integers(-(2**43), 2**43)
"""As the sum of 4096 words of 32 bits may be."""


@pytest.fixture(scope="module", autouse=True)
def native():
    for each in (folding._integers, folding._tree):
        each.made = each._make()


def columns_of(array):
    return [sum(map(int, column)) for column in array.T.tolist()]


@given(arrays.arrays(np.int64, SHAPES, elements=HALVES))
def test_columns_are_added(array):
    assert Folding(array).exact_sums() == columns_of(array)


@given(arrays.arrays(np.int64, st.tuples(st.integers(0, 300), st.just(1))))
def test_integers_of_any_size_are_added_exactly(array):
    assert Folding(array).exact_sums() == columns_of(array)


@pytest.mark.parametrize("blocks", [1, 8, 9, 2442, 300_000])
@pytest.mark.parametrize("value", [2**63 - 1, -(2**63), -1])
def test_the_largest_are_added_exactly(blocks, value):
    assert Folding(np.full((blocks, 1), value)).exact_sums() == [blocks * value]


@given(arrays.arrays(np.float64, st.tuples(st.integers(0, 700), st.just(1))))
def test_floats_are_added_in_the_fixed_tree(array):
    with np.errstate(all="ignore"):
        expected, found = float(tree_sum(array[:, 0])), Folding(array).tree_sum()
    assert struct.pack("d", found) == struct.pack("d", expected) or (found != found and expected != expected)


@pytest.mark.parametrize("array", [np.ones((40, 1), np.float32), np.ones((40, 2))[:, :1]])
def test_other_floats_are_added_by_numpy(array):
    assert Folding(array).tree_sum() == 40.0


def test_integers_that_do_not_lie_together_are_added_by_numpy():
    assert Folding(np.arange(40).reshape(20, 2)[:, 1:]).exact_sums() == [sum(range(1, 40, 2))]


def test_it_folds_what_is_there_when_it_is_asked():
    array = np.zeros((20, 2), np.int64)
    folding = Folding(array)
    assert folding.exact_sums() == [0, 0]
    array[:] = 1, 2
    assert folding.exact_sums() == [20, 40]


def test_numpy_gives_the_same_until_the_code_is_there(monkeypatch):
    asked = []
    for name in ("_integers", "_tree"):
        later = folding.Later(lambda: asked.append("made"))
        monkeypatch.setattr(folding, name, later)
        monkeypatch.setattr(later, "ask", lambda: asked.append("asked"))
    halves, floats = np.arange(100).reshape(50, 2), np.arange(50).reshape(50, 1) / 7
    assert Folding(halves).exact_sums() == columns_of(halves)
    assert Folding(floats).tree_sum() == float(tree_sum(floats[:, 0]))
    assert not asked
    assert Folding(halves, again=True).exact_sums() == columns_of(halves)
    assert Folding(floats, again=True).tree_sum() == float(tree_sum(floats[:, 0]))
    assert asked == ["asked", "asked"]
