"""Turns that raise, or leave 64 bits, behind stages that choose elements: as the first of them, and short."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from battery import some

from hastega_magic.compiler.driver import Driver
from hastega_magic.session import Options, Session
from tests.session.test_troubled_turns import launched, outcomes, plain

__all__ = ["launched"]

BEFORE = (
    "take(4)", "drop(2)", "step(2)", "reverse", "take_while(lambda x: x < 90)", "drop(1) |> take(5) |> reverse",
    "window(2) |> map(lambda a, b: a)", "window(3) |> map(lambda w: w[0] + w[2] - w[0])",
    "step(3) |> window(2) |> map(_[1])",
    "take_while(lambda x: x < 90) |> step(2)", "chunk(2) |> map(lambda w: w[0])", "reverse |> window(2) |> map(_[1])",
    "zip(xs) |> take(5) |> map(lambda a, b: a)", "take_while(lambda x: x < 90) |> take_while(lambda x: x < 80)",
)  # fmt: skip
BEHIND = (
    "map(lambda x: 100 // (x - 7))", "map(lambda x: 1 / (x - 7)) |> sum", "filter(lambda x: 5 % (x - 7)) |> to_list",
    "map(lambda x: x * 2**60) |> max", "map(lambda x: x * 2**60)",
)  # fmt: skip
LISTS = [
    [1, 2, 7, 4, 5, 7], [7, 7, 7, 7, 95, 7, 7], [3, 4, 7, 8, 9, 7, 99], [1, 2, 3, 1, 2, 3],
    [9, 8, 7, 6, 5, 4, 3, 2, 85], [0, 0, 3, 4], [7, 7, 7, 7],
]  # fmt: skip
ORDER = [0, 1, 0, 3, 2, 4, 3, 0, 5, 6, 1]


@pytest.fixture
def began(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Statements that were run as for the first time."""
    seen: list[bool] = []
    alone = Driver.run_alone
    monkeypatch.setattr(Driver, "run_alone", lambda *given: seen.append(True) or alone(*given))
    return seen


@pytest.mark.parametrize(
    ("before", "behind", "make"),
    some(itertools.product(BEFORE, BEHIND, ["list", "tuple", "np.array"]), every=2),
)
def test_all_turns_are_as_the_first_one(before: str, behind: str, make: str, same: Any) -> None:
    turns = [eval(make)(LISTS[each]) for each in ORDER]
    body = f"xs |> {before} |> {behind}"
    found = outcomes(body, turns, "loop", "simd")
    for number, turn in enumerate(turns):
        ((value, warned),) = outcomes(body, [turn], "loop", "simd")
        assert same(plain(found[number][0]), plain(value)), (number, found[number][0], value)
        assert found[number][1] == warned, number


@pytest.mark.parametrize("where", ["loop", "function"])
@pytest.mark.parametrize("before", BEFORE)
def test_turns_that_raise_begin_where_the_loop_is_compiled(
    began: list[bool], launched: list[bool], before: str, where: str
) -> None:
    turns = [[7, 7, 7, number, 7, 7, 7, 7] for number in range(10, 20)]
    found = outcomes(f"xs |> {before} |> map(lambda x: 1 // (x - 7)) |> sum", turns, where, "simd")
    assert [value[0] for value, _ in found] == [ZeroDivisionError] * len(turns)
    assert len(began) == 1
    assert launched == [True] * (len(turns) - 1)


RUNNING = (
    "scan(lambda a, x: a + x) |> map(lambda x: 100 // (x - 10))",
    "scan(lambda a, x: a + x, 0) |> map(lambda x: 1 / (x - 10)) |> sum",
    "scan(lambda a, x: a + x) |> filter(lambda x: 5 % (x - 10)) |> to_list",
    "scan(lambda a, x: a + x) |> map(lambda x: x * 2**59) |> max",
    "map(lambda x: x + 1) |> scan(lambda a, x: a + x) |> scan(lambda a, x: a // (x - 10)) |> sum",
    "cumsum |> map(lambda x: x - 3) |> take(4) |> map(lambda x: 1 // (x - 7))",
    "cumsum |> window(2) |> map(lambda a, b: 1 // (a - 10))",
    "scan(lambda a, x: 100 // (x - 7)) |> map(lambda x: 1 // x)",
)  # fmt: skip


@pytest.mark.parametrize("body", RUNNING)
@pytest.mark.parametrize("make", [list, tuple, np.array, iter, set])
def test_so_are_those_of_loops_behind_running_values(body: str, make: Any, same: Any) -> None:
    lists = [LISTS[each] for each in ORDER]
    found = outcomes(f"xs |> {body}", [make(each) for each in lists], "loop", "simd")
    for number, each in enumerate(lists):
        ((value, warned),) = outcomes(f"xs |> {body}", [make(each)], "loop", "simd")
        assert same(plain(found[number][0]), plain(value)), (number, found[number][0], value)
        assert found[number][1] == warned, number


@pytest.mark.parametrize("where", ["loop", "function"])
@pytest.mark.parametrize("body", RUNNING[:3])
def test_which_begin_where_they_are_compiled(began: list[bool], body: str, where: str) -> None:
    turns = [[3, 7, number, 1] for number in range(10, 20)]
    found = outcomes(f"xs |> {body}", turns, where, "simd")
    assert [value[0] for value, _ in found] == [ZeroDivisionError] * len(turns)
    assert len(began) == 1


def test_functions_of_python_s_are_called_once_each_turn(began: list[bool]) -> None:
    body = "xs |> scan(lambda a, x: a + x) |> map(lambda x: [x, seen.append(x)][0]) |> map(lambda x: 1 // (x - 10))"
    names: dict[str, Any] = {"turns": [[3, 7, 5]] * 4, "seen": []}
    text = f"for xs in turns:\n    try:\n        {body}\n    except ZeroDivisionError:\n        pass"
    Session(names, Options(on="simd", baseline=False, quiet=True)).run_cell(text)
    assert names["seen"] == [3, 10] * 4
    assert len(began) == 4
