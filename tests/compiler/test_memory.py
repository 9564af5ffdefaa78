"""Peak memory: the result plus at most 64 MiB, whatever the length of the source."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import os, resource, sys
from hastega_magic.session import Options, Session
def peak():
    if sys.platform == "linux":  # where ru_maxrss begins with the parent's
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
def measured(n, stages):
    space = {}
    session = Session(space, Options(baseline=False, quiet=True))
    session.run_cell(f"_w = range(100000) |> {stages}")
    del space["_w"]
    before = peak()
    result = session.run_cell(f"r = range({n}) |> {stages}\\nr").value
    print(peak() - before, getattr(result, "nbytes", 0), flush=True)
for line in sys.stdin:  # each in a process of its own, which has all that is imported
    if not os.fork():
        measured(*line.rstrip().split(" ", 1))
        os._exit(0)
    if os.wait()[1]:
        print("failed", flush=True)
"""
MIB = 1 << 20


@pytest.fixture(scope="module")
def measured():
    """A function that measures stages over so many numbers: the memory they take, and that of the result."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def ask(stages: str, n: int) -> tuple[int, int]:
            process.stdin.write(f"{n} {stages}\n")
            process.stdin.flush()
            used, size = map(int, process.stdout.readline().split())
            return used, size

        yield ask
        process.stdin.close()


@pytest.mark.parametrize("stages", ["map(lambda x: x * 3 + 1)", "map(lambda x: x > 5)"])
def test_a_map_takes_its_result(measured, stages):
    used, size = measured(stages, 100_000_000 if ">" in stages else 12_500_000)
    assert size == 100_000_000
    assert used <= size + 64 * MIB


@pytest.mark.parametrize("modulus", [2, 100])
def test_a_filter_takes_at_most_twice_its_result(measured, modulus):
    used, size = measured(f"filter(lambda x: x % {modulus} == 0)", 12_500_000)
    assert size == 8 * 12_500_000 // modulus
    assert used <= 2 * size + 64 * MIB


@pytest.mark.parametrize(
    "stages", ["sum", "map(lambda x: x * x % 7) |> max", "filter(lambda x: x % 2) |> count"]
)
def test_a_reduction_takes_nothing(measured, stages):
    assert measured(stages, 200_000_000)[0] < 64 * MIB


@pytest.mark.parametrize(
    "stages",
    [
        "map(lambda x: 1 << (x % 70)) |> max",
        "map(lambda x: 1 << (x % 70)) |> argmin",
        "filter(lambda x: x % 5) |> map(lambda x: 1 << (x % 70)) |> min",
        "map(lambda x: 1 << (x % 70) if x % 2 else 0.5) |> max",
    ],
)
def test_elements_that_python_evaluates_are_let_go(measured, stages):
    assert measured(stages, 2_000_000)[0] < 64 * MIB


def test_an_integer_s_sum_needs_no_reversed_array(measured):
    assert measured("scan(lambda m, x: max(m, x % 1009), 0) |> reverse |> sum", 15_000_000)[0] < 64 * MIB


@pytest.mark.parametrize("before", ["filter(lambda x: x % 3)", "cumsum"])
def test_a_reversed_array_takes_its_result(measured, before):
    used, size = measured(f"{before} |> reverse", 15_000_000)
    assert used <= size + 64 * MIB


@pytest.mark.parametrize(
    ("before", "dtype"), [("", "int8"), ("", "float32"), ("cumsum |> ", "int8"), ("cumsum |> ", "uint32")]
)
def test_an_array_of_another_type_takes_its_result(measured, before, dtype):
    used, size = measured(f"{before}map(lambda x: x % 100) |> astype('{dtype}')", 15_000_000)
    assert used <= size + 64 * MIB
