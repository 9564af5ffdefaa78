"""Whether NumPy is to tell of errors of floats otherwise than by a warning, as `np.seterr(all="raise")` asks.

Loops say nothing of them; so what has NumPy's numbers, or its functions, is left to NumPy then.
"""

from __future__ import annotations

import numpy as np

from hastega_magic.records import dataclass

_SILENT = frozenset({"ignore", "warn"})


def asks() -> bool:
    """Whether an error is to be raised, printed, logged or given to a function."""
    return not _SILENT.issuperset(np.geterr().values())


@dataclass(frozen=True)
class Asked:
    """What that was when code was made for it."""

    asks: bool

    def holds(self) -> bool:
        """Whether it still is."""
        return asks() is self.asks


__all__ = ["Asked", "asks"]
