"""Objects that ordinary code is given and keeps are the very same in its results; of NaN `in` and `==` tell."""

# ruff: noqa: C416, E731, FURB136, FURB192 - what is compiled is meant as it stands

import functools
import math
import sys
from itertools import accumulate

import numpy as np
import pytest

from hastega_magic import hastega
from hastega_magic.compiler.fastpath.ordinary import OrdinaryCode
from hastega_magic.runtime.cpu.direct import MOST
from hastega_magic.runtime.objects import reused

nan = float("nan")
LENGTHS = (0, 300, 5_000, MOST + 5_000)
KEPT = (
    lambda xs: [x for x in xs if x != 3],
    lambda xs: [x for x in xs],
    lambda xs: [0.0 if x < 0 else x for x in xs],
    lambda xs: [max(x, 0.0) for x in xs],
    lambda xs: [nan if x < 0 else 1.0 for x in xs],
    lambda xs: [x or 1.0 for x in xs],
    lambda xs: [+x for x in xs],
    lambda xs: [float(x) for x in xs],
    lambda xs: [(x, 1) for x in xs if x != 2],
    lambda xs: [(i, x) for i, x in enumerate(xs)],
    lambda xs: [a if a > b else b for a, b in zip(xs, xs[3:], strict=False)],
    lambda xs: [x for i, x in enumerate(xs) if i % 3],
    lambda xs: [x for y in range(2) for x in xs if x != y],
    lambda xs: list(filter(lambda x: x != 3, xs)),
    lambda xs: tuple(x for x in xs if x != 3),
    lambda xs: {i: x for i, x in enumerate(xs)},
    lambda xs: sorted(x for x in xs if x > 3),
    lambda xs: [x for x in xs[::-2] if x != 3],
    lambda xs: list(accumulate(xs, lambda a, b: a if a < b else b)),
)


def numbers(length):
    return [
        nan if i % 101 == 3 else float("nan") if i % 97 == 5 else i * 7919 % 1009 / 8 - 40
        for i in range(length)
    ]


@pytest.mark.parametrize("number", range(len(KEPT)))
def test_nan_is_told_by_its_object(number):
    plain = KEPT[number]
    fast = hastega(plain)
    for length in LENGTHS:
        xs = numbers(length)
        expected = plain(xs)
        for _ in range(3):
            assert fast(xs) == expected
    assert nan in numbers(10)


def greatest_but_one(x):
    return max(v for v in (1.0, x) if v != 1.0)


def last_of_them(x):
    for v in (1.0, x):
        if v != 1.0:
            y = v
    return y


def there_if_not_one(x):
    y = None
    if x != 1.0:
        y = x
    return max(y, 1.0)


def first_in_order(x):
    return sorted((x, 2.0))[0]


def middle_in_order(x):
    return sorted((x, 2.0, 3.0), reverse=True)[1]


@pytest.mark.parametrize(
    "given", [greatest_but_one, last_of_them, there_if_not_one, first_in_order, middle_in_order]
)
@pytest.mark.parametrize(
    "plain",
    [
        lambda xs, given: [given(x) for x in xs if x != 1.0],
        lambda xs, given: [(given(x), 1) for x in xs if x != 1.0],
        lambda xs, given: sorted(given(x) for x in xs if x != 1.0),
        lambda xs, given: [max(given(x) for x in xs if x != 1.0)],
    ],
)
def test_what_has_to_be_there_is_handed_on_too(given, plain):
    fast = hastega(plain)
    for xs in (numbers(600), numbers(MOST + 5_000), [*map(float, range(601)), nan]):
        expected = plain(xs, given)
        assert [fast(xs, given) for _ in range(3)] == [expected] * 3
        assert [fast(xs, given).count(nan) for _ in range(3)] == [expected.count(nan)] * 3


@pytest.mark.parametrize("name", [min, max])
def test_one_of_them(name):
    for xs in ([nan, *map(float, range(5_000))], [*map(float, range(5_000)), nan]):
        plain = lambda xs: [name(x for x in xs if x != 3)]
        fast = hastega(plain)
        assert fast(xs) == plain(xs)
        assert fast(xs) == plain(xs)


def test_the_one_that_a_function_of_two_chooses():
    plain = lambda xs: [functools.reduce(lambda a, b: a if a < b else b, xs)]
    fast = hastega(plain)
    xs = [*map(float, range(5_000)), nan]
    assert [fast(xs) for _ in range(3)] == [plain(xs)] * 3


def test_what_is_computed_may_be_nan():
    fast = hastega(lambda xs: [x * 2 for x in xs])
    xs = numbers(MOST + 10)
    for _ in range(3):
        found = fast(xs)
        assert "NaN is among" not in str(fast.explain())
        assert [x for x in found if x == x] == [x * 2 for x in xs if x == x]
        assert sum(map(math.isnan, found)) == sum(map(math.isnan, xs))


def test_it_says_why_it_is_pythons():
    fast = hastega(lambda xs: [0.0 if x < 0 else x for x in xs])
    xs = numbers(5_000)
    fast(xs)
    assert "NaN is among the results" in str(fast.explain())


def test_of_arrays_python_makes_new_objects_too():
    fast = hastega(lambda xs: [x for x in xs if x != 3])
    xs = np.array(numbers(5_000))
    for _ in range(3):
        found = fast(xs)
        assert "NaN is among" not in str(fast.explain())
        np.testing.assert_array_equal(found, xs[xs != 3])


@pytest.mark.parametrize(
    "xs",
    [
        [i * 7919 % 100_003 - 40_000 for i in range(MOST + 9_999)],
        [i % 3 - 1 for i in range(MOST + 9_999)],
        [(i - MOST) * 2**40 for i in range(MOST + 9_999)],
        tuple(i / 4 - 40 for i in range(MOST + 9_999)),
        numbers(MOST + 9_999),
    ],
    ids=["ints", "small ints", "large ints", "a tuple", "floats"],
)
def test_a_long_list_is_one_of_its_own_objects(xs):
    if reused.picker() is None:
        pytest.skip("the layout of this Python's objects is not known")
    for plain in (lambda xs: [x for x in xs if x != -1], lambda xs: [x for x in xs if x > 10]):
        fast = hastega(plain)
        expected = plain(xs)
        for _ in range(4):
            found = fast(xs)
        assert "NaN" not in str(fast.explain())
        assert found == expected
        assert list(map(id, found)) == list(map(id, expected))


def test_each_use_is_counted():
    xs = [float(i) for i in range(MOST + 9_999)]
    fast = hastega(lambda xs: [x for x in xs if x > 10])
    for _ in range(4):
        fast(xs)
    before = [*map(sys.getrefcount, xs[::1000])]
    kept = [fast(xs) for _ in range(3)]
    more = [now - then for now, then in zip(map(sys.getrefcount, xs[::1000]), before, strict=True)]
    assert more == [3 * (x > 10) for x in xs[::1000]]
    del kept
    assert [*map(sys.getrefcount, xs[::1000])] == before


@pytest.mark.parametrize(
    "plain",
    [
        lambda xs: [x * 1.0 for x in xs],
        lambda xs: [x**1 for x in xs if x != 3],
        lambda xs: [complex(x, 1.0).real for x in xs],
        lambda xs: [x if x > 0 else x * 1.0 for x in xs],
    ],
)
def test_what_is_computed_is_new_though_its_value_is_not(plain):
    fast, xs = hastega(plain), [nan, *map(float, range(MOST + 9_999))]
    expected = plain(xs)
    for _ in range(4):
        found = fast(xs)
        assert (nan in found, found == expected) == (nan in expected, False)


THRESHOLD = 1.0


@pytest.mark.parametrize(
    "plain",
    [
        lambda xs: [THRESHOLD if x > 3 else 1.0 for x in xs],
        lambda xs: [(THRESHOLD, 1) for x in xs if x > 3],
        lambda xs: [max(THRESHOLD, 1.0) for x in xs if x > 3],
        lambda xs: [max(v for v in (2.5, THRESHOLD) if v != 2.5) for x in xs if x > 3],
        lambda xs: [sorted((THRESHOLD, 9.0))[0] for x in xs if x > 3],
        lambda xs: [sorted((THRESHOLD, float(x)))[0] for x in xs if x > 3],
    ],
)
@pytest.mark.parametrize("xs", [np.arange(5000.0), [*map(float, range(5000))]], ids=["array", "list"])
def test_a_captured_number_becomes_nan(plain, xs, monkeypatch):
    fast = hastega(plain)
    for value in (1.0, 2.0, 3.5, 4.5, nan, nan):
        monkeypatch.setattr(sys.modules[__name__], "THRESHOLD", value)
        assert fast(xs) == plain(xs)


def test_the_tuple_that_a_function_of_two_gives():
    plain = lambda xs: functools.reduce(lambda a, b: (b, a[0]), xs, (1.0, 2.0))
    fast, xs = hastega(plain), [*map(float, range(5000)), nan]
    assert [fast(xs) for _ in range(3)] == [plain(xs)] * 3


def test_after_some_results_with_nan_python_is_asked_at_once(monkeypatch):
    plain = lambda xs: [0.0 if x < 0 else x for x in xs]
    fast, xs = hastega(plain), numbers(5_000)
    seen = []
    monkeypatch.setattr(OrdinaryCode, "_value", lambda *given: seen.append(1) or value(*given))
    for _ in range(100):
        assert fast(xs) == plain(xs)
    assert 3 <= len(seen) <= 10
    for _ in range(100):
        assert fast(xs[6:90] * 10) == plain(xs[6:90] * 10)
    assert "NaN" not in str(fast.explain())


value = OrdinaryCode._value
