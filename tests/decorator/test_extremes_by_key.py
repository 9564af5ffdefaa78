"""`max(xs, key=f)` and `min(xs, key=f)` are loops that find the place; the element is the one that stands there."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from hastega_magic import hastega

R = random.Random(4)
INTS = [R.randrange(-(10**6), 10**6) for _ in range(3000)]
FLOATS = [R.uniform(-9, 9) for _ in range(3000)]
NAN = math.nan
SOURCES = {
    "ints": INTS,
    "floats": FLOATS,
    "a tuple": tuple(FLOATS),
    "a range": range(-700, 2000, 3),
    "ties": [1000 + i % 7 for i in range(900)],
    "nan first": [NAN, *FLOATS],
    "nan inside": [*FLOATS[:50], NAN, *FLOATS[50:]],
    "zeros": [-0.0, 0.0] * 400,
    "beyond 64 bits": [2**70, *INTS],
    "pairs": list(zip(INTS, FLOATS, strict=True)),
    "texts": ["a", "bc"] * 300,
    "few": [3, 1, 2],
    "empty": [],
    "int64": np.array(INTS),
    "uint8": np.arange(900).astype(np.uint8),
    "float32": np.array(FLOATS, np.float32),
    "float64": np.array(FLOATS)[::-2],
    "a generator": None,
    "a dict": dict.fromkeys(INTS, 1),
}


def by_square(xs):
    return max(xs, key=lambda x: x * x)


def by_distance(xs):
    return min(xs, key=lambda x: abs(x - 3))


def by_remainder(xs):
    return max(xs, key=lambda x: x % 5)


def by_truth(xs):
    return min(xs, key=lambda x: x > 2)


def by_itself(xs):
    return max(xs, key=lambda x: x)


def by_first(xs):
    return min(xs, key=lambda p: p[0])


def by_pair(xs):
    return max(xs, key=lambda x: (x % 3, x))


def by_name(xs):
    return max(xs, key=abs)


def by_sine(xs):
    return max(xs, key=lambda x: math.sin(x))  # noqa: PLW0108


def by_quotient(xs):
    return min(xs, key=lambda x: 1 / x)


def with_default(xs):
    return max(xs, default=4, key=lambda x: -x)


FUNCTIONS = [by_square, by_distance, by_remainder, by_truth, by_itself, by_first, by_pair, by_name, by_sine]
FUNCTIONS += [by_quotient, with_default]


def outcome(function, source, name):
    given = iter(INTS) if name == "a generator" else source
    try:
        with np.errstate(all="ignore"):
            return function(given)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.__name__)
def test_as_python(function, name):
    decorated = hastega(function)
    for _ in range(5):
        mine, theirs = (outcome(each, SOURCES[name], name) for each in (decorated, function))
        if isinstance(SOURCES[name], np.ndarray) or name == "a generator" or isinstance(theirs, tuple):
            assert type(mine) is type(theirs)
            assert mine == theirs or (mine != mine and theirs != theirs)
        else:
            assert mine is theirs or (isinstance(SOURCES[name], range) and mine == theirs)


@pytest.mark.parametrize("name", ["ints", "floats", "a tuple", "a range", "ties", "nan inside", "zeros"])
@pytest.mark.parametrize(
    "function", [by_square, by_distance, by_itself, by_truth], ids=lambda each: each.__name__
)
def test_a_loop_finds_it(function, name):
    decorated = hastega(function, on="simd")
    decorated(SOURCES[name])
    assert decorated.explain().pipelines[0].loops == 1


def test_last_bits_decide_nothing():
    decorated = hastega(by_sine, on="simd")
    decorated(FLOATS)
    (barrier,) = decorated.explain().pipelines[0].barriers
    assert "last bits" in barrier.reason


def test_captured_lists():
    def nearest(xs, c):
        return min(range(len(xs)), key=lambda i: abs(xs[i] - c))

    decorated = hastega(nearest, on="simd")
    for c in (0.0, 3.5, -2, 100.0, NAN):
        assert decorated(FLOATS, c) == nearest(FLOATS, c)
    assert decorated.explain().pipelines[0].loops == 1


def test_what_is_evaluated_when():
    said = []

    def tell(what, value):
        said.append(what)
        return value

    @hastega
    def function():
        a = max(tell("xs", FLOATS), key=lambda x, k=tell("k", 2): x % k)  # noqa: B008
        return a, max(tell("ys", FLOATS), key=lambda x: -x), max(tell("zs", FLOATS), key=tell("f", abs))

    assert function() == function.__wrapped__()
    assert said == ["xs", "k", "ys", "zs", "f"] * 2


def test_names_that_nobody_knows():
    @hastega
    def function(xs):
        return max(nothing, key=nobody)  # noqa: F821

    with pytest.raises(NameError, match="nothing"):
        function(FLOATS)


def test_another_function_of_that_name():
    def made(xs, max):  # noqa: A002
        return max(xs, key=lambda x: -x)

    decorated = hastega(made)
    assert decorated(FLOATS, max) == made(FLOATS, max)
    assert decorated(FLOATS, sorted) == made(FLOATS, sorted)


def test_series():
    pandas = pytest.importorskip("pandas")
    series = pandas.Series(FLOATS, index=range(len(FLOATS), 0, -1))
    decorated = hastega(by_distance, on="simd")
    for _ in range(3):
        assert decorated(series) == by_distance(series)
        assert type(decorated(series)) is type(by_distance(series))
