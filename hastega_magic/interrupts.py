"""Ctrl-C, put off until something is done."""

from __future__ import annotations

import _signal  # pyright: ignore[reportMissingModuleSource]
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

T = TypeVar("T")


def put_off(do: Callable[[], T]) -> T:
    """What `do` gives. Python answers Ctrl-C behind it, not between two of its operations, whichever thread it reached.

    No context: Python may answer other signals where the end of one begins, and Ctrl-C would be put off for good.
    """
    answer = _signal.getsignal(signal.SIGINT)
    if not callable(answer) or threading.current_thread() is not threading.main_thread():
        return do()  # nobody is interrupted, or nobody here
    came: dict[int, FrameType | None] = {}
    try:
        _signal.signal(signal.SIGINT, came.__setitem__)  # C's: no other handler interrupts it
        return do()
    finally:
        try:
            _signal.signal(signal.SIGINT, answer)
        except BaseException:  # of the handler of another signal
            _signal.signal(signal.SIGINT, answer)
            raise
        finally:
            if came:
                answer(signal.SIGINT, came[signal.SIGINT])


def begin(thread: threading.Thread) -> None:
    """Start the thread; Ctrl-C comes behind that.

    In `Thread.start` Python would make a RuntimeError of it at some places, and leave a lock taken at others that the
    thread waits for: the process would never end.
    """
    put_off(thread.start)


__all__ = ["begin", "put_off"]
