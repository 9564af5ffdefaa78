"""`@hastega` where Python runs the code after all, and where ends of sums tell: nothing of it is to be noticed."""

from __future__ import annotations

import builtins
import runpy
import traceback
import warnings
from collections import Counter

import numpy as np
import pytest

from hastega_magic import hastega
from hastega_magic.session import Options, Session

XS = list(range(600))


def _same_error(function, *args):
    """The function and the decorated one raise the same; from one line, if the text shows where."""
    found = [_raised(each, *args) for each in (hastega(function), function)]
    assert found[0] == found[1]
    return found[1]


def _raised(function, *args):
    try:
        return function(*args)
    except NameError as error:
        line = traceback.extract_tb(error.__traceback__)[-1].line
        return type(error), str(error), error.name, error.__context__, line


def test_a_variable_without_a_value_is_local_where_it_was():
    def of_a_list(xs, given):
        if given:
            k = 2
        return [x * k for x in xs]

    def deleted(xs, given):
        k = 1
        ys = [x * k for x in xs]
        del k
        return {x + k for x in ys}  # noqa: F821 (that it is unbound is the point)

    def of_an_inner_clause(xs, given):
        if given:
            ys = xs
        return [x * y for x in xs for y in ys]

    def of_a_generator(xs, given):
        if given:
            k = 2
        return sum(x * k for x in xs)

    def caught(xs, given):
        if given:
            k = 2
        try:
            return [x * k for x in xs]
        except UnboundLocalError:
            return "local"
        except NameError:
            return "free"

    for function in (of_a_list, deleted, of_an_inner_clause, of_a_generator, caught):
        for xs in (XS, XS[:3]):
            _same_error(function, xs, False)


def test_a_variable_of_a_function_further_out_is_free_where_it_was():
    def outer(xs, decorate):
        def inner():
            return [x * k for x in xs]

        early = _raised(decorate(inner))
        k = 2
        return early, k

    assert outer(XS, hastega) == outer(XS, lambda function: function)

    def reads(x):
        return x * late

    def calls(xs):
        late = 3  # noqa: F841 (of another function)
        return [reads(x) for x in xs]

    _same_error(calls, XS)
    late = 2
    assert hastega(calls)(XS) == [x * late for x in XS]


def test_a_variable_without_a_value_in_a_cell():
    text = "def f(xs):\n    if not xs:\n        k = 1\n    return [x * k for x in xs]\n"
    names: dict[str, object] = {}
    exec(text, names)
    session = Session({}, Options(baseline=False, quiet=True))
    session.run_cell(text)
    assert _raised(session.namespace["f"], XS)[:3] == _raised(names["f"], XS)[:3]


def test_a_sum_that_begins_with_a_zero_keeps_its_sign():
    def sums(xs, start):
        return (
            sum((-x for x in xs), start),
            sum([x * 1.0 for x in xs], start),
            sum((x for x in xs), start=start),
        )

    made = hastega(sums)
    for xs in ([0.0] * 600, [-0.0] * 600, [0] * 600, [1.0, -1.0] * 300):
        for start in (-0.0, 0.0, 0, 2.0):
            assert repr(made(xs, start)) == repr(sums(xs, start))


@pytest.mark.parametrize("length", [3, 600])
def test_another_sum_is_called_as_it_is_written(length):
    def sums(xs, sum):  # noqa: A002
        return sum((x * 2 for x in xs), 1), sum([x * 2 for x in xs], 1), sum((x for x in xs), start=1)

    def called(*args, **named):
        return len(args), named

    assert hastega(sums)(range(length), called) == sums(range(length), called)
    assert hastega(sums)(range(length), sum) == sums(range(length), sum)


def test_keys_that_are_nan_are_as_many_as_of_a_list():
    def keyed(xs):
        pairs = dict((x, x * 2) for x in xs if x)  # noqa: C402 (a generator is what this is about)
        counts = Counter(x for x in xs if x != 7)
        both = Counter((x, 1) for x in xs if x)
        return list(map(repr, pairs.items())), list(map(repr, counts.items())), len(both)

    made = hastega(keyed)
    nan = float("nan")
    for xs in ([nan, 1.0, 2.0] * 1000, [1.0, 2.5] * 300, [nan, float("nan"), 0.0] * 300):
        for _ in range(3):
            assert made(xs) == keyed(xs)


def test_functions_are_called_once_for_each_number_beyond_64_bits():
    class Rates:
        asked = 0

        @property
        def rate(self):
            self.asked += 1
            return 2

    rates = Rates()
    called = []

    def noted(x):
        called.append(x)
        return x + 1

    def asked(xs):
        return [rates.rate * x for x in xs if x > 0]

    def calls(xs):
        return [noted(x) for x in xs if x > 0]

    def sums(xs):
        return sum(noted(x) for x in xs if x > 0)

    xs = [10 ** (n % 25) for n in range(600)]
    for function in (asked, calls, sums):
        made = hastega(function)
        for _ in range(4):
            rates.asked = 0
            called.clear()
            assert made(xs) == function(xs)
            assert rates.asked + len(called) == 1200


def test_inner_clauses_are_evaluated_as_often_as_by_python():
    asked = []

    class Items:
        def __getitem__(self, part):
            asked.append(part)
            return [1, 2, 3]

    class Number:
        def __index__(self):
            asked.append(self)
            return 3

    def parts(xs, given):
        return [x * y for x in xs for y in given[0:3]]

    def ranges(xs, given):
        return [x * y for x in xs for y in range(given)]

    for function, given in ((parts, Items()), (ranges, Number())):
        made = hastega(function)
        for length in (3, 300, 3000):
            asked.clear()
            found, times = made(range(length), given), len(asked)
            assert found == function(range(length), given)
            assert times == length


def test_an_object_that_notes_what_it_is_asked_for_is_asked_for_nothing_more():
    noted = []

    class Noting:
        def __getattr__(self, name):
            noted.append(name)
            raise AttributeError(name)

        def __iter__(self):
            return iter(range(300))

        def __len__(self):
            return 300

    triples = hastega(lambda xs: [x * 3 for x in xs])
    for _ in range(3):
        assert triples(Noting()) == [x * 3 for x in range(300)]
    assert noted == []


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "xs",
    [
        np.arange(700).astype("i2"),
        (np.arange(5000) % 100).astype("u1"),
        np.linspace(0, 1e38, 5000, dtype="f4"),
    ],
    ids=["int16", "uint8", "float32"],
)
def test_looking_for_nan_among_keys_warns_of_nothing(xs):
    """The sum of narrow scalars overflows; none of them does."""

    def keyed(xs):
        return {x * 2 for x in xs}, {x * 2: 1 for x in xs}, set(x * 2 for x in xs)  # noqa: C401

    made = hastega(keyed)
    for _ in range(2):
        found, expected = made(xs), keyed(xs)
        assert found == expected
        assert [set(map(type, each)) for each in found] == [set(map(type, each)) for each in expected]


@pytest.mark.parametrize(
    "text", ["[abs(x) + 1 for x in xs]", "[helped(x) for x in xs]", "[x * held for x in xs]"]
)
def test_what_stands_in_builtins_is_followed(monkeypatch, tmp_path, text):
    file = tmp_path / "asks_builtins.py"
    file.write_text(
        f"from hastega_magic import hastega\ndef helped(x): return abs(x) + held\n@hastega\ndef f(xs): return {text}\n"
    )
    monkeypatch.setattr(builtins, "held", 3, raising=False)
    names = runpy.run_path(str(file))
    xs = list(range(-500, 500))

    def expected():
        return eval(text, names | {"xs": xs})

    for _ in range(3):
        assert names["f"](xs) == expected()
    for number, replaced in ((4, lambda x: 5), (7.5, lambda x: -x), (3, abs)):
        monkeypatch.setattr(builtins, "held", number)
        monkeypatch.setattr(builtins, "abs", replaced)
        for _ in range(3):
            assert names["f"](xs) == expected()


def test_what_python_ran_is_told_as_that():
    @hastega
    def doubled(xs):
        return sum(x * 2 for x in xs)

    assert "did not run" not in str(doubled.explain())
    assert doubled(range(5)) == 20
    assert "ran in Python · ✗ 1 barrier" in str(doubled.explain())


def test_what_the_loop_asks_of_an_object_is_not_told_to_its_class():
    asked = []

    class Slotted:
        __slots__ = ("unset", "v")

        def __init__(self):
            self.v = 3

        def __getattr__(self, name):
            asked.append(name)
            return 4

        def __call__(self, x):
            return x + 1

    held = Slotted()

    def calls(xs):
        return [held(x) for x in xs]

    def reads(xs):
        return [x * held.v for x in xs]

    def reads_what_is_unset(xs):
        return [x * held.unset for x in xs]

    for function in (calls, reads, reads_what_is_unset):
        expected, told = function(XS), asked.copy()
        asked.clear()
        made = hastega(function)
        for _ in range(3):
            assert made(XS) == expected
            assert asked == told
            asked.clear()


@pytest.mark.parametrize(
    "xs", [np.arange(300), (np.arange(300) % 100).astype(np.int8), np.arange(300) % 2 == 0, XS]
)
def test_what_is_compared_with_an_infinity_is_a_bool_of_the_same_kind(xs):
    inf = float("inf")

    def alone(xs):
        return [x < inf for x in xs]

    def inverted(xs):
        return [~(x != inf) for x in xs]

    def parts(xs):
        return [(x, x < inf, -inf < x < inf, (x > inf) * 2, abs(x < inf)) for x in xs]

    def counted(xs):
        return sum(x < inf for x in xs)

    def numbered(xs):
        return [n < inf for n, x in enumerate(xs)]

    def beside(xs):
        return [x * (x < inf) + 1.5 for x in xs]

    for function in (alone, inverted, parts, counted, numbered, beside):
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of `~True`
            assert repr(hastega(function)(xs)) == repr(function(xs)), function


def unequal_sum(a):
    return sum((a[i] != 0) + (a[i] != 5) for i in range(len(a)))


def unequal_times(a):
    return [i * (a[i] != 1) for i in range(len(a))]


def unequal_negated(a):
    return [-(a[i] != 1) * 1 for i in range(len(a))]


def unequal_neighbours(a):
    return [(a[i] != a[i - 1]) == True for i in range(len(a))]  # noqa: E712


@pytest.mark.parametrize("function", [unequal_sum, unequal_times, unequal_negated, unequal_neighbours])
@pytest.mark.parametrize("dtype", ["complex128", "complex64", "float64", None])
def test_whether_numpys_complex_numbers_differ_is_a_bool_of_its_own(function, dtype):
    numbers = [complex(i % 50, i % 3) if dtype != "float64" else i / 2 for i in range(300)]
    given = numbers if dtype is None else np.array(numbers, dtype)

    def outcome(run):
        try:
            found = run(given)
        except TypeError as error:
            return str(error)
        return [(type(each), each) for each in (found if type(found) is list else [found])]

    decorated = hastega(function)
    for _ in range(3):
        assert outcome(decorated) == outcome(function)
