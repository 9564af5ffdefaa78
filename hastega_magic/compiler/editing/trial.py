"""Trying a kernel in a process of its own, and what came of it: the notebook's side of trial_process.py."""

from __future__ import annotations

import json
import os
import pickle
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import IO, Any

from hastega_magic.compiler.editing.trial_data import ResultSlabs, Slab, Trial, read_result
from hastega_magic.progress import task
from hastega_magic.records import dataclass
from hastega_magic.runtime.loop_result import LoopResult
from hastega_magic.runtime.signals import signal_name

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from hastega_magic.compiler.editing.trial_process import main; main()"
)
_LIMITS = {"starting": 60.0, "checking": 60.0, "compiling": 120.0, "timing": 60.0}
"""Seconds that a step may take; a run has limits of its own."""

_STEPS = ("starting", "checking", "compiling", "running", "timing")


@dataclass
class Tried:
    """What the process said. `ended`: how it ended before it was done, "" if it did not; `step`: the last one begun.

    `broke`: what was raised in it that no edit explains; `errors`: the end of what it wrote to stderr.
    """

    step: str = "starting"
    elements: int = 0
    refused: Mapping[str, Any] | None = None
    failed: str = ""
    log: str = ""
    times: Mapping[str, list[float]] = field(default_factory=dict[str, list[float]])
    result: LoopResult | None = None
    slabs: ResultSlabs | None = None
    ended: str = ""
    broke: str = ""
    errors: str = ""


def scratch_file() -> IO[bytes]:
    """A file in memory, where the system has such files, that no other program sees."""
    folder = Path("/dev/shm")  # noqa: S108  TemporaryFile has no name there that somebody could guess
    return tempfile.TemporaryFile(dir=folder if os.access(folder, os.W_OK) else None)


def attempt(make: Callable[[int, int], Trial], data: IO[bytes], limit: float) -> Tried:
    """Try what `make` gives for the descriptors of the data and of a file for results.

    `limit`: seconds that one run of the kernel may take. The process is gone when this returns or raises.
    """
    tried = Tried()
    with scratch_file() as results, tempfile.TemporaryFile() as errors, task("trial", len(_STEPS)) as work:
        data.flush()
        trial = make(data.fileno(), results.fileno())
        command = [sys.executable, "-c", _START, json.dumps(sys.path)]
        with subprocess.Popen(  # noqa: S603  this interpreter
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, bufsize=0,
            pass_fds=(trial.data, trial.results), start_new_session=True,  # Ctrl-C is answered here, not there
        ) as process:  # fmt: skip
            try:
                assert process.stdin is not None
                _send(process.stdin, pickle.dumps(trial))
                _listen(process, tried, limit, lambda: work.at(_STEPS.index(tried.step)))
            finally:
                process.kill()
        errors.seek(0)
        tried.errors = errors.read().decode("utf-8", "replace")[-2000:].strip()
        if tried.slabs is not None and not tried.ended:
            tried.result = read_result(tried.slabs, results)
    return tried


def _send(pipe: IO[bytes], content: bytes) -> None:
    try:
        while content:
            content = content[pipe.write(content) :]
    except BrokenPipeError:
        pass  # it has died already: what it said tells why


def _listen(process: subprocess.Popen[bytes], tried: Tried, limit: float, tick: Callable[[], None]) -> None:
    assert process.stdout is not None
    rest, since = b"", time.perf_counter()
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            allowed = _LIMITS.get(tried.step, limit) + (20 * limit if tried.step == "timing" else 0)
            if time.perf_counter() - since > allowed:
                tried.ended = f"did not end within {allowed:.0f} s"
                return
            ready = selector.select(timeout=0.05)
            tick()
            if not ready:
                continue
            said = os.read(process.stdout.fileno(), 1 << 16)
            if not said:
                break
            *lines, rest = (rest + said).split(b"\n")
            for line in lines:
                _note(json.loads(line), tried)
                since = time.perf_counter()
    status = process.wait()
    if status < 0:
        tried.ended = f"crashed ({signal_name(-status)})"
    elif status:
        tried.ended = f"ended with status {status}"


def _note(event: Mapping[str, Any], tried: Tried) -> None:
    if "begin" in event:
        tried.step, tried.elements = event["begin"], event.get("elements", 0)
    elif "result" in event:
        tried.slabs = _slabs(event["result"])
    else:
        for name, value in event.items():
            setattr(tried, name, value)


def _slabs(found: Mapping[str, Any]) -> ResultSlabs:
    def slab(each: Mapping[str, Any]) -> Slab:
        return Slab(each["offset"], each["dtype"], tuple(each["shape"]))

    return ResultSlabs(
        found["length"],
        tuple(map(slab, found["arrays"])),
        tuple(map(slab, found["partials"])),
        slab(found["status"]),
        slab(found["kept"]),
        tuple(found["groups"]),
    )


__all__ = ["Tried", "attempt", "scratch_file"]
