"""What the statements of one fused group share: columns and captured arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hastega_magic.ir.pipeline import Source, Table
from hastega_magic.runtime.sources import Column, TableColumn, described, described_table
from hastega_magic.types import ScalarType


@dataclass
class Workspace:
    """The `Environment` that lowering works in, and the memory behind what it describes."""

    filename: str
    wanted: frozenset[str] = frozenset()
    """Variables whose arrays a later loop reads: a device may keep them."""
    table_columns: list[TableColumn] = field(default_factory=list[TableColumn])
    columns: dict[tuple[str, int], Column] = field(default_factory=dict[tuple[str, int], Column])
    _captured: list[object] = field(default_factory=list[object])

    @property
    def tables(self) -> Sequence[Table]:
        """Captured arrays by slot."""
        return [column.table for column in self.table_columns]

    def table(self, name: str, value: object) -> tuple[int, ScalarType]:
        """Slot and element type of a captured array; the same object has one slot."""
        for slot, known in enumerate(self._captured):
            if known is value:
                return slot, self.table_columns[slot].scalar
        column = described_table(value, name)
        self._captured.append(value)
        self.table_columns.append(column)
        return len(self.table_columns) - 1, column.scalar

    def source(self, value: object, name: str = "") -> Source:
        """The description of an object to iterate over."""
        return self._known(described(value, name or type(value).__name__))

    def part(self, source: Source, start: int, stop: int | None) -> Source:
        """The description of a stretch of a source."""
        return self._known(self.column(source).slice(start, stop))

    def _known(self, column: Column) -> Source:
        return self.columns.setdefault((column.source.kind, column.source.key), column).source

    def column(self, source: Source) -> Column:
        """The elements of a source."""
        return self.columns[source.kind, source.key]
