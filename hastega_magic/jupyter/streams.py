"""A kernel's streams: flushed only where they hold something, and what C code has written waited for."""

from __future__ import annotations

import select
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TextIO

_A_MOMENT, _MOMENTS = 1e-4, 20
"""Seconds in which a waiting thread gets the interpreter, and how often it may need them."""

_AT_REST = 5
"""So many of these without work: one that had some may wait for a processor, too."""


@contextmanager
def flushing_what_waits() -> Generator[None]:
    """What flushes a kernel's streams waits for its other thread each time: 0.4 to 1 ms of a cell, also for nothing."""
    streams = [each for each in (sys.stdout, sys.stderr) if _tells(each)]
    for each in streams:
        vars(each).setdefault("flush", partial(_flush, vars(each), each.flush))
    try:
        yield
    finally:
        for each in streams:
            vars(each).pop("flush", None)


class Readers:
    """The threads through which comes what C code and other programs write to the streams' files."""

    def __init__(self) -> None:
        self._before = _worked()

    def wait(self) -> None:
        """Let them come to rest where one has something: it may wait for the interpreter, which this thread has."""
        rested = _AT_REST - 1  # nothing came since the cell began
        for _ in range(_MOMENTS):
            unread = _unread()  # first: what has been taken by then, a clock tells of
            before, self._before = self._before, _worked()
            rested = rested + 1 if self._before == before and not unread else 0
            if rested == _AT_REST and None not in before:
                break
            time.sleep(_A_MOMENT)
            if None in before:
                break


def _worked() -> list[float | None]:
    """Seconds that each of the threads has worked so far; None where the system does not tell."""
    return [_cpu_seconds(getattr(each, "watch_fd_thread", None)) for each in _watched()]


def _cpu_seconds(thread: object) -> float | None:
    clock_of = getattr(time, "pthread_getcpuclockid", None)
    # Of a thread that has ended, the system would look into memory that is gone.
    if clock_of is None or not getattr(thread, "is_alive", bool)():
        return None
    try:
        return time.clock_gettime(clock_of(getattr(thread, "ident", 0)))
    except OSError:
        return None


def _unread() -> bool:
    """Whether something was written that no thread has taken yet."""
    pipes = [file for each in _watched() if type(file := getattr(each, "_fid", None)) is int]
    try:
        return bool(select.select(pipes, (), (), 0)[0])
    except (OSError, ValueError):
        return True


def _watched() -> list[TextIO]:
    return [each for each in (sys.stdout, sys.stderr) if getattr(each, "_should_watch", False)]


def _tells(stream: object) -> bool:
    """Whether it is a stream of ipykernel's, which tells what it holds, and nobody has changed how it is flushed."""
    fields = getattr(stream, "__dict__", {})
    return "_flush_pending" in fields and "_buffers" in fields and "flush" not in fields


def _flush(fields: Mapping[str, object], flush: Callable[[], None]) -> None:
    if fields["_flush_pending"] or fields["_buffers"]:
        flush()


__all__ = ["Readers", "flushing_what_waits"]
