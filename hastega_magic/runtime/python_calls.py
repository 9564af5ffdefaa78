"""Calls of stages' functions: elements as Python scalars, tuples whole or spread, notes on what they raise."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from hastega_magic.frames import reraise_signal
from hastega_magic.records import dataclass
from hastega_magic.runtime.columnar import is_columnar, numbers
from hastega_magic.runtime.special_methods import gives_array, has

_CHUNK = 4096
"""Elements of an array that become Python objects at a time."""
_MOST = 16
"""More parameters than a function of builtins or math has that must be given."""


def elements(source: Any) -> Iterator[Any]:
    """The source's elements as Python scalars.

    Arrays of bools, integers, float64 and complex128 (any stride and byte order) give bool, int, float and
    complex; float32 arrays give np.float32; structured arrays give tuples; Series and Arrow arrays what
    their `to_list` has; other objects that give an array of numbers its elements; arrays of which a mask hides
    elements NumPy's scalars and `np.ma.masked`. Anything else is iterated as Python does; TypeError where it
    cannot be.
    """
    source = numbers(source)
    if not isinstance(source, np.ndarray):
        source = _array_of(source)
    if not isinstance(source, np.ndarray):
        return iterated(source)
    array = cast("npt.NDArray[Any]", source)
    if array.ndim == 1 and array.dtype.names:
        return zip(*(elements(array[name]) for name in array.dtype.names), strict=True)
    if type(array) is not np.ndarray and hides_elements(array):
        return iter(array)  # `tolist` has None for the elements that a mask hides
    if array.ndim == 1 and (array.dtype.kind in "biu" or array.dtype.str[1:] in ("f8", "c16")):
        chunks = (array[start : start + _CHUNK].tolist() for start in range(0, len(array), _CHUNK))
        return itertools.chain.from_iterable(chunks)
    return iter(array)


def _array_of(source: object) -> object:
    """What a loop reads of an object that is no array and gives one of numbers; else the object."""
    if not gives_array(source) or is_columnar(source):
        return source
    try:
        array: npt.NDArray[Any] = np.asarray(source)
    except Exception as error:  # its memory may be a device's
        reraise_signal(error)
        return source
    return array if array.ndim == 1 and array.dtype.kind in "biufc" else source


def hides_elements(array: npt.NDArray[Any]) -> bool:
    """Whether a mask hides elements of an array of a subclass, or fields of them."""
    mask: object = getattr(array, "mask", None)
    if not isinstance(mask, np.ndarray):  # other classes call other things so
        return False
    bits = np.ascontiguousarray(cast("npt.NDArray[Any]", mask))
    return not bits.dtype.hasobject and bool(bits.view(np.bool_).any())


THROUGH = "a pipeline goes through elements"
"""How the note on what cannot be gone through begins."""


def iterated(source: Any) -> Iterator[Any]:
    """An iterator over it; TypeError where there is none, in Python's words and with what a pipeline needs."""
    try:
        return iter(source)
    except TypeError as error:
        if not has(source, "__iter__"):
            what = "None" if source is None else f"a single {type(source).__name__}"
            error.add_note(f"hastega: {THROUGH}, and is given {what} here")
        elif isinstance(source, np.ndarray) and source.ndim == 0:
            error.add_note(
                f"hastega: {THROUGH}, and an array without dimensions has none: `.ravel()` gives one of one element"
            )
        raise


OF_MATH = frozenset({"math", "math.integer"})
"""What functions of `math` say they are of: since Python 3.15 those of integers, `gcd` among them, have one apart."""


def spreads(function: Any, size: int) -> bool:
    """Whether a function over tuples of `size` elements takes that many arguments, not one tuple."""
    if size < 2:
        return False
    if isinstance(function, np.ufunc):
        return function.nin == size
    if type(function) is FunctionType and not function.__dict__:  # which may name another's signature
        code = function.__code__
        if not code.co_flags & inspect.CO_VARARGS:
            return 1 < code.co_argcount - len(function.__defaults__ or ()) <= size <= code.co_argcount
    if type(function) is BuiltinFunctionType and type(function.__self__) is ModuleType:
        return _builtin_spreads(function, size)  # which stays as it is
    return _asked(function, size)


@functools.cache
def _builtin_spreads(function: Any, size: int) -> bool:
    return _asked(function, size)


def _asked(function: Any, size: int) -> bool:
    """What its signature says."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some builtins have no signature; min and max take both forms alike
        return False
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    positional = [each for each in parameters if each.kind in kinds]
    required = sum(each.default is inspect.Parameter.empty for each in positional)
    if any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in parameters):
        called = inspect.unwrap(function)
        counts_all = isinstance(called, BuiltinFunctionType) and called.__module__ in OF_MATH  # gcd, hypot
        return required == size or (required == 0 and counts_all)
    return 1 < required <= size <= len(positional)


class _OverTuples:
    """A function that is given tuples whole or spread, as its signature asks; decided once per length."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._spreads: dict[int, bool] = {}

    def __call__(self, value: Any) -> Any:
        if not isinstance(value, tuple):  # named ones are tuples
            return self._function(value)
        members = cast("tuple[Any, ...]", value)
        spread = self._spreads.get(len(members))
        if spread is None:
            spread = self._spreads[len(members)] = spreads(self._function, len(members))
        return self._function(*members) if spread else self._function(members)


def takes_one(function: Callable[..., Any]) -> bool:
    """Whether a function is given tuples whole, of any length; asked of functions, ufuncs and what builtins has."""
    if type(function) is FunctionType:
        code = function.__code__
        return code.co_argcount <= 1 and not code.co_flags & inspect.CO_VARARGS
    if isinstance(function, np.ufunc):
        return function.nin == 1
    if isinstance(function, BuiltinFunctionType):
        return type(function.__self__) is ModuleType and _builtin_takes_one(function)
    return isinstance(function, type) and function.__module__ == "builtins" and _builtin_takes_one(function)


@functools.cache
def _builtin_takes_one(function: Callable[..., Any]) -> bool:
    return not any(_asked(function, size) for size in range(2, _MOST))


def over_tuples(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself where it cannot take a tuple's members: a baseline is not to pay for a check."""
    return function if takes_one(function) else _OverTuples(function)


@dataclass(frozen=True)
class Noted:
    """A function of elements, and what notes on an error that it raised which element it was given.

    `note` gets the error, the element's number and the arguments. The loops are generators: a call for each element,
    where a function around the function takes two. Each has its loop written out: a generator that they shared would be
    half as much again.
    """

    function: Callable[..., Any]
    note: Callable[[Exception, int, tuple[Any, ...]], None]

    def mapped(self, values: Iterable[Any], turned: Mapping[type, Callable[[Any], Any]]) -> Iterator[Any]:
        """The results, as `map` gives them; those of the types in `turned` made into others."""
        called = over_tuples(self.function)
        for number, value in enumerate(values):
            try:
                found = called(value)
            except StopIteration:  # which ends a `map`
                return
            except Exception as error:
                self._tell(error, number, value)
                raise
            yield turned[type(found)](found) if turned and type(found) in turned else found

    def filtered(self, values: Iterable[Any]) -> Iterator[Any]:
        """The elements for which it holds, as `filter` gives them."""
        called = over_tuples(self.function)
        for number, value in enumerate(values):
            try:
                found = called(value)
            except StopIteration:
                return
            except Exception as error:
                self._tell(error, number, value)
                raise
            if found:
                yield value

    def taken_while(self, values: Iterable[Any]) -> Iterator[Any]:
        """The elements before the first for which it does not hold."""
        called = over_tuples(self.function)
        for number, value in enumerate(values):
            try:
                holds = called(value)
            except StopIteration:
                return
            except Exception as error:
                self._tell(error, number, value)
                raise
            if not holds:
                return
            yield value

    def dropped_while(self, values: Iterable[Any]) -> Iterator[Any]:
        """The elements from the first for which it does not hold."""
        rest = iter(values)
        for value, holds in self._answers(rest):
            if not holds:
                yield value
                break
        else:
            return
        yield from rest

    def chosen(self, values: Iterable[Any], instead: Callable[[Any], Any]) -> Iterator[Any]:
        """The elements for which it holds, and what stands in place of the others."""
        called = over_tuples(self.function)
        for number, value in enumerate(values):
            try:
                holds = called(value)
            except StopIteration:
                return
            except Exception as error:
                self._tell(error, number, value)
                raise
            try:
                found = value if holds else instead(value)
            except StopIteration:
                return
            yield found

    def scanned(self, values: Iterable[Any], *init: Any) -> Iterator[Any]:
        """The values so far, as `accumulate` gives them, without the initial one."""
        called, rest = self.function, enumerate(values)
        if not init:  # the first element is the first value
            init = tuple(value for _, value in itertools.islice(rest, 1))
            yield from init
        total = init[0] if init else None
        for number, value in rest:
            try:
                total = called(total, value)
            except StopIteration:
                return
            except Exception as error:
                self.note(error, number, (total, value))
                raise
            yield total

    def _answers(self, values: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        """Each element, and what the function gives for it."""
        called = over_tuples(self.function)
        for number, value in enumerate(values):
            try:
                found = called(value)
            except StopIteration:
                return
            except Exception as error:
                self._tell(error, number, value)
                raise
            yield value, found

    def _tell(self, error: Exception, number: int, value: object) -> None:
        args: tuple[Any, ...] = (value,)
        if isinstance(value, tuple) and spreads(self.function, len(cast("tuple[Any, ...]", value))):
            args = cast("tuple[Any, ...]", value)
        self.note(error, number, args)
