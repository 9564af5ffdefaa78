"""What the evaluation of a function asks of the compiler."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from hastega_magic.ir.pipeline import Source, Table
from hastega_magic.types import Complex, ScalarType


class Environment(Protocol):
    """What the compiler supplies: the cell's name, and descriptions of captured objects."""

    filename: str
    numpy_numbers: bool
    """Whether elements of the loop that is being built may be NumPy's numbers by now, in Python's hands."""

    @property
    def tables(self) -> Sequence[Table]:
        """The captured arrays so far, by slot."""
        ...

    def table(self, name: str, value: object) -> tuple[int, ScalarType]:
        """Slot and element type of a captured array; NotCompilable if it is no array of numbers."""
        ...

    def source(self, value: object) -> Source:
        """The description of an object to iterate over; NotCompilable if its elements are no numbers."""
        ...

    def number(self, name: str, value: object, type_: ScalarType | Complex, length: int) -> Source:
        """A number that is known when the loop runs, as a source that has it for all elements."""
        ...


__all__ = ["Environment"]
