"""What the functions of stages read from around them, watched while Python's own functions run between.

best = 0
xs |> filter(lambda x: x > best) |> map(raised)      where `raised` assigns `best`: the filter has to see it at once
"""

from __future__ import annotations

import functools
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, cast

import numpy as np

from hastega_magic.records import dataclass
from hastega_magic.runtime.python_calls import Noted
from hastega_magic.syntax.closures.attributes import ABSENT
from hastega_magic.syntax.closures.bytecode import codes
from hastega_magic.syntax.closures.given import parts_of
from hastega_magic.syntax.closures.libraries import is_library
from hastega_magic.syntax.closures.reachable import (
    Endless,
    fields,
    methods,
    reached,
    users_classes,
    viewed,
)
from hastega_magic.syntax.closures.variables import Cell, Name, contents
from hastega_magic.syntax.loops.build import BoundStage

_FIXED = (bool, int, float, complex, str, bytes, range, type(None), np.generic, np.dtype, np.ufunc)
"""What stays as it is for as long as it is the same object; that of modules and builtins is taken for granted."""


@dataclass(frozen=True)
class Watch:
    """The variables that functions read, with the values that they have, and the objects that may change inside."""

    variables: tuple[Name | Cell, ...]
    objects: frozenset[int]

    @staticmethod
    def of(stages: Iterable[BoundStage], source: object = None) -> Watch:
        """Those that the stages' functions read, and that the stages are given; and what they go over."""
        variables: list[Name | Cell] = []
        objects: set[int] = set()
        seen: set[int] = set()
        for stage in stages:
            for given in (*stage.args, *stage.kwargs.values()):
                _look(given, variables, objects, seen)
        _look(source, variables, objects, seen)
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
    def single(self) -> Name | None:
        """The only variable, if it is a name: the usual case, which can be looked at without a call."""
        first = self.variables[0] if len(self.variables) == 1 else None
        return first if isinstance(first, Name) else None

    @property
    def state(self) -> tuple[object, ...]:
        """The values, as far as they are numbers; others are the same object or are not alike."""
        return tuple(_state(each.value) for each in self.variables)

    @property
    def places(self) -> list[tuple[dict[str, Any], str, object] | tuple[CellType, None, object]]:
        """Where the variables are, and their values."""
        return [
            (each.scope, each.name, each.value) if isinstance(each, Name) else (each.cell, None, each.value)
            for each in self.variables
        ]

    @contextmanager
    def as_before(self) -> Generator[None]:
        """With the values that the variables had."""
        now = [each.now() for each in self.variables]
        _assign((each, each.value) for each in self.variables)
        try:
            yield
        finally:
            _assign(zip(self.variables, now, strict=True))

    def unchanged(self, elements: Iterator[object], odd: list[object]) -> Iterator[object]:
        """The elements before the first one that comes with a changed variable, which is put into `odd`."""
        changed, single = self.changed, self.single
        if single is not None:
            read, name, value = single.scope.get, single.name, single.value
            for element in elements:
                if read(name, ABSENT) is not value:
                    odd.append(element)
                    return
                yield element
            return
        for element in elements:
            if changed():
                odd.append(element)
                return
            yield element

    def replayed(self, elements: Iterator[object], following: Iterator[object]) -> Iterator[object]:
        """Elements that came before a variable was changed, each with the values of that time, and those behind."""
        with self.as_before():
            yield from elements
        yield from following

    def reached_by(self, stages: Iterable[BoundStage]) -> bool:
        """Whether functions of the stages hold one of the objects, and so may change it."""
        return self._reached(
            each for stage in stages for each in (stage.callee, *stage.args, *stage.kwargs.values())
        )

    def reached_from(self, iterator: Iterator[object]) -> bool:
        """Whether an iterator holds one of the objects, and so may change it when it is asked."""
        return self._reached([iterator])

    def _reached(self, given: Iterable[object]) -> bool:
        try:
            return bool(self.objects) and not self.objects.isdisjoint(map(id, reached(given)))
        except Endless:
            return True


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
    kind = cast("type[object]", type(value))  # objects of the user's are not asked what they are
    if issubclass(kind, (*_FIXED, ModuleType, BuiltinFunctionType)):
        return
    if issubclass(kind, tuple):
        for part in cast("tuple[Any, ...]", value):
            _look(part, variables, objects, seen)
        return
    if id(value) in seen:
        return
    seen.add(id(value))
    parts = _parts(value)
    if parts is None:
        if issubclass(kind, type) and is_library(value):
            return
        objects.update(map(id, (value, *users_classes(value))))
        for held in (*fields(value), *methods(value), *viewed(value)):
            _look(held, variables, objects, seen)
        return
    for part in parts:
        held = part
        if type(part) in (Name, Cell):
            held = part.value
            if not issubclass(type(held), (ModuleType, BuiltinFunctionType)):
                variables.append(part)
        _look(held, variables, objects, seen)


def _parts(value: Any) -> Iterator[Any] | None:
    """What a function is made of, variables among it; None for anything else."""
    kind = cast("type[object]", type(value))
    if kind is FunctionType:
        return _around(value)
    if issubclass(kind, (functools.partial, MethodType)):
        return iter(parts_of(cast("functools.partial[Any] | MethodType", value)))
    return iter((value.function,)) if kind is Noted else None


def _around(function: FunctionType) -> Iterator[Any]:
    yield from _names(function.__code__, function.__globals__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield Cell(cell, contents(cell), ("cell", id(function.__code__), name))
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()


def _names(code: CodeType, scope: dict[str, Any]) -> Iterator[Name]:
    for each in codes(code):
        for name in each.co_names:
            if name in scope:
                yield Name(scope, name, scope[name])


__all__ = ["Watch"]
