"""Ctrl-C, which a notebook sends to a whole group of processes: also to those that a driver has begun.

PoCL links kernels in processes of their own, and aborts ours where one of them is interrupted. And once it has
compiled, the LLVM in it answers Ctrl-C in place of Python: it removes the files that it works on, and what is linked
is gone.
"""

from __future__ import annotations

import ctypes
import signal
from collections.abc import Generator
from contextlib import contextmanager

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


@contextmanager
def held_back() -> Generator[None]:
    """The same until the end. Whoever answers Ctrl-C, of the process, does so afterwards too."""
    if not _HAS_MASKS:
        yield
        return
    before, answers = signal.pthread_sigmask(signal.SIG_BLOCK, _CTRL_C), _get(signal.SIGINT)
    try:
        yield
    finally:
        if _get(signal.SIGINT) != answers:
            _set(signal.SIGINT, answers)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


__all__ = ["held_back", "leave_to_others"]
