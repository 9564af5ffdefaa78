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
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from itertools import compress, repeat
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


def with_signals(do: Callable[[], T]) -> T:
    """What `do` gives. Ctrl-C that came in a finaliser meanwhile comes again behind it, at the latest at the end.

    So does another signal whose handler raised something.
    """
    main = threading.main_thread().ident  # to which Python hands signals
    if main is None or main != _thread.get_ident():
        return do()
    hook = _Hook(main)
    try:
        sys.unraisablehook = hook
        return do()
    finally:  # what comes from here on is raised where it comes
        if sys.unraisablehook is hook:
            sys.unraisablehook = hook.before
        if hook.swallowed:
            with suppress(IndexError):  # it has come again
                raise hook.swallowed.pop()[1]


class _Hook:
    """Stands in the place of `sys.unraisablehook`."""

    __slots__ = ("_thread", "before", "swallowed")

    def __init__(self, thread: int) -> None:
        self._thread = thread
        self.before = sys.unraisablehook
        self.swallowed: list[tuple[int, BaseException]] = []

    def __call__(self, told: sys.UnraisableHookArgs, /) -> object:
        """Be told of what a finaliser raised."""
        interrupted = issubclass(told.exc_type, KeyboardInterrupt)
        number = signal.SIGINT if interrupted else signal_behind(told.exc_value)
        if number is None:
            return self.before(told)
        self.swallowed.append((number, told.exc_value or told.exc_type()))
        return _thread.start_new_thread(self._again, ())  # here it would be in the finaliser still

    def _again(self) -> None:
        time.sleep(_AFTER)
        with suppress(IndexError):  # it was raised at the end
            number, error = self.swallowed.pop()
            if not _send(self._thread, number):  # a handler for one time
                self.swallowed.append((number, error))


def _send(thread: int, number: int) -> bool:
    """Whether somebody answers this signal; then it is sent.

    Where another thread puts back what was there before, between the two, it would end the process: so asking and
    sending are one step of C's, in which no other thread runs.
    """
    if not hasattr(signal, "pthread_kill"):
        if callable(signal.getsignal(number)):
            _thread.interrupt_main(signal.Signals(number))  # safe by itself
            return True
        return False
    answered = compress((number,), map(callable, map(_signal.getsignal, (number,))))
    # also a call that waits hears it
    return bool(deque(map(signal.pthread_kill, repeat(thread), answered), maxlen=1))


def signal_name(number: int) -> str:
    """What the signal is called, as `SIGSEGV`."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


__all__ = ["held_back", "leave_to_others", "signal_name", "with_signals"]
