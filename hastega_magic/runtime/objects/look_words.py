"""The words of what a look of native code knows (`looking.py`), which are there before there is such code."""

from __future__ import annotations

from array import array

RUNS, STATE, FEW, COUNT, PLACES, WORTH, PAUSE = 0, 1, 2, 3, 4, 8, 9
"""How often there were few elements; what is common to all looks; how many are few; how many arguments are looked at,
and which; what is asked where there are more; how many more looks are answered, and counted, as if there were few."""

MOST_PLACES = WORTH - PLACES


def counter() -> array[int]:
    """The words, all zero."""
    return array("q", bytes(8 * (PAUSE + 1)))


__all__ = ["COUNT", "FEW", "MOST_PLACES", "PAUSE", "PLACES", "RUNS", "STATE", "WORTH", "counter"]
