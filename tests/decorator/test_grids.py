"""Lists of lists made by one comprehension inside another, and code that looks up numbers in lists of lists."""

from __future__ import annotations

import random
import sys
from collections import Counter
from typing import Any

import numpy as np
import pytest

from hastega_magic import hastega
from hastega_magic.compiler.fastpath.ordinary import OrdinaryCode


def scaled(rows: Any) -> Any:
    return [[x * 3 + 1 for x in row] for row in rows]


def added(rows: Any) -> Any:
    return [[x + y for x, y in zip(p, q)] for p, q in zip(rows, rows[::-1])]  # noqa: B905 -- as it is written


def turned(rows: Any) -> Any:
    return [[row[i] for row in rows] for i in range(len(rows[0]))]


def numbered(rows: Any) -> Any:
    return [[row[i] * i for i in range(len(rows[0]))] for row in rows]


def looked_up(rows: Any) -> Any:
    return [[rows[i][j] + rows[j % len(rows)][i % 2] for j in range(len(rows[0]))] for i in range(len(rows))]


def product(rows: Any) -> Any:
    return [[sum(x * y for x, y in zip(p, q)) for q in zip(*rows)] for p in rows]  # noqa: B905


def by_places(rows: Any) -> Any:
    n, k = len(rows), len(rows[0])
    return [[sum(rows[i][t] * rows[j][t] for t in range(k)) for j in range(n)] for i in range(n)]


def neighbours(rows: Any) -> Any:
    h, w = len(rows), len(rows[0])
    return [
        [
            (rows[y - 1][x] + rows[(y + 1) % h][x] + rows[y][x - 1] + rows[y][(x + 1) % w]) / 4
            for x in range(w)
        ]
        for y in range(h)
    ]


def largest(rows: Any) -> Any:
    return [[max(p) - min(q) for q in rows] for p in rows]


def lengths(rows: Any) -> Any:
    return [[len(p) - len(q) for q in rows] for p in rows]


OVER_ROWS = [scaled, added, turned, numbered, looked_up, product, by_places, neighbours, largest, lengths]


def table(xs: Any) -> Any:
    return [[x * y - 1 for y in xs] for x in xs]


def identity(xs: Any) -> Any:
    return [[1 if i == j else 0 for j in range(len(xs))] for i in range(len(xs))]


def shared(xs: Any) -> Any:
    return [[x + 1 for x in xs] for x in xs]


def triangle(xs: Any) -> Any:
    return [[x + j for j in range(i)] for i, x in enumerate(xs)]


def chosen(xs: Any) -> Any:
    return [[x * y for y in xs if y > 2] for x in xs if x > 3]


def constants(xs: Any) -> Any:
    return [[0.5 for _ in xs] for _ in xs]


def divided(xs: Any) -> Any:
    return [[x // y for y in xs] for x in xs]


def deeper(xs: Any) -> Any:
    return [[[x + y + z for z in range(4)] for y in xs] for x in range(3)]


def tuples(xs: Any) -> Any:
    return [[(x, x - y) for y in xs] for x in xs]


def none_inside(xs: Any) -> Any:
    return [[x + y for y in xs[:0]] for x in xs]


OVER_NUMBERS = [table, identity, shared, triangle, chosen, constants, divided, deeper, tuples, none_inside]


def distances(points: Any) -> Any:
    return [[((a - c) ** 2 + (b - d) ** 2) ** 0.5 for c, d in points] for a, b in points]


def crossings(points: Any) -> Any:
    return sum(a * d - b * c for a, b in points for c, d in points if a < c)


OVER_POINTS = [distances, crossings]


def outcome(function: Any, *args: Any) -> Any:
    """The value with all of its types and last bits, or what is raised."""
    try:
        return repr(_typed(function(*args)))
    except Exception as error:
        return type(error), str(error)


def _typed(value: Any) -> Any:
    if type(value) in (list, tuple):
        return type(value).__name__, [_typed(each) for each in value]
    return type(value).__name__, value.hex() if isinstance(value, float) else value


def agree(function: Any, make: Any, runs: int = 3) -> None:
    decorated = hastega(function)
    for _ in range(runs):
        assert outcome(decorated, make()) == outcome(function, make())


N = 48
SQUARE = [[(i * j + i) % 11 for j in range(N)] for i in range(N)]
ROWS: dict[str, Any] = {
    "ints": SQUARE,
    "floats": [[x / 4 - 1 for x in row] for row in SQUARE],
    "wide": [[i + j for j in range(400)] for i in range(9)],
    "long": [[i, i % 7] for i in range(1500)],
    "bools": [[x > 3 for x in row] for row in SQUARE],
    "kinds": [[x / 2 if x > 5 else x for x in row] for row in SQUARE],
    "tuples": tuple(map(tuple, SQUARE)),
    "both": [*SQUARE[:24], *map(tuple, SQUARE[24:])],
    "ragged": [row[: 40 + i % 3] for i, row in enumerate(SQUARE)],
    "some empty": [row if i % 5 else [] for i, row in enumerate(SQUARE)],
    "near the end of 64 bits": [[2**62 + x for x in row] for row in SQUARE],
    "beyond 64 bits": [[2**70 + x for x in row] for row in SQUARE],
    "nan": [[float("nan") if x == 3 else x / 8 for x in row] for row in SQUARE],
    "texts": [["a", *row[1:]] for row in SQUARE],
    "an array": np.array(SQUARE),
    "arrays": [np.array(row) for row in SQUARE],
    "few": [[1, 2], [3, 4]],
    "nothing": [],
    "empty": [[], []],
    "a number": [*SQUARE, 5],
    "ranges": [range(40) for _ in range(40)],
}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("function", OVER_ROWS)
def test_over_rows(function: Any, name: str) -> None:
    rows = ROWS[name]
    agree(function, lambda: rows)


NUMBERS: dict[str, Any] = {
    "ints": list(range(1, 60)),
    "with zero": list(range(60)),
    "floats": [x / 8 for x in range(60)],
    "large": [2**40 + x for x in range(60)],
    "kinds": [x / 2 if x % 3 else x for x in range(60)],
    "bools": [x % 3 == 0 for x in range(60)],
    "an array": np.arange(1, 60),
    "a range": range(1, 60),
    "few": [1, 2, 3],
    "nothing": [],
    "texts": ["a"] * 50,
}


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("function", OVER_NUMBERS)
def test_over_numbers(function: Any, name: str) -> None:
    numbers = NUMBERS[name]
    agree(function, lambda: numbers)


POINTS: dict[str, Any] = {
    "floats": [(x / 4, x / 2 - 9) for x in range(60)],
    "ints": [(x, x * x % 7) for x in range(60)],
    "lists": [[x, x / 2] for x in range(60)],
    "a longer one": [*((x, x + 1) for x in range(59)), (1, 2, 3)],
    "an array": np.arange(120.0).reshape(-1, 2),
    "texts": ["ab"] * 60,
    "few": [(1, 2), (3, 4)],
    "nothing": [],
    "numbers": list(range(60)),
}


@pytest.mark.parametrize("name", POINTS)
@pytest.mark.parametrize("function", OVER_POINTS)
def test_over_points(function: Any, name: str) -> None:
    points = POINTS[name]
    agree(function, lambda: points)


def test_other_numbers_in_each_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is looked up is read anew, and what was compiled is not compiled again, where the shape stays."""
    compiled: list[object] = []
    compile_ = OrdinaryCode._compile
    monkeypatch.setattr(
        OrdinaryCode, "_compile", lambda self, *given: compiled.append(self) or compile_(self, *given)
    )
    for function in (looked_up, product, by_places, neighbours, turned, scaled):
        decorated: Any = hastega(function)
        compiled.clear()
        for seed in range(12):
            made = random.Random(seed)
            rows = [[made.randrange(-9, 9) for _ in range(N)] for _ in range(N)]
            assert outcome(decorated, rows) == outcome(function, rows), function
            rows[seed][seed] += 1000
            assert outcome(decorated, rows) == outcome(function, rows), function
            rows[seed] = [1] * N
            assert outcome(decorated, rows) == outcome(function, rows), function
        assert max(Counter(map(id, compiled)).values()) < 8, function


def test_other_shapes_in_each_run() -> None:
    for function in (looked_up, product, neighbours, turned, added, scaled):
        decorated: Any = hastega(function)
        for n in (40, 41, 60, 40, 33, 64, 5, 40):
            rows = [[(i * j) % 13 for j in range(n + 2)] for i in range(n)]
            assert outcome(decorated, rows) == outcome(function, rows), (function, n)


def test_rows_are_lists_of_their_own() -> None:
    for function, given in ((table, list(range(60))), (scaled, SQUARE), (product, SQUARE)):
        decorated: Any = hastega(function)
        for _ in range(5):
            made = decorated(given)
            assert len(set(map(id, made))) == len(made)
            made[0][0] = "changed"
            assert decorated(given)[0][0] != "changed"


def same_rows(rows: Any) -> Any:
    return [[1 if p is q else 0 for q in rows] for p in rows]


def others(rows: Any) -> Any:
    return sum((p[0] - q[0]) ** 2 + 1 for p in rows for q in rows if p is not q)


def equal_rows(rows: Any) -> Any:
    return [[(p == q) + (p in rows) + (p == (3, 4)) for q in rows] for p in rows]


def by_number(rows: Any) -> Any:
    return [(rows[i] == (3, 4)) + (rows[0] is rows[i % 6]) for i in range(len(rows))]


def parts(rows: Any) -> Any:
    return [len(rows[i % 3 :]) + sum(1 for _ in rows[: i % 3 + 1]) for i in range(len(rows) * 9)]


def largest_of_parts(rows: Any) -> Any:
    return [max(rows[i % 3 :])[0] + len(rows[i % 3 : i % 3 + 2]) for i in range(len(rows) * 9)]


def sum_of_parts(rows: Any) -> Any:
    return [sum(rows[i % 3 :]) for i in range(len(rows) * 9)]


@pytest.mark.parametrize(
    "function", [same_rows, others, equal_rows, by_number, parts, largest_of_parts, sum_of_parts]
)
def test_rows_are_the_objects_that_they_are(function: Any) -> None:
    """Of which a list and a tuple of the same numbers are two, and one may stand in several places."""
    rows = [[i % 5, i % 7] for i in range(300 if function is by_number else 60)]
    decorated = hastega(function)
    for given in (rows, [rows[0]] * 6 + rows[6:], list(map(tuple, rows)), [*rows[:9], *map(tuple, rows[9:])]):
        for _ in range(2):
            assert outcome(decorated, given) == outcome(function, given)


def test_one_loop_makes_all_rows() -> None:
    for function, given in (
        (table, list(range(300))),
        (scaled, [[x] * 90 for x in range(90)]),
        (product, SQUARE),
    ):
        decorated: Any = hastega(on="simd")(function)
        decorated(given)
        (report,) = decorated.explain().pipelines
        assert report.loops == 1, function
        assert not report.barriers, function


def test_an_element_that_raises() -> None:
    """Python runs it again, and raises it where it stands."""
    decorated: Any = hastega(divided)
    numbers = list(range(60, -1, -1))
    for _ in range(5):
        with pytest.raises(ZeroDivisionError) as caught:
            decorated(numbers)
        assert caught.traceback[-1].path.name == "test_grids.py"


def test_rows_that_the_code_does_not_keep() -> None:
    """Nothing of the rows stays alive when they are gone."""
    rows = [[x, x + 1] for x in range(1500)]
    for function in (scaled, added, numbered, lengths):
        rows = rows if function is not lengths else rows[:90]
        decorated: Any = hastega(function)
        before = [sys.getrefcount(row) for row in (rows, rows[0], rows[-1])]
        for _ in range(4):
            decorated(rows)
        assert [sys.getrefcount(row) for row in (rows, rows[0], rows[-1])] == before, function


def test_zip_that_is_not_pythons() -> None:
    made: Any = hastega(added)
    made(SQUARE)
    added.__globals__["zip"] = lambda *args: [(1, 2)]
    try:
        assert made(SQUARE) == [[3]]
    finally:
        del added.__globals__["zip"]
    assert outcome(made, SQUARE) == outcome(added, SQUARE)
