"""Comprehensions with several `for` clauses: loops over places, equal to Python in value, type and exception."""

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hastega_magic.compiler.repeating import ordinary
from hastega_magic.decorator import hastega
from hastega_magic.session import Options, Session

SETTING = """
import array
import math
import numpy as np
xs = list(range(-30, 40))
ys = tuple(range(3, 60, 2))
fs = [0.25 * x for x in range(-30, 20)]
bs = [x % 3 == 0 for x in range(50)]
ws = array.array("i", range(40))
a32 = np.arange(-20, 30, dtype=np.int32)
table = list(range(1000))
n, k = 45, 7
def f(x, y): return x * k - y
def p(x): return x % 2 == 0
"""

COMPILED = [
    "[x * y for x in xs for y in ys]",
    "[x * y for x in xs for y in ys if (x + y) % 3 == 0]",
    "[f(x, y) for x in xs if p(x) for y in ys if x < y]",
    "[(x, y) for x in xs for y in ys]",
    "[x * v for x in xs for v in fs]",
    "[v if b else -v for v in fs for b in bs]",
    "[w - x for w in ws for x in xs]",
    "sum(x * y for x in xs for y in ys)",
    "sum([x * y for x in range(60) for y in range(5, 300, 7)])",
    "sum(1 for x in xs if x > 3 for y in ys if y % 5)",
    "min(abs(x - y) for x in xs for y in ys)",
    "max((x * y for x in xs for y in ys if x > 10), default=5)",
    "any(x * y == 1000003 for x in xs for y in ys)",
    "all(x - y < 1000 for x in xs for y in ys)",
    "len([x for x in xs for y in ys if x == y])",
    "{x % y for x in xs for y in ys}",
    "{x: y for x in xs for y in ys}",
    "sorted(x * y % 101 for x in xs for y in ys)",
    "sorted((x * y % 101 for x in xs for y in ys), key=lambda v: -v)",
    "tuple(x + y + z for x in range(20) for y in range(20) for z in range(3, 9))",
    "math.prod(1 + (x * y == 100) for x in xs for y in ys)",
    "sum((x * y for x in xs for y in ys), 100)",
    "[i * 100 + j for i, x in enumerate(xs) for j, y in enumerate(ys, 3) if x < y]",
    "[x * u - v for x in xs for u, v in zip(ys, fs)]",
    "[a * b - c for a, b in zip(xs, fs) for c in reversed(ys)]",
    "[i + u * v for x in xs for i, (u, v) in enumerate(zip(ys, xs))]",
    "[x * y for x in reversed(range(n)) for y in range(n - 1, -n, -1)]",
    "[x * y for x in xs for y in (1.0, 2.5 * 2, 7.0, 4.0) for z in range(10)]",
    "[x * y for x in xs for y in xs[3:n]]",
    "[x * y * 2**61 for x in xs for y in ys]",
    "[x * y for x in range(2**62, 2**62 + 50) for y in range(50)]",
    "[(i, j) for i in range(80) for j in range(i)]",
    "[i * j for i in range(80) for j in range(i + 1, 80) if (i * j) % 7 == 3]",
    "[(i, j) for i in range(70) for j in range(n + i, i, -3)]",
    "[i - j for i in range(90) for j in range(i // 2, i * 3 % 50)]",
    "sum(table[i] * table[j] for i in range(len(xs)) for j in range(i + 1, len(xs)))",
    "[(a, b, c) for a in range(1, 40) for b in range(a, 40) for c in range(b, 40) if a * a + b * b == c * c]",
    "[x + j for x in xs if x for j in range(50 + 100 // x)]",
    "sum(x - j for x in xs for j in range(x))",
    "[x + j for x in xs for j in range(max(x, 3), min(len(ys), n) + k)]",
    "[i * y + j for i in range(30) for y in ys for j in range(i)]",
    "[x + y for x in a32 for y in a32]",
    "[x * y for x in a32 for y in range(50)]",
    "sum(x * v for x in a32 for v in xs)",
    "[i + x for i in range(60) for x in a32]",
]

PYTHONS = {
    "[x * y for x in xs for y in (1,) if x > 10]": "fewer than",
    "[y + 1 for row in [[1, 2]] * 2000 for y in row]": "goes through `row`",
    "[x + y for x in xs for y in set(ys)]": "evaluates `set(ys)` for each outer element",
    "[x + y for x in xs for y in iterated() if x]": "evaluates `iterated()`",
    "[x + y for x in xs for y in it]": "iterates over a list_iterator",
    "[x + y for x in xs for y in words]": "type str",
    "[x + y for x in xs for y in mixed]": "these types",
    "[x + y for x in xs for y in range(0, x * 100, x)]": "its step is no constant",
    "[x + y for x in big for y in range(x)]": "differ too much in length",
    "[x for x in xs for y in ys]": "hands its elements on as they are",
    "[x + y for x in xs for x, y in zip(xs, ys)]": "stands twice",
    "[x + v for x in xs for v in fs for j in range(int(v))]": "evaluates `int(v)`",
    "[x + y for x in a32 for y in range(x + 40)]": "are not Python's ints",
    "[x + y for x in xs for y in object.ys]": "evaluates `object.ys`",
    "[x + y for x in xs for y in range(q)]": "is no number of Python's",
}

MORE = """
it = iter(list(range(100)))
mixed = [1, 2.5] * 40
words = ["a", "b"] * 40
big = [1] * 99 + [100000]
q = np.int64(50)
class object: ys = xs
def iterated(): return list(range(40))
def word(x): return str(x)
"""


def run(text, setting=SETTING, **options):
    session = Session({}, Options(baseline=False, **options))
    session.run_cell(setting)
    return session.run_cell(text)


def by_python(text, setting=SETTING):
    names = {}
    exec(setting, names)
    return eval(text, names)


def outcome(call):
    """What a call gives: a value, or an exception's type and text."""
    try:
        return sequence(call())
    except Exception as error:  # noqa: BLE001
        return "raised", type(error), str(error)


def sequence(value):
    """Sets and dicts in an order that tells them apart."""
    if isinstance(value, dict):
        return list(value.items())
    return sorted(value) if isinstance(value, set) else value


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    monkeypatch.setattr(ordinary, "_FEW_PLACES", 100)


@pytest.mark.parametrize("text", COMPILED)
def test_it_is_compiled_and_equal_in_value_and_type(text, same):
    ran, expected = run(text), by_python(text)
    [pipeline] = ran.report.pipelines
    assert pipeline.loops == 1
    assert pipeline.barriers == ()
    assert type(ran.value) is type(expected)
    assert same(sequence(ran.value), sequence(expected))


@pytest.mark.parametrize("on", ["simd", "opencl"])
@pytest.mark.parametrize("text", COMPILED[:3] + COMPILED[7:9] + COMPILED[31:37])
def test_on_other_back_ends(text, on, same):
    assert same(run(text, on=on).value, by_python(text))


@pytest.mark.parametrize("text", PYTHONS)
def test_it_is_left_to_python_and_why(text, same):
    names = {}
    exec(SETTING + MORE, names)
    expected = outcome(lambda: eval(text, names))
    source = f"from hastega_magic import hastega\n@hastega\ndef g(): return {text}\n"
    session = Session({}, Options(baseline=False))
    session.run_cell(SETTING + MORE + source)
    g = session.namespace["g"]
    assert same(outcome(g), expected)
    assert PYTHONS[text] in " ".join(each.reason for one in g.explain().pipelines for each in one.barriers)
