"""Functions that a decorated function makes anew in each call are known by their code and what they read."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from hastega_magic import hastega
from hastega_magic.compiler.fastpath.ordinary import OrdinaryCode

FS = [random.Random(1).uniform(-9, 9) for _ in range(4000)]
TABLE = [0.5, 2.0, -1.0]
SCALE = 3


def by_tuple(fs, c=(1.0, 2.0, 3.0)):
    def h(x):
        r = 0.0
        for k in c:
            r = r * x + k
        return r

    return [h(x) for x in fs]


def plain(fs, c=2.0):
    def h(x):
        return x * SCALE

    return [h(x) for x in fs]


def by_number(fs, c=2.0):
    def h(x):
        return x * c

    return [h(x) for x in fs]


def by_default(fs, c=2.0):
    def h(x, k=c, *, m=c + 1):
        return x * k + m

    return [h(x) for x in fs]


def by_list(fs, c=2.0):
    t = [*TABLE, c]

    def h(x):
        return t[int(abs(x)) % 4] * x

    return [h(x) for x in fs]


def by_array(fs, c=2.0):
    t = np.array(TABLE) * c

    def h(x):
        return float(t[int(abs(x)) % 3]) + x

    return [h(x) for x in fs]


def of_two(fs, c=2.0):
    def g(x):
        return x + c

    def h(x):
        return g(x) * 2

    return [h(x) for x in fs]


def twice(fs, c=2.0):
    def h(x):
        return x * c

    return [h(x) for x in fs if h(x) > 1]


def with_module(fs, c=2.0):
    def h(x):
        return math.sqrt(abs(x)) + c

    return [h(x) for x in fs]


def partly(fs, c=2.0):
    def g(x, k):
        return x * k

    def h(x):
        return g(x, c)

    return sum(h(x) > 3 for x in fs)


def chosen(fs, c=2.0):
    if c > 2:

        def h(x):
            return x + 1
    else:

        def h(x):
            return x - 1

    return [h(x) for x in fs]


def of_itself(fs, c=2.0):
    def h(x, n=2):
        return x if n == 0 else h(x, n - 1) * c

    return [h(x) for x in fs]


def over_lambda(fs, c=2.0):
    h = lambda x: x - c  # noqa: E731
    return [h(x) for x in fs]


FUNCTIONS = [
    by_tuple,
    plain,
    by_number,
    by_default,
    by_list,
    by_array,
    of_two,
    twice,
    with_module,
    partly,
    chosen,
]
FUNCTIONS += [of_itself, over_lambda]
KNOWN = [by_tuple, plain, by_number, by_default, by_list, of_two, twice, with_module, partly, over_lambda]


@pytest.fixture
def compilations(monkeypatch):
    """The runs that looked for a loop anew."""
    found = []
    original = OrdinaryCode._compile

    def compile_(self, *given):
        found.append(self.site.text)
        return original(self, *given)

    monkeypatch.setattr(OrdinaryCode, "_compile", compile_)
    return found


def identical(mine, theirs):
    def one(a, b):
        return type(a) is type(b) and (a == b or (a != a and b != b))

    if isinstance(theirs, list):
        return type(mine) is list and len(mine) == len(theirs) and all(map(one, mine, theirs))
    return one(mine, theirs)


@pytest.mark.parametrize("function", KNOWN, ids=lambda each: each.__name__)
def test_called_again_they_are_known(function, compilations):
    decorated = hastega(function)
    for _ in range(12):
        assert identical(decorated(FS), function(FS))
    assert len(compilations) == 1


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.__name__)
def test_what_they_read_is_noticed(function):
    decorated = hastega(function)
    changing = [2.0, 2.0, 3.0, 3.0, 2.0, 5, 5, True, 2.5, -0.0, 0.0, math.inf, 10**30]
    for c in (2.0,) * 3 if function is by_tuple else changing:
        given = (c, 1.0, c) if function is by_tuple else c
        assert identical(decorated(FS, given), function(FS, given)), c
    if function is by_tuple:
        for c in [(1.0, 2.0), (1.0, 2.0, 3), (2.0, 1), (), (1.0, 2.0, 3.0)] * 2:
            assert identical(decorated(FS, c), function(FS, c)), c


def test_a_number_that_keeps_changing_is_given_to_one_loop(compilations):
    decorated = hastega(by_number)
    for c in range(40):
        assert identical(decorated(FS, c + 0.5), by_number(FS, c + 0.5))
    assert len(compilations) <= 4


def test_globals_and_functions_in_place_of_others(monkeypatch):
    decorated = hastega(plain)
    for scale in (3, 3, 4, 2.5, 3):
        monkeypatch.setitem(globals(), "SCALE", scale)
        assert identical(decorated(FS), plain(FS))


def test_what_a_function_holds_is_another_kind_of_thing():
    def made(fs, h):
        return [h(x) for x in fs]

    decorated = hastega(made)
    for _ in range(2):
        for h in (lambda x: x + 1, abs, math.sin, math.floor, lambda x, k=3: x * k, int):
            mine, theirs = decorated(FS, h), made(FS, h)
            assert [type(each) for each in mine] == [type(each) for each in theirs]
            assert np.allclose(mine, theirs, rtol=1e-15)


def test_defaults_put_in_their_place():
    def h(x, k=2.0):
        return x * k

    def made(fs):
        inner = h
        return [inner(x) for x in fs]

    decorated = hastega(made)
    for k in (2.0, 2.0, 3.0, 3, 2.0):
        h.__defaults__ = (k,)
        assert identical(decorated(FS), made(FS))


def test_several_of_one_code_with_variables_of_their_own():
    def make(m):
        def h(x):
            return x * m

        return h

    def made(fs, a, b):
        f, g = make(a), make(b)
        return [f(x) + g(x) for x in fs]

    decorated = hastega(made)
    for a, b in [(1.0, 2.0), (1.0, 2.0), (2.0, 1.0), (3.0, 3.0), (1.0, 2.0), (5.0, 7.0), (6.0, 8.0)] * 2:
        assert identical(decorated(FS, a, b), made(FS, a, b))


isclose = [object()] * 3000


def test_a_global_named_as_an_attribute_is_none_that_is_read(compilations):
    def made(fs):
        return sum(1 for x in fs if math.isclose(x, 5.0, rel_tol=0.01))

    decorated = hastega(made)
    for _ in range(5):
        assert decorated(FS) == made(FS)
        isclose.append(object())
    assert len(compilations) == 1
