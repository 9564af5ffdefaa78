"""`for` statements whose variables others may see, or that stand among other statements."""

# ruff: noqa: B007, F811, PERF401, PLW0603 - what is compiled is meant as it stands

from __future__ import annotations

import inspect
import weakref
from typing import Any

import numpy as np
import pytest

from hastega_magic import hastega
from tests.decorator.outcomes import ints, outcome

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


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (given_a_list, "`out` is not made, and empty, in front of it: others may know of it"),
        (perhaps_unbound, "`t` may have no value in front of it"),
        (begins_with_nothing, "`t` is no number in front of it"),
    ],
)
def test_why_it_is_pythons(function: Any, reason: str) -> None:
    made = hastega(function)
    outcome(made, ints())
    assert reason in made.explain().to_text(width=200)
