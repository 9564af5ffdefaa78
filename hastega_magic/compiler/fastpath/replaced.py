"""Whether Python's own functions are in place: this package calls them too, and computes addresses by what they give.

builtins.range = lambda *bounds: [1, 2]      Python runs ordinary code, as long as that is so
"""

from __future__ import annotations

import builtins
from operator import itemgetter

REPLACED = "a builtin function is another than Python's own"

_FUNCTIONS = itemgetter("range", "zip", "enumerate", "len", "sum", "min", "max", "map")
"""Those that decide how much is read and written; to look at all would take as long as a short run."""

_BUILTINS = vars(builtins)
_OWN: tuple[object, ...] = _FUNCTIONS(_BUILTINS)


def are_in_place() -> bool:
    """Whether all of them are what they were when this package was loaded."""
    try:
        return _FUNCTIONS(_BUILTINS) == _OWN
    except KeyError:  # one was deleted
        return False


__all__ = ["REPLACED", "are_in_place"]
