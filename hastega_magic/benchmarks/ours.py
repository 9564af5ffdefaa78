"""Hastega as an entrant: a cell, run as the magic runs it, without the baselines and the display.

What is timed is the whole of `Session.run_cell`: parsing the cell, finding the compiled code,
allocating the result, converting lists, the kernel.  The row `hastega:kernel` is the kernel alone,
and `hastega:function` the call of a function that a cell has defined with the same statements.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hastega_magic.benchmarks.model import Entrant, Workload
from hastega_magic.session import Options, Session

_ONE_THREAD = frozenset({"python", "numpy", "simd"})


def label(backend: str, backends: Sequence[str]) -> str:
    """The peer's name of our row: plain "hastega" where only one back end was asked for."""
    return "hastega" if len(backends) == 1 else f"hastega:{backend}"


def used_threads(backend: str, threads: int) -> int:
    """How many of `threads` the back end takes."""
    return 1 if backend in _ONE_THREAD else threads


def kernel_seconds(report: Mapping[str, Any]) -> float | None:
    """The seconds of all kernel phases in a report's JSON; None where it has none."""
    phases = [p for pipeline in report.get("pipelines", ()) for p in pipeline.get("phases", ())]
    kernel = [float(p["seconds"]) for p in phases if p["name"] == "kernel"]
    return sum(kernel) if kernel else None


def _session(workload: Workload, n: int, backend: str, threads: int) -> tuple[dict[str, Any], Session]:
    """A session of its own, and the namespace with the workload's inputs."""
    namespace: dict[str, Any] = dict(workload.inputs(n))
    options = Options(on=backend, threads=used_threads(backend, threads), baseline=False, quiet=True)
    return namespace, Session(namespace, options)


class _Cell:
    """One workload at one size in a session of its own."""

    def __init__(self, workload: Workload, n: int, backend: str, threads: int) -> None:
        self._text = workload.cell(n)
        self._result = workload.result
        self._namespace, self._session = _session(workload, n, backend, threads)

    def prepare(self) -> None:
        """Forget the last result, as the peers write into the array that they have."""
        self._namespace.pop(self._result, None)

    def run(self) -> object:
        self._session.run_cell(self._text)
        return self._namespace[self._result]

    def kernel(self) -> float | None:
        report = self._session.last_report
        return None if report is None else kernel_seconds(report.to_dict())


def enter(workload: Workload, n: int, backend: str, threads: int, name: str) -> Entrant:
    """Make hastega on `backend` ready for `workload`, under the peer name `name`."""
    cell = _Cell(workload, n, backend, threads)
    return Entrant(
        name=name,
        n=n,
        threads=used_threads(backend, threads),
        run=cell.run,
        prepare=cell.prepare,
        kernel=cell.kernel,
        note="the whole cell, end to end",
    )


class _Function:
    """The workload's cell as the body of a function, which is called as the peers' functions are."""

    def __init__(self, workload: Workload, n: int, backend: str, threads: int) -> None:
        namespace, session = _session(workload, n, backend, threads)
        body = textwrap.indent(f"{workload.cell(n)}return {workload.result}\n", "    ")
        session.run_cell(f"def called():\n{body}")
        self._call: Callable[[], object] = namespace["called"]
        self._last: object = None

    def prepare(self) -> None:
        """Forget the last result."""
        self._last = None

    def run(self) -> object:
        self._last = self._call()
        return self._last


def enter_function(workload: Workload, n: int, backend: str, threads: int, name: str) -> Entrant:
    """The same work as a function on `backend`, under the peer name `name`."""
    function = _Function(workload, n, backend, threads)
    return Entrant(
        name=name,
        n=n,
        threads=used_threads(backend, threads),
        run=function.run,
        prepare=function.prepare,
        note="a call of a function with these statements",
    )


def reference(workload: Workload, backend: str, threads: int) -> Callable[[int], object]:
    """A function from a number of elements to hastega's result for that many, kept once computed."""
    kept: dict[int, object] = {}

    def result(n: int) -> object:
        if n not in kept:
            value: Any = _Cell(workload, n, backend, threads).run()
            # A copy, so that the buffer itself is free again when the timing starts.
            kept[n] = value.copy() if hasattr(value, "dtype") else value
        return kept[n]

    return result
