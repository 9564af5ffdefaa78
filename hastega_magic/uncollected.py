"""Garbage collection that waits while modules are imported.

What imports make stays: modules, functions, classes. Every few thousand of them would be a reason to look for garbage,
among all that the process holds: 30 to 47 ms in the first cell of a kernel (two cores of an AMD EPYC, 2026-11-26).
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Generator[None]:
    """In the block, which runs nothing of the user's, no garbage is looked for.

    Where modules were imported, what is there at its end counts as old.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    known = len(sys.modules)
    try:
        yield
    finally:
        # Where some are frozen, somebody wants these to be left out. Counting them takes a while where they are many.
        if len(sys.modules) != known and not gc.get_freeze_count():
            # All generations go to the oldest one, where two collections would bring what is new, too.
            gc.freeze()
            gc.unfreeze()
        gc.enable()


__all__ = ["uncollected"]
