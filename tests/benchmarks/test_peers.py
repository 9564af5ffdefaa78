"""Every peer's program of every workload computes what pure Python computes."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from battery import some

from hastega_magic.benchmarks import cc, peers
from hastega_magic.benchmarks.harness import compare
from hastega_magic.benchmarks.logistic import LOGISTIC
from hastega_magic.benchmarks.model import Workload
from hastega_magic.benchmarks.workloads import WORKLOADS, members

N = 1003

# Python's, NumPy's and C's are compared where whole commands run (test_command_line).
THERE = ("python", "numpy", "c")
PAIRS = some(((w, p) for w in WORKLOADS for p in WORKLOADS[w].programs if p not in THERE), 2)
# Numba takes seconds over each of them.
PAIRS = [pair for pair in PAIRS if pair[1] != "numba" or pair in some(PAIRS, 8)]

# The variants without a Python program of their own start from the same numbers.
SAME_AS = {name: "logistic" for name in WORKLOADS if "logistic" in name and name != "logistic-list"}


def result(name: str, workload: Workload, n: int = N) -> object:
    try:
        return peers.enter(peers.PEERS[name], workload, n, 2).run()
    except peers.Unavailable as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize(("workload", "peer"), PAIRS)
def test_a_peer_equals_pure_python(workload: str, peer: str):
    entry = WORKLOADS[workload]
    expected = result("python", WORKLOADS[SAME_AS.get(workload, workload)])
    comparison = compare(result(peer, entry), expected, max(entry.tolerance, 0.0))
    assert comparison.equal, comparison.note


@pytest.mark.parametrize("workload", WORKLOADS)
def test_a_workload_has_known_peers_and_leaves_its_result(workload: str):
    entry = WORKLOADS[workload]
    assert set(entry.programs) <= set(peers.PEERS)
    assert f"{entry.result} = " in entry.cell(N)
    assert workload in members(entry.group or workload)


def test_the_numbers_of_the_logistic_map():
    values = result("python", WORKLOADS["logistic"], 100_000)
    assert isinstance(values, list)
    assert values[:5] == [5756693, 3714507, 3456095, 6578590, 2830244]
    assert sum(values) == 335016001477
    assert int(np.bitwise_xor.reduce(np.array(values))) == 4562325
    [loop] = [w for w in LOGISTIC if w.name == "logistic"]
    assert loop.n == 33_554_432
    assert loop.cell(loop.n).count("|> map") == 10


def test_pure_python_gets_a_sample():
    entrant = peers.enter(peers.PEERS["python"], WORKLOADS["sum-int64"], 3_000_000, 2)
    assert entrant.n == WORKLOADS["sum-int64"].sample == 1_000_000
    assert entrant.threads == 1


def test_a_library_that_is_not_installed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "numexpr", None)
    with pytest.raises(peers.Unavailable, match="numexpr is not installed"):
        peers.enter(peers.PEERS["numexpr"], WORKLOADS["sum-int64"], N, 2)


def test_no_c_compiler(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CC", "no-such-compiler-here")
    with pytest.raises(peers.Unavailable, match="no-such-compiler-here is not installed"):
        peers.enter(peers.PEERS["c"], WORKLOADS["sum-int64"], N, 2)


def test_a_c_program_that_does_not_compile():
    try:
        cc.compiler()
    except cc.CompilerError as reason:
        pytest.skip(str(reason))
    with pytest.raises(cc.CompilerError) as caught:
        cc.Program("void run(int64_t n) { return nonsense; }")
    assert "nonsense" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_c_takes_contiguous_arrays_only():
    try:
        program = cc.Program(WORKLOADS["sum-int64"].programs["c"])
    except cc.CompilerError as reason:
        pytest.skip(str(reason))
    with pytest.raises(ValueError, match="contiguous"):
        program(3, 1, [np.arange(6)[::2]], np.zeros(1, np.int64))
