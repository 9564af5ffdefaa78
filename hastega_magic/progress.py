"""How far long work has come: what runtime and compiler tell, and a notebook may show.

    with task("parallel", total=n) as work:        with listening(bar):
        work.at(done)                                  ... the cell ...

Nobody need listen; telling then costs next to nothing. A listener hears nothing until the work that it listens to
has lasted `AFTER` seconds, and then one task at a time: the outermost, with what the inner ones have done of its
present step. Work is cancelled as Python cancels: by an exception in the thread that does it (KeyboardInterrupt, or
`Cancelled` from another thread), which native code looks out for at least every 50 ms.
"""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol, Self

from hastega_magic.forking import held_while_forking
from hastega_magic.interrupts import begin

AFTER = 0.5
"""Seconds before which nothing is shown."""

EVERY = 0.1
"""Seconds from one picture to the next."""

_BLIND = 0.3
"""Work that cannot tell how far it is, and takes less than so many seconds, needs no clock."""


class Cancelled(KeyboardInterrupt):
    """Somebody no longer wants the result of the work."""


class Listener(Protocol):
    """What shows progress, as a bar does."""

    def show(self, task: Task) -> None:
        """Show the task as it is now; from the thread that works, or one that watches the clock for it."""
        ...

    def close(self) -> None:
        """All work is done, or was given up: show nothing any more. Called only after `show`."""
        ...


class _Watch:
    """A listener, and when it is to hear of the work again."""

    def __init__(self, listener: Listener) -> None:
        self.listener = listener
        self.next = time.perf_counter() + AFTER
        self.shown = self.closed = False
        self.lock = held_while_forking(threading.Lock())

    def hear(self, task: Task) -> None:
        now = time.perf_counter()
        if now < self.next:
            return
        with self.lock:
            if not self.closed:
                self.next, self.shown = now + EVERY, True
                self.listener.show(task)

    def close(self) -> None:
        with self.lock:
            self.closed = True
            if self.shown:
                self.listener.close()


_WATCH: contextvars.ContextVar[_Watch | None] = contextvars.ContextVar("watch", default=None)
_TASK: contextvars.ContextVar[Task | None] = contextvars.ContextVar("task", default=None)


@contextmanager
def listening(listener: Listener | None) -> Generator[None]:
    """Let the listener (None: nobody) hear of what this thread does in the block."""
    watch = None if listener is None else _Watch(listener)
    token = _WATCH.set(watch)
    try:
        yield
    finally:
        _WATCH.reset(token)
        if watch is not None:
            watch.close()


class Task:
    """Work of `total` parts, of which `done` are finished."""

    def __init__(self, label: str, total: int) -> None:
        """`label`: one or two words."""
        self.label = label
        self.total = total
        self.done = 0.0
        self.inner: Task | None = None
        self._furthest = 0.0
        self._outer = _TASK.get()
        self._watch = _WATCH.get()

    @property
    def fraction(self) -> float:
        """How much of the work is done, from 0 to 1; a task inside counts as one part of this one.

        Never less than before: of several tasks inside one part, each begins at nothing.
        """
        part = 0.0 if self.inner is None else self.inner.fraction
        now = min(1.0, (self.done + part) / self.total) if self.total > 0 else 0.0
        self._furthest = max(self._furthest, now)
        return self._furthest

    @property
    def path(self) -> str:
        """The labels of this task and of those inside."""
        return self.label if self.inner is None else f"{self.label}: {self.inner.path}"

    def at(self, done: float) -> None:
        """So many parts are finished (never fewer than before)."""
        self.done = max(self.done, done)
        if self._watch is not None:
            self._watch.hear(self._root())

    @contextmanager
    def during(self, seconds: float, until: float) -> Generator[None]:
        """Work that cannot tell how far it is: it is expected to take some seconds, and then `until` parts are done."""
        if self._watch is None or seconds < _BLIND:
            yield
        else:
            over = threading.Event()
            context = contextvars.copy_context()  # front ends know by it which cell an output belongs to
            clock = threading.Thread(
                target=context.run,
                args=(self._clock, over, seconds, until),
                name="hastega-clock",
                daemon=True,
            )
            try:
                begin(clock)
                yield
            finally:
                over.set()
                if clock.ident is not None:
                    clock.join()
        self.at(until)

    def _clock(self, over: threading.Event, seconds: float, until: float) -> None:
        assert self._watch is not None
        began, first = time.perf_counter(), self.done
        while not over.wait(EVERY) and not self._watch.closed:
            # An estimate that was too short stands still just below the end.
            share = min(0.99, (time.perf_counter() - began) / seconds)
            self.at(first + share * (until - first))

    def _root(self) -> Task:
        found = self
        while found._outer is not None:
            found = found._outer
        return found

    def __enter__(self) -> Self:
        if self._watch is not None:
            self._token = _TASK.set(self)
            if self._outer is not None:
                self._outer.inner = self
            self._watch.hear(self._root())
        return self

    def __exit__(self, *error: object) -> None:
        if self._watch is not None:
            _TASK.reset(self._token)
            if self._outer is not None:
                self._outer.inner = None


def task(label: str, total: int) -> Task:
    """Work of `total` parts, as a context: it ends with the block."""
    return Task(label, total)


__all__ = ["AFTER", "EVERY", "Cancelled", "Listener", "Task", "listening", "task"]
