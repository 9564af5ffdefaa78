"""What one loop gives the next one: windows of a stream, what is left out of it, and rows of one stream."""

import itertools

import numpy as np
import pytest

from hastega_magic.runtime import stream, strided

P = 4 * 4096
"""Elements of a piece: a few blocks."""


@pytest.mark.parametrize("numbers", [1, 2, 3, 8, 60])
def test_pieces_of_wide_elements_take_no_more_memory(numbers):
    class Room:
        def restart(self):
            self.asked = []

        def give(self, rooms, size):
            self.asked.append((size, sum(each[:size].nbytes for each in rooms)))
            return size if len(self.asked) < 3 else None

    producer = Room()
    found = stream.Stream(producer, ["int64"] * numbers, 1 << 30)
    for _ in range(3):
        found.draw()
    assert all(size % 4096 == 0 for size, _ in producer.asked)
    assert 8 << 20 <= max(nbytes for _, nbytes in producer.asked) <= 16 << 20


def test_a_stream_ends_where_its_elements_do(monkeypatch):
    """Windows are whole blocks, and what is left of one is the beginning of the next, wherever pieces end."""
    monkeypatch.setattr(stream, "PIECE", P)

    class Counting:
        def __init__(self, counts):
            self.counts, self.at = counts, 0
            self.restart()

        def restart(self):
            self.left, self.at = iter(self.counts), 0

        def give(self, rooms, size):
            count = next(self.left, None)
            assert size <= stream.PIECE
            if count is not None:
                assert all(len(room) >= stream.PIECE for room in rooms)
                rooms[0][:count] = np.arange(self.at, self.at + count)
                rooms[1][:count] = -rooms[0][:count]
                self.at += count
            return count

    counts = [[], [0], [5], [0, 5, 0], [P, 1, 4095], [4097, P - 1, 0, 77, P, 3]]
    for given, skip, stride, limit in itertools.product(
        counts, [0, 3, 4097, P + 5000], [1, 3, 5000], [None, 0, 1, 4096, P + 4]
    ):
        found = stream.Stream(
            Counting(given), ["int64", "float32"], sum(given), stream.Cut(skip, stride, limit)
        )
        expected = np.arange(sum(given))[skip::stride][:limit]
        assert len(found) == len(expected)
        seen, at = [], 0
        while (stop := found.draw()) > at:
            seen.append(found[at:stop].copy())
            at = stop
        assert found.draw() == at
        assert np.array_equal(np.concatenate([expected[:0], *seen]), expected)
        assert np.array_equal(found[0 : len(expected)], expected)
        for place in {0, len(expected) // 2, len(expected) - 1} if len(expected) else ():
            assert found[place] == expected[place]
            assert strided.rows(found)[1][place] == -expected[place].astype(np.float32)
        with pytest.raises(IndexError):
            found[len(expected)]
        found.restart()
        gathered = found.gathered()
        assert np.array_equal(gathered["f0"], expected)
        assert np.array_equal(gathered["f1"], -expected.astype(np.float32))
    for given, start, step, size in itertools.product(counts, [0, 5, 9000], [1, 3, 64], [1, 2, 64]):
        found, all_of_them = (
            stream.Stream(Counting(given), ["int64", "float32"], sum(given)),
            np.arange(sum(given)),
        )
        rows = [strided.strided(found, start + place, step, 1 << 40) for place in range(size)]
        expected = [all_of_them[start + place :: step] for place in range(size)]
        reading, at, seen = strided.Reading(rows), 0, 0
        reading.restart()
        while (stop := reading.draw()) > at:
            assert at % 4096 == 0
            for row, alike in zip(rows, expected, strict=True):
                assert np.array_equal(row[at:stop], alike[at:stop])
                seen += len(row[at:stop])
            at = stop
        assert at == min(map(len, expected))
        assert seen == at * size
        rest = all_of_them[start::step]
        assert np.array_equal(found.last(start, step, size), rest[len(rest) // size * size :])
        again = strided.strided(rows[0], 2, 3, 4)
        assert again[0:4].tolist() == expected[0][2::3][:4].tolist()


def test_rows_of_a_stream_are_read_together():
    class Nothing:
        def restart(self): ...

        def give(self, room, size):
            return None

    one, other = (stream.Stream(Nothing(), ["int64"], 10**9) for _ in range(2))
    for rows in ([one, other], [one, strided.strided(one, 0, 2, 9)], [strided.strided(one, 0, 1000, 9)]):
        with pytest.raises(stream.NotProduced):
            strided.Reading(rows)
