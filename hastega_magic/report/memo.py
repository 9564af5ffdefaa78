"""Work that a report needs several times, or two reports alike, done once: a cell that runs again waits for it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, Generic, ParamSpec, TypeVar, cast

P = TypeVar("P")
More = ParamSpec("More")
T = TypeVar("T")

_KEPT = 64
"""Results that a `Recent` holds, the latest."""


def once(function: Callable[Concatenate[P, More], T]) -> Callable[Concatenate[P, More], T]:
    """The function of a frozen part of a report, its result kept with that part, by what else it is given."""
    name = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def kept(part: P, *more: More.args, **named: More.kwargs) -> T:
        known = vars(part)
        key = f"{name} {more} {named}" if more or named else name
        if key not in known:
            known[key] = function(part, *more, **named)
        return cast(T, known[key])

    return kept


class Recent(Generic[More, T]):
    """The latest results of a function, by the identity of its arguments, which must not change.

    The arguments are kept as well: else another object might have come to the same address.
    """

    def __init__(self, function: Callable[More, T]) -> None:
        self.function = function
        self._known: OrderedDict[tuple[int, ...], tuple[object, T]] = OrderedDict()

    def __call__(self, *values: More.args, **named: More.kwargs) -> T:
        """The result for the values, which are given by place, made now or earlier."""
        assert not named
        key = tuple(map(id, values))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = values, self.function(*values, **named)
            if len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return found[1]


__all__ = ["Recent", "once"]
