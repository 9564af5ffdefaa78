"""Cells that await something: Ctrl-C where they compute.

While such a cell runs, ipykernel's handler hands Ctrl-C to the event loop, which cancels what the cell waits for, and
which is not asked before the cell does wait: a loop that runs just then would run to its end.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Coroutine, Generator
from functools import partial
from types import FrameType, coroutine
from typing import Any, TypeVar

T = TypeVar("T")

_Handler = Callable[[int, FrameType | None], Any]


@coroutine
def hearing(cell: Coroutine[Any, Any, T]) -> Generator[Any, Any, T]:
    """What the cell gives. Ctrl-C raises KeyboardInterrupt where it computes, and is the loop's where it waits."""
    step: Callable[[], Any] = partial(cell.send, None)
    while True:
        loops = _event_loops()
        try:
            if loops is not None:
                signal.signal(signal.SIGINT, signal.default_int_handler)
            awaited = step()
        except StopIteration as done:
            return done.value
        finally:
            # The cell may have put a handler of its own there.
            if loops is not None and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                signal.signal(signal.SIGINT, loops)
        try:
            sent = yield awaited
        except BaseException as error:
            step = partial(cell.throw, error)
        else:
            step = partial(cell.send, sent)


def _event_loops() -> _Handler | None:
    """The handler of Ctrl-C, if it is ipykernel's for cells that await, and may be changed here."""
    if threading.current_thread() is not threading.main_thread():
        return None
    handler = signal.getsignal(signal.SIGINT)
    of = str(getattr(handler, "__module__", None)).partition(".")[0]
    return handler if callable(handler) and of == "ipykernel" else None


__all__ = ["hearing"]
