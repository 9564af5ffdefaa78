"""Tuples of numbers as columns: which they are of, and native code that reads them."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hastega_magic.runtime.objects import fields, lists
from hastega_magic.runtime.sources import described

NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 300)
ROWS = st.lists(st.tuples(NUMBERS, st.floats(allow_nan=False), st.booleans()), min_size=1, max_size=40)
LONG = lists.WORTH


class Point(NamedTuple):
    x: int
    y: int


native = pytest.mark.skipif(lists.reader(int) is None, reason="this Python's layout of ints is not known")


@given(ROWS)
def test_few_tuples_are_columns_of_their_numbers(rows):
    assert list(zip(*fields.columns(rows), strict=True)) == rows
    assert fields.columns(tuple(rows)) == fields.columns(rows)


@native
@given(ROWS, st.sampled_from([list, tuple]), st.integers(0, 5))
def test_native_code_reads_a_field_from_any_place_on(rows, kind, first):
    rows = kind(rows)
    first = min(first, len(rows) - 1)
    for place, (type_, dtype) in enumerate([(int, "int64"), (float, "float64"), (bool, "bool")]):
        out = np.zeros(len(rows) - first, dtype)
        assert fields.read_field(fields.Field(rows, place, 3), type_, out, first)
        assert list(map(repr, out.tolist())) == [repr(row[place]) for row in rows[first:]]


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize(
    "odd",
    [(1, 2.5, 3), (1,), (), [1, 2.5], (1.0, 2.5), (1, None), (True, 2.5), 5, "ab", (1, (2.5,)), (2**70, "a")],
    ids=repr,
)
def test_one_that_is_not_like_the_others(many, odd):
    rows = [(number, number / 2) for number in range(3 * LONG if many else 30)]
    assert fields.columns(rows) is not None
    for place in (0, len(rows) // 2, len(rows) - 1):
        assert fields.columns([*rows[:place], odd, *rows[place + 1 :]]) is None


@pytest.mark.parametrize(
    "rows",
    [
        [], (), [()], [(1,)], [(1, "a")], [(1, None)], [((1, 2), 3)], [[1, 2]], [(1, 2j)], [(np.int64(1), 2)], 7, None,
        {(1, 2): 3}, {(1, 2)}, [(1, 2), [1, 2]], [tuple(range(fields.MOST + 1))], np.zeros((3, 2)),
        [Point(1, 2)],
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_no_list_of_tuples_of_numbers(rows):
    assert fields.columns(rows) is None


def test_nobody_looks_at_what_is_read_by_somebody_who_does():
    few = [(1, 2.5), (1.5, 2.5)]
    assert fields.columns(few, look=False) == ((1, 1.5), (2.5, 2.5))
    many = [(1, 2.5)] * LONG + [(1.5, 2.5)]
    field, _ = fields.columns(many, look=False)
    assert not fields.read_field(field, int, np.zeros(len(many), np.int64))


@native
def test_ints_beyond_64_bits_do_not_fit():
    rows = [(1, 2)] * LONG + [(1, 2**63)]
    first, second = fields.columns(rows)
    out = np.zeros(len(rows), np.int64)
    assert fields.read_field(first, int, out)
    assert not fields.read_field(second, int, out)


def test_a_field_is_a_sequence():
    rows = [(number, number % 3 == 0) for number in range(3 * LONG)]
    numbers, flags = fields.columns(rows)
    assert (len(numbers), numbers[5], numbers[-1], flags[3]) == (3 * LONG, 5, 3 * LONG - 1, True)
    assert list(numbers[10:20:3]) == [10, 13, 16, 19]
    assert list(numbers[::-1])[:2] == [3 * LONG - 1, 3 * LONG - 2]
    for start, stop in ((0, 3 * LONG), (7, LONG + 9), (3, 8), (3 * LONG - 1, 3 * LONG)):
        assert described(numbers, "xs").array(start, stop).tolist() == list(range(start, stop))
        assert described(flags, "xs").array(start, stop).tolist() == [row[1] for row in rows[start:stop]]
    assert described(numbers, "xs").view(4, 7, 20).array(0, 20).tolist() == list(range(4, 144, 7))


def test_fields_are_read_without_native_code(monkeypatch):
    monkeypatch.setattr(fields, "_reader", lambda type_, values, row: None)
    rows = [(number, number / 2) for number in range(LONG)]
    first, second = fields.columns(rows)
    assert described(first, "xs").array(0, LONG).tolist() == list(range(LONG))
    assert described(second, "xs").array(5, 9).tolist() == [2.5, 3.0, 3.5, 4.0]
    assert fields.columns([*rows, (1, 2)]) is None
    assert fields.columns([*rows, (1, 2.5, 3)]) is None
