"""Random nested `for` statements that store into tables leave there what Python leaves."""

from __future__ import annotations

import itertools
import linecache
import random
from typing import Any

import numpy as np
import pytest

from hastega_magic import hastega
from hastega_magic.syntax.ordinary import stores
from tests.decorator.conftest import loops  # noqa: F401
from tests.decorator.test_random_stores import Program, left, never_pythons  # noqa: F401

OUTER = ("range(h)", "range(h)", "range(1, h - 1)", "range(h - 1, -1, -1)", "range(0, h, 2)", "rows")
INNER = ("range(w)", "range(w)", "range(1, w - 1)", "range(w - 1, -1, -1)", "range(len(t[0]))", "range(j, w)")
PLACES = ("t[j][i]", "t[j][i]", "t[j, i]", "t[j, i]", "t[i][j]", "t[j - 1][i + 1]", "t[0][i]", "t[j][0]")


class Tables(Program):
    """The text of a function, of a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines = ["def f(t, u, a, c, h, w, n, k, rows):"]
        for _ in range(self.random.randint(1, 2)):
            inner = self.any(*INNER)
            self.lines.append(f"    for j in {self.any(*OUTER)}:")
            if self.maybe(0.2):
                self.lines.append(f"        s = {self.any('j', '0', 'a[j]')}")
            self.lines.append(f"        for i in {inner}:")
            self.places = tuple(each for each in PLACES if "1" not in each or "1, w" in inner)
            names = ["i", "j", "k", "a[i]", self.any("u[j][i]", "u[j, i]", "c[j]"), "i * j"]
            self.block(names, self.any(*self.places), 3)
        self.lines.append(f"    return {self.any('t', 't', 'i, j', 't, i')}")
        self.text = "\n".join(self.lines).replace("b[i // 2]", "u[j][i]") + "\n"


def table(chosen: random.Random, h: int, w: int) -> Any:
    rows = [[chosen.randint(-9, 9) for _ in range(w)] for _ in range(h)]
    match chosen.randrange(8):
        case 0 | 1 | 2:
            return rows
        case 3:
            return [[each / 4 for each in row] for row in rows]
        case 4 | 5:
            return np.array(rows, float)
        case 6:
            return np.array(rows)
        case _:
            return np.array(rows, np.int32)[:, ::-1]


def given(chosen: random.Random, h: int, w: int) -> dict[str, Any]:
    """What a function is given, of which some may show what others do."""
    t, u = table(chosen, h, w), table(chosen, h, w)
    match chosen.randrange(8):
        case 0:
            u = t
        case 1 if isinstance(t, np.ndarray):
            u = t[::-1]
        case 2 if isinstance(t, list):
            u = [*u[1:], t[0]]
        case 3 if isinstance(t, list):
            t[1] = t[0]
        case _:
            pass
    a, c = ([chosen.randint(-9, 9) for _ in range(max(h, w))] for _ in range(2))
    return {
        "t": t,
        "u": u,
        "a": a,
        "c": c,
        "h": h,
        "w": w,
        "n": min(h, w),
        "k": chosen.randint(-2, 4),
        "rows": [0, 2, 1],
    }


@pytest.fixture(autouse=True)
def heavy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turns count as long ones, however little they do."""
    monkeypatch.setattr(stores, "_HEAVY", 0)


@pytest.mark.parametrize("seed", range(30))
def test_random_functions(seed: int, loops: list[str]) -> None:  # noqa: F811
    text, name = Tables(seed).text, f"<random stores in tables {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"helper": lambda v: v * 2 + 1, "K": 3, "np": np, "look": lambda i: i}
    exec(compile(text, name, "exec"), namespace)
    function = namespace["f"]
    decorated = hastega(function)
    for (h, w), some in itertools.product(((3, 3), (12, 280), (280, 12)), range(3)):
        for _ in range(2):
            theirs, ours = (given(random.Random(f"{seed} {h} {some}"), h, w) for _ in range(2))
            expected = left(function, theirs)
            assert left(decorated, ours) == expected, text


def test_some_of_them_are_done_by_loops(loops: list[str]) -> None:  # noqa: F811
    for seed in range(20):
        test_random_functions(seed, loops)
    assert len(loops) > 20
