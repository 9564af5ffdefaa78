"""Values that rewritten code has evaluated, until the call or Python's own code, whichever runs, takes them.

Nothing else of the thread runs in between but what interrupts it, which takes what it has laid itself. Native code does
both as soon as there is some.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, ClassVar

from hastega_magic.syntax.ordinary.beside import MOST_LAID

if TYPE_CHECKING:
    from hastega_magic.runtime.objects.looking import Looking


class _Laid(threading.local):
    """Those of a thread, the next one last."""

    def __init__(self) -> None:
        self.values: list[object] = []


_LAID = _Laid()

_MOST = 4 * MOST_LAID
"""No more are waited for: those below are of code that an interrupt ended."""


def lay(given: tuple[object, ...]) -> None:
    """Lay values down; they are taken from the first on."""
    if Taking.native is not None:
        Taking.native.lay(*given)
        return
    values = _LAID.values
    if len(values) > _MOST:
        del values[:-_MOST]
    values += given if len(given) == 1 else given[::-1]


def taken() -> object:
    """The next value, which is let go of here."""
    return _before_native() if Taking.native is None else Taking.native.taken()


def _before_native() -> object:
    return _LAID.values.pop()


class Taking:
    """What has `taken` as an attribute, which is native code as soon as there is some."""

    taken: ClassVar[Any] = staticmethod(taken)
    native: ClassVar[Looking | None] = None


def native(make: bool) -> Looking | None:
    """The native code; None where there is none yet, or none at all. `make`: let there be some."""
    if Taking.native is None and make:
        from hastega_magic.runtime.objects.looking import looking

        found = Taking.native = looking(_before_native)
        if found is not None:
            Taking.taken = found.taken
    return Taking.native


__all__ = ["Taking", "lay", "native", "taken"]
