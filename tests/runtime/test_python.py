"""CPython's own meaning of the stages."""

import functools
import gc
import itertools
import math
import operator
import signal
import statistics
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hastega_magic.runtime import python_stages
from hastega_magic.runtime.python import apply, as_result, elements, mean, run, spreads


def stage(name, *args, **kwargs):
    return name, None, args, kwargs


def call(function, *args, **kwargs):
    return function.__name__, function, args, kwargs


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.arange(5, dtype=">i2")[::-2], [4, 2, 0]),
        (np.array([2**64 - 1], np.uint64), [2**64 - 1]),
        (np.array([True, False]), [True, False]),
        (np.array([0.5, -0.0]), [0.5, -0.0]),
        (np.array([1.5], ">f8"), [1.5]),
        (np.array([1.5], "<f4"), [np.float32(1.5)]),
        (np.array([1.5], ">f4"), [np.float32(1.5)]),
        (np.array([(1, 0.5)], [("f0", "i8"), ("f1", "f4")]), [(1, np.float32(0.5))]),
        (np.array([None, "a"], object), [None, "a"]),
        (range(3), [0, 1, 2]),
        ([1, "a"], [1, "a"]),
    ],
)
def test_elements(array, expected, same):
    assert same(list(elements(array)), expected)


def test_many_elements_come_in_order():
    assert list(elements(np.arange(10_001))) == list(range(10_001))


@pytest.mark.parametrize("source", [np.array(5), 5, None])
def test_what_cannot_be_iterated(source):
    with pytest.raises(TypeError, match=r"0-d array|not iterable"):
        run(source, [stage("map", abs)])


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([True, False], "bool"),
        ([1, -5], "int64"),
        ([2**63], "uint64"),
        ([2**63, -1], "object"),
        ([2**64], "object"),
        ([0.5, np.float64(2)], "float64"),
        ([np.float32(1)], "float32"),
        ([np.float32(1), 1.0], "object"),
        ([np.int64(3), 4], "int64"),
        ([np.uint64(2**63), 4], "uint64"),
        ([True, 1], "object"),
        ([1, 1.5], "object"),
        (["a", None], "object"),
        ([[1, 2], [3, 4]], "object"),
        ([(1, 2), (3,)], "object"),
    ],
)
def test_results(values, dtype):
    found = as_result(values)
    assert found.dtype == dtype
    assert found.shape == (len(values),)
    assert list(found) == values


@pytest.mark.parametrize(
    ("number", "late", "dtype"),
    [
        (3, 4, "int64"), (3, 2**63, "uint64"), (3, 2**64, "object"), (3, True, "object"), (3, np.int64(4), "int64"),
        (0.5, -0.0, "float64"), (0.5, np.float64(2), "float64"), (0.5, 1, "object"), (True, False, "bool"),
        (True, np.True_, "bool"), ("a", 1, "object"), (None, (1, 2), "object"), (1j, 2j, "complex128"),
    ],
)  # fmt: skip
def test_results_of_many(number, late, dtype):
    values = [*[number] * 5000, late]
    found = as_result(values)
    assert found.dtype == dtype
    assert repr(found.tolist()) == repr(
        [getattr(each, "tolist", lambda each=each: each)() for each in values]
    )


def test_many_numbers_are_read_by_native_code(monkeypatch):
    """NumPy asks each object what it is; and where the first ones are no numbers, the others are not looked at."""
    monkeypatch.setattr(np, "array", None)
    assert as_result(list(range(5000))).tolist() == list(range(5000))
    assert as_result([0.5] * 5000).tolist() == [0.5] * 5000
    texts = [*["a"] * 5000, 1]
    assert list(as_result(texts)) == texts


def test_what_has_elements_of_its_own_is_one_element():
    values = [np.arange(3), [1, 2], (1,), np.array(3), {}, "ab", None, 10**30]
    found = as_result(values)
    assert found.shape == (len(values),)
    assert all(one is other for one, other in zip(found, values, strict=True))


@pytest.mark.parametrize(
    "value", [0.1, -0.0, 1, 2**53 + 1, 2.0**127, -(2.0**128), 10**38, 1e39, math.inf, True]
)
def test_float32_numbers_are_made_without_a_warning(value):
    with warnings.catch_warnings(action="error"):
        (found,) = run([value], [stage("astype", "float32")])
    with np.errstate(over="ignore"):
        assert repr(found) == repr(np.float32(value))


@pytest.mark.parametrize("dtype", ["S5", "S", "M8[s]", "m8[ms]", "i4,i4"])
def test_dtypes_whose_class_is_not_enough(dtype):
    found = run([5, 1, 300], [stage("astype", dtype)])
    wanted = np.array([5, 1, 300], object).astype(dtype)
    assert found.dtype == wanted.dtype
    assert found.tolist() == wanted.tolist()


def test_tuples_are_objects():
    assert run([(1, 2), (3, 4)], [stage("astype", object), call(list)]) == [(1, 2), (3, 4)]


def test_results_of_tuples():
    found = as_result([(1, (0.5, True)), (2, (1.5, False))])
    assert found.dtype == np.dtype([("f0", "i8"), ("f1", [("f0", "f8"), ("f1", "?")])])
    assert found.tolist() == [(1, (0.5, True)), (2, (1.5, False))]
    assert as_result([(2**64, 1)])["f0"].dtype == object


@pytest.mark.parametrize(
    ("like", "dtype"),
    [
        (range(3), "int64"),
        (np.zeros(1, "i2"), "int64"),
        (np.zeros(1, ">f4"), "float32"),
        (np.zeros(1, "?"), "bool"),
        ([], "float64"),
        (None, "float64"),
    ],
)
def test_empty_results(like, dtype):
    assert as_result([], like).dtype == dtype
    assert run(like, [stage("take", 0)]).dtype == dtype if like is not None else True


ints = st.lists(st.integers(-(2**70), 2**70), max_size=20)


@given(values=ints, n=st.integers(0, 10), start=st.integers(-3, 3))
def test_stages_are_pythons(values, n, start):
    assert run(values, [stage("map", abs), stage("to_list")]) == [abs(value) for value in values]
    assert run(values, [stage("filter", lambda v: v % 2), stage("to_list")]) == [v for v in values if v % 2]
    assert run(values, [stage("take", n), stage("to_list")]) == values[:n]
    assert run(values, [stage("drop", n), stage("to_list")]) == values[n:]
    assert run(values, [stage("enumerate", start), stage("to_list")]) == list(enumerate(values, start))
    assert run(values, [stage("zip", range(5)), stage("to_list")]) == list(
        zip(values, range(5), strict=False)
    )
    assert run(values, [stage("sum")]) == sum(values)
    assert run(values, [stage("prod")]) == math.prod(values)
    assert run(values, [stage("count")]) == len(values)
    assert run(values, [stage("any")]) == any(values)
    assert run(values, [stage("all")]) == all(values)
    assert run(values, [stage("reduce", operator.sub, 1)]) == functools.reduce(operator.sub, values, 1)
    assert run(values, [stage("min", default=7)]) == min(values, default=7)
    if values:
        assert run(values, [stage("max")]) == max(values)
        assert run(values, [stage("mean")]) == sum(values) / len(values)


@pytest.mark.parametrize(
    ("name", "args", "error"),
    [
        ("min", (), ValueError),
        ("max", (), ValueError),
        ("reduce", (operator.add,), TypeError),
        ("mean", (), statistics.StatisticsError),
        ("take", (-1,), ValueError),
        ("nonsense", (), NameError),
        ("map", (), TypeError),
    ],
)
def test_errors_are_pythons(name, args, error):
    with pytest.raises(error):
        run([], [stage(name, *args)])


def test_reduce_begins_with_what_is_called_init_alone():
    assert run([1, 2], [stage("reduce", operator.add, init=3)]) == 6
    with pytest.raises(TypeError, match="other"):
        run([1, 2], [stage("reduce", operator.add, other=3)])


def test_elements_pass_one_by_one():
    seen = []

    def note(tag):
        return lambda value: seen.append((tag, value)) or value

    run([1, 2], [stage("map", note("a")), stage("map", note("b")), stage("sum")])
    assert seen == [("a", 1), ("b", 1), ("a", 2), ("b", 2)]


def test_exceptions_come_in_pythons_order():
    stages = [stage("map", lambda x: 10 // x), stage("map", lambda x: [5][x]), stage("sum")]
    with pytest.raises(IndexError):
        run([3, 0], stages)
    with pytest.raises(ZeroDivisionError):
        run([11, 0], stages)


def test_no_more_is_asked_of_the_source_than_python_asks():
    assert run(itertools.count(), [stage("map", lambda x: x * x), stage("take", 3), stage("to_list")]) == [
        0,
        1,
        4,
    ]
    assert run(itertools.count(), [stage("map", lambda x: x > 5), stage("any")]) is True


def test_observers_see_the_value_so_far():
    seen = []
    stages = [stage("map", lambda x: x + 1), stage("tap", seen.append), stage("sum")]
    assert run([1, 2], stages) == 5
    assert seen[0].tolist() == [2, 3]
    source = [1, 2]
    assert run(source, [stage("tap", seen.append)]) is source
    assert run([1.5, 2.5], [stage("map", abs), call(np.dot, [2, 2])]) == 8
    assert run([1], [call(len), stage("tap", seen.append)]) == 1


def test_a_users_own_function_of_a_stages_name():
    def sum(value, extra):  # noqa: A001
        return (value.tolist(), extra)

    assert run([1], [stage("map", abs), call(sum, extra=2)]) == ([1], 2)


@pytest.mark.parametrize(
    ("function", "size", "expected"),
    [
        (lambda a, b: 0, 2, True),
        (lambda pair: 0, 2, False),
        (lambda a, b=1: 0, 2, False),
        (lambda a, b, c=0: 0, 2, True),
        (lambda a, b, c: 0, 2, False),
        (lambda *args: 0, 2, False),
        (operator.mul, 2, True),
        (pow, 2, True),
        (divmod, 2, True),
        (math.gcd, 2, True),
        (math.atan2, 2, True),
        (print, 2, False),
        (np.add, 2, True),
        (np.sqrt, 2, False),
        (len, 2, False),
        (lambda a: 0, 1, False),
    ],
)
def test_spreading(function, size, expected):
    assert spreads(function, size) is expected


def test_pairs_are_taken_whole_or_spread():
    pairs = stage("zip", [10, 20])
    for function in (lambda p: p[0] * p[1], lambda a, b: a * b, operator.mul, np.multiply):
        assert run([1, 2], [pairs, stage("map", function), stage("sum")]) == 50
    assert run([1, 20], [pairs, stage("filter", operator.eq), stage("to_list")]) == [(20, 20)]
    assert run([1, 2], [pairs, stage("map", max), stage("to_list")]) == [10, 20]
    assert run([3], [stage("enumerate", start=1), stage("zip", [5]), stage("to_list")]) == [((1, 3), 5)]


def test_single_stages():
    assert list(apply("map", [1, 2], (str,))) == ["1", "2"]
    assert apply("sum", np.arange(4)) == 6
    assert mean([2**70, 2**70]) == float(2**70)


class Rung(Exception):
    """The clock's."""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no such clock")
@pytest.mark.parametrize(
    ("name", "given"),
    [("reverse", ()), ("var", ()), ("std", ()), ("bincount", ()), ("drop", (10**9,)), ("step", (10**9,))],
)
def test_an_interrupt_ends_what_would_draw_an_endless_iterator(name, given):
    def rings(*_):
        raise Rung

    numbers, before = itertools.count(), signal.signal(signal.SIGALRM, rings)
    gc.disable()  # what a collection calls back may swallow the exception
    signal.setitimer(signal.ITIMER_REAL, 0.02)
    try:
        with pytest.raises(Rung):
            run(itertools.islice(numbers, 10**7), [stage(name, *given)])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        gc.enable()
    assert next(numbers) < 10**7


@pytest.mark.parametrize("count", [1, 4, 5, 8, 9, 30])
def test_elements_passed_in_parts_are_as_many(count, monkeypatch):
    monkeypatch.setattr(python_stages, "_AT_ONCE", 4)
    for size in (0, 1, count - 1, count, count + 1, 25):
        asked = iter(range(size))
        assert list(run(asked, [stage("drop", count), stage("to_list")])) == list(range(size))[count:]
        assert next(asked, None) is None
        assert run(iter(range(size)), [stage("step", count), stage("to_list")]) == list(range(size))[::count]
    asked = iter(range(100))
    assert run(asked, [stage("step", count), stage("first")]) == 0
    assert next(asked) == 1


@pytest.mark.parametrize("count", [0, 3, 4, 5, 8])
def test_elements_drawn_in_parts_are_all_of_them_and_the_end_is_asked_for_once(count, monkeypatch):
    monkeypatch.setattr(python_stages, "_AT_ONCE", 4)
    asked = []

    def numbers():
        asked.append(1)
        yield from range(count)
        asked.append(2)

    assert python_stages.drawn(numbers()) == list(range(count))
    assert asked == [1, 2]
    assert run(range(count), [stage("bincount")]).tolist() == [1] * count


def test_running_values_begin_with_none_where_that_is_given():
    def f(value, x):
        return x if value is None else value + x

    assert run([1, 2, 3], [stage("scan", f, None), stage("to_list")]) == [1, 3, 6]
    assert run([], [stage("scan", f, None), stage("to_list")]) == []
