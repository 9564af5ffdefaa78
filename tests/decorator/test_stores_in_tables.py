"""Rows, columns and tables that turns of `for` statements store into are left as Python leaves them."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hastega_magic import hastega
from hastega_magic.syntax.ordinary import stores
from tests.decorator.conftest import loops  # noqa: F401
from tests.decorator.test_stores import HEAD, XS, function, outcome, same


@pytest.fixture(autouse=True)
def heavy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turns count as long ones, however little they do."""
    monkeypatch.setattr(stores, "_HEAVY", 0)


def table(dtype: Any = None, many: int = 4) -> Callable[[], Any]:
    """So many rows of 400 numbers."""
    rows = [[x + k for x in XS[:400]] for k in range(many)]
    return lambda: [[*row] for row in rows] if dtype is None else np.array(rows).astype(dtype)


ROWS = {
    "rows of lists": ("b[k][i] = a[k][i] * 2 + k", table(), table()),
    "rows": ("b[k, i] = i * k", table(), table(float)),
    "columns": ("b[i, k] = i * k + 1", table(), lambda: np.zeros((400, 4))),
    "rows by subscripts": ("b[k][i] = i / 2 - k", table(), table(float)),
    "of other rows": ("b[k - 1, i] = a[k, i] + a[k - 1, i]", table(float), table(float)),
    "added": ("b[k, i] += a[k, i] * 2", table(float), table(float)),
    "of a dict": ("b[k][i] = i + k", table(), lambda: dict(enumerate(table()()))),
    "two": ("b[k][i] = i + k\n            a[k][i] = i - k", table(), table()),
    "a row before": ("b[k][i] = b[k - 1][i + 1] + a[k][i] if i < 399 else 0", table(), table()),
    "two places of it": ("b[k][i] = b[k - 1][i] + b[k - 1][i - 1]", table(), table()),
    "columns before": ("b[i, k] = b[i, k - 1] + 1", table(), lambda: np.ones((400, 4))),
    "rows before": ("b[k, i] = b[k - 1, i] + b[k - 2, i]", table(), table(float)),
    "turns": (
        (
            f"z, c, m = 0j, complex(i / 200 - 1.5, k / 4), 0\n{12 * ' '}while abs(z) < 2 and m < 40:\n"
            f"{16 * ' '}z = z * z + c\n{16 * ' '}m += 1\n{12 * ' '}b[k, i] = m"
        ),
        table(), lambda: np.zeros((4, 400), np.int32)),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_rows_and_columns_are_sequences(name, loops):  # noqa: F811
    body, *made = ROWS[name]
    same(
        f"{HEAD}    for k in range(4):\n        y = k\n        for i in range(400):\n            {body}\n",
        *made,
    )
    assert len(loops) == 8


ROWS_LEFT = {
    "a row that is read as a whole": ("b[k][i] = len(b[k]) + i", table(), table()),
    "one row": ("b[k][i] = b[0][i] + 1", table(), lambda: [table()()[0]] * 4),
    "the same row": ("b[k][i] = a[k][i - 1] + 1", lambda: (it := table()()) and it, table()),
    "a list by a pair": ("b[k, i] = i", table(), table()),
    "rows that are tuples": ("b[k][i] = i", table(), lambda: [*map(tuple, table()())]),
    "a row that is not there": ("b[k + 1][i] = i", table(), table()),
    "a changing row": ("b[i % 4][i] = i", table(), table()),
    "the diagonal": ("b[i][i] = i", table(), table()),
}


@pytest.mark.parametrize("name", ROWS_LEFT)
def test_what_of_rows_is_pythons(name, loops):  # noqa: F811
    body, *made = ROWS_LEFT[name]
    same(f"{HEAD}    for k in range(4):\n        for i in range(400):\n            {body}\n", *made)
    assert name in ("the same row", "a row that is not there") or not loops


def test_rows_that_are_read_and_stored_into(loops):  # noqa: F811
    text = f"{HEAD}    for k in range(4):\n        for i in range(1, 400):\n            b[k][i] = a[k][i - 1] + 1\n"
    for kind in (list, lambda rows: np.array([*rows])):
        plain = function(text)
        decorated = hastega(plain)
        theirs, ours = ((it := kind(table()()), it) for _ in range(2))
        plain(*theirs)
        decorated(*ours)
        assert repr(ours) == repr(theirs)
    assert not loops


class Number:
    asked = 0

    def __index__(self) -> int:
        self.asked += 1
        return 2


def test_an_object_that_numbers_a_row_is_asked_as_often(loops):  # noqa: F811
    f = hastega(function("def f(b, k):\n    for i in range(400):\n        b[k][i] = i\n"))
    f(table()(), k := Number())
    assert k.asked == 400
    assert not loops


def tall(dtype: Any = None) -> Callable[[], Any]:
    """Eight rows."""
    return table(dtype, 8)


GRID = {
    "an array": ("b[k, i] = i * k", tall(), tall(float)),
    "lists": ("b[k][i] = a[k][i] * 2 + k", tall(), tall()),
    "by subscripts": ("b[k][i] = a[k, i] - i", tall(float), tall(float)),
    "turned": ("b[i, k] = i * k + 1", tall(), lambda: np.zeros((400, 8))),
    "turned lists": ("b[i][k] = i * k + 1", tall(), lambda: [[0] * 8 for _ in range(400)]),
    "moved": ("b[k + 1, i + 2] = a[k, i] + a[k - 1, i - 1]", tall(float), lambda: np.zeros((9, 402))),
    "added": ("b[k, i] += a[k, i] * 2", tall(float), tall(float)),
    "some": ("if a[k][i] % 3: b[k][i] = i", tall(), tall()),
    "some of an array": ("if i % 3: b[k, i] = a[k, i] + 0.5", tall(float), tall(float)),
    "two": ("b[k][i] = i + k\n            a[k][i] = i - k", tall(), tall()),
    "narrow": ("b[k, i] = (i + k) % 50", tall(), lambda: np.zeros((8, 400), np.uint8)),
    "turns": (
        f"m = 0\n{12 * ' '}while m * m < i * k: m += 1\n{12 * ' '}b[k, i] = m",
        tall(), lambda: np.zeros((8, 400), np.int32)),
}  # fmt: skip


@pytest.mark.parametrize("name", GRID)
def test_two_statements_are_one_loop(name, loops):  # noqa: F811
    body, *made = GRID[name]
    same(f"{HEAD}    for k in range(8):\n        for i in range(400):\n            {body}\n", *made)
    assert len(loops) == 2


@pytest.mark.parametrize("name", GRID)
def test_variables_of_the_last_turn_are_pythons(name, loops):  # noqa: F811
    body, *made = GRID[name]
    head = f"{HEAD}    for k in range(8):\n        for i in range(400):\n            z = i - k\n"
    same(f"{head}            {body}\n    return k, i, z\n", *made)
    assert loops.count("for k in range(8): ...") == 2  # Python's last turn may have a loop of its own


GRID_LEFT = {
    "neighbours": ("b[k][i] = b[k][i - 1] + 1", table(), table()),
    "the other table": ("b[k, i] = a[k, i - 1] + 1", lambda: SHOWN[:, :400], lambda: SHOWN[:, 1:401]),
    "one row": ("b[k][i] = i", table(), lambda: [table()()[0]] * 4),
    "too short": ("b[k][i] = i", table(), lambda: [[0] * 400, [0] * 400, [0] * 7, [0] * 400]),
    "too few": ("b[k][i] = i", table(), lambda: [[0] * 400] * 3),
    "tuples": ("b[k][i] = i", table(), lambda: [(0,) * 400] * 4),
    "lists by pairs": ("b[k, i] = i", table(), table()),
    "a raising element": ("b[k][i] = 7 // (i - 300)", table(), table()),
    "handed on": ("m = m + i if i else 0\n            b[k][i] = m", table(), table()),
    "rounded": ("b[k, i] = i / 3", table(), lambda: np.zeros((4, 400), np.float32)),
}
SHOWN = np.zeros((4, 401))


@pytest.mark.parametrize("name", GRID_LEFT)
def test_tables_that_are_pythons(name, loops):  # noqa: F811
    body, *made = GRID_LEFT[name]
    SHOWN[:] = 0
    text = f"{HEAD}    m = 0\n    for k in range(4):\n        for i in range(400):\n            {body}\n    return m\n"
    plain = function(text)
    decorated = hastega(plain)
    for _ in range(2):
        SHOWN[:] = 0
        theirs = [each() for each in made]
        expected = outcome(plain, theirs), repr(theirs)
        SHOWN[:] = 0
        ours = [each() for each in made]
        assert (outcome(decorated, ours), repr(ours)) == expected


def test_bounds_of_inner_loops_may_not_change(loops):  # noqa: F811
    same(
        f"{HEAD}    for k in range(4):\n        for i in range(k, 400):\n            b[k][i] = i * k\n",
        table(),
        table(),
    )
    text = f"{HEAD}    for k in range(4):\n        for i in range(divmod(400, k + 1)[0]):\n            b[k][i] = i\n"
    same(text, table(), table())
    text = f"{HEAD}    for k in range(4):\n        for i in range(divmod(400, 1)[0]):\n            b[k][i] = i * k\n"
    same(text, table(), table())
    text = f"{HEAD}    for k in range(4):\n        for i in range(800 - len(b[0])):\n            b[k][i] = i * k\n"
    same(text, table(), table())
    assert len(loops) > 8  # row by row


BREAKS = {
    "at once": "if i > k + 300: break\n            b[k][i] = i + k",
    "behind": "b[k][i] = i + k\n            if i > 300: break",
    "in a third loop": "for m in range(9):\n                if m * m > i: break\n            b[k][i] = m",
}


@pytest.mark.parametrize("name", BREAKS)
def test_inner_turns_may_end_the_row(name):
    same(
        f"{HEAD}    for k in range(8):\n        for i in range(400):\n            {BREAKS[name]}\n",
        tall(),
        tall(),
    )


LAST = {
    "some turns": "if k == 3: y = i\n            b[k][i] = i * k",
    "where it stores": "if k < 3:\n                y = i\n                b[k][i] = i * k",
    "behind continue": "if k > 3: continue\n            y = i\n            b[k][i] = i * k",
    "all turns": "y = i * 2\n            b[k][i] = y",
}


@pytest.mark.parametrize("name", LAST)
def test_variables_keep_what_the_last_turn_that_does_gives_them(name):
    loop = f"for k in range(8):\n        for i in range(400):\n            {LAST[name]}\n"
    same(f"{HEAD}    y = -1\n    {loop}    return y, k, i\n", tall(), tall())
    text = f"{HEAD}    y = None\n    try:\n        {loop.replace(chr(10), chr(10) + 4 * ' ').rstrip(' ')}"
    same(f"{text}        raise ValueError\n    except ValueError:\n        return y\n", tall(), tall())


@pytest.mark.parametrize("key", [np.array(2), np.int64(2), np.uint8(2), True, np.array([2])[0, ...], 2])
@pytest.mark.parametrize("place", ["b[a, i]", "b[i, a]", "b[a][i]"])
def test_what_numbers_a_row_may_be_no_int(key, place):
    text = f"{HEAD}    for i in range(300):\n        {place} = i * 2.5\n"
    same(text, lambda: key, lambda: np.zeros((300, 300)))


class Hashed:
    asked = 0

    def __hash__(self) -> int:
        self.asked += 1
        return 3


def test_keys_are_asked_for_as_often():
    key, f = Hashed(), function(f"{HEAD}    for i in range(300):\n        b[a][i] = i\n")
    b: dict[Any, Any] = {key: [0] * 300}
    f(key, b)
    many = key.asked
    hastega(f)(key, b)
    assert key.asked == 2 * many - 1


class Kept:
    pass


def test_what_a_variable_held_is_let_go_of(loops):  # noqa: F811
    text = (
        "def f(b):\n    y, k, i = Kept(), Kept(), Kept()\n    gone = [*map(ref, (y, k, i))]\n"
        "    for k in range(8):\n        for i in range(400):\n            y = i + k\n            b[k][i] = y * 2\n"
        "    return [each() for each in gone]\n"
    )
    assert hastega(function(text, Kept=Kept, ref=weakref.ref))(tall()()) == [None] * 3
    assert loops
