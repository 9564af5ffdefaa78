"""How much memory a pipeline needs beyond its result, each measured in a process of its own.

`python -m hastega_magic.benchmarks.memory CASE WHO N BACKEND THREADS` is that process: it runs
the cell once with few elements (so that the compiler is loaded), resets the peak where the system
allows it, runs it with N, and prints a JSON object.
"""

from __future__ import annotations

import json
import math
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np

from hastega_magic.benchmarks.harness import message
from hastega_magic.benchmarks.model import Row, untimed
from hastega_magic.records import dataclass

N = 0x2000000
LIMIT_MIB = 64
_FEW = 10_000
_MIB = 2**20


@dataclass(frozen=True)
class Case:
    """A pipeline whose memory is measured: the cell, and the same by NumPy; both leave `ys`.

    The result may be over-allocated by `slack` times its size (a filter does not know its length, a list grows).
    """

    name: str
    doc: str
    cell: str
    numpy: Callable[[int], Any]
    slack: float = 0.0


def _numpy_filter(n: int) -> Any:
    xs = np.arange(n) * 3 + 1
    return xs[xs % 2 == 0]


def _kept(n: int) -> Any:
    xs = np.arange(n)
    return xs[xs % 4 < 2]


def _numpy_enumerate(n: int) -> int:
    kept = _kept(n)
    return int((kept - np.arange(len(kept))).sum())


def _numpy_window(n: int) -> int:
    kept = _kept(n)
    return int((kept[1:] - kept[:-1]).max())


def _numpy_chunk(n: int) -> int:
    kept = _kept(n)
    whole = len(kept) // 4 * 4
    return int(max(kept[:whole].reshape(-1, 4).sum(1).max(initial=0), kept[whole:].sum()))


CASES: dict[str, Case] = {
    case.name: case
    for case in (
        Case(
            "memory-map",
            "range -> two maps -> array",
            "ys = range({n}) |> map(lambda x: x * 3 + 1) |> map(lambda x: x * x)\n",
            lambda n: (np.arange(n) * 3 + 1) ** 2,
        ),
        Case(
            "memory-filter",
            "range -> map -> filter that keeps half -> array",
            "ys = range({n}) |> map(lambda x: x * 3 + 1) |> filter(lambda x: x % 2 == 0)\n",
            _numpy_filter,
            slack=1.0,
        ),
        Case(
            "memory-sum",
            "range -> map -> sum: no result to speak of",
            "ys = range({n}) |> map(lambda x: x * 3 + 1) |> sum\n",
            lambda n: int((np.arange(n) * 3 + 1).sum()),
        ),
        Case(
            "memory-cumsum-max",
            "range -> map -> running sums -> max: two loops",
            "ys = range({n}) |> map(lambda x: x * 3 - {n}) |> cumsum |> max\n",
            lambda n: int(np.cumsum(np.arange(n) * 3 - n).max()),
        ),
        Case(
            "memory-enumerate",
            "range -> filter that keeps half -> enumerate -> map -> sum: two loops",
            "ys = range({n}) |> filter(lambda x: x % 4 < 2) |> enumerate |> map(lambda i, x: x - i) |> sum\n",
            _numpy_enumerate,
        ),
        Case(
            "memory-take",
            "range -> filter that keeps half -> the first thousand -> sum: two loops",
            "ys = range({n}) |> filter(lambda x: x % 4 < 2) |> take(1000) |> sum\n",
            lambda n: int(_kept(n)[:1000].sum()),
        ),
        Case(
            "memory-window",
            "range -> filter that keeps half -> pairs of neighbours -> their distance -> max: two loops",
            "ys = range({n}) |> filter(lambda x: x % 4 < 2) |> window(2) |> map(lambda a, b: b - a) |> max\n",
            _numpy_window,
        ),
        Case(
            "memory-chunk",
            "range -> filter that keeps half -> sums of four -> max: three loops",
            "ys = range({n}) |> filter(lambda x: x % 4 < 2) |> chunk(4) |> map(sum) |> max\n",
            _numpy_chunk,
        ),
        Case(
            "memory-step",
            "range -> filter that keeps half -> each tenth -> array: a loop of which a part is kept",
            "ys = range({n}) |> filter(lambda x: x % 4 < 2) |> step(10)\n",
            lambda n: _kept(n)[::10].copy(),
        ),
        Case(
            "memory-reverse",
            "range -> filter that keeps half -> from the last one on -> enumerate -> map -> max: two loops",
            "ys = range({n}) |> filter(_ % 4 < 2) |> reverse |> enumerate |> map(lambda i, x: x - i) |> max\n",
            lambda n: int((_kept(n)[::-1] - np.arange(len(_kept(n)))).max()),
        ),
        Case(
            "memory-bincount",
            "range -> map -> how often each occurs: NumPy's counts, piece by piece",
            "ys = range({n}) |> map(_ * 7 % 1000) |> bincount\n",
            lambda n: np.bincount(np.arange(n) * 7 % 1000),
        ),
        Case(
            "memory-var",
            "range -> running sums -> their variance: three runs through two loops",
            "ys = range({n}) |> map(lambda x: x % 7 - 3) |> cumsum |> var\n",
            lambda n: float(np.cumsum(np.arange(n) % 7 - 3).var()),
        ),
        Case(
            "memory-list",
            "range -> map -> list of floats: objects, made piece by piece",
            "ys = range({n}) |> map(_ * 0.5) |> to_list\n",
            lambda n: (np.arange(n) * 0.5).tolist(),
            slack=0.125,
        ),
        Case(
            "memory-complex",
            "range -> complex numbers -> array: records of two numbers",
            "ys = range({n}) |> map(lambda x: complex(x, 1))\n",
            lambda n: np.arange(n) + 1j,
        ),
        Case(
            "memory-iterator",
            "generator -> map -> array: chunks drawn from it, put behind each other",
            "def numbers():\n    for x in range({n}):\n        yield x ^ 1\nys = numbers() |> map(_ * 3)\n",
            lambda n: (np.arange(n) ^ 1) * 3,
        ),
    )
}


@dataclass(frozen=True)
class Use:
    """What one run used: all in bytes, but `seconds`; `result` is the size of the result."""

    before: int
    peak: int
    result: int
    seconds: float
    checksum: int

    @property
    def beyond(self) -> int:
        """Bytes at the peak beyond what was there before and the result itself."""
        return self.peak - self.before - self.result


def _status(field: str) -> int | None:
    """A field of /proc/self/status in bytes; None where there is none."""
    try:
        text = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return None
    values = [line.split()[1] for line in text.splitlines() if line.startswith(f"{field}:")]
    return int(values[0]) * 1024 if values else None


def _peak() -> int:
    # Not ru_maxrss where it can be helped: across exec it keeps the peak of the parent process.
    high = _status("VmHWM")
    if high is not None:
        return high
    usage = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return usage if sys.platform == "darwin" else usage * 1024


def _reset_peak() -> None:
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return  # the peak so far then counts too: an upper bound


def use(run: Callable[[int], Any], n: int) -> Use:
    """Run once small, once with `n`, and say what the second run used beyond the first."""
    run(_FEW)
    _reset_peak()
    before = _status("VmRSS") or _peak()
    start = time.perf_counter()
    value = run(n)
    seconds = time.perf_counter() - start
    peak = _peak()
    total: Any = math.fsum(cast("list[float]", value)) if isinstance(value, list) else np.sum(value)
    return Use(before, peak, _size(value), seconds, int(total.real))


def _size(value: Any) -> int:
    """Bytes of a result: of an array's memory, of a list with objects of one kind, in units of Python's allocator."""
    if not isinstance(value, list):
        return int(getattr(value, "nbytes", 0))
    objects = cast("list[object]", value)
    return len(objects) * (8 + -(-sys.getsizeof(objects[-1]) // 16) * 16)


def _runner(case: Case, who: str, backend: str, threads: int) -> Callable[[int], Any]:
    if who == "numpy":
        return case.numpy
    from hastega_magic.session import Options, Session

    namespace: dict[str, Any] = {}
    session = Session(namespace, Options(on=backend, threads=threads, baseline=False, quiet=True))

    def run(n: int) -> Any:
        namespace.clear()
        session.run_cell(case.cell.format(n=n))
        return namespace["ys"]

    return run


def measure(case: str, who: str, n: int, backend: str, threads: int) -> Use:
    """Measure `case` as run by `who` ("hastega" or "numpy") in a fresh process.

    Raises RuntimeError with the last line of what that process said where it failed.
    """
    command = [sys.executable, "-m", __spec__.name, case, who, str(n), backend, str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        raise RuntimeError((done.stderr.strip().splitlines() or ["no message"])[-1])
    return Use(**json.loads(done.stdout.splitlines()[-1]))


def rows(n: int | None, backend: str, threads: int, repeat: int) -> list[Row]:
    """The rows of the workload `memory`; the bytes stand in the notes, the times are of one run."""
    del repeat
    size = N if n is None else n
    result: list[Row] = []
    for case in CASES.values():
        try:
            ours = measure(case.name, "hastega", size, backend, threads)
        except Exception as error:
            result.append(untimed(case.name, "hastega", size, threads, message(error)))
            continue
        peer = measure(case.name, "numpy", size, backend, 1)
        result += [
            _row(case, "hastega", size, threads, ours, ours, peer),
            _row(case, "numpy", size, 1, peer, ours, peer),
        ]
    return result


def _row(case: Case, who: str, n: int, threads: int, used: Use, ours: Use, peer: Use) -> Row:
    if ours.checksum != peer.checksum:
        return untimed(case.name, who, n, threads, "not equal", equal=False)
    note = f"{case.doc}: result {used.result / _MIB:.0f} MiB, at the peak {used.beyond / _MIB:+.1f} MiB more"
    if who == "hastega":
        limit = LIMIT_MIB + case.slack * used.result / _MIB
        met = used.beyond <= limit * _MIB
        note += f" (limit {limit:.0f} MiB: {'met' if met else 'MISSED'})"
    ratio = used.seconds / ours.seconds
    return Row(case.name, who, n, threads, used.seconds, used.seconds, used.seconds, ratio, True, note)


def main(arguments: list[str]) -> None:
    """The measuring process: print one `Use` as JSON."""
    case, who, n, backend, threads = arguments
    used = use(_runner(CASES[case], who, backend, int(threads)), int(n))
    print(json.dumps(vars(used)))


if __name__ == "__main__":
    main(sys.argv[1:])
