"""The other end of doctor/ask.py: looks at llvmlite, pyopencl and drivers, runs loops, and says so line by line.

Each line is a JSON object with one key:

    begin    the step that comes next: should the process crash, it was in this one
    facts    the fields of CpuFacts or OpenClFacts
    trouble  why there are no facts
    trial    the fields of a Trial
    chosen   {a back end that was asked for: the one that it means, "opencl:0"}
    refused  {a back end that was asked for: why it means none}
    library  "" or why the library cannot be loaded
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from hastega_magic.doctor.model import CPU_BACKENDS, Trial

N = 100_000
"""Elements of the loop that is tried: enough blocks to wake every thread."""

Say = Callable[..., None]


def main(job: Mapping[str, Any]) -> None:
    """Do the job that `ask` has sent."""
    # Drivers print: the answer keeps a stream of its own, and stdout becomes stderr.
    stream = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)

    def say(**event: object) -> None:
        stream.write(json.dumps(event) + "\n")

    _JOBS[job["what"]](job, say)
    # Drivers crash at exit, too, where it no longer matters.
    stream.flush()
    os._exit(0)


def message(error: BaseException) -> str:
    """An exception in one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _cpu(job: Mapping[str, Any], say: Say) -> None:
    say(begin="asking llvmlite")
    try:
        from hastega_magic.runtime.inspect_cpu import inspect

        say(facts=asdict(inspect()))
    except Exception as error:
        say(trouble=message(error))
    for backend in CPU_BACKENDS:
        say(begin=backend)
        say(trial=asdict(tried(backend)))


def _opencl(job: Mapping[str, Any], say: Say) -> None:
    say(begin="listing OpenCL devices")
    try:
        from hastega_magic.runtime.inspect_opencl import inspect

        facts = inspect()
    except Exception as error:
        say(trouble=message(error))
        return
    say(facts=asdict(facts))
    for asked in job["needed"]:
        _choose(asked, say)
    for device in facts.devices:
        say(begin=f"opencl:{device.number}")
        say(trial=asdict(tried(f"opencl:{device.number}")))


def _choose(asked: str, say: Say) -> None:
    from hastega_magic.runtime import opencl

    try:
        say(chosen={asked: f"opencl:{opencl.select(asked, opencl.devices()).number}"})
    except Exception as error:
        say(refused={asked: str(error)})


def _library(job: Mapping[str, Any], say: Say) -> None:
    from hastega_magic.runtime.inspect_opencl import load_driver

    say(begin="loading the library")
    say(library=load_driver(job["library"]))


_JOBS: Mapping[str, Callable[[Mapping[str, Any], Say], None]] = {
    "cpu": _cpu,
    "opencl": _opencl,
    "library": _library,
}


def tried(backend: str) -> Trial:
    """Run a sum of squares there, and nowhere else: a loop that Python has to run is a failure."""
    try:
        from hastega_magic.compiler.options import Options
        from hastega_magic.session import Session

        session = Session({}, Options(on=backend, baseline=False, strict=True, quiet=True))
        session.run_cell(f"total = range({N}) |> map(lambda x: x * x) |> sum\n")
        assert session.last_report is not None
        (pipeline,) = session.last_report.pipelines
        total, ran = session.namespace["total"], pipeline.backend
    except Exception as error:
        return Trial(backend, "fails", message(error))
    if ran != backend.partition(":")[0]:
        return Trial(backend, "fails", f"the loop ran on {ran or 'nothing'} instead")
    if total != (N - 1) * N * (2 * N - 1) // 6:
        return Trial(backend, "fails", f"the sum of squares below {N} is wrong: {total}")
    return Trial(backend, "works", pipeline.device)


__all__ = ["main", "message", "tried"]
