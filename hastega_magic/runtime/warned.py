"""Warnings of what is called from here name the user's line, as those of a Python loop would.

A NumPy function takes the innermost Python line as the one that called it. Where it is given to a stage, that one is
ours, and `runtime/python.py:76: RuntimeWarning: divide by zero encountered in log` tells a user nothing.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any, TextIO

from hastega_magic.errors import PACKAGE

Place = tuple[str, int]
"""A file and a line."""


class _Show:
    """What stands in the place of `warnings.showwarning` while a cell runs.

    It may stay there for longer: where cells end in another order than they began, as in threads, or where the end of a
    `catch_warnings` puts it back. It only hands on what it is given then, and holds nothing of the cell.
    """

    def __init__(self, namespace: dict[str, Any], place: Callable[[], Place | None]) -> None:
        self.before = _living(warnings.showwarning)
        self.place: Callable[[], Place | None] | None = lambda: place() or _line_of(namespace)
        self.shown: list[dict[Any, Any]] = []

    def __call__(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        place = self.place
        if place is not None and filename.startswith(PACKAGE):
            self.shown.append(_registry(filename))
            filename, lineno = place() or (filename, lineno)
        self.before(message, category, filename, lineno, file, line)

    def end(self) -> None:
        """The cell is over: shown as before, unless somebody wants warnings to be shown in yet another way."""
        self.place = None
        warnings.showwarning = _living(warnings.showwarning)
        for registry in self.shown:
            registry.clear()
        self.shown.clear()


def _living(show: Callable[..., Any]) -> Callable[..., Any]:
    """What shows warnings, behind those of cells that are over."""
    while isinstance(show, _Show) and show.place is None:
        show = show.before
    return show


class warned_at:  # noqa: N801  a context, which Ctrl-C finds begun or not, and over or not
    """Show warnings that name a line of ours at `place`; without one, at the innermost line of the namespace's code.

    What is shown once from each line is shown once from each of the user's cells then, not once from ours.
    """

    def __init__(self, namespace: dict[str, Any], place: Callable[[], Place | None]) -> None:
        self._show = _Show(namespace, place)

    def __enter__(self) -> None:
        warnings.showwarning = self._show

    def __exit__(self, *raised: object) -> None:
        self._show.place = None  # whatever comes next, it is known to be over
        self._show.end()


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
