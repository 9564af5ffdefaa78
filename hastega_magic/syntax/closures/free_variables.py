"""What is around functions: the names and variables that they read, and what the functions that they call are made of.

def g(x): return x * k        around `lambda x: g(x)`:  `g` in its globals, the code of g, `k` in the globals of g
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import operator
from collections import Counter
from collections.abc import Iterable, Iterator
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, cast

import numpy as np

from hastega_magic.ir.items import Items
from hastega_magic.records import dataclass
from hastega_magic.syntax.closures import attributes
from hastega_magic.syntax.closures.attributes import ABSENT
from hastega_magic.syntax.closures.captured_objects import Owned
from hastega_magic.syntax.closures.contained import Where, is_small
from hastega_magic.syntax.closures.given import parts_of
from hastega_magic.syntax.closures.libraries import is_installed
from hastega_magic.syntax.closures.numbers import same_number
from hastega_magic.syntax.site import is_ours

SMALL = 64
"""Numbers in a set or dict that are looked at one by one in each run, and in what counts as no data of the user's."""
LISTED = 1024
"""Those in a list: a look at one takes some 50 ns, and to build the loop again a millisecond or two."""
_MOST: dict[type, int] = {list: LISTED, set: SMALL, frozenset: SMALL, dict: SMALL}


@dataclass(frozen=True)
class Name:
    """A name in a namespace (globals, a module) and its value; or that it is not there."""

    scope: dict[str, Any]
    name: str
    value: Any

    @property
    def where(self) -> Where:
        """Which variable it is."""
        return "global", id(self.scope), self.name

    def now(self) -> Any:
        """Its value at this moment."""
        return self.scope.get(self.name, ABSENT)

    def holds(self) -> bool:
        """Whether it has the value that it had."""
        found = self.scope.get(self.name, ABSENT)
        return found is self.value or same_number(found, self.value)


@dataclass(frozen=True)
class Cell:
    """A variable of an enclosing function."""

    cell: CellType
    value: Any
    where: Where

    def now(self) -> Any:
        """Its value at this moment."""
        return contents(self.cell)

    def holds(self) -> bool:
        """Whether it has the value that it had."""
        found = contents(self.cell)
        return found is self.value or same_number(found, self.value)


@dataclass(frozen=True)
class Made:
    """What a function that is called is made of: code and defaults may be put in their place, as reloading does.

    Or a small container of numbers, and these.
    """

    function: Any
    parts: tuple[object, ...]

    def holds(self) -> bool:
        """Whether these are its parts."""
        now = _parts_of(self.function)
        return len(now) == len(self.parts) and all(map(operator.is_, now, self.parts))


@dataclass(frozen=True)
class Shaped:
    """An array, which compiled code holds as it is: type, shape and memory may all be changed in their place."""

    array: Any
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    address: int

    def holds(self) -> bool:
        """Whether it is as it was, but for its elements."""
        array = self.array
        return (
            array.shape == self.shape
            and array.dtype == self.dtype
            and array.strides == self.strides
            and _own_memory(array) == self.address
        )


def _own_memory(array: np.ndarray[Any, Any]) -> int:
    """Where the memory lies that an array owns, which `resize` may move; 0 if it owns none."""
    flags = array.flags
    if not flags.owndata or not array.size:
        return 0
    if not flags.writeable or array.dtype.kind not in "biuf":
        return array.ctypes.data
    return ctypes.addressof(ctypes.c_char.from_buffer(cast(Any, array)))


def _parts_of(function: Any) -> tuple[object, ...]:
    if isinstance(function, dict):
        return (*cast("dict[object, object]", function), *cast("dict[object, object]", function).values())
    if isinstance(function, (list, tuple, set, frozenset)):
        items = tuple(cast("list[object]", function))
        return items if {list, tuple}.isdisjoint(map(type, items)) else tuple(_leaves(items))
    if isinstance(function, type):
        return attributes.parts_of_named_tuple(function)
    if isinstance(function, MethodType):
        return parts_of(function)
    if isinstance(function, functools.partial):
        return function.func, function.args, *_items(function.keywords)
    return function.__code__, function.__defaults__, *_items(function.__kwdefaults__)


_DEEPEST = 16
"""Lists within each other that are looked at: one may hold itself."""


def _leaves(items: Iterable[object], depth: int = _DEEPEST) -> Iterator[object]:
    """The items, those of lists and tuples among them behind these; None, which is no number, where they go deeper."""
    if not depth:
        yield None
        return
    for item in items:
        yield item
        if type(item) in (list, tuple):
            yield from _leaves(cast("list[object]", item), depth - 1)


def _items(named: dict[str, Any] | None) -> tuple[object, ...]:
    return (*named.keys(), *named.values()) if named else ()


@dataclass(frozen=True)
class Attribute:
    """An attribute of an object that functions may read, and its value."""

    owner: Any
    name: str
    value: Any

    def now(self) -> Any:
        """Its value at this moment."""
        return attributes.plain(self.owner, self.name)

    def holds(self) -> bool:
        """Whether it has the value that it had."""
        now = self.now()
        is_method = isinstance(now, attributes.Method) and now == self.value
        return is_method or now is self.value or same_number(now, self.value)


class Unclear(Exception):
    """Something is read that may change and look the same: a list, a buffer."""


class Walk:
    """Goes through functions, the functions they read, and the modules; `curious`: past what is unclear, too.

    `lists`: identities of those that may hold anything.
    """

    def __init__(self, curious: bool = False, lists: frozenset[int] = frozenset()) -> None:
        self._curious = curious
        self._lists = lists
        self.around: list[Name | Cell] = []
        self.small: list[Name | Cell] = []
        """Those that hold small containers of numbers, which are not gone into."""
        self.made: list[Made | Shaped | Attribute] = []
        self.arrays = Counter[int]()
        """How often it came past each, and past those lists, by identity."""
        self._seen: set[tuple[int, int]] = set()
        self._owners: list[Any] = []
        self._found: dict[int, dict[str, Any]] = {}
        self._routes = Counter[int]()
        self._read: set[str] = set()

    def names(self, function: FunctionType) -> None:
        """The global names that a function reads."""
        key = id(function.__code__), id(function.__globals__)
        if key in self._seen:
            return
        self._seen.add(key)
        for code in codes(function.__code__):
            self._read.update(code.co_names)
            for name in code.co_names:
                if is_ours(name):
                    continue
                if name in function.__globals__:
                    value = function.__globals__[name]
                    self._variable(Name(function.__globals__, name, value), code)
                elif name in function.__builtins__:
                    value = function.__builtins__[name]  # which anybody may replace
                    self.around.append(Name(function.__globals__, name, ABSENT))
                    self._variable(Name(function.__builtins__, name, value), code)

    def is_small(self, value: object) -> bool:
        """Whether it is looked at by what is in it, where a variable holds it."""
        return is_small(value) and id(value) not in self._lists

    def _variable(self, each: Name | Cell, code: CodeType) -> None:
        self.around.append(each)
        if self.is_small(each.value):
            self.small.append(each)
        else:
            self.value(each.value, code)

    def attributes(self) -> None:
        """The attributes that the functions so far may read, of all objects so far, and what these lead to."""
        done: set[tuple[int, str]] = set()
        while True:
            pairs = [(owner, name) for owner in self._owners for name in self._read]
            new = [pair for pair in pairs if (id(pair[0]), pair[1]) not in done]
            if not new:
                return
            for owner, name in new:
                done.add((id(owner), name))
                found = attributes.plain(owner, name)
                if found is ABSENT:
                    continue
                self.made.append(Attribute(owner, name, found))
                self._found.setdefault(id(owner), {})[name] = found
                if isinstance(found, ModuleType):
                    self._unclear()
                self.value(found.function if isinstance(found, attributes.Method) else found, None)

    @property
    def owned(self) -> Owned:
        """What was found of objects so far."""
        return Owned(self._found, self._routes)

    def value(self, value: Any, code: CodeType | None) -> None:
        """Something that code reads."""
        match value:
            case FunctionType():
                self._function(value)
            case ModuleType():
                self._module(value, code)
            case np.ndarray():
                self._array(cast("np.ndarray[Any, Any]", value))
            case functools.partial() | MethodType():
                called: Any = cast(Any, value)
                self.made.append(Made(called, _parts_of(called)))
                for part in parts_of(called):
                    self.value(part, code)
            case tuple() | type() if attributes.has_plain(value):
                self._owner(value)
                if attributes.is_named_tuple(value):
                    self.made.append(Made(value, _parts_of(value)))
                for part in cast("tuple[Any, ...]", value) if isinstance(value, tuple) else ():
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
                | str()
                | np.dtype()
                | type()
                | BuiltinFunctionType()
                | np.ufunc()
                | Items()
            ):
                return
            case None:
                return
            case _:
                self._other(value)

    def _function(self, value: FunctionType) -> None:
        if (id(value), 0) in self._seen:
            return
        self._seen.add((id(value), 0))
        self.made.append(Made(value, _parts_of(value)))
        # A method of pandas leads to thousands of functions, and to each attribute these name of each object.
        if not self._curious or not is_installed(value):
            self.names(value)
        code = value.__code__
        for name, cell in zip(code.co_freevars, value.__closure__ or (), strict=True):
            inner = contents(cell)
            self._variable(Cell(cell, inner, ("cell", id(code), name)), code)
        for default in (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()):
            self.value(default, value.__code__)

    def _array(self, array: np.ndarray[Any, Any]) -> None:
        self.arrays[id(array)] += 1
        if (
            array.dtype.kind == "c"
            or array.dtype == np.uint64  # of which some numbers are no int64
            or not array.flags.c_contiguous
            or not array.flags.aligned
            or not array.dtype.isnative
        ):
            self._unclear()
        else:
            place = _own_memory(array)
            self.made.append(Shaped(array, array.dtype, array.shape, array.strides, place))

    def _other(self, value: Any) -> None:
        if id(value) in self._lists:
            self.arrays[id(value)] += 1
        elif not self._curious and _is_plain(value):
            self.made.append(Made(value, _parts_of(value)))
        elif attributes.has_plain(value):
            self._owner(value)
        else:
            self._unclear()

    def _owner(self, value: Any) -> None:
        self._routes[id(value)] += 1
        if (id(value), 1) not in self._seen:
            self._seen.add((id(value), 1))
            self._owners.append(value)

    def _unclear(self) -> None:
        if not self._curious:
            raise Unclear

    def _module(self, module: ModuleType, code: CodeType | None) -> None:
        """The attributes of a module that code may read."""
        key = id(module), id(code)
        if code is None or key in self._seen:
            return
        self._seen.add(key)
        for name in code.co_names:
            if name in module.__dict__:
                value = module.__dict__[name]
                self._variable(Name(module.__dict__, name, value), code)


def _is_plain(value: Any) -> bool:
    """Whether it is a small container of numbers, or of lists of such, which is looked at item by item."""
    found: object = value
    most = _MOST.get(type(found))
    if most is None or len(value) > most:
        return False
    parts = tuple(itertools.islice(_leaves(value), 2 * most))
    if isinstance(value, dict):
        parts = _parts_of(value)
    return len(parts) < 2 * most and all(type(each) in (int, float, bool, list, tuple) for each in parts)


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
        return ABSENT


__all__ = [
    "ABSENT",
    "Attribute",
    "Cell",
    "Made",
    "Name",
    "Shaped",
    "Unclear",
    "Walk",
    "codes",
    "contents",
]
