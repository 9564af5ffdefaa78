"""What stages are given, functions and other values, remembered as it was."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from types import CodeType, FunctionType
from typing import Any, TypeGuard, cast

import numpy as np

from hastega_magic.records import dataclass
from hastega_magic.syntax.closures.contained import Where
from hastega_magic.syntax.closures.given import (
    Given,
    Read,
    defaults_given,
    defaults_of,
    given_by,
    is_method,
    is_partial,
)
from hastega_magic.syntax.closures.numbers import PARAMETERS, same_number
from hastega_magic.syntax.closures.variables import contents

FREE = object()
"""Stands for a number or an array that may be any."""


@dataclass(frozen=True)
class Function:
    """A function among the arguments: made anew for each run, perhaps, of the same code."""

    code: CodeType
    scope: dict[str, Any]
    defaults: tuple[object, ...] | None
    cells: tuple[object, ...]
    """Values of its variables; of one that holds a function, that as a `Function`, as it may be made anew as well."""
    names: tuple[str, ...] = ()
    """Parameters that are given by name alone and have defaults; `named`: these."""
    named: tuple[object, ...] = ()

    def fits(self, argument: Any) -> bool:
        """Whether compiling this argument would give the same."""
        if type(argument) is not FunctionType or argument.__code__ is not self.code:
            return False
        if argument.__globals__ is not self.scope or not are_still(argument.__defaults__, self.defaults):
            return False
        if not self._fits_by_name(argument):
            return False
        if not self.cells:
            return True
        for cell, value in zip(argument.__closure__ or (), self.cells, strict=True):
            found = contents(cell)
            if found is value or value is FREE:
                continue
            if not (value.fits(found) if type(value) is Function else same_number(found, value)):
                return False
        return True

    def held(self) -> tuple[object, ...]:
        """What stays alive with it."""
        inner = (each.held() if isinstance(each, Function) else (each,) for each in self._values)
        return tuple(each for each in chain.from_iterable(inner) if each is not FREE)

    def conditions(self, argument: str, name: Callable[[object], str]) -> Iterator[str]:
        """What `fits` looks at, as expressions over a variable that holds it."""
        if self.names or any(each is not FREE for each in self.cells):
            yield f"{name(self.fits)}({argument})"
            return
        yield f"type({argument}) is {name(FunctionType)} and {argument}.__code__ is {name(self.code)}"
        yield f"{argument}.__globals__ is {name(self.scope)}"
        yield (
            f"{name(are_still)}({argument}.__defaults__, {name(self.defaults)})"
            if self.defaults
            else (f"{argument}.__defaults__ is {name(self.defaults)}")
        )
        yield f"{argument}.__kwdefaults__ is None"

    def resembles(self, argument: Any) -> bool:
        """Whether it is of the same code, or of the same type."""
        return self._of_this_code(argument) and _all_alike(held_by(argument), self._values)

    def changed(self, argument: Any) -> set[Where] | None:
        """Variables that hold other numbers now; None where anything else is different."""
        if not self._of_this_code(argument):
            return None
        variables: list[Where] = [("cell", id(self.code), name) for name in self.code.co_freevars]
        variables += [each.where for each in defaults_given(argument, operator.itemgetter(0))]
        found: set[Where] = set()
        for where, now, was in zip(variables, held_by(argument), self._values, strict=True):
            inner = isinstance(was, Function)
            others = was.changed(now) if inner else _others((where,), (now,), (was,))
            if others is None:
                return None
            found |= others
        return found

    def given(self, function: FunctionType, read: Read) -> Iterator[Given]:
        """The variables around the function that this is of, and its defaults; of functions in these, theirs."""
        for place, (name, value) in enumerate(zip(self.code.co_freevars, self.cells, strict=True)):
            if isinstance(value, Function):
                inner = contents((function.__closure__ or ())[place])
                yield from value.given(inner, _cell(read, place))
            else:
                yield Given(("cell", id(self.code), name), value, _cell(read, place))
        yield from defaults_given(function, read)

    def freed(self, found: Iterable[object]) -> Function:
        """The same with these in place of what `given` tells of, as many as these are."""
        left = iter(found)
        cells = tuple(each.freed(left) if isinstance(each, Function) else next(left) for each in self.cells)
        defaults = tuple(islice(left, len(self.defaults or ())))
        return replace(
            self,
            cells=cells,
            defaults=defaults if any(each is FREE for each in defaults) else self.defaults,
            named=tuple(islice(left, len(self.names))),
        )

    def _fits_by_name(self, function: FunctionType) -> bool:
        named = function.__kwdefaults__ or {}
        return (*named,) == self.names and are_still((*named.values(),), self.named)

    def _of_this_code(self, argument: Any) -> TypeGuard[FunctionType]:
        if type(argument) is not FunctionType or argument.__code__ is not self.code:
            return False
        if argument.__globals__ is not self.scope or (*(argument.__kwdefaults__ or ()),) != self.names:
            return False
        return len(argument.__defaults__ or ()) == len(self.defaults or ())

    @property
    def _values(self) -> Sequence[object]:
        return *self.cells, *(self.defaults or ()), *self.named


def held_by(function: FunctionType) -> Sequence[object]:
    """What its variables and defaults hold."""
    return *map(contents, function.__closure__ or ()), *defaults_of(function)


_DEEPEST = 8
"""Functions within each other that are looked at as made anew; beyond them, which is theirs may be the same alone."""


def remembered(function: FunctionType, around: tuple[FunctionType, ...] = ()) -> Function:
    """What a function is now; `around`: those whose variables lead to it. One that leads to itself goes by identity."""
    around = (*around, function)

    def of(value: Any) -> object:
        made = type(value) is FunctionType and len(around) < _DEEPEST
        return remembered(value, around) if made and not any(value is each for each in around) else value

    cells = tuple(of(contents(cell)) for cell in function.__closure__ or ())
    by_name = function.__kwdefaults__ or {}
    return Function(
        function.__code__,
        function.__globals__,
        function.__defaults__,
        cells,
        (*by_name,),
        (*by_name.values(),),
    )


def _cell(read: Read, place: int) -> Read:
    return lambda arguments: contents(read(arguments).__closure__[place])


@dataclass(frozen=True)
class Applied:
    """A `functools.partial` among the arguments: what it calls, and what it gives that, by these names in the end."""

    called: Argument
    names: tuple[str, ...]
    items: tuple[object, ...]
    places: tuple[Where, ...]

    def fits(self, argument: Any) -> bool:
        """Whether compiling this argument would give the same."""
        return (
            is_partial(argument)
            and (*argument.keywords,) == self.names
            and are_still(given_by(argument), self.items)
            and self.called.fits(argument.func)
        )

    def held(self) -> tuple[object, ...]:
        """What stays alive with it."""
        return *(each for each in self.items if each is not FREE), *self.called.held()

    def conditions(self, argument: str, name: Callable[[object], str]) -> Iterator[str]:
        """What `fits` looks at, as expressions over a variable that holds it."""
        yield f"{name(self.fits)}({argument})"

    def resembles(self, argument: Any) -> bool:
        """Whether it is of the same code, or of the same type."""
        return (
            self._of_this_form(argument)
            and _all_alike(given_by(argument), self.items)
            and self.called.resembles(argument.func)
        )

    def changed(self, argument: Any) -> set[Where] | None:
        """Variables that hold other numbers now; None where anything else is different."""
        if not self._of_this_form(argument):
            return None
        found, inner = (
            _others(self.places, given_by(argument), self.items),
            self.called.changed(argument.func),
        )
        return None if found is None or inner is None else found | inner

    def freed(self, found: Sequence[object]) -> Applied:
        """The same with these in place of what the function has, and is given."""
        inner = len(found) - len(self.items)
        return replace(self, called=self.called.freed(found[:inner]), items=tuple(found[inner:]))

    def _of_this_form(self, argument: Any) -> TypeGuard[functools.partial[Any]]:
        if not is_partial(argument) or (*argument.keywords,) != self.names:
            return False
        return len(given_by(argument)) == len(self.items)


@dataclass(frozen=True)
class OfObject:
    """A method among the arguments: its function, and the object that it is of, which is as good as a variable."""

    called: Function
    owner: object
    where: Where

    def fits(self, argument: Any) -> bool:
        """Whether compiling this argument would give the same."""
        if not is_method(argument) or (self.owner is not FREE and argument.__self__ is not self.owner):
            return False
        return self.called.fits(argument.__func__)

    def held(self) -> tuple[object, ...]:
        """What stays alive with it."""
        return self.called.held() if self.owner is FREE else (self.owner, *self.called.held())

    def conditions(self, argument: str, name: Callable[[object], str]) -> Iterator[str]:
        """What `fits` looks at, as expressions over a variable that holds it."""
        yield f"{name(self.fits)}({argument})"

    def resembles(self, argument: Any) -> bool:
        """Whether it is of the same code, and its object of the same type."""
        if not is_method(argument) or not _all_alike((argument.__self__,), (self.owner,)):
            return False
        return self.called.resembles(argument.__func__)

    def changed(self, argument: Any) -> set[Where] | None:
        """Variables that hold other numbers now; None where anything else is different."""
        if not is_method(argument):
            return None
        found = _others((self.where,), (argument.__self__,), (self.owner,))
        inner = self.called.changed(argument.__func__)
        return None if found is None or inner is None else found | inner

    def freed(self, found: Sequence[object]) -> OfObject:
        """The same with these in place of its object, and of what its function has."""
        return replace(self, called=self.called.freed(found[1:]), owner=found[0])


@dataclass(frozen=True)
class Value:
    """An argument that is no function with code of its own."""

    value: Any
    where: Where | None = None
    """Where it is, if it may be a parameter."""

    def fits(self, argument: Any) -> bool:
        """Whether compiling this argument would give the same."""
        return is_as_it_was(argument, self.value)

    def held(self) -> tuple[object, ...]:
        """What stays alive with it."""
        return () if self.value is FREE else (self.value,)

    def conditions(self, argument: str, name: Callable[[object], str]) -> Iterator[str]:
        """What `fits` looks at, as expressions over a variable that holds it."""
        if self.value is not FREE:
            yield is_still(argument, self.value, name)

    def resembles(self, argument: Any) -> bool:
        """Whether it is of the same code, or of the same type."""
        return self.value is FREE or alike(argument, self.value)

    def changed(self, argument: Any) -> set[Where] | None:
        """The argument itself where it is another number; None where it is another object."""
        return _others((self.where,), (cast(object, argument),), (self.value,))

    def freed(self, found: Sequence[object]) -> Value:
        """The same with this in its place."""
        return replace(self, value=found[0]) if found else self


Argument = Function | Applied | OfObject | Value


def is_as_it_was(now: object, was: object) -> bool:
    """Whether it is the same, or an equal number, or may be any."""
    return now is was or was is FREE or same_number(now, was)


def are_still(now: Sequence[object] | None, was: Sequence[object] | None) -> bool:
    """The same of each of several values, or of none."""
    if now is was:
        return True
    return now is not None and was is not None and len(now) == len(was) and all(map(is_as_it_was, now, was))


def _all_alike(now: Sequence[object], was: Sequence[object]) -> bool:
    return all(map(_resembles, now, was))


def _resembles(now: object, was: object) -> bool:
    return was is FREE or (was.resembles(now) if isinstance(was, Function) else alike(now, was))


def _others(
    places: Sequence[Where | None], now: Sequence[object], was: Sequence[object]
) -> set[Where] | None:
    """Where there are other numbers than there were; None where there are other objects."""
    found: set[Where] = set()
    for where, new, old in zip(places, now, was, strict=True):
        if is_as_it_was(new, old):
            continue
        if where is None or where[0] == "size" or not both_numbers(new, old):
            return None
        found.add(where)
    return found


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


__all__ = [
    "FREE",
    "Applied",
    "Argument",
    "Function",
    "OfObject",
    "Value",
    "alike",
    "both_numbers",
    "held_by",
    "is_still",
    "remembered",
]
