"""The workloads `latency` and `memory`: figures from processes of their own."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from battery import some

from hastega_magic.benchmarks import calls, checks, latency, memory
from hastega_magic.ir.kernel import Assume, Guard


def sample(first: float = 0.5, second: float = 0.004, *, equal: bool = True) -> latency.Sample:
    return latency.Sample(first, second, 0.02, 0.015, 0.003, 0.1, 0.001, equal)


def test_latency_rows_compare_like_with_like():
    rows = {row.peer: row for row in latency.table([sample(0.4), sample(0.5), sample(0.6)], 1000, 2)}
    assert rows["hastega"].median_s == 0.5
    assert rows["hastega"].ratio == 1
    assert rows["python"].ratio == 0.2
    assert rows["python:second"].ratio == 0.25
    assert "+0.400 s over python (limit 0.6 s: met)" in rows["hastega"].note
    assert "+3.0 ms over python (least over least +3.0 ms) (limit 5 ms: met)" in rows["hastega:second"].note


def test_latency_says_what_was_missed_and_hides_unequal_times():
    rows = latency.table([sample(first=0.9, second=0.2)], 1000, 2)
    assert sum("MISSED" in row.note for row in rows) == 2
    rows = latency.table([sample(), sample(equal=False)], 1000, 2)
    assert {(row.equal, row.median_s) for row in rows} == {(False, None)}


def test_a_kernel_tells_its_own_time_and_its_errors():
    with latency._kernel() as kernel:
        assert 0.2 <= kernel.run("import time; time.sleep(0.2); x = 7") < 2
        assert kernel.value("x * 6") == "42"
        with pytest.raises(latency.KernelError, match="ZeroDivisionError: division by zero"):
            kernel.run("1 / 0")


def test_checks_are_compared_with_loops_that_have_none():
    rows = checks.rows(30_000, "parallel", 2, 1)
    assert [row.equal for row in rows] == [True] * 4 * len(checks.CHECKS), rows
    assert all("checks cost" in row.note for row in rows if row.peer.startswith("hastega"))
    names = checks.inputs(20_000)
    both = checks.pair(checks.CHECKS["division by zero"], names, 20_000, 1, in_cache=False)
    assert both.checked[0].of(Guard)
    assert not both.bare[0].of(Guard)
    both = checks.pair(checks.CHECKS["overflow"], names, 20_000, 1, in_cache=False)
    assert both.checked[0].of(Assume)
    assert not both.bare[0].of(Assume)


def test_kernels_are_compiled_anew():
    rows = checks.compile_rows(1000, "parallel", 1, 1)
    assert [row.peer for row in rows] == ["hastega: ordinary", "hastega: while"]
    assert all(row.min_s is not None and row.min_s > 1e-4 for row in rows), rows


def test_memory_finds_a_known_surplus():
    # NumPy's filter holds the mapped range (twice the result here) and at least a mask beside the result.
    used = memory.measure("memory-filter", "numpy", 4_000_000, "parallel", 1)
    assert used.result == 16_000_000
    assert 2.0 < used.beyond / used.result < 5.0
    xs = np.arange(4_000_000) * 3 + 1
    assert used.checksum == int(xs[xs % 2 == 0].sum())


def test_memory_finds_no_surplus_where_there_is_none():
    # NumPy reuses the one temporary for the result, 32 MB and a little, where it can tell that nobody else has it.
    temporaries = sys.version_info >= (3, 14)
    used = memory.measure("memory-map", "numpy", 4_000_000, "parallel", 1)
    assert used.result == 32_000_000
    assert abs(used.beyond - temporaries * used.result) < 0.2 * used.result


def test_a_failing_measurement_says_why():
    with pytest.raises(RuntimeError, match="KeyError: 'memory-nosuch'"):
        memory.measure("memory-nosuch", "numpy", 10, "parallel", 1)


def test_a_pipeline_needs_little_beyond_its_result(monkeypatch):
    monkeypatch.setattr(memory, "CASES", {name: memory.CASES[name] for name in some(memory.CASES, every=3)})
    rows = {(row.workload, row.peer): row for row in memory.rows(2_000_000, "parallel", 2, 1)}
    for case in memory.CASES:
        ours = rows[case, "hastega"]
        assert ours.equal, ours.note
        assert "met" in ours.note, ours.note


def test_the_first_cell_of_a_fresh_kernel_is_measured():
    rows = {row.peer: row for row in latency.rows(1000, "parallel", 2, 1)}
    assert rows["hastega"].equal, rows["hastega"].note
    assert rows["hastega"].median_s is not None


def test_calls_are_measured_stage_by_stage(monkeypatch):
    monkeypatch.setattr(calls, "STAGES", ("sum", "take(3)", "no_such_stage"))
    monkeypatch.setattr(calls, "TURNS", 5)
    monkeypatch.setattr(calls, "FIRST", 3)
    rows = calls.rows(None, "parallel", 2, 7)
    assert [row.equal for row in rows] == [True, True, None]
    assert all(row.n == calls.N and row.median_s > 0 for row in rows[:2])
    assert rows[2].median_s is None
    assert "no_such_stage" in rows[2].note
