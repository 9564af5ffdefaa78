"""Pipelines over few elements that are called again: stages that choose elements, or need other loops before.

Ready forms give what a first run gives, whatever the sizes are, and one form serves all of them.
"""

from __future__ import annotations

import itertools
import struct
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from battery import some

from hastega_magic.compiler.fastpath import gathering, small_loop
from hastega_magic.compiler.fastpath.repeated import Repeated
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.runtime.cpu.direct import MOST
from hastega_magic.session import Options, Session

OPTIONS = Options(on="parallel", threads=2, baseline=False, quiet=True)
SIZES = 20, 20, 1, 2, 3, 7, 33, 0, 4097, 6, 20
"""One after the other, of one function."""

ORDER = [
    "take(5)", "take(n=5)", "drop(2)", "step(3)", "reverse", "first", "last", "first(default=7)",
    "drop(3) |> step(2)",
    "take(9) |> reverse |> drop(1) |> step(2)", "drop(100)", "reverse |> last", "step(2) |> to_list",
    "take_while(lambda x: x < 40)", "drop_while(lambda x: x < 40)", "drop(1) |> take_while(lambda x: x < 40) |> sum",
    "drop_while(lambda x: x < 0) |> take_while(lambda x: x < 60) |> count",
    "filter(lambda x: x > 30) |> first", "filter(lambda x: x > 30) |> last",
    "reverse |> filter(lambda x: x > 30) |> last",
    "step(2) |> filter(lambda x: x > 30) |> first(default=-1)", "zip(ys) |> take(4) |> map(lambda x, y: x + y)",
    "zip(ys, zs) |> drop(2) |> map(lambda x, y, z: x + y - z) |> sum", "take(6) |> zip(ys) |> to_list",
]  # fmt: skip
ENDS = [
    "drop(3) |> last", "drop(3) |> last(default=0)", "drop(3) |> reverse |> last", "window(3) |> last",
    "take_while(lambda x: x > 50) |> last", "step(2) |> drop(3) |> last(default=1)", "drop(4) |> first",
    "drop_while(lambda x: x < 90) |> last(default=-1)", "take(0) |> last", "drop(3) |> max",
    "reverse |> argmax", "drop(1) |> argmin", "step(2) |> argmax", "reverse |> max", "drop(1) |> min",
    "step(3) |> argmin",
    "take(6) |> argmax", "take_while(lambda x: x < 60) |> argmax", "zip(ys) |> map(lambda x, y: y) |> argmax",
    "window(2) |> map(lambda a, b: b) |> argmin", "zip(ys) |> map(lambda x, y: y) |> max",
    "window(2) |> map(lambda a, b: b) |> max", "chunk(2) |> map(lambda t: t[0]) |> argmax",
]  # fmt: skip
NEIGHBOURS = [
    "window(3) |> map(sum)", "window(2) |> map(lambda a, b: b - a) |> max", "reverse |> window(2) |> map(max)",
    "chunk(4) |> map(sum)", "chunk(4) |> map(max) |> to_list", "chunk(2) |> sum_of_pairs",
    "step(2) |> window(3) |> to_list",
    "zip(ys) |> window(2) |> map(lambda p, q: p[0] * q[1]) |> sum", "drop(1) |> chunk(5) |> map(len)",
]  # fmt: skip
RUNNING = [
    "scan(lambda a, x: a * 0.5 + x, 0.0)", "scan(lambda a, x: max(a, x))", "scan(lambda a, x: a + x, 3)",
    "scan(lambda a, x: a + x, init=3) |> last", "reduce(lambda a, x: a * 0.5 + x, 1.0)",
    "reduce(lambda a, x: max(a, x))",
    "filter(lambda x: x > 0) |> cumsum", "reduce(lambda a, x: a - x, 9)", "drop(1) |> cumsum",
    "reduce(lambda a, x: a | x, 0)", "reduce(lambda a, x: a * x)", "take(5) |> reduce(lambda a, x: a * x, 2)",
]  # fmt: skip
NUMBERS = [
    "var", "std", "var(ddof=1)", "std(ddof=2)", "map(lambda x: x * x) |> var", "filter(lambda x: x > 0) |> std",
    "take(6) |> var", "take_while(lambda x: x < 60) |> std", "map(lambda x: x * 1j) |> sum",
    "map(lambda x: x * (1 - 2j))",
    "map(lambda x: x + 1j) |> mean", "map(lambda x: x * 1j) |> to_list", "map(lambda x: x if x > 3 else 1.5) |> sum",
    "map(lambda x: 2.5 if x > 3 else x) |> mean", "map(lambda x: x if x > 3 else 1.5)",
    "map(lambda x: x if x > 3 else 1.5) |> max", "map(lambda x: 7.5 if x > 3 else x) |> min",
    "map(lambda x: (x, -x))",
    "map(lambda x: (x, -x)) |> to_list", "map(lambda x: (x, (x, 1j))) |> to_list", "enumerate(start=2) |> to_list",
    "enumerate |> drop(2) |> to_list", "enumerate |> step(2) |> take(3) |> map(lambda i, x: i * x)",
    "drop(1) |> enumerate(5) |> window(2) |> map(lambda p, q: p[0] * q[1])", "enumerate |> last",
    "enumerate |> drop_while(lambda p: p[1] < 30) |> to_list", "enumerate |> filter(lambda i, x: x > 30) |> first",
    "enumerate |> take_while(lambda i, x: x < 40) |> to_list", "enumerate |> reverse |> to_list",
    "astype('float32')", "astype('int16')",
    "astype(np.float32) |> sum", "astype(np.int32) |> to_list", "map(lambda x: abs(int(x))) |> bincount",
    "map(lambda x: abs(int(x))) |> bincount(minlength=200)", "clip(-3, 30)", "where(lambda x: x > 3, 0)",
    "map(lambda x: x > 30) |> var", "dot(ys)", "take(7) |> dot(us)", "map(lambda x: x * 1j) |> prod",
    "filter(lambda x: x > 1000) |> sum", "filter(lambda x: x > 1000) |> mean", "any", "astype(float) |> prod",
]  # fmt: skip
MAKERS = {
    "few": lambda n, r: r.integers(0, 4, n),
    "few floats": lambda n, r: r.choice([0.0, -0.0, 1.5, np.nan, 40.0], n),
    "ints": lambda n, r: r.integers(-100, 100, n),
    "list": lambda n, r: r.integers(-100, 100, n).tolist(),
    "floats": lambda n, r: r.standard_normal(n) * 50,
    "list of floats": lambda n, r: (r.standard_normal(n) * 50).tolist(),
    "float32": lambda n, r: (r.standard_normal(n) * 50).astype(np.float32),
    "range": lambda n, r: range(int(r.integers(0, 40)), int(r.integers(0, 40)) + 3 * n + 150, 3)[:n],
    "backwards": lambda n, r: range(100, 100 - n, -1),
    "bytes": lambda n, r: r.integers(-100, 100, n).astype(np.int8),
    "strided": lambda n, r: r.integers(-100, 100, 2 * n)[::2],
    "reversed": lambda n, r: (r.standard_normal(n) * 50)[::-1],
    "bools": lambda n, r: r.random(n) < 0.5,
    "uint64": lambda n, r: r.integers(0, 200, n).astype(np.uint64),
}
COMPLEX = [
    "sum", "mean", "take(5)", "drop(2) |> map(lambda z: z * z)", "map(abs) |> max", "reverse |> to_list",
    "map(lambda z: z.imag)",
    "window(2) |> map(lambda a, b: a * b)", "chunk(3) |> map(sum)", "cumsum", "scan(lambda a, z: a * 0.5 + z)",
    "scan(lambda a, z: a * 0.5 + z, 1j)", "prod", "first", "filter(lambda z: z.real > 0) |> to_list", "dot(ys)",
    "reduce(lambda a, z: a * 0.5 + z, 1j)",
]  # fmt: skip
PAIRS = {
    "complex": lambda n, r: r.standard_normal(n) + 1j * r.standard_normal(n),
    "complex64": lambda n, r: (r.standard_normal(n) + 1j * r.standard_normal(n)).astype(np.complex64),
    "strided pairs": lambda n, r: (r.standard_normal(2 * n) + 1j * r.standard_normal(2 * n))[::2],
}


def same(found, expected):
    assert type(found) is type(expected)
    if isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype
        assert [*map(repr, found.tolist())] == [*map(repr, expected.tolist())]
    elif isinstance(expected, float):
        assert struct.pack("d", found) == struct.pack("d", expected)
    else:
        assert found == expected if type(expected) is int else repr(found) == repr(expected)


def outcome(call):
    """What it gives, or the type of what it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call()
        except Exception as error:
            return type(error)


def names(xs, ys):
    return {
        "np": np, "xs": xs, "ys": ys, "zs": list(range(30)), "us": np.arange(7),
        "sum_of_pairs": lambda pairs: [sum(pair) for pair in pairs],
    }  # fmt: skip


def function(stages):
    session = Session(names(None, None), OPTIONS)
    session.run_cell(f"def f(xs, ys): return xs |> {stages}\n")
    return session.namespace["f"]


def first(stages, xs, ys):
    """In a session that has not seen it."""
    session = Session(names(xs, ys), OPTIONS)
    session.run_cell(f"r = xs |> {stages}")
    return session.namespace["r"]


def check(stages, pairs):
    repeated = function(stages)
    for xs, ys in pairs:
        found, expected = outcome(lambda: repeated(xs, ys)), outcome(lambda: first(stages, xs, ys))  # noqa: B023
        if isinstance(expected, type):
            assert found is expected
        else:
            same(found, expected)


ALL = [*ORDER, *ENDS, *NEIGHBOURS, *RUNNING, *NUMBERS]
CASES = [
    (stages, maker)
    for place, stages in enumerate(ALL)
    for number, maker in enumerate(MAKERS)
    if (place + number) % 2 == 0
]
"""Every other pair: neighbours in the lists are of one kind; of these some."""


@pytest.mark.parametrize(("stages", "maker"), some(CASES, every=9))
def test_it_is_what_a_first_run_gives(stages, maker):
    rng = np.random.default_rng(7)
    make = MAKERS[maker]
    check(stages, [(make(size, rng), make(size, rng)) for size in SIZES])


@pytest.mark.parametrize(
    ("stages", "maker"),
    [
        *((stages, "complex") for stages in COMPLEX),
        *some(itertools.product(COMPLEX, ["complex64", "strided pairs"]), every=3),
    ],
)
def test_of_complex_numbers(stages, maker):
    rng = np.random.default_rng(7)
    make = PAIRS[maker]
    check(stages, [(make(size, rng), make(size, rng)) for size in SIZES])


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize(
    "stages", ["sum", "mean", "dot(ys)", "filter(lambda x: x == x) |> mean", "map(-_) |> sum"]
)
def test_single_precision(stages, dtype, monkeypatch):
    """Several blocks' sums are added up in the elements' own precision; and a sum of zeros is no negative one."""
    rng = np.random.default_rng(7)
    sizes = 1, 2, 300, BLOCK, BLOCK + 1, 9 * BLOCK + 5, MOST
    some = [(rng.standard_normal(size) * 10.0 ** rng.integers(-20, 20, size)).astype(dtype) for size in sizes]
    ones = [*some, *(each * np.dtype(dtype).type(-0.0) for each in some)]
    check(stages, [(each, each[::-1].copy()) for each in ones])
    monkeypatch.setattr(gathering, "Recovery", None)  # which takes several times as long
    repeated = function(stages)
    repeated(some[2], some[2])
    same(repeated(some[2], some[2]), first(stages, some[2], some[2]))


@pytest.mark.parametrize(
    "stages", ["take(5) |> sum", "var", "window(3) |> map(sum) |> max", "reverse |> first"]
)
def test_sizes_beyond_a_call_of_its_own(stages):
    """The one after is small again."""
    rng = np.random.default_rng(7)
    sizes = 20, 20, MOST, MOST + 1, 3 * MOST, 20
    check(stages, [(rng.integers(-100, 100, size), None) for size in sizes])


def test_a_loop_before_over_many_elements_is_not_run_again(monkeypatch):
    """It may end early, at the first element that is looked for."""
    monkeypatch.setattr(small_loop, "run_loops", None)
    repeated = function("take_while(lambda x: x < 9) |> sum")
    for _ in range(3):
        assert repeated(np.arange(MOST + 1), None) == 36


@pytest.mark.parametrize(
    "stages",
    [
        "map(lambda x: x * k) |> var",
        "take_while(lambda x: x < k) |> map(lambda x: x * k) |> sum",
        "drop(2) |> map(lambda x: x * k) |> sum",
    ],
)
def test_threads_with_numbers_of_their_own(stages):
    """Loops of a form share the memory of its numbers."""
    session = Session({}, OPTIONS)
    session.run_cell(f"def f(xs, k): return xs |> {stages}\n")
    f, xs = session.namespace["f"], np.arange(2000.0)
    numbers = 500.0, 700.0, 900.0
    for k in (*numbers, *numbers):
        f(xs, k)
    expected = {k: f(xs, k) for k in numbers}
    assert len(set(expected.values())) == 3

    def calls(k):
        return {f(xs, k) for _ in range(400)}

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(calls, numbers)) == [{expected[k]} for k in numbers]


READY = [*ORDER, *NEIGHBOURS, *RUNNING, *NUMBERS]
LEFT = {
    "map(lambda x: x if x > 3 else 1.5) |> max", "map(lambda x: 7.5 if x > 3 else x) |> min",
    "take(6) |> zip(ys) |> to_list", "chunk(2) |> sum_of_pairs", "enumerate |> reverse |> to_list", "drop(100)",
    "enumerate |> last", "enumerate |> drop_while(lambda p: p[1] < 30) |> to_list",
    "enumerate |> filter(lambda i, x: x > 30) |> first", "filter(lambda x: x > 1000) |> mean",
    "drop(100) |> first", "reduce(lambda a, x: a | x, 0)",
    "reduce(lambda a, x: a * x)", "map(lambda x: x * 1j) |> prod", "dot(ys)",
    "window(2) |> map(lambda a, b: b - a) |> max", "scan(lambda a, x: a + x, init=3) |> last",
    "filter(lambda x: x > 0) |> cumsum", "take(5) |> reduce(lambda a, x: a * x, 2)",
    "map(lambda x: (x, (x, 1j))) |> to_list", "take(7) |> dot(us)",
    "step(2) |> filter(lambda x: x > 30) |> first(default=-1)",
}  # fmt: skip
"""Of floats those whose forms are of one size, or which Python computes."""


@pytest.mark.parametrize("stages", [each for each in READY if each not in LEFT])
def test_one_form_serves_all_sizes(stages, monkeypatch):
    """No loop is built anew."""
    repeated = function(stages)
    rng = np.random.default_rng(3)
    pairs = [(np.sort(rng.random(n) * 90 + 2), rng.random(n)) for n in (20, 20, 32, 68, 1028)]
    expected = [first(stages, *pair) for pair in pairs]
    for pair in pairs[:2]:
        repeated(*pair)
    monkeypatch.setattr(Repeated, "_first", None)
    for pair, wanted in zip(pairs, expected, strict=True):
        same(repeated(*pair), wanted)


def test_nothing_of_the_users_is_kept():
    """Forms hold no sources, of loops that go before neither."""
    import gc
    import weakref

    for stages in ("var", "take_while(lambda x: x < 9) |> sum", "window(2) |> map(sum)", "take(3)", "first"):
        repeated = function(stages)
        kept = []
        for _ in range(4):
            xs = np.arange(20.0)
            kept.append(weakref.ref(xs))
            repeated(xs, None)
        del xs
        gc.collect()
        assert not any(each() is not None for each in kept), stages


VARYING = [
    "map(lambda x: x * k) |> var", "take(5) |> map(lambda x: x + k) |> sum",
    "window(2) |> map(lambda a, b: a * k + b)",
    "filter(lambda x: x > k) |> first(default=None)", "take_while(lambda x: x < k) |> to_list",
    "scan(lambda a, x: a * k + x)",
    "scan(lambda a, x: a + x * k, 0)", "reverse |> map(lambda x: (x, k * x)) |> to_list",
    "map(lambda x: x * k) |> last",
    "drop_while(lambda x: x < k) |> map(lambda x: x - k) |> mean", "map(lambda x: x * k * 1j) |> sum",
]  # fmt: skip


@pytest.mark.parametrize(
    ("stages", "maker"), some(itertools.product(VARYING, ["ints", "floats", "list", "range"]), 4)
)
def test_numbers_that_keep_changing(stages, maker):
    rng = np.random.default_rng(5)
    session = Session({}, OPTIONS)
    session.run_cell(f"def f(xs):\n    return xs |> {stages}\n")
    for k in (2, 3, 4, 5, 2.5, 3.5, 7, 1 << 40, True, 0, -0.0, -3):
        xs = MAKERS[maker](20, rng)
        session.namespace["k"] = k
        fresh = Session({"xs": xs, "k": k}, OPTIONS)
        found = outcome(lambda: session.namespace["f"](xs))  # noqa: B023
        expected = outcome(lambda: (fresh.run_cell(f"r = xs |> {stages}"), fresh.namespace["r"])[1])  # noqa: B023
        if isinstance(expected, type):
            assert found is expected
        else:
            same(found, expected)


@pytest.mark.parametrize("size", [65, 1000, 1024])
def test_a_list_that_functions_read_is_looked_at_in_each_run(size, monkeypatch):
    firsts, first = [], Repeated._first
    monkeypatch.setattr(Repeated, "_first", lambda self, *given: firsts.append(self) or first(self, *given))
    space = {"table": list(range(500, 500 + size))}
    cell = """found = []
for turn in range(12):
    if turn in changes:
        table[turn] = changes[turn]
    found.append(range(60) |> map(lambda x: table[x] * 2) |> sum)"""
    changes = {4: 7, 8: 7.0, 9: True}
    expected, table = [], list(space["table"])
    for turn in range(12):
        table[turn] = changes.get(turn, table[turn])
        expected.append(sum(table[x] * 2 for x in range(60)))
    space["changes"] = changes
    Session(space, Options(on="parallel", baseline=False, quiet=True)).run_cell(cell)
    assert list(map(repr, space["found"])) == list(map(repr, expected))
    assert len(firsts) <= 5
