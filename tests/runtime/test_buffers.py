"""Memory of results: pooled, trimmed, and never shared between two living arrays."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading

import numpy as np
import pytest

from hastega_magic.runtime import buffers
from hastega_magic.runtime.buffers import (
    POOLED,
    allocate,
    extended,
    fresh_bytes,
    kept_bytes,
    of_its_own,
    trim,
    trim_before,
)
from hastega_magic.session import Options, Session


@pytest.mark.parametrize("dtype", ["bool", "int64", "float32", "float64"])
@pytest.mark.parametrize("length", [0, 1, 4096, POOLED, 3 * POOLED // 2])
def test_room(dtype, length):
    array = allocate(length, dtype)
    assert array.shape == (length,)
    assert array.dtype == dtype
    array[:] = 1
    assert array.sum() == length
    assert array.flags.writeable


def test_living_results_do_not_share_memory():
    arrays = [allocate(POOLED, "int64") for _ in range(3)]
    for number, array in enumerate(arrays):
        array[:] = number
    assert [int(array.sum()) for array in arrays] == [0, POOLED, 2 * POOLED]


def test_pages_of_the_dead_are_used_again_but_not_while_a_view_lives():
    array = allocate(POOLED, "int64")
    array[:] = 7
    view = array[5:10]
    del array
    gc.collect()
    other = allocate(POOLED, "int64")
    other[:] = 1
    assert view.tolist() == [7] * 5
    del view, other
    gc.collect()
    assert kept_bytes() >= 8 * POOLED


def test_garbage_that_is_collected_while_pages_are_looked_for(monkeypatch):
    """What asks for pages may be what collects garbage, among which other pages are: it must not wait for itself."""
    pool = buffers._Pool()
    monkeypatch.setattr(buffers, "_pool", pool)

    class Collecting(list):
        """The free pages, which collect garbage when they are gone through."""

        def __iter__(self):
            gc.collect()
            return super().__iter__()

    dead = allocate(POOLED, "int64")
    around = [dead]
    around.append(around)
    pool._free = Collecting()
    del dead, around
    asking = threading.Thread(target=allocate, args=(POOLED, "int64"), daemon=True)
    asking.start()
    asking.join(10)
    assert not asking.is_alive()
    assert kept_bytes() >= 8 * POOLED


@pytest.mark.parametrize("kept", [0, 1, 1000, POOLED // 8, POOLED, 2 * POOLED - 1, 2 * POOLED])
def test_trimming_keeps_the_elements(kept):
    array = allocate(2 * POOLED, "int64")
    array[:] = np.arange(2 * POOLED)
    found = trim(array, kept)
    del array
    gc.collect()
    assert np.array_equal(found, np.arange(kept))


@pytest.mark.parametrize("start", [0, 1, 1000, POOLED // 8, POOLED, 2 * POOLED - 1, 2 * POOLED])
def test_trimming_at_the_beginning_keeps_the_elements(start):
    array = allocate(2 * POOLED, "int64")
    array[:] = np.arange(2 * POOLED)
    found = trim_before(array, start)
    del array
    gc.collect()
    assert np.array_equal(found, np.arange(start, 2 * POOLED))


@pytest.mark.parametrize("places", [(0,), (16,), (-8,), (-320,), (64, -8, -1000), tuple(range(0, 4096, 256))])
def test_what_is_read_is_not_just_behind_what_is_written(places):
    length, page = 2 * POOLED, 4096
    array = allocate(length, "int64", [page * 7 + place for place in places])
    start = array.ctypes.data
    assert start % 64 == 0
    if len(places) < 16:  # there is such a place
        assert all((place - start) % page <= page - 320 for place in places)
    array[:] = np.arange(length)
    for left in (length - 1, length - 500, POOLED + 1):
        array = trim(array, left)
        assert np.array_equal(array, np.arange(left))
    behind = trim_before(array, 1000)
    del array
    gc.collect()
    assert np.array_equal(behind, np.arange(1000, POOLED + 1))


def test_pickling_and_copying():
    array = allocate(POOLED, "float64")
    array[:] = 0.5
    assert np.array_equal(array.copy(), array)
    assert array.tobytes() == np.full(POOLED, 0.5).tobytes()


def test_memory_is_fresh_once():
    size = 37 * POOLED + 17
    first = allocate(size, "u1")
    assert fresh_bytes(first) == size
    assert fresh_bytes(first[:5]) == 5
    del first
    again = allocate(size, "u1")
    assert fresh_bytes(again) == 0
    assert fresh_bytes(allocate(10, "u1")) == 0


@pytest.mark.parametrize("dtype", ["bool", "int64", "float32", "complex128", "i8,f8"])
def test_arrays_grow_in_their_own_memory(dtype):
    first = np.ones(1000, dtype)
    found, parts = of_its_own(first), [first]
    for length in (0, 1, POOLED, 5):
        parts.append(np.zeros(length, dtype))
        assert extended(found, parts[-1])
    assert len(first) == 1000
    assert found.dtype == first.dtype
    assert np.array_equal(found, np.concatenate(parts))


def test_some_arrays_do_not_grow():
    numbers = np.arange(4)
    assert not extended(of_its_own(numbers), np.ones(2))
    assert not extended(of_its_own(numbers), np.array([1, None], object))
    assert not extended(of_its_own(np.array([None])), np.array([None]))
    assert not extended(of_its_own(np.ones((2, 2))), np.ones((2, 2)))
    assert not extended(np.arange(8)[:4], numbers)
    assert numbers.tolist() == [0, 1, 2, 3]


def test_results_that_outlive_their_module_are_let_go_in_silence():
    text = """
import gc, sys, types
early = sys.modules["early"] = types.ModuleType("early")
from hastega_magic.runtime import buffers
early.kept = buffers.allocate(buffers.POOLED, "u1")
early.itself, buffers.itself = early, buffers
gc.freeze()  # what holds itself is there until modules are emptied, the latest first
"""
    ended = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert ended.stderr == ""


@pytest.fixture
def little_memory(monkeypatch):
    """A machine whose system maps no more than 64 MiB, but where it is told that they are not all written."""
    mapped = buffers._mapped

    def refused(size, flags=0):
        return mapped(size, flags) if flags or size <= POOLED << 6 else None

    monkeypatch.setattr(buffers, "_mapped", refused)
    monkeypatch.setattr(buffers, "_physical", lambda: POOLED << 6)
    buffers.drop_kept()


@pytest.mark.skipif(not buffers._NO_RESERVE, reason="this system maps what there is memory for")
@pytest.mark.parametrize("on", ["parallel", "simd"])
def test_what_a_filter_keeps_fits_though_its_source_would_not(little_memory, on):
    session = Session({}, Options(on=on, baseline=False, quiet=True))
    kept = session.run_cell(
        "range(30_000_000) |> filter(lambda x: x % 10_000 == 7) |> map(lambda x: (x, -x))"
    ).value
    assert kept["f0"].tolist() == list(range(7, 30_000_000, 10_000))
    with pytest.raises(
        MemoryError, match=r"a result of 240,000,000 bytes does not .* as `\|> sum`, or go"
    ) as told:
        session.run_cell("range(30_000_000) |> map(lambda x: x * 3)")
    assert told.value.__cause__ is None
    assert told.value.__context__ is None


@pytest.mark.skipif(not buffers._NO_RESERVE, reason="this system maps what there is memory for")
@pytest.mark.parametrize("behind", ["window(2)", "chunk(2)", "enumerate", "zip(range(10**8))"])
def test_so_do_the_stages_behind_it(little_memory, behind):
    session = Session({}, Options(on="parallel", baseline=False, quiet=True))
    found = session.run_cell(f"range(30_000_000) |> filter(lambda x: x % 10_000 == 7) |> {behind}").value
    expected = Session(
        {"kept": list(range(7, 30_000_000, 10_000))}, Options(on="python", baseline=False, quiet=True)
    )
    assert np.array_equal(found, expected.run_cell(f"kept |> {behind}").value)


NO_ROOM = {
    "map(_ * 2) |> np.mean": "a result of 240,000,000 bytes does not fit",
    "map(_ * 2) |> tap(seen.append) |> sum": "a result of 240,000,000 bytes does not fit",
    "cumsum": "a result of 240,000,000 bytes does not fit",
    "map(_ * 2) |> to_list": "a list of 30,000,000 elements does not fit",
    "enumerate |> to_list": "a list of 30,000,000 elements does not fit",
}


@pytest.mark.parametrize("stages", NO_ROOM)
def test_what_has_no_room_is_told_at_once(little_memory, stages):
    session = Session({"np": np, "seen": []}, Options(on="parallel", baseline=False, quiet=True))
    with pytest.raises(MemoryError, match=NO_ROOM[stages]) as told:
        session.run_cell(f"range(30_000_000) |> {stages}")
    assert told.value.__notes__[-1].splitlines()[1].strip() == "^" * len("range(30_000_000)")
    assert not session.namespace["seen"]
    assert session.run_cell("range(30_000_000) |> cumsum |> take_while(_ < 4)").value.tolist() == [0, 1, 3]


@pytest.mark.skipif(not buffers._NO_RESERVE, reason="this system maps what there is memory for")
def test_results_that_fill_the_memory_end_in_an_error(little_memory, monkeypatch):
    """And not with the process."""
    looked = []
    monkeypatch.setattr(buffers, "_available", lambda: looked.append(1) or 0)
    monkeypatch.setattr(buffers, "_RESERVE", 0)
    session = Session({}, Options(on="parallel", baseline=False, quiet=True))
    text = "xs |> filter(lambda x: sum(x % k == 0 for k in range(2, 300)) < 300)"
    with pytest.raises(MemoryError, match="what is kept does not fit into memory"):
        session.run_cell(text.replace("xs", "range(20_000_000)"))
    assert looked
    assert len(session.run_cell(text.replace("xs", "range(2000)")).value) == 2000


def test_other_results_are_not_looked_after(monkeypatch):
    monkeypatch.setattr(buffers, "_available", lambda: 0)
    buffers.look_after([np.zeros(1000)])


def test_the_system_says_how_much_memory_there_is():
    assert buffers._physical() > 1 << 27
    assert 0 < buffers._available() <= buffers._physical()
