"""Ctrl-C, put off until something is done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def put_off() -> Generator[None]:
    """Python answers Ctrl-C at the end, not between two operations of the block, whichever thread it reached."""
    answer = signal.getsignal(signal.SIGINT)
    if not callable(answer) or threading.current_thread() is not threading.main_thread():
        yield  # nobody is interrupted, or nobody here
        return
    came: list[FrameType | None] = []
    try:
        signal.signal(signal.SIGINT, lambda _, frame: came.append(frame))
        yield
    finally:
        try:
            signal.signal(signal.SIGINT, answer)
        except BaseException:  # of the handler of another signal
            signal.signal(signal.SIGINT, answer)
            raise
        if came:
            answer(signal.SIGINT, came[0])


__all__ = ["put_off"]
