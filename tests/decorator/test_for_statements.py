"""`for` statements of decorated functions: loops where they add up or collect, and Python's in all else."""

# ruff: noqa: A001, B007, B905, F811, PERF401, PLR1730, PLW0603, PLW2901, SIM113 - what is compiled is meant as it stands

from __future__ import annotations

import inspect
import math
import random
import weakref
from typing import Any

import numpy as np
import pytest

from hastega_magic import hastega
from hastega_magic.compiler.fastpath.for_statements import ForStatement


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


def outcome(function: Any, *args: Any) -> Any:
    """The value with all of its types and last bits, or what is raised."""
    try:
        return repr(typed(function(*args)))
    except Exception as error:
        return type(error), str(error)


def typed(value: Any) -> Any:
    if type(value) in (list, tuple):
        return type(value).__name__, [typed(each) for each in value]
    if type(value) is dict:
        return [typed(each) for each in value.items()]
    return type(value).__name__, value.hex() if isinstance(value, float) else value


@pytest.fixture
def loops(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The first lines of statements that loops have done, one after the other."""
    found: list[str] = []
    handed = ForStatement._handed

    def noted(self: ForStatement, *parts: Any) -> Any:
        value = handed(self, *parts)
        if value is not None:
            found.append(self.site.text.splitlines()[0])
        return value

    monkeypatch.setattr(ForStatement, "_handed", noted)
    return found


def ints(n: int = 700) -> list[int]:
    made = random.Random(5)
    return [made.randint(-1000, 1000) for _ in range(n)]


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
    assert loops[:3] == ["for x in xs:"] * 3


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
    assert loops == ["for x in xs:"]
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


COUNT = 0
KEPT: list[Any] = []


def keep(value: Any) -> bool:
    KEPT[:] = [value]
    return True


def several_lists(xs: Any) -> Any:
    a, b = [], []
    ab: list[int] = []
    ba: list[int] = []
    for x in xs:
        if x > 0:
            a.append(x * 2)
        else:
            b.append(x * 3)
    return a, b, ab, ba


def handed_on_in_a_test(xs: Any) -> Any:
    out: list[int] = []
    if keep(out):
        for x in xs:
            out.append(x * 2)
    return KEPT[0] is out, len(KEPT[0])


def another_in_a_test(xs: Any) -> Any:
    shared: list[int] = []
    out: list[int] = []
    if (out := shared) is not None:
        for x in xs:
            out.append(x * 2)
    return shared


def another_by_a_match(xs: Any) -> Any:
    shared: list[int] = []
    out: list[int] = []
    match shared:
        case out:
            pass
    for x in xs:
        out.append(x * 2)
    return shared, out


def another_by_an_import(xs: Any) -> Any:
    out: Any = []
    import math as out

    for x in xs:
        out.append(x * 2)
    return out


def another_by_a_definition(xs: Any) -> Any:
    out: Any = []

    def out() -> None: ...

    for x in xs:
        out.append(x * 2)
    return out


def in_the_module(xs: Any) -> int:
    global COUNT
    COUNT = 0
    for x in xs:
        COUNT += x
    return COUNT


def in_a_closure(xs: Any) -> Any:
    t = 0

    def now() -> int:
        return t

    for x in xs:
        t += x + now()
    return t


def known_elsewhere(xs: Any) -> Any:
    out: list[int] = []
    other = out
    for x in xs:
        out.append(x + len(other))
    return out


def given_a_list(xs: Any, out: Any = None) -> Any:
    out = [] if out is None else out
    for x in xs:
        out.append(x * 2)
    return out


def gone_through(xs: Any) -> Any:
    out = []
    for x in xs:
        if len(out) < 5:
            out.append(x)
    return out


def perhaps_unbound(xs: Any) -> Any:
    if not xs:
        t = 0
    for x in xs:
        t += x
    return t


def ended_early(xs: Any) -> Any:
    t = 0
    for x in xs:
        if t > 1000:
            break
        t += abs(x)
    else:
        t = -t
    return t


def looks_around(xs: Any) -> Any:
    t = 0
    for x in xs:
        t += x
    return sorted(locals())


def frame_looked_at(xs: Any) -> Any:
    t = 0
    for x in xs:
        y = x * 2
        t += y
    return sorted(inspect.currentframe().f_locals)  # type: ignore[union-attr]


def begins_with_nothing(xs: Any, t: Any = None) -> Any:
    try:
        for x in xs:
            t += x
    except TypeError:
        pass
    return t


@pytest.mark.parametrize(
    "function",
    [
        in_the_module, in_a_closure, known_elsewhere, given_a_list, gone_through, perhaps_unbound, ended_early,
        looks_around, begins_with_nothing, several_lists, handed_on_in_a_test, another_in_a_test, another_by_a_match,
        another_by_an_import, another_by_a_definition, frame_looked_at,
    ],
)  # fmt: skip
def test_what_others_may_see_is_pythons(function: Any, loops: list[str]) -> None:
    made = hastega(function)
    for _ in range(2):
        assert outcome(made, ints()) == outcome(function, ints())
    assert not loops


def test_statements_around_it(loops: list[str]) -> None:
    def f(xs: Any, n: int) -> Any:
        t, k = 0, 0
        while k < n:
            k += 1
            u = 0
            for x in xs:
                u += x * k
            if u > 3:
                t += u
                continue
            with np.errstate():
                for x in xs:
                    t -= x
        match n:
            case 2:
                for x in xs:
                    t += 1
            case _:
                pass
        return t, x

    for n in (0, 1, 2, 3):
        for xs in ([], ints(), [-each for each in ints()]):
            assert outcome(hastega(f), xs, n) == outcome(f, xs, n)
    assert len(loops) > 9


def test_what_an_exception_may_lead_to() -> None:
    def ended(xs: Any, again: bool) -> Any:
        t, y, turns = 0, -7, 0
        while turns < 3:
            turns += 1
            try:
                for x in xs:
                    y = x + 1
                    t += x
                int("a")
            except ValueError:
                if again:
                    continue
                break
            y = 0
        return y, t

    for again in (False, True):
        assert hastega(ended)(ints(), again) == ended(ints(), again)


def test_generators_read_variables_when_they_go_on() -> None:
    def chosen(xs: Any, items: Any) -> Any:
        limit = t = 0
        later = (i for i in items if i > limit)
        for x in xs:
            limit = x + 1
            t += limit
        return t, list(later), sum(1 for i in items if i > t)

    assert hastega(chosen)(ints(), [1, 10, 2000]) == chosen(ints(), [1, 10, 2000])


def test_what_a_variable_held_before_is_let_go_of(loops: list[str]) -> None:
    class Held:
        pass

    def replaced(xs: Any) -> Any:
        x = y = Held()
        known, t = weakref.ref(y), 0
        for x in xs:
            y = x * 2
            t += y
        return t, known()

    assert hastega(replaced)(ints()) == replaced(ints())
    assert loops


def test_generators_coroutines_methods_and_inner_functions(loops: list[str]) -> None:
    class Sums:
        def __init__(self, factor: int) -> None:
            self.__factor = factor

        @hastega
        def of(self, xs: Any) -> int:
            factor, __t = self.__factor, 0
            for x in xs:
                __t += factor * x
            return __t

    @hastega
    def running(xs: Any) -> Any:
        t = 0
        for k in range(3):
            for x in xs:
                t += x + k
            yield t

    @hastega
    async def later(xs: Any) -> Any:
        t = 0
        for x in xs:
            t += x
        return t

    @hastega
    def outer(xs: Any) -> Any:
        def inner(k: int) -> int:
            t = k
            for x in xs:
                t += x
            return t

        return inner(1) + inner(2)

    xs = ints()
    s, n = sum(xs), len(xs)
    assert Sums(3).of(xs) == 3 * s
    assert [*running(xs)] == [s, 2 * s + n, 3 * s + 3 * n]
    with pytest.raises(StopIteration) as end:
        later(xs).send(None)
    assert end.value.value == s
    assert outer(xs) == 2 * s + 3
    assert len(loops) == 7


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


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (given_a_list, "`out` is not made, and empty, in front of it: others may know of it"),
        (perhaps_unbound, "`t` may have no value in front of it"),
        (begins_with_nothing, "`t` is no number of Python's in front of it"),
    ],
)
def test_why_it_is_pythons(function: Any, reason: str) -> None:
    made = hastega(function)
    outcome(made, ints())
    assert reason in made.explain().to_text(width=200)


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
