"""Elements that loops read in another order than theirs: the sources of comprehensions with several `for` clauses."""

from __future__ import annotations

from typing import Any

import numpy as np

from hastega_magic.records import dataclass
from hastega_magic.types import INT, STORAGES, ScalarType, Storage

Array = np.ndarray[Any, Any]

_NARROW = "int32"
"""Ints that fit are held so: a machine gathers them as fast as any, and less has to be guarded."""


@dataclass(frozen=True, eq=False)
class Items:
    """Elements as a captured array of a loop.

    `array`   what the loop reads, in memory of its own, which `refill` may write to
    `kind`    what Python's iteration gives: int, float, bool, or a class of NumPy's scalars
    """

    array: Array
    scalar: ScalarType
    kind: type[Any]

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, place: int) -> Any:
        """An element as Python has it."""
        return self.kind(self.array[place])

    @property
    def storage(self) -> Storage:
        """How they lie in memory."""
        return STORAGES[self.array.dtype.name]

    @property
    def of_numpy(self) -> bool:
        """Whether they are NumPy's scalars to Python."""
        return issubclass(self.kind, np.generic)

    def refill(self, values: Array, kind: type[Any]) -> bool:
        """Hold these elements now, if they are of the same kind, type and number."""
        if kind is not self.kind or len(values) != len(self) or _narrowed(values) != self.array.dtype:
            return False
        self.array[:] = values
        return True

    def takes(self, values: Array) -> bool:
        """Whether there is room for these, of the same type."""
        dtype = values.dtype if values.dtype == self.array.dtype else _narrowed(values)
        return (
            len(values) <= len(self)
            and np.can_cast(dtype, self.array.dtype)
            and dtype.kind == self.array.dtype.kind
        )


def items(values: Array, scalar: ScalarType, kind: type[Any], room: int = 0) -> Items:
    """The elements of an array of a type that loops read, ints that int64 holds; with zeros behind, up to `room`."""
    held = np.zeros(max(room, len(values)), _narrowed(values))
    held[: len(values)] = values
    return Items(held, scalar, kind)


def _narrowed(values: Array) -> np.dtype[Any]:
    """How these are held: in native order, ints in 32 bits where these do, else in 64."""
    dtype = values.dtype.newbyteorder("=")
    if dtype.kind not in "iu" or STORAGES[dtype.name].scalar is not INT:
        return dtype
    limits = np.iinfo(_NARROW)
    if not len(values) or (values.min() >= limits.min and values.max() <= limits.max):
        return np.dtype(_NARROW)
    return np.dtype(np.int64)


__all__ = ["Items", "items"]
