"""Lists made while they are computed: the very lists of Python, whoever helps, and whatever is among the elements."""

import gc
import random
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hastega_magic import hastega
from hastega_magic.compiler.fastpath import prepared
from hastega_magic.runtime import threads
from hastega_magic.runtime.cpu.direct import MOST
from hastega_magic.runtime.objects import lists, overlapped

LONG = MOST + 2 * overlapped.CHUNK + 123
INTS = st.integers(-(2**29), 2**29) | st.integers(-10, 300)

pytestmark = pytest.mark.skipif(lists.layout() is None, reason="this Python's layout of ints is not known")


def odd(xs):
    return [x * 3 + (x & 7) for x in xs if x % 3 != 0]


def scaled(xs):
    return [x * 0.5 + 1.0 for x in xs]


def added(xs, ys):
    return [x * y + z for x, y, z in zip(xs, ys, range(7, 7 + 2 * len(ys), 2))]  # noqa: B905  so it is compiled


def never(xs):
    return [x for x in xs if x > 2**40]


def beyond(xs):
    return [x * x * x for x in xs]


@pytest.fixture
def found(monkeypatch):
    """What the runs gave that took the way through here."""
    seen = []
    run = overlapped.Overlapped.run

    def noted(self, operands, length):
        seen.append(run(self, operands, length))
        return seen[-1]

    monkeypatch.setattr(overlapped.Overlapped, "run", noted)
    return seen


def repeated(values, count=LONG):
    return (values * (count // len(values) + 1))[:count]


@pytest.mark.parametrize("number", [1, 2, 5])
def test_equal_to_pythons(found, number):
    xs = list(range(-1000, LONG))
    floats = [x / 7 for x in xs]
    for function, given_ in (
        (odd, [xs]), (odd, [range(LONG)]), (scaled, [floats]), (added, [xs, tuple(xs[1:])]), (never, [xs]),
    ):  # fmt: skip
        compiled = hastega(threads=number)(function)
        expected = function(*given_)
        for length in (0, 0, 0, 1, overlapped.CHUNK - 1):
            cut = [each[: len(each) - length] for each in given_]
            got = compiled(*cut)
            assert got == (function(*cut) if length else expected)
            assert {type(each) for each in got} == {type(each) for each in expected}
        assert sum(each is not None for each in found) == 4
        found.clear()


@settings(max_examples=15)
@given(st.lists(INTS, min_size=1, max_size=50))
def test_any_ints(values):
    xs = repeated(values)
    assert compiled_odd(xs) == odd(xs)


compiled_odd = hastega(odd)


def test_the_list_is_one_of_pythons_own(found):
    compiled = hastega(odd)
    xs = list(range(LONG))
    compiled(xs)
    for source in (xs, repeated([1, 5000])):
        made, expected = compiled(source), odd(source)
        assert found[-1].objects is made
        assert sys.getsizeof(made) == sys.getsizeof([]) + 8 * len(made)
        assert sys.getrefcount(made) == sys.getrefcount(expected) + 1  # in `found`
        assert gc.is_tracked(made)
        for each in (made, expected):
            each.append("end")
            each.extend(each[:1000])
            del each[10:20000]
            each.insert(5, None)
            each.sort(key=repr)
        assert made == expected
    empty = hastega(never)
    assert empty(xs) == empty(xs) == []
    made = found[-1].objects
    made += [1, 2]
    assert made == [1, 2]


def test_objects_are_freed(found):
    compiled = hastega(odd)
    xs = list(range(LONG))
    compiled(xs)
    compiled(xs)
    found.clear()
    gc.collect()
    before, small = sys.getallocatedblocks(), sys.getrefcount(7)
    for _ in range(8):
        compiled(xs)
        compiled(repeated([1, 4]))
        found.clear()
    assert sys.getallocatedblocks() - before < LONG // 4
    assert abs(sys.getrefcount(7) - small) < LONG // 4


@pytest.mark.parametrize("wrong", [1.0, True, None, 2**70])
@pytest.mark.parametrize("place", [-1, LONG // 2, 5])
def test_an_element_of_another_type(found, wrong, place):
    compiled = hastega(threads=3)(beyond)
    xs = list(range(LONG))
    compiled(xs)
    assert compiled(xs) == beyond(xs)
    xs[place] = wrong
    if wrong is None:
        with pytest.raises(TypeError):
            compiled(xs)
    else:
        got, expected = compiled(xs), beyond(xs)
        assert got == expected
        assert type(got[place]) is type(expected[place])
    assert found[-1] is None


def test_what_another_variant_computes_is_computed(found):
    compiled = hastega(threads=3)(beyond)
    xs = list(range(LONG))
    for last in (5, 5, 2**20, 2**40, 2**62, 3):
        xs[-1] = last
        assert compiled(xs) == beyond(xs)
    assert found[0] is not None
    assert found[-1] is not None
    xs = [x << 24 for x in xs]  # most blocks leave what the first variant assumes
    for _ in range(3):
        assert compiled(xs) == beyond(xs)


def test_nobody_helps(monkeypatch, found):
    """The threads may be busy, or too late."""
    compiled = hastega(threads=4)(odd)
    xs = list(range(LONG))
    compiled(xs)
    late = []
    monkeypatch.setattr(threads, "helped", lambda task, count: late.extend([(task, count)] * count))
    assert compiled(xs) == odd(xs)
    for task, count in late:
        task(count)
    assert compiled(xs) == odd(xs)
    assert None not in found


def test_several_threads_of_python(found):
    compiled = hastega(threads=2)(odd)
    sources = [list(range(k, k + LONG)) for k in range(4)]
    compiled(sources[0])
    with ThreadPoolExecutor(4) as pool:
        for source, got in zip(sources * 3, pool.map(compiled, sources * 3), strict=True):
            assert got == odd(source)
    assert len(found) == 12


def test_a_list_that_shrinks_meanwhile(monkeypatch, found):
    """Between the pieces other threads have their turn."""
    compiled = hastega(odd)
    xs = list(range(LONG))
    compiled(xs)
    until = overlapped._Run.until

    def shrinking(self, stop):
        done = until(self, min(stop, 4))
        del xs[overlapped.CHUNK :]
        return done and until(self, stop)

    monkeypatch.setattr(overlapped._Run, "until", shrinking)
    compiled(xs)
    assert found == [None]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers here")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_it_can_be_interrupted(monkeypatch):
    monkeypatch.setattr(overlapped, "_SECONDS", 0.001)
    compiled = hastega(odd)
    xs = list(range(3_000_000))
    compiled(xs)
    assert threading.current_thread() is threading.main_thread()

    def interrupted(delay):
        """Whether the alarm ends it: where it meets a callback of a weak reference, Python drops what it raises."""
        signal.setitimer(signal.ITIMER_REAL, delay)
        try:
            for _ in range(100):
                compiled(xs)
            time.sleep(1)
        except KeyboardInterrupt:
            return True
        return False

    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for delay in (0.001, 0.004):
            assert any(interrupted(delay) for _ in range(3))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert compiled(xs[:LONG]) == odd(xs[:LONG])


def test_no_memory(monkeypatch):
    compiled = hastega(odd)
    xs = random.Random(1).sample(range(10**6), LONG)
    compiled(xs)
    monkeypatch.setattr(overlapped, "_malloc", lambda size: None)
    assert compiled(xs) == odd(xs)  # by Python, which has some


def test_where_lists_are_otherwise(monkeypatch):
    monkeypatch.setattr(overlapped, "_coded", lambda: None)
    built = []
    monkeypatch.setattr(prepared, "Overlapped", lambda *args: built.append(args))
    compiled = hastega(odd)
    xs = list(range(LONG))
    assert compiled(xs) == compiled(xs) == odd(xs)
    assert not built


@pytest.mark.parametrize("more", [0, 10, LONG])
def test_a_list_that_is_changed_at_the_last_moment(more, monkeypatch):
    def until(self, stop):
        xs.clear()
        xs.extend(range(more))
        return made(self, stop)

    made = overlapped._Run.until
    compiled, xs = hastega(odd), [*range(LONG)]
    for _ in range(3):
        compiled(xs)
    monkeypatch.setattr(overlapped._Run, "until", until)
    assert compiled(xs) == odd([*range(more)])
