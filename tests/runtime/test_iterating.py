"""Numbers drawn from iterators by native code."""

import itertools
import math
import sys
import threading
import warnings
import weakref

import numpy as np
import pytest
from battery import some

from hastega_magic.runtime.objects import lists
from hastega_magic.runtime.objects.iterating import Drawer, can_watch, drawer
from hastega_magic.session import Options, Session

NUMBERS = {
    int: [0, 1, -1, 2**30, -(2**30), 2**60 + 3, 2**63 - 1, -(2**63)],
    float: [0.0, -0.0, math.inf, 5e-324, 1.5],
    bool: [True, False],
}


@pytest.mark.parametrize("type_", NUMBERS)
def test_all_of_the_type_are_drawn(type_):
    drawn, odd = drawer(type_).draw(iter(NUMBERS[type_]), 100)
    assert repr(drawn.tolist()) == repr(NUMBERS[type_])
    assert odd == []


@pytest.mark.parametrize("type_", NUMBERS)
@pytest.mark.parametrize("other", [None, "a", 2**63, -(2**63) - 1, 2**200, np.int64(1), np.float64(1), (1,)])
def test_the_first_other_one_ends_it(type_, other):
    elements = iter([*NUMBERS[type_], other, *NUMBERS[type_]])
    drawn, odd = drawer(type_).draw(elements, 100)
    assert repr(drawn.tolist()) == repr(NUMBERS[type_])
    assert odd[0] is other
    assert list(elements) == NUMBERS[type_]


def test_no_more_are_drawn_than_asked_for():
    elements = itertools.count()
    for begin in (0, 10, 20):
        assert drawer(int).draw(elements, 10)[0].tolist() == [*range(begin, begin + 10)]
    assert drawer(int).draw(elements, 0)[0].tolist() == []
    assert next(elements) == 30


@pytest.mark.parametrize("where", [0, 1, 7, 100])
def test_a_changed_variable_ends_it(where):
    inside = "inside"
    scope = {"k": 10**6, "same": None}
    cell = (lambda: inside).__closure__[0]
    watched = [(scope, "k", scope["k"]), (cell, None, inside), (scope, "same", None)]
    assert all(map(can_watch, watched))
    for change in (
        lambda: scope.update(k=7),
        lambda: scope.pop("k"),
        lambda: setattr(cell, "cell_contents", 0),
    ):
        elements = ((change(), i)[1] if i == where else i for i in range(20))
        drawn, odd = drawer(int).draw(elements, 30, watched)
        assert drawn.tolist() == [*range(min(where, 20))]
        assert odd == ([where] if where < 20 else [])
        assert len([*elements]) == max(0, 19 - where)
        scope["k"], cell.cell_contents = watched[0][2], inside
    empty = (lambda: later).__closure__[0]
    assert not can_watch((empty, None, None))
    assert not can_watch((scope, "none", None))
    later = 1


def test_objects_are_let_go():
    class Known:
        pass

    kept = Known()
    seen = weakref.ref(kept)
    _, odd = drawer(int).draw(iter([10**12, kept]), 10)
    del kept
    assert odd[0] is seen()
    del odd
    assert seen() is None
    number = 10**15
    before = sys.getrefcount(number)
    drawer(int).draw(itertools.repeat(number, 1000), 2000)
    assert sys.getrefcount(number) == before


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, StopAsyncIteration])
def test_what_the_iterator_raises_is_raised(error):
    def numbers():
        yield 1
        yield 2
        raise error("here")

    with pytest.raises(error, match="here"):
        drawer(int).draw(numbers(), 10)


def test_other_threads_get_their_turns():
    turns = []

    def numbers():
        yield from range(200_000)

    thread = threading.Thread(
        target=lambda: turns.extend(drawer(int).draw(numbers(), 200_000)[0][-1:].tolist())
    )
    thread.start()
    mine = drawer(int).draw(numbers(), 200_000)[0]
    thread.join()
    assert turns == [199_999]
    assert np.array_equal(mine, np.arange(200_000))


class Told:
    """An iterator of Python's that counts how often it is asked."""

    def __init__(self, values):
        self.values, self.asked = iter(values), 0

    def __iter__(self):
        return self

    def __next__(self):
        self.asked += 1
        return next(self.values)


@pytest.mark.parametrize(
    ("last", "where", "stages"),
    some(itertools.product(
        [None, 2**63, 2**70, 1.5, "a", True, np.int64(7), (1, 2)],
        [0, 1, 65_535, 65_536, 65_537, 65_536 * 5 - 1, 65_536 * 5, 65_536 * 5 + 1, 400_000],
        ["map(_ * 2) |> sum", "filter(_ > 5) |> map(_ + 1)", "max", "map(_ * 0.5) |> sum"],
    )),
)  # fmt: skip
def test_it_is_what_python_gives(last, where, stages):
    values = [*range(where), *([] if last is None else [last]), *range(9)]
    found = {}
    for on in ("auto", "python"):
        space = {"source": Told(values)}
        try:
            with warnings.catch_warnings(action="ignore"):  # of integers beyond 64 bits
                Session(space, Options(on=on, baseline=False, quiet=True)).run_cell(f"y = source |> {stages}")
            value = space["y"]
            found[on] = list(value) if isinstance(value, np.ndarray) else value, space["source"].asked
        except Exception as error:
            found[on] = type(error), str(error), space["source"].asked
    assert found["auto"] == found["python"]


@pytest.mark.parametrize("where", [3, 70_000, 500_000])
def test_a_source_that_raises(where):
    def numbers():
        yield from range(where)
        raise ValueError("here")

    space = {"numbers": numbers}
    with pytest.raises(ValueError, match="here"):
        Session(space, Options(baseline=False, quiet=True)).run_cell("y = numbers() |> map(_ * 2) |> sum")
    assert "y" not in space


SOURCES = """
def named(n):
    global k
    for i in range(n):
        k += i % every == 2
        yield i
    k = 0

def within(n):
    k = 1
    def numbers():
        nonlocal k
        for i in range(n):
            if i % every == 2:
                k += i
            yield i * 0.5
        k = 0
    return numbers(), lambda x: x * k

def listing(n):
    for i in range(n):
        if i % every == 2:
            ks.append(i)
        yield i

def given(n, numbers):
    yield from (numbers.append(i) or i if i % every == 2 else i for i in range(n))

class Indexed:
    def __getitem__(self, i):
        global k
        k += 1
        if i == 9:
            raise IndexError
        return i

def times(x): return x * k
"""


@pytest.mark.parametrize("size", [0, 1, 3, 9, 65_537, 400_000])
@pytest.mark.parametrize(
    "text",
    [
        "named(n) |> map(_ * k) |> sum",
        "filter(None, named(n)) |> map(times) |> filter(lambda x: x > k) |> count",
        "map(f, named(n)) |> map(_ * k) |> max",
        "(lambda of: of[0] |> map(of[1]) |> map(_ + 1) |> sum)(within(n))",
        "listing(n) |> map(lambda x: x * len(ks)) |> sum",
        "given(n, ks) |> map(lambda x: x * len(ks)) |> sum",
        "itertools.chain(listing(n)) |> map(lambda x: x * len(ks)) |> sum",
        "Told(listing(n)) |> map(lambda x: x * len(ks)) |> sum",
        "Indexed() |> map(_ * k) |> sum",
    ],
)
def test_iterators_may_change_what_functions_read(text, size):
    found = {}
    for on in ("parallel", "python"):
        space = {"n": size, "every": max(4, size - 60), "k": 3, "ks": [1], "found": [], "f": abs}
        session = Session(
            {**space, "itertools": itertools, "Told": Told, "__name__": "here"},
            Options(on=on, baseline=False, quiet=True),
        )
        session.run_cell(SOURCES)
        turns = f"for turn in range({3 if size < 10 else 1}):\n    try:\n        found.append({text})\n"
        session.run_cell(f"{turns}    except ValueError as error:\n        found.append(str(error))\n")
        found[on] = repr(space["found"]), repr(space["ks"])
    assert found["parallel"] == found["python"]


@pytest.mark.parametrize("size", [0, 1, 8])
def test_behind_its_end_an_iterator_is_not_asked_again(size):
    asked = []

    def told():
        asked.append(Told(range(size)))
        return asked[-1]

    for stages in ("map(lambda x: (x, x))", "map(_ * 2) |> sum", "map(str)"):
        Session({"told": told}, Options(on="parallel", baseline=False, quiet=True)).run_cell(
            f"for turn in range(3):\n    told() |> {stages}"
        )
    assert [each.asked for each in asked] == [size + 1] * 9


@pytest.mark.parametrize("form", ["signed", "tagged"])
def test_there_is_code_for_ints_of_every_version(monkeypatch, form):
    """Which version of Python has it or not: a mistake in the text of one must show in all."""
    monkeypatch.setattr(lists, "layout", lambda: form)
    code = lists.code_of(int, values=True)
    assert code is not None
    for made in (lists.Reader(int, code), Drawer(int, code)):
        assert made.type is int
