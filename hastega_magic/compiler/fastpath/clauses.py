"""What the clauses of a comprehension go through in a run: how many places each has, and where elements come from."""

from __future__ import annotations

import array
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.fastpath.objects import NotExact
from hastega_magic.frames import reraise_signal
from hastega_magic.ir.rows import ROW_TYPES
from hastega_magic.records import dataclass
from hastega_magic.syntax.closures.contained import NUMBERS
from hastega_magic.syntax.ordinary.parts import Clause, Column, Given, Nest

_TRIED = 1 << 18
"""Elements for which it is found out how long a range inside is."""

_SPARSE = 16
"""More places than this for each element are not worth going through."""

_SEQUENCES = frozenset({list, tuple, range, array.array, bytes, bytearray, np.ndarray})
_SIZED = _SEQUENCES | {str, dict, set, frozenset}
_LEFT_OUT = (ZeroDivisionError, ValueError, IndexError)
"""What bounds may raise for elements that a condition leaves out; of others the loop finds out."""


@dataclass
class ClauseRange:
    """What one `for` clause iterates over in this run. A place is one of its turns, numbered from 0."""

    count: int
    """Places. Of a range whose length depends on the clauses outside it, those of the longest one."""
    sources: list[Any]
    """For each name of its target the elements, by place; None where the element is the number of the place."""
    values: list[Sequence[int] | None]
    """All values that each name can have, for ranges that depend on it; None where these are not Python's ints."""
    filled: float = 1.0
    """The share of the places that exist, where the length of the range differs from turn to turn outside."""


def count_at_once(nest: Nest, functions: Sequence[Any], operands: Sequence[Any]) -> int | None:
    """How many places there are, where that can be seen with next to no effort."""
    if not all(map(_is_one, nest.clauses)) or _not_own(nest, functions):
        return None
    count = 1
    for clause in nest.clauses:
        given = clause.columns[0].given
        assert given is not None
        kind, number = given
        source: Any = operands[number] if kind == "operand" else functions[number]()
        if clause.columns[0].kind == "columns":
            source = source[0] if type(source) in ROW_TYPES and source else ()
        if type(source) not in _SEQUENCES:
            return None
        count *= len(source)
    return count


def _is_one(clause: Clause) -> bool:
    """Whether it goes through one thing, which may be taken apart."""
    through = {(each.kind, each.given) for each in clause.columns}
    return len(clause.columns) == 1 or (len(through) == 1 and clause.columns[0].kind == "field")


def gone_through(
    nest: Nest, functions: Sequence[Any], operands: Sequence[Any], usable: Callable[[Any], None]
) -> tuple[list[ClauseRange], list[int]]:
    """Of each clause, and the lengths that ranges read; NotExact where Python has to do it.

    `usable` raises NotExact for what only Python can go through.
    """

    def value(given: Given) -> Any:
        kind, number = given
        return operands[number] if kind == "operand" else functions[number]()

    found = [_clause_range(nest.clauses[0], value, usable)]
    if not found[0].count:
        raise NotExact("there are no elements")
    why = _not_own(nest, functions)
    if why:
        raise NotExact(why)
    sequences = functions[nest.sequences]()
    for clause in nest.clauses[1:]:
        each = (
            _clause_range(clause, value, usable)
            if clause.within is None
            else _within(clause, functions, found)
        )
        found.append(each)
    if math.prod(each.filled for each in found) * _SPARSE < 1:
        raise NotExact("the ranges inside differ too much in length")
    return found, [len(sequences[number]) for number in nest.lengths]


def _not_own(nest: Nest, functions: Sequence[Any]) -> str:
    """Why inner clauses are not to be evaluated beforehand, as that may run the user's code; "" if it may not."""
    called, expected = nest.builtins
    if any(each is not known for each, known in zip(functions[called](), expected, strict=True)):
        return "a name that it calls is not Python's own function here"
    exact = any(clause.within is not None for clause in nest.clauses)
    numbers = NUMBERS - {float} if exact else NUMBERS
    if any(type(each) not in numbers for each in functions[nest.numbers]()):
        return "an inner `for` depends on something that is no number of Python's"
    sequences = functions[nest.sequences]()
    held = [_item(sequences[number], place) for number, place in nest.held]
    if any(type(each) not in _SIZED for each in (*sequences, *held)):
        return "an inner `for` depends on something that is no sequence of Python's"
    return ""


def _item(rows: Any, place: int) -> Any:
    """An item of a list or tuple; None where there is none."""
    return rows[place] if type(rows) in ROW_TYPES and place < len(rows) else None


def _clause_range(
    clause: Clause, value: Callable[[Given], Any], usable: Callable[[Any], None]
) -> ClauseRange:
    """A clause that depends on no other."""
    sources: list[Any] = []
    counted: list[int | None] = []
    apart: dict[Given, Sequence[Any]] = {}
    for column in clause.columns:
        source, start = _source(column, value, usable, apart)
        sources.append(source)
        counted.append(start)
    count = min(len(source) for source in sources if source is not None)
    for number, start in enumerate(counted):
        if start is not None:
            sources[number] = range(start, start + count)
    return ClauseRange(count, sources, [_ints(source, count) for source in sources])


def _source(
    column: Column,
    value: Callable[[Given], Any],
    usable: Callable[[Any], None],
    apart: dict[Given, Sequence[Any]],
) -> tuple[Any, int | None]:
    """The elements of a name, or where its numbers begin. `apart`: the fields of what has been taken apart."""
    if column.given in apart:
        return apart[column.given][column.place], None
    given: Any = 0 if column.given is None else value(column.given)
    if column.kind == "count":
        if type(given) is not int:
            raise NotExact("`enumerate` begins with something that is no int of Python's")
        return None, given
    usable(given)
    if column.kind == "columns":
        if type(given) not in ROW_TYPES or not ROW_TYPES.issuperset(map(type, given)):
            raise NotExact("it goes through columns of what are no lists or tuples")
        return list(zip(*given, strict=False)), None
    if column.backwards:
        if type(given) not in _SEQUENCES:
            raise NotExact("it goes backwards over elements that only Python can give")
        given = given[::-1]
    if column.kind == "field" and column.given is not None:
        apart[column.given] = _fields(given, column.fields)
        return apart[column.given][column.place], None
    return given, None


def _fields(rows: Any, count: int) -> Sequence[Any]:
    """The fields of rows of so many, one after the other; NotExact where some have others."""
    if (
        type(rows) not in ROW_TYPES
        or not ROW_TYPES.issuperset(map(type, rows))
        or set(map(len, rows)) - {count}
    ):
        raise NotExact("it takes apart what are no lists or tuples of as many items")
    return list(zip(*rows, strict=True)) or [()] * count


def _ints(source: Any, count: int) -> Sequence[int] | None:
    """The elements, if they are Python's ints; lists are looked at when they are asked for."""
    return cast("Sequence[int]", source[:count]) if type(source) in (range, list, tuple) else None


def _within(clause: Clause, functions: Sequence[Any], before: Sequence[ClauseRange]) -> ClauseRange:
    """A range that depends on elements further out: as many places as the longest one has."""
    assert clause.within is not None
    values = [each for outer in before for each in outer.values]
    read: list[Sequence[int]] = []
    for number in clause.reads:
        known = values[number]
        if known is None or (type(known) is not range and not set(map(type, known)) <= {int, bool}):
            raise NotExact("an inner range depends on elements that are not Python's ints")
        read.append(known)
    tried = math.prod(map(len, read))
    if tried > _TRIED or tried > 4 * math.prod(each.count for each in before):
        raise NotExact("an inner range depends on too many elements")
    ranges = _ranges(functions[clause.within], read)
    try:
        lengths = [len(each) for each in ranges]
    except OverflowError:
        raise NotExact("an inner range has more elements than a loop counts") from None
    longest = max(lengths, default=0)
    if not longest:
        return ClauseRange(0, [None], [range(0)])
    ends = [end for each in ranges if each for end in (each[0], each[-1])]
    return ClauseRange(longest, [None], [range(min(ends), max(ends) + 1)], sum(lengths) / (longest * tried))


def _ranges(function: Callable[..., Any], read: Sequence[Sequence[int]]) -> list[range]:
    """The range of each combination of what it depends on, but for those whose bounds raise."""
    found: list[range] = []
    for each in itertools.product(*read):
        try:
            found.append(function(*each))
        except Exception as error:
            reraise_signal(error)
            if isinstance(error, _LEFT_OUT):
                continue
            raise NotExact("the bounds of an inner range raise") from error
    return found


__all__ = ["ClauseRange", "count_at_once", "gone_through"]
