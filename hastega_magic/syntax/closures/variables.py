"""What functions read from around them, each with the value that it had, to tell whether it still has it."""

from __future__ import annotations

import ctypes
import functools
import operator
from collections.abc import Iterable, Iterator
from types import CellType, MethodType
from typing import Any, cast

import numpy as np

from hastega_magic.records import dataclass
from hastega_magic.syntax.closures import attributes, given
from hastega_magic.syntax.closures.attributes import ABSENT
from hastega_magic.syntax.closures.contained import Where
from hastega_magic.syntax.closures.numbers import same_number


@dataclass(frozen=True)
class Name:
    """A name in a namespace (globals, a module) and its value; or that it is not there."""

    scope: dict[str, Any]
    name: str
    value: Any

    @property
    def where(self) -> Where:
        """Which variable it is."""
        return "global", id(self.scope), self.name

    def now(self) -> Any:
        """Its value at this moment."""
        return self.scope.get(self.name, ABSENT)

    def holds(self) -> bool:
        """Whether it has the value that it had."""
        found = self.scope.get(self.name, ABSENT)
        return found is self.value or same_number(found, self.value)


@dataclass(frozen=True)
class Cell:
    """A variable of an enclosing function."""

    cell: CellType
    value: Any
    where: Where

    def now(self) -> Any:
        """Its value at this moment."""
        return contents(self.cell)

    def holds(self) -> bool:
        """Whether it has the value that it had."""
        found = contents(self.cell)
        return found is self.value or same_number(found, self.value)


@dataclass(frozen=True)
class Made:
    """What a function that is called is made of: code and defaults may be put in their place, as reloading does.

    Or a small container of numbers, and these.
    """

    function: Any
    parts: tuple[object, ...]

    def holds(self) -> bool:
        """Whether these are its parts."""
        now = made_of(self.function)
        return len(now) == len(self.parts) and all(map(operator.is_, now, self.parts))


@dataclass(frozen=True)
class Shaped:
    """An array, which compiled code holds as it is: type, shape and memory may all be changed in their place."""

    array: Any
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    address: int

    def holds(self) -> bool:
        """Whether it is as it was, but for its elements."""
        array = self.array
        return (
            array.shape == self.shape
            and array.dtype == self.dtype
            and array.strides == self.strides
            and own_memory(array) == self.address
        )


def own_memory(array: np.ndarray[Any, Any]) -> int:
    """Where the memory lies that an array owns, which `resize` may move; 0 if it owns none."""
    flags = array.flags
    if not flags.owndata or not array.size:
        return 0
    if not flags.writeable or array.dtype.kind not in "biuf":
        return array.ctypes.data
    return ctypes.addressof(ctypes.c_char.from_buffer(cast(Any, array)))


def made_of(function: Any) -> tuple[object, ...]:
    """What `Made` compares: of a container its keys and items, of a function its code and defaults."""
    if isinstance(function, dict):
        return (*cast("dict[object, object]", function), *cast("dict[object, object]", function).values())
    if isinstance(function, (list, tuple, set, frozenset)):
        items = tuple(cast("list[object]", function))
        return items if {list, tuple}.isdisjoint(map(type, items)) else tuple(leaves(items))
    if isinstance(function, type):
        return attributes.parts_of_named_tuple(function)
    if isinstance(function, MethodType):
        return given.parts_of(function)
    if isinstance(function, functools.partial):
        return function.func, function.args, *_items(function.keywords)
    return function.__code__, function.__defaults__, *_items(function.__kwdefaults__)


_DEEPEST = 16
"""Lists within each other that are looked at: one may hold itself."""


def leaves(items: Iterable[object], depth: int = _DEEPEST) -> Iterator[object]:
    """The items, those of lists and tuples among them behind these; None, which is no number, where they go deeper."""
    if not depth:
        yield None
        return
    for item in items:
        yield item
        if type(item) in (list, tuple):
            yield from leaves(cast("list[object]", item), depth - 1)


def _items(named: dict[str, Any] | None) -> tuple[object, ...]:
    return (*named.keys(), *named.values()) if named else ()


@dataclass(frozen=True)
class Attribute:
    """An attribute of an object that functions may read, and its value."""

    owner: Any
    name: str
    value: Any

    def now(self) -> Any:
        """Its value at this moment."""
        return attributes.plain(self.owner, self.name)

    def holds(self) -> bool:
        """Whether it has the value that it had."""
        now = self.now()
        is_method = isinstance(now, attributes.Method) and now == self.value
        return is_method or now is self.value or same_number(now, self.value)


def contents(cell: CellType) -> Any:
    """The value of a cell; a value of its own for an empty one."""
    try:
        return cell.cell_contents
    except ValueError:
        return ABSENT


__all__ = ["Attribute", "Cell", "Made", "Name", "Shaped", "contents", "leaves", "made_of", "own_memory"]
