"""Ctrl-C, which a notebook sends to a whole group of processes: also to those that a driver has begun.

PoCL links kernels in processes of their own, and aborts ours where one of them is interrupted. And once it has
compiled, the LLVM in it answers Ctrl-C in place of Python: it removes the files that it works on, and what is linked
is gone.

In a finaliser (`__del__`) Python prints it and goes on: nothing inside can help, for it may come before the first
statement. Objects of llvmlite have one, and so have the pages of our results.
"""

from __future__ import annotations

import _signal  # pyright: ignore[reportMissingModuleSource]
import _thread
import ctypes
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from hastega_magic.frames import signal_behind

T = TypeVar("T")

_CTRL_C = frozenset({signal.SIGINT})
_HAS_MASKS = hasattr(signal, "pthread_sigmask")

_get = ctypes.pythonapi.PyOS_getsig
_get.argtypes, _get.restype = [ctypes.c_int], ctypes.c_void_p
_set = ctypes.pythonapi.PyOS_setsig
_set.argtypes, _set.restype = [ctypes.c_int, ctypes.c_void_p], ctypes.c_void_p


def leave_to_others() -> None:
    """This thread takes no Ctrl-C from now on, and neither does a process or thread that it begins."""
    if _HAS_MASKS:
        signal.pthread_sigmask(signal.SIG_BLOCK, _CTRL_C)


def held_back(do: Callable[[], T]) -> T:
    """What `do` gives; meanwhile it is the same. Whoever answers Ctrl-C, of the process, does so afterwards too.

    Another thread may take the signal, and handlers may raise wherever Python looks for signals: behind each call, and
    where a function of Python's begins, as those of `signal` are. So this is no context, whose end is one; what puts
    back is C's, and comes first.
    """
    if not _HAS_MASKS:
        return do()
    before, answers = _signal.pthread_sigmask(signal.SIG_BLOCK, ()), _get(signal.SIGINT)
    try:
        _signal.pthread_sigmask(signal.SIG_BLOCK, _CTRL_C)
        return do()
    finally:
        try:
            _set(signal.SIGINT, answers)
        finally:
            _signal.pthread_sigmask(signal.SIG_SETMASK, before)


_AFTER = 0.002
"""Seconds after which a finaliser is over, and its caller goes on."""


class heard:  # noqa: N801  a context manager, which is made for each cell, and some take microseconds
    """Ctrl-C that came in a finaliser comes again behind it, at the latest at the end of the block.

    So does another signal whose handler raised something.
    """

    __slots__ = ("_before", "_inside", "_swallowed", "_thread")

    def __enter__(self) -> None:
        """On the main thread, to which Python hands signals."""
        self._thread = threading.main_thread().ident
        self._inside = self._thread == _thread.get_ident()
        self._swallowed: list[tuple[int, BaseException]] = []
        if self._inside:
            self._before = sys.unraisablehook
            sys.unraisablehook = self

    def __exit__(self, *raised: object) -> None:
        """What comes from here on is raised where it comes."""
        if self._inside:
            self._inside = False
            if sys.unraisablehook is self:
                sys.unraisablehook = self._before
            if self._swallowed:
                try:
                    _, error = self._swallowed.pop()
                except IndexError:  # it has come again
                    return
                raise error

    def __call__(self, told: sys.UnraisableHookArgs, /) -> object:
        """Be told of what a finaliser raised."""
        interrupted = issubclass(told.exc_type, KeyboardInterrupt)
        number = signal.SIGINT if interrupted else signal_behind(told.exc_value)
        if number is None:
            return self._before(told)
        self._swallowed.append((number, told.exc_value or told.exc_type()))
        return _thread.start_new_thread(self._again, ())  # here it would be in the finaliser still

    def _again(self) -> None:
        time.sleep(_AFTER)
        with suppress(IndexError):  # it was raised at the end
            number, error = self._swallowed.pop()
            if not callable(signal.getsignal(number)):  # a handler for one time
                self._swallowed.append((number, error))
            elif self._thread is not None and hasattr(signal, "pthread_kill"):
                signal.pthread_kill(self._thread, number)  # also a call that waits hears it
            else:
                _thread.interrupt_main(signal.Signals(number))


__all__ = ["heard", "held_back", "leave_to_others"]
