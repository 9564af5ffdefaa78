"""Functions with pipelines over many elements, called again: on all threads at once, with the usual values."""

import sys
import threading
import time
import warnings

import numpy as np
import pytest

from hastega_magic.compiler.fastpath.threaded import ThreadedLoop
from hastega_magic.errors import IntegerOverflowWarning
from hastega_magic.ir import abi
from hastega_magic.runtime import buffers, cpu, threads
from hastega_magic.runtime.background import Later
from hastega_magic.runtime.cpu import folding, folding_text
from hastega_magic.runtime.cpu import threaded as spread_module
from hastega_magic.runtime.cpu.direct import MOST
from hastega_magic.runtime.cpu.threaded import ThreadedCall, soon
from hastega_magic.session import Options, Session

N = 3 * MOST + 77

DEFINED = """
def mapped(xs): return xs |> map(lambda x: x * 3 + 1)
def kept(xs): return xs |> filter(lambda x: x % 3 == 0)
def squares(xs): return xs |> filter(lambda x: x % 2 == 0) |> map(lambda x: x * x) |> sum
def total(xs): return xs |> sum
def halves(xs): return xs |> map(lambda x: x / 4) |> sum
def count(xs): return xs |> filter(lambda x: x > 5) |> count
def every(xs): return xs |> map(lambda x: x > -10**9) |> all
def some(xs): return xs |> map(lambda x: x == 123456789) |> any
def looked(xs): return xs |> map(lambda x: table[x % 5] + x)
def both(xs, ys): return xs |> zip(ys) |> map(lambda x, y: x * y) |> sum
def quotients(xs): return xs |> map(lambda x: 1000 // x)
def listed(xs): return xs |> map(lambda x: x + 1) |> to_list
"""
EXPECTED = {
    "mapped": lambda xs: np.array([x * 3 + 1 for x in xs]),
    "kept": lambda xs: np.array([x for x in xs if x % 3 == 0]),
    "squares": lambda xs: sum(x * x for x in xs if x % 2 == 0),
    "total": sum,
    "halves": lambda xs: sum(x / 4 for x in xs),
    "count": lambda xs: sum(x > 5 for x in xs),
    "every": lambda xs: all(x > -(10**9) for x in xs),
    "some": lambda xs: 123456789 in xs,
    "looked": lambda xs: np.array([(10, 20, 30, 40, 50)[x % 5] + x for x in xs]),
}


@pytest.fixture
def names():
    session = Session(
        {"table": np.array([10, 20, 30, 40, 50])}, Options(on="parallel", threads=3, baseline=False)
    )
    session.run_cell(DEFINED)
    return session.namespace


@pytest.fixture
def spread(monkeypatch):
    """Lengths that went this way, and what came of it."""
    found = []
    run = ThreadedCall.run

    def noted(self, operands, length, **how):
        result = run(self, operands, length, **how)
        found.append((length, self.whole))
        return result

    monkeypatch.setattr(ThreadedCall, "run", noted)
    monkeypatch.setattr(threads, "SOON", 10.0)  # however busy the machine is
    monkeypatch.setattr(threads, "BRIEF", 10.0)
    return found


def ints(n, seed=1):
    return np.random.default_rng(seed).integers(-1_000_000, 1_000_000, n)


@pytest.mark.parametrize("name", EXPECTED)
def test_it_gives_what_python_gives(names, spread, name, same):
    for n in (N, N + 1, MOST + 1, 5000, 2 * N):
        for xs in (ints(n), range(3, n + 3)):
            expected = EXPECTED[name](xs.tolist() if isinstance(xs, np.ndarray) else xs)
            for _ in range(2):
                found = names[name](xs)
                if isinstance(expected, float):
                    assert found == pytest.approx(expected, rel=1e-12)
                elif isinstance(expected, np.ndarray):
                    assert found.dtype == np.int64
                    assert np.array_equal(found, expected)
                else:
                    assert same(found, expected)
    assert len(spread) > 4
    assert all(ran for _, ran in spread)
    assert all(length > MOST for length, _ in spread)


def test_float_sums_have_the_bits_of_the_usual_way(names, spread):
    xs = np.random.default_rng(3).random(N)
    first = names["total"](xs)
    assert [names["total"](xs) for _ in range(5)] == [first] * 5
    assert spread


def test_several_sources(names, spread):
    xs, ys = ints(N), ints(N + 5, seed=2)
    for _ in range(3):
        assert names["both"](xs, ys) == int((xs * ys[:N]).sum())
    assert spread


def test_elements_that_need_python_go_the_usual_way(names, spread):
    xs = ints(N) | 1
    expected = [1000 // x for x in xs.tolist()]
    for _ in range(3):
        assert names["quotients"](xs).tolist() == expected
    assert spread
    xs[N // 2] = 0
    with pytest.raises(ZeroDivisionError):
        names["quotients"](xs)
    large = np.full(N, 2**62)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert names["mapped"](large)[0] == 3 * 2**62 + 1
    assert [each.category for each in caught] == [IntegerOverflowWarning]


def test_other_elements_than_the_first_had(names, spread):
    small, large = np.arange(N), np.arange(N) + 2**40
    for xs in (small, small, large, large, small, large, small):
        assert names["squares"](xs) == sum(x * x for x in xs.tolist() if x % 2 == 0)


def test_lists_and_lists_of_results_go_their_own_way(names, spread):
    xs = ints(N)
    for _ in range(3):
        assert names["listed"](xs) == [x + 1 for x in xs.tolist()]
        assert names["total"](xs.tolist()) == int(xs.sum())
    assert not spread


def test_results_are_independent(names, spread):
    xs = ints(N)
    names["mapped"](xs)
    first, second = names["mapped"](xs), names["mapped"](xs + 1)
    assert first is not second
    assert np.array_equal(first + 3, second)


def test_several_threads_call_it_at_once(names, spread):
    found, xs = {}, [ints(N, seed) for seed in range(6)]
    names["mapped"](xs[0])

    def call(number):
        found[number] = [names["mapped"](xs[number]) for _ in range(5)]

    callers = [threading.Thread(target=call, args=(number,)) for number in range(6)]
    for each in callers:
        each.start()
    for each in callers:
        each.join()
    for number, results in found.items():
        assert all(np.array_equal(each, xs[number] * 3 + 1) for each in results)


@pytest.mark.parametrize(
    "text", ["xs |> sum", "ys |> sum", "ys |> mean", "xs |> map(lambda x: x / 7) |> sum"]
)
def test_sums_are_right_while_their_code_is_not_there(spread, monkeypatch, text):
    """Also where others join the call: then nobody has added anything up."""
    xs = ints(N)
    session = Session(
        {"xs": xs, "ys": xs * 0.5}, Options(on="parallel", threads=2, baseline=False, quiet=True)
    )
    later = Later(lambda: cpu.compile_text(folding_text.text()))
    monkeypatch.setattr(folding, "native", later)
    monkeypatch.setattr(later, "ask", lambda: later.made)
    found = set()
    make = spread_module.make

    def made(call, *given, **how):
        joined = make(call, *given, **how)
        found.add(joined)
        return joined

    monkeypatch.setattr(spread_module, "make", made)
    results, limit = set(), time.monotonic() + 60
    while True not in found and time.monotonic() < limit:  # until somebody has joined
        session.run_cell(f"t = {text}")
        results.add(session.namespace["t"])
    session.run_cell(f"t = {text}")
    results.add(session.namespace["t"])
    later.made = later._make()
    for _ in range(3):
        session.run_cell(f"t = {text}")
        results.add(session.namespace["t"])
    assert len(results) == 1
    if text == "xs |> sum":
        assert results == {int(xs.sum())}


def test_functions_that_differ_in_what_they_read_keep_to_it(names, spread):
    xs = ints(N)
    session = Session({}, Options(on="parallel", threads=2, baseline=False))
    session.run_cell("def reading(table):\n    return lambda xs: xs |> map(lambda x: table[x % 3]) |> sum\n")
    tables = [np.array([1, 2, 3]), np.array([40, 50, 60])]
    both = [session.namespace["reading"](each) for each in tables]
    for _ in range(6):
        for table, function in zip(tables, both, strict=True):
            assert function(xs) == int(table[xs % 3].sum())


def test_a_sum_of_nothing_is_pythons_own_start(names, spread):
    session = Session({"ys": np.full(N, -0.0)}, Options(on="parallel", threads=2, baseline=False, quiet=True))
    for text, expected in (("ys |> filter(lambda y: y > 5) |> sum", "0"), ("ys |> sum", "0.0")):
        for _ in range(5):
            session.run_cell(f"t = {text}")
            assert repr(session.namespace["t"]) == expected


def test_an_interrupt_before_the_first_run_is_prepared_costs_one_run(spread, monkeypatch):
    session = Session({"xs": ints(N)}, Options(on="parallel", threads=2, baseline=False, quiet=True))
    layout = abi.layout

    def interrupted(kernel):
        monkeypatch.setattr(abi, "layout", layout)
        raise KeyboardInterrupt

    for _ in range(3):
        session.run_cell("t = xs |> sum")
    (brief,) = session.memory.briefs._known.values()
    brief.threaded._variant = -1
    monkeypatch.setattr(abi, "layout", interrupted)
    with pytest.raises(KeyboardInterrupt):
        session.run_cell("t = xs |> sum")
    before = len(spread)
    session.run_cell("t = xs |> sum")
    assert len(spread) == before + 1


def test_what_takes_long_goes_the_usual_way(names, spread, monkeypatch):
    monkeypatch.setattr(threads, "BRIEF", 0.0)
    xs = ints(N)
    for _ in range(3):
        assert names["total"](xs) == int(xs.sum())
    assert not spread


def test_what_takes_longer_leaves_the_calling_thread_free(names, spread, monkeypatch):
    monkeypatch.setattr(threads, "SOON", 0.0)
    led, run = [], threads.run
    monkeypatch.setattr(
        threads, "run", lambda *given, **named: led.append(named["soon"]) or run(*given, **named)
    )
    xs = ints(N)
    for _ in range(4):
        assert names["total"](xs) == int(xs.sum())
    assert spread
    assert led
    assert not any(led)


def test_new_pages_are_foreseen(names, spread, monkeypatch):
    monkeypatch.setattr(cpu, "_NEW_PAGES", 1e9)
    buffers.drop_kept()
    xs = ints(1 << 19)
    kept = [names["mapped"](xs) for _ in range(3)]  # each in pages of its own
    assert not spread
    kept.clear()
    names["mapped"](xs)
    assert spread


@pytest.mark.parametrize("way", ["cell", "quiet", "function"])
def test_an_interrupt_at_any_line_leaves_it_for_the_next_run(names, spread, way):
    xs = ints(N)
    session = Session({"xs": xs}, Options(on="parallel", threads=3, baseline=False, quiet=way == "quiet"))
    code = (soon if way == "cell" else ThreadedLoop.run).__code__

    def call():
        if way == "function":
            return names["mapped"](xs)
        session.run_cell("t = xs |> map(lambda x: x * 3 + 1)")
        return session.namespace["t"]

    def interrupted_at(line):
        seen = 0

        def trace(frame, event, argument):
            nonlocal seen
            if frame.f_code is not code:
                return None
            seen += event == "line"
            if seen > line:
                raise KeyboardInterrupt
            return trace

        sys.settrace(trace)
        try:
            call()
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(None)
        return False

    for _ in range(3):
        call()
    line = 0
    while interrupted_at(line):
        before = len(spread)
        assert np.array_equal(call(), xs * 3 + 1)
        assert len(spread) == before + 1, line
        line += 1
    assert line > 5


def test_short_and_long_calls_at_once_keep_to_their_own_arrays(names, spread):
    interval = sys.getswitchinterval()
    stop, wrong = threading.Event(), []

    def call(n, number):
        xs = np.full(n, number)
        while not stop.is_set():
            found = names["total"](xs)
            if found != n * number:
                wrong.append((n, found))

    names["total"](ints(N))
    callers = [
        threading.Thread(target=call, args=each) for each in ((1000, 7), (1003, 9), (N, 5), (N + 9, 3))
    ]
    sys.setswitchinterval(1e-6)
    try:
        for each in callers:
            each.start()
        stop.wait(1.0)
    finally:
        stop.set()
        for each in callers:
            each.join()
        sys.setswitchinterval(interval)
    assert not wrong
    assert spread
