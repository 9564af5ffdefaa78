"""Two things that run at once, and how long they take: a roofline with its corner rounded.

3 ms of arithmetic, 1 ms of memory     3.01 ms       the longer one hides the other
3 ms of arithmetic, 3 ms of memory     3.57 ms       two alike hinder each other a little
"""

from __future__ import annotations

_SHARP = 4.0
"""The exponent: the higher, the less they hinder each other."""

DIVIDER = frozenset({"divide", "root"})
"""Classes of operations that a CPU computes in a unit of its own, slowly, while all others go on."""


def overlapped(one: float, other: float) -> float:
    """The time of two things that run at once and hinder each other a little."""
    most, least = max(one, other), min(one, other)
    return most if most <= 0 else most * (1 + (least / most) ** _SHARP) ** (1 / _SHARP)


def overlapping(together: float, other: float) -> float:
    """The one time of two that run at once; where the other hides it, half of the other: nothing is known then."""
    rest = together**_SHARP - other**_SHARP
    return max(rest ** (1 / _SHARP), other / 2) if rest > 0 else other / 2


def parts(one: float, other: float) -> tuple[float, float]:
    """What a second of each adds to their time together: `one * a + other * b` is `overlapped(one, other)`."""
    together = overlapped(one, other)
    if together <= 0:
        return 1.0, 1.0
    return (one / together) ** (_SHARP - 1), (other / together) ** (_SHARP - 1)


__all__ = ["DIVIDER", "overlapped", "overlapping", "parts"]
