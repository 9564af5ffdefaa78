"""Stages read arrays that Python's stages change through other views of the same memory."""

from __future__ import annotations

import array

import numpy as np
import pytest

from hastega_magic.session import Options, Session

DEFINITIONS = """
def by_base(x):
    a[0] += 1
    return x
def by_view(x):
    v[0] += 1
    return x
def by_memoryview(x):
    seen[0] = seen[0] + 1
    return x
def by_buffer(x):
    held[0] += 1
    return x
"""
CELLS = [
    "t = w |> map(_ + 1) |> map(by_base) |> to_list",
    "t = range(3000) |> map(lambda x: x + v[0]) |> map(by_base) |> to_list",
    "t = range(3000) |> map(by_base) |> map(lambda x: x + v[0]) |> to_list",
    "t = range(3000) |> map(by_view) |> map(lambda x: x + w[-1]) |> to_list",
    "t = range(3000) |> map(lambda x: x + grid[0, 0]) |> map(by_view) |> to_list",
    "t = range(3000) |> map(lambda x: x + v[0]) |> map(by_memoryview) |> to_list",
    "t = other |> map(_ + 1) |> map(by_buffer) |> zip(other) |> map(lambda x, y: x + y) |> to_list",
    "t = (by_view(x) for x in range(3000)) |> map(lambda x: x + w[-1]) |> to_list",
]


@pytest.mark.parametrize("cell", CELLS)
def test_it_is_as_with_python(cell: str) -> None:
    found: dict[str, list[object]] = {}
    for on in ("python", "simd"):
        a, held = np.arange(3000), array.array("q", range(3000))
        names = {"a": a, "v": a[::2], "w": a[::-1], "grid": a.reshape(30, 100), "seen": memoryview(a)}
        session = Session({**names, "held": held, "other": np.frombuffer(held, np.int64)})
        session.run_cell(DEFINITIONS)
        options = Options(on=on, baseline=False, quiet=True)
        found[on] = []
        for _ in range(2):
            session.run_cell(cell, options=options)
            found[on] += session.namespace["t"]
    assert found["simd"] == found["python"]
