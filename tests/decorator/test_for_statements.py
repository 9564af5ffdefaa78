"""`for` statements of decorated functions: loops where they add up or collect, and Python's in all else."""

# ruff: noqa: A001, B007, B905, PERF401, PLR1730, PLW2901, SIM113 - what is compiled is meant as it stands

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from hastega_magic import hastega
from tests.decorator.outcomes import ints, outcome


def total(xs: Any) -> Any:
    t = 0
    for x in xs:
        if x % 2 == 0:
            t += x * x
    return t


def counted(xs: Any) -> Any:
    n = 0
    for x in xs:
        if x > 3:
            n += 1
    return n


def two_at_once(xs: Any) -> Any:
    s = q = 0
    for x in xs:
        s += x
        q = q + x * x
    return s, q


def largest(xs: Any) -> Any:
    m = xs[0]
    for x in xs:
        if x > m:
            m = x
    return m


def last_ones(xs: Any) -> Any:
    t = 0
    for x in xs:
        t -= x
    return t, x


def alternating(xs: Any) -> Any:
    t, sign = 0, 1
    for x in xs:
        t += sign * x
        sign = -sign
    return t


def hashed(xs: Any) -> Any:
    h: int = 17
    for x in xs:
        h = (h * 31 + x) % 1_000_003
    return h


def longest(xs: Any) -> Any:
    best = where = 0
    for x in xs:
        n = abs(x) + 1
        c = 0
        while n != 1 and c < 200:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            c += 1
        if c > best:
            best = c
            where = x
    return best, where


def target_changed(xs: Any) -> Any:
    t = 0
    for x in xs:
        x = x * x % 7
        if x == 3:
            continue
        t += x
    return t


def inner_turns(xs: Any) -> Any:
    t = 0
    for x in xs:
        for i in range(x % 5):
            if i == 3:
                break
            t += i * x
    return t


def by_place(xs: Any) -> Any:
    t = 0
    for i in range(len(xs)):
        t += xs[i] * xs[-1 - i]
    return t


def side_by_side(xs: Any) -> Any:
    t = 0
    for i, (x, y) in enumerate(zip(xs, reversed_of(xs)), 1):
        t += i * x - y
    return t


def reversed_of(xs: Any) -> Any:
    return xs[::-1]


def nested(xs: Any) -> Any:
    t = 0
    for x in xs:
        if x > 0:
            for y in xs:
                if (x + y) % 3 == 0:
                    t += x * y
    return t


def numbers_of(xs: Any) -> Any:
    out = []
    for x in xs:
        y = x * x
        if y % 3 == 1:
            continue
        z = y - x
        out.append(y + z)
    return out


def either(xs: Any) -> Any:
    out: list[int] = []
    for x in xs:
        if x % 3 == 1:
            out.append(x)
        elif x % 3 == 2:
            out.append(-x)
    return out


def pairs(xs: Any) -> Any:
    out = []
    for i in range(20):
        for x in xs:
            out.append((i, x - i))
    return out


def keyed(xs: Any) -> Any:
    found = {}
    for x in xs:
        found[x % 100] = x * 2
    return found


def roots(xs: Any) -> Any:
    out = []
    for x in xs:
        r = abs(x) + 1.0
        for _ in range(10):
            r = 0.5 * (r + abs(x) / r)
        out.append(r)
    return out


def several(xs: Any) -> Any:
    a = 0
    for x in xs:
        a += x
    b = []
    for x in xs:
        b.append(x - a)
    for i in range(3):
        c = 0
        for x in b:
            c += x * i
        a ^= c
    return a, b


LOOPS = [
    total, counted, two_at_once, largest, last_ones, alternating, hashed, longest, target_changed, inner_turns,
    by_place, side_by_side, nested, numbers_of, either, pairs, keyed, roots, several,
]  # fmt: skip


@pytest.mark.parametrize("function", LOOPS)
def test_a_loop_gives_what_python_gives(function: Any, loops: list[str]) -> None:
    made = hastega(function)
    for turn in range(3):
        xs = ints(700 + turn)
        assert outcome(made, xs) == outcome(function, xs)
        assert loops
        loops.clear()


@pytest.mark.parametrize("function", LOOPS)
@pytest.mark.parametrize(
    "xs",
    [
        [], [7], ints(255), (*ints(),), range(-5, 600), [x / 8 for x in ints()], [*ints(), 0.5], [*ints(), None],
        [*ints(), "x"], [x * 2**60 for x in ints()], [math.nan, *map(float, ints()), -0.0], np.array(ints()),
        np.array(ints()) / 8, iter(ints()), (x for x in ints()), dict.fromkeys(ints()), [True, False] * 200,
    ],
    ids=[
        "empty", "one", "few", "tuple", "range", "floats", "mixed", "none", "text", "big", "nan", "array",
        "floats-array", "iterator", "generator", "dict", "bools",
    ],
)  # fmt: skip
def test_whatever_it_goes_through(function: Any, xs: Any) -> None:
    made = hastega(function)
    if not hasattr(xs, "__len__"):
        given = [*xs]
        assert outcome(made, iter(given)) == outcome(function, iter(given))
        return
    for _ in range(2):
        with np.errstate(all="ignore"):
            assert outcome(made, xs) == outcome(function, xs)


def test_what_was_done_before_an_element_raised(loops: list[str]) -> None:
    def inverse(xs: Any, at: int) -> Any:
        t, out, x = 0, [], None
        try:
            for x in xs:
                t += 100 // (x - at)
            for x in xs:
                y = 100 // (x + 1 - at)
                out.append(y)
        except ZeroDivisionError as error:
            return t, out, x, str(error)
        return t, out, x

    made = hastega(inverse)
    for at in (-1, 900, 400, 0, 901):
        assert made(range(900), at) == inverse(range(900), at)
    assert loops[:3] == ["for x in xs: ..."] * 3


def test_a_variable_has_its_last_value_where_it_is_read(loops: list[str]) -> None:
    class Number(int):
        pass

    def last(xs: Any) -> Any:
        t = 0
        for x in xs:
            t += 1
        return x

    xs = [10**9 + n for n in range(400)]
    assert hastega(last)(xs) is xs[-1]
    assert loops == ["for x in xs: ..."]
    xs[-1] = Number(5)
    assert hastega(last)(xs) is xs[-1]


def test_what_it_goes_through_is_evaluated_once() -> None:
    seen: list[str] = []

    def given(xs: Any) -> Any:
        seen.append("given")
        return xs

    def added(xs: Any) -> Any:
        t = 0
        for x, y in zip(given(xs), given(xs)):
            t += x * y
        return t

    made = hastega(added)
    for n in (3, 300, 300, 3):
        seen.clear()
        assert made([1.5] * n) == 2.25 * n
        assert seen == ["given", "given"]
    seen.clear()
    with pytest.raises(TypeError):
        made([None] * 300)
    assert seen == ["given", "given"]


def test_names_that_are_not_pythons_own() -> None:
    def range(n: int) -> list[int]:
        return [5] * n

    def shadowed(n: int) -> int:
        t = 0
        for i in range(n):
            t += i
        return t

    assert hastega(shadowed)(400) == 2000


def test_the_report_tells_of_the_statement() -> None:
    made = hastega(numbers_of)
    made(ints())
    (pipeline,) = made.explain().to_dict()["pipelines"]
    assert pipeline["stages"] == [
        "xs", "map(y = x * x)", "filter(not y % 3 == 1)", "map(z = y - x)", "map(y + z)", "to_list",
    ]  # fmt: skip
    made = hastega(either)
    made(ints())
    (pipeline,) = made.explain().to_dict()["pipelines"]
    assert pipeline["stages"] == [
        "xs", "filter(x % 3 == 1 or x % 3 == 2)", "map(x if x % 3 == 1 else -x)", "to_list",
    ]  # fmt: skip
    made = hastega(longest)
    made(ints())
    text = made.explain().to_text(width=200)
    assert "1 fused loop" in text
    assert "__hastega" not in made.explain().to_html()


def test_a_loop_of_what_holds_large_tables_may_be_pythons(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HASTEGA_AUTO", "")

    def looked_up(table: Any, n: int) -> int:
        t = 0
        for i in range(n):
            t += table[i % 10]
        return t

    made, table = hastega(looked_up), [3] * 300_000
    for _ in range(8):
        assert made(table, 300) == 900
    assert "Python was measured to be faster" in made.explain().to_text(width=200)
