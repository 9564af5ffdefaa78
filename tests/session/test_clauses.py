"""Comprehensions with several `for` clauses: loops over places, equal to Python in value, type and exception."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest
from outcomes import evaluated, outcome, sequence

from hastega_magic.compiler.sources import short_circuit
from hastega_magic.decorator import hastega
from hastega_magic.session import Options, Session
from hastega_magic.syntax.ordinary import comprehension

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
    "[y + row[0] for row in [[1, 2]] * 2000 for y in row]": "goes through `row`",
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
    session = Session({}, Options(baseline=False, quiet=True, **options))
    session.run_cell(setting)
    return session.run_cell(text)


def by_python(text):
    return evaluated(SETTING, text)


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    monkeypatch.setattr(comprehension, "few_places", lambda bodies: 100)


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
    expected = outcome(lambda: evaluated(SETTING + MORE, text))
    source = f"from hastega_magic import hastega\n@hastega\ndef g(): return {text}\n"
    session = Session({}, Options(baseline=False, quiet=True))
    session.run_cell(SETTING + MORE + source)
    g = session.namespace["g"]
    assert same(outcome(g), expected)
    assert PYTHONS[text] in " ".join(each.reason for one in g.explain().pipelines for each in one.barriers)


def test_inner_sources_are_evaluated_when_python_would():
    assert run("[x + y for x in xs[:0] for y in nowhere]").value == []
    assert run("[x + y for x in xs if x > 100 for y in nowhere]").value == []
    assert run("[x + y + z for x in xs for y in ys[:0] for z in nowhere]").value == []
    with pytest.raises(NameError, match="nowhere"):
        run("[x + y for x in xs for y in nowhere]")
    with pytest.raises(TypeError, match="'int' object is not iterable"):
        run("[x + y for x in xs for y in k]")
    text = "it = iter(range(100))\na = [x + y for x in xs for y in it if x < 5]\na, list(it)"
    assert run(text).value == ([x + y for x, y in zip([-30] * 100, range(100), strict=True)], [])


RAISING = [
    "[x // y for x in xs for y in range(9, -20, -1)]",
    "[x for x in xs for y in ys if table[x * y] > 3]",
    "[x + y for x in xs if 1 // (x - 20) for y in ys]",
    "[x + j for x in xs for j in range(100 // x)]",
    "[x + j for x in xs for j in range(x / 2)]",
    "[x + j for v in fs for x in xs for j in range(v)]",
    "[x + z for x in xs if z for z in ys]",
    "sum(1 / (x * y - 87) for x in xs for y in ys)",
    "min(x * y for x in xs for y in ys if x * y > 5000)",
    "[x + y for x in xs for y in range(1, 50, 0)]",
]


@pytest.mark.parametrize("text", RAISING)
def test_what_python_raises(text):
    expected = outcome(lambda: by_python(text))
    assert expected[0] == "raised"
    assert outcome(lambda: run(text).value) == expected


def test_conditions_keep_inner_parts_from_being_evaluated(same):
    for text in (
        "[100 // x + y for x in xs if x for y in ys]",
        "[x + y for x in xs if x != 20 if 1 // (x - 20) < 1 for y in ys]",
        "[x + j for x in xs if x for j in range(3 + 100 // x)]",
        "[math.sqrt(y - x) for x in xs for y in ys if x < y]",
        "[table[x] + y for x in xs if x >= 0 for y in ys if table[y] > 10]",
    ):
        assert same(run(text).value, by_python(text))


def test_any_and_all_stop_before_what_raises():
    assert run("any(10 // (x + 20) < y for x in xs for y in ys)").value is True
    assert run("all(x < 5 and 10 // (x - 6) < y for x in xs for y in ys)").value is False


def test_any_and_all_go_through_some_of_the_places_first(monkeypatch):
    monkeypatch.setattr(short_circuit, "STRETCH", 100)
    for text in (
        "any(x == 38 and y == 59 for x in xs for y in ys)",
        "any(x == -29 for x in xs for y in ys)",
        "all(x < 39 for x in xs for y in ys)",
        "all(x < 40 for x in xs for y in ys)",
    ):
        assert run(text).value is by_python(text)
    assert run("any(x + y == 7 for x in range(2**20) for y in range(2**20))").value is True


def test_shadowed_functions_of_inner_clauses():
    text = "def g(range): return [x + y for x in xs for y in range(40)]\ng(lambda n: [n])[-1]"
    assert run(text).value == 79
    text = "def g(zip): return [x + y for x in xs for y, z in zip(xs, xs)]\ng(lambda a, b: [(1, 2)])[-1]"
    assert run(text).value == 40
    text = "def g(len): return [x + y for x in xs for y in range(x, len(xs))]\ng(lambda a: 39)[-1]"
    assert run(text).value == 76


def test_a_subclass_of_list_is_asked_itself():
    text = (
        "class L(list):\n    def __iter__(self): return iter([1])\nl = L(xs)\n[x + y for x in xs for y in l]"
    )
    assert run(text).value == [x + 1 for x in range(-30, 40)]
    text = (
        "class I(int):\n    def __index__(self): return 2\ni = I(90)\n[x + y for x in xs for y in range(i)]"
    )
    assert len(run(text).value) == 70 * 90


@hastega
def products(xs, ys, k):
    return [x * y + k for x in xs for y in ys if x < y]


@hastega
def pairs(xs):
    return sum(abs(xs[i] - xs[j]) for i in range(len(xs)) for j in range(i + 1, len(xs)))


def compiled_of(function):
    return sum(phase.name == "compile" for each in function.explain().pipelines for phase in each.phases)


def test_runs_over_other_elements_use_the_loop_that_is_there():
    for shift in range(12):
        xs, ys = [x + shift for x in range(60)], tuple(range(shift, 90))
        ys = ys[:70]
        assert products(xs, ys, 3) == products.__wrapped__(xs, ys, 3)
        assert products.explain().pipelines[0].loops == 1
    assert compiled_of(products) <= 1
    for size in range(40, 60):
        assert products(range(size), list(range(70)), size) == products.__wrapped__(
            range(size), list(range(70)), size
        )


def test_wider_elements_and_other_kinds_in_later_runs(same):
    kinds = [
        [1, 2, 3] * 20,
        [2**40 + 1, 5, 6] * 20,
        [0.5, 1.5, 2.5] * 20,
        [True, False, True] * 20,
        [2**63 - 1, 2, 3] * 20,
        [2**64, 2, 3] * 20,
        [1, 2, 3] * 20,
        np.arange(60),
        np.arange(60, dtype=np.int16),
        np.arange(60, dtype=np.uint64) + 2**63,
        np.arange(60, dtype=np.float32),
    ]
    for xs in kinds:
        again = hastega(products.__wrapped__)
        for ys in (each for kind in kinds for each in (kind, kinds[0])):
            with np.errstate(all="ignore"):
                found, expected = (outcome(partial(f, xs, ys, 1)) for f in (again, products.__wrapped__))
                assert same(found, expected)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_series(library, same):
    series = pytest.importorskip(library).Series
    ints, floats = series(range(60)), series(np.array([0.5, 2.0] * 30, np.float32))
    for xs, ys in ((ints, ints), (ints, floats), (floats, ints)):
        again = hastega(products.__wrapped__)
        assert same(again(xs, ys, 1), products.__wrapped__(xs, ys, 1))
        assert again.explain().pipelines[0].loops == 1


def test_a_list_that_changes_between_runs():
    xs = [3 * x % 17 for x in range(80)]
    assert pairs(xs) == pairs.__wrapped__(xs)
    xs[5] = 1000
    assert pairs(xs) == pairs.__wrapped__(xs)
    xs.append(-5)
    assert pairs(xs) == pairs.__wrapped__(xs)


def test_threads_do_not_share_memory():
    wanted = [products.__wrapped__([n] * 50, range(60), 0) for n in range(8)]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            assert list(pool.map(lambda n: products([n] * 50, range(60), 0), range(8))) == wanted


def test_in_a_class_body_and_a_method():
    assert run("class A:\n    a = [x + y for x in xs for y in ys]\nA.a[5]").value == -30 + 13
    text = (
        "class A:\n    def f(self, __n): return sum(x + __y for x in xs for __y in range(__n, 90))\nA().f(5)"
    )
    assert run(text).value == sum(x + y for x in range(-30, 40) for y in range(5, 90))
    with pytest.raises(NameError):
        run("class A:\n    zs = list(ys)\n    a = [x + y for x in xs for y in zs]")
