"""Progress: who hears of it, when, and of what."""

import threading

import pytest

from hastega_magic import progress
from hastega_magic.progress import AFTER, EVERY, listening, task


class Clock:
    """A clock that the test moves."""

    def __init__(self):
        self.now = 100.0

    def perf_counter(self):
        return self.now


class Heard:
    """A listener that writes down what it hears."""

    def __init__(self):
        self.seen = []
        self.closed = 0

    def show(self, task):
        self.seen.append((task.path, round(task.fraction, 6)))

    def close(self):
        self.closed += 1


@pytest.fixture
def clock(monkeypatch):
    found = Clock()
    monkeypatch.setattr(progress, "time", found)
    return found


def test_nothing_is_heard_of_short_work(clock):
    with_signals = Heard()
    with listening(with_signals), task("work", 10) as work:
        for done in range(10):
            clock.now += AFTER / 11
            work.at(done + 1)
    assert with_signals.seen == []
    assert with_signals.closed == 0


def test_long_work_is_heard_of_and_then_no_more(clock):
    with_signals = Heard()
    with listening(with_signals), task("work", 10) as work:
        for done in range(1, 11):
            clock.now += AFTER / 4
            work.at(done)
        assert with_signals.seen == [("work", done / 10) for done in range(4, 11)]
        assert with_signals.closed == 0
    assert with_signals.closed == 1


def test_pictures_are_some_time_apart(clock):
    with_signals = Heard()
    with listening(with_signals), task("work", 1000) as work:
        clock.now += AFTER
        for done in range(1, 1001):
            clock.now += EVERY / 100
            work.at(done)
    assert 9 <= len(with_signals.seen) <= 11


def test_time_counts_from_the_beginning_of_the_cell_not_of_the_task(clock):
    with_signals = Heard()
    with listening(with_signals):
        for _ in range(3):
            with task("short", 1) as work:
                clock.now += AFTER / 2
                work.at(1)
    assert with_signals.seen


def test_a_task_inside_is_a_part_of_the_one_outside(clock):
    with_signals = Heard()
    with listening(with_signals), task("outer", 4) as outer:
        outer.at(1)
        with task("inner", 2) as inner:
            clock.now += AFTER
            inner.at(1)
        clock.now += EVERY
        outer.at(2)
    assert with_signals.seen == [("outer: inner", 0.375), ("outer", 0.5)]


def test_a_bar_does_not_go_back(clock):
    with_signals = Heard()
    with listening(with_signals), task("work", 4) as work:
        clock.now += AFTER
        work.at(3)
        clock.now += EVERY
        work.at(2)
    assert [fraction for _, fraction in with_signals.seen] == [0.75, 0.75]


def test_a_bar_does_not_go_back_where_one_part_has_several_tasks_inside(clock):
    with_signals = Heard()
    with listening(with_signals), task("outer", 2) as outer:
        clock.now += AFTER
        for done in (3, 1, 4):
            with task("inner", 4) as inner:
                clock.now += EVERY
                inner.at(done)
        clock.now += EVERY
        outer.at(1)
    assert [fraction for _, fraction in with_signals.seen] == [0.0, 0.375, 0.375, 0.5, 0.5]


@pytest.mark.parametrize("total", [0, 3])
def test_without_a_listener_nothing_happens(total):
    with task("work", total) as work, work.during(100.0, 3):
        work.at(1)
    assert threading.active_count() == len(threading.enumerate())
    assert not [each for each in threading.enumerate() if each.name == "hastega-clock"]


def test_work_without_parts_is_not_divided_by_zero(clock):
    with_signals = Heard()
    with listening(with_signals), task("work", 0) as work:
        clock.now += AFTER
        work.at(0)
    assert with_signals.seen == [("work", 0.0)]


def test_the_clock_moves_the_bar_of_work_that_cannot_tell(monkeypatch):
    monkeypatch.setattr(progress, "AFTER", 0.0)
    monkeypatch.setattr(progress, "EVERY", 0.01)
    moved = threading.Event()

    class Waiting(Heard):
        def show(self, task):
            super().show(task)
            if len(self.seen) > 3:
                moved.set()

    with_signals = Waiting()
    with listening(with_signals), task("work", 100) as work:
        with work.during(10.0, 50):
            assert moved.wait(10)
        assert work.done == 50
    fractions = [fraction for _, fraction in with_signals.seen]
    assert fractions == sorted(fractions)
    assert 0 < fractions[3] < 0.5
    assert not [each for each in threading.enumerate() if each.name == "hastega-clock"]


def test_the_clock_ends_with_an_exception(monkeypatch):
    monkeypatch.setattr(progress, "AFTER", 0.0)
    with_signals = Heard()
    with (
        pytest.raises(KeyboardInterrupt),
        listening(with_signals),
        task("work", 1) as work,
        work.during(10.0, 1),
    ):
        raise KeyboardInterrupt
    assert not [each for each in threading.enumerate() if each.name == "hastega-clock"]
    assert with_signals.closed == 1


def test_other_threads_are_not_listened_to(clock):
    with_signals = Heard()

    def elsewhere():
        with task("elsewhere", 1) as work:
            work.at(1)

    with listening(with_signals):
        clock.now += 10 * AFTER
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert with_signals.seen == []
