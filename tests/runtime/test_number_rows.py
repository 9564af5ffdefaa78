"""Rows of numbers: which lists and tuples they are, and native code that reads them."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hastega_magic.runtime.objects import rows
from hastega_magic.runtime.objects.lists import reader

INTS = st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 300)
FLOATS = st.floats(allow_nan=False)


def rows_of(numbers: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    row = st.lists(numbers, max_size=9) | st.lists(numbers, max_size=9).map(tuple)
    return st.lists(row, min_size=1, max_size=12) | st.lists(row, min_size=1, max_size=12).map(tuple)


native = pytest.mark.skipif(reader(int) is None, reason="this Python's layout of ints is not known")
pytestmark = native


@given(rows_of(INTS) | rows_of(FLOATS) | rows_of(st.booleans()))
def test_numbers_and_where_rows_begin(given_rows: Any) -> None:
    expected = [each for row in given_rows for each in row]
    found = rows.numbers_of(given_rows, bounds=True)
    if not expected:
        assert found is None
        return
    assert found is not None
    assert list(map(repr, found.flat.tolist())) == list(map(repr, expected))
    assert found.flat.dtype.name == {int: "int64", float: "float64", bool: "bool"}[type(expected[0])]
    lengths = np.diff(found.bounds) if found.bounds is not None else []
    assert list(lengths) == list(map(len, given_rows))


class Row(list[int]):
    pass


@pytest.mark.parametrize("place", [0, 700, 1399])
@pytest.mark.parametrize(
    "odd",
    [
        [1.0],
        [None],
        [True],
        [2**63],
        5,
        "ab",
        {1},
        range(3),
        [[1]],
        Row([1]),
        np.zeros(2, int),
        [np.int64(1)],
        None,
    ],
    ids=repr,
)
def test_one_row_that_is_none(place: int, odd: Any) -> None:
    given_rows: list[Any] = [[number, number + 1] for number in range(1400)]
    given_rows[place] = odd
    before = sys.getrefcount(odd)
    assert rows.numbers_of(given_rows) is None
    assert odd is None or sys.getrefcount(odd) == before


@pytest.mark.parametrize(
    "other", [[], (), [[]], [[], ()], 7, None, {(1, 2)}, np.zeros((2, 2)), "ab", [1, 2]], ids=repr
)
def test_of_nothing_and_of_others_there_are_none(other: Any) -> None:
    assert rows.numbers_of(other) is None


def test_fewer_than_asked_for_are_not_read() -> None:
    assert rows.numbers_of([[1, 2], [3]], least=4) is None
    assert rows.numbers_of([[1, 2], [3]], least=3) is not None


def test_a_call_ends_after_some_numbers_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "_PIECE", 7)
    given_rows = [list(range(number % 5)) for number in range(300)]
    found = rows.numbers_of(given_rows, bounds=True)
    assert found is not None
    assert found.flat.tolist() == [each for row in given_rows for each in row]
