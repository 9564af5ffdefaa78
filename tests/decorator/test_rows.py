"""Ordinary code over lists of lists and arrays of two dimensions: one number after the other, or row by row."""

from __future__ import annotations

import math
import random
import sys
import warnings
from typing import Any

import numpy as np
import pytest

from hastega_magic import hastega


def doubled(rows: Any) -> Any:
    return [x * 2 for row in rows for x in row]


def squares(rows: Any) -> Any:
    return sum(x * x for row in rows for x in row if x % 3)


def largest(rows: Any) -> Any:
    return max(abs(x) for row in rows for x in row)


def kinds(rows: Any) -> Any:
    return {x % 7 for row in rows for x in row}


def table(rows: Any) -> Any:
    return {x: x * x for row in rows for x in row}


def any_large(rows: Any) -> Any:
    return any(x > 10**9 for row in rows for x in row)


ONE_BY_ONE = [doubled, squares, largest, kinds, table, any_large]


def norm(row: Any) -> Any:
    total = 0
    for x in row:
        total += x * x
    return total


def sums(rows: Any) -> Any:
    return [sum(x * x for x in row) for row in rows]


def norms(rows: Any) -> Any:
    return [norm(row) for row in rows]


def products(rows: Any) -> Any:
    return [sum(x * y for x, y in zip(row, rows[1])) for row in rows]  # noqa: B905 -- of any length


def spread(rows: Any) -> Any:
    return [max(row) - min(row) for row in rows if row]


def ends(rows: Any) -> Any:
    return [row[0] + row[-1] if len(row) > 1 else -1 for row in rows]


def steps(rows: Any) -> Any:
    return max(sum(abs(b - a) for a, b in zip(row, row[1:])) for row in rows)  # noqa: RUF007, B905


def largest_of_rows(rows: Any) -> Any:
    return max(max(row) for row in rows)


def mapped(rows: Any) -> Any:
    return list(map(norm, rows))


ROW_BY_ROW = [sums, norms, products, spread, ends, steps, largest_of_rows, mapped]


def areas(rows: Any) -> Any:
    return [x * y + z for x, y, z in rows]


def chosen(rows: Any) -> Any:
    return [row[0] * row[-1] for row in rows if row[1] > 5]


def below(rows: Any) -> Any:
    return all(x <= y for x, y, _ in rows)


def firsts(rows: Any) -> Any:
    return [x for x, _, _ in rows]


TAKEN_APART = [areas, chosen, below, firsts]


class Rows(list[Any]):
    pass


TRIPLES = [[number, number + 1, number * 3 % 17] for number in range(3000)]
WIDE = [[i * j % 1000 for j in range(90)] for i in range(300)]
SOURCES: dict[str, Any] = {
    "wide": WIDE,
    "triples": TRIPLES,
    "floats": [[x / 4 for x in row] for row in TRIPLES],
    "ragged": [list(range(number % 7)) for number in range(3000)],
    "ragged floats": [[x / 2 for x in range(number % 7)] for number in range(3000)],
    "tuples": [tuple(row) for row in WIDE],
    "bools": [[True, False, True]] * 500,
    "kinds": [[number, number / 2, number % 2 == 0] for number in range(3000)],
    "both": [*TRIPLES[:500], *map(tuple, TRIPLES[500:1000])],
    "texts": [[1, 2, "a"]] * 500,
    "large": [[2**70, 1, 2]] * 500,
    "a short one": [*TRIPLES[:600], [1, 2]],
    "a long one": [*TRIPLES[:600], [1, 2, 3, 4]],
    "a number": [*TRIPLES[:600], 3],
    "none": [*TRIPLES[:600], None],
    "few": TRIPLES[:5],
    "nothing": [],
    "empty": [[]] * 500,
    "of a class": Rows(TRIPLES),
    "rows of a class": [Rows(row) for row in TRIPLES],
    "ranges": [range(3)] * 500,
    "generators": [iter(row) for row in TRIPLES],
    "array": np.arange(9000).reshape(3000, 3),
    "float array": np.arange(9000).reshape(3000, 3) * 0.5,
    "transposed": np.arange(9000).reshape(3, 3000).T,
    "backwards": np.arange(9000).reshape(3000, 3)[::-1],
    "narrow": np.arange(9000).reshape(3000, 3).astype(np.int8),
    "single": (np.arange(9000).reshape(3000, 3) * 0.5).astype(np.float32),
    "flat array": np.arange(3000),
    "deep array": np.arange(9000).reshape(1000, 3, 3),
}


def outcome(function: Any, given: Any) -> Any:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = function(given)
        except Exception as error:
            return type(error), str(error)
    told = [(each.category, str(each.message)) for each in caught]
    if isinstance(found, float):  # a sum in another order
        return type(found), round(found, 6), told
    return type(found), repr(found), told


@pytest.mark.parametrize("function", [*ONE_BY_ONE, *ROW_BY_ROW, *TAKEN_APART])
def test_results_are_pythons(function: Any) -> None:
    decorated = hastega(function)
    for name, given in SOURCES.items():
        if name == "generators":
            continue
        for _ in range(2):
            assert outcome(decorated, given) == outcome(function, given), name


@pytest.mark.parametrize("function", [*ONE_BY_ONE, *ROW_BY_ROW, *TAKEN_APART])
def test_iterators_are_used_up_once(function: Any) -> None:
    made = [[iter(row) for row in TRIPLES[:400]] for _ in range(2)]
    assert outcome(hastega(function), made[0]) == outcome(function, made[1])


COMPILED = [
    *[(each, name) for each in ONE_BY_ONE for name in ("wide", "triples", "ragged", "tuples", "array")],
    *[(each, name) for each in (sums, norms, mapped) for name in ("wide", "ragged", "tuples")],
    (products, "wide"), (products, "tuples"),
    *[(each, name) for each in TAKEN_APART for name in ("triples", "kinds", "floats", "array")],
    (ends, "ragged"), (steps, "ragged"), (steps, "wide"), (doubled, "floats"), (sums, "floats"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "name"), COMPILED)
def test_it_is_one_loop(function: Any, name: str) -> None:
    decorated = hastega(on="simd")(function)
    decorated(SOURCES[name])
    report = str(decorated.explain())
    assert "1 fused loop" in report, report
    assert "ran in Python" not in report


def test_rows_of_other_sizes_fit_the_same_loop() -> None:
    decorated, numbers = hastega(on="simd")(sums), random.Random(5)
    for turn in range(30):
        size = numbers.randrange(300, 400)
        rows = [[numbers.randrange(1000) for _ in range(numbers.randrange(40))] for _ in range(size)]
        assert decorated(rows) == sums(rows)
        rows[0] = [2**70, turn]
        assert decorated(rows) == sums(rows)
    assert "compiled too often" not in str(decorated.explain())


def test_an_element_that_raises_is_pythons_own_error() -> None:
    def quotients(rows: Any) -> Any:
        return [10 // x for row in rows for x in row]

    def means(rows: Any) -> Any:
        return [sum(row) / len(row) for row in rows]

    zeros = [[1, 2, 3]] * 500 + [[4, 0]] + [[0]]
    for function, given in ((quotients, zeros), (means, [[1]] * 400 + [[]]), (means, [[1.5]] * 400 + [[]])):
        assert outcome(hastega(function), given) == outcome(function, given)
        assert outcome(hastega(function), given)[0] is ZeroDivisionError


def test_rows_that_are_read_elsewhere_stay_pythons() -> None:
    def scaled(rows: Any) -> Any:
        return [x * len(row) for row in rows for x in row]

    def whole(rows: Any) -> Any:
        return [row for row in rows if sum(row) > 50]

    def shadowed(row: Any) -> Any:
        return [row * 2 for row in row for row in row]

    def halves(rows: Any) -> Any:
        return [x for row in rows if len(row) > 1 for x in row if x % 2]

    for function in (scaled, whole, shadowed, halves):
        for name in ("wide", "ragged", "triples"):
            assert hastega(function)(SOURCES[name]) == function(SOURCES[name])
    assert hastega(whole)(TRIPLES)[0] is whole(TRIPLES)[0]


def test_deeper_rows() -> None:
    def total(cube: Any) -> Any:
        return sum(math.sqrt(x * x) for plane in cube for row in plane for x in row)

    decorated = hastega(total)
    cube = [WIDE[:20], TRIPLES[:300]]
    assert decorated(cube) == pytest.approx(total(cube), rel=1e-12)
    assert "1 fused loop" in str(decorated.explain())
    assert outcome(decorated, np.zeros((9, 9, 9))) == outcome(total, np.zeros((9, 9, 9)))
    assert outcome(decorated, WIDE) == outcome(total, WIDE)


def test_a_list_that_grows_meanwhile_is_pythons() -> None:
    rows = [[1, 2, 3] for _ in range(400)]

    def growing(rows: Any) -> Any:
        return [rows.append([x]) or x if len(rows) < 403 else x for row in rows for x in row]

    assert hastega(growing)(rows) == growing([[1, 2, 3] for _ in range(400)])


def counted(rows: Any) -> Any:
    return [sum(1 for _ in row) for row in rows]


def any_there(rows: Any) -> Any:
    return [any(True for _ in row) for row in rows if all(False for _ in row)]


def first_or_none(rows: Any) -> Any:
    def found(row: Any) -> Any:
        for _ in row:
            return 5
        return 7

    return [found(row) for row in rows]


def rest(rows: Any) -> Any:
    return [sum(row[1:]) for row in rows]


@pytest.mark.parametrize("function", [counted, any_there, first_or_none, rest])
def test_empty_rows_of_any_kind(function: Any) -> None:
    halves = [[x / 2 for x in range(number % 3)] for number in range(300)]
    given = [halves, [[x > 0 for x in row] for row in halves], [[int(2 * x) for x in row] for row in halves]]
    decorated = hastega(on="simd")(function)
    for rows in (*given, [[1.5, 2.5]] * 300, *given, [[1.5], []] * 300, [[1], []] * 300):
        assert repr(decorated(rows)) == repr(function(rows))


def test_a_list_that_grows_while_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, made = [[1, 2, 3] for _ in range(400)], np.empty

    def growing(*given: Any) -> Any:
        rows.extend([[] for _ in range(5000)])
        return made(*given)

    decorated = hastega(on="simd")(sums)
    decorated(rows)
    with monkeypatch.context() as patch:
        patch.setattr("hastega_magic.runtime.objects.rows.np.empty", growing)
        assert decorated(rows)[:400] == [14] * 400
    assert decorated(rows) == sums(rows)


def powers(rows: Any) -> Any:
    return [sum(x**9 for x in row) for row in rows]


@pytest.mark.parametrize("function", [sums, squares, areas, counted, powers])
def test_rows_are_let_go(function: Any) -> None:
    decorated = hastega(on="simd")(function)
    rows = [[number * 999, number, 2] for number in range(600)]
    before = sys.getrefcount(rows)
    for _ in range(3):
        decorated(rows)
    assert sys.getrefcount(rows) == before


x__0__ = 1000


def test_names_that_stand_twice() -> None:
    def last(rows: Any) -> Any:
        return [x + x__0__ for x, x, y in rows if y]

    def named(rows: Any) -> Any:
        return [x * 2 for x, x, x__0__ in rows]

    for function in (last, named):
        assert hastega(function)(TRIPLES) == function(TRIPLES)


def test_rows_taken_apart_in_several_clauses_stay_pythons() -> None:
    def crossed(rows: Any) -> Any:
        return [a * c for a, b, c in rows for _ in range(2) if b % 2]

    assert hastega(crossed)(TRIPLES) == crossed(TRIPLES)
