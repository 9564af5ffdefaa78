"""Cells by the lines that Python counts: IPython tells `linecache` more, and loses what ended these.

A page break, or one of Unicode's separators in a comment, ends a line there. Functions are looked for in their text by
their line, and would be found one line further up.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable
from io import StringIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hastega_magic.jupyter.shell import Shell

_ENDS = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
"""What `str.splitlines` ends lines at, and Python does not."""


class _Counted:
    """What a shell calls to make a cell's text known under a name, which it gives."""

    def __init__(self, cache: Callable[..., str]) -> None:
        self.cache = cache

    def __call__(self, transformed_code: str, *more: object, **named: object) -> str:
        name = self.cache(transformed_code, *more, **named)
        _tell(name, transformed_code)
        return name


def install(shell: Shell) -> None:
    """From now on, and for the cells that have run."""
    shell.compile.cache = _Counted(shell.compile.cache)
    texts = shell.history_manager.input_hist_raw
    for name, number in dict(getattr(shell.compile, "_filename_map", {})).items():
        if number < len(texts):
            _tell(name, texts[number])


def remove(shell: Shell) -> None:
    """Leave later cells to IPython."""
    if isinstance(shell.compile.cache, _Counted):
        shell.compile.cache = shell.compile.cache.cache


def _tell(name: str, text: str) -> None:
    if _ENDS.search(text):
        linecache.cache[name] = len(text), None, StringIO(text, newline=None).readlines(), name


__all__ = ["install", "remove"]
