"""Cells that await something: Ctrl-C where they compute.

While such a cell runs, ipykernel's handler hands Ctrl-C to the event loop, which cancels what the cell waits for, and
which is not asked before the cell does wait: a loop that runs just then would run to its end.
"""

from __future__ import annotations

import _signal  # pyright: ignore[reportMissingModuleSource]
import signal
import threading
from collections.abc import Awaitable, Callable
from types import CoroutineType, FrameType
from typing import Any, TypeVar

from hastega_magic.compiler.trampoline import stepped

T = TypeVar("T")

_Handler = Callable[[int, FrameType | None], Any]


def hearing(cell: CoroutineType[Any, Any, T]) -> Awaitable[T]:
    """What the cell gives. Ctrl-C raises KeyboardInterrupt where it computes, and is the loop's where it waits."""
    return stepped(cell, _computed)


def _computed(step: Callable[[], object]) -> object:
    loops = _event_loops()
    if loops is None:
        return step()
    try:
        _signal.signal(signal.SIGINT, signal.default_int_handler)
        return step()
    finally:
        # The cell may have put a handler of its own there; the one that was put there here may raise once more.
        try:
            if _signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                _signal.signal(signal.SIGINT, loops)
        except BaseException:
            if _signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                _signal.signal(signal.SIGINT, loops)
            raise


def _event_loops() -> _Handler | None:
    """The handler of Ctrl-C, if it is ipykernel's for cells that await, and may be changed here."""
    if threading.current_thread() is not threading.main_thread():
        return None
    handler = signal.getsignal(signal.SIGINT)
    of = str(getattr(handler, "__module__", None)).partition(".")[0]
    return handler if callable(handler) and of == "ipykernel" else None


__all__ = ["hearing"]
