"""`for` statements that search: what goes on as the loop does, and what stands behind its end."""

from __future__ import annotations

import array

import numpy as np
import pytest

from hastega_magic import hastega
from hastega_magic.compiler.fastpath import searching
from tests.decorator.outcomes import ints, outcome
from tests.decorator.test_searching import _at_once, index_of, skipped

__all__ = ["_at_once", "skipped"]


def growing(q, most):
    for x in q:
        if len(q) < most and (q.append(x + 1) or x == -1):
            return x
    return x, len(q)


def breadth_first(start, goal):
    queue, seen = [*range(start, start + 300)], set()
    for node in queue:
        if node == goal:
            return len(queue)
        if node not in seen and node < 4000:
            seen.add(node)
            queue += [node + 7]
            if len(queue) > 9000:
                break
    return -len(queue)


@pytest.mark.parametrize("patched", [True, False])
def test_what_grows_as_it_is_gone_through(patched, monkeypatch):
    if not patched:
        monkeypatch.undo()
    for function, given in ((growing, lambda: ([0] * 300, 5000)), (growing, lambda: (array.array("q", [0] * 300), 700)),
                            (breadth_first, lambda: (3, 2**40)), (breadth_first, lambda: (3, 3000))):  # fmt: skip
        decorated = hastega(function)
        for _ in range(4):
            mine, theirs = given(), given()
            assert outcome(decorated, *mine) == outcome(function, *theirs)
            assert mine == theirs


class Ix:
    """What counts for an int, and is none."""

    def __index__(self):
        return 5


@pytest.mark.parametrize("start", [Ix(), np.int8(100), True, None, 2**70, -(2**63), 1.5], ids=range(7))
def test_what_enumerate_counts_from(start):
    def f(xs, s):
        for i, x in enumerate(xs, s):
            if x == -1:
                return i
        return i, x

    decorated = hastega(f)
    for _ in range(4):
        assert outcome(decorated, [1] * 5000, start) == outcome(f, [1] * 5000, start)


def with_turns(xs):
    for n in xs:
        if n == 0:
            return "none"
        d = 2
        while n % d:
            d += 1
        if d == 10007:
            return n
    return "end"


def test_what_stands_behind_the_end_may_make_turns_without_end():
    decorated, xs = hastega(with_turns), [*range(2, 3000), 0] + [1] * 300
    for _ in range(4):
        assert decorated(xs) == "none"
    assert "turns without end" in str(decorated.explain())


def of_several_statements(n, m):
    for x in range(n):
        s = 0
        for k in (1, 2, 3):
            s += x * k
        if s == m:
            return x
    return None


def test_turns_of_several_statements_over_a_range(skipped):
    decorated = hastega(of_several_statements)
    for m in (-1, 6 * 4321, 6):
        assert decorated(9000, m) == of_several_statements(9000, m)
    assert max(skipped) == 8999


def test_loops_go_on_where_elements_have_become_dearer_for_python_as_well(monkeypatch, skipped):
    monkeypatch.setattr(searching, "_CLEAR", 1e-9)  # so that Python seems to be faster each time
    decorated, xs = hastega(index_of), ints(50_000)
    for _ in range(3):
        assert decorated(xs, -1) == -1
    assert max(skipped[1:]) < 30_000  # the first run compiles
    skipped.clear()
    monkeypatch.setattr(searching, "_CLEAR", 1e9)
    for _ in range(40):
        assert decorated(xs, -1) == -1
    assert max(skipped) == 49_999


@pytest.mark.parametrize("rows", ["abcde" * 60, (1, 2, 3) * 100, {*range(300)}, [1] * 300, None])
def test_what_is_in_vain_is_soon_left_out(rows):
    rows = [rows] * 50 if rows else [np.arange(300)] * 50

    def count(rows, m):
        c = k = 0
        while k < len(rows):
            for x in rows[k]:
                if x == m:
                    break
            else:
                c += 1
            k += 1
        return c

    decorated = hastega(count)
    for _ in range(20):
        assert decorated(rows, 7) == count(rows, 7)
    (code,) = decorated.explain.__closure__[0].cell_contents.pipelines.values()
    assert code._vain > 4
