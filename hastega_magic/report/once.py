"""Work that a report needs several times, or two reports alike, done once: a cell that runs again waits for it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from typing import Generic, TypeVar, cast

P = TypeVar("P")
T = TypeVar("T")

_KEPT = 16
"""Results that a `Recent` holds, the latest."""


def once(function: Callable[[P], T]) -> Callable[[P], T]:
    """The function of a frozen part of a report, its result kept with that part."""
    name = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def kept(part: P) -> T:
        known = vars(part)
        if name not in known:
            known[name] = function(part)
        return cast(T, known[name])

    return kept


class Recent(Generic[T]):
    """The latest results of a function, by the identity of its argument, which must not change.

    The arguments are kept as well: else another object might have come to the same address.
    """

    def __init__(self, function: Callable[[object], T]) -> None:
        self.function = function
        self._known: OrderedDict[int, tuple[object, T]] = OrderedDict()

    def __call__(self, value: object) -> T:
        """The result for the value, made now or earlier."""
        found = self._known.get(id(value))
        if found is None:
            found = self._known[id(value)] = value, self.function(value)
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return found[1]


__all__ = ["Recent", "once"]
