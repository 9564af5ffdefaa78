"""What functions read from around them, remembered as it was, to know whether it still is.

    k = 5
    captured([lambda x: x * k])  →  the function's code; `k` in its globals is 5

Compiled code holds numbers as constants and functions as parts of itself, so all of this decides whether it fits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import chain, zip_longest
from operator import itemgetter
from types import CodeType, FunctionType
from typing import Any, cast

from hastega_magic.records import dataclass
from hastega_magic.syntax.closures.arguments import (
    FREE,
    Applied,
    Argument,
    Function,
    OfObject,
    Value,
    alike,
    both_numbers,
    is_still,
    remembered,
)
from hastega_magic.syntax.closures.attributes import ABSENT
from hastega_magic.syntax.closures.captured_objects import Fields, attribute_after, is_owner
from hastega_magic.syntax.closures.contained import Shape, Where, found_at, numbers_in, shape_of, variable_of
from hastega_magic.syntax.closures.free_variables import Unclear, Walk
from hastega_magic.syntax.closures.given import (
    Given,
    Read,
    applied_to,
    defaults_given,
    defaults_of,
    function_given,
    given_by,
    is_method,
    is_partial,
    owner_given,
)
from hastega_magic.syntax.closures.holding import is_data
from hastega_magic.syntax.closures.numbers import PARAMETERS
from hastega_magic.syntax.closures.numpy_errors import Asked, asks
from hastega_magic.syntax.closures.variables import Attribute, Cell, Made, Name, Shaped, contents


@dataclass(frozen=True)
class Free:
    """A captured number that is a parameter of compiled code."""

    where: Where
    type: type
    read: Read


@dataclass(frozen=True)
class Held:
    """A variable that holds a small container of numbers, or an object, which is looked at by what is in it."""

    where: Where
    read: Read
    shape: Shape | Fields

    def fits(self, arguments: Sequence[Any]) -> bool:
        return self.shape.fits(self.read(arguments))

    def changed(self, arguments: Sequence[Any]) -> set[Where] | None:
        return self.shape.changed(self.where, self.read(arguments))

    def resembles(self, arguments: Sequence[Any]) -> bool:
        return type(self.read(arguments)) is self.shape.kind


@dataclass(frozen=True)
class Captured:
    """The arguments, and everything that they read."""

    arguments: tuple[Argument, ...]
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
                if not both_numbers(each.now(), each.value):
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
            len(self.arguments) == len(arguments)  # not where `*` or `**` stands for others
            and all(known.resembles(each) for known, each in zip(self.arguments, arguments, strict=True))
            and all(alike(each.now(), each.value) for each in self.around)
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
                yield is_still(now, each.value, name)
            else:
                yield f"{name(each.holds)}()"
        for each in self.made:
            yield f"{name(each.holds)}()"
        for each in self.held:
            yield f"{name(each.fits)}(({''.join(f'{argument}, ' for argument in arguments)}))"


def captured(
    arguments: Sequence[object],
    varying: Collection[Where] = (),
    curious: bool = False,
    arrays: Iterable[object] = (),
    numpys: bool = False,
    lists: Sequence[object] = (),
    places: Sequence[Where | None] = (),
) -> Captured | None:
    """What the arguments of stages are, and read, now; None where that cannot be told by looking at it again.

    `varying`: variables whose numbers do not matter; `curious`: what cannot be told does not matter either. `arrays`:
    those that may be any wherever variables alone hold them, and so `lists`. `numpys`: numbers may be NumPy's, which
    tells of errors. `places`: where each of the arguments is, if it may be a parameter, or holds such.
    """
    walk = Walk(curious, frozenset(map(id, lists)))
    found: list[Argument] = []
    given: list[list[Given]] = []
    """Of each argument all that stands where variables could."""
    try:
        for place, (argument, where) in enumerate(zip_longest(arguments, places)):
            known, inside = _look(walk, argument, where, itemgetter(place))
            found.append(known)
            given.append(inside)
        walk.attributes()
    except Unclear:
        return None
    if varying and _of_several(chain(*given), walk) & set(map(variable_of, varying)):
        return None
    variables = [each for each in chain(*given) if each.where[0] == "cell"]
    variables += [Given(each.where, each.value, _from_around(each)) for each in walk.around]
    alone = _held_alone(variables, [*arrays, *lists], walk.arrays)
    if any(id(each) not in alone for each in lists):
        return captured(arguments, varying, curious, arrays, numpys, places=places)
    owned = walk.owned
    held = [each.value for each in variables if id(each.value) in owned.found and is_owner(each.value)]
    owners = {} if curious else _held_alone(variables, held, owned.routes)
    known = _freed(found, given, _Freeing(walk, frozenset(varying), alone, owners.keys()))
    return replace(known, made=(*known.made, Asked(asks()))) if numpys else known


def _look(walk: Walk, argument: Any, where: Where | None, read: Read) -> tuple[Argument, list[Given]]:
    """An argument as it is now, and what stands in it where variables could."""
    if isinstance(argument, FunctionType):
        function = remembered(argument)
        _walk_function(walk, function, argument)
        return function, list(function.given(argument, read))
    if is_method(argument):
        own = owner_given(argument, read)
        called, inside = _look(walk, argument.__func__, None, function_given(read))
        _walk_through(walk, [own.value], None)
        return OfObject(cast(Function, called), own.value, own.where), [own, *inside]
    if where is not None and is_partial(argument):
        called, inside = _look(walk, argument.func, None, lambda arguments: read(arguments).func)
        given, items = list(applied_to(argument, where, read)), given_by(argument)
        _walk_through(walk, items, None)
        places = tuple(each.where for each in given)
        return Applied(called, (*argument.keywords,), items, places), [*inside, *given]
    if where is None or not walk.is_small(argument):
        walk.value(argument, None)
    return Value(argument, where), [] if where is None else [Given(where, argument, read)]


def _walk_function(walk: Walk, known: Function, function: FunctionType) -> None:
    """What a function reads, and so of those in its variables that are looked at as it is."""
    walk.names(function)
    for value, cell in zip(known.cells, function.__closure__ or (), strict=True):
        if isinstance(value, Function):
            _walk_function(walk, value, contents(cell))
        else:
            _walk_through(walk, (value,), function.__code__)
    _walk_through(walk, defaults_of(function), function.__code__)


def _walk_through(walk: Walk, values: Sequence[object], code: CodeType | None) -> None:
    for value in values:
        if not walk.is_small(value):
            walk.value(value, code)


def _of_several(given: Iterable[Given], walk: Walk) -> set[Where]:
    """Variables of functions of one code, each of which may have a number of its own in its variable."""
    own = [each.where for each in given]
    others = {(each.where, id(each.cell)) for each in walk.around if isinstance(each, Cell)}
    called = [each.function for each in walk.made if isinstance(each, Made)]
    others |= {
        (each.where, id(function))
        for function in called
        if isinstance(function, FunctionType)
        for each in defaults_given(function, itemgetter(0))
    }
    times = Counter([*own, *(where for where, _ in others)])
    return {where for where, count in times.items() if count > 1}


def _held_alone(
    variables: Iterable[Given], objects: Iterable[object], times: Mapping[int, int]
) -> dict[int, tuple[Read, ...]]:
    """Those of the objects that variables alone hold, by identity, and how each of the variables is read.

    `times`: how often something led to each.
    """
    reads = {id(each): list[Read]() for each in objects}
    if not reads or not reads.keys() <= times.keys():
        return {}  # one that was made of another is not made anew
    for each in variables:
        if id(each.value) in reads:
            reads[id(each.value)].append(each.read)
    return {key: tuple(each) for key, each in reads.items() if each and len(each) == times[key]}


@dataclass
class _Freeing:
    """Which variables may have other values: numbers in `varying`, `arrays`, small containers and `owners`.

    Of containers and owners it counts what is read of them (`held`). Arrays and owners, which are objects of the
    user's, go by identity.
    """

    walk: Walk
    varying: frozenset[Where]
    arrays: Mapping[int, tuple[Read, ...]]
    owners: Collection[int]
    free: dict[Where, Free] = field(default_factory=dict[Where, Free])
    held: list[Held] = field(default_factory=list[Held])
    looked_at: set[int] = field(default_factory=set[int])
    """Objects whose attributes are looked at through one of the variables."""

    def frees(self, where: Where, value: object, read: Read) -> bool:
        """Whether the variable is one of these, which is then noted."""
        if where in self.varying and type(value) in PARAMETERS:
            self._frees_number(where, value, read)
            return True
        return id(value) in self.arrays or self._holds(where, value, read)

    def _holds(self, where: Where, value: object, read: Read) -> bool:
        if self.walk.is_small(value):
            for each, path, number in numbers_in(where, value):
                if each in self.varying and type(number) in PARAMETERS:
                    self._frees_number(each, number, _item(read, path))
            self.held.append(Held(where, read, shape_of(where, value, self.varying)))
            return True
        if id(value) in self.owners:
            owned = self.walk.owned
            for each, names, number in owned.numbers(where, value):
                if each in self.varying:
                    self._frees_number(each, number, _attribute(read, names))
            self.held.append(Held(where, read, owned.fields(where, value, self.varying, self.looked_at.add)))
            return True
        return False

    def _frees_number(self, where: Where, number: object, read: Read) -> None:
        self.free.setdefault(where, Free(where, type(number), read))


def _freed(found: Sequence[Argument], given: Sequence[Sequence[Given]], freeing: _Freeing) -> Captured:
    """What was found, without the values of the variables that may have others."""
    walk, arrays, frees = freeing.walk, freeing.arrays, freeing.frees
    arguments = [
        known.freed([FREE if frees(each.where, each.value, each.read) else each.value for each in inside])
        for known, inside in zip(found, given, strict=True)
    ]
    left = [each for each in walk.around if not frees(each.where, each.value, _from_around(each))]
    made = [each for each in walk.made if not isinstance(each, Shaped) or id(each.array) not in arrays]
    made = [
        each for each in made if not isinstance(each, Attribute) or id(each.owner) not in freeing.looked_at
    ]
    kept = [each.value for each in left]
    kept += [part for each in arguments for part in each.held()]
    kept += [each.owner for each in made if isinstance(each, Attribute)]
    kept += [part for each in freeing.held if isinstance(each.shape, Fields) for part in each.shape.kept()]
    data = bool(walk.arrays) or any(map(is_data, kept))
    free, held = tuple(freeing.free.values()), tuple(freeing.held)
    return Captured(tuple(arguments), tuple(left), tuple(made), free, data, arrays, held)


def _from_around(each: Name | Cell) -> Read:
    if isinstance(each, Cell):
        return lambda arguments: contents(each.cell)
    get, name = each.scope.get, each.name
    return lambda arguments: get(name, ABSENT)


def _item(read: Read, path: Sequence[object]) -> Read:
    return lambda arguments: found_at(read(arguments), path)


def _attribute(read: Read, path: Sequence[str]) -> Read:
    return lambda arguments: attribute_after(read(arguments), path)


__all__ = ["Captured", "Free", "captured"]
