"""The words that a kernel's function is called with, kept from call to call.

Captured arrays that may be others in each run are put in anew, and whoever puts them in keeps them until its end.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from hastega_magic.ir import abi
from hastega_magic.runtime.addresses import table_words
from hastega_magic.runtime.sources import AnyArray
from hastega_magic.runtime.tables import TableColumn


class CallWords:
    """The words of one variant of a loop, with its captured arrays ("tables") in their slots."""

    def __init__(self, plan: abi.Layout, tables: Sequence[TableColumn]) -> None:
        """Nothing is there yet but the tables."""
        self._plan = plan
        self._words = (ctypes.c_int64 * plan.words)()
        self._tables = [table.data for table in tables]  # their memory must stay
        for slot, table in enumerate(self._tables):
            self._words[plan.table(slot) : plan.table(slot + 1)] = table_words(table)

    def reads(self, slot: int, table: AnyArray) -> None:
        """The captured array of this slot, contiguous, in the next run; nothing of it is kept."""
        place = self._plan.table(slot)
        self._words[place : place + 3] = table_words(table)


__all__ = ["CallWords"]
