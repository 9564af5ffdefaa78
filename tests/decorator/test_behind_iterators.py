"""What Python evaluates when it has made an iterator, as `start` in `sum((x for x in xs), start)`, comes then."""

# ruff: noqa: A001, B905, E731, FURB192, PLW0108 - what is compiled is meant as it stands

import functools
import math
import operator
from collections import deque
from functools import reduce
from operator import itemgetter

import pytest

from hastega_magic import hastega

LENGTHS = (3, 300, 3000)


class Iterable:
    """Tells when an iterator is made."""

    def __init__(self, log, length):
        self.log, self.length = log, length

    def __iter__(self):
        self.log.append("iterator")
        return iter(range(self.length))


class Noted:
    """Tells what is evaluated."""

    def __init__(self, log):
        self.log = log

    def __call__(self, value):
        self.log.append(value)
        return value

    @property
    def zero(self):
        return self(0)


def outcome(function, *given):
    try:
        return repr(function(*given))
    except Exception as error:
        return type(error), str(error)


def same(plain, *given):
    fast = hastega(plain)
    expected = outcome(plain, *given)
    for _ in range(3):
        assert outcome(fast, *given) == expected
    return fast


# What changes the elements


def popped(xs, f=abs):
    return sum((x for x in reversed(xs)), xs.pop())


def popped_of_a_map(xs):
    return sum(map(abs, reversed(xs)), xs.pop())


def popped_for_a_default(xs):
    return max((x for x in reversed(xs)), default=xs.pop())


def popped_for_a_reduction(xs):
    return reduce(lambda a, b: a + b, (x * 2 for x in reversed(xs)), xs.pop())


def popped_behind_a_list(xs):
    return sum([x * 2 for x in xs], xs.pop())


def popped_for_a_number(xs):
    return [i + x for i, x in enumerate(reversed(xs), xs.pop())]


def popped_for_a_key(xs):
    return sorted((x * 2 for x in reversed(xs)), key=(xs.pop(), abs)[1])


def popped_for_several(xs):
    return sum((x * y for x in reversed(xs) for y in range(20)), xs.pop())


def popped_beside(xs):
    return [x * y + z for x, y in zip(reversed(xs), xs.pop() and xs) for z in range(20)]


def popped_beside_numbers(xs):
    return [i * x + z for i, x in enumerate(reversed(xs), xs.pop()) for z in range(20)]


@pytest.mark.parametrize(
    "plain",
    [popped, popped_of_a_map, popped_for_a_default, popped_for_a_reduction, popped_behind_a_list,
     popped_for_a_number, popped_for_a_key, popped_for_several, popped_beside, popped_beside_numbers],
)  # fmt: skip
@pytest.mark.parametrize("kind", [list, deque])
def test_what_changes_the_elements_comes_behind_their_iterator(plain, kind):
    made = lambda decorate: lambda length: decorate(plain)(kind(range(length)))
    for length in LENGTHS:
        expected = outcome(made(lambda function: function), length)
        assert [outcome(made(hastega), length) for _ in range(3)] == [expected] * 3


def test_a_dict_finds_that_it_has_changed():
    def changed(length):
        d = dict.fromkeys(range(length))
        return sum((x * 2 for x in d), d.popitem()[0])

    for length in LENGTHS:
        same(changed, length)


# What cannot be iterated over, and whose iterators tell


def test_what_cannot_be_iterated_over_is_found_first():
    def tried(function):
        log = []
        try:
            function(Noted(log))
        except TypeError as error:
            return log, str(error)

    def failing(nothing):
        return (
            tried(lambda noted: sum((x * 2 for x in nothing), noted(0))),
            tried(lambda noted: sum((x * 2 for x in nothing), start=noted.zero)),
            tried(lambda noted: max((x * 2 for x in nothing), default=noted(1))),
            tried(lambda noted: sum(map(abs, nothing), noted(0))),
            tried(lambda noted: min(filter(abs, nothing), default=[noted(0)])),
            tried(lambda noted: reduce(lambda a, b: a + b, (x * 2 for x in nothing), noted(5))),
            tried(lambda noted: sum((x + y for x, y in zip(nothing, [1])), noted(0))),
            tried(lambda noted: sum((x + y for x, y in zip(nothing, [1])), noted(0))),
            tried(lambda noted: sum((x * y for x in nothing for y in [1]), noted(0))),
            tried(lambda noted: sorted((x * 2 for x in nothing), key=noted(abs))),
        )

    for nothing in (None, 5, object):
        same(failing, nothing)


def test_iterators_of_classes_are_made_first():
    def told(length):
        log = []
        noted = Noted(log)
        return (
            sum((x * 2 for x in Iterable(log, length)), noted(0)),
            sum((x * 2 for x in Iterable(log, length)), noted.zero),
            max((x * 2 for x in Iterable(log, length)), default=noted(0)),
            sum(map(abs, Iterable(log, length)), noted(1)),
            sorted((x * 2 for x in Iterable(log, length)), key=noted(abs))[0],
            log,
        )

    for length in LENGTHS:
        same(told, length)


def test_an_iterator_may_bind_what_comes_behind_it():
    class Binding:
        def __init__(self, bind):
            self.bind = bind

        def __iter__(self):
            self.bind(5)
            return iter(range(600))

    def bound():
        start = 1

        def bind(value):
            nonlocal start
            start = value

        return sum((x * 2 for x in Binding(bind)), start)

    same(bound)


def test_a_variable_without_a_value_is_found_behind_the_iterator():
    def unbound(xs, log, given):
        if given:
            start = 1
        return sum((x * 2 for x in xs), start)

    def unbound_default(xs, log, given):
        if given:
            start = 1
        return max((x * 2 for x in xs), default=start)

    def unbound_global(xs, log, given):
        return sum((x * 2 for x in xs), nowhere)  # noqa: F821 (that it is unbound is the point)

    for plain in (unbound, unbound_default, unbound_global):
        for xs in (None, range(3), range(600)):
            same(plain, xs, [], False)
        logs = [], []
        for function, log in zip((plain, hastega(plain)), logs, strict=True):
            with pytest.raises(NameError):
                function(Iterable(log, 600), log, False)
        assert logs[0] == logs[1] == ["iterator"]


# What is compiled nevertheless

START = 7


def usual(xs, start):
    return (
        sum((x * 2 for x in xs), start),
        sum((x * 2 for x in xs), START),
        sum((x * 2 for x in xs), start=-1),
        sum((x * 2 for x in xs), start * 2),
        sum(map(abs, xs), start),
        max((x * 2 for x in xs), default=0),
        max((x * 2 for x in xs), default=None),
        min((x * 2 for x in xs), default=(start, 0)),
        min((x * 2 for x in xs), default=float("nan")),
        reduce(lambda a, b: a + b, (x * 2 for x in xs), start),
        reduce(lambda a, b: min(a, b), (x * 2.5 for x in xs), float("inf")),
        functools.reduce(lambda a, b: max(a, b), (x * 2.5 for x in xs), -math.inf),
    )


def numbered(xs, start):
    return [i + x + y for i, (x, y) in enumerate(zip(xs, xs), start)], [
        i + x for i, x in enumerate(reversed(xs), start)
    ]


def over_places(xs, start):
    return (
        sum((x * y for x in xs for y in range(10)), start),
        [i * x + y + z for (i, x), y in zip(enumerate(reversed(xs), start), xs) for z in range(9)],
    )


def ordered(xs, start):
    return (
        sorted(((x % 7, x) for x in xs), key=itemgetter(1, 0), reverse=True),
        sorted(((x % 7, x) for x in xs), key=operator.itemgetter(0)),
        sorted((x * 2 for x in xs), key=lambda x: -x),
        min((x % 7 for x in xs), key=abs),
        deque((x * 2 for x in xs), maxlen=start),
    )


@pytest.mark.parametrize("plain", [usual, over_places, ordered])
def test_what_changes_nothing_is_compiled(plain):
    fast = same(plain, list(range(600)), 3)
    assert "no compiled loop" not in str(fast.explain())
    same(plain, list(range(5)), 3)
    same(plain, list(range(600)), 2.5)


def test_numbers_of_pairs_are_compiled():
    def pairs(xs, start):
        return [i + x + y for i, (x, y) in enumerate(zip(xs, xs), start)]

    assert "1 fused loop" in str(same(pairs, list(range(600)), 3).explain())


def test_a_class_knows_its_own_variables():
    def made(xs):
        class Sums:
            start = 4
            total = sum((x * 2 for x in xs), start)
            most = max((x * 2 for x in xs), default=start)
            ordered = sorted(((x % 5, x) for x in xs), key=itemgetter(0))

            def after(self, xs, start=sum((x * 2 for x in range(600)), start)):  # noqa: B008
                return sum((x * 2 for x in xs), start)

        return Sums.total, Sums.most, Sums.ordered, Sums().after(xs)

    same(made, range(600))


class Thing:
    offset = 4

    def __init__(self, start):
        self.start = start

    def total(self, xs):
        return sum((x * 2 for x in xs), self.start)


def test_an_attribute_that_nothing_computes_is_compiled():
    def total(thing, xs):
        return sum((x * 2 for x in xs), thing.start)

    assert "no compiled loop" not in str(same(total, Thing(5), range(600)).explain())
    noted = Noted([])

    def computed(thing, xs):
        return sum((x * 2 for x in xs), thing.zero)

    found = same(computed, noted, range(600))
    assert "no compiled loop" in str(found.explain())
    assert noted.log == [0] * 4


def test_a_function_of_that_name_is_the_users():
    def shadowed(xs):
        log = []

        def float(text):
            log.append(text)
            return 1

        def itemgetter(number):
            log.append(number)
            xs.clear()
            return abs

        return sum((x * 2 for x in xs), float("1")), sorted((x * 2 for x in xs), key=itemgetter(0)), log

    for length in LENGTHS:
        assert hastega(shadowed)(list(range(length))) == shadowed(list(range(length)))


# What `min` and `max` call between two elements


def moved(xs, length):
    def key(value):
        xs[-1] = 10 * length - value
        return value

    return max((x * 2 for x in xs), key=key)


def moved_by_a_lambda(xs, length):
    return max((x * 2 for x in xs), key=lambda value: xs.__setitem__(-1, 5 * length) or value)


def moved_by_an_object(xs, length):
    class Key:
        def __getitem__(self, value):
            xs[-1] = 10 * length - value
            return value

    items = Key()
    return max((x * 2 for x in xs), key=lambda value: items[value]), min(
        (x * 2 for x in xs), key=items.__getitem__
    )


@pytest.mark.parametrize("plain", [moved, moved_by_a_lambda, moved_by_an_object])
def test_a_key_may_change_the_elements_behind(plain):
    for length in LENGTHS:
        expected = plain(list(range(length)), length)
        fast = hastega(plain)
        assert [fast(list(range(length)), length) for _ in range(3)] == [expected] * 3


@pytest.mark.parametrize(
    "plain",
    [
        lambda xs, k: min((x % 7 for x in xs), key=abs),
        lambda xs, k: min((x % 7 for x in xs), key=math.sqrt, default=None),
        lambda xs, k: max(((x % 7, x) for x in xs), key=itemgetter(0)),
        lambda xs, k: max(((x % 7, x) for x in xs), key=lambda pair: (pair[0], -pair[1] * k)),
        lambda xs, k: min((x % 7 for x in xs), key=lambda x: xs[x] if x in xs else abs(x - k)),
        lambda xs, k: min((x % 7 for x in xs), key=xs.index),
        lambda xs, k: min((x * 2 for x in xs), key=None),
    ],
)
def test_keys_that_change_nothing_are_known(plain):
    assert "1 fused loop" in str(same(plain, list(range(600)), 3).explain())
