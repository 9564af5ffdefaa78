import threading

import numpy as np
import pytest

from hastega_magic.runtime.opencl import widen

LENGTHS = (0, 1, 7, 20_000, 20_003, 1 << 17)


@pytest.mark.parametrize("name", ["bool", "int8", "uint8", "int16", "int32", "int64", "float64"])
@pytest.mark.parametrize("length", LENGTHS)
def test_every_type_and_length_is_copied_exactly(name, length):
    part = np.random.default_rng(length).integers(-120, 120, length).astype(name)
    kind = np.float64 if name == "float64" else np.int64
    room = np.full(length + 80, 77, kind)
    for start in (int(-room.ctypes.data % 64) // 8, 3):  # where streaming stores may go, and where not
        into = room[start : start + length]
        widen.copy(into, part)
        assert np.array_equal(into, part)
        assert (room[start + length :] == 77).all()
        room[:] = 77


def test_extremes_keep_their_sign():
    part = np.tile(np.array([-(2**31), 2**31 - 1, 0, -1], np.int32), 8192)
    into = np.empty(len(part), np.int64)
    widen.copy(into, part)
    assert into.tolist()[:4] == [-(2**31), 2**31 - 1, 0, -1]
    assert np.array_equal(into, part)


def test_rows_and_strides():
    part = np.arange(60_000, dtype=np.int16).reshape(-1, 2)
    into = np.empty(part.shape, np.int64)
    widen.copy(into, part)
    assert np.array_equal(into, part)
    widen.copy(into[::-1], part)
    assert np.array_equal(into[::-1], part)


def test_many_threads_share_one_program():
    widen._program.cache_clear()
    part = np.arange(100_000, dtype=np.int32)
    found = [np.zeros(len(part), np.int64) for _ in range(8)]
    threads = [threading.Thread(target=widen.copy, args=(into, part)) for into in found]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert all(np.array_equal(into, part) for into in found)
