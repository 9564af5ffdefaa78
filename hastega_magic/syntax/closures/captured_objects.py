"""Objects with attributes that variables hold: looked at by what functions read of them, numbers may be parameters.

o.k = 3             `o.k` is 3
o.part.k = 0.5      `o.part.k` is 0.5, where nothing but `o` leads to the part
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from enum import Enum
from types import MemberDescriptorType, SimpleNamespace
from typing import Any, cast

from hastega_magic.records import dataclass
from hastega_magic.syntax.closures.attributes import Method, fields_of, has_plain, is_made, plain
from hastega_magic.syntax.closures.contained import Where
from hastega_magic.syntax.closures.numbers import PARAMETERS, same_number

_OF_CLASSES = frozenset({*PARAMETERS, MemberDescriptorType})
"""Types of what a class holds that make its objects such: numbers, and the places of slots."""


def is_owner(value: object) -> bool:
    """Whether it is an object or a class of the user's that is looked at by its attributes.

    Not what is there to be told from others by `is`: enums, and objects without attributes.
    """
    kind = type(value)
    if not has_plain(value) or issubclass(kind, (tuple, Enum)):
        return False
    if isinstance(value, type) or kind is SimpleNamespace:
        return True
    classes = [each for each in kind.__mro__ if each is not object and each is not SimpleNamespace]
    return all(map(is_made, classes)) and (
        bool(fields_of(value))
        or any(type(held) in _OF_CLASSES for each in classes for held in cast("Any", each).__dict__.values())
    )


def is_instance(value: object) -> bool:
    """Whether it is one of these, and no class, which stays what it is."""
    return is_owner(value) and not isinstance(value, type)


def attribute_at(where: Where, name: str) -> Where:
    """Where the attribute is of what is there."""
    return where[0], where[1], f"{where[2]}.{name}"


@dataclass(frozen=True)
class AnyOf:
    """A number of this type, which may be any."""

    type: type


@dataclass(frozen=True)
class Fields:
    """What functions read of such an object: `found`: values, an AnyOf, and Fields of objects that it alone holds."""

    kind: type
    same: type | None
    """The class itself, of a class."""
    found: tuple[tuple[str, object], ...]

    def fits(self, value: Any) -> bool:
        """Whether all of it is the same of another one."""
        return self._is_alike(value) and all(_is_same(plain(value, name), was) for name, was in self.found)

    def changed(self, where: Where, value: Any) -> set[Where] | None:
        """Which of it are other numbers; None where anything else is different."""
        if not self._is_alike(value):
            return None
        found: set[Where] = set()
        for name, was in self.found:
            inner, now = attribute_at(where, name), plain(value, name)
            if isinstance(was, Fields):
                others = was.changed(inner, now)
                if others is None:
                    return None
                found |= others
            elif not _is_same(now, was):
                if type(now) not in PARAMETERS or type(was) not in PARAMETERS:
                    return None
                found.add(inner)
        return found

    def kept(self) -> Iterator[object]:
        """What stays alive with it."""
        yield self.kind if self.same is None else self.same
        for _, each in self.found:
            if isinstance(each, Fields):
                yield from each.kept()
            elif not isinstance(each, AnyOf):
                yield each.function if isinstance(each, Method) else each

    def _is_alike(self, value: Any) -> bool:
        return type(value) is self.kind and (self.same is None or value is self.same)


def _is_same(now: Any, was: Any) -> bool:
    kind = cast("type[Any]", type(was))
    if kind is AnyOf:
        return type(now) is was.type
    if kind is Fields:
        return was.fits(now)
    return now is was or same_number(now, was) or (kind is Method and type(now) is Method and now == was)


@dataclass(frozen=True)
class Owned:
    """The attributes that were found of all objects, by identity, and how often something led to each of these."""

    found: Mapping[int, Mapping[str, object]]
    routes: Counter[int]

    def inside(self, value: object) -> Iterator[tuple[str, object]]:
        """The attributes that were found of it."""
        yield from self.found.get(id(value), {}).items()

    def is_its_own(self, value: object) -> bool:
        """Whether it is an object that an attribute of one other holds, and nothing else."""
        return self.routes[id(value)] == 1 and is_instance(value)

    def numbers(
        self, where: Where, value: object, path: tuple[str, ...] = ()
    ) -> Iterator[tuple[Where, tuple[str, ...], Any]]:
        """The numbers of `PARAMETERS` among these: where each is, and the names that lead to it."""
        for name, found in self.inside(value):
            inner = attribute_at(where, name)
            if type(found) in PARAMETERS:
                yield inner, (*path, name), found
            elif self.is_its_own(found):
                yield from self.numbers(inner, found, (*path, name))

    def fields(
        self, where: Where, value: Any, free: Collection[Where], seen: Callable[[int], None]
    ) -> Fields:
        """What was read of it, in which these numbers may be any; `seen`: is told of all objects that it is of."""
        seen(id(value))
        parts: list[tuple[str, object]] = []
        for name, found in self.inside(value):
            inner = attribute_at(where, name)
            if type(found) in PARAMETERS:
                parts.append((name, AnyOf(cast("type[Any]", type(found))) if inner in free else found))
            elif self.is_its_own(found):
                parts.append((name, self.fields(inner, found, free, seen)))
            else:
                parts.append((name, found))
        kind = cast("type[Any]", type(value))
        return Fields(kind, value if isinstance(value, type) else None, tuple(parts))


def attribute_after(value: Any, path: Collection[str]) -> object:
    """The attribute that names lead to; ABSENT where there is none."""
    for name in path:
        value = plain(value, name)
    return value


__all__ = [
    "Fields", "Owned", "attribute_after", "attribute_at", "is_instance", "is_owner",
]  # fmt: skip
