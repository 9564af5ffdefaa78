"""Going through expressions that nest deeper than Python's limit for calls lets our visitors go."""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from hastega_magic.forking import free_when_forking
from hastega_magic.records import dataclass

T = TypeVar("T")

_DEEP = 12000
"""Calls of Python's functions at a time: more than 3500 levels. Python's own compiler goes 3000 deep (3.11) or more."""


@dataclass
class _Raised:
    """The limit is Python's, for all threads: so many need it raised, and it was this before."""

    users: int = 0
    before: int = 0


_RAISED = _Raised()
_turn = free_when_forking(threading.RLock())


def with_deeper_stack(read: Callable[[], T]) -> T:
    """What `read` gives, which is called once more where the usual limit is reached; RecursionError beyond any."""
    with suppress(RecursionError):
        return read()
    with _turn:
        if not _RAISED.users:
            _RAISED.before = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_RAISED.before, _DEEP))
        _RAISED.users += 1
    try:
        return read()
    finally:
        with _turn:
            _RAISED.users -= 1
            if not _RAISED.users:
                sys.setrecursionlimit(_RAISED.before)


def calls_left() -> int:
    """How many calls deeper Python's limit lets go from here."""
    frame, depth = inspect.currentframe(), 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    return sys.getrecursionlimit() - depth


__all__ = ["calls_left", "with_deeper_stack"]
