"""The numbers that functions read from around them: constants of compiled code, or parameters if they keep changing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from hastega_magic.syntax.closures.around import Cell, Name, Walk
from hastega_magic.syntax.closures.contained import Where, numbers_in, variable_of
from hastega_magic.syntax.closures.numbers import PARAMETERS, Number
from hastega_magic.syntax.closures.owners import is_owner

Numbers = dict[Where, tuple[Number, ...]]
"""By variable, or item of what it holds; there are several where functions of one code have a variable each."""


def numbers_read(arguments: Iterable[object]) -> Numbers:
    """Numbers of `PARAMETERS` that functions among the arguments read from around them, those of modules left out."""
    return _numbers(_walked(arguments))


def numbers_and_items(arguments: Iterable[object]) -> tuple[Numbers, Numbers]:
    """The same, and those in small containers."""
    walk, items = _walked(arguments), Numbers()
    for each in filter(_is_inside, walk.small):
        for where, _, number in numbers_in(each.where, each.value):
            if type(number) in PARAMETERS:
                items[where] = *items.get(where, ()), number
    return _numbers(walk), items


def _walked(arguments: Iterable[object]) -> Walk:
    walk = Walk(curious=True)
    for argument in arguments:
        walk.value(argument, None)
    return walk


def _numbers(walk: Walk) -> Numbers:
    found, variables = Numbers(), list(filter(_is_inside, walk.around))
    for each in variables:
        if type(each.value) in PARAMETERS:
            found[each.where] = *found.get(each.where, ()), each.value
    owners = [each for each in variables if is_owner(each.value)]
    if owners:
        walk.attributes()
    for each in owners:
        for where, _, number in walk.owned.numbers(each.where, each.value):
            found[where] = *found.get(where, ()), number
    return found


def _is_inside(each: Name | Cell) -> bool:
    """Whether it is no variable of a module's."""
    return isinstance(each, Cell) or "__builtins__" in each.scope


def items_beside(arguments: Iterable[object], items: Iterable[Where]) -> frozenset[Where]:
    """All numbers in the containers that these items are in, as functions among the arguments read them."""
    variables = set(map(variable_of, items))
    return _items(arguments, lambda each: each.where in variables) if variables else frozenset()


def items_bound(arguments: Iterable[object], names: Collection[str]) -> frozenset[Where]:
    """All numbers in tuples and dicts that variables of these names hold; lists may be read as arrays are."""
    return _items(arguments, lambda each: each.where[2] in names and type(each.value) is not list)


def _items(arguments: Iterable[object], wanted: Callable[[Name | Cell], bool]) -> frozenset[Where]:
    return frozenset(
        where
        for each in _walked(arguments).small
        if wanted(each)
        for where, _, number in numbers_in(each.where, each.value)
        if type(number) in PARAMETERS
    )


__all__ = ["items_beside", "items_bound", "numbers_and_items", "numbers_read"]
