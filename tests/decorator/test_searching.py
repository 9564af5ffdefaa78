"""`for` statements that search: Python runs the turn that ends them, and loops go through those before."""

# ruff: noqa: B905, RET503, SIM110 - it is meant as it stands

from __future__ import annotations

import array
import linecache
import math

import numpy as np
import pytest

from hastega_magic import hastega
from hastega_magic.compiler.fastpath import looks, searching
from hastega_magic.compiler.fastpath.searching import Search
from hastega_magic.session import Session
from tests.decorator.outcomes import ints, outcome


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr(searching, "COMPILED_AFTER", 0.0)
    monkeypatch.setattr(searching, "_LEAST", 0.0)
    monkeypatch.setattr(searching, "_CLEAR", 1e9)


@pytest.fixture
def skipped(monkeypatch) -> list[int]:
    """From which elements on Python went through the rest."""
    found: list[int] = []
    positioned = Search._positioned

    def noted(self, operands, place):
        found.append(place)
        return positioned(self, operands, place)

    monkeypatch.setattr(Search, "_positioned", noted)
    return found


def is_prime(n):
    for d in range(2, math.isqrt(n) + 1):
        if n % d == 0:
            return False
    return True


def index_of(xs, m):
    for i, x in enumerate(xs):
        if x * x % 1009 == m:
            return i
    return -1


def numbered(xs, m):
    for i, x in enumerate(xs, 5):
        if x * x % 1009 == m:
            return i, x
    return None


def first_pair(xs, ys):
    found = None
    for x, y in zip(xs, ys):
        if x + y > 1990:
            found = (x, y)
            break
    return found, x, y


def with_else(xs, m):
    for x in xs:
        if x == m:
            break
    else:
        return "none", x
    return "found", x


def skipping(xs, m):
    for x in xs:
        if x % 2:
            continue
        y = x * 3
        if y < m:
            continue
        return x, y
    return x


def always_given(xs, m):
    y = None
    for x in xs:
        y = x * x
        if y == m:
            break
    return x, y


def any_pair(xs, m):
    for x in xs:
        for k in range(3):
            if x * k == m:
                return x, k
    return None


def raising(xs, m):
    for x in xs:
        if x > m:
            raise ValueError(f"{x} is too large")
    return "fine"


def printed(xs, out):
    for x in xs:
        if x > 900:
            out.append(x)
            for y in xs[:3]:
                if y:
                    out.append(y)
                    continue
                break
            break
    return out


def divided(xs, m):
    for x in xs:
        if m // x == 5:
            return x
    return None


def otherwise(xs, m):
    for x in xs:
        if x < m:
            pass
        elif x % 7:
            return x
        else:
            return -x


def next_prime(n):
    for k in range(n, 2 * n):
        for d in range(2, math.isqrt(k) + 1):
            if k % d == 0:
                break
        else:
            return k
    return None


def drawn(xs, m):
    for x in xs:
        if x > m:
            yield x
            break
    yield "end"


LONG = ints(5000)
CASES = [
    (is_prime, (1_000_003,), 740), (is_prime, (999_983 * 999_979,), 900_000),
    (index_of, (LONG, -1), 4999), (index_of, (LONG, 4), None), (index_of, (range(9000), 9), None),
    (numbered, (LONG, -1), 4999), (numbered, (range(70000), 1008), None),
    (first_pair, (LONG, LONG[::-1]), None), (first_pair, (LONG, range(10**6)), None),
    (with_else, (LONG, 5000), 4999), (with_else, (range(3, 40000), 30_001), 29_000),
    (with_else, ([0] * 3000 + [7, 8], 7), 2700),
    (skipping, (LONG, 2990), None), (skipping, (LONG, 10**5), 4999), (skipping, (range(100_000), 200_001), 66_000),
    (always_given, (LONG, -1), 4999), (always_given, (range(3000), 2500**2), 2200),
    (any_pair, (LONG, 10**5), 4999), (any_pair, (range(1, 4000), 7001), 3998), (any_pair, (range(1, 4000), 7000), 3200),
    (raising, (LONG, 999), None), (raising, (LONG, 1000), 4999), (raising, (array.array("q", LONG), 1000), 4999),
    (printed, (LONG, []), None), (printed, (LONG[:700] * 2, []), None),
    (divided, ([1] * 2000 + [0, 5], 3), None), (divided, ([1] * 2000 + [0, 5], 5), 0),
    (divided, (range(1, 3000), 12345), 1800),
    (next_prime, (1327,), None), (next_prime, (10**6,), None),
    (otherwise, (LONG, 999), None), (otherwise, (range(3000), 2801), 2500),
]  # fmt: skip


@pytest.mark.parametrize(("function", "given", "least"), CASES, ids=range(len(CASES)))
def test_what_they_give_is_python_s(function, given, least, skipped):
    decorated = hastega(function)
    for _ in range(4):
        mine, theirs = ([[] if each == [] else each for each in given] for _ in range(2))
        assert outcome(decorated, *mine) == outcome(function, *theirs)
        assert mine == theirs
    if least:
        assert skipped
        assert max(skipped) >= least


def test_generators_search(skipped):
    decorated = hastega(drawn)
    for _ in range(2):
        assert [*decorated(LONG, 999)] == [*drawn(LONG, 999)]
        assert [*decorated(LONG, 1000)] == ["end"]
    assert 4999 in skipped


@pytest.mark.parametrize("xs", [
    [1.5] * 3000 + [1001.0], [1, 2.5] * 2000, [True] * 3000, [2**70] * 3000, [None] * 3000, ["a"] * 3000, tuple(LONG),
    np.arange(3000), {1: 2}, {3}, "abc" * 1000, iter(LONG), [float("nan")] * 3000 + [2000], [1] * 3000 + [None], [], 5,
    [1] * 3000 + ["a"], [1001] * 3000, bytes(3000), [2**62] * 3000 + [-(2**63)], [[1]] * 300,
])  # fmt: skip
@pytest.mark.parametrize("function", [index_of, skipping, raising, with_else, always_given, divided])
def test_elements_of_any_type(function, xs):
    decorated = hastega(function)
    for _ in range(3):
        mine, theirs = (iter(LONG), iter(LONG)) if hasattr(xs, "__next__") else (xs, xs)
        assert outcome(decorated, mine, 1000) == outcome(function, theirs, 1000)


def first_factor(n, m):
    for d in range(2, m):
        if n % d == 0:
            return d
    return None


@pytest.mark.parametrize("m", [10**9, 10**30, 2**64, -(10**30)])
def test_ranges_without_end(m, skipped):
    decorated = hastega(first_factor)
    for n in (7919 * 7927, 2, 1_000_003, 7919 * 7927):
        assert decorated(n, m) == first_factor(n, m)
    assert bool(skipped) is (m > 0)


def test_the_report_tells_of_it():
    decorated = hastega(index_of)
    for _ in range(3):
        decorated(LONG, -1)
    text = str(decorated.explain())
    assert "1 fused loop" in text
    (pipeline,) = decorated.explain().pipelines
    assert any("Python took the first 64 turns." in each for each in pipeline.why)
    assert any("before element 4,999: Python went on from there" in each for each in pipeline.why)
    decorated([-1] * 300, 1)
    assert "it ended after few turns" in str(decorated.explain())
    decorated([5], -1)
    assert "there are fewer than 256 elements" in str(decorated.explain())


def test_runs_that_end_early_are_soon_python_s_alone(skipped):
    decorated, xs = hastega(with_else), [7, *range(5000)]
    for _ in range(200):
        assert decorated(xs, 7) == ("found", 7)
    assert "it ended after few turns" in str(decorated.explain())
    (code,) = decorated.explain.__closure__[0].cell_contents.pipelines.values()
    assert code._vain < 30
    assert not skipped
    for _ in range(2000):
        assert decorated(xs, -1) == ("none", 4999)
    assert skipped


def test_what_python_takes_no_time_for_is_not_compiled(monkeypatch):
    monkeypatch.setattr(searching, "COMPILED_AFTER", 1e9)
    decorated = hastega(index_of)
    assert decorated(LONG, -1) == -1
    assert "Python has not taken long for it so far" in str(decorated.explain())


@pytest.mark.parametrize("native", [False, True])
def test_python_runs_only_a_few_turns_of_inner_ones(monkeypatch, native, skipped):
    monkeypatch.setattr(looks, "FIRST", 1 if native else -1)
    monkeypatch.setattr(looks, "LATER", 1 if native else -1)

    def primes(n, m):
        found = []
        k = n
        while k < m:
            for d in range(2, math.isqrt(k) + 1):
                if k % d == 0:
                    break
            else:
                found.append(k)
            k += 1
        return found

    decorated = hastega(primes)
    for first in (2, 10**6, 10**9):
        assert decorated(first, first + 120) == primes(first, first + 120)
    assert skipped


@pytest.mark.parametrize("text", [
    "for x in xs:\n  n += 1\n  if x > m: break",
    "for x in xs:\n  if x > m: break\n  last = x",
    "for x in xs:\n  if n < m: n = x\n  if x > m: break",
    "for x in xs:\n  print(x)\n  if x > m: break",
    "for x in xs:\n  if x > m: out.append(x)",
    "for x in xs:\n  if x > m:\n    n = x\n    continue\n  if x > 999: break",
    "for x in xs:\n  if g(x): break",
    "for x in xs:\n  y = x\n  if x > m:\n    if x % 2: continue\n    break",
    "for x in reversed(xs):\n  if x > m: break",
    "for x in xs[2:]:\n  if x > m: break",
    "for x in list(xs):\n  if x > m: break",
    "for x in xs:\n  while x > m:\n    break\n  else:\n    n = x\n    break",
    "for x in xs:\n  try:\n    if x > m: break\n  finally:\n    n = x",
    "for x in xs:\n  if x > m:\n    xs = []\n    break",
    "for x in xs:\n  if x > m:\n    def z(): pass\n    break",
    "for x in xs:\n  if x > m:\n    global q\n    q = x\n    break",
    "for x.real in xs:\n  break",
    "for out[:] in [xs]:\n  break",
    "for x in xs:\n  if (n := x) > m: break",
    "for x in xs:\n  assert x < m",
    "for x in xs:\n  if x > m: del x\n  else: continue\n  break",
    "for x in xs:\n  if [y for y in range(3) if y == x]: break",
    "for x in xs:\n  if x > m: break\nelse:\n  n = x",
    "for m in xs:\n  if m > 990: break",
    "for x in xs:\n  if x > m: break\nfor x in xs:\n  if x < -m: break",
])  # fmt: skip
def test_all_else_is_as_it_was(text):
    body = "\n".join("  " + line for line in text.split("\n"))
    whole = f"def f(xs, m, n=0, out=[], last=None):\n  y = x = q = None\n{body}\n  return xs, m, n, out, last, y, x\n"
    if "global q" in whole:
        whole = whole.replace("y = x = q = None", "y = x = None")
    name = "<searching>"
    linecache.cache[name] = (1, None, whole.splitlines(keepends=True), name)
    spaces = [{"g": [].append} for _ in range(2)]
    for each in spaces:
        exec(compile(whole, name, "exec"), each)
    first, second = hastega(spaces[0]["f"]), spaces[1]["f"]
    for xs, m in ((ints(600), 998), (ints(600), 2000), ([], 3), (ints(600), 500)):
        assert outcome(first, xs, m, 0, []) == outcome(second, xs, m, 0, [])


def test_functions_of_cells_search(skipped):
    session = Session({})
    text = (
        "def find(xs, m):\n    for x in xs:\n        if x * 3 == m:\n            return x\n    return None\n"
    )
    session.run_cell(text)
    for m in (-1, 2997, 3):
        session.run_cell(f"found = find(list(range(1000)), {m})")
        assert session.namespace["found"] == {-1: None, 2997: 999, 3: 1}[m]
    assert 999 in skipped


def test_what_changes_between_runs_is_read_again():
    decorated, namespace = hastega(_reading), globals()
    try:
        for limit in (990, 995, 2000, 100):
            namespace["LIMIT"] = limit
            assert outcome(decorated, LONG) == outcome(_reading, LONG)
    finally:
        namespace["LIMIT"] = 5


LIMIT = 5


def _reading(xs):
    for x in xs:
        if x > LIMIT:
            return x
    return None
