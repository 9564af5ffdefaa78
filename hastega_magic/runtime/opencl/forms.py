"""What chunks on a lane work with: variants and where their results lie, and what a run gave."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hastega_magic.ir import abi
from hastega_magic.records import dataclass
from hastega_magic.runtime.sources import AnyArray
from hastega_magic.types import Storage

if TYPE_CHECKING:
    from hastega_magic.runtime.opencl.launch import Code


@dataclass(frozen=True)
class Form:
    """A variant, and what of it decides where its results lie: worked out once, for all chunks."""

    code: Code
    layout: abi.Layout
    bus: tuple[Storage, ...]
    """How each store's elements cross the bus."""
    partials: tuple[str, ...]
    """The type of each fold's partial results."""

    def same_places(self, other: Form) -> bool:
        """Whether results of both lie in the same buffers."""
        return (self.bus, self.layout.groups, self._words()) == (
            other.bus,
            other.layout.groups,
            other._words(),
        )

    def _words(self) -> list[int]:
        return [fold.words for fold in self.layout.folds]


@dataclass(frozen=True)
class Back:
    """What a run of the kernel gave, in staging memory: per block, per group, per fold; slots with all elements."""

    status: AnyArray
    kept: list[AnyArray]
    partials: list[AnyArray]
    dense: list[tuple[int, AnyArray]]


class Writable:
    """A read-only array's memory for an interface that asks for writable memory and does not write."""

    def __init__(self, array: AnyArray) -> None:
        """Of the same shape and type."""
        self._array = array
        pointer = array.__array_interface__["data"][0]
        self.__array_interface__ = {
            "shape": array.shape, "typestr": array.dtype.str, "data": (pointer, False), "version": 3,
        }  # fmt: skip
