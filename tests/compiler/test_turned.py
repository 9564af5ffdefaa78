"""Arrays that lie in memory from their last element on: loops read them vector by vector, and turn each around."""

import itertools

import numpy as np
import pytest
from battery import some

from hastega_magic.compiler.fastpath.slots import DoesNotFit, slot_of
from hastega_magic.runtime.sources import described, layout_of
from hastega_magic.session import Options, Session

DTYPES = "int64", "int8", "uint16", "float64", "float32", "bool", "uint64", "int32"
RANDOM = np.random.default_rng(3)
CELL = (
    "y = xs |> map(lambda x: x + 1) |> to_list\n"
    "z = xs |> filter(lambda x: x > 30) |> to_list\n"
    "t = xs |> sum\n"
    "u = ahead |> reverse |> map(lambda x: x + 1) |> to_list\n"
    "v = ahead |> reverse |> zip(ahead) |> map(lambda a, b: a > b) |> to_list\n"
)


def numbers(array):
    return list(array) if array.dtype == np.float32 else array.tolist()


@pytest.mark.parametrize(
    ("dtype", "width", "on"), some(itertools.product(DTYPES, [0, 1, 2, 64], ["parallel", "opencl"]), every=5)
)
def test_the_same_as_python(dtype, width, on):
    for length in (1, 2, 63, 4097, 10_001):
        ahead = RANDOM.integers(0, 100, length).astype(dtype)
        names = {"xs": ahead[::-1], "ahead": ahead}
        assert layout_of(names["xs"]) == ("turned" if length > 1 else "dense")
        Session(names, Options(on=on, threads=2, baseline=False, quiet=True, width=width)).run_cell(CELL)
        elements = numbers(names["xs"])
        assert names["y"] == [x + 1 for x in elements]
        assert names["z"] == [x for x in elements if x > 30]
        assert names["t"] == sum(elements)
        assert names["u"] == names["y"]
        assert names["v"] == [a > b for a, b in zip(elements, numbers(ahead), strict=True)]


def test_code_for_them_is_not_run_over_others():
    rows = RANDOM.integers(-100, 100, (4, 9000))
    given = [
        rows[0][::-1],
        rows[1][::-1],
        rows[2][8999::-3],
        rows[3][::3],
        rows[0],
        rows[1][3:6][::-1],
        rows[2][:1][::-1],
    ]
    names = {}
    session = Session(names, Options(on="parallel", threads=2, baseline=False, quiet=True))
    for xs in [*given, *reversed(given)] * 3:
        names["xs"] = xs
        session.run_cell(
            "y = xs |> map(lambda x: x * 2) |> sum\nz = xs |> filter(lambda x: x > 0) |> to_list\n"
        )
        assert names["y"] == 2 * sum(xs.tolist())
        assert names["z"] == [x for x in xs.tolist() if x > 0]


def test_code_for_them_is_not_run_over_unaligned_ones():
    slot = slot_of(0, described(np.arange(9)[::-1], "xs").source, None)
    assert slot.length(np.arange(7)[::-1]) == 7
    for other in (np.arange(9), np.arange(18)[::-2], np.zeros(73, np.uint8)[1:].view(np.int64)[::-1]):
        with pytest.raises(DoesNotFit):
            slot.length(other)


def test_layouts():
    xs = np.arange(10)
    assert layout_of(xs[::-2]) == "strided"
    assert layout_of(xs[::2]) == "2 apart"
    assert layout_of(xs.astype(">i8")[::-1]) == "swapped"
    assert layout_of(np.zeros(81, np.uint8)[1:].view(np.int64)[::-1]) == "strided"  # not aligned
    assert layout_of(np.broadcast_to(np.int64(3), 5)) == "strided"
