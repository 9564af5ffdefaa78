"""Objects described for the compiler."""

from __future__ import annotations

import array
import re

import numpy as np
import pytest

from hastega_magic.errors import NotCompilable
from hastega_magic.interval import Interval
from hastega_magic.runtime.sources import PIECE, BeyondInt64, described
from hastega_magic.runtime.tables import described_table
from hastega_magic.types import BOOL, FLOAT, FLOAT32, FLOAT64, INT

DESCRIBED = {
    "range": (range(3, 30, 5), ("range", INT, "dense", 6), Interval(3, 28)),
    "falling range": (range(10, -10, -3), ("range", INT, "dense", 7), Interval(-8, 10)),
    "list": ([1, 2, 3], ("list", INT, "dense", 3), Interval(-(2**63), 2**63 - 1)),
    "bools": ([True, False], ("list", BOOL, "dense", 2), Interval(0, 1)),
    "floats": ((1.0, 2.0), ("list", FLOAT, "dense", 2), None),
    "float64": (np.zeros(4), ("array", FLOAT64, "dense", 4), None),
    "float32": (np.zeros(4, np.float32)[::2], ("array", FLOAT32, "2 apart", 2), None),
    "uint8": (np.zeros(4, np.uint8), ("array", INT, "dense", 4), Interval(0, 255)),
    "swapped": (np.zeros(4, ">i2"), ("array", INT, "swapped", 4), Interval(-(2**15), 2**15 - 1)),
    "bytes": (b"abc", ("array", INT, "dense", 3), Interval(0, 255)),
    "array.array": (array.array("h", [1, 2]), ("array", INT, "dense", 2), Interval(-(2**15), 2**15 - 1)),
    "bool array": (np.zeros(3, bool), ("array", BOOL, "dense", 3), Interval(0, 1)),
}


@pytest.mark.parametrize("name", DESCRIBED)
def test_description(name):
    data, (kind, type_, layout, length), interval = DESCRIBED[name]
    source = described(data, "xs").source
    assert (source.kind, source.type, source.layout, source.length) == (kind, type_, layout, length)
    assert source.interval == interval
    assert source.name == "xs"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([1, 2.0], "float, int"), ([None], "NoneType"), (np.zeros((2, 2)), "2 dimensions"), ("abc", "str"),
        ({1: 2}, "dict"),
        (np.array([1], object), "object"), (np.array([0], "M8[s]"), "datetime64"), (np.ma.array([1, 2]), "subclass"),
        (range(0, 2**70, 2**69), "64 bits"), (np.zeros(2, np.float16), "float16"),
    ],
)  # fmt: skip
def test_what_is_not_compiled_has_its_reason(data, words):
    with pytest.raises(NotCompilable, match=words):
        described(data, "xs")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ([np.bool_(True)], "the elements are NumPy's scalars (bool), not Python's numbers"),
        ([np.int8(1), np.uint64(2)], "the elements are NumPy's scalars (int8, uint64), not Python's numbers"),
        ([np.complex128(1)], "the elements are NumPy's scalars (complex128), not Python's numbers"),
        ([np.float16(1)], "elements of type float16 are not compiled"),
        ([np.longdouble(1)], "elements of type longdouble are not compiled"),
        ([np.float16(1), np.int64(2)], "the elements are of these types: float16, int64"),
        ([np.timedelta64(1, "s")], "elements of type timedelta64 are not compiled"),
    ],
)
def test_an_array_is_proposed_for_those_scalars_that_are_compiled_in_arrays(data, sentence):
    with pytest.raises(NotCompilable, match=f"^{re.escape(sentence)}"):
        described(data, "xs")


@pytest.mark.parametrize("other", [0, 5, 2000, 9999])
def test_a_long_list_of_two_types_is_not_gone_through_to_the_end(other):
    data = [*range(10_000), *range(90_000), "late"]
    data[other] = 0.5
    with pytest.raises(NotCompilable, match="of these types: float, int;"):
        described(data, "xs")


@pytest.mark.parametrize("data", [5, None, np.array(5)])
def test_what_cannot_be_iterated(data):
    with pytest.raises(TypeError) as ours:
        described(data, "xs")
    with pytest.raises(TypeError) as pythons:
        iter(data)
    assert str(ours.value) == str(pythons.value)


def test_a_piece_of_a_list_is_converted_alone():
    column = described([*range(10), 2**70], "xs")
    assert column.array(0, 10).tolist() == list(range(10))
    with pytest.raises(BeyondInt64):
        column.array(0, 11)
    assert PIECE % 4096 == 0


def test_arrays_are_not_copied():
    xs = np.arange(20)[::-2]
    assert np.shares_memory(described(xs, "xs").array(0, 10), xs)


@pytest.mark.parametrize("data", [[0.5, 1.5], np.arange(9)[::2], [1, 2, 3], np.zeros(3, ">f4")])
def test_an_empty_slice_keeps_its_type(data):
    column = described(data, "xs")
    empty = column.view(0, 1, 0)
    assert (empty.source.type, empty.source.storage) == (column.source.type, column.source.storage)
    assert (empty.source.layout == "swapped") == (column.source.layout == "swapped")
    assert empty.source.length == len(empty.data) == 0


def test_slices_of_ranges_know_their_ends():
    part = described(range(0, 100, 3), "xs").view(2, 1, 3)
    assert part.source.interval == Interval(6, 12)
    assert part.source.length == 3


@pytest.mark.parametrize(
    "data", [list(range(10)), tuple(range(10)), np.arange(10), range(10), np.arange(20)[::2] // 2]
)
@pytest.mark.parametrize(
    ("start", "step", "count"), [(0, 1, 10), (3, 2, 3), (9, -1, 10), (8, -3, 3), (4, 5, 0), (9, 7, 1)]
)
def test_views(data, start, step, count):
    part = described(data, "xs").view(start, step, count)
    assert list(part.data) == [start + step * number for number in range(count)]
    assert part.source.length == count
    if isinstance(part.data, np.ndarray):
        assert (part.source.layout == "dense") == part.data.flags.c_contiguous


@pytest.mark.parametrize(
    "data", [[1, 2, 3], (1, 2, 3), np.array([1, 2, 3])[::-1][::-1], np.array([1, 2, 3], ">i8"), b"\1\2\3"]
)
def test_tables_are_contiguous_and_native(data):
    column = described_table(data, "table")
    assert column.data.tolist() == [1, 2, 3]
    assert column.data.flags.c_contiguous
    assert column.data.dtype.isnative


@pytest.mark.parametrize("data", ["abc", {1: 2}, [2**70], None])
def test_what_is_no_table(data):
    with pytest.raises(NotCompilable):
        described_table(data, "table")
