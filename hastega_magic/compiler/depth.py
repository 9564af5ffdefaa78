"""Reading texts whose expressions nest deeper than Python's limit for calls lets our visitors go."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

from hastega_magic.errors import CellSyntaxError, Span

T = TypeVar("T")

_DEEP = 12000
"""Calls of Python's functions at a time: more than 3500 levels. Python's own compiler goes 3000 deep (3.11) or more."""


def deeply(read: Callable[[], T], text: str, filename: str) -> T:
    """What `read` makes of a cell's text; CellSyntaxError with a sentence, in place of a recursion error."""
    try:
        return read()
    except RecursionError:
        limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _DEEP))
    try:
        return read()
    except RecursionError:
        sentence = (
            "an expression of this cell nests too deeply; assign a part of the pipeline to a name first"
        )
        raise CellSyntaxError(sentence, text, Span(1, 0, 1, 1), filename) from None
    finally:
        sys.setrecursionlimit(limit)


__all__ = ["deeply"]
