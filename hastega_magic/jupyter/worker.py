"""A piece of work in a thread of its own, which can be cancelled: the front end stays alive meanwhile."""

from __future__ import annotations

import contextvars
import ctypes
import threading
import time
from collections.abc import Callable

from hastega_magic.interrupts import begin
from hastega_magic.progress import Cancelled, Listener, listening

_AGAIN = 0.5
"""Seconds after which Cancelled is raised again in a thread that goes on: work has long ended by then."""


class Worker:
    """Runs one piece of work; `done` is called in the worker's thread at its end, with what was raised, or None.

    Cancelling raises Cancelled in the thread, as Ctrl-C raises KeyboardInterrupt in the main one. What is raised in a
    callback of the garbage collector, or in `__del__`, is lost, so who waits raises it again.
    """

    def __init__(
        self, work: Callable[[], None], listener: Listener, done: Callable[[BaseException | None], None]
    ) -> None:
        """Start at once."""
        self._work = work
        self._listener = listener
        self._done = done
        self._lock = threading.Lock()
        self._open, self._asked, self._raised = True, False, 0.0
        context = contextvars.copy_context()
        self._thread = threading.Thread(
            target=context.run, args=(self._run,), name="hastega-worker", daemon=True
        )
        begin(self._thread)

    @property
    def running(self) -> bool:
        """Whether the thread is alive."""
        return self._thread.is_alive()

    def cancel(self) -> None:
        """Ask the work to end; it does so within 50 ms where native code runs, and at the next line of Python."""
        with self._lock:
            self._asked = True
            now, number = time.monotonic(), self._thread.ident
            if self._open and number is not None and (not self._raised or now - self._raised >= _AGAIN):
                self._raised = now
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(number), ctypes.py_object(Cancelled)
                )

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end; False if it has not come by then."""
        end = None if seconds is None else time.monotonic() + seconds
        while self.running and (end is None or time.monotonic() < end):
            self._thread.join(_AGAIN if end is None else min(_AGAIN, max(0.0, end - time.monotonic())))
            if self._asked:
                self.cancel()
        return not self.running

    def _run(self) -> None:
        raised: BaseException | None = None
        try:
            try:
                with listening(self._listener):
                    self._work()
            finally:
                with (
                    self._lock
                ):  # from here on nobody cancels, and what was sent before arrives within these lines
                    self._open = False
        except BaseException as error:
            raised = error
        self._done(raised)


__all__ = ["Worker"]
