"""Questions put to a process of its own, because a broken driver may not only fail but crash, hang, or print."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import IO, Any

from hastega_magic.records import dataclass
from hastega_magic.runtime.signals import signal_name

SECONDS = 60.0
"""How long an answer may take: a first kernel on a slow machine takes a few."""

_START = (
    "import json, sys; job = json.load(sys.stdin); sys.path[:] = job['path']; "
    "from hastega_magic.doctor.child import main; main(job)"
)


@dataclass(frozen=True)
class Answer:
    """What the process said before it ended.

    events   its lines, in order: {"begin": step}, or a step's result (doctor/child.py)
    ended    "", or how it ended before it was done, as a predicate: "crashed (SIGSEGV)"
    errors   the end of what it, or a driver in it, wrote to stderr
    """

    events: tuple[Mapping[str, Any], ...]
    ended: str = ""
    errors: str = ""

    def of(self, name: str) -> tuple[Any, ...]:
        """The values of all events with this key."""
        return tuple(event[name] for event in self.events if name in event)

    @property
    def step(self) -> str:
        """The last step that it began."""
        return str((self.of("begin") or ("start",))[-1])


def ask(what: str, seconds: float = SECONDS, **details: object) -> Answer:
    """Start this interpreter, with this process's `sys.path`, on `what` (a name in doctor/child.py). Raises nothing."""
    if not sys.executable:
        return Answer((), "cannot be started: this Python does not know its own executable")
    job = json.dumps({"what": what, "path": sys.path, **details})
    # Files, not pipes: what a killed process has started may hold a pipe open for ever.
    with (
        tempfile.TemporaryFile() as said,
        tempfile.TemporaryFile() as errors,
        tempfile.TemporaryFile() as asked,
    ):
        asked.write(job.encode())
        asked.seek(0)
        try:
            ended = _run([sys.executable, "-c", _START], seconds, asked, said, errors)
        except OSError as error:
            return Answer((), f"cannot be started: {error}")
        return Answer(_events(_text(said)), ended, _text(errors)[-2000:].strip())


def _run(command: list[str], seconds: float, asked: IO[bytes], said: IO[bytes], errors: IO[bytes]) -> str:
    with subprocess.Popen(command, stdin=asked, stdout=said, stderr=errors) as process:  # noqa: S603  this interpreter
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            return f"did not answer within {seconds:g} s"
        except BaseException:
            process.kill()
            raise
    if status < 0:
        return f"crashed ({signal_name(-status)})"
    return f"ended with status {status}" if status else ""


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")


def _events(text: str) -> tuple[Mapping[str, Any], ...]:
    found: list[Mapping[str, Any]] = []
    for line in text.splitlines():
        try:
            event = json.loads(line)
        except ValueError:  # cut off by the end of the process
            continue
        if isinstance(event, dict):
            found.append(event)  # pyright: ignore[reportUnknownArgumentType]
    return tuple(found)


__all__ = ["SECONDS", "Answer", "ask"]
