"""What functions read from around them, remembered as it was, to know whether it still is.

    k = 5
    captured([lambda x: x * k])  →  the function's code; `k` in its globals is 5

Compiled code holds numbers as constants and functions as parts of itself, so all of this decides whether it fits.
"""

from __future__ import annotations

import builtins
import functools
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any, cast

import numpy as np

from hastega_magic.ir.items import Items

_ABSENT = object()
_NUMBERS = frozenset({bool, int, float, np.float64, np.float32, np.bool_})


Where = tuple[str, int, str]
"""A variable around a function, as `syntax/graph.py` names it."""

Number = bool | int | float
"""What compiled code may have as a constant, or as a parameter."""

_FREE = object()
"""Stands for a number that may be any."""


@dataclass(frozen=True)
class Free:
    """A captured number that is a parameter of compiled code, and how it is read: from an argument or where it is."""

    where: Where
    type: type
    read: Callable[[Sequence[Any]], Any]


@dataclass(frozen=True)
class _Name:
    """A name in a namespace (globals, a module) and its value; or that it is not there."""

    scope: dict[str, Any]
    name: str
    value: Any

    @property
    def where(self) -> Where:
        return "global", id(self.scope), self.name

    def now(self) -> Any:
        return self.scope.get(self.name, _ABSENT)

    def holds(self) -> bool:
        found = self.scope.get(self.name, _ABSENT)
        return found is self.value or same_number(found, self.value)


@dataclass(frozen=True)
class _Cell:
    """A variable of an enclosing function."""

    cell: CellType
    value: Any
    where: Where

    def now(self) -> Any:
        return contents(self.cell)

    def holds(self) -> bool:
        found = contents(self.cell)
        return found is self.value or same_number(found, self.value)


@dataclass(frozen=True)
class _Function:
    """A function among the arguments: made anew for each run, perhaps, of the same code."""

    code: CodeType
    scope: dict[str, Any]
    defaults: object
    cells: tuple[object, ...]

    def fits(self, argument: Any) -> bool:
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
            if found is not value and value is not _FREE and not same_number(found, value):
                return False
        return True

    def changed(self, argument: Any) -> set[Where] | None:
        """Variables that hold other numbers now; None where anything else is different."""
        if not isinstance(argument, FunctionType) or not replace(self, cells=(_FREE,) * len(self.cells)).fits(
            argument
        ):
            return None
        found: set[Where] = set()
        pairs = zip(self.code.co_freevars, argument.__closure__ or (), self.cells, strict=True)
        for name, cell, value in pairs:
            now = contents(cell)
            if now is value or value is _FREE or same_number(now, value):
                continue
            if not _both_numbers(now, value):
                return None
            found.add(("cell", id(self.code), name))
        return found


@dataclass(frozen=True)
class _Value:
    """An argument that is no function with code of its own."""

    value: Any

    def fits(self, argument: Any) -> bool:
        return argument is self.value or same_number(argument, self.value)

    def changed(self, argument: Any) -> set[Where] | None:
        return set() if self.fits(argument) else None


class Unclear(Exception):
    """Something is read that may change and look the same: a list, a buffer."""


@dataclass(frozen=True)
class Captured:
    """The arguments, and everything that they read."""

    arguments: tuple[_Function | _Value, ...]
    around: tuple[_Name | _Cell, ...]
    free: tuple[Free, ...] = ()

    def changed(self, arguments: Sequence[Any]) -> set[Where] | None:
        """Variables that hold other numbers now; None where anything else is different."""
        found: set[Where] = set()
        for known, argument in zip(self.arguments, arguments, strict=True):
            others = known.changed(argument)
            if others is None:
                return None
            found |= others
        for each in self.around:
            if not each.holds():
                if not _both_numbers(each.now(), each.value):
                    return None
                found.add(each.where)
        return found

    def fits(self, arguments: Sequence[Any]) -> bool:
        """Whether compiling these arguments now would give what it gave then."""
        for known, argument in zip(self.arguments, arguments, strict=True):
            if not known.fits(argument):
                return False
        for each in self.around:  # noqa: SIM110  this way is faster
            if not each.holds():
                return False
        return True


def captured(arguments: Sequence[object], varying: Collection[Where] = ()) -> Captured | None:
    """What the arguments of stages are, and read, now; None where that cannot be told by looking at it again.

    `varying`: variables whose numbers do not matter.
    """
    walk = _Walk()
    found: list[_Function | _Value] = []
    try:
        for argument in arguments:
            if isinstance(argument, FunctionType):
                if argument.__kwdefaults__ is not None:
                    return None
                cells = tuple(contents(cell) for cell in argument.__closure__ or ())
                walk.names(argument)
                for value in (*cells, *(argument.__defaults__ or ())):
                    walk.value(value, argument.__code__)
                code, scope = argument.__code__, argument.__globals__
                found.append(_Function(code, scope, argument.__defaults__, cells))
            else:
                walk.value(argument, None)
                found.append(_Value(argument))
    except Unclear:
        return None
    if not varying:
        return Captured(tuple(found), tuple(walk.around))
    return _freed(found, walk.around, frozenset(varying))


def numbers_read(arguments: Iterable[object]) -> dict[Where, Number]:
    """The ints and floats that functions among the arguments read from around them, those of modules left out."""
    walk = _Walk(curious=True)
    found: dict[Where, Number] = {}
    for argument in arguments:
        walk.value(argument, None)
    for each in walk.around:
        inside = isinstance(each, _Cell) or "__builtins__" in each.scope
        if inside and type(each.value) in (int, float):
            found[each.where] = each.value
    return found


def _freed(
    found: Sequence[_Function | _Value], around: Sequence[_Name | _Cell], varying: frozenset[Where]
) -> Captured:
    """What was found, without the values of these variables."""
    free: dict[Where, Free] = {}
    arguments: list[_Function | _Value] = []
    for place, known in enumerate(found):
        if not isinstance(known, _Function):
            arguments.append(known)
            continue
        cells: list[Any] = list(known.cells)
        for number, name in enumerate(known.code.co_freevars):
            where = "cell", id(known.code), name
            if where in varying and type(cells[number]) in (int, float):
                free.setdefault(where, Free(where, _kind(cells[number]), _from_argument(place, number)))
                cells[number] = _FREE
        arguments.append(replace(known, cells=tuple(cells)))
    left: list[_Name | _Cell] = []
    for each in around:
        if each.where in varying and type(each.value) in (int, float):
            free.setdefault(each.where, Free(each.where, _kind(each.value), _from_around(each)))
        else:
            left.append(each)
    return Captured(tuple(arguments), tuple(left), tuple(free.values()))


def _from_argument(place: int, number: int) -> Callable[[Sequence[Any]], Any]:
    return lambda arguments: contents(arguments[place].__closure__[number])


def _from_around(each: _Name | _Cell) -> Callable[[Sequence[Any]], Any]:
    if isinstance(each, _Cell):
        return lambda arguments: contents(each.cell)
    get, name = each.scope.get, each.name
    return lambda arguments: get(name, _ABSENT)


def _kind(number: object) -> type:
    return type(number)


def _both_numbers(a: Any, b: Any) -> bool:
    return type(a) in (int, float) and type(b) in (int, float)


class _Walk:
    """Goes through functions, the functions they read, and the modules; `curious`: past what is unclear, too."""

    def __init__(self, curious: bool = False) -> None:
        self._curious = curious
        self.around: list[_Name | _Cell] = []
        self._seen: set[int] = set()

    def names(self, function: FunctionType) -> None:
        """The global names that a function reads."""
        if id(function.__code__) in self._seen:
            return
        self._seen.add(id(function.__code__))
        for code in codes(function.__code__):
            for name in code.co_names:
                if name in function.__globals__:
                    value = function.__globals__[name]
                    self.around.append(_Name(function.__globals__, name, value))
                    self.value(value, code)
                elif hasattr(builtins, name):
                    self.around.append(_Name(function.__globals__, name, _ABSENT))

    def value(self, value: Any, code: CodeType | None) -> None:
        """Something that code reads."""
        match value:
            case FunctionType():
                if id(value.__code__) in self._seen:
                    return
                self.names(value)
                code = value.__code__
                for name, cell in zip(code.co_freevars, value.__closure__ or (), strict=True):
                    inner = contents(cell)
                    self.around.append(_Cell(cell, inner, ("cell", id(code), name)))
                    self.value(inner, code)
                for default in (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()):
                    self.value(default, value.__code__)
            case ModuleType():
                self._module(value, code)
            case np.ndarray():
                array = cast("np.ndarray[Any, Any]", value)
                if (
                    array.dtype.kind == "c"
                    or array.dtype == np.uint64  # of which some numbers are no int64
                    or not array.flags.c_contiguous
                    or not array.flags.aligned
                    or not array.dtype.isnative
                ):
                    self._unclear()
            case functools.partial():
                called = cast("functools.partial[Any]", value)
                for part in (called.func, *called.args, *called.keywords.values()):
                    self.value(part, code)
            case tuple():
                for part in cast("tuple[Any, ...]", value):
                    self.value(part, code)
            case (
                bool()
                | int()
                | float()
                | complex()
                | np.generic()
                | bytes()
                | type()
                | BuiltinFunctionType()
                | np.ufunc()
                | Items()
            ):
                return
            case None:
                return
            case _:
                self._unclear()

    def _unclear(self) -> None:
        if not self._curious:
            raise Unclear

    def _module(self, module: ModuleType, code: CodeType | None) -> None:
        """The attributes of a module that code may read."""
        key = id(module) ^ id(code)
        if code is None or key in self._seen:
            return
        self._seen.add(key)
        for name in code.co_names:
            if name in module.__dict__:
                value = module.__dict__[name]
                self.around.append(_Name(module.__dict__, name, value))
                self.value(value, code)


def codes(code: CodeType) -> Iterator[CodeType]:
    """The code, and that of the functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def contents(cell: CellType) -> Any:
    """The value of a cell; a value of its own for an empty one."""
    try:
        return cell.cell_contents
    except ValueError:
        return _ABSENT


def same_number(a: Any, b: Any) -> bool:
    """Whether both are numbers of one type, equal, and of one sign if they are zeros."""
    if type(a) is not type(b) or type(a) not in _NUMBERS or a != b:
        return False
    return bool(a) or isinstance(a, int) or math.copysign(1.0, a) == math.copysign(1.0, b)


__all__ = [
    "Captured",
    "Free",
    "Number",
    "Where",
    "captured",
    "codes",
    "contents",
    "numbers_read",
    "same_number",
]
