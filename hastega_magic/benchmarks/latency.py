"""How long the first cell of a fresh kernel takes with hastega and without, and the second cell.

Each sample is a new IPython kernel.  The time is the kernel's own, from the start of the
execution to its reply, and so includes the display of the result but not the start of the kernel.
Caches on disk are put into an empty folder, so the first cell really compiles.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from statistics import median
from typing import Any

from hastega_magic.benchmarks.harness import message
from hastega_magic.benchmarks.model import Row, untimed
from hastega_magic.records import dataclass

N = 1_000
# What the first cell may cost more than without us, and the second.
FIRST_LIMIT_S, SECOND_LIMIT_S = 0.6, 0.005
_TIMEOUT_S = 120

_LOAD = "%load_ext hastega_magic"
_OURS = """%%hastega --on {backend} --threads {threads}
p, mu = 6_700_417, 22
ys = (range(1, {n} + 1)
      |> map(lambda x: mu * x * (x + 1) % p)
      |> map(lambda x: mu * x * (x + 1) % p))
total = ys |> filter(lambda y: y % 2 == 0) |> sum
total
"""
_PLAIN = """
p, mu = 6_700_417, 22
ys = [mu * x * (x + 1) % p for x in range(1, {n} + 1)]
ys = [mu * x * (x + 1) % p for x in ys]
total = sum(y for y in ys if y % 2 == 0)
total
"""


class KernelError(Exception):
    """A cell failed in the kernel; the message is one line."""


@dataclass(frozen=True)
class Sample:
    """Seconds in two fresh kernels: each cell with hastega and without, and whether results agree."""

    first: float
    second: float
    other_n: float
    other_text: float
    no_baseline: float
    plain_first: float
    plain_second: float
    equal: bool


def _moment(value: Any) -> datetime:
    return value if isinstance(value, datetime) else datetime.fromisoformat(str(value))


def _ignore(output: object) -> None:
    """The output of a cell is not looked at."""
    del output


class _Kernel:
    """A client of one running kernel."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def run(self, code: str) -> float:
        """Execute a cell; the seconds it took inside the kernel.  KernelError where it failed."""
        reply = self._client.execute_interactive(
            code, timeout=_TIMEOUT_S, store_history=True, allow_stdin=False, output_hook=_ignore
        )
        if reply["content"]["status"] != "ok":
            content = reply["content"]
            raise KernelError(f"{content.get('ename')}: {content.get('evalue')}")
        return (_moment(reply["header"]["date"]) - _moment(reply["metadata"]["started"])).total_seconds()

    def value(self, expression: str) -> str:
        """The repr of an expression in the kernel, of which nothing is timed."""
        reply = self._client.execute_interactive(
            "", timeout=_TIMEOUT_S, user_expressions={"v": expression}, output_hook=_ignore
        )
        return str(reply["content"]["user_expressions"]["v"].get("data", {}).get("text/plain"))


@contextmanager
def _kernel() -> Generator[_Kernel]:
    # jupyter_client comes with ipykernel; it has no types.
    start: Any = importlib.import_module("jupyter_client.manager").start_new_kernel
    with tempfile.TemporaryDirectory(prefix="hastega-bench-") as empty:
        environment = {**os.environ, "XDG_CACHE_HOME": empty, "IPYTHONDIR": empty}
        # Modules lie compiled where pip installed them; with this, kernels would compile them anew each time.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        running, client = start(
            startup_timeout=_TIMEOUT_S, kernel_name="python3", env=environment, stderr=subprocess.DEVNULL
        )
        try:
            yield _Kernel(client)
        finally:
            client.stop_channels()
            running.shutdown_kernel(now=True)


def sample(n: int, backend: str, threads: int) -> Sample:
    """One sample: a kernel without hastega, then one with it.  Raises KernelError."""
    with _kernel() as kernel:
        plain_first = kernel.run(_PLAIN.format(n=n))
        plain_total = kernel.value("total")
        plain_second = kernel.run(_PLAIN.format(n=n))
    with _kernel() as kernel:
        cell = _OURS.format(n=n, backend=backend, threads=threads)
        first = kernel.run(_LOAD) + kernel.run(cell)
        total = kernel.value("total")
        second = kernel.run(cell)
        other_n = kernel.run(_OURS.format(n=n + 7, backend=backend, threads=threads))
        other_text = kernel.run(cell.replace("ys", "zs"))
        no_baseline = kernel.run(cell.replace("%%hastega", "%%hastega --no-baseline", 1))
    equal = total == plain_total
    return Sample(first, second, other_n, other_text, no_baseline, plain_first, plain_second, equal)


def rows(n: int | None, backend: str, threads: int, repeat: int) -> list[Row]:
    """The rows of the workload `latency`: medians over `repeat` pairs of fresh kernels."""
    size = N if n is None else n
    try:
        sample(size, backend, threads)  # does not count: it may compile modules, of NumPy too, as pip does
        samples = [sample(size, backend, threads) for _ in range(repeat)]
    except Exception as error:
        return [untimed("latency", "hastega", size, threads, message(error))]
    return table(samples, size, threads)


def table(samples: list[Sample], n: int, threads: int) -> list[Row]:
    """The rows of `samples`, which must not be empty."""
    equal = all(s.equal for s in samples)
    over = median([s.first - s.plain_first for s in samples])
    second = median([s.second for s in samples])
    first_note = f"fresh kernel: %load_ext and the first cell; {over:+.3f} s over python"
    plain_second = median([s.plain_second for s in samples])
    more = second - plain_second
    least = min(s.second for s in samples) - min(s.plain_second for s in samples)
    second_note = f"the same cell again, display included; {more * 1e3:+.1f} ms over python"
    second_note += f" (least over least {least * 1e3:+.1f} ms)"

    def other(peer: str, seconds: list[float], note: str) -> tuple[str, list[float], str]:
        return peer, seconds, f"{note}; {(median(seconds) - plain_second) * 1e3:+.1f} ms over python"

    figures = (
        ("hastega", [s.first for s in samples], first_note + _verdict(over <= FIRST_LIMIT_S, "0.6 s")),
        ("python", [s.plain_first for s in samples], "fresh kernel: the first cell without hastega"),
        (
            "hastega:second",
            [s.second for s in samples],
            second_note + _verdict(more <= SECOND_LIMIT_S, "5 ms"),
        ),
        other("hastega:other-n", [s.other_n for s in samples], "the same cell with another range"),
        other("hastega:other-text", [s.other_text for s in samples], "the same shape with other names"),
        ("hastega:no-baseline", [s.no_baseline for s in samples], "the same cell with --no-baseline"),
        ("python:second", [s.plain_second for s in samples], "the same cell again, without hastega"),
    )
    if not equal:
        return [untimed("latency", peer, n, 1, "not equal to python", equal=False) for peer, _, _ in figures]
    bases = {"hastega": median(figures[0][1]), "second": second}
    result: list[Row] = []
    for peer, seconds, note in figures:
        base = bases["hastega" if peer in ("hastega", "python") else "second"]
        middle = median(seconds)
        used = 1 if peer.startswith("python") else threads
        result.append(
            Row("latency", peer, n, used, middle, min(seconds), max(seconds), middle / base, True, note)
        )
    return result


def _verdict(met: bool, limit: str) -> str:
    return f" (limit {limit}: {'met' if met else 'MISSED'})"
