"""Where the turns of two nested `for` statements store: `image[i, j] = f(i, j)`. As `in_place.py` has it, of tables.

Tables are arrays of two dimensions, or lists of lists of which each is there once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hastega_magic.compiler.fastpath.in_place import (
    Column,
    Elements,
    columns_of,
    is_plain,
    one_kind,
    places_at,
    put_into_array,
)
from hastega_magic.compiler.fastpath.objects import NotExact
from hastega_magic.compiler.fastpath.shown import Into, are_plain
from hastega_magic.records import dataclass
from hastega_magic.runtime.objects.exchange import put, slice_of
from hastega_magic.syntax.ordinary.grid_stores import GridStores
from hastega_magic.syntax.ordinary.parts import HandsOn, Ordinary


@dataclass(frozen=True)
class Grid:
    """The tables that a run stores into; `read` and `arrays`: as in `Places`."""

    stores: GridStores
    tables: tuple[Any, ...]
    read: tuple[object, ...]
    arrays: bool

    def store(self, found: Elements | list[Any], outer: range, inner: range) -> None:
        """Store the elements of all turns, in their order; NotExact, and nothing is stored, as in `Places`."""
        rows = [] if self.arrays else [row for each in self.tables for row in each]
        if not all(type(row) is list and are_plain(row) for row in rows):
            raise NotExact("a table holds something else than lists of numbers")
        Into.of([*self.tables, *rows]).look(self.read)
        columns = columns_of(found, self.tables, self.stores.chosen, self.arrays)
        done = [
            part
            for table, shifts, turned, column in zip(
                self.tables, self.stores.shifts, self.stores.turned, columns, strict=True
            )
            for part in (self._of_array if self.arrays else self._of_lists)(
                table, shifts, turned, column, outer, inner
            )
        ]
        for into, places, column in done:
            if self.arrays:
                put_into_array(into, places, column)
            else:
                put(into, places, column.elements, column.which)

    @staticmethod
    def _of_array(
        table: Any, shifts: tuple[int, int], turned: bool, column: Column, outer: range, inner: range
    ) -> Iterator[tuple[Any, Any, Column]]:
        """The array, the places in it, and the elements for them."""
        numbers, shape = (inner, outer) if turned else (outer, inner), (len(outer), len(inner))
        first, second = map(places_at, numbers, shifts, table.shape)
        parts = (None if each is None else each.reshape(shape) for each in (column.elements, column.which))
        elements, which = (each.T if turned and each is not None else each for each in parts)
        yield table, (slice_of(first), slice_of(second)), Column(elements, which)

    @staticmethod
    def _of_lists(
        table: Any, shifts: tuple[int, int], turned: bool, column: Column, outer: range, inner: range
    ) -> Iterator[tuple[Any, Any, Column]]:
        """The same for each row."""
        numbers, step = (inner, outer) if turned else (outer, inner), len(inner)
        first = places_at(numbers[0], shifts[0], len(table))
        length, second = -1, range(0)
        for number, row in enumerate(table[slice_of(first)]):
            part = slice(number, None, step) if turned else slice(number * step, (number + 1) * step)
            which = None if column.which is None else column.which[part]
            if len(row) != length:
                length, second = len(row), places_at(numbers[1], shifts[1], len(row))
            yield row, second, Column(column.elements[part], which)


def grid_of(known: HandsOn, code: Ordinary, operands: Sequence[Any]) -> Grid:
    """Where it stores; NotExact where Python's loop has to."""
    assert isinstance(known.stores, GridStores)
    assert known.reads is not None
    stores = known.stores
    try:
        values: Sequence[Any] = operands[known.reads]()
    except NameError:
        raise NotExact("a variable that it reads has no value in front of it") from None
    tables, read = values[: len(stores.roots)], values[len(stores.roots) :]
    for root, pair, each in zip(stores.roots, stores.pairs, tables, strict=True):
        if not is_plain(each, 2) and not (type(each) is list and stores.lists and not pair):
            raise NotExact(f"`{root}` is no table that a loop stores into")
    if type(operands[code.sources[0]]) is not range:
        raise NotExact("its turns are not numbered by a range")
    return Grid(stores, tuple(tables), tuple(read), one_kind(tables, stores.rereads))


__all__ = ["Grid", "grid_of"]
