"""Looks that have become native code are those of Python's."""

from __future__ import annotations

import contextlib
import copy
import gc
import pickle
import threading
import weakref

import pytest

from hastega_magic import hastega
from hastega_magic.compiler.fastpath import handoff, looks
from hastega_magic.session import Session
from hastega_magic.syntax.site import WORTH
from tests.decorator.outcomes import ints, outcome

FUNCTIONS = """
def total(xs):
    return sum(x * x for x in xs)

def squares(n):
    return [x * x for x in range(n)]

def added(xs):
    s = 0
    for x in xs:
        s += x * x
    return s

def up_to(n):
    s = 0
    for x in range(n):
        s += x * x
    return s

def products(xs, ys):
    return [x * y for x, y in zip(xs, ys)]

def flat(rows):
    return sum(x for row in rows for x in row)

def by_rows(rows):
    out, k = [], 0
    while k < len(rows):
        s = 0
        for x in rows[k]:
            s += x * x
        out.append((s, sum(x * 3 for x in rows[k])))
        k += 1
    return out
"""
ROWS = [ints(k % 5) for k in range(300)] + [ints(300), ints(1)]
GIVEN = {
    "total": [([1, 2, 3],), ((),), (ints(),), ({1, 2},), ([1.5],), ([None],), (5,)],
    "squares": [(3,), (0,), (700,), (-1,), (1.5,)],
    "added": [([1, 2],), (ints(),), ([],), (["a"],), (range(10**3),), ("ab",)],
    "up_to": [(3,), (700,), (0,), (None,)],
    "products": [([1], [2, 3]), (ints(), ints()), (ints(), [1]), (ints(), 3), (range(3), range(300))],
    "flat": [([[1, 2], [3]],), ([ints()],), ([[]],), ([3],)],
    "by_rows": [(ROWS,), ([],), ([[1], 2],)],
}


@pytest.fixture(params=["python", "native"])
def native(request, monkeypatch):
    """Whether looks are native code from their second one on."""
    monkeypatch.setattr(looks, "FIRST", 1 if request.param == "native" else -1)
    monkeypatch.setattr(looks, "LATER", 1 if request.param == "native" else -1)
    return request.param == "native"


def _functions():
    namespace = {}
    exec(compile(FUNCTIONS, _FILE, "exec"), namespace)
    return namespace


_FILE = "<functions with looks>"


@pytest.fixture(autouse=True)
def _source(monkeypatch):
    import linecache

    monkeypatch.setitem(linecache.cache, _FILE, (1, None, FUNCTIONS.splitlines(keepends=True), _FILE))


@pytest.mark.parametrize("name", GIVEN)
def test_functions_give_what_python_gives(native, name):
    function = _functions()[name]
    decorated = hastega(function)
    for _ in range(3):
        for given in GIVEN[name]:
            assert outcome(decorated, *given) == outcome(function, *given)


@pytest.mark.parametrize("name", ["total", "squares", "added", "up_to"])
def test_the_report_tells_of_few_elements_and_of_many(native, name):
    decorated = hastega(_functions()[name])
    few, many = (3, 700) if name in ("squares", "up_to") else ([1, 2, 3], ints())
    for _ in range(3):
        for _ in range(4):
            decorated(few)
            assert "there are fewer than 256 elements" in str(decorated.explain())
        decorated(many)
        (pipeline,) = decorated.explain().pipelines
        assert pipeline.loops == 1


def test_looks_become_native_code_after_some(monkeypatch):
    monkeypatch.setattr(looks, "FIRST", 3)
    monkeypatch.setattr(looks, "LATER", 3)
    decorated = hastega(_functions()["total"])
    hooks = next(each for each in decorated.__code__.co_consts if hasattr(each, "worth"))
    kinds = []
    for _ in range(5):
        decorated([1])
        (look,) = hooks.worth.values()
        kinds.append(type(look).__name__)
    assert kinds == ["function"] * 2 + ["builtin_function_or_method"] * 3


def test_runs_are_counted(native):
    decorated = hastega(_functions()["by_rows"])
    for _ in range(2):
        decorated(ROWS)
        text = str(decorated.explain())
        assert "302 times" in text or "fewer than 256" in text


def test_functions_of_cells(native):
    session = Session({})
    session.run_cell(FUNCTIONS)
    for name, given in GIVEN.items():
        function = _functions()[name]
        for _ in range(3):
            for each in given:
                assert outcome(session.namespace[name], *each) == outcome(function, *each)
        session.run_cell("other = 1")
    before = {name for name in session.namespace if name.startswith("__hastega_")}
    session.run_cell("[x * 3 for x in range(5)]")
    assert {name for name in session.namespace if name.startswith("__hastega_")} == before


def test_a_timed_run_that_raised_is_not_ended_by_one_of_few(native):
    function = _functions()["added"]
    decorated = hastega(function)
    for xs in ([*range(400), None], [1], [*range(400), "a"], [2], list(range(400))) * 6:
        assert outcome(decorated, xs) == outcome(function, xs)


def test_threads(native):
    functions = {name: hastega(each) for name, each in _functions().items() if name in GIVEN}
    expected = {n: (sum(x * x for x in range(n)), [x * x for x in range(n)]) for n in (3, 5, 300)}
    wrong = []

    def run(n):
        for _ in range(300):
            xs = list(range(n))
            found = functions["total"](xs), functions["squares"](n)
            if found != expected[n] or functions["up_to"](n) != expected[n][0]:
                wrong.append((n, found))

    threads = [threading.Thread(target=run, args=(n,)) for n in expected]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong


def test_functions_are_let_go_of(native):
    decorated = hastega(_functions()["total"])
    for _ in range(5):
        decorated([1, 2])
    known = weakref.ref(decorated)
    del decorated
    gc.collect()
    assert known() is None


def test_they_are_sent_without_their_looks(native):
    decorated = hastega(_functions()["total"])
    hooks = next(each for each in decorated.__code__.co_consts if hasattr(each, "worth"))
    for _ in range(5):
        decorated([1, 2])
    sent = pickle.loads(pickle.dumps(hooks))
    assert (dict(sent.worth), dict(sent.laid), sent.began) == ({}, {}, set())


def test_what_was_laid_down_before_there_was_native_code_is_taken(monkeypatch):
    assert handoff.native(make=True) is not None
    with contextlib.suppress(IndexError):  # what other tests' interrupts have left
        while True:
            handoff.taken()
    monkeypatch.setattr(handoff.Taking, "native", None)
    handoff.lay((1, 2))
    found = handoff.native(make=True)
    assert found is not None
    assert handoff.taken() == 1
    handoff.lay((3,))
    assert [handoff.taken(), handoff.taken()] == [3, 2]


def test_looks_of_one_count_do_not_know_each_other_s_by_python(monkeypatch):
    monkeypatch.setattr(looks, "FIRST", 1)
    decorated = hastega(_functions()["total"])
    hooks = next(each for each in decorated.__code__.co_consts if hasattr(each, "worth"))
    decorated([1])
    other = copy.copy(hooks)
    (number,) = hooks.worth
    for _ in range(3):
        assert other.worth[number](sum, [1]) is False
    del other
    gc.collect()
    assert decorated(ints()) == sum(x * x for x in ints())


def test_looks_at_what_no_cell_runs_again_are_let_go_of():
    session = Session({})
    session.run_cell(FUNCTIONS)
    session.run_cell("xs = [1, 2]\nfound = [x * 3 for x in xs], total(xs)")
    assert len(session.namespace[WORTH]) == 1  # that of the function
