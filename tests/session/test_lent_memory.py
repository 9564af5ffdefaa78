"""Memory of objects that can be resized or closed: they are what they were before, also while loops are kept."""

from __future__ import annotations

import array
import mmap

import numpy as np
import pytest

from hastega_magic.session import Options, Session

RESIZED = {
    "array": lambda: array.array("q", range(1, 9)),
    "floats": lambda: array.array("f", range(1, 9)),
    "bytearray": lambda: bytearray(range(1, 9)),
}
CELLS = (
    "y = xs |> sum", "y = xs |> map(lambda x: x + 1)", "y = xs |> map(lambda x: [x])", "y = xs |> take(3)",
    "y = range(8) |> zip(xs) |> map(lambda a, b: a + b)", "y = range(8) |> map(lambda i: xs[i])",
    "y = sum(x * 2 for x in xs)",
)  # fmt: skip
GROWING = """
def grow(x):
    if len(xs) < 12:
        xs.append(x)
    return x
y = xs |> map(grow) |> to_list
"""


def run(cell, on="parallel", **names):
    session = Session(names, Options(on=on, baseline=False))
    session.run_cell(cell)
    return session


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("kind", RESIZED)
def test_what_is_read_can_be_resized(kind, cell):
    xs = RESIZED[kind]()
    session = run(f"{cell}\nxs.append(9)\n", xs=xs)
    for count in range(10, 13):
        session.run_cell(cell)
        xs.append(5)
        assert len(xs) == count


@pytest.mark.parametrize("kind", RESIZED)
def test_what_grows_is_gone_through_to_its_end(kind):
    ours, python = (run(GROWING, on, xs=RESIZED[kind]()).namespace["y"] for on in ("parallel", "python"))
    assert ours == python
    assert len(ours) == 12


def test_a_view_and_what_it_is_of_can_be_let_go_of():
    held = bytearray(range(8))
    session = run("with memoryview(held) as view:\n    y = view |> map(lambda x: x + 1) |> sum", held=held)
    assert session.namespace["y"] == 36
    held.append(1)
    with mmap.mmap(-1, 8) as mapped:
        session = Session({"view": memoryview(mapped)}, Options(on="parallel", baseline=False))
        session.run_cell("y = view |> sum\nview.release()")


def test_memory_that_stays_is_read_where_it_lies():
    from hastega_magic.runtime.buffer_protocol import in_memory

    for memory in (b"abc", memoryview(b"abc"), memoryview(np.arange(3))):
        found = in_memory(memory)
        assert np.shares_memory(found, np.asarray(memoryview(memory)))


def test_changes_are_seen_by_the_next_statement():
    xs = array.array("q", range(5))
    cell = "a = xs |> sum\nxs[0] = 10\nb = xs |> sum\nc = range(5) |> map(lambda i: xs[i]) |> sum\nxs[0] = 0"
    session = run(cell, xs=xs)
    for _ in range(3):
        assert [session.namespace[name] for name in "abc"] == [10, 20, 20]
        session.run_cell(cell)
