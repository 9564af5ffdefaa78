"""Ctrl-C, put off until something is done; and whether other signals may come meanwhile."""

from __future__ import annotations

import _signal  # pyright: ignore[reportMissingModuleSource]
import _thread
import os
import signal
import threading
from collections.abc import Callable
from queue import SimpleQueue
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


_OTHERS = tuple(signal.valid_signals() - {signal.SIGINT})


def others_answered() -> bool:
    """Whether a handler of another signal than Ctrl-C may raise something here, as one that limits time does."""
    here = threading.current_thread() is threading.main_thread()
    return here and any(map(callable, map(_signal.getsignal, _OTHERS)))


def begin(thread: threading.Thread, stack: int | None = None) -> None:
    """Start the thread, with so many bytes of stack; Ctrl-C comes behind that, and what other signals raise.

    In `Thread.start` Python would make another error of it at some places, and leave a lock taken at others that the
    thread waits for: the process would never end. Other signals are answered while yet another thread starts it.
    """
    if not others_answered():
        return put_off(lambda: _start(thread, stack))
    ends: SimpleQueue[BaseException | None] = SimpleQueue()

    def start() -> None:
        try:
            _start(thread, stack)
        except BaseException as error:  # raised where it is waited for
            ends.put(error)
        else:
            ends.put(None)

    _thread.start_new_thread(start, ())
    if (error := ends.get()) is not None:
        raise error
    return None


def _start(thread: threading.Thread, stack: int | None) -> None:
    if stack is None:
        return thread.start()
    with _STACKS:  # another would take this size for the usual one
        before = threading.stack_size()
        try:
            threading.stack_size(stack)
            return thread.start()
        finally:
            threading.stack_size(before)


_STACKS = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_STACKS.acquire, after_in_parent=_STACKS.release, after_in_child=_STACKS.release
    )


__all__ = ["begin", "others_answered", "put_off"]
