"""Parts of long lists: the elements of windows, chunks and reversed lists, read where the list has them."""

import random
from itertools import pairwise

import numpy as np
import pytest

from hastega_magic.runtime.objects.fields import Field
from hastega_magic.runtime.objects.lists import WORTH
from hastega_magic.runtime.objects.parts import Part, part_of, read, read_once
from hastega_magic.runtime.sources import described, overlapping
from hastega_magic.session import Options, Session

N = 3 * WORTH
VALUES = [random.Random(1).randrange(-(10**12), 10**12) for _ in range(N)]
HOLDERS = {
    "list": VALUES,
    "tuple": tuple(VALUES),
    "field": Field([("", each) for each in VALUES], 1, 2),
}
STRETCHES = [
    (0, 1, N),
    (5, 1, N - 9),
    (N - 1, -1, N),
    (7, 3, N // 4),
    (N - 2, -2, N // 3),
    (1, 9, N // 9),
    (3, 1, 2 * N),
]


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("stretch", STRETCHES)
def test_they_are_the_elements(holder, stretch):
    start, step, count = stretch
    stop = start + step * count
    expected = VALUES[start : None if stop < 0 else stop : step]
    part = part_of(HOLDERS[holder], *stretch)
    assert len(part) == len(expected)
    assert list(part) == expected
    assert [part[0], part[-1]] == [expected[0], expected[-1]]
    assert list(part[2:90:7]) == expected[2:90:7]
    assert list(part[::-1]) == expected[::-1]
    assert not len(part[5:5])
    for first, last in ((0, len(expected)), (3, len(expected) - 2)):
        found = read(part, "int64", first, last)
        assert (None if found is None else found.tolist()) in (None, expected[first:last])
        assert found is not None or last - first < WORTH
        assert found is None or found.flags.c_contiguous


def test_a_part_of_a_part_is_one_of_the_list():
    part = part_of(part_of(VALUES, 10, 2, N // 4), N // 4 - 1, -1, 2000)
    assert part.whole is VALUES
    assert list(part) == VALUES[10 : 10 + N // 2 : 2][::-1][:2000]


def test_other_objects_have_none():
    assert part_of(np.arange(N), 0, 1, N) is None
    assert part_of(range(N), 0, 1, N) is None


@pytest.mark.parametrize("step", [1, 4])
def test_overlapping_ones_are_read_once(step):
    parts = [part_of(VALUES, number, step, N // step - 4) for number in range(4)]
    found, nbytes = read_once(parts, "int64", 5, N // step - 4)
    assert 8 * (N - 9 * step) <= nbytes <= 8 * N
    assert [each.tolist() for each in found] == [list(each)[5:] for each in parts]
    if step == 1:
        assert np.shares_memory(found[0], found[3])


def test_those_far_apart_are_read_alone():
    parts = [part_of(VALUES, start, 1, WORTH) for start in (0, 2 * WORTH)]
    assert read_once(parts, "int64", 0, WORTH) is None
    parts = [part_of(VALUES, start, 1, WORTH) for start in (0, WORTH // 2)]
    assert read_once(parts, "int64", 0, WORTH) is not None
    assert read_once(parts, "int64", 0, WORTH // 4) is None


def test_columns_of_other_sources_are_none_of_them():
    column, other = described(VALUES, "xs"), described([float(each) for each in VALUES], "ys")
    columns = [column.view(0, 1, N - 1), other.view(1, 1, N - 1), column.view(1, 1, N - 1), column]
    found = overlapping(columns, 0, N - 1).arrays
    assert sorted(found) == [0, 2]
    assert found[2].tolist() == VALUES[1:]


@pytest.mark.parametrize("on", ["simd", "parallel", "opencl"])
@pytest.mark.parametrize(
    ("stages", "expected"),
    [
        ("window(2) |> map(lambda a, b: a * 3 - b) |> to_list", [a * 3 - b for a, b in pairwise(VALUES)]),
        ("chunk(4) |> map(lambda c: sum(c) % 9) |> to_list", [sum(VALUES[i : i + 4]) % 9 for i in range(0, N, 4)]),
        ("reverse |> step(3) |> map(lambda x: x // 7) |> to_list", [x // 7 for x in VALUES[::-1][::3]]),
        ("drop(5) |> reverse |> take(3000) |> sum", sum(VALUES[5:][::-1][:3000])),
        ("enumerate |> drop(9) |> map(lambda i, x: i * x) |> max", max(i * x for i, x in [*enumerate(VALUES)][9:])),
    ],
)  # fmt: skip
def test_loops_over_them(on, stages, expected):
    names = {"xs": VALUES}
    session = Session(names, Options(on=on, int_mode="exact"))
    for _ in range(3):
        session.run_cell(f"found = xs |> {stages}")
        assert names["found"] == expected


def test_the_bytes_of_a_window_are_those_of_its_list():
    session = Session({"xs": VALUES}, Options(on="simd", baseline=False))
    session.run_cell("m = xs |> window(4) |> map(lambda a, b, c, d: a + b + c + d) |> max")
    (moved,) = (each.bytes for each in session.last_report.pipelines[0].phases if each.name == "convert_in")
    assert moved <= 8 * N


def test_a_list_that_is_made_shorter_meanwhile_raises():
    values = VALUES.copy()
    columns = [described(values, "xs").view(number, 1, N - 2) for number in range(3)]
    del values[-100:]
    assert all(len(each.array(0, N - 2)) < N - 2 for each in columns)
    assert all(len(each) < N - 2 for each in overlapping(columns, 0, N - 2).arrays.values())
    assert isinstance(columns[0].data, Part)


@pytest.mark.parametrize("stages", ["map(lambda x: x * 2) |> sum", "window(3) |> map(sum) |> max"])
def test_reading_a_list_is_told_of_every_back_end(stages):
    for on in ("simd", "opencl"):
        session = Session({"xs": VALUES}, Options(on=on, baseline=False))
        session.run_cell(f"m = xs |> {stages}")
        (phase,) = (each for each in session.last_report.pipelines[0].phases if each.name == "convert_in")
        assert phase.seconds > 0
        # A device with memory of its own has them copied once more, for the bus.
        assert phase.bytes in ((8 * N, 8 * (N - 2)) if on == "simd" else (8 * N, 8 * (N - 2), 16 * N))
