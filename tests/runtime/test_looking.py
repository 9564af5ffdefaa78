"""Looks of native code, and values that it lays down."""

from __future__ import annotations

import array
import sys
import threading

import numpy as np
import pytest

from hastega_magic.runtime.objects.look_words import MOST_PLACES, RUNS, counter
from hastega_magic.runtime.objects.looking import Looking, looking


def _before():
    raise IndexError("nothing lies there")


@pytest.fixture
def native():
    found = looking(_before)
    assert found is not None
    return found


class Asked:
    """What is asked where there are many elements; what it was asked of is kept."""

    def __init__(self, answer=True):
        self.answer, self.given = answer, []

    def __call__(self, *given):
        self.given.append(given)
        return self.answer


class OfLists(list):
    """A list of the user's."""

    def __len__(self):
        raise AssertionError("it is asked for its length")


FEW = [
    [],
    [1],
    [1.5, None, "a"],
    list(range(255)),
    [{}, [1]],
    range(0),
    range(255),
    range(9, 0, -1),
    range(10**30, 10**30 + 9),
    [[1]],
    [(1,), 2, [3] * 200],
    [()] * 255,
    [1, (2,) * 300],
    (),
    (1, 2),
    "ab",
    b"ab",
    bytearray(3),
    {},
    {1: 2},
    {1},
    frozenset({2}),
    array.array("q", [1]),
    {1: 2}.keys(),
    {1: 2}.values(),
    {1: 2}.items(),
]
MANY = [
    list(range(256)), [[1] * 256], [(1,), 2, [3] * 254], [(1, 2)] * 128, range(256), range(10**30),
    range(-(10**30), 10**30), (1, 2) * 128, "a" * 256, b"ab" * 128, dict.fromkeys(range(256)), None, 3, iter([1]),
    array.array("q", [1] * 256), {*range(300)}, dict.fromkeys(range(256)).keys(), OfLists([1]), np.arange(2),
]  # fmt: skip


@pytest.mark.parametrize("given", FEW, ids=range(len(FEW)))
def test_few_elements_are_counted_and_nobody_is_asked(native, given):
    known, asked = counter(), Asked()
    look = native.look(known, 256, (1,), asked, laying=False)
    assert (look(None, given), look(given, given)) == (False, False)
    assert (known[RUNS], asked.given) == (2, [])


@pytest.mark.parametrize("given", MANY, ids=range(len(MANY)))
@pytest.mark.parametrize("answer", [True, False])
def test_of_everything_else_the_other_look_decides(native, given, answer):
    known, asked = counter(), Asked(answer)
    look = native.look(known, 256, (0,), asked, laying=False)
    assert look(given, 5) is answer
    assert known[RUNS] == 0
    assert len(asked.given) == 1
    assert asked.given[0][0] is given
    assert asked.given[0][1] == 5
    assert sys.exc_info() == (None, None, None)


def test_one_of_several_is_enough(native):
    asked = Asked()
    look = native.look(counter(), 4, tuple(range(MOST_PLACES)), asked, laying=False)
    long = [1] * 4
    assert look(long, long, long, [1]) is False
    assert look(long, range(3), long, long) is False
    assert look(long, long, (1,) * 4, long) is True
    assert len(asked.given) == 1


def test_what_the_other_look_raises_is_raised_and_nothing_is_laid_down(native):
    def worth(*given):
        raise KeyboardInterrupt

    look = native.look(counter(), 4, (0,), worth, laying=True)
    with pytest.raises(KeyboardInterrupt):
        look((1,) * 4)
    with pytest.raises(IndexError, match="nothing lies there"):
        native.taken()


def test_values_are_taken_from_the_first_on_and_let_go_of(native):
    asked, few, one, two = Asked(False), [1], object(), object()
    laid = native.look(counter(), 4, (0,), asked, laying=True)
    counts = [sys.getrefcount(each) for each in (few, one, two)]
    for first in (few, (1,) * 4):
        assert laid(first, one, two) is False
        assert native.taken() is first
        native.lay(two, one)  # of what interrupts it
        assert (native.taken(), native.taken()) == (two, one)
        assert (native.taken(), native.taken()) == (one, two)
    asked.given.clear()
    assert [sys.getrefcount(each) for each in (few, one, two)] == counts


def test_each_thread_takes_its_own(native):
    steps = [threading.Event() for _ in range(3)]
    found = []

    def run():
        native.lay("c", "d")
        steps[0].set()
        steps[1].wait(60)
        found.extend((native.taken(), native.taken()))
        steps[2].set()

    native.lay("a", "b")
    other = threading.Thread(target=run)
    other.start()
    steps[0].wait(60)
    taken = [native.taken()]  # from below those of the other
    native.lay("e")
    steps[1].set()
    steps[2].wait(60)
    taken += [native.taken(), native.taken()]
    other.join()
    assert (taken, found) == (["a", "e", "b"], ["c", "d"])


def test_what_is_never_taken_makes_room():
    native = Looking(_before)
    held = [object() for _ in range(10)]
    for _ in range(1000):
        native.lay(*held)
    native.lay(*held[:3])
    assert [native.taken() for _ in range(3)] == held[:3]
    assert [native.taken() for _ in range(10)] == held
