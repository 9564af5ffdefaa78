"""What stages are given as values, looked at as what variables hold is: numbers among it may be parameters.

clip(lo, 255)                      `lo of clip` is what `lo` holds, `hi of clip` is 255
map(partial(scaled, 3))            `k of scaled` is 3, where `def scaled(k, x)`
map(lambda x, k=3: x * k)          `k` is 3, also where it stands behind `*`
map(o.scaled)                      `self` is `o`, where `def scaled(self, x)`
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FunctionType, MethodType
from typing import Any, TypeGuard, cast

from hastega_magic.records import dataclass
from hastega_magic.syntax.closures.contained import Where
from hastega_magic.syntax.site import StageSite
from hastega_magic.syntax.stages import STAGES

Read = Callable[[Sequence[Any]], Any]
"""How a variable is read: from the arguments of all stages, or where it is."""


@dataclass(frozen=True)
class Given:
    """A value, where it is, and how it is read."""

    where: Where
    value: Any
    read: Read


def argument_of(site: StageSite, name: str) -> Where:
    """Where a stage's argument is; stages of one name stand at different places of a statement."""
    return "argument", hash(site.span), f"{name} of {site.name}"


BEGINNINGS: Mapping[str, str] = {"reduce": "init", "sum": "start", "prod": "start"}
"""What reductions begin with is their argument of this name."""


def beginning_of(site: StageSite) -> Where:
    """Where that is."""
    return argument_of(site, BEGINNINGS[site.name])


def size_of(site: StageSite) -> Where:
    """Where the number is that says which elements there are: no parameter, but what decides about elements alone."""
    return "size", hash(site.span), f"n of {site.name}"


def default_of(function: FunctionType, name: str) -> Where:
    """Where a parameter's default is."""
    return "default", id(function.__code__), name


def is_partial(value: object) -> TypeGuard[functools.partial[Any]]:
    """Whether it is a `functools.partial`, and none of a subclass."""
    return type(value) is functools.partial


def is_method(value: object) -> TypeGuard[MethodType]:
    """Whether it is a method of an object, or of a class: a function of Python's that is given that first."""
    return type(value) is MethodType and type(value.__func__) is FunctionType


def owner_given(method: MethodType, read: Read) -> Given:
    """The object that a method is of, where a variable of the function's would be: under its own name for it."""
    function = cast(FunctionType, method.__func__)
    where = "cell", id(function.__code__), (*function.__code__.co_varnames, "self")[0]
    return Given(where, method.__self__, lambda arguments: read(arguments).__self__)


def function_given(read: Read) -> Read:
    """How a method's function is read."""
    return lambda arguments: read(arguments).__func__


def is_given(where: Where) -> bool:
    """Whether a stage is given it, in its text: no variable holds it."""
    return where[0] in ("argument", "default")


def arguments_of(site: StageSite, args: Sequence[object], kwargs: Mapping[str, object]) -> list[Where | None]:
    """Where each of a stage's arguments is; None for those that are never parameters, nor functions."""
    row = STAGES.get(site.name) if site.known else None
    if row is None:
        return [None] * (len(args) + len(kwargs))
    looked_at = {*row.numbers, *(row.parameters[each] for each in row.functions)}
    names = [*row.parameters[: len(args)], *[""] * (len(args) - len(row.parameters)), *kwargs]
    if site.name in SIZED:
        return [size_of(site) if name == "n" else None for name in names]
    return [argument_of(site, name) if name in looked_at else None for name in names]


SIZED: Mapping[str, int] = {"take": 1, "drop": 1, "step": 2}
"""Stages whose number of elements may be another one in each run, and the least: a smaller one leaves all, or none."""


def items_of(where: Where, made: functools.partial[Any]) -> list[Where]:
    """Where each of what a `functools.partial` gives its function is, what it gives by name at the end."""
    called: object = made.func
    named, name = (), "partial"
    if isinstance(called, FunctionType):
        code = called.__code__
        named, name = code.co_varnames[: code.co_argcount], called.__name__.strip("<>")
    more = range(len(named) + 1, len(made.args) + 1)
    names = [*named[: len(made.args)], *(f"argument {each}" for each in more), *made.keywords]
    return [("argument", hash(where[1:]), f"{each} of {name}") for each in names]


def values_given(argument: Any, where: Where | None, read: Read) -> Iterator[Given]:
    """The values among what a stage is given, in `argument`; `where`: that is."""
    if isinstance(argument, FunctionType):
        yield from defaults_given(argument, read)
    elif is_method(argument):
        yield owner_given(argument, read)
        yield from values_given(argument.__func__, None, function_given(read))
    elif where is None:
        return
    elif is_partial(argument):
        yield from values_given(argument.func, None, lambda arguments: read(arguments).func)
        yield from applied_to(argument, where, read)
    else:
        yield Given(where, argument, read)


def defaults_given(function: FunctionType, read: Read) -> Iterator[Given]:
    """The defaults of a function's parameters, those that are given by name alone at the end."""
    defaults, code = function.__defaults__ or (), function.__code__
    names = code.co_varnames[code.co_argcount - len(defaults) : code.co_argcount]
    for place, (name, value) in enumerate(zip(names, defaults, strict=False)):
        yield Given(default_of(function, name), value, _default(read, place))
    for name, value in (function.__kwdefaults__ or {}).items():
        yield Given(default_of(function, name), value, _default_by_name(read, name))


def defaults_of(function: FunctionType) -> tuple[Any, ...]:
    """The same in one tuple."""
    by_name = function.__kwdefaults__
    return (*(function.__defaults__ or ()), *by_name.values()) if by_name else function.__defaults__ or ()


def applied_to(made: functools.partial[Any], where: Where, read: Read) -> Iterator[Given]:
    """What a `functools.partial` gives its function."""
    count = len(made.args)
    for place, (each, value) in enumerate(zip(items_of(where, made), given_by(made), strict=True)):
        yield Given(
            each,
            value,
            _item(read, place) if place < count else _named(read, [*made.keywords][place - count]),
        )


def given_by(made: functools.partial[Any]) -> tuple[Any, ...]:
    """The same in one tuple."""
    return *made.args, *made.keywords.values()


def parts_of(made: functools.partial[Any] | MethodType) -> tuple[object, ...]:
    """What a `functools.partial`, or a method of an object, calls, and what it gives that."""
    if isinstance(made, MethodType):
        return made.__func__, made.__self__
    return cast(object, made.func), *given_by(made)


def _default(read: Read, place: int) -> Read:
    return lambda arguments: read(arguments).__defaults__[place]


def _default_by_name(read: Read, name: str) -> Read:
    return lambda arguments: read(arguments).__kwdefaults__[name]


def _item(read: Read, place: int) -> Read:
    return lambda arguments: read(arguments).args[place]


def _named(read: Read, name: str) -> Read:
    return lambda arguments: read(arguments).keywords[name]


__all__ = [
    "BEGINNINGS", "SIZED", "Given", "Read", "applied_to", "argument_of", "arguments_of", "beginning_of", "default_of",
    "defaults_given", "defaults_of", "function_given", "given_by", "is_given", "is_method", "is_partial", "items_of",
    "owner_given", "parts_of", "size_of", "values_given",
]  # fmt: skip
