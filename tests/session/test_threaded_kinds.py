"""Over many elements again, on all threads at once: complex numbers, tuples, running values, variances."""

import math
import threading

import numpy as np
import pytest

from hastega_magic.compiler.fastpath.prepared import Prepared
from hastega_magic.passes.schedule import STREAMED
from hastega_magic.runtime import threads
from hastega_magic.runtime.cpu.direct import MOST
from hastega_magic.runtime.cpu.threaded import ThreadedCall
from hastega_magic.session import Options, Session

N = MOST + 4321

CELL = """
def squares(zs): return zs |> map(lambda z: z * z + 1)
def total(zs): return zs |> sum
def right(zs): return zs |> filter(lambda z: z.real > 0)
def added(zs): return zs |> cumsum
def lengths(zs): return zs |> map(lambda z: z.real * z.real + z.imag * z.imag)
def pairs(xs): return xs |> map(lambda x: (x, x * 2))
def mixed(xs): return xs |> map(lambda x: (int(x * 9), x))
def products(rs): return rs |> map(lambda a, b: a * b) |> sum
def turned(rs): return rs |> filter(lambda a, b: a > 0) |> map(lambda a, b: (b, a))
def highest(ks): return ks |> scan(lambda a, x: max(a, x), 50)
def smooth(xs): return xs |> scan(lambda a, x: 0.1 * x + 0.9 * a, 0.0)
def mixing(ks): return ks |> reduce(lambda a, x: (a * 31 + x) % 1000003, 0)
def both(ks): return ks |> reduce(lambda a, x: (a[0] + 1, max(a[1], x)), (0, 0))
def variance(xs): return xs |> var
def deviation(xs): return xs |> std(ddof=1)
def kept(xs): return xs |> filter(lambda x: x > k) |> var
def of_ints(ks): return ks |> map(lambda x: x * k) |> std
"""
SOURCES = {
    "zs": lambda n, rng: rng.standard_normal(n) + 1j * rng.standard_normal(n),
    "xs": lambda n, rng: rng.standard_normal(n),
    "ks": lambda n, rng: rng.integers(-1000, 1000, n),
    "rs": lambda n, rng: _records(rng.standard_normal(n), rng.standard_normal(n)),
}
OVER = {
    line.split("(")[0].removeprefix("def "): line.split("(")[1].split(")")[0]
    for line in CELL.strip().splitlines()
}
CLOSE = {"total", "added", "products", "smooth", "variance", "deviation", "kept", "of_ints"}
"""Where the order of additions is another one than Python's."""


def _records(a, b):
    found = np.zeros(len(a), [("a", "f8"), ("b", "f8")])
    found["a"], found["b"] = a, b
    return found


def source(name, n, seed=1):
    return SOURCES[OVER[name]](n, np.random.default_rng(seed))


def functions(on="parallel"):
    session = Session({"k": 0}, Options(on=on, threads=3, baseline=False, quiet=True))
    session.run_cell(CELL)
    return session.namespace


@pytest.fixture
def went(monkeypatch):
    """Lengths of the runs on all threads, while none of them begins as the first one does (`launched`)."""
    found, run = [], ThreadedCall.run

    def noted(self, operands, length, **how):
        found.append(length)
        return run(self, operands, length, **how)

    def launched(self, *given, **how):
        raise AssertionError("went the usual way")

    monkeypatch.setattr(threads, "SOON", 10.0)  # however busy the machine is
    monkeypatch.setattr(threads, "BRIEF", 10.0)

    def watch():
        monkeypatch.setattr(ThreadedCall, "run", noted)
        monkeypatch.setattr(Prepared, "_launched", launched)
        return found

    return watch


def equal(found, expected, close=False):
    assert type(found) is type(expected)
    if isinstance(found, np.ndarray):
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        if close:
            assert np.allclose(found, expected, rtol=1e-9, atol=1e-9, equal_nan=True)
        else:
            assert found.tobytes() == expected.tobytes()
    elif close:
        assert abs(found - expected) <= 1e-9 * max(1.0, abs(expected)) or found != found
    else:
        assert repr(found) == repr(expected)


@pytest.mark.parametrize("name", OVER)
def test_all_threads_take_part_again_with_what_python_gives(name, went):
    called, by_python = functions()[name], functions("python")[name]
    called(source(name, N))
    called(source(name, N))
    found = went()
    other = source(name, N + 5000, seed=2)
    value = called(other)
    assert found == [N + 5000] * (2 if name in ("variance", "deviation", "kept", "of_ints") else 1)
    equal(value, by_python(other), name in CLOSE)
    equal(called(other), value)


@pytest.mark.parametrize("name", ["squares", "highest", "variance", "turned"])
def test_few_and_many_in_turns(name):
    called, by_python = functions()[name], functions("python")[name]
    for n in (N, 100, STREAMED + 100, N, 5000, STREAMED + 100):
        given = source(name, n, seed=n)
        equal(called(given), by_python(given), name in CLOSE)


def test_a_number_that_changes_is_read_in_each_run(went):
    names = functions()
    xs, ks = source("kept", N), source("of_ints", N)
    for k in (0, 1, 2, 3):
        names["k"] = k
        names["kept"](xs)
        names["of_ints"](ks)
    found = went()
    for k in (4, 5):
        names["k"] = k
        assert math.isclose(names["of_ints"](ks), (ks * k).std(), rel_tol=1e-12)
    names["k"] = 1
    assert math.isclose(names["kept"](xs), xs[xs > 1].var(), rel_tol=1e-12)
    assert len(found) == 6


@pytest.mark.parametrize("bad", [math.inf, math.nan])
@pytest.mark.parametrize("name", ["smooth", "variance", "squares", "total"])
def test_floats_that_are_no_numbers(name, bad):
    called, by_python = functions()[name], functions("python")[name]
    called(source(name, N))
    called(source(name, N))
    given = source(name, N, seed=3)
    given[N // 2] = bad
    value, expected = called(given), by_python(given)
    if isinstance(value, np.ndarray):
        assert np.array_equal(np.isfinite(value), np.isfinite(expected))
        assert np.allclose(value[np.isfinite(value)], expected[np.isfinite(expected)])
    else:
        assert np.isfinite(value) == np.isfinite(expected) == False  # noqa: E712


def test_an_element_that_raises_does_so_over_many_too():
    session = Session({}, Options(on="parallel", threads=2, baseline=False, quiet=True))
    session.run_cell("def quotients(zs): return zs |> map(lambda z: 1 / z)")
    called = session.namespace["quotients"]
    zs = source("squares", N)
    for _ in range(3):
        assert called(zs)[7] == 1 / complex(zs[7])
    zs[N - 3] = 0
    with pytest.raises(ZeroDivisionError):
        called(zs)
    zs[N - 3] = 2
    assert called(zs)[N - 3] == 0.5


def test_threads_that_ask_for_different_variances_at_once_each_get_their_own():
    called = functions()["variance"]
    given = [np.random.default_rng(seed).random(N) * 10**seed + 10**seed for seed in range(4)]
    for each in given:
        called(each)
    wrong = []

    def ask(xs):
        expected = xs.var()
        for _ in range(40):
            found = called(xs)
            if not math.isclose(found, expected, rel_tol=1e-9):
                wrong.append((found, expected))

    asking = [threading.Thread(target=ask, args=(each,)) for each in given]
    for each in asking:
        each.start()
    for each in asking:
        each.join()
    assert not wrong
