"""Comprehensions and their like in a cell: pipelines where the result is Python's own in value and type."""

import math

import pytest
from outcomes import evaluated, outcome

from hastega_magic.decorator import hastega
from hastega_magic.session import Options, Session

SETTING = """
import functools
import math
import statistics
from collections import Counter
from functools import reduce
xs = list(range(-300, 400))
fs = [0.25 * x for x in range(-300, 400)]
bs = [x % 3 == 0 for x in range(700)]
table = list(range(1000))
zs = [complex(x, x % 7) for x in xs]
k = 7
def f(x): return x * k + 1
def p(x): return x % 2 == 0
"""

COMPILED = [
    "[f(x) for x in xs if p(x)]",
    "[x for x in xs if x > 0 if x % 3 == 1]",
    "[x * 0.5 for x in xs]",
    "[x > 3 for x in xs]",
    "[not b for b in bs]",
    "[(x, x * 0.5) for x in xs]",
    "[table[x + 300] for x in xs]",
    "{x % 10 for x in xs}",
    "[x + y for x, y in zip(xs, fs)]",
    "[a * b - c for a, b, c in zip(xs, range(700), xs)]",
    "[i * x for i, x in enumerate(xs)]",
    "[i - x for i, x in enumerate(xs, 5)]",
    "[i * (x + y) for i, (x, y) in enumerate(zip(xs, fs))]",
    "[t[0] * t[1] for t in zip(xs, xs)]",
    "sum(x * x for x in xs)",
    "sum([x * x for x in xs])",
    "sum(b for b in bs if b)",
    "min(abs(x) for x in xs)",
    "max(x * 0.5 for x in xs)",
    "any(x > 398 for x in xs)",
    "all(x > -300 for x in xs)",
    "math.prod(x % 3 + 1 for x in xs[:300])",
    "len([x for x in xs if x > 5])",
    "list(x + 1 for x in xs)",
    "tuple(x + 1 for x in xs)",
    "set(x // 7 for x in xs)",
    "frozenset(x // 7 for x in xs)",
    "sorted(-x for x in xs)",
    "list(map(f, xs))",
    "list(filter(p, xs))",
    "sum(map(f, filter(p, xs)))",
    "list(map(lambda a, b: a * b, xs, fs))",
    "sum(map(abs, (x - 3 for x in xs)))",
    "reduce(lambda a, b: a + b, (x * x for x in xs))",
    "functools.reduce(lambda a, b: a + b, map(f, xs), 100)",
    "[x + k for x in range(1000)]",
    "[x * 2**62 for x in xs]",
    "[x % 2.5 for x in fs]",
    "sum(1 for x in xs if x > 3)",
    "sum(x for x in fs if x > 1e9)",
    "[max(x, 0.0) * 2.5 + y for x, y in zip(fs, fs)]",
    "[x if x > 3 else 0.5 for x in fs]",
    "sum(x for x in xs)",
    "[z.real + abs(z) for z in zs if z.imag < 3]",
    "max(x for x in fs)",
    "sum((x for x in xs), 10)",
    "sum([x * 2 for x in xs], start=5)",
    "sum((x for x in xs if x > 1000), 5)",
    "max((x * 2 for x in xs), default=7)",
    "min((x * 2 for x in xs), key=abs)",
    "max((f(x) for x in xs if p(x)), key=lambda v: -v)",
    "sorted((x * 3 % 7 for x in xs), key=abs, reverse=True)",
    "sorted(map(f, xs), key=abs)",
    "math.prod((x % 3 + 1 for x in xs[:300]), start=2)",
    "math.fsum(x * 0.1 for x in xs)",
    "statistics.fmean(x * 0.1 for x in xs)",
    "statistics.median(x * 3 % 17 for x in xs)",
    "Counter(x % 7 for x in xs)",
    "dict((x, x * 2) for x in xs)",
    "{x % 10: x * 0.5 for x in xs if x > 3}",
    "[x * 2 for x in reversed(xs)]",
    "[x * 2 for x in reversed(range(1000))]",
    "[i * x for i, x in enumerate(reversed(xs))]",
    "list(map(lambda a, b, c: a * b + c, xs, fs, xs))",
    "list(filter(None, xs))",
    "[x if x > 3 else 0 for x in fs]",
    "[max(x, 0) for x in fs]",
    "[min(x, 1) + 1 for x in fs]",
]

PYTHONS = [
    "[str(x) for x in xs][:5]",
    "[x for x in xs]",
    "[x for x in xs[:20] if x]",
    "[[y for y in range(3)] for x in xs][:2]",
    "[x + y for x in xs[:300] for y in (1, 2)]",
    "{x: str(x) for x in xs}['a' == 'b']",
    "sum(xs)",
    "sum((x for x in xs), 0.5)",
    "sum((x for x in xs), True)",
    "min((x for x in xs if x > 1000), default=None)",
    "sum(x * y for x in xs[:20] for y in (1, 2))",
    "','.join(str(x) for x in xs)[:9]",
    "any(x for x in xs)",
    "sorted((str(x) for x in xs), key=len)[:3]",
    "max((1 // (x * x + 1) + len('%d' % x) for x in xs), key=lambda v: -v)",
    "[x * y for x, y in zip(xs, reversed(xs))][:3]",
    "[x * 2 for x in iter(xs)]",
    "[x * 2 for x in set(xs)] == [x * 2 for x in set(xs)]",
    "[x * 2 for x in ['a'] * 300][:2]",
    "[y for x in xs if (y := x * 2) > 3]",
    "[print for x in xs][0]",
    "[x for x in xs if x in {1: 2}]",
    "[x + 1 for x in xs if k is None]",
    "[f'{x}' for x in xs][:3]",
    "next(x for x in xs if x > 3)",
    "list(zip(xs, fs))[:3]",
    "[i for i, c in enumerate('abc' * 100) if c == 'b'][:3]",
]


def run(text, setting=SETTING, **options):
    session = Session({}, Options(baseline=False, **options))
    session.run_cell(setting)
    return session.run_cell(text)


def by_python(text):
    return evaluated(SETTING, text)


@pytest.mark.parametrize("text", COMPILED)
def test_it_is_compiled_and_equal_in_value_and_type(text, same):
    ran = run(text)
    [pipeline] = ran.report.pipelines
    assert pipeline.loops == 1
    assert pipeline.barriers == ()
    expected = by_python(text)
    if isinstance(expected, dict):
        assert type(ran.value) is type(expected)
        ran.value, expected = list(ran.value.items()), list(expected.items())
    if isinstance(expected, (set, frozenset)):
        assert type(ran.value) is type(expected)
        ran.value, expected = sorted(ran.value), sorted(expected)
    assert same(ran.value, expected)


@pytest.mark.parametrize("text", PYTHONS)
def test_it_is_left_to_python_silently(text, same):
    ran = run(text, strict=True)
    assert ran.report.pipelines == ()
    assert same(ran.value, by_python(text))


def test_a_sum_of_floats_differs_by_the_order_alone():
    value = run("sum(x * 0.1 for x in fs)").value
    assert value == pytest.approx(math.fsum(0.025 * x for x in range(-300, 400)), rel=1e-12)
    assert type(value) is float


@pytest.mark.parametrize(
    "text",
    [
        "[1 // (x - 200) for x in xs]",
        "[math.sqrt(x) for x in xs]",
        "[table[x * 10] for x in xs]",
        "sum(1 / x for x in xs)",
        "[nowhere + x for x in xs]",
        "reduce(lambda a, b: a + b, (x for x in xs if x > 1000))",
        "min(x for x in xs if x > 1000)",
    ],
)
def test_what_python_raises(text):
    expected = outcome(lambda: by_python(text))
    assert expected[0] == "raised"
    assert outcome(lambda: run(text).value) == expected


def test_any_and_all_stop_before_what_raises():
    assert run("any(10 // (x + 295) > 1 for x in xs if x > -295)").value is True
    assert run("any(1 // x == -1 for x in xs)").value is True


def test_shadowed_names_mean_what_they_say():
    assert run("def sum(xs): return 'mine'\nsum(x * 2 for x in xs)").value == "mine"
    assert run("def g(zip):\n    return [a * b for a, b in zip(xs, xs)]\ng(lambda a, b: [(1, 2)])").value == [
        2
    ]
    assert run("min = max\nmin(x * 2 for x in xs)").value == 798


def test_shadowed_consumers_are_given_a_generator():
    text = "def sorted(xs, key): return next(xs), type(xs).__name__\nsorted((x * 2 for x in xs), key=abs)"
    assert run(text).value == (-600, "generator")


def test_what_a_key_raises_is_raised_once():
    text = "seen = []\ndef key(v):\n    seen.append(v)\n    return 1 // v\n"
    with pytest.raises(ZeroDivisionError):
        run(text + "min((x for x in xs if x > -10), key=key)")
    assert (
        run(
            text + "try:\n    min((x * 2 for x in xs), key=key)\nexcept ZeroDivisionError: pass\nlen(seen)"
        ).value
        == 301
    )


@pytest.mark.parametrize("on", ["python", "numpy", "simd"])
def test_what_python_runs_it_runs_once(on):
    session = Session({"seen": []}, Options(on=on, baseline=False))
    session.run_cell("def f(x):\n    seen.append(x)\n    return x")
    session.run_cell("ys = [f(x) for x in range(1000)]\nn = sum(f(x) for x in range(1000))")
    assert session.namespace["seen"] == [*range(1000)] * 2


def test_elements_of_an_array_are_taken_as_they_are():
    text = "import numpy as np\na = np.arange(5000)\ndef sums(v): return sum(v)\n"
    ran = run(text + "sum(a), max(a), sums(a), sums([1, 2]), sums({3: 4})")
    assert ran.value == (12497500, 4999, 12497500, 3, 3)
    assert [each.loops for each in ran.report.pipelines] == [1, 1, 1]
    assert run(text + "def sum(v): return 'mine'\nsum(a)").value == "mine"
    with pytest.raises(NameError, match="nowhere"):
        run("sum(nowhere)")


def test_names_do_not_leak_and_closures_are_real():
    text = "def outer(n):\n    x = 'kept'\n    ys = [x * n for x in xs]\n    return x, ys[-1]\nouter(2), outer(3)"
    assert run(text).value == (("kept", 798), ("kept", 1197))
    session = Session({}, Options(baseline=False, quiet=True))
    session.run_cell(SETTING + "a = [x * 2 for x in xs]")
    assert "x" not in session.namespace
    assert not [name for name in session.namespace if "hastega" in name]


def test_a_source_is_evaluated_once_and_in_its_place():
    text = "log = []\ndef source():\n    log.append(1)\n    return xs\na = [x + 1 for x in source()]\n"
    assert run(text + "b = [str(x) for x in source()]\nlog").value == [1, 1]


def test_a_generator_outlives_its_cell():
    session = Session({"rows": [[1, 2], [3]]}, Options(baseline=False, quiet=True))
    session.run_cell("g = (max(row) for row in rows)\nh = (sum(y * 2 for y in range(x)) for x in (1, 300))")
    assert list(session.namespace["g"]) == [2, 3]
    assert list(session.namespace["h"]) == [0, 89700]


def test_a_class_body_and_its_scopes():
    text = "class A:\n    ys = xs[:300]\n    zs = [y + 1 for y in ys]\nA.zs[0]"
    assert run(text).value == -299
    with pytest.raises(NameError):
        run("class A:\n    n = 2\n    zs = [x + n for x in xs]")


def test_in_a_function_of_an_earlier_cell():
    session = Session({}, Options(baseline=False, quiet=True))
    session.run_cell("def total(xs, n):\n    return sum(x * n for x in xs)")
    assert session.run_cell("total(range(1000), 3)").value == 3 * 499500
    assert session.namespace["total"](range(1000), 4) == 4 * 499500


def test_a_loop_says_how_often_it_ran():
    ran = run("t = 0\nfor n in range(5):\n    t += sum(x * 3 for x in xs)\nt")
    [pipeline] = ran.report.pipelines
    assert any("ran 5 times" in sentence for sentence in pipeline.why)


def test_no_warning_where_python_gives_none(recwarn):
    assert run("[x * 2**62 for x in xs]").value[-1] == 399 * 2**62
    assert not recwarn.list


def test_where_many_blocks_overflow_python_does_it_all():
    session = Session({}, Options(on="simd", baseline=False))
    session.run_cell("""
def f(x): return x * 2**62
low, high = [0, 1] * 50_000, list(range(100_000))""")
    assert session.run_cell("[f(x) for x in low]").report.pipelines
    ran = session.run_cell("[f(x) for x in high]")
    assert ran.value == [x * 2**62 for x in range(100_000)]
    assert ran.report.pipelines == ()
    ran = session.run_cell("[f(x) for x in (*low, 7)]")
    assert ran.value == [*[0, 2**62] * 50_000, 7 * 2**62]
    assert ran.report.pipelines


def test_the_same_in_a_loop_that_is_run_again():
    names = {"hastega": hastega}
    session = Session(names, Options(on="simd", baseline=False))
    session.run_cell("""
def f(xs): return [x * 2**62 for x in xs]
g = hastega(f, on="simd")
results = [g(xs) for xs in ([0, 1] * 50_000, range(100_000), [0, 1] * 50_000)]
""")
    low = [0, 2**62] * 50_000
    assert names["results"] == [low, [x * 2**62 for x in range(100_000)], low]


def test_series_that_are_gone_through_in_their_own_way():
    pandas = pytest.importorskip("pandas")

    class Doubled(pandas.Series):
        def __iter__(self):
            return iter([2 * each for each in self.array])

    @hastega
    def code(a):
        return sum(x for x in a), [x * 2 for x in a], sum(a)

    for a in (Doubled(range(6000)), pandas.Series(pandas.arrays.SparseArray([0, 0, 5] * 2000, fill_value=0))):
        for _ in range(2):
            found, expected = code(a), code.__wrapped__(a)
            assert found == expected
            assert [type(each) for each in found] == [type(each) for each in expected]


@pytest.mark.parametrize(
    "text", ["reduce(operator.mul, (f(x) for x in xs), 1.0)", "reduce(g, (f(x) for x in ns), 0)"]
)
def test_stop_iteration_in_a_generator_is_the_error_that_it_is_in_python(text):
    setting = """
import operator
from functools import reduce
def f(x):
    if x == 3:
        raise StopIteration(x)
    return x
def g(p, q): return (p * 3 + q) % 7
ns = [1, 2] * 150 + [3] + [1] * 50
xs = [float(x) for x in ns]
"""
    with pytest.raises(RuntimeError, match="generator raised StopIteration"):
        Session({}).run_cell(f"{setting}{text}")
