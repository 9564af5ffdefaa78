"""What ordinary code iterates over: what of it a loop may read, and what becomes of a sum that began with a number."""

from __future__ import annotations

import array
import itertools
from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.fastpath.boxed import is_array
from hastega_magic.compiler.fastpath.clauses import count_at_once
from hastega_magic.compiler.fastpath.objects import NotExact
from hastega_magic.compiler.fastpath.places import Places
from hastega_magic.compiler.fastpath.profitability import VIEWS, Profitability
from hastega_magic.compiler.fastpath.row_by_row import (
    about_numbers,
    are_few,
    cut,
    flattened,
    many,
    row_lengths,
)
from hastega_magic.compiler.sources.kinds import of_scalars
from hastega_magic.compiler.sources.places import is_table
from hastega_magic.ir.rows import ROW_TYPES
from hastega_magic.records import dataclass
from hastega_magic.runtime import columnar
from hastega_magic.syntax.ordinary.parts import FEW, IS_FEW, Ordinary, too_few

_SOURCES = frozenset({range, list, tuple, array.array, bytes, bytearray})
"""What gives Python's own numbers. Elements of NumPy's arrays have types and rules of their own."""

_OTHERS = frozenset({str, dict, set, frozenset})
"""Left to Python whatever is in them, and at once where that is few: what is not tried costs least."""


@dataclass(frozen=True)
class Iterated:
    """What is iterated over: which are NumPy arrays, their identities, and how many elements there are.

    `places`: of several `for` clauses; `source`: the elements, or numbers of places.
    """

    arrays: tuple[bool, ...]
    of_numpy: frozenset[int]
    length: int
    source: object
    places: Places | None = None


def not_tried(operand: Any, depth: int = 0, few: int = FEW) -> str:
    """Why nothing is tried over it, told at the least cost; "" where it may be worth it.

    `depth`, `few`: as in `Ordinary`.
    """
    if depth:
        return too_few(few) if depth == 1 and are_few(operand, few) else ""
    kind: Any = type(operand)  # pyright: ignore[reportUnknownVariableType]
    if kind in _SOURCES:
        try:
            count = len(operand)
        except OverflowError:  # a range
            return ""
        # Nothing is called that need not be: over few elements a look takes as long as the code itself.
        if count >= FEW or (
            kind in ROW_TYPES and type(next(iter(operand), None)) in ROW_TYPES and many(operand) >= FEW
        ):
            return ""
        return IS_FEW
    if (kind in _OTHERS or kind in VIEWS) and len(operand) < FEW:
        return IS_FEW
    if kind is np.ndarray:
        shape = cast("tuple[int, ...]", operand.shape)
        return IS_FEW if shape and shape[0] < FEW else ""
    return "" if kind in VIEWS or columnar.may_give_numbers(operand) else _only_python(operand)


def iterated(operands: tuple[object, ...], code: Ordinary) -> tuple[tuple[object, ...], Iterated]:
    """The operands in the order in which they are iterated over, and what they are; NotExact where Python has to."""
    of_rows = [bool(code.depth) and type(operands[number]) is not np.ndarray for number in code.sources]
    if code.depth:
        operands = _by_rows(operands, code)
    elif any(type(operands[number]) in VIEWS for number in code.sources):
        operands = tuple(_listed(each) if n in code.sources else each for n, each in enumerate(operands))
    sources: list[Any] = [operands[number] for number in code.sources]
    for operand in sources:
        look_at(operand, code.apart)
    length = min(map(many, sources))
    if length < code.few:
        raise NotExact(too_few(code.few))
    if code.strict and any(len(each) > length for each in sources):
        raise NotExact("`zip` is strict, and one of what it goes through is longer")
    arrays = tuple(type(each) is np.ndarray and not rows for each, rows in zip(sources, of_rows, strict=True))
    look_at_errors(arrays)
    if code.windows and any(arrays):
        raise NotExact("it goes through neighbours in an array, which are NumPy's scalars")
    if code.backwards:
        operands = tuple(_turned(each) if n in code.backwards else each for n, each in enumerate(operands))
    of_numpy = frozenset(
        id(operands[number]) for number, each in zip(code.sources, arrays, strict=True) if each
    )
    return operands, Iterated(arrays, of_numpy, length, operands[code.sources[0]])


def _listed(operand: object) -> object:
    """A view of a dict as a list."""
    return list(cast("Iterable[object]", operand)) if type(operand) in VIEWS else operand


def _by_rows(operands: tuple[object, ...], code: Ordinary) -> tuple[object, ...]:
    """The operands with the numbers of rows in place of these; NotExact where rows side by side have not as many."""
    rows: list[Any] = [operands[number] for number in code.sources]
    if len(rows) > 1:
        lengths = [row_lengths(each) for each in rows]
        if any(each != lengths[0] for each in lengths):
            raise NotExact("rows side by side have not as many elements")
    made = {number: flattened(operands[number], code.depth) for number in code.sources}
    return tuple(made.get(number, each) for number, each in enumerate(operands))


def as_before(
    profitability: Profitability, code: Ordinary, functions: Sequence[object], operands: Sequence[object]
) -> str:
    """Why Python, which computed the last run, is to compute this one too; "" where that is not known yet."""
    if code.depth:
        rows = operands[code.sources[0]]
        return (
            profitability.by_python(about_numbers(rows))
            if code.depth == 1 and type(rows) in ROW_TYPES
            else ""
        )
    if code.nest is None:
        return profitability.as_before([operands[each] for each in code.sources])
    count = count_at_once(code.nest, functions, operands)
    return "" if count is None else profitability.by_python(count)


def look_at(operand: object, apart: bool = False) -> None:
    """NotExact for what only Python can iterate over. `apart`: as in `Ordinary`."""
    if apart and type(operand) is np.ndarray and is_table(cast("np.ndarray[Any, Any]", operand)):
        return
    if type(operand) not in _SOURCES and not is_array(operand) and not columnar.gives_numbers(operand):
        raise NotExact(_only_python(operand))
    if of_scalars(operand):
        kind = type(cast("Sequence[object]", operand)[0]).__name__
        raise NotExact(
            f"the elements are NumPy's scalars ({kind}), which only an array tells from Python's numbers"
        )


_name_of = type.__dict__["__name__"].__get__
"""A class's name, which its metaclass may give otherwise."""


def _only_python(operand: object) -> str:
    name: str = _name_of(type(operand))
    article = "an" if name.startswith(tuple("aeiouAEIOU")) else "a"
    return f"it iterates over {article} {name}, whose elements only Python can give"


def look_at_errors(arrays: Sequence[bool]) -> None:
    """NotExact where NumPy, which tells of underflow, is to calculate."""
    if any(arrays) and np.geterr()["under"] != "ignore":
        raise NotExact("`numpy.seterr` asks for word of underflow, which only NumPy gives")


def _turned(operand: Any) -> object:
    """The elements from their end, in new memory."""
    if isinstance(operand, np.ndarray):
        return np.ascontiguousarray(cast("np.ndarray[Any, Any]", operand)[::-1])
    if type(operand) not in _SOURCES:
        raise NotExact("it goes backwards over elements that only Python can give")
    return operand[::-1]


def completed(code: Ordinary, operands: Sequence[Any], found: Any, rows: Any = None) -> Any:
    """The code's value from the pipeline's; NotExact where it cannot be told from that.

    `rows`: of whose numbers it is, as many in each row.
    """
    if code.cut and rows is not None:
        return cut(found, rows)
    if code.start is not None:
        found = _started(operands[code.start], found)
    return _picked(operands[code.sources[0]], found) if code.picks else found


def _picked(source: Any, number: int) -> Any:
    """The element of this number, as iterating over the source gives it."""
    if type(source) in _SOURCES or type(source) is np.ndarray:
        return source[number]
    return next(itertools.islice(cast("Iterable[object]", source), number, None))


def _started(start: Any, total: Any) -> Any:
    """A sum that began with a number; NotExact where adding it at the end would give another."""
    if type(start) is int and (type(total) is int or (type(total) is float and start == 0)):
        return start + total
    if type(start) is float and type(total) is float:
        if not start and not total:
            raise NotExact("the sum is a zero, whose sign depends on what it begins with")
        return start + total
    if type(start) is int and start == 0:
        return total
    raise NotExact("the sum begins with a number of another type than its elements")


__all__ = ["Iterated", "as_before", "completed", "iterated", "look_at", "look_at_errors", "not_tried"]
