"""What functions read from around them, remembered as it was, to know whether it still is.

    k = 5
    captured([lambda x: x * k])  →  the function's code; `k` in its globals is 5

Compiled code holds numbers as constants and functions as parts of itself, so all of this decides whether it fits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from types import CodeType, FunctionType
from typing import Any, cast

import numpy as np

from hastega_magic.records import dataclass
from hastega_magic.syntax.closures.around import (
    ABSENT,
    Attribute,
    Cell,
    Made,
    Name,
    Shaped,
    Unclear,
    Walk,
    contents,
)
from hastega_magic.syntax.closures.contained import Shape, Where, found_at, numbers_in, shape_of, variable_of
from hastega_magic.syntax.closures.holding import is_data
from hastega_magic.syntax.closures.numbers import PARAMETERS, same_number
from hastega_magic.syntax.closures.numpy_errors import Asked, asks

_FREE = object()
"""Stands for a number or an array that may be any."""

Read = Callable[[Sequence[Any]], Any]
"""How a variable is read: from an argument, or where it is."""


@dataclass(frozen=True)
class Free:
    """A captured number that is a parameter of compiled code."""

    where: Where
    type: type
    read: Read


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

    def held(self) -> tuple[object, ...]:
        """What stays alive with it."""
        defaults = cast("tuple[object, ...]", self.defaults or ())
        return (*(each for each in self.cells if each is not _FREE), *defaults)

    def conditions(self, argument: str, name: Callable[[object], str]) -> Iterator[str]:
        if any(each is not _FREE for each in self.cells):
            yield f"{name(self.fits)}({argument})"
            return
        yield f"type({argument}) is {name(FunctionType)} and {argument}.__code__ is {name(self.code)}"
        yield f"{argument}.__globals__ is {name(self.scope)}"
        yield f"{argument}.__defaults__ is {name(self.defaults)} and {argument}.__kwdefaults__ is None"

    def resembles(self, argument: Any) -> bool:
        if type(argument) is not FunctionType or argument.__code__ is not self.code:
            return False
        if argument.__globals__ is not self.scope or argument.__defaults__ is not self.defaults:
            return False
        pairs = zip(argument.__closure__ or (), self.cells, strict=True)
        return all(value is _FREE or _alike(contents(cell), value) for cell, value in pairs)

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

    def conditions(self, argument: str, name: Callable[[object], str]) -> Iterator[str]:
        yield _is_still(argument, self.value, name)

    def resembles(self, argument: Any) -> bool:
        return _alike(argument, self.value)

    def changed(self, argument: Any) -> set[Where] | None:
        return set() if self.fits(argument) else None


@dataclass(frozen=True)
class Held:
    """A variable that holds a small container of numbers, which is looked at by what is in it."""

    where: Where
    read: Read
    shape: Shape

    def fits(self, arguments: Sequence[Any]) -> bool:
        return self.shape.fits(self.read(arguments))

    def changed(self, arguments: Sequence[Any]) -> set[Where] | None:
        return self.shape.changed(self.where, self.read(arguments))

    def resembles(self, arguments: Sequence[Any]) -> bool:
        return type(self.read(arguments)) is self.shape.kind


@dataclass(frozen=True)
class Captured:
    """The arguments, and everything that they read."""

    arguments: tuple[_Function | _Value, ...]
    around: tuple[Name | Cell, ...]
    made: tuple[Made | Shaped | Attribute | Asked, ...]
    free: tuple[Free, ...] = ()
    holds_data: bool = False
    """Whether arrays or objects of the user's stay alive with this."""
    arrays: Mapping[int, tuple[Read, ...]] = field(default_factory=dict[int, "tuple[Read, ...]"])
    """By identity of an array that may be any how it is read from each of the variables that hold it."""
    held: tuple[Held, ...] = ()

    def changed(self, arguments: Sequence[Any]) -> set[Where] | None:
        """Variables that hold other numbers now; None where anything else is different."""
        found: set[Where] = set()
        for known, argument in zip(self.arguments, arguments, strict=True):
            others = known.changed(argument)
            if others is None:
                return None
            found |= others
        if not all(each.holds() for each in self.made):
            return None
        for each in self.around:
            if not each.holds():
                if not _both_numbers(each.now(), each.value):
                    return None
                found.add(each.where)
        for each in self.held:
            others = each.changed(arguments)
            if others is None:
                return None
            found |= others
        return found

    def resembles(self, arguments: Sequence[Any]) -> bool:
        """Whether they are of the same code, which reads the same functions, and other values of the same types."""
        return (
            all(known.resembles(each) for known, each in zip(self.arguments, arguments, strict=True))
            and all(_alike(each.now(), each.value) for each in self.around)
            and all(each.resembles(arguments) for each in self.held)
            and all(each.holds() for each in self.made)
        )

    def fits(self, arguments: Sequence[Any]) -> bool:
        """Whether compiling these arguments now would give what it gave then."""
        for known, argument in zip(self.arguments, arguments, strict=True):
            if not known.fits(argument):
                return False
        for each in self.around:
            if not each.holds():
                return False
        for each in self.made:
            if not each.holds():
                return False
        for each in self.held:  # noqa: SIM110  this way is faster
            if not each.fits(arguments):
                return False
        return True

    def conditions(self, arguments: Sequence[str], name: Callable[[object], str]) -> Iterator[str]:
        """What `fits` looks at, as expressions over variables that hold the arguments; `name`: of an object in them."""
        for known, argument in zip(self.arguments, arguments, strict=True):
            yield from known.conditions(argument, name)
        for each in self.around:
            if isinstance(each, Name):
                now = f"{name(each.scope.get)}({each.name!r}, {name(ABSENT)})"
                yield _is_still(now, each.value, name)
            else:
                yield f"{name(each.holds)}()"
        for each in self.made:
            yield f"{name(each.holds)}()"
        for each in self.held:
            yield f"{name(each.fits)}(({''.join(f'{argument}, ' for argument in arguments)}))"


def _is_still(now: str, value: object, name: Callable[[object], str]) -> str:
    """Whether an expression gives this value, or an equal number."""
    return f"((now := {now}) is {name(value)} or {name(same_number)}(now, {name(value)}))"


def captured(
    arguments: Sequence[object],
    varying: Collection[Where] = (),
    curious: bool = False,
    arrays: Iterable[object] = (),
    numpys: bool = False,
    lists: Sequence[object] = (),
) -> Captured | None:
    """What the arguments of stages are, and read, now; None where that cannot be told by looking at it again.

    `varying`: variables whose numbers do not matter; `curious`: what cannot be told does not matter either. `arrays`:
    those that may be any wherever variables alone hold them, and so `lists`. `numpys`: numbers may be NumPy's, which
    tells of errors.
    """
    walk = Walk(curious, frozenset(map(id, lists)))
    found: list[_Function | _Value] = []
    try:
        for argument in arguments:
            if isinstance(argument, FunctionType):
                if argument.__kwdefaults__ is not None:
                    return None
                cells = tuple(contents(cell) for cell in argument.__closure__ or ())
                walk.names(argument)
                larger = [each for each in cells if not walk.is_small(each)]
                for value in (*larger, *(argument.__defaults__ or ())):
                    walk.value(value, argument.__code__)
                code, scope = argument.__code__, argument.__globals__
                found.append(_Function(code, scope, argument.__defaults__, cells))
            else:
                walk.value(argument, None)
                found.append(_Value(argument))
        walk.attributes()
    except Unclear:
        return None
    if varying and _of_several(found, walk.around) & set(map(variable_of, varying)):
        return None
    alone = _held_alone(found, walk, [*arrays, *lists])
    if any(id(each) not in alone for each in lists):
        return captured(arguments, varying, curious, arrays, numpys)
    known = _freed(found, walk, frozenset(varying), alone)
    return replace(known, made=(*known.made, Asked(asks()))) if numpys else known


def _of_several(found: Sequence[_Function | _Value], around: Sequence[Name | Cell]) -> set[Where]:
    """Variables of functions of one code, each of which may have a number of its own in its variable."""
    own: list[Where] = [
        ("cell", id(each.code), name)
        for each in found
        if isinstance(each, _Function)
        for name in each.code.co_freevars
    ]
    others = {(each.where, id(each.cell)) for each in around if isinstance(each, Cell)}
    times = Counter([*own, *(where for where, _ in others)])
    return {where for where, count in times.items() if count > 1}


def _held_alone(
    found: Sequence[_Function | _Value], walk: Walk, arrays: Iterable[object]
) -> dict[int, tuple[Read, ...]]:
    """Those of the arrays that variables alone hold, by identity, and how each of the variables is read."""
    reads = {id(array): list[Read]() for array in arrays}
    if not reads or not reads.keys() <= walk.arrays.keys():
        return {}  # one that was made of another is not made anew
    for place, known in enumerate(found):
        for number, value in enumerate(known.cells if isinstance(known, _Function) else ()):
            if id(value) in reads:
                reads[id(value)].append(_from_argument(place, number))
    for each in walk.around:
        if id(each.value) in reads:
            reads[id(each.value)].append(_from_around(each))
    return {key: tuple(each) for key, each in reads.items() if each and len(each) == walk.arrays[key]}


def _freed(
    found: Sequence[_Function | _Value],
    walk: Walk,
    varying: frozenset[Where],
    arrays: Mapping[int, tuple[Read, ...]],
) -> Captured:
    """What was found, without the values of these variables, and without these arrays."""
    free: dict[Where, Free] = {}
    held: list[Held] = []

    def look_into(where: Where, value: object, read: Read) -> None:
        for each, path, number in numbers_in(where, value):
            if each in varying and type(number) in PARAMETERS:
                free.setdefault(each, Free(each, _kind(number), _item(read, path)))
        held.append(Held(where, read, shape_of(where, value, varying)))

    small = set(map(id, walk.small))
    arguments: list[_Function | _Value] = []
    for place, known in enumerate(found):
        if not isinstance(known, _Function):
            arguments.append(known)
            continue
        cells: list[Any] = list(known.cells)
        for number, name in enumerate(known.code.co_freevars):
            where = "cell", id(known.code), name
            if where in varying and type(cells[number]) in PARAMETERS:
                free.setdefault(where, Free(where, _kind(cells[number]), _from_argument(place, number)))
                cells[number] = _FREE
            elif id(cells[number]) in arrays:
                cells[number] = _FREE
            elif walk.is_small(cells[number]):
                look_into(where, cells[number], _from_argument(place, number))
                cells[number] = _FREE
        arguments.append(replace(known, cells=tuple(cells)))
    left: list[Name | Cell] = []
    for each in walk.around:
        if each.where in varying and type(each.value) in PARAMETERS:
            free.setdefault(each.where, Free(each.where, _kind(each.value), _from_around(each)))
        elif id(each) in small:
            look_into(each.where, each.value, _from_around(each))
        elif id(each.value) not in arrays:
            left.append(each)
    made = [each for each in walk.made if not isinstance(each, Shaped) or id(each.array) not in arrays]
    kept = [each.value for each in (*left, *arguments) if not isinstance(each, _Function)]
    kept += [part for each in arguments if isinstance(each, _Function) for part in each.held()]
    kept += [each.owner for each in made if isinstance(each, Attribute)]
    data = bool(walk.arrays) or any(map(is_data, kept))
    return Captured(
        tuple(arguments), tuple(left), tuple(made), tuple(free.values()), data, arrays, tuple(held)
    )


def _from_argument(place: int, number: int) -> Read:
    return lambda arguments: contents(arguments[place].__closure__[number])


def _from_around(each: Name | Cell) -> Read:
    if isinstance(each, Cell):
        return lambda arguments: contents(each.cell)
    get, name = each.scope.get, each.name
    return lambda arguments: get(name, ABSENT)


def _item(read: Read, path: Sequence[object]) -> Read:
    return lambda arguments: found_at(read(arguments), path)


def _kind(number: object) -> type:
    return type(number)


def _alike(a: object, b: object) -> bool:
    """Whether they are the same, or values of one kind that cannot be called."""
    return a is b or (_sort(a) == _sort(b) and (not callable(a) or a == b))


def _sort(value: Any) -> object:
    """The type, and of an array what decides whether loops are compiled for it."""
    kind = cast("type[object]", type(value))
    return (kind, value.dtype, value.ndim) if kind is np.ndarray else kind


def _both_numbers(a: Any, b: Any) -> bool:
    return type(a) in PARAMETERS and type(b) in PARAMETERS


__all__ = ["Captured", "Free", "captured"]
