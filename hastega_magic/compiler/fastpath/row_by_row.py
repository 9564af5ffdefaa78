"""The numbers of rows, one row after the other, as one source: of `for row in rows for x in row`.

    [[1, 2], [], [3]]        1 2 3

Lists of numbers of one type are read by native code; what else lists and tuples hold is put into one list.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.fastpath.objects import NotExact
from hastega_magic.ir.rows import ROW_TYPES, SHORT
from hastega_magic.runtime.objects.rows import numbers_of
from hastega_magic.syntax.ordinary.parts import FEW

_FIRST = 4
"""By so much fewer numbers, if all rows were as the first one, and none of the others is looked at."""
_NO_ROWS = "it goes through rows that are no lists or tuples, whose elements only Python can give"
_SAMPLE = 16
"""Rows of which the length is looked at, about so many."""


def are_few(rows: Any, few: int = FEW) -> bool:
    """Whether, as far as the first row tells, rows have fewer elements than a compiled call is worth."""
    if type(rows) is np.ndarray:
        return cast("np.ndarray[Any, Any]", rows).size < few
    if type(rows) not in ROW_TYPES:
        return False
    count = len(rows)
    for first in rows:
        if type(first) in ROW_TYPES and 0 < count * len(first) < few // _FIRST:
            return True
        break
    return count < few and _mean(rows) * count < few


def _no_rows(source: Any) -> bool:
    """Whether, as far as the first element tells, no long rows are in it."""
    for first in source:
        return type(first) not in ROW_TYPES or len(first) <= SHORT
    return True


def many(source: Any) -> int:
    """How many elements a source has; of long rows, about how many numbers."""
    length = len(source)
    if type(source) not in ROW_TYPES or _no_rows(source):
        return length
    mean = _mean(source)
    return int(length * mean) if mean > SHORT else length


def about_numbers(rows: Any) -> int:
    """How many numbers rows have, as far as some tell."""
    return int(len(rows) * _mean(rows))


def _mean(rows: Any) -> float:
    """How many numbers a row has, as far as some tell."""
    sample = [len(row) for row in rows[:: max(1, len(rows) // _SAMPLE)] if type(row) in ROW_TYPES]
    return sum(sample) / len(sample) if sample else 0.0


def flattened(rows: object, depth: int) -> object:
    """The elements of rows, of rows of rows for a `depth` of 2; NotExact for what only Python can go through.

    Those of lists are Python's numbers, in an array too.
    """
    if type(rows) is np.ndarray:
        table = cast("np.ndarray[Any, Any]", rows)
        if table.ndim != depth + 1:
            raise NotExact("it goes through an array of another number of dimensions than it has `for`")
        return table.reshape(-1)
    for _ in range(depth - 1):
        rows = _chained(rows)
    numbers = numbers_of(rows)
    return _chained(rows) if numbers is None else numbers.flat


def cut(elements: Any, rows: Any) -> list[object]:
    """A list of the elements in rows as long as these; NotExact where another thread has changed them meanwhile."""
    if type(rows) is np.ndarray:
        return cut_evenly(elements, rows.shape[-1])
    ends = list(itertools.accumulate(row_lengths(rows)))
    if ends[-1] != len(elements):
        raise NotExact("its rows have changed meanwhile")
    return [elements[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def row_lengths(rows: Any) -> list[int]:
    """How many elements each row has; NotExact for what only Python can go through."""
    if type(rows) is np.ndarray:
        shape = cast("np.ndarray[Any, Any]", rows).shape
        return [shape[1]] * shape[0] if len(shape) > 1 else []
    if type(rows) not in ROW_TYPES or not ROW_TYPES.issuperset(map(type, rows)):
        raise NotExact(_NO_ROWS)
    return list(map(len, rows))


def cut_evenly(elements: Any, width: int) -> list[object]:
    """A list of the elements in rows of so many."""
    return [elements[start : start + width] for start in range(0, len(elements), width)]


def _chained(rows: object) -> list[object]:
    held = cast("Sequence[Sequence[object]]", rows)
    if type(held) not in ROW_TYPES or not ROW_TYPES.issuperset(map(type, held)):
        raise NotExact(_NO_ROWS)
    return list(itertools.chain.from_iterable(held))


__all__ = ["about_numbers", "are_few", "cut", "cut_evenly", "flattened", "many", "row_lengths"]
