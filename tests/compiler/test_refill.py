"""Loops whose lanes are refilled: every length, type and thread count gives what Python gives, for each element."""

from __future__ import annotations

import math
from functools import cache

import battery
import numpy as np
import pytest

from hastega_magic.codegen.llvm import refill as llvm_refill
from hastega_magic.compiler.loops import clear_cache
from hastega_magic.runtime import cpu

REFILLS = cpu.host().vector_bits == 512
LENGTHS = (0, 1, 7, 33, 4095, 2 * 4096 + 5)
GENERATOR = np.random.default_rng(11)
MANY = max(LENGTHS)

GCD = """def f(a, b):
    while b:
        a, b = b, a % b
    return a
"""
COLLATZ = """def f(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps
"""
ROOT = """def f(a):
    x = a
    while True:
        y = 0.5 * (x + a / x)
        if abs(y - x) < 1e-9 * y:
            return y + a * 1e-3
        x = y
"""
FACTOR = """def f(n):
    d = 2
    while d * d <= n:
        if n % d == 0:
            return d
        d += 1
    return n
"""
PRIME = FACTOR.replace("return d", "return False").replace("return n", "return n > 1")
WALK = """def f(x, limit):
    n = 0
    while x < limit and n < 50:
        x = x + table[n % 3] if n % 4 else x + abs(limit) % 7
        n += 1
    return x * 2 - n
"""
NESTED = """def f(n):
    total = 0
    while n > 0:
        m = n
        while m > 1:
            m = m // 3
            total += 1
        n -= 7
    return total + n
"""


def drawn(low, high, dtype=np.int64, count=MANY):
    return GENERATOR.integers(low, high, count).astype(dtype)


PAIRS = "a |> zip(b) |> map(f)"
PROGRAMS = {
    "gcd": (GCD, PAIRS, {"a": drawn(-(2**62), 2**62), "b": drawn(-99, 2**40)}),
    "gcd-narrow": (GCD, PAIRS, {"a": drawn(0, 2**31, np.int32), "b": drawn(0, 2**15, np.int16)}),
    "collatz": (COLLATZ, "a |> map(f)", {"a": range(1, 3 * MANY, 3)}),
    "root": (ROOT, "a |> map(f)", {"a": 10.0 ** GENERATOR.uniform(-9, 9, 2 * MANY)[::-2]}),
    "root-list": (ROOT, "a |> map(f)", {"a": GENERATOR.uniform(1, 9, MANY).tolist()}),
    "factor": (FACTOR, "a |> map(f)", {"a": drawn(0, 2**9, np.uint16)}),
    "prime": (PRIME, "a |> map(f)", {"a": drawn(0, 255, np.uint8)}),
    "walk": (WALK, PAIRS, {"a": drawn(-90, 90, ">i4"), "b": drawn(-90, 90, count=3 * MANY)[::3]}),
    "nested": (NESTED, "a |> map(f)", {"a": drawn(-9, 60)}),
    "numbered": (WALK, "a |> enumerate |> map(f)", {"a": drawn(-90, MANY)}),
}
TABLE = np.array([3, 5, -1])


@cache
def functions(text):
    namespace = {"table": TABLE.tolist()}
    exec(text, namespace)
    return namespace["f"]


def elements(cell, sources, length):
    columns = [each.tolist() if hasattr(each, "tolist") else each for each in sources.values()]
    if "enumerate" in cell:
        return list(enumerate(columns[0]))[:length]
    return list(zip(*columns, strict=False))[:length]


def kernel_of(ran):
    return ran.executions[-1].compiled.bodies[max(ran.executions[-1].compiled.bodies)].kernel


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_length_is_python(name):
    text, cell, sources = PROGRAMS[name]
    expected = [functions(text)(*each) for each in elements(cell, sources, MANY)]
    for length in LENGTHS:
        names = {key: value[:length] for key, value in sources.items()}
        ran = battery.run(f"{text}{cell}", {**names, "table": TABLE}, threads=1 + length % 3)
        assert ran.error is None
        assert battery.same(ran.value.tolist(), expected[:length])
        assert kernel_of(ran).schedule.refill == REFILLS


SINKS = {
    "sum": sum,
    "min": min,
    "max": max,
    "count": len,
    "filter(lambda d: d % 3 == 1) |> count": lambda values: sum(d % 3 == 1 for d in values),
    "filter(lambda d: d > 9) |> sum": lambda values: sum(d for d in values if d > 9),
    "map(lambda d: d % 2 == 0) |> any": lambda values: any(d % 2 == 0 for d in values),
    "reduce(lambda x, y: x ^ y, 0)": lambda values: int(np.bitwise_xor.reduce(values)),
}


@pytest.fixture(scope="module")
def factored():
    xs = drawn(2, 2**9, count=4500)
    return xs, [functions(FACTOR)(x) for x in xs.tolist()]


@pytest.mark.parametrize("sink", SINKS)
def test_folds_of_integers(sink, factored):
    xs, factors = factored
    ran = battery.run(f"{FACTOR}xs |> map(f) |> {sink}", {"xs": xs}, threads=2)
    assert battery.same(ran.value, SINKS[sink](factors))
    kept = [factor for x, factor in zip(xs.tolist(), factors, strict=True) if x % 5]
    ran = battery.run(f"{FACTOR}xs |> filter(lambda x: x % 5) |> map(f) |> {sink}", {"xs": xs}, threads=2)
    assert battery.same(ran.value, SINKS[sink](kept))


def test_what_depends_on_the_order_stays_in_lockstep():
    xs = GENERATOR.uniform(1, 9, 9001)
    for text, cell in (
        (ROOT, "xs |> map(f) |> sum"),
        (ROOT, "xs |> map(f) |> filter(lambda x: x > 2)"),
        (ROOT, "xs |> map(f) |> max"),
        ("def f(x):\n    for i in range(40):\n        x = x * 0.5 + i\n    return x\n", "xs |> map(f)"),
    ):
        assert not kernel_of(battery.run(f"{text}{cell}", {"xs": xs})).schedule.refill
    ran = battery.run(f"{ROOT}xs |> map(f)", {"xs": xs}, width=4)
    assert not kernel_of(ran).schedule.refill
    assert battery.same(ran.value, battery.run(f"{ROOT}xs |> map(f)", {"xs": xs}).value)


DIGITS = """def f(n):
    k = 0
    s = 0
    while n:
        s += n % 10
        n = n // 10
        k += 1
    return k, s
"""
HALVES = """def f(n):
    m = n
    s = BEFORE
    while n > 0:
        n = n // 2
        s += TURN
    return s // AFTER
"""


def test_several_results_of_one_loop():
    xs = drawn(1, 2**30, count=5000)
    ran = battery.run(f"{DIGITS}ys = xs |> map(f)\nys", {"xs": xs})
    expected = [(len(str(x)), sum(map(int, str(x)))) for x in xs.tolist()]
    assert [tuple(each) for each in ran.value.tolist()] == expected


@pytest.mark.parametrize("place", ["BEFORE", "TURN", "AFTER"])
def test_exceptions_name_their_element(place):
    text = HALVES
    for each, plain in (("BEFORE", "0"), ("TURN", "1"), ("AFTER", "3")):
        raising = "(m - 777)" if each == "AFTER" else "10 // (m - 777)"
        text = text.replace(each, raising if each == place else plain)
    xs = drawn(778, 2000, count=5001)
    assert battery.run(f"{text}xs |> map(f)", {"xs": xs}).value.tolist() == list(
        map(functions(text), xs.tolist())
    )
    for bad in (0, 1, 4095, 4096, 5000):
        names = {"xs": np.where(np.arange(5001) >= bad, 777, xs)}
        ran = battery.run(f"{text}xs |> map(f)", names, threads=2)
        assert type(ran.error) is ZeroDivisionError
        assert f"element {bad} of xs" in ran.notes


def test_values_beyond_64_bits_are_python_s():
    xs = np.arange(1, 9000)
    xs[7777] = 2**62 + 27
    ran = battery.run(f"{COLLATZ}xs |> map(f)", {"xs": xs})
    assert ran.value.tolist() == [functions(COLLATZ)(x) for x in xs.tolist()]
    assert ran.executions[-1].recovered == 1


@pytest.fixture
def a_low_limit(monkeypatch):
    clear_cache()
    monkeypatch.setattr(llvm_refill, "LIMIT", 64)
    yield
    clear_cache()


@pytest.mark.usefixtures("a_low_limit")
def test_elements_that_make_too_many_turns_are_python_s():
    xs = GENERATOR.integers(1, 20, 3 * 4096)  # many elements, one after the other, are no reason
    text = "def f(n):\n    s = 0\n    while n > 1:\n        s += n % 3\n        n -= 1\n    return s\n"
    ran = battery.run(f"{text}xs |> map(f)", {"xs": xs})
    expected = [functions(text)(x) for x in xs.tolist()]
    assert ran.value.tolist() == expected
    assert ran.executions[-1].recovered == 0
    xs[5000] = 3000
    ran = battery.run(f"{text}xs |> map(f)", {"xs": xs})
    expected[5000] = functions(text)(3000)
    assert ran.value.tolist() == expected
    assert ran.executions[-1].recovered == int(REFILLS)


def test_the_same_bits_in_lockstep():
    count = 3 * 4096 + 17
    text = (
        "def f(a, b):\n    x = y = 0.0\n    for i in range(60):\n        if x * x + y * y > 4.0:\n"
        "            return x - math.exp(-y * y)\n        x, y = x * x - y * y + a, 2 * x * y + b\n    return x * y\n"
    )
    names = {"a": GENERATOR.uniform(-2, 1, count), "b": GENERATOR.uniform(-1.3, 1.3, count), "math": math}
    values = [battery.run(f"{text}a |> zip(b) |> map(f)", names, width=width).value for width in (0, 4, 1)]
    assert kernel_of(battery.run(f"{text}a |> zip(b) |> map(f)", names)).schedule.refill == REFILLS
    assert all(np.array_equal(values[0].view(np.int64), each.view(np.int64)) for each in values)
