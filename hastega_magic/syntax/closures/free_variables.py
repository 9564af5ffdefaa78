"""What is around functions: the names and variables that they read, and what the functions that they call are made of.

def g(x): return x * k        around `lambda x: g(x)`:  `g` in its globals, the code of g, `k` in the globals of g
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, cast

import numpy as np

from hastega_magic.ir.items import Items
from hastega_magic.ir.rows import Rows
from hastega_magic.syntax.closures import attributes, given
from hastega_magic.syntax.closures.attributes import ABSENT
from hastega_magic.syntax.closures.bytecode import codes, global_names
from hastega_magic.syntax.closures.captured_objects import Owned
from hastega_magic.syntax.closures.contained import is_small
from hastega_magic.syntax.closures.libraries import is_installed
from hastega_magic.syntax.closures.variables import (
    Attribute,
    Cell,
    Made,
    Name,
    Shaped,
    contents,
    leaves,
    made_of,
    own_memory,
)
from hastega_magic.syntax.site import is_ours

SMALL = 64
"""Numbers in a set or dict that are looked at one by one in each run, and in what counts as no data of the user's."""
LISTED = 1024
"""Those in a list: a look at one takes some 50 ns, and to build the loop again a millisecond or two."""
_MOST: dict[type, int] = {list: LISTED, set: SMALL, frozenset: SMALL, dict: SMALL}


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
        # A method of pandas leads to thousands of functions, and to each attribute these name of each object.
        if key in self._seen or (self._curious and is_installed(function)):
            return
        self._seen.add(key)
        for code in codes(function.__code__):
            self._read.update(code.co_names)
            for name in global_names(code):
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
                if issubclass(type(found), ModuleType):
                    self._unclear()
                self.value(found.function if type(found) is attributes.Method else found, None)

    @property
    def owned(self) -> Owned:
        """What was found of objects so far."""
        return Owned(self._found, self._routes)

    def value(self, value: Any, code: CodeType | None) -> None:
        """Something that code reads."""
        if attributes.is_disguised(value):
            self._unclear()
            return
        match value:
            case FunctionType():
                self._function(value)
            case ModuleType():
                self._module(value, code)
            case np.ndarray():
                self._array(cast("np.ndarray[Any, Any]", value))
            case functools.partial() | MethodType():
                called: Any = cast(Any, value)
                self.made.append(Made(called, made_of(called)))
                for part in given.parts_of(called):
                    self.value(part, code)
            case tuple() | type() if attributes.has_plain(value):
                self._owner(value)
                if attributes.is_named_tuple(value):
                    self.made.append(Made(value, made_of(value)))
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
                | Rows()
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
        self.made.append(Made(value, made_of(value)))
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
            place = own_memory(array)
            self.made.append(Shaped(array, array.dtype, array.shape, array.strides, place))

    def _other(self, value: Any) -> None:
        if id(value) in self._lists:
            self.arrays[id(value)] += 1
        elif not self._curious and _is_plain(value):
            self.made.append(Made(value, made_of(value)))
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
            value = attributes.of_module(module, name)
            if value is not attributes.ABSENT:
                self._variable(Name(module.__dict__, name, value), code)


def _is_plain(value: Any) -> bool:
    """Whether it is a small container of numbers, or of lists of such, which is looked at item by item."""
    found: object = value
    most = _MOST.get(type(found))
    if most is None or len(value) > most:
        return False
    parts = tuple(itertools.islice(leaves(value), 2 * most))
    if isinstance(value, dict):
        parts = made_of(value)
    return len(parts) < 2 * most and all(type(each) in (int, float, bool, list, tuple) for each in parts)


__all__ = ["SMALL", "Unclear", "Walk"]
