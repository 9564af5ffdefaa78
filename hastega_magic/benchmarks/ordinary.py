"""Ordinary code: comprehensions in decorated functions, lists in and lists out; and pipelines in a loop's body."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hastega_magic.benchmarks.model import Workload
from hastega_magic.decorator import hastega

_SEED = 20_180_401


def _mixed(x: int) -> int:
    """Some integer operations of one element, none of them beyond 64 bits."""
    return (x * 7 + 3) % 1_000_003 * (x & 1023) + (x >> 3) - x % 11


def _kept(x: int) -> bool:
    return x % 3 != 0


def filtered(xs: Sequence[int]) -> list[int]:
    """Two thirds of the elements, each through a function of several operations."""
    return [_mixed(x) for x in xs if _kept(x)]


def mapped(xs: Sequence[int]) -> list[int]:
    """All elements through the same function."""
    return [_mixed(x) for x in xs]


def trivial(xs: Sequence[int]) -> list[int]:
    """Next to nothing for each element, and no call: what lists cost."""
    return [x + 1 for x in xs if x % 3]


def summed(xs: Sequence[int]) -> int:
    """One number of all elements; over an array one of NumPy's."""
    return sum(x * x for x in xs if x % 3)


def collected(xs: Sequence[int]) -> list[int]:
    """The same as `filtered`, by a `for` statement."""
    out: list[int] = []
    for x in xs:
        if x % 3 == 0:
            continue
        low = x & 1023
        out.append((x * 7 + 3) % 1_000_003 * low + (x >> 3) - x % 11)
    return out


def added(xs: Sequence[int]) -> tuple[int, int, int]:
    """Three numbers that a `for` statement hands on."""
    total = squares = most = 0
    for x in xs:
        total += x
        squares += x * x
        most = max(most, x)
    return total, squares, most


def running(xs: Sequence[int]) -> int:
    """A number that depends on all turns before."""
    state = 17
    for x in xs:
        state = (state * 31 + x) % 1_000_003
    return state


def sought(xs: Sequence[int]) -> int:
    """The place of a number that is not there, by a `for` statement that would end at it."""
    for i, x in enumerate(xs):
        if (x * 7 + 3) % 1_000_003 == 1_000_004:
            return i
    return -1


def numbers_of_rows(rows: Sequence[Sequence[int]]) -> int:
    """One number of all numbers in rows."""
    return sum(x * x for row in rows for x in row if x % 3)


def products(rows: Sequence[Sequence[int]]) -> list[int]:
    """A number of each row: its product with the first one."""
    first = rows[0]
    return [sum(x * y for x, y in zip(row, first)) for row in rows]  # noqa: B905  as most people write it


def square(rows: Sequence[Sequence[int]]) -> list[list[int]]:
    """The product of a matrix with itself."""
    return [[sum(x * y for x, y in zip(row, column)) for column in zip(*rows)] for row in rows]  # noqa: B905


def neighbours(rows: Sequence[Sequence[int]]) -> list[list[float]]:
    """The mean of the four neighbours of each number, on a torus."""
    h, w = len(rows), len(rows[0])
    return [
        [
            (rows[y - 1][x] + rows[(y + 1) % h][x] + rows[y][x - 1] + rows[y][(x + 1) % w]) / 4
            for x in range(w)
        ]
        for y in range(h)
    ]


def smoothed(xs: Any) -> Any:
    """The mean of three neighbours, stored into a new array."""
    out = np.zeros(len(xs))
    for i in range(1, len(xs) - 1):
        out[i] = (xs[i - 1] + xs[i] + xs[i + 1]) / 3
    return out


def heated(xs: Any) -> Any:
    """A step of the heat equation on a square, stored into a copy."""
    out = xs.copy()
    h, w = xs.shape
    for j in range(1, h - 1):
        for i in range(1, w - 1):
            around = xs[j - 1, i] + xs[j + 1, i] + xs[j, i - 1] + xs[j, i + 1]
            out[j, i] = xs[j, i] + 0.1 * (around - 4 * xs[j, i])
    return out


def stored(xs: Sequence[int]) -> list[int]:
    """The same as `mapped`, stored into a list."""
    out = [0] * len(xs)
    for i, x in enumerate(xs):
        low = x & 1023
        out[i] = (x * 7 + 3) % 1_000_003 * low + (x >> 3) - x % 11
    return out


_WIDTH = 1000
"""Numbers in a row."""


def _in_rows(function: Callable[..., Any], squared: bool = False) -> Callable[[int], dict[str, object]]:
    """`xs`: rows of ints below a thousand in no order, `n` numbers in all; the rest is as of one list.

    `squared`: as many rows as there are numbers in one.
    """

    def inputs(n: int) -> dict[str, object]:
        width = math.isqrt(n) if squared else min(n, _WIDTH)
        rows = np.random.default_rng(_SEED).integers(0, 1_000, (max(1, n // width), width))
        return {"xs": rows.tolist(), "compiled": hastega(function), "plain": function}

    return inputs


def _given(function: Callable[..., Any], array: bool = False) -> Callable[[int], dict[str, object]]:
    """`xs`: ints below a million in no order; `compiled`: the function, decorated; `plain`: as it is."""

    def inputs(n: int) -> dict[str, object]:
        xs = np.random.default_rng(_SEED).integers(0, 1_000_000, n)
        return {"xs": xs if array else xs.tolist(), "compiled": hastega(function), "plain": function}

    return inputs


def _of_floats(function: Callable[..., Any], squared: bool = False) -> Callable[[int], dict[str, object]]:
    """`xs`: an array of random floats, of one dimension or of two; the rest is as of lists."""

    def inputs(n: int) -> dict[str, object]:
        shape = (math.isqrt(n), math.isqrt(n)) if squared else n
        xs = np.random.default_rng(_SEED).random(shape)
        return {"xs": xs, "compiled": hastega(function), "plain": function}

    return inputs


_PROGRAMS = {"python": "def run(xs, plain):\n    return plain(xs)\n"}


def _workload(
    name: str,
    doc: str,
    function: Callable[..., Any],
    array: bool = False,
    numpy: str = "",
    inputs: Callable[[int], dict[str, object]] | None = None,
    n: int = 1_000_000,
) -> Workload:
    programs = _PROGRAMS | ({"numpy": numpy} if numpy else {})
    return Workload(
        name=f"ordinary-{name}", group="ordinary", doc=doc, cell=lambda n: "ys = compiled(xs)\n", result="ys",
        n=n, inputs=inputs or _given(function, array), programs=programs,
    )  # fmt: skip


_OF_A_CELL = """out = []
for x in xs:
    if x % 3 == 0:
        continue
    low = x & 1023
    out.append((x * 7 + 3) % 1_000_003 * low + (x >> 3) - x % 11)
"""

_STEPS = 20
"""Rows that the line is fitted through."""

_DESCENT = """w = b = 0.0
for _ in range({n}):
    dw = {dw}
    db = {db}
    w, b = w - 0.01 * dw, b - 0.01 * db
"""
_PIPES = (
    "xs |> zip(ys) |> map(lambda x, y: (w * x + b - y) * x) |> sum",
    "xs |> zip(ys) |> map(lambda x, y: w * x + b - y) |> sum",
)
_SUMS = ("sum((w * x + b - y) * x for x, y in zip(xs, ys))", "sum(w * x + b - y for x, y in zip(xs, ys))")


def _rows(n: int) -> dict[str, object]:
    """`xs`, `ys`: twenty points near a line, as lists."""
    rng = np.random.default_rng(_SEED)
    xs = rng.random(_STEPS)
    return {"xs": xs.tolist(), "ys": (3 * xs + 1 + 0.01 * rng.standard_normal(_STEPS)).tolist()}


def _descent(n: int, form: Sequence[str]) -> str:
    return _DESCENT.format(n=n, dw=form[0], db=form[1])


_BODY = "".join(f"    {line}\n" for line in _descent(0, _SUMS).replace("range(0)", "range(n)").splitlines())

ORDINARY = (
    _workload("filter", "[f(x) for x in xs if p(x)] over a list, f of several operations", filtered),
    _workload("map", "[f(x) for x in xs] over a list, the same f", mapped),
    _workload("trivial", "[x + 1 for x in xs if x % 3] over a list: what lists cost", trivial),
    _workload("collected", "a `for` statement that appends what the filter gives, over a list", collected),
    _workload("added", "a `for` statement that hands three numbers on, over a list", added),
    Workload(
        name="ordinary-cell", group="ordinary", doc="the `for` statement that appends, at the top of a cell",
        cell=lambda n: _OF_A_CELL, result="out", n=1_000_000, inputs=_given(collected), programs=_PROGRAMS,
    ),
    _workload("running", "a `for` statement whose turns depend on each other, over a list", running),
    _workload("stored", "a `for` statement that stores what the map gives into a list", stored),
    _workload(
        "smoothed", "a `for` statement that stores means of three neighbours into an array", smoothed,
        inputs=_of_floats(smoothed),
        numpy="import numpy as np\ndef run(xs):\n    out = np.zeros(len(xs))\n"
        "    out[1:-1] = (xs[:-2] + xs[1:-1] + xs[2:]) / 3\n    return out\n",
    ),
    _workload(
        "heated", "two nested `for` statements that store a step of the heat equation into an array", heated,
        inputs=_of_floats(heated, squared=True),
        numpy="def run(xs):\n    out = xs.copy()\n"
        "    around = xs[:-2, 1:-1] + xs[2:, 1:-1] + xs[1:-1, :-2] + xs[1:-1, 2:]\n"
        "    out[1:-1, 1:-1] = xs[1:-1, 1:-1] + 0.1 * (around - 4 * xs[1:-1, 1:-1])\n    return out\n",
    ),
    _workload("sought", "a `for` statement that ends at what it finds, which is nothing, over a list", sought),
    _workload(
        "array", "[f(x) for x in xs] over an int64 array, a list of np.int64 out", mapped, array=True,
    ),
    _workload(
        "array-sum", "sum(x * x for x in xs if x % 3) over an int64 array", summed, array=True,
        numpy="def run(xs):\n    return (xs[xs % 3 != 0] ** 2).sum()\n",
    ),
    _workload(
        "flat", "sum(x * x for row in rows for x in row if x % 3) over lists of 1000", numbers_of_rows,
        inputs=_in_rows(numbers_of_rows),
    ),
    _workload(
        "rows", "[sum(x * y for x, y in zip(row, first)) for row in rows] over lists of 1000", products,
        inputs=_in_rows(products),
    ),
    _workload(
        "matrix", "the product of a matrix of lists with itself, by zip(*rows)", square,
        inputs=_in_rows(square, squared=True), n=10_000,
    ),
    _workload(
        "neighbours", "the mean of four neighbours in lists of lists, a list of lists out", neighbours,
        inputs=_in_rows(neighbours, squared=True),
    ),
    Workload(
        name="ordinary-loop", group="ordinary", doc="gradient descent over 20 rows, n steps of two pipelines each",
        cell=lambda n: _descent(n, _PIPES), result="w", n=1000, inputs=_rows, tolerance=1e-9,
        programs={"python": f"def run(n, xs, ys):\n{_BODY}    return w\n"},
    ),
)  # fmt: skip
