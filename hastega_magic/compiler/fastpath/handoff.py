"""Values that rewritten code has evaluated, until the call or Python's own code, whichever runs, takes them.

Nothing else of the thread runs in between but what interrupts it, which takes what it has laid itself.
"""

from __future__ import annotations

import threading

from hastega_magic.syntax.ordinary.beside import MOST_LAID


class _Laid(threading.local):
    """Those of a thread, the next one last."""

    def __init__(self) -> None:
        self.values: list[object] = []


_LAID = _Laid()


_MOST = 4 * MOST_LAID
"""No more are waited for: those below are of code that an interrupt ended."""


def lay(given: tuple[object, ...]) -> None:
    """Lay values down; they are taken from the first on."""
    values = _LAID.values
    if len(values) > _MOST:
        del values[:-_MOST]
    values += given if len(given) == 1 else given[::-1]


def taken() -> object:
    """The next value, which is let go of here."""
    return _LAID.values.pop()


__all__ = ["lay", "taken"]
