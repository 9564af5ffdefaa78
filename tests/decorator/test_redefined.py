"""Lists, tuples and memory of subclasses that give their elements in a way of their own are Python's."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from hastega_magic import hastega
from hastega_magic.session import Options, Session


class Negated(list):
    def __getitem__(self, index: Any) -> Any:
        found = list.__getitem__(self, index)
        return -found if isinstance(index, int) else found


class Constant(tuple):
    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        return -1


class Sevens(list):
    def __iter__(self) -> Any:
        return iter([7] * len(self))


class Doubled(bytes):
    def __iter__(self) -> Any:
        return (2 * each for each in bytes.__iter__(self))


class Pair(NamedTuple):
    low: int
    high: int


@hastega
def by_index(xs):
    return [xs[i] for i in range(len(xs))]


@hastega
def neighbours(xs):
    return sum(xs[i + 1] - xs[i] for i in range(len(xs) - 1))


@hastega
def added(xs):
    return [x + 1 for x in xs]


@hastega
def twice(xs):
    return sum(xs[i] * 2 for i in range(3))


@pytest.mark.parametrize("function", [by_index, neighbours, added, twice])
@pytest.mark.parametrize("kind", [Negated, Constant, Sevens, Doubled])
def test_as_python_gives_them(function, kind):
    xs = kind(range(1, 200))
    for _ in range(3):
        assert function(xs) == function.__wrapped__(xs)


@pytest.mark.parametrize("stage", ["T[0] + x", "T[-1] + x", "T[x % 2] + x", "sum(T) + x", "len(T) + x"])
@pytest.mark.parametrize("captured", [Negated([1, 2]), Constant((1, 2)), Sevens([1, 2]), Pair(5, 9)])
def test_captured(stage, captured):
    names = {"T": captured}
    Session(names, Options(baseline=False)).run_cell(f"r = range(3) |> map(lambda x: {stage})")
    assert names["r"].tolist() == [eval(stage, {"T": captured, "x": x}) for x in range(3)]


def test_a_named_tuple_is_compiled():
    session = Session({"T": Pair(5, 9)}, Options(baseline=False, on="simd"))
    session.run_cell("r = range(3) |> map(lambda x: T.low * x + T[1])")
    assert session.last_report.pipelines[0].loops == 1
    assert not session.last_report.pipelines[0].barriers
