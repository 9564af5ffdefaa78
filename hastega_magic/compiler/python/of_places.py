"""What notes tell of an element that is a place, to whoever wrote windows, chunks or rows: which one it is, and what.

element 5 of xs, which is 7, in `window(100) |> map(f)`, which was given (7, 8, 9, ...)
"""

from __future__ import annotations

from typing import Any

from hastega_magic.ir.rows import taken_apart
from hastega_magic.records import dataclass
from hastega_magic.syntax.values.neighbours import Over


@dataclass(frozen=True)
class Place:
    """A place: the number of an element of the source and the element, and what the function over places was given."""

    number: int
    start: object
    given: object


def at_place(function: object, place: Any) -> Place | None:
    """What is at a place that the function is given; None for functions of elements."""
    if isinstance(function, Over):
        given = function.given(place)
        return Place(place * function.step, given[0], given)
    apart = taken_apart(function)
    if apart is None:
        return None
    row = apart[1][place]
    return Place(place, row, row)


__all__ = ["Place", "at_place"]
