"""The numbers that functions read from around them: constants of compiled code, or parameters if they keep changing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import zip_longest
from operator import itemgetter

from hastega_magic.syntax.closures.captured_objects import is_owner
from hastega_magic.syntax.closures.contained import Where, is_small, numbers_in, variable_of
from hastega_magic.syntax.closures.free_variables import Walk
from hastega_magic.syntax.closures.given import Given, values_given
from hastega_magic.syntax.closures.numbers import PARAMETERS, Number
from hastega_magic.syntax.closures.variables import Cell, Name

Numbers = dict[Where, tuple[Number, ...]]
"""By variable, or item of what it holds; there are several where functions of one code have a variable each."""


Places = Sequence[Where | None]
"""Where each of the arguments is, if it may be a parameter, or holds such."""


def numbers_read(arguments: Sequence[object], places: Places) -> Numbers:
    """Numbers of `PARAMETERS` that stages are given, and that functions read around them, but for those of modules."""
    return _numbers(_walked(arguments), _given(arguments, places))


def numbers_and_items(arguments: Sequence[object], places: Places) -> tuple[Numbers, Numbers]:
    """The same, and those in small containers."""
    walk, items, given = _walked(arguments), Numbers(), _given(arguments, places)
    small = [each for each in given if is_small(each.value)]
    for each in (*filter(_is_inside, walk.small), *small):
        for where, _, number in numbers_in(each.where, each.value):
            if type(number) in PARAMETERS:
                items[where] = *items.get(where, ()), number
    return _numbers(walk, given), items


def numbers_given(arguments: Sequence[object], places: Places) -> frozenset[Where]:
    """Where there are numbers in what stages are given, those in small containers among them."""
    given = _given(arguments, places)
    items = (numbers_in(each.where, each.value) for each in given if is_small(each.value))
    found = [(each.where, each.value) for each in given]
    found += [(where, number) for each in items for where, _, number in each]
    return frozenset(where for where, number in found if type(number) in PARAMETERS)


def _given(arguments: Sequence[object], places: Places) -> list[Given]:
    pairs = enumerate(zip_longest(arguments, places))
    return [
        each
        for place, pair in pairs
        for each in values_given(*pair, itemgetter(place))
        if each.where[0] != "size"
    ]


def _walked(arguments: Iterable[object]) -> Walk:
    walk = Walk(curious=True)
    for argument in arguments:
        walk.value(argument, None)
    return walk


def _numbers(walk: Walk, given: Sequence[Given]) -> Numbers:
    found, variables = Numbers(), list(filter(_is_inside, walk.around))
    for each in (*variables, *given):
        if type(each.value) in PARAMETERS:
            found[each.where] = *found.get(each.where, ()), each.value
    owners = [each for each in (*variables, *given) if is_owner(each.value)]
    if owners:
        walk.attributes()
    for each in owners:
        for where, _, number in walk.owned.numbers(each.where, each.value):
            found[where] = *found.get(where, ()), number
    return found


def _is_inside(each: Name | Cell) -> bool:
    """Whether it is no variable of a module's."""
    return isinstance(each, Cell) or "__builtins__" in each.scope


def items_beside(arguments: Sequence[object], places: Places, items: Iterable[Where]) -> frozenset[Where]:
    """All numbers in the containers that these items are in, as stages are given them, or functions read them."""
    variables = set(map(variable_of, items))
    return _items(arguments, places, lambda each: each.where in variables) if variables else frozenset()


def items_bound(arguments: Sequence[object], places: Places, names: Collection[str]) -> frozenset[Where]:
    """All numbers in tuples and dicts that variables of these names hold; lists may be read as arrays are."""
    return _items(arguments, places, lambda each: each.where[2] in names and type(each.value) is not list)


def _items(
    arguments: Sequence[object], places: Places, wanted: Callable[[Name | Cell | Given], bool]
) -> frozenset[Where]:
    given = [each for each in _given(arguments, places) if is_small(each.value)]
    return frozenset(
        where
        for each in (*_walked(arguments).small, *given)
        if wanted(each)
        for where, _, number in numbers_in(each.where, each.value)
        if type(number) in PARAMETERS
    )


__all__ = ["Places", "items_beside", "items_bound", "numbers_and_items", "numbers_given", "numbers_read"]
