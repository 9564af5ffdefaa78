"""Where the turns of a `for` statement store, `out[i] = f(i)`, and whether all of them may be computed before any does.

They may where nothing that a turn reads shows what another one stores (`shown.py`), all places are there, and each
element is what the sequence would make of it. Else Python's loop stores them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.fastpath.given_objects import exact
from hastega_magic.compiler.fastpath.objects import NotExact, listed_as
from hastega_magic.compiler.fastpath.shown import Into, are_plain
from hastega_magic.records import dataclass
from hastega_magic.runtime.objects.exchange import put, slice_of
from hastega_magic.syntax.ordinary.numpys_rules import is_numpy
from hastega_magic.syntax.ordinary.parts import HandsOn, Ordinary
from hastega_magic.syntax.ordinary.scalars import Scalars
from hastega_magic.syntax.ordinary.stores import Stores

_Array = np.ndarray[Any, np.dtype[Any]]

_WHOLES = frozenset({list, tuple, dict, np.ndarray})
"""What parts are taken of without code of the user's."""

_KEYS = frozenset({int, str})
"""Of what numbers parts: others may be asked in each turn, or choose several parts at once."""

_OTHER_TYPE = "an array makes something else of what it stores"


@dataclass(frozen=True)
class Elements:
    """What turns are to store: an array, and what it is in Python's code, if NumPy's scalars take part."""

    value: _Array
    scalars: Scalars | None

    def columns(self, chosen: Sequence[bool]) -> Iterator[tuple[_Array, Any, _Array | None]]:
        """For each sequence the elements, their type in Python's code, and which are stored (None: all of them).

        `chosen`: whether a turn may store nothing there; NotExact where elements are otherwise.
        """
        count = len(chosen) + sum(chosen)
        kinds: Any = None if self.scalars is None else self.scalars.kinds
        if count == 1:
            yield self.value, kinds, None
            return
        names = self.value.dtype.names or ()
        if len(names) != count:
            raise NotExact("its elements are no numbers")
        types = [kinds] * count if kinds is None else [*kinds]
        fields = ((self.value[name], kind) for name, kind in zip(names, types, strict=True))
        for each in chosen:
            column, kind = next(fields)
            yield column, kind, next(fields)[0] if each else None


def elements_of(value: Any, scalars: Scalars | None) -> Elements | list[Any]:
    """What a loop gives: lists as they are, which only the elements for one list are."""
    return cast("list[Any]", value) if type(value) is list else Elements(value, scalars)


def is_list(value: Elements | list[Any]) -> bool:
    """Whether the elements are objects, which turns may have read."""
    return type(value) is list


@dataclass(frozen=True)
class Column:
    """The elements for one sequence or table, as it has them, and which of them are stored (None: all)."""

    elements: Any
    which: _Array | None


@dataclass(frozen=True)
class Places:
    """The sequences that a run stores into, and the places in each.

    `chosen`: as in `Stores`; `into`: all that is stored into; `read`: what turns read; `sources`: what they go through;
    `arrays`: whether the sequences are arrays: all of them are, or none.
    """

    sequences: tuple[Any, ...]
    places: tuple[range, ...]
    chosen: tuple[bool, ...]
    into: Into
    read: tuple[object, ...]
    sources: tuple[object, ...]
    arrays: bool

    def store(self, found: Elements | list[Any]) -> None:
        """Store the elements; NotExact, and nothing is stored, where Python would have others there."""
        self.into.look(self.read)
        for each in self.sources:
            self.into.look_at_source(each)
        columns = columns_of(found, self.sequences, self.chosen, self.arrays)
        for sequence, places, column in zip(self.sequences, self.places, columns, strict=True):
            if self.arrays:
                put_into_array(sequence, slice_of(places), column)
            else:
                put(sequence, places, column.elements, column.which)


def put_into_array(into: _Array, places: Any, column: Column) -> None:
    """Put elements into places of an array."""
    if column.which is None:
        into[places] = column.elements
    else:
        np.copyto(into[places], column.elements, where=column.which)


def places_of(known: HandsOn, code: Ordinary, operands: Sequence[Any]) -> Places:
    """Where it stores; NotExact where Python's loop has to."""
    assert isinstance(known.stores, Stores)
    assert known.into is not None
    assert known.reads is not None
    stores = known.stores
    try:
        values: Sequence[Any] = operands[known.reads]()
        many = len(stores.roots)
        roots, keys, read = values[:many], values[many : many + stores.keys], values[many + stores.keys :]
        if any(part and type(root) not in _WHOLES for root, part in zip(roots, stores.parts, strict=True)):
            raise NotExact("it stores into parts of what is no list, dict or array")
        if not {*map(type, keys)} <= _KEYS:
            raise NotExact("what numbers a part that it stores into is no int of Python's")
        sequences: Sequence[Any] = operands[known.into]()
    except NameError:
        raise NotExact("a variable that it reads has no value in front of it") from None
    except (LookupError, TypeError):
        raise NotExact("a part that it stores into is not there") from None
    kept = [*itertools.compress(zip(stores.sequences, sequences, stores.shifts, strict=True), stores.kept)]
    stored: tuple[Any, ...] = tuple(each for _, each, _ in kept)
    for (text, _, _), each in zip(kept, stored, strict=True):
        if not is_plain(each) and not (type(each) is list and are_plain(cast("list[Any]", each))):
            raise NotExact(f"`{text}` is no list, and no array, of numbers that can be changed")
    arrays = one_kind(stored, stores.rereads)
    numbers = _numbers(code, operands, stores.numbered)
    behind = stores.numbered and not code.backwards and max(it for _, _, it in kept) + numbers.start <= 0
    others = (each for each, it in zip(sequences, stores.kept, strict=True) if not it)
    sources = (operands[number] for number in code.sources)
    # What is stored then has been gone through.
    sources = (each for each in sources if not (behind and any(each is it for it in stored)))
    places = tuple(places_at(numbers, shift, len(each)) for _, each, shift in kept)
    return Places(stored, places, stores.chosen, Into.of(stored), (*others, *read), tuple(sources), arrays)


def one_kind(stored: Sequence[object], rereads: bool) -> bool:
    """Whether all are arrays, where none is a list; NotExact where some are, or turns read again what they stored."""
    arrays = [type(each) is np.ndarray for each in stored]
    if any(arrays) and (rereads or not all(arrays)):
        raise NotExact("it reads again what an array has made of what it stored")
    return all(arrays)


def is_plain(value: Any, dimensions: int = 1) -> bool:
    """Whether it is an array of numbers that can be changed, each in a place of its own."""
    if type(value) is not np.ndarray:
        return False
    array = cast(_Array, value)
    known = array.dtype.kind in "biuf" and array.dtype.isnative and array.flags.writeable
    return known and array.ndim == dimensions and _are_apart(array)


def _are_apart(array: _Array) -> bool:
    taken = array.itemsize
    for step, count in sorted(zip(map(abs, array.strides), array.shape, strict=True)):
        if count > 1 and step < taken:
            return False
        taken += step * (count - 1)
    return True


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
    given: list[Any] = [operands[number] for _, number in step.arguments]
    if any(type(each) not in (int, bool) for each in given):
        raise NotExact("its turns are numbered from what is no number of Python's")
    start = sum(given)
    return range(start, start + min(len(operands[each]) for each in code.sources))


def places_at(numbers: range, shift: int, length: int) -> range:
    """The places of these numbers; NotExact where one is none, or counts from the end."""
    found = range(numbers.start + shift, numbers.stop + shift, numbers.step)
    if found and (min(found[0], found[-1]) < 0 or max(found[0], found[-1]) >= length):
        raise NotExact("it stores into places that are not there, or counted from the end")
    return found


# What is stored


def columns_of(
    found: Elements | list[Any], into: Sequence[Any], chosen: Sequence[bool], arrays: bool
) -> list[Column]:
    """The elements for each of the sequences or tables: in lists, or arrays of their types.

    NotExact where Python would have others there.
    """
    if isinstance(found, list):
        return [Column(found, None)]
    made: list[Column] = []
    for (column, kind, which), it in zip(found.columns(chosen), into, strict=True):
        if arrays:
            made.append(Column(_as_stored(column, kind, it.dtype), which))
            continue
        items = listed_as(column, kind)
        if column.dtype.kind not in "biu":
            exact(items)  # which may be objects that turns read
        made.append(Column(items, which))
    return made


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


__all__ = [
    "Elements", "Places", "columns_of", "elements_of", "is_list", "is_plain", "one_kind", "places_at", "places_of",
    "put_into_array",
]  # fmt: skip
