"""Going through expressions that nest deeper than Python's limit for calls lets our visitors go."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_DEEP = 12000
"""Calls of Python's functions at a time: more than 3500 levels. Python's own compiler goes 3000 deep (3.11) or more."""


def with_room(read: Callable[[], T]) -> T:
    """What `read` gives, which is called once more where the usual limit is reached; RecursionError beyond any."""
    try:
        return read()
    except RecursionError:
        limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _DEEP))
    try:
        return read()
    finally:
        sys.setrecursionlimit(limit)


def calls_left() -> int:
    """How many calls deeper Python's limit lets go from here."""
    frame, depth = inspect.currentframe(), 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    return sys.getrecursionlimit() - depth


__all__ = ["calls_left", "with_room"]
