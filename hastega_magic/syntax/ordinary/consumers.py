"""Python's functions that consume an iterable: which stages they are, and which of them ask for all elements anyway."""

from __future__ import annotations

import ast
import collections
import functools
import math
import statistics
from collections.abc import Callable, Collection, Mapping
from typing import Any

from hastega_magic.records import dataclass
from hastega_magic.syntax.ordinary.rewriting import NoPipeline


@dataclass(frozen=True)
class Consumer:
    """A function that takes an iterable: the callable itself, the stages it is, what becomes of their value."""

    callee: object
    sink: str
    after: Callable[[Any], Any] | None = None
    eager: bool = True
    """It takes all elements, so that a list made for it is as good as a generator."""
    generator: bool = True
    """It takes generators; `len` does not."""

    @property
    def reduces(self) -> bool:
        """Whether it computes one value of all elements, so that there is something to gain without a function."""
        return self.sink in ("sum", "min", "max", "prod", "reduce")

    @property
    def folds(self) -> bool:
        """Whether it does so with nothing but them; `any` and `all` may be done with the first one."""
        return self.sink in ("sum", "min", "max", "prod")


_CONSUMERS: Mapping[str, Consumer] = {
    "sum": Consumer(sum, "sum"),
    "min": Consumer(min, "min"),
    "max": Consumer(max, "max"),
    "any": Consumer(any, "any", eager=False),
    "all": Consumer(all, "all", eager=False),
    "list": Consumer(list, "to_list"),
    "tuple": Consumer(tuple, "to_list", tuple),
    "set": Consumer(set, "to_list", set),
    "frozenset": Consumer(frozenset, "to_list", frozenset),
    "sorted": Consumer(sorted, "to_list", sorted),
    "len": Consumer(len, "count", generator=False),
    "prod": Consumer(math.prod, "prod"),
    "reduce": Consumer(functools.reduce, "reduce"),
}

_EAGER: Mapping[str, object] = {
    "sorted": sorted, "min": min, "max": max, "sum": sum, "dict": dict, "fsum": math.fsum, "prod": math.prod,
    "Counter": collections.Counter, "deque": collections.deque, "fmean": statistics.fmean, "mean": statistics.mean,
    "median": statistics.median, "stdev": statistics.stdev, "pstdev": statistics.pstdev,
    "variance": statistics.variance, "pvariance": statistics.pvariance,
}  # fmt: skip
"""Functions that take all elements of their first argument, and may be given a list for a generator."""

_MODULES = frozenset({"math", "functools", "builtins"})
_OF_MODULES = _MODULES | {"statistics", "collections"}


def consumer_of(callee: ast.expr) -> Consumer:
    """The consumer that the callee's name is; NoPipeline if it is none."""
    found = _CONSUMERS.get(_name(callee, _MODULES))
    if found is None:
        raise NoPipeline
    return found


def eager_consumer(callee: ast.expr) -> object | None:
    """The function of that name which takes all elements at once; None if there is none."""
    return _EAGER.get(_name(callee, _OF_MODULES))


def keys_of(callee: ast.expr | None) -> Callable[[Any], Collection[object]] | None:
    """What gives the keys that the function of that name makes of a list; None if it makes none."""
    return _KEYS.get(eager_consumer(callee)) if callee is not None else None


def _of_pairs(pairs: list[Any]) -> list[object]:
    return [pair[0] for pair in pairs] if pairs and type(pairs[0]) is tuple else []


_KEYS: Mapping[object, Callable[[Any], Collection[object]]] = {dict: _of_pairs, collections.Counter: list}


def _name(callee: ast.expr, modules: frozenset[str]) -> str:
    match callee:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=module), attr=name) if module in modules:
            return name
        case _:
            return ""


__all__ = ["Consumer", "consumer_of", "eager_consumer", "keys_of"]
