"""What lists hold that are built inside functions, and variables of outer functions that inner ones assign.

Both may change while other functions run than the one that made them. So what they hold stands beside the names of the
function that runs, under keys that no user's name is: branches and loops treat it as they treat names. A call hands it
on, and has it back when it returns.
"""

from __future__ import annotations

import itertools
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Protocol

from hastega_magic.errors import NotCompilable
from hastega_magic.syntax.values.values import Known, Listed, Partly, Poison, ReadTooEarly, Symbolic

_MARK = " #"


class Scope(Protocol):
    """What has names: a frame."""

    names: dict[str, Symbolic]


class _Outside:
    def __init__(self, names: dict[str, Symbolic] | None = None) -> None:
        self.names: dict[str, Symbolic] = {} if names is None else names


def is_key(name: str) -> bool:
    """Whether it is the key of a list or variable, and no user's name."""
    return _MARK in name


def kept_in(names: Mapping[str, Symbolic]) -> dict[str, Symbolic]:
    """What stands under keys there."""
    return {name: value for name, value in names.items() if is_key(name)}


class Store:
    """The scopes that run, the innermost last."""

    def __init__(self) -> None:
        self.scopes: list[Scope] = [_Outside()]
        self.clock = 0
        """How many changes there have been."""
        self.walked: set[str] = set()
        """Lists whose items a loop goes through."""
        self._changed: dict[str, int] = {}
        self._numbers = itertools.count(1)

    @contextmanager
    def running(self, scope: Scope) -> Generator[None]:
        """The scope's code runs meanwhile."""
        outer = self.scopes[-1]
        if outer is scope:
            yield
            return
        scope.names.update(kept_in(outer.names))
        self.scopes.append(scope)
        try:
            yield
        finally:
            self.scopes.pop()
        outer.names.update(kept_in(scope.names))

    @contextmanager
    def looking_at(self, names: dict[str, Symbolic]) -> Generator[None]:
        """What is read and written meanwhile stands among these names."""
        self.scopes.append(_Outside(names))
        try:
            yield
        finally:
            self.scopes.pop()

    def key(self, name: str) -> str:
        """A new key."""
        return f"{name}{_MARK}{next(self._numbers)}"

    def read(self, key: str) -> Symbolic:
        """What stands under a key now."""
        return self.scopes[-1].names[key]

    def write(self, key: str, value: Symbolic) -> None:
        """Something else stands there from now on."""
        self.scopes[-1].names[key] = value
        self.clock += 1
        self._changed[key] = self.clock

    def changed_since(self, clock: int) -> set[str]:
        """Keys under which something else has been put since."""
        return {key for key, when in self._changed.items() if when > clock}

    def new(self, items: tuple[Symbolic, ...], name: str = "a list") -> Known:
        """A new list."""
        key = self.key("list")
        self.scopes[-1].names[key] = items
        return Known(Listed(self, key), name)

    def held(self, key: str) -> tuple[Symbolic, ...]:
        """The items of a list."""
        found = self.read(key)
        if isinstance(found, Partly):
            found = found.value  # who has the list is where it was made
        if isinstance(found, Poison):
            reason = "a list has different lengths, or items of different kinds, for different elements"
            raise (ReadTooEarly if found.early else NotCompilable)(reason)
        assert isinstance(found, tuple)
        return found

    def replace(self, listed: Listed, items: tuple[Symbolic, ...]) -> None:
        """Let a list hold other items; NotCompilable where other lists may be the same object."""
        if listed.shared:
            raise NotCompilable("a list is changed that is one of several, by a condition")
        self.write(listed.key, items)


__all__ = ["Scope", "Store", "is_key", "kept_in"]
