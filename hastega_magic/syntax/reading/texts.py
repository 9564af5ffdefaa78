"""The texts that functions stand in: of files as Python has read them, and of cells by the lines that Python counts."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator
from io import StringIO

_ENDS = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
"""What `str.splitlines` ends lines at, and Python does not."""

_cells: dict[str, str] = {}
"""The texts of cells that hold such, by file name: `linecache`, of which tracebacks are made, has blanks there."""


def has_ends(text: str) -> bool:
    """Whether others count more lines in a text than Python does."""
    return _ENDS.search(text) is not None


def make_known(filename: str, text: str) -> None:
    """Let `linecache` have a cell's text, by Python's lines for whoever counts them in another way, too.

    Of a name that is a file's the text stays as it is.
    """
    known = linecache.cache.get(filename)
    if known is not None and known[1:2] != (None,):
        return
    _cells.pop(filename, None)
    if has_ends(text):
        _cells[filename] = text
    lines = StringIO(_ENDS.sub(" ", text), newline=None).readlines()
    linecache.cache[filename] = len(text), None, lines, filename


def texts_of(filename: str) -> Iterator[str]:
    """The text as Python has read it before, and as it is now: a module may be read anew. Nothing of an unknown one."""
    known = _cells.get(filename) or "".join(linecache.getlines(filename))
    if not known:
        return
    yield known
    linecache.checkcache(filename)
    now = "".join(linecache.getlines(filename))
    if now not in {"", known}:
        yield now


__all__ = ["has_ends", "make_known", "texts_of"]
