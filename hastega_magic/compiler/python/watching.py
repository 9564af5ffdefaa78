"""What the functions of stages read from around them, watched while Python's own functions run between.

best = 0
xs |> filter(lambda x: x > best) |> map(raised)      where `raised` assigns `best`: the filter has to see it at once
"""

from __future__ import annotations

import functools
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, cast

import numpy as np

from hastega_magic.syntax.closures.around import ABSENT, Cell, Name, codes, contents
from hastega_magic.syntax.joining.build import BoundStage

_FIXED = (bool, int, float, complex, str, bytes, range, type(None), np.generic, np.dtype, np.ufunc, type)
"""What stays as it is for as long as it is the same object; that of modules and builtins is taken for granted."""


@dataclass(frozen=True)
class Watch:
    """The variables that functions read, with the values that they have, and the objects that may change inside."""

    variables: tuple[Name | Cell, ...]
    objects: frozenset[int]

    @staticmethod
    def of(stages: Iterable[BoundStage]) -> Watch:
        """Those that the stages' functions read, and that the stages are given."""
        variables: list[Name | Cell] = []
        objects: set[int] = set()
        seen: set[int] = set()
        for stage in stages:
            for given in (*stage.args, *stage.kwargs.values()):
                _look(given, variables, objects, seen)
        return Watch(tuple(variables), frozenset(objects))

    def changed(self) -> bool:
        """Whether a variable holds something else."""
        for each in self.variables:
            if isinstance(each, Name):
                if each.scope.get(each.name, ABSENT) is not each.value:  # a call less for each element
                    return True
            elif each.now() is not each.value:
                return True
        return False

    @property
    def state(self) -> tuple[object, ...]:
        """The values, as far as they are numbers; others are the same object or are not alike."""
        return tuple(_state(each.value) for each in self.variables)

    @contextmanager
    def as_before(self) -> Generator[None]:
        """With the values that the variables had."""
        now = [each.now() for each in self.variables]
        _assign((each, each.value) for each in self.variables)
        try:
            yield
        finally:
            _assign(zip(self.variables, now, strict=True))

    def reached_by(self, stages: Iterable[BoundStage]) -> bool:
        """Whether functions of the stages hold one of the objects, and so may change it."""
        return bool(self.objects) and not self.objects.isdisjoint(_reached(stages))


def _state(value: Any) -> object:
    fixed = isinstance(value, (*_FIXED, tuple))
    held = cast(object, value)
    return (type(held), repr(held)) if fixed else id(held)


def _assign(pairs: Iterable[tuple[Name | Cell, Any]]) -> None:
    for each, value in pairs:
        if isinstance(each, Cell):
            if value is not ABSENT:
                each.cell.cell_contents = value
        elif value is ABSENT:
            each.scope.pop(each.name, None)
        else:
            each.scope[each.name] = value


def _look(value: Any, variables: list[Name | Cell], objects: set[int], seen: set[int]) -> None:
    """Something that a stage is given, or that a function reads."""
    if isinstance(value, (*_FIXED, ModuleType, BuiltinFunctionType)):
        return
    if isinstance(value, tuple):
        for part in cast("tuple[Any, ...]", value):
            _look(part, variables, objects, seen)
        return
    if id(value) in seen:
        return
    seen.add(id(value))
    parts = _parts(value)
    if parts is None:
        objects.add(id(value))
        return
    for part in parts:
        held = part
        if isinstance(part, (Name, Cell)):
            held = part.value
            if not isinstance(held, (ModuleType, BuiltinFunctionType, FunctionType, type)):
                variables.append(part)
        _look(held, variables, objects, seen)


def _parts(value: Any) -> Iterator[Any] | None:
    """What a function is made of, variables among it; None for anything else."""
    if isinstance(value, FunctionType):
        return _around(value)
    if isinstance(value, functools.partial):
        called = cast("functools.partial[Any]", value)
        return iter((called.func, *called.args, *called.keywords.values()))
    return None


def _around(function: FunctionType) -> Iterator[Any]:
    scope = function.__globals__
    for code in codes(function.__code__):
        for name in code.co_names:
            if name in scope:
                yield Name(scope, name, scope[name])
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield Cell(cell, contents(cell), ("cell", id(function.__code__), name))
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()


def _reached(stages: Iterable[BoundStage]) -> set[int]:
    """The identities of objects that functions of the stages hold, themselves or through others."""
    pending: list[Any] = [
        each for stage in stages for each in (stage.callee, *stage.args, *stage.kwargs.values())
    ]
    found: set[int] = set()
    while pending and len(found) < _MOST:
        value = pending.pop()
        if id(value) in found or isinstance(value, (*_FIXED, ModuleType)):
            continue
        found.add(id(value))
        parts = _parts(value)
        if parts is not None:
            pending += [each.value if isinstance(each, (Name, Cell)) else each for each in parts]
        elif isinstance(value, (MethodType, BuiltinFunctionType)):
            pending += [value.__self__, getattr(value, "__func__", None)]
        elif isinstance(value, tuple):
            pending += cast("tuple[Any, ...]", value)
        else:
            pending += getattr(cast(object, value), "__dict__", {}).values()
    return found


_MOST = 10_000
"""Objects that are looked at."""


__all__ = ["Watch"]
