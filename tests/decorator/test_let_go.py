"""What a decorated function's calls leave is garbage with the function, though its code leads to what they left."""

from __future__ import annotations

import gc
import linecache
import pickle
import weakref
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from hastega_magic import hastega

N = 3000


def alive(*refs: Any) -> list[bool]:
    gc.collect()
    return [each() is not None for each in refs]


def test_a_class_inside_a_function() -> None:
    def work() -> tuple[Any, ...]:
        class Owner:
            factor = 3

            @hastega
            def total(self, xs: range) -> int:
                return sum([x * self.factor for x in xs])

        owner = Owner()
        owner.factor = 4
        for _ in range(3):
            assert owner.total(range(N)) == 4 * sum(range(N))
        assert Owner.total.explain().pipelines[0].loops == 1  # type: ignore[attr-defined]
        return weakref.ref(owner), weakref.ref(Owner)

    assert alive(*work()) == [False, False]


def test_a_module_that_nobody_holds() -> None:
    text = """from hastega_magic import hastega
class Thing:
    factor = 3
thing = Thing()
def times(x): return x * thing.factor
@hastega
def total(xs): return sum([times(x) for x in xs])
"""
    linecache.cache["<let go>"] = len(text), None, text.splitlines(keepends=True), "<let go>"
    module = ModuleType("let_go")
    exec(compile(text, "<let go>", "exec"), vars(module))
    for _ in range(3):
        assert module.total(range(N)) == 3 * sum(range(N))
    refs = [weakref.ref(each) for each in (module, module.total, module.times, module.thing)]
    del module, linecache.cache["<let go>"]
    assert alive(*refs) == [False] * 4


class Thing:
    factor = 3


def made(thing: Thing) -> Any:
    @hastega
    def outer(n: int) -> Any:
        def inner(xs: range) -> int:
            return sum([x * thing.factor for x in xs])

        for _ in range(n):
            yield inner(range(N)), inner

    return outer


def test_what_is_of_a_function_that_is_gone_goes_on() -> None:
    numbers = made(Thing())(4)
    for _ in range(3):
        total, inner = next(numbers)
        assert total == inner(range(N)) == 3 * sum(range(N))
        gc.collect()
    del numbers
    for _ in range(3):
        assert inner(range(N, 2 * N)) == 3 * sum(range(N, 2 * N))


def test_a_function_of_another_process() -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    total = pickle.loads(cloudpickle.dumps(made(Thing())))
    ((first, inner),) = total(1)
    assert first == inner(range(N)) == 3 * sum(range(N))
    assert total.explain().pipelines[0].loops == 1


TABLE = np.arange(N)


@hastega
def over_a_global(xs: list[int]) -> int:
    return sum(TABLE[x] for x in xs)


@hastega
def over_an_argument(xs: Any, table: Any) -> int:
    return sum(table[x] for x in xs)


@hastega
def by_places(table: Any) -> int:
    return sum(table[i] for i in range(len(table)))


@pytest.mark.parametrize("n", [20, N])
@pytest.mark.parametrize("of", [list, np.array])
def test_arrays_that_functions_read_are_the_users_alone(n: int, of: Any) -> None:
    """`resize` refuses to move memory to which anything refers, weakly too."""
    table, other, xs = np.arange(N), np.arange(n), of(range(n))
    expected = sum(range(n))
    for _ in range(12):
        assert over_a_global(xs) == over_an_argument(xs, table) == by_places(other) == expected
    assert n < N or over_an_argument.explain().pipelines[0].code.llvm  # type: ignore[attr-defined]
    TABLE.resize(2 * N)
    table.resize(2 * N)
    other.resize(2 * n)
    assert over_a_global(xs) == over_an_argument(xs, table) == by_places(other) == expected
    ref = weakref.ref(table)
    del table
    assert alive(ref) == [False]


def test_a_wide_table_is_left_out_of_the_lane_view() -> None:
    """A copy of it would be kept for a report that nobody may ask for."""
    xs = list(range(N))
    for items, shown in ((1 << 20, False), (1 << 10, True)):

        def look_up(xs: list[int], table: Any) -> int:
            return sum(table[x % 1000] for x in xs)

        decorated: Any = hastega(look_up)
        table = np.arange(items)
        for _ in range(3):
            decorated(xs, table)
        assert bool(decorated.explain().pipelines[0].lanes) == shown
