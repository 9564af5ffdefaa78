"""Which line of the printed kernel each line of the text belongs to, in any language."""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

from hastega_magic.ir.kernel import Statement
from hastega_magic.ir.printer import Places


class _Writer(Protocol):
    place: int
    """The line of the printed kernel that what is written next belongs to (0: none)."""


W = TypeVar("W", bound=_Writer)


class Located(Generic[W]):
    """A frame that says of what is written to its writer where it comes from."""

    writer: W
    places: Places

    def at(self, statement: Statement | None) -> None:
        """What is written next belongs to the statement."""
        self.writer.place = 0 if statement is None else self.places.statements.get(statement, 0)

    def at_source(self) -> None:
        """What is written next says which elements there are."""
        self.writer.place = self.places.elements


__all__ = ["Located"]
