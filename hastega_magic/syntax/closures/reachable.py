"""What running a function may come to: all that its names, variables, defaults, fields and methods lead to.

def h(x): return o.f(x) + table[x]        h leads to `o`, its class, the method `f` and what that reads; to `table`

Asked where code of the user's is to be run at another time than it is written at. What cannot be told counts as
reached; libraries are taken not to read or change what the user's own functions do.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from types import CellType, CodeType, FunctionType, GeneratorType, MappingProxyType, ModuleType
from typing import Any, cast

import numpy as np

from hastega_magic.syntax.closures.attributes import ABSENT, fields_of
from hastega_magic.syntax.closures.bytecode import codes
from hastega_magic.syntax.closures.libraries import is_library
from hastega_magic.syntax.closures.variables import contents

_MOST = 5_000
"""Objects that are looked at."""

_FIXED = (
    bool, int, float, complex, str, bytes, range, type(None), np.generic, np.dtype, np.ufunc, ModuleType, CodeType,
)  # fmt: skip
"""What holds nothing of the user's; modules are taken for granted."""

_HELD = (tuple, list, set, frozenset, deque)

_ANYTHING = frozenset({"globals", "locals", "vars", "eval", "exec", "gc", "sys", "get_ipython", "__dict__"})
"""Names by which a function may come to any variable."""


class Endless(Exception):
    """There is more than is looked at."""


def reached(given: Iterable[object]) -> Iterator[object]:
    """The objects that functions, iterators and others lead to, themselves among them; raises Endless."""
    pending: list[object] = list(given)
    seen: set[int] = set()
    kept: list[object] = []  # what a getter has made must live as long as its identity counts
    while pending:
        value = pending.pop()
        if issubclass(type(value), _FIXED) or id(value) in seen:
            continue
        if len(seen) >= _MOST:
            raise Endless
        seen.add(id(value))
        kept.append(value)
        yield value
        pending += _parts(value)


def may_read(given: Iterable[object], names: Collection[str]) -> bool:
    """Whether running what a stage is given may read a global variable of one of these names."""
    try:
        for each in reached(given):
            if type(each) is FunctionType:
                read = {name for code in codes(each.__code__) for name in code.co_names}
                if not read.isdisjoint(names) or not read.isdisjoint(_ANYTHING):
                    return True
    except Endless:
        return True
    return False


def users_classes(value: object) -> list[type]:
    """The user's classes that an object is of, or a class is and comes from."""
    kind = cast("type[Any]", value if issubclass(type(value), type) else type(value))
    return [each for each in type.mro(kind) if not is_library(each)] if kind is not type else []


def fields(value: object) -> Collection[object]:
    """The values of an object's attributes, without code of its class."""
    return cast("dict[str, object]", fields_of(value)).values()


def methods(value: object) -> Iterator[object]:
    """What the user's classes of an object hold: functions, and what wraps them."""
    for kind in users_classes(value):
        for each in vars(kind).values():
            if type(each) in (staticmethod, classmethod):
                yield cast("staticmethod[Any, Any]", each).__func__
            elif type(each) is property:
                yield from (each.fget, each.fset, each.fdel)
            else:
                yield each


def viewed(value: object) -> tuple[object, ...]:
    """Whose memory an array or a memoryview shows, and which dict a view of one."""
    if issubclass(type(value), np.ndarray):
        base = _BASE(value)
        return () if base is None else (base,)
    if issubclass(type(value), memoryview):
        try:
            return (cast("memoryview", value).obj,)
        except ValueError:  # a released one
            return ()
    return tuple(gc.get_referents(value)) if issubclass(type(value), _VIEWS) else ()


_NONE: dict[object, object] = {}
_VIEWS = (type(_NONE.keys()), type(_NONE.values()), type(_NONE.items()), MappingProxyType)

_BASE: Callable[[object], object] = cast(Any, np.ndarray).base.__get__
"""Of subclasses too, whatever they make of the name."""


def _parts(value: Any) -> Iterable[object]:
    """What an object leads to at once."""
    if type(value) is FunctionType:
        return () if is_library(value) else _of_function(value)
    if type(value) is CellType:
        return (contents(value),)
    if type(value) in _HELD:
        return _items(cast("Collection[object]", value))
    if type(value) is dict:
        held = cast("dict[object, object]", value)
        return [*_items(held), *_items(held.values())]
    if issubclass(type(value), np.ndarray):
        array = cast("np.ndarray[Any, np.dtype[Any]]", value)
        held = _items(cast("list[object]", array.ravel().tolist())) if array.dtype.hasobject else []
        return [*held, *viewed(array)]
    if issubclass(type(value), type):
        return () if is_library(value) else methods(cast(object, value))
    found = [*methods(value), *users_classes(value)]
    return [
        *found,
        *_of_generator(value),
        *(each for each in gc.get_referents(value) if not issubclass(type(each), type)),
    ]


def _of_function(function: FunctionType) -> Iterator[object]:
    for code in codes(function.__code__):
        for name in code.co_names:
            found = function.__globals__.get(name, None)
            yield found
            if type(found) is ModuleType:  # whose functions may have been put there by the user
                yield from (vars(found).get(each) for each in code.co_names)
    for cell in function.__closure__ or ():
        found = contents(cell)
        yield None if found is ABSENT else found
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    yield from vars(function).values()


def _of_generator(value: Any) -> Iterator[object]:
    """The globals that a generator's code reads; its own variables it holds."""
    frame = value.gi_frame if type(value) is GeneratorType else None
    if frame is not None:
        for code in codes(frame.f_code):
            for name in code.co_names:
                yield frame.f_globals.get(name)


def _items(held: Collection[object]) -> list[object]:
    """The items of a container; nothing where these are numbers and texts."""
    if len(held) > _MOST and not set(map(type, held)) <= _PLAIN:
        raise Endless
    return [] if len(held) > _MOST else [each for each in held if type(each) not in _PLAIN]


_PLAIN = frozenset({bool, int, float, complex, str, bytes, type(None), np.float64, np.int64, np.float32})


__all__ = ["Endless", "fields", "may_read", "methods", "reached", "users_classes", "viewed"]
