"""What was asked for lately, so much of it at most, for threads that share it.

A plain dict beneath: keys may compare by Python's code, in which another thread may run, and `OrderedDict`, written in
C, does not survive that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class LruCache(Generic[K, V]):
    """Values by key, the latest `most` of them. No value is None."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._known: dict[K, V] = {}

    def get(self, key: K) -> V | None:
        """The value, which is the latest from now on; None also where another thread is about to say that."""
        found = self._known.pop(key, None)
        if found is not None:
            self._known[key] = found
        return found

    def put(self, key: K, value: V) -> V:
        """Keep a value, perhaps in place of the one that nobody has asked for longest."""
        self._known[key] = value
        while len(self._known) > self.most:
            oldest, *_ = self._known
            self._known.pop(oldest, None)
        return value

    def drop(self, wanted: Callable[[V], bool]) -> None:
        """Forget the values for which that is true."""
        for key, value in tuple(self._known.items()):
            if wanted(value):
                self._known.pop(key, None)

    def values(self) -> tuple[V, ...]:
        """All of them."""
        return tuple(self._known.values())


__all__ = ["LruCache"]
