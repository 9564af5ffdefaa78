"""Rows of numbers as captured arrays of a loop: all numbers one after the other, and where each row begins.

[[1, 2], [], [3]]       values 1 2 3, bounds 0 2 2 3
rows |> map(sum)        range(len(rows)) |> map(the sum of rows[place])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, cast

import numpy as np

from hastega_magic.ir.items import Items, items
from hastega_magic.records import dataclass
from hastega_magic.types import INT, ScalarType

Array = np.ndarray[Any, Any]

ROW_TYPES = frozenset({list, tuple})
"""What rows are, and what holds them."""

SHORT = 16
"""Numbers in a row up to which loops are made for rows of this very length, where all have it."""


@dataclass(eq=False)
class Rows:
    """Lists or tuples of Python's numbers, as functions of a place read them.

    name    what they are called
    count   how many rows there are
    values  all numbers, with room for more
    bounds  of row n they are those from `bounds[n]` on, before `bounds[n + 1]`; with room for more
    width   how many each row has, where that is one number for all and at most `SHORT`
    filled  each has one at least
    held    the rows themselves, while the statement runs; else they are made of their numbers, as lists
    """

    name: str
    count: int
    values: Items
    bounds: Items
    width: int | None
    filled: bool
    held: Sequence[Any] | None

    def __len__(self) -> int:
        return self.count

    @property
    def numbers(self) -> int:
        """How many numbers they have."""
        return int(self.bounds.array[self.count])

    def __getitem__(self, place: int) -> Any:
        """A row as Python has it."""
        if self.held is not None:
            return self.held[place]
        return [self.values[each] for each in range(self.bounds[place], self.bounds[place + 1])]

    def refill(self, flat: Array, bounds: Array, held: Sequence[Any]) -> bool:
        """Hold these rows now, if their numbers are of the same type, and there is room for them."""
        given = flat, bounds
        mine = self.values, self.bounds
        if self.width is not None and _width(bounds) != self.width:
            return False
        if self.filled and not _are_filled(bounds):
            return False
        if not all(each.takes(new) for each, new in zip(mine, given, strict=True)):
            return False
        for each, new in zip(mine, given, strict=True):
            each.array[: len(new)] = new
        self.count, self.held = len(bounds) - 1, held
        return True


def rows_from(name: str, flat: Array, bounds: Array, scalar: ScalarType, held: Sequence[Any]) -> Rows:
    """Rows by their numbers, of shape (numbers,), and their bounds, of shape (rows + 1,), as runtime reads them."""
    kind = cast("type[Any]", type(flat[:1].tolist()[0]))
    values = items(flat, scalar, kind, _room(len(flat)))
    ends = items(bounds, INT, int, _room(len(bounds)))
    return Rows(name, len(bounds) - 1, values, ends, _width(bounds), _are_filled(bounds), held)


def _room(count: int) -> int:
    """The next power of two, so that loops fit rows of other sizes too."""
    return 1 << (count - 1).bit_length()


def by_place(function: Callable[[Any], object], rows: Rows) -> FunctionType:
    """The function of rows as one of their places."""

    def at(place: int) -> object:
        return function(rows[place])

    return cast(FunctionType, at)


def taken_apart(function: object) -> tuple[Callable[[Any], object], Rows] | None:
    """The function of rows, and these, that `by_place` made one of places of; None for other functions."""
    if not isinstance(function, FunctionType) or function.__code__ is not _BY_PLACE:
        return None
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    return cells["function"].cell_contents, cells["rows"].cell_contents


_BY_PLACE = next(each for each in by_place.__code__.co_consts if hasattr(each, "co_freevars"))


def _are_filled(bounds: Array) -> bool:
    return bool((bounds[1:] > bounds[:-1]).all())


def _width(bounds: Array) -> int | None:
    """How many numbers each row has, where all have as many, and few."""
    first, many = int(bounds[1]), len(bounds) - 1
    if not 0 < first <= SHORT or int(bounds[-1]) != first * many:
        return None
    return first if bool((np.diff(bounds) == first).all()) else None


__all__ = ["ROW_TYPES", "SHORT", "Rows", "by_place", "rows_from", "taken_apart"]
