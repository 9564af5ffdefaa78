"""A piece of work in a thread of its own, which can be cancelled: the front end stays alive meanwhile."""

from __future__ import annotations

import contextvars
import ctypes
import threading
from collections.abc import Callable

from hastega_magic.interrupts import begin
from hastega_magic.progress import Cancelled, Listener, listening


class Worker:
    """Runs one piece of work; `done` is called in the worker's thread at its end, with what was raised, or None.

    Cancelling raises Cancelled in the thread, as Ctrl-C raises KeyboardInterrupt in the main one.
    """

    def __init__(
        self, work: Callable[[], None], listener: Listener, done: Callable[[BaseException | None], None]
    ) -> None:
        """Start at once."""
        self._work = work
        self._listener = listener
        self._done = done
        self._lock = threading.Lock()
        self._open = True
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
            if self._open and self._thread.ident is not None:
                self._open = False
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(self._thread.ident), ctypes.py_object(Cancelled)
                )

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end; False if it has not come by then."""
        self._thread.join(seconds)
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
