"""What checks cost, and what compiling costs.

Checks: a loop as it is compiled beside the same loop without what it assumes of its source and without its guards,
in turns, over data that stay in the cache of a core, and over data from memory. Compiling: cells that nothing is known
of, one after the other, and what their reports say of inference, code generation and compiling together.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from statistics import median
from typing import Any

import numpy as np

from hastega_magic.benchmarks.harness import message
from hastega_magic.benchmarks.model import Row, untimed
from hastega_magic.compiler.execute import Execution
from hastega_magic.compiler.loops import clear_cache
from hastega_magic.compiler.run import run_loops
from hastega_magic.ir.kernel import Assume, Guard, Kernel
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.progress import task
from hastega_magic.records import dataclass
from hastega_magic.runtime.cpu.launch import Launch
from hastega_magic.runtime.loop_result import LoopResult
from hastega_magic.session import Options, Session
from hastega_magic.trace import Trace

N = 20_000_000
MOST_S = 0.05
"""What checks may cost: a twentieth."""

ORDINARY_S, TURNING_S = 0.05, 0.1
"""What compiling a kernel may take, and one with a `while`."""

_IN_CACHE = 12 * BLOCK
_OFTEN = 64
"""How often these blocks are computed in a run."""

_SHORT, _LONG = 15, 3
"""Rounds for each that is asked for: there are more of runs that take less."""

_COMPILING = frozenset({"infer", "fuse", "codegen", "compile"})

CHECKS: Mapping[str, str] = {
    "overflow": "ys = xs |> map(lambda x: x * 3 + 1)\n",
    "overflow of products": "ys = xs |> map(lambda x: x * x - x)\n",
    "overflow of a logistic map": "ys = xs |> map(lambda x: 22 * x * (x + 1) % 6700417)\n",
    "division by zero": "ys = xs |> map(lambda x: 1000000 // x)\n",
    "bounds": "ys = ks |> map(lambda k: table[k])\n",
}

_COLLATZ = """def f(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps
"""
_GCD = """def f(a):
    b = 1000
    while b:
        a, b = b, a % b
    return a
"""
_ROOT = """def f(v):
    r = v
    while r * r > v * 1.0000001:
        r = (r + v / r) / 2
    return r
"""
KERNELS: Mapping[str, tuple[str, ...]] = {
    "ordinary": (
        "ys = xs |> map(lambda x: x * 3 + 1)\n",
        "total = xs |> filter(lambda x: x % 2 == 0) |> map(lambda x: x * x) |> sum\n",
        "ys = xs |> filter(lambda x: x % 7 == 0)\n",
        "ys = fs |> map(lambda x: (x * x + 1) / (x + 2))\n",
        "ys = fs |> cumsum\n",
        "ys = fs |> window(5) |> map(lambda a, b, c, d, e: (a + b + c + d + e) / 5)\n",
        "m = fs |> map(lambda x: x * 2 if x > 0.5 else -x) |> mean\n",
    ),
    "while": (
        f"{_COLLATZ}ys = xs |> map(f)\n",
        f"{_GCD}ys = xs |> map(f)\n",
        f"{_ROOT}ys = fs |> map(f)\n",
    ),
}


def inputs(n: int) -> dict[str, Any]:
    """`xs`: int64 in [1, 100 000); `ks`: int64 in [0, 1000); `fs`: float64 in [1, 2); `table`: 1000 float64."""
    rng = np.random.default_rng(20_180_401)
    return {
        "xs": rng.integers(1, 100_000, n),
        "ks": rng.integers(0, 1000, n),
        "fs": rng.random(n) + 1.0,
        "table": rng.random(1000),
    }


@dataclass
class Pair:
    """A loop with its checks and without, over the same columns; `blocks`: which to run, None for all."""

    execution: Execution
    checked: tuple[Kernel, Any]
    bare: tuple[Kernel, Any]
    length: int
    threads: int
    blocks: np.ndarray[Any, Any] | None

    def run(self, checked: bool) -> LoopResult:
        """Run one of them; its `kernel_seconds` are what counts."""
        kernel, program = self.checked if checked else self.bare
        execution = self.execution
        with task("checks", self.length) as work:
            launch = Launch(
                execution.columns, execution.job.tables, self.length, self.threads, time.perf_counter, work
            )
            if self.blocks is None:
                return launch.run(kernel, program)
            launch.run(kernel, program).kernel_seconds = 0.0  # the first run fills the cache
            return launch.run(kernel, program, self.blocks)


def without_checks(kernel: Kernel) -> Kernel:
    """The kernel that takes for granted what the other one looks at."""
    return replace(
        kernel, body=tuple(each for each in kernel.body if not isinstance(each, (Assume, Guard))), serves=()
    )


def pair(cell: str, names: Mapping[str, Any], n: int, threads: int, in_cache: bool) -> Pair:
    """The loop of a cell over the first `n` elements."""
    cut = {name: value if name == "table" else value[:n] for name, value in names.items()}
    options = Options(on="parallel", threads=threads, baseline=False, quiet=True)
    session = Session(cut, options)
    session.run_cell(cell)
    (kept,) = session.kept
    execution = run_loops(kept.loops, kept.workspace, kept.options, Trace())
    body = execution.job.variant(execution.job.first)
    bare = replace(without_checks(body.kernel), located=False)
    checked = replace(body.kernel, located=False)
    backend = execution.backend
    loaded = [(each, backend.load(each, backend.generate(each, False), False)) for each in (checked, bare)]
    blocks = np.tile(np.arange(n // BLOCK), _OFTEN) if in_cache else None
    return Pair(execution, loaded[0], loaded[1], n, threads, blocks)


def rows(n: int | None, backend: str, threads: int, repeat: int) -> list[Row]:
    """The rows of `stages-checks`: each loop, in a core's cache and from memory, and the same without its checks."""
    del backend
    size = N if n is None else n
    names = inputs(size)
    found: list[Row] = []
    for check, cell in CHECKS.items():
        for place, length, used in (
            ("in L2", min(size // BLOCK * BLOCK or size, _IN_CACHE), 1),
            ("from memory", size, threads),
        ):
            name = f"{check}, {place}"
            try:
                both = pair(cell, names, length, used, place == "in L2" and length >= BLOCK)
                found += _compared(name, both, repeat)
            except Exception as error:
                found.append(untimed("stages-checks", f"hastega: {name}", length, used, message(error)))
    return found


def _compared(name: str, both: Pair, repeat: int) -> list[Row]:
    seconds: dict[bool, list[float]] = {True: [], False: []}
    results = {checked: both.run(checked).arrays[0].copy() for checked in (True, False)}
    if not np.array_equal(results[True], results[False]):
        return [
            untimed("stages-checks", f"hastega: {name}", both.length, both.threads, "not equal", equal=False)
        ]
    for number in range(repeat * (_SHORT if both.blocks is not None else _LONG)):
        for checked in (True, False) if number % 2 else (False, True):
            seconds[checked].append(both.run(checked).kernel_seconds)
    with_them, without = median(seconds[True]), median(seconds[False])
    # Pairs that ran side by side share what else the machine did.
    more = median(a / b for a, b in zip(seconds[True], seconds[False], strict=True)) - 1
    verdict = f"checks cost {more:+.1%} (limit {MOST_S:.0%}: {'met' if more <= MOST_S else 'MISSED'})"
    shape = (both.length, both.threads)
    return [
        Row(
            "stages-checks", peer, *shape, middle, min(times), max(times), middle / with_them, True, note
        )
        for peer, middle, times, note in (
            (f"hastega: {name}", with_them, seconds[True], verdict),
            (f"without checks: {name}", without, seconds[False], ""),
        )
    ]  # fmt: skip


def compile_rows(n: int | None, backend: str, threads: int, repeat: int) -> list[Row]:
    """The rows of `stages-compile`: medians over cold kernels, of ordinary ones and of ones with a `while`."""
    size = 100_000 if n is None else min(n, 100_000)
    names = inputs(size)
    limits = {"ordinary": ORDINARY_S, "while": TURNING_S}
    found: list[Row] = []
    for kind, cells in KERNELS.items():
        peer = f"hastega: {kind}"
        try:
            times = [_compiling(cell, names, backend, threads) for cell in cells for _ in range(repeat)]
        except Exception as error:
            found.append(untimed("stages-compile", peer, size, threads, message(error)))
            continue
        middle = median(times)
        verdict = "met" if middle <= limits[kind] else "MISSED"
        note = f"{len(cells)} kernels, cold (limit {limits[kind] * 1e3:.0f} ms: {verdict})"
        found.append(
            Row("stages-compile", peer, size, threads, middle, min(times), max(times), 1.0, None, note)
        )
    return found


def _compiling(cell: str, names: Mapping[str, Any], backend: str, threads: int) -> float:
    """Seconds from the pipeline to machine code, in a process that has compiled others before."""
    clear_cache()
    session = Session(dict(names), Options(on=backend, threads=threads, baseline=False, quiet=True))
    session.run_cell(cell)
    assert session.last_report is not None
    report: dict[str, Any] = {**session.last_report.to_dict()}
    phases: list[Mapping[str, Any]] = [phase for each in report["pipelines"] for phase in each["phases"]]
    return sum(float(phase["seconds"]) for phase in phases if phase["name"] in _COMPILING)


PROBES: Mapping[str, tuple[str, Callable[[int | None, str, int, int], list[Row]]]] = {
    "stages-checks": ("loops with their checks, and the same without", rows),
    "stages-compile": ("compiling kernels that nothing is known of", compile_rows),
}
