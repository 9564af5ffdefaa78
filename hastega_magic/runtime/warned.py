"""Warnings of what is called from here name the user's line, as those of a Python loop would.

A NumPy function takes the innermost Python line as the one that called it. Where it is given to a stage, that one is
ours, and `runtime/python.py:76: RuntimeWarning: divide by zero encountered in log` tells a user nothing.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, TextIO

from hastega_magic.errors import PACKAGE

Place = tuple[str, int]
"""A file and a line."""


@contextmanager
def warned_at(namespace: dict[str, Any], place: Callable[[], Place | None]) -> Generator[None]:
    """Show warnings that name a line of ours at `place`; without one, at the innermost line of the namespace's code.

    What is shown once from each line is shown once from each of the user's cells then, not once from ours.
    """
    before = warnings.showwarning
    shown: list[dict[Any, Any]] = []

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if filename.startswith(PACKAGE):
            shown.append(_registry(filename))
            filename, lineno = place() or _line_of(namespace) or (filename, lineno)
        before(message, category, filename, lineno, file, line)

    warnings.showwarning = show
    try:
        yield
    finally:
        if warnings.showwarning is show:  # and nobody wants them to be shown in yet another way
            warnings.showwarning = before
        for registry in shown:
            registry.clear()


def _registry(filename: str) -> dict[Any, Any]:
    """What is known to have been shown from the innermost frame of the file."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename != filename:
        frame = frame.f_back
    found: dict[Any, Any] | None = None if frame is None else frame.f_globals.get("__warningregistry__")
    return {} if found is None else found


def _line_of(namespace: dict[str, Any]) -> Place | None:
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals is not namespace:
        frame = frame.f_back
    return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)


__all__ = ["Place", "warned_at"]
