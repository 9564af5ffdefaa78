"""Where the turns of a `for` statement store, `out[i] = f(i)`, and whether all of them may be computed before any does.

They may where nothing that a turn reads shows what another one stores, all places are there, and each element is what
the sequence would make of it. Else Python's loop stores them.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Sequence
from types import BuiltinFunctionType, CellType, FunctionType, ModuleType
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.fastpath.given_objects import exact
from hastega_magic.compiler.fastpath.objects import NotExact, objects
from hastega_magic.records import dataclass
from hastega_magic.runtime.objects.boxes import listed
from hastega_magic.runtime.objects.exchange import put, slice_of
from hastega_magic.syntax.closures.libraries import is_library
from hastega_magic.syntax.closures.reachable import Endless, reached
from hastega_magic.syntax.ordinary.numpys_rules import is_numpy
from hastega_magic.syntax.ordinary.parts import HandsOn, Ordinary
from hastega_magic.syntax.ordinary.scalars import Scalars

_Array = np.ndarray[Any, np.dtype[Any]]

_NUMBERS = (bool, int, float, complex, str, type(None), range, np.generic)
_CODE = (ModuleType, BuiltinFunctionType, np.ufunc)
_ROWS = frozenset({list, tuple, np.ndarray})
_WHOLES = frozenset({list, tuple, dict, np.ndarray})
"""What parts are taken of without code of the user's."""

_WORK: Any = 1000
"""Steps in which columns side by side are told from one another."""

_MAY_SHOW = "what it reads may show what it stores"
_OTHER_TYPE = "an array makes something else of what it stores"


@dataclass(frozen=True)
class Elements:
    """What turns are to store: an array, and what it is in Python's code, if NumPy's scalars take part."""

    value: _Array
    scalars: Scalars | None


@dataclass(frozen=True)
class Places:
    """The sequences that a run stores into, all of them lists or all of them arrays, and the places in each."""

    sequences: tuple[Any, ...]
    places: tuple[range, ...]
    arrays: bool

    def store(self, found: Elements) -> None:
        """Store the elements; NotExact, and nothing is stored, where Python would have others there."""
        value, several = found.value, len(self.sequences) > 1
        kinds = None if found.scalars is None else found.scalars.kinds
        columns: Iterable[Any]
        if self.arrays:
            parts = [value[name] for name in value.dtype.names or ()] if several else [value]
            types = kinds if several and kinds is not None else [kinds] * len(parts)
            given = zip(parts, types, self.sequences, strict=True)
            columns = [_as_stored(part, kind, into.dtype) for part, kind, into in given]
        else:
            items = _as_list(value) if found.scalars is None else objects(value, found.scalars)
            if value.dtype.kind not in "biu":
                exact(items)  # which may be objects that turns read
            columns = map(list, zip(*items, strict=True)) if several else (items,)
        for sequence, places, column in zip(self.sequences, self.places, columns, strict=True):
            if self.arrays:
                sequence[slice_of(places)] = column
            else:
                put(sequence, places, column)


def places_of(known: HandsOn, code: Ordinary, operands: Sequence[Any]) -> Places:
    """Where it stores; NotExact where Python's loop has to."""
    assert known.stores is not None
    assert known.into is not None
    assert known.reads is not None
    stores = known.stores
    try:
        values = operands[known.reads]()
        roots, read = values[: len(stores.roots)], values[len(stores.roots) :]
        if any(part and type(root) not in _WHOLES for root, part in zip(roots, stores.parts, strict=True)):
            raise NotExact("it stores into parts of what is no list, dict or array")
        if any(stores.parts) and any(_shows(each, None) for each in read):
            raise NotExact(_MAY_SHOW)  # such as a number of a part that is an object of the user's
        sequences = operands[known.into]()
    except NameError:
        raise NotExact("a variable that it reads has no value in front of it") from None
    except (LookupError, TypeError):
        raise NotExact("a part that it stores into is not there") from None
    kept = [*itertools.compress(zip(stores.sequences, sequences, stores.shifts, strict=True), stores.kept)]
    for text, each, _ in kept:
        if type(each) is not list and not _is_plain(each):
            raise NotExact(f"`{text}` is no list, and no array of numbers that can be changed")
    stored = tuple(each for _, each, _ in kept)
    arrays = [type(each) is np.ndarray for each in stored]
    if any(arrays) and (stores.rereads or not all(arrays)):
        raise NotExact("it reads again what an array has made of what it stored")
    pairs = itertools.combinations(zip(sequences, stores.kept, strict=True), 2)
    if any(_share(one, other) for (one, into), (other, too) in pairs if into or too):
        raise NotExact(_MAY_SHOW)
    numbers = _numbers(code, operands, stores.numbered)
    ahead = max(shift for _, _, shift in kept) + numbers.start > 0 or not stores.numbered
    for each in (operands[number] for number in code.sources):
        if any(ahead or each is not into for into in stored if _shows(each, into)):
            raise NotExact(_MAY_SHOW)
    if any(_shows(each, into) for each in read for into in stored):
        raise NotExact(_MAY_SHOW)
    places = tuple(_places(numbers, shift, len(each)) for _, each, shift in kept)
    return Places(stored, places, all(arrays))


def _is_plain(value: Any) -> bool:
    if type(value) is not np.ndarray:
        return False
    array = cast(_Array, value)
    return array.ndim == 1 and array.flags.writeable and array.dtype.kind in "biuf" and array.dtype.isnative


def _numbers(code: Ordinary, operands: Sequence[Any], numbered: bool) -> range:
    """The numbers of the turns."""
    if not numbered:
        (source,) = code.sources
        if type(operands[source]) is not range or source in code.backwards:
            raise NotExact("its turns are not numbered by a range")
        return operands[source]
    if code.later:
        raise NotExact("Python evaluates some of what it goes through when an iterator has been made")
    (step,) = (each for each in code.steps if each.stage == "enumerate")
    start = sum(operator.index(operands[number]) for _, number in step.arguments)
    return range(start, start + min(len(operands[each]) for each in code.sources))


def _places(numbers: range, shift: int, length: int) -> range:
    """The places of these numbers; NotExact where one is none, or counts from the end."""
    found = range(numbers.start + shift, numbers.stop + shift, numbers.step)
    if found and (min(found[0], found[-1]) < 0 or max(found[0], found[-1]) >= length):
        raise NotExact("it stores into places that are not there, or counted from the end")
    return found


# What shows what


def _share(one: object, other: object) -> bool:
    """Whether two sequences hold elements in the same place."""
    if one is other:
        return True
    if not (isinstance(one, np.ndarray) and isinstance(other, np.ndarray)):
        return False
    pair = cast(_Array, one), cast(_Array, other)
    try:
        return np.may_share_memory(*pair) and np.shares_memory(*pair, max_work=_WORK)
    except np.exceptions.TooHardError:
        return True


def _shows(value: Any, into: object) -> bool:
    """Whether a value that is read may show what is stored into a sequence: whatever is not known counts as such.

    Of rows of numbers: what holds anything else is not compiled.
    """
    kind = type(cast(object, value))
    if isinstance(value, (*_NUMBERS, *_CODE)):
        return False
    if kind is np.ndarray:
        return value.dtype.hasobject or _share(value, into)
    if kind is list or kind is tuple:
        rows = value and type(value[0]) in _ROWS
        return value is into or (rows and any(map(_shows, value, itertools.repeat(into))))
    if isinstance(value, type):
        return not is_library(value)
    return kind is not FunctionType or not (is_library(value) or not _leads_to(value, into))


def _leads_to(function: object, into: object) -> bool:
    """Whether a function may come to what shows it."""
    try:
        for each in reached([function]):
            if type(each) not in (FunctionType, CellType, dict) and _shows(each, into):
                return True
    except Endless:
        return True
    return False


# What is stored


def _as_stored(found: _Array, kind: Any, dtype: np.dtype[Any]) -> _Array:
    """The elements as the array has them; NotExact where it would make something else of one, or Python raises.

    `kind`: their type in Python's code.
    """
    if is_numpy(kind):
        found = np.ascontiguousarray(found, dtype=np.dtype(kind))
    own = found.dtype
    if own == dtype or own.kind == "b" or (own.kind in "iu" and dtype == np.float64):
        return found
    if own.kind in "iu" and dtype.kind in "iu" and len(found):
        bounds = np.iinfo(dtype)
        if bounds.min <= int(found.min()) and int(found.max()) <= bounds.max:
            return found.astype(dtype)
    raise NotExact(_OTHER_TYPE)


def _as_list(found: _Array) -> list[Any]:
    return found.tolist() if found.dtype.hasobject or found.dtype.names else listed(found)


__all__ = ["Elements", "Places", "places_of"]
