"""What may show the elements of lists and arrays that a loop stores into: then turns do not see what others stored."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    ModuleType,
)
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.fastpath.objects import NotExact
from hastega_magic.records import dataclass
from hastega_magic.runtime.objects.lists import DTYPES, alike
from hastega_magic.syntax.closures.libraries import is_library, is_library_module
from hastega_magic.syntax.closures.reachable import Endless, reached

_Array = np.ndarray[Any, np.dtype[Any]]

_NUMBERS = (bool, int, float, complex, str, type(None), range, np.generic)
_PLAIN = frozenset(
    {bool, int, float, complex, str, type(None), np.float64, np.float32, np.int64, np.int32, np.bool_}
)
"""Of elements that hold nothing, and do nothing when they are let go of."""

_HELD = frozenset({FunctionType, CellType, dict, GetSetDescriptorType, MemberDescriptorType})
"""What `reached` looks into, or holds nothing."""

_WORK: Any = 1000
"""Steps in which columns side by side are told from one another."""

_MAY_SHOW = "what it reads may show what it stores"


def are_plain(data: Sequence[Any]) -> bool:
    """Whether all elements are numbers, texts and None."""
    if not data or (type(data[0]) in DTYPES and alike(data) == len(data)):
        return True
    return {*map(type, data)} <= _PLAIN


@dataclass(frozen=True)
class Into:
    """What is stored into: arrays, and lists by identity."""

    arrays: tuple[_Array, ...]
    lists: frozenset[int]

    @classmethod
    def of(cls, sequences: Iterable[object]) -> Into:
        """Of lists and arrays; NotExact where two of them hold elements in the same place."""
        given = [*sequences]
        arrays = tuple(cast(_Array, each) for each in given if isinstance(each, np.ndarray))
        lists = [id(each) for each in given if not isinstance(each, np.ndarray)]
        if len({*lists}) < len(lists) or any(_share(*pair) for pair in itertools.combinations(arrays, 2)):
            raise NotExact(_MAY_SHOW)
        return cls(arrays, frozenset(lists))

    def look(self, read: Iterable[object]) -> None:
        """NotExact where one of these may show what is stored."""
        if any(map(self.shown_by, read)):
            raise NotExact(_MAY_SHOW)

    def look_at_source(self, value: Any) -> None:
        """The same of what is gone through, of which each element is looked at anyway."""
        kind = type(cast(object, value))
        if kind is range or (
            kind is list and value and type(value[0]) in DTYPES and id(value) not in self.lists
        ):
            return
        self.look([value])

    def shown_by(self, value: Any) -> bool:
        """Whether a value that is read may show what is stored: whatever is not known counts as such."""
        kind = type(cast(object, value))
        if isinstance(value, _NUMBERS) or kind is np.ufunc:
            return False
        if kind is np.ndarray:
            return value.dtype.hasobject or any(_share(value, each) for each in self.arrays)
        if kind is list or kind is tuple:
            return id(value) in self.lists or (not are_plain(value) and any(map(self.shown_by, value)))
        if kind is ModuleType:
            return not is_library_module(value)
        if kind is BuiltinFunctionType:  # of a module, or a method of what it belongs to
            its = value.__self__
            return its is not None and type(its) is not ModuleType and self.shown_by(its)
        if isinstance(value, type) or kind is FunctionType:
            return not is_library(value) and self._reached_by(value)
        return not _is_users(value) or self._reached_by(value)

    def _reached_by(self, given: object) -> bool:
        """Whether a function, a class of the user's or an object of one may come to what shows it."""
        try:
            return any(
                self.shown_by(each)
                for each in reached([given])
                if type(each) not in _HELD and not isinstance(each, type) and not _is_users(each)
            )
        except Endless:
            return True


def _is_users(value: object) -> bool:
    """Whether it is an object of classes of the user's alone."""
    return all(each is object or not is_library(each) for each in type(value).__mro__)


def _share(one: _Array, other: _Array) -> bool:
    try:
        return np.may_share_memory(one, other) and np.shares_memory(one, other, max_work=_WORK)
    except np.exceptions.TooHardError:
        return True


__all__ = ["Into", "are_plain"]
