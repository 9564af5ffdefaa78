"""Small containers of numbers that variables hold: looked at by what is in them, of which numbers may be parameters.

t = (3, 0.5)        `t[0]` is 3, and `t[1]` is 0.5
d = {1: (4, 5)}     `d[1][0]` is 4, and `d[1][1]` is 5
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

from hastega_magic.frames import reraise_signal
from hastega_magic.records import dataclass
from hastega_magic.syntax.closures.numbers import same_number

Where = tuple[str, int, str]
"""A variable around a function: ("cell", identity of its code, name) or ("global", identity of its globals, name).

Of an item or an attribute of what it holds the name has what leads to it: `t[0]`, `o.k`.
"""

Number = bool | int | float
"""Of Python's: a dict's key, or an item."""

NUMBERS = frozenset({bool, int, float})
_MAY_CHANGE = frozenset({int, float})
_CONTAINERS = frozenset({tuple, list, dict})
_MOST = 64
"""Numbers in such a container: code has each in a register of its own, or in memory that it reads for each element."""
_DEEPEST = 4


def is_small(value: Any) -> bool:
    """Whether it is a tuple, a list or a dict of a few of Python's numbers, or of such containers."""
    return type(value) in _CONTAINERS and _count(value, _DEEPEST) <= _MOST


def _count(value: Any, deep: int) -> int:
    """How many items it has, those of containers in it as well; more than the most where others are among them."""
    found = len(value)
    if not deep or found > _MOST:
        return _MOST + 1
    for key, item in pairs(value):
        if type(key) not in NUMBERS or key != key:
            return _MOST + 1
        if type(item) in _CONTAINERS:
            found += _count(item, deep - 1)
            if found > _MOST:  # no look at what else there is, as in a matrix or a list that is in itself
                return found
        elif type(item) not in NUMBERS:
            return _MOST + 1
    return found


def pairs(value: Any) -> Iterable[tuple[Any, Any]]:
    """What a small container's items are found under, and these."""
    if type(value) is dict:
        return tuple(cast("dict[Any, Any]", value).items())
    return enumerate(tuple(cast("Sequence[Any]", value)))


def item_of(where: Where, key: object) -> Where:
    """Where the item is that is found under the key."""
    return where[0], where[1], f"{where[2]}[{key!r}]"


def is_item(where: Where) -> bool:
    """Whether it is an item of what a variable holds."""
    return "[" in where[2]


def variable_of(where: Where) -> Where:
    """The variable itself, of an item or an attribute the one that leads to it."""
    return where[0], where[1], variable_named(where[2])


def variable_named(name: str) -> str:
    """The name of the variable."""
    return without_items(name).partition(".")[0]


def without_items(name: str) -> str:
    """The name of what holds an item, or of an attribute."""
    return name.partition("[")[0]


def numbers_in(where: Where, value: object) -> Iterator[tuple[Where, tuple[object, ...], Number]]:
    """The numbers in a small container: where each is, and the keys that lead to it."""
    for key, item in pairs(value):
        inner = item_of(where, key)
        if type(item) in _CONTAINERS:
            yield from ((each, (key, *path), number) for each, path, number in numbers_in(inner, item))
        else:
            yield inner, (key,), cast(Number, item)


def found_at(value: Any, path: Sequence[object]) -> object:
    """The item that keys lead to; None where there is none."""
    try:
        for key in path:
            value = value[key]
    except (LookupError, TypeError) as error:
        reraise_signal(error)
        return None
    return value


@dataclass(frozen=True)
class Shape:
    """What a small container held: `parts` are numbers, shapes, or the type of a number that may be any."""

    kind: type
    keys: tuple[Number, ...] | None
    """Of a dict, in their order."""
    parts: tuple[object, ...]

    def fits(self, value: Any) -> bool:
        """Whether the value holds the same."""
        if not self._is_alike(value):
            return False
        for item, part in zip(
            tuple(value) if self.keys is None else tuple(value.values()), self.parts, strict=False
        ):
            if type(part) is Shape:
                if not part.fits(item):
                    return False
            elif not self._is_same(item, part):
                return False
        return True

    def changed(self, where: Where, value: Any) -> set[Where] | None:
        """Where it holds other numbers; None where anything else is different."""
        if not self._is_alike(value):
            return None
        found: set[Where] = set()
        for (key, item), part in zip(pairs(value), self.parts, strict=False):
            inner = item_of(where, key)
            if type(part) is Shape:
                others = part.changed(inner, item)
                if others is None:
                    return None
                found |= others
            elif not self._is_same(item, part):
                if type(part) is type or not {type(item), type(part)} <= _MAY_CHANGE:
                    return None
                found.add(inner)
        return found

    @staticmethod
    def _is_same(item: Any, part: Any) -> bool:
        return type(item) is part or same_number(item, part)

    def _is_alike(self, value: Any) -> bool:
        if type(value) is not self.kind or len(value) != len(self.parts):
            return False
        return self.keys is None or all(map(same_number, tuple(value), self.keys))


def shape_of(where: Where, value: Any, free: Iterable[Where]) -> Shape:
    """The shape of a small container, in which these numbers may be any."""
    parts: list[object] = []
    for key, item in pairs(value):
        inner = item_of(where, key)
        if type(item) in _CONTAINERS:
            parts.append(shape_of(inner, item, free))
        else:
            parts.append(cast("type[Any]", type(item)) if inner in free else item)
    kind = cast("type[Any]", type(value))
    return Shape(kind, tuple(value) if kind is dict else None, tuple(parts))


__all__ = [
    "NUMBERS", "Number", "Shape", "Where", "found_at", "is_item", "is_small", "item_of", "numbers_in", "pairs",
    "shape_of", "variable_named", "variable_of", "without_items",
]  # fmt: skip
