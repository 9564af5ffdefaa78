"""Ordinary code that Python computes sooner than the compiled loop is Python's, after a few runs."""

import math

import numpy as np
import pytest

from hastega_magic import hastega
from hastega_magic.compiler.fastpath import ordinary, profitability
from hastega_magic.compiler.fastpath.profitability import SOONER, STAYS, Profitability


def taken(monkeypatch, clear, function, *args, runs=6):
    """Who computed in each run, where Python is tried, and taken below so many times the loop's time."""
    monkeypatch.setenv("HASTEGA_AUTO", "")
    monkeypatch.setattr(profitability, "_LEAST", 0.0)
    monkeypatch.setattr(profitability, "_DEARER", math.inf)
    monkeypatch.setattr(profitability, "_OTHERWISE", math.inf)
    monkeypatch.setattr(profitability, "_CLEAR", clear)
    made, found = hastega(function), ""
    for _ in range(runs):
        value, expected = made(*args), function(*args)
        assert value == expected
        assert type(value) is type(expected)
        found += "p" if SOONER in made.explain().to_text(width=200) else "c"
    return found


def squares(xs):
    return {x: x * x for x in xs}


def halves(n):
    return [(i, i * 0.5) for i in range(n)]


def total(xs):
    return sum(0.1 / (x + 1) for x in xs)


@pytest.mark.parametrize(("function", "argument"), [(squares, list(range(600))), (halves, 600)])
def test_python_is_tried_once_and_taken_where_it_is_faster(monkeypatch, function, argument):
    assert taken(monkeypatch, math.inf, function, argument) == "cccppp"
    assert taken(monkeypatch, 0.0, function, argument) == "cccpcc"


def divisors(xs):
    return [math.gcd(x, 84) for x in xs]


def euclid(xs):
    def gcd(a, b):
        while b:
            a, b = b, a % b
        return a

    return [gcd(x, 84) for x in xs]


@pytest.mark.parametrize("function", [divisors, euclid])
def test_of_turns_nothing_is_predicted_so_that_python_is_tried_in_place_of_short_loops(monkeypatch, function):
    xs = list(range(1, 400))
    monkeypatch.setattr(profitability, "_SHORT", math.inf)
    assert taken(monkeypatch, math.inf, function, xs) == "cccppp"
    assert taken(monkeypatch, 0.0, function, xs) == "cccpcc"
    monkeypatch.setattr(profitability, "_SHORT", 0.0)
    assert taken(monkeypatch, math.inf, function, xs) == "cccccc"


def test_where_python_is_taken_nothing_else_is_looked_at(monkeypatch):
    monkeypatch.setenv("HASTEGA_AUTO", "")
    for name, value in (
        ("_LEAST", 0.0),
        ("_DEARER", math.inf),
        ("_CLEAR", math.inf),
        ("_OTHERWISE", math.inf),
    ):
        monkeypatch.setattr(profitability, name, value)
    looked, look = [], ordinary.iterated
    monkeypatch.setattr(ordinary, "iterated", lambda *given: looked.append(given) or look(*given))
    made, xs = hastega(squares), list(range(600))
    for _ in range(4):
        assert made(xs) == squares(xs)
    seen = len(looked)
    for _ in range(4):
        assert made(xs) == squares(xs)
    assert len(looked) == seen
    other = np.arange(600) % 7, list(range(9000)), xs  # of another kind, and of another size
    for each in other:
        assert made(each) == squares(each)
    assert seen < len(looked) <= seen + 3


def test_what_may_differ_in_its_last_bits_stays_where_it_is(monkeypatch):
    monkeypatch.setenv("HASTEGA_AUTO", "")
    monkeypatch.setattr(profitability, "_LEAST", 0.0)
    monkeypatch.setattr(profitability, "_DEARER", math.inf)
    made, xs = hastega(total), list(range(5000))
    assert len({made(xs) for _ in range(9)}) == 1


def sevenfold(xs):
    return sum(x * 7 for x in xs)


@pytest.mark.parametrize("before", [0, 5])
def test_what_may_differ_stays_where_it_is_beside_what_may_not(monkeypatch, before):
    """Sums of floats are always the loop's, or always Python's, also where integers go through the same code."""
    monkeypatch.setenv("HASTEGA_AUTO", "")
    for name in ("_DEARER", "_CLEAR", "_OTHERWISE"):
        monkeypatch.setattr(profitability, name, math.inf)
    monkeypatch.setattr(profitability, "_LEAST", 0.0)
    many = ([(n * k % 997) / 997 for n in range(600)] for k in range(100, 300))
    floats = next(xs for xs in many if sevenfold(xs) != hastega(sevenfold)(xs))
    made, integers = hastega(sevenfold), list(range(600))
    for _ in range(before):
        made(integers)
    found = set[float]()
    for _ in range(6):
        found.add(made(floats))
        assert made(integers) == sevenfold(integers)
        made(floats * 10)  # another size, which is compiled
    assert len(found) == 1


@pytest.mark.parametrize(("clear", "otherwise", "before"), [(0.0, math.inf, 3), (math.inf, 0.0, 4)])
def test_what_python_was_tried_with_stays_python_s(monkeypatch, clear, otherwise, before):
    """The run that Python is tried with may be the first of floats, and it may be given up for floats."""
    monkeypatch.setenv("HASTEGA_AUTO", "")
    monkeypatch.setattr(profitability, "_DEARER", math.inf)
    monkeypatch.setattr(profitability, "_LEAST", 0.0)
    monkeypatch.setattr(profitability, "_CLEAR", clear)
    monkeypatch.setattr(profitability, "_OTHERWISE", otherwise)
    many = ([(n * k % 997) / 997 for n in range(600)] for k in range(100, 300))
    floats = next(xs for xs in many if sevenfold(xs) != hastega(sevenfold)(xs))
    made, integers = hastega(sevenfold), list(range(600))
    for _ in range(before):
        made(integers)
    assert {made(floats) for _ in range(5)} == {sevenfold(floats)}
    assert made(integers) == sevenfold(integers)


def test_integers_stay_compiled_where_python_was_slower_for_them(monkeypatch):
    """Python's tried sum of integers has no last bits, whatever a loop over floats may give."""
    assert taken(monkeypatch, 0.0, sevenfold, list(range(600))) == "cccpcc"
    made, integers = hastega(sevenfold), list(range(600))
    for _ in range(4):
        made(integers)
    made([0.1] * 600)
    made(integers)
    assert STAYS not in made.explain().to_text(width=200)
    assert SOONER not in made.explain().to_text(width=200)


def paced(predicted=1e-6):
    found = Profitability(predicted)
    for _ in range(3):
        assert not found.by_python(1000)
        found.took(1e-4, 1000, python=False)
    return found


def test_python_is_not_tried_where_it_is_predicted_to_take_far_longer():
    assert paced(3e-7).by_python(1000)
    assert not paced(5e-7).by_python(1000)
    assert not paced(math.inf).by_python(1000)


def test_other_sizes_are_others():
    found = paced(1e-7)
    assert not found.by_python(100_000)
    assert found.by_python(1000)
    assert found.asked() == (1000, True)
    assert found.asked() == (0, False)


def test_python_is_given_up_where_its_work_grows():
    found = paced(1e-7)
    for seconds in (1e-5, 1.5e-5, 1e-5):
        assert found.by_python(1000)
        found.took(seconds, 1000, python=True)
    found.took(1e-3, 1000, python=True)
    assert not found.by_python(1000)


def digits(text):
    return sum(int(c) for c in text)


@pytest.mark.parametrize("text", ["1234", {1: 2, 3: 4}, {1, 2}, frozenset({5})])
def test_few_elements_of_what_is_never_compiled_are_not_looked_at(text):
    made = hastega(digits)
    assert made(text) == digits(text)
    assert "fewer than 256 elements" in made.explain().to_text(width=200)
