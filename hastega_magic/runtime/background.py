"""What other threads make: what can be done without for now, and what takes so long that Ctrl-C should not wait."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from hastega_magic.frames import reraise_signal
from hastega_magic.interrupts import begin, others_answered, put_off
from hastega_magic.runtime.signals import leave_to_others

Made = TypeVar("Made")


class Later(Generic[Made]):
    """Something that `make` makes. It is not made again in a process that is forked after that."""

    def __init__(self, make: Callable[[], Made]) -> None:
        self._make = make
        self._asked = False
        self.made: Made | None = None
        """None until it is there."""
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)

    def ask(self) -> Made | None:
        """It, if it is there; otherwise it will be, soon."""
        if self.made is None and not self._asked:
            self._asked = True
            # Not a daemon: a process must not end while a compiler works in it.
            maker = threading.Thread(target=self._run, name="hastega_later")
            try:
                begin(maker)
            except RuntimeError as error:  # none can be begun now, or the process ends
                self._asked = False
                reraise_signal(error)
            except BaseException:
                self._asked = maker.ident is not None
                raise
        return self.made

    def _run(self) -> None:
        self.made = self._make()

    def _forked(self) -> None:
        self._asked = False  # threads are not copied


_TICK = 0.05
_STACK = (
    1 << 26
)  # LLVM goes through deep expressions by recursion, and a thread may have less than the first one


def made_aside(make: Callable[[], Made]) -> Made:
    """What `make` returns or raises, called by a thread of its own; an interrupt comes while that is waited for.

    The thread then goes on alone, and nobody gets what it makes. Where no thread can be begun, this one makes it.
    """
    made: SimpleQueue[Made] = SimpleQueue()
    raised: SimpleQueue[BaseException] = SimpleQueue()

    def whole() -> None:
        leave_to_others()
        try:
            made.put(make())
        except BaseException as error:  # raised where it is waited for
            raised.put(error)

    maker = threading.Thread(target=whole, name="hastega_aside")  # no daemon either
    try:
        begin(maker, _STACK)
    except (RuntimeError, ValueError) as error:
        reraise_signal(error)
        return make()
    while True:
        try:
            return made.get(timeout=_TICK)
        except Empty:
            if not raised.empty():
                raise raised.get() from None


def undisturbed(make: Callable[[], Made]) -> Made:
    """What `make` returns. No signal's handler raises between its operations: some of llvmlite's free memory.

    Ctrl-C is put off. Where other signals have handlers, which limit time, another thread makes it.
    """
    return made_aside(make) if others_answered() else put_off(make)


__all__ = ["Later", "made_aside", "undisturbed"]
