"""Statements that are ready to be run again as others that stand for them: over fields of tuples, or places of rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hastega_magic.compiler.fastpath.guards import Display, RunGuards
from hastega_magic.compiler.fastpath.slots import Number
from hastega_magic.compiler.statement import Bound
from hastega_magic.records import dataclass
from hastega_magic.syntax.closures.contained import Where

if TYPE_CHECKING:
    from hastega_magic.compiler.fastpath.prepared import Prepared


@dataclass(frozen=True)
class Standing(ABC):
    """A statement by the one that stands for it, which is `prepared`."""

    prepared: Prepared

    @property
    def guards(self) -> RunGuards:
        """What decides whether it fits."""
        return self.prepared.guards

    @property
    def numbers(self) -> tuple[Number, ...]:
        """Captured numbers that its loop is given."""
        return self.prepared.numbers

    @property
    def holds_data(self) -> bool:
        """Whether arrays or objects of the user's stay alive with it."""
        return self.prepared.holds_data

    @abstractmethod
    def run(self, source: object, displays: Sequence[Display]) -> object:
        """The result; DoesNotFit where it must be found another way; what an element raises."""

    @abstractmethod
    def changed(self, bound: Bound) -> set[Where] | None:
        """Variables whose numbers its functions found changed; None where anything else is different."""


__all__ = ["Standing"]
