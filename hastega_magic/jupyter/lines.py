"""Cells by the lines that Python counts: IPython tells `linecache` more, and loses what ended these.

A page break, or one of Unicode's separators in a comment, ends a line there. Functions are looked for in their text by
their line, and would be found one line further up.
"""

from __future__ import annotations

import linecache
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

from hastega_magic.syntax.reading.texts import has_ends, make_known

if TYPE_CHECKING:
    from hastega_magic.jupyter.shell import Shell


class _Counted:
    """What a shell calls to make a cell's text known under a name, which it gives."""

    def __init__(self, cache: Callable[..., str]) -> None:
        self.cache = cache

    def __call__(self, transformed_code: str, *more: object, **named: object) -> str:
        name = self.cache(transformed_code, *more, **named)
        if has_ends(transformed_code):
            make_known(name, transformed_code)
        return name


class _Named:
    """A kernel's names of cells: made of the text alone, byte by byte in Python; cells of ours need theirs twice."""

    def __init__(self, name: Callable[[str, str, int], str]) -> None:
        self.name = name
        self._last: tuple[str, str] | None = None

    def __call__(self, raw_code: str, transformed_code: str, number: int) -> str:
        if self._last is None or self._last[0] != raw_code:
            self._last = raw_code, self.name(raw_code, transformed_code, number)
        return self._last[1]


def install(shell: Shell) -> None:
    """From now on, and for the cells of the history."""
    compiler = shell.compile
    compiler.cache = _Counted(compiler.cache)
    if type(compiler).__module__ == "ipykernel.compiler":
        compiler.get_code_name = _Named(compiler.get_code_name)
    for number, raw in enumerate(shell.history_manager.input_hist_raw):
        if has_ends(raw):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # they were given when the cell ran
                text = shell.transform_cell(raw)
            name = compiler.get_code_name(raw, text, number)
            if name in linecache.cache:
                make_known(name, text)


def remove(shell: Shell) -> None:
    """Leave later cells to IPython."""
    compiler = shell.compile
    if isinstance(compiler.cache, _Counted):
        compiler.cache = compiler.cache.cache
    if isinstance(compiler.get_code_name, _Named):
        compiler.get_code_name = compiler.get_code_name.name


__all__ = ["install", "remove"]
