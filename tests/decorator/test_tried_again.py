"""Ordinary code that could not be compiled is tried again, ever less often: what it is given later may be otherwise."""

from __future__ import annotations

import math

import pytest

from hastega_magic import hastega
from hastega_magic.compiler.fastpath.ordinary import OrdinaryCode
from hastega_magic.compiler.fastpath.pauses import Pauses
from hastega_magic.session import Options, Session

BIG = [2**70, *range(400)]
SMALL = list(range(400))


@pytest.fixture
def tried(monkeypatch):
    found = []
    original = OrdinaryCode._compile

    def compile_(self, *given):
        found.append(self.runs)
        return original(self, *given)

    monkeypatch.setattr(OrdinaryCode, "_compile", compile_)
    return found


def shifted():
    @hastega(on="simd")
    def function(xs):
        return [x * 3 + 1 for x in xs]

    return function


def test_other_elements_are_tried_after_a_while():
    function = shifted()
    for _ in range(3):
        assert function(BIG) == function.__wrapped__(BIG)
    loops = []
    for _ in range(17):
        assert function(SMALL) == function.__wrapped__(SMALL)
        loops.append(function.explain().pipelines[0].loops)
    assert loops == [0] * 16 + [1]


def test_the_reason_is_that_of_the_last_failure():
    function = shifted()
    for _ in range(6):
        function(BIG)
    (barrier,) = function.explain().pipelines[0].barriers
    assert "beyond 64 bits" in barrier.reason


def test_a_loop_that_fits_is_run_whatever_failed(tried):
    function = shifted()
    function(SMALL)
    for _ in range(5):
        function(BIG)
    assert function(SMALL) == function.__wrapped__(SMALL)
    assert function.explain().pipelines[0].loops == 1
    assert len(tried) == 1 + 3


def test_what_always_fails_is_tried_ever_less_often(tried):
    function = shifted()
    for _ in range(300):
        function(BIG)
    assert len(tried) == 3 + 4  # 3, then 16, 32, 64 and 128 runs later


def behind(xs):
    return [xs[i + 1] for i in range(len(xs))]


def inverse(xs):
    return [10 // x for x in xs]


@pytest.mark.parametrize("plain", [behind, inverse])
def test_what_raises_every_time_is_tried_ever_less_often(plain, monkeypatch):
    tried, original = [], OrdinaryCode._value
    monkeypatch.setattr(
        OrdinaryCode, "_value", lambda self, *given: tried.append(1) or original(self, *given)
    )
    function, expected = hastega(plain), outcome(plain, SMALL)
    assert isinstance(expected, tuple)
    for _ in range(100):
        assert outcome(function, SMALL) == expected
    assert len(tried) == 3 + 2  # 3, then 16 and 32 runs later


def test_what_raises_no_more_is_compiled_again():
    function = hastega(inverse, on="simd")
    for _ in range(3):
        assert outcome(function, SMALL) == outcome(inverse, SMALL)
    loops = []
    for _ in range(18):
        assert function(SMALL[1:]) == inverse(SMALL[1:])
        loops.append(function.explain().pipelines[0].loops)
    assert loops == [0] * 16 + [1, 1]


def outcome(function, xs):
    try:
        return function(xs)
    except (IndexError, ZeroDivisionError) as error:
        return type(error), str(error)


@pytest.mark.parametrize(
    ("source", "written"),
    [("range(3)", True), ("range(2, 900, 8)", True), ("range(256)", False), ("range(n)", False)],
)
def test_how_few_elements_there_are_may_be_written_down(source, written, monkeypatch):
    asked = []
    monkeypatch.setattr(OrdinaryCode, "worth", lambda self, given: asked.append(self.site.text))
    session = Session({"n": 3}, Options(baseline=False))
    session.run_cell(
        f"def f(xs): return [[x * y for y in {source} if y >= 0] for x in xs]\nr = f(range(300))"
    )
    assert session.namespace["r"] == [[x * y for y in eval(source, {"n": 3})] for x in range(300)]
    assert any(each.startswith("[x * y") for each in asked) == (not written)


def test_pauses():
    pauses = Pauses()
    assert [pauses.failed(why) for why in "abc"] == ["a", "b", "c"]
    assert [pauses.for_failures() for _ in range(17)] == ["c"] * 16 + [""]
    pauses.failed("d")
    pauses.compiled()
    assert not pauses.for_failures()
    pauses.found_nan()
    assert not pauses.for_nan()
    pauses.found_nan()
    assert [pauses.for_nan(), pauses.for_nan()] == [True, False]
    pauses.found_none()
    pauses.found_nan()
    assert not pauses.for_nan()


@pytest.mark.parametrize("method", ["bit_count", "bit_length", "is_integer"])
def test_methods_of_elements(method):
    ones = {"bit_count": lambda xs: [x.bit_count() + 1 for x in xs]}
    ones["bit_length"] = lambda xs: [x.bit_length() for x in xs]
    ones["is_integer"] = lambda xs: [x.is_integer() for x in xs]
    plain = ones[method]
    xs = [i / 4 for i in range(-300, 300)] + [math.inf, math.nan]
    xs = xs if method == "is_integer" else [*range(-300, 300), 2**62, -(2**63), 2**63 - 1]
    function = hastega(plain, on="simd")
    assert function(xs) == plain(xs)
    assert [type(each) for each in function(xs)] == [type(each) for each in plain(xs)]
    assert function.explain().pipelines[0].loops == 1


SOURCES = [
    "str(x)",
    "repr(x)[1:]",
    "f'{x}'",
    "'0123'",
    "str(x).split('1')",
    "'a'.join(map(str, range(x)))",
    "bin(x)",
]


@pytest.mark.parametrize("source", SOURCES)
def test_whether_texts_are_worth_it_is_not_asked(source, monkeypatch):
    asked = []
    monkeypatch.setattr(OrdinaryCode, "worth", lambda self, given: asked.append(self.site.text))
    session = Session({}, Options(baseline=False))
    session.run_cell(f"def f(xs): return [sum(len(d) for d in {source}) for x in xs]\nr = f(range(300))")
    assert session.namespace["r"] == eval(f"[sum(len(d) for d in {source}) for x in range(300)]")
    assert len(asked) <= 1  # not for each of the texts


def test_what_finds_nothing_in_every_other_run_is_not_compiled_each_time(monkeypatch):
    compiled: list[object] = []
    compile_ = OrdinaryCode._compile
    monkeypatch.setattr(
        OrdinaryCode, "_compile", lambda self, *given: compiled.append(self) or compile_(self, *given)
    )

    def largest(xs, k):
        return max((x for x in xs if x > k), default=None)

    decorated, xs = hastega(largest), list(range(600))
    for _ in range(60):
        assert decorated(xs, 9) == 599
        assert decorated(xs, 600) is None
    assert len(compiled) < 15
