"""The interleaving, the equality check and the figures, with a clock that the test turns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from hastega_magic.benchmarks import harness
from hastega_magic.benchmarks.harness import compare, compete
from hastega_magic.benchmarks.model import Entrant


class Clock:
    def __init__(self) -> None:
        self.now = 0.0
        self.calls: list[str] = []

    def __call__(self) -> float:
        return self.now

    def entrant(
        self, name: str, seconds: list[float], result: object, n: int = 10, **more: object
    ) -> Entrant:
        """An entrant whose runs take `seconds` in turn, the first being the warm-up."""
        left = iter(seconds)

        def run() -> object:
            self.calls.append(name)
            self.now += next(left)
            return result

        return Entrant(name=name, n=n, threads=2, run=run, **more)  # type: ignore[arg-type]


def always(value: object) -> Callable[[int], object]:
    return lambda n: value


def test_runs_are_interleaved_and_ratios_are_of_medians():
    clock = Clock()
    entrants = [clock.entrant("hastega", [9, 1, 3, 2], 5), clock.entrant("c", [9, 8, 6, 7], 5)]
    ours, c = compete("w", entrants, always(5), n=10, repeat=3, clock=clock, settle=0)
    assert clock.calls == ["hastega", "c"] * 4
    assert (ours.median_s, ours.min_s, ours.max_s, ours.ratio) == (2, 1, 3, 1)
    assert (c.median_s, c.min_s, c.max_s, c.ratio) == (7, 6, 8, 3.5)
    assert ours.equal is c.equal is True


def test_an_unequal_result_gets_no_time_and_is_not_run_again():
    clock = Clock()
    entrants = [clock.entrant("hastega", [1, 1, 1], 5), clock.entrant("c", [1], 6)]
    _, c = compete("w", entrants, always(5), n=10, repeat=2, clock=clock, settle=0)
    assert c.equal is False
    assert c.median_s is None
    assert c.ratio is None
    assert "6 is not 5" in c.note
    assert clock.calls.count("c") == 1


def test_a_failing_peer_gets_a_row_and_the_others_go_on():
    def broken() -> object:
        raise ZeroDivisionError("no\nsecond line")

    clock = Clock()
    entrants = [
        clock.entrant("hastega", [1, 1], 5),
        Entrant("c", 10, 1, broken),
        clock.entrant("numba", [1, 2], 5),
    ]
    ours, c, numba = compete("w", entrants, always(5), n=10, repeat=1, clock=clock, settle=0)
    assert c.note == "failed: ZeroDivisionError: no"
    assert c.equal is None
    assert (ours.ratio, numba.ratio) == (1, 2)


def test_nobody_is_timed_when_ours_fails():
    clock = Clock()
    entrants = [clock.entrant("hastega", [], 5), clock.entrant("c", [1, 1], 5)]
    ours, c = compete("w", entrants, always(5), n=10, repeat=1, clock=clock, settle=0)
    assert "StopIteration" in ours.note
    assert c.note == harness.NOT_COMPARED
    assert c.median_s is None
    assert "c" not in clock.calls


def test_a_sample_is_compared_at_its_own_size_and_extrapolated():
    clock = Clock()
    asked: list[int] = []

    def reference(n: int) -> object:
        asked.append(n)
        return n

    entrants = [clock.entrant("hastega", [1, 1], 100, n=100), clock.entrant("python", [2, 2], 10, n=10)]
    _, python = compete("w", entrants, reference, n=100, repeat=1, clock=clock, settle=0)
    assert asked == [100, 10]
    assert python.median_s == 20
    assert python.n == 100
    assert "extrapolated from 10 elements" in python.note


def test_a_slow_entrant_stops_early_and_says_so():
    clock = Clock()
    entrants = [clock.entrant("hastega", [1] * 6, 5), clock.entrant("numpy", [10] * 6, 5)]
    ours, numpy = compete("w", entrants, always(5), n=10, repeat=5, clock=clock, settle=0)
    assert clock.calls.count("numpy") == 1 + 2
    assert numpy.note == "2 of 5 rounds"
    assert ours.note == ""


def test_preparation_is_not_timed_and_the_kernel_has_its_row():
    clock = Clock()

    def prepare() -> None:
        clock.now += 100

    entrants = [clock.entrant("hastega", [1, 4, 4], 5, prepare=prepare, kernel=lambda: 3.0)]
    ours, kernel = compete("w", entrants, always(5), n=10, repeat=2, clock=clock, settle=0)
    assert ours.median_s == 4
    assert kernel.peer == "hastega:kernel"
    assert kernel.median_s == 3
    assert kernel.ratio == 0.75


def test_garbage_collection_waits_and_a_time_of_zero_has_no_ratio():
    import gc

    clock = Clock()
    seen: list[bool] = []
    entrant = Entrant("hastega", 10, 1, lambda: seen.append(gc.isenabled()))
    [row] = compete("w", [entrant], always(None), n=10, repeat=1, clock=clock, settle=0)
    assert row.ratio is None
    assert seen == [True, False, False]
    assert gc.isenabled()


@pytest.mark.parametrize(
    ("result", "expected", "tolerance", "equal"),
    [
        (5, 5, 0.0, True),
        (5, 6, 0.5, False),
        (2**70, 2**70 + 1, 0.5, False),
        (np.int64(5), 5, 0.0, True),
        (1.0, 1.0 + 1e-15, 1e-12, True),
        (1.0, 1.0 + 1e-15, 0.0, False),
        (float("nan"), float("nan"), 0.0, True),
        (float("nan"), 1.0, 0.5, False),
        (float("inf"), float("inf"), 0.0, True),
        (float("inf"), 1.0, 0.5, False),
        ([1, 2, 3], np.array([1, 2, 3]), 0.0, True),
        ([1, 2, 4], np.array([1, 2, 3]), 0.5, False),
        ([1, 2], np.array([1, 2, 3]), 0.0, False),
        ([], np.array([]), 0.0, True),
        (np.array([0.0, 1.0]), np.array([1e-30, 1.0]), 1e-12, False),
        (np.array([1, 2**63 - 1]), np.array([1, 2**63 - 2]), 1e-12, False),
        (np.array([1 + 1e-15j]), np.array([1 + 0j]), 1e-12, True),
        (np.array([1 + 1j]), np.array([1 + 2j]), 1e-12, False),
        (np.array([1, 2], dtype=object), np.array([1, 3]), 0.5, False),
    ],
)
def test_compare(result: object, expected: object, tolerance: float, equal: bool):
    assert compare(result, expected, tolerance).equal is equal


def test_compare_names_the_first_difference_and_the_closeness():
    assert compare([1, 2, 3], [1, 5, 6]).note == "element 1: 2 is not 5"
    assert compare(1.0, 1.0 + 4.5e-16, 1e-12).note == "equal to 4e-16"


def test_a_short_run_follows_one_that_does_not_count():
    clock = Clock()
    entrants = [
        clock.entrant("hastega", [0.09, 0.08, 0.01, 0.07, 0.02], 5),
        clock.entrant("c", [0.1, 1, 2], 5),
    ]
    ours, c = compete("w", entrants, always(5), n=10, repeat=2, clock=clock, settle=0)
    assert ours.median_s == pytest.approx(0.015)
    assert c.median_s == pytest.approx(1.5)
    assert clock.calls == ["hastega", "c", "hastega", "hastega", "c", "hastega", "hastega", "c"]


def test_idle_counts_every_run():
    clock = Clock()
    (row,) = compete(
        "w",
        [clock.entrant("hastega", [0.09, 0.01, 0.03], 5)],
        always(5),
        n=10,
        repeat=2,
        clock=clock,
        settle=0,
        idle=True,
    )
    assert row.median_s == pytest.approx(0.02)
