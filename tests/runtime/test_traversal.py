"""Loops that only read, from either end of their parts: each block is computed once, and no result tells the way."""

import math

import numpy as np
import pytest

from hastega_magic.ir.schedule import BLOCK
from hastega_magic.runtime.cpu import traversal
from hastega_magic.session import Options, Session


class Plan:
    stores = ()


@pytest.fixture
def noted(monkeypatch):
    """The ways of all runs, of few blocks too."""
    went, backwards = [], traversal.backwards

    def noting(plan, address, blocks):
        went.append(backwards(plan, address, blocks))
        return went[-1]

    monkeypatch.setattr(traversal, "_FEWEST", 1)
    monkeypatch.setattr(traversal, "_went_back", {})
    monkeypatch.setattr("hastega_magic.runtime.cpu.launch.backwards", noting)
    monkeypatch.setattr("hastega_magic.runtime.cpu.threaded.backwards", noting)
    return went


def test_runs_over_the_same_source_take_turns(monkeypatch):
    monkeypatch.setattr(traversal, "_went_back", {})
    assert [traversal.backwards(Plan, 8, 100) for _ in range(4)] == [True, False, True, False]
    assert [traversal.backwards(Plan, each, 100) for each in (8, 16, 8, 16)] == [True, True, False, False]
    assert not any(traversal.backwards(Plan, 8, 5) for _ in range(4)), "few blocks stay in the caches whole"
    for address in range(1000):
        traversal.backwards(Plan, address, 100)
    assert len(traversal._went_back) <= 64


@pytest.mark.parametrize("count", [1, 2, 3, 5, 7, 8, 9, 13, 17, 40, 65])
@pytest.mark.parametrize("threads", [1, 2, 3, 4, 5, 7, 8, 11])
def test_each_block_is_computed_once(noted, count, threads):
    xs = np.random.default_rng(count).normal(size=count * BLOCK - 5)
    ns = np.arange(count * BLOCK - 5)
    session = Session(
        {"xs": xs, "ns": ns}, Options(on="parallel", threads=threads, baseline=False, quiet=True)
    )
    found = set()
    for _ in range(4):
        session.run_cell("s = xs |> sum\nt = ns |> filter(lambda n: n % 3 == 1) |> sum\nm = xs |> argmin")
        found.add(tuple(session.namespace[name] for name in "stm"))
    ((s, t, m),) = found
    assert math.isclose(s, math.fsum(xs), abs_tol=1e-9)
    assert (t, m) == (sum(range(1, len(ns), 3)), int(xs.argmin()))
    assert {True, False} <= set(noted) or threads == 1 or count == 1


@pytest.mark.parametrize("run", range(3))
def test_the_first_element_that_raises_is_named_whichever_end_comes_first(noted, run):
    xs = np.ones(100 * BLOCK, np.int64)
    xs[[5 * BLOCK + 7, 60 * BLOCK, 99 * BLOCK + 3]] = 0
    session = Session({"xs": xs}, Options(on="parallel", threads=3, baseline=False, quiet=True))
    for _ in range(run):
        session.run_cell("t = xs |> sum")
    with pytest.raises(ZeroDivisionError) as raised:
        session.run_cell("s = xs |> map(lambda x: 1 // x) |> sum")
    assert f"element {5 * BLOCK + 7} of" in "".join(raised.value.__notes__)
    assert noted
