"""What stages are given, functions and other values, remembered as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from types import CodeType, FunctionType
from typing import Any, cast

import numpy as np

from hastega_magic.records import dataclass
from hastega_magic.syntax.closures.around import Where, contents
from hastega_magic.syntax.closures.numbers import PARAMETERS, same_number

FREE = object()
"""Stands for a number or an array that may be any."""


@dataclass(frozen=True)
class Function:
    """A function among the arguments: made anew for each run, perhaps, of the same code."""

    code: CodeType
    scope: dict[str, Any]
    defaults: object
    cells: tuple[object, ...]

    def fits(self, argument: Any) -> bool:
        """Whether compiling this argument would give the same."""
        if type(argument) is not FunctionType or argument.__code__ is not self.code:
            return False
        if argument.__globals__ is not self.scope or argument.__defaults__ is not self.defaults:
            return False
        if argument.__kwdefaults__ is not None:
            return False
        if not self.cells:
            return True
        for cell, value in zip(argument.__closure__ or (), self.cells, strict=True):
            found = contents(cell)
            if found is not value and value is not FREE and not same_number(found, value):
                return False
        return True

    def held(self) -> tuple[object, ...]:
        """What stays alive with it."""
        defaults = cast("tuple[object, ...]", self.defaults or ())
        return (*(each for each in self.cells if each is not FREE), *defaults)

    def conditions(self, argument: str, name: Callable[[object], str]) -> Iterator[str]:
        """What `fits` looks at, as expressions over a variable that holds it."""
        if any(each is not FREE for each in self.cells):
            yield f"{name(self.fits)}({argument})"
            return
        yield f"type({argument}) is {name(FunctionType)} and {argument}.__code__ is {name(self.code)}"
        yield f"{argument}.__globals__ is {name(self.scope)}"
        yield f"{argument}.__defaults__ is {name(self.defaults)} and {argument}.__kwdefaults__ is None"

    def resembles(self, argument: Any) -> bool:
        """Whether it is of the same code, or of the same type."""
        if type(argument) is not FunctionType or argument.__code__ is not self.code:
            return False
        if argument.__globals__ is not self.scope or argument.__defaults__ is not self.defaults:
            return False
        pairs = zip(argument.__closure__ or (), self.cells, strict=True)
        return all(value is FREE or alike(contents(cell), value) for cell, value in pairs)

    def changed(self, argument: Any) -> set[Where] | None:
        """Variables that hold other numbers now; None where anything else is different."""
        if not isinstance(argument, FunctionType) or not replace(self, cells=(FREE,) * len(self.cells)).fits(
            argument
        ):
            return None
        found: set[Where] = set()
        pairs = zip(self.code.co_freevars, argument.__closure__ or (), self.cells, strict=True)
        for name, cell, value in pairs:
            now = contents(cell)
            if now is value or value is FREE or same_number(now, value):
                continue
            if not both_numbers(now, value):
                return None
            found.add(("cell", id(self.code), name))
        return found


@dataclass(frozen=True)
class Value:
    """An argument that is no function with code of its own."""

    value: Any

    def fits(self, argument: Any) -> bool:
        """Whether compiling this argument would give the same."""
        return argument is self.value or same_number(argument, self.value)

    def conditions(self, argument: str, name: Callable[[object], str]) -> Iterator[str]:
        """What `fits` looks at, as expressions over a variable that holds it."""
        yield is_still(argument, self.value, name)

    def resembles(self, argument: Any) -> bool:
        """Whether it is of the same code, or of the same type."""
        return alike(argument, self.value)

    def changed(self, argument: Any) -> set[Where] | None:
        """None where it is another one."""
        return set() if self.fits(argument) else None


def is_still(now: str, value: object, name: Callable[[object], str]) -> str:
    """Whether an expression gives this value, or an equal number."""
    return f"((now := {now}) is {name(value)} or {name(same_number)}(now, {name(value)}))"


def alike(a: object, b: object) -> bool:
    """Whether they are the same, or values of one kind that cannot be called."""
    return a is b or (_sort(a) == _sort(b) and (not callable(a) or a == b))


def _sort(value: Any) -> object:
    """The type, and of an array what decides whether loops are compiled for it."""
    kind = cast("type[object]", type(value))
    return (kind, value.dtype, value.ndim) if kind is np.ndarray else kind


def both_numbers(a: Any, b: Any) -> bool:
    """Whether these are numbers of which one that keeps changing is a parameter."""
    return type(a) in PARAMETERS and type(b) in PARAMETERS


__all__ = ["FREE", "Function", "Value", "alike", "both_numbers", "is_still"]
