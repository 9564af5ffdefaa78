"""From partial results of blocks to the values that Python has."""

from __future__ import annotations

import operator
import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np

from hastega_magic.ir.reduction import tree_prod, tree_sum
from hastega_magic.runtime.buffers import allocate
from hastega_magic.runtime.python import structured
from hastega_magic.runtime.sources import AnyArray
from hastega_magic.types import BOOL, FLOAT32, Complex, Either, ScalarType

_EMPTY: list[int] = []
_LOW = (1 << 32) - 1
_FEW = 8
"""Blocks whose integer partial results are added one by one."""
MANY = 1 << 18
"""Blocks of which the halves, sums of 4096 words of 32 bits each, add up to what 63 bits hold."""
_BITWISE = {"reduce_and": np.bitwise_and, "reduce_or": np.bitwise_or, "reduce_xor": np.bitwise_xor}


def exact_sum(partials: AnyArray, weights: Sequence[int] = ()) -> int:
    """The sum of int64 partial results, or of (high, low) halves, as a Python int.

    With weights there are two columns for each of them, halves of sums that count so many times.
    """
    if len(partials) <= _FEW:
        return _sum_of_few(partials.tolist(), weights)
    if weights:
        pairs = (partials[:, 2 * place : 2 * place + 2] for place in range(len(weights)))
        return sum(weight * exact_sum(pair) for weight, pair in zip(weights, pairs, strict=True))
    if partials.shape[1] == 2 and len(partials) <= MANY:
        # Each by itself: NumPy takes nine times as long over both columns at once.
        return (int(np.add.reduce(partials[:, 0])) << 32) + int(np.add.reduce(partials[:, 1]))
    if partials.shape[1] == 2:
        return (exact_sum(partials[:, :1]) << 32) + exact_sum(partials[:, 1:])
    column = partials[:, 0]
    return (int((column >> 32).sum()) << 32) + int((column & _LOW).sum())


def _sum_of_few(rows: list[list[int]], weights: Sequence[int]) -> int:
    """The same without NumPy, whose calls take longer than a few additions."""
    columns = [sum(column) for column in zip(*rows, strict=True)]
    if len(columns) < 2:
        return columns[0] if columns else 0
    sums = [(high << 32) + low for high, low in zip(columns[::2], columns[1::2], strict=True)]
    return sum(weight * each for weight, each in zip(weights or (1,), sums, strict=True))


def float_sum(sums: AnyArray, some: bool) -> int | float:
    """The sum of blocks' sums (one dimension) by the fixed tree; Python's own start where no element took part."""
    return 0 + float(tree_sum(sums)) if some else 0


def integers(partials: AnyArray) -> list[int]:
    """Those of (excess, low) words, two columns."""
    return [(excess << 64) + low for excess, low in partials.tolist()]


def first_best(values: AnyArray, least: bool) -> int:
    """The row of the first of the least or greatest values; shape (rows, 1), or (rows, 2) for (excess, low) words."""
    rows: AnyArray | None = None
    for word in range(values.shape[1]):
        column = values[:, word] if rows is None else values[rows, word]
        found = np.flatnonzero(column == (column.min() if least else column.max()))
        if len(found):  # none is equal to a NaN
            rows = found if rows is None else rows[found]
    return 0 if rows is None else int(rows[0])


def exact_product(partials: AnyArray) -> int:
    """The product of (excess, low) words, as a Python int."""
    return product(integers(partials[(partials[:, 0] != 0) | (partials[:, 1] != 1)]))


def product(values: Sequence[int]) -> int:
    """The product of ints, balanced, so that large factors meet late."""
    while len(values) > 1:
        pairs = map(operator.mul, values[::2], values[1::2])
        values = [*pairs, *values[len(values) & ~1 :]]
    return values[0] if values else 1


def paired(real: AnyArray, imag: AnyArray) -> AnyArray:
    """Complex numbers of two arrays of floats: complex128, or complex64 of float32."""
    found = allocate(len(real), "complex64" if real.dtype == np.float32 else "complex128")
    found.real, found.imag = real, imag
    return found


def in_one(parts: Sequence[AnyArray]) -> AnyArray | None:
    """The records, or their bytes, if the arrays are all of their fields, one beside the other; else None."""
    first, size = parts[0], parts[0].itemsize
    base, step = first.base, len(parts) * size
    if len(parts) < 2 or first.strides != (step,) or not isinstance(base, np.ndarray) or not len(first):
        return None
    if base.dtype.names and base.itemsize == step and len(base) == len(first):
        return base if all(part.base is base for part in parts) else None
    address = first.ctypes.data
    for number, part in enumerate(parts):
        beside = part.ctypes.data == address + number * size and part.strides == first.strides
        if not beside or len(part) != len(first) or part.base is not base:
            return None
    start = address - base.ctypes.data
    return base.view(np.uint8)[start : start + len(first) * step]


def either(test: AnyArray, low: AnyArray, high: AnyArray) -> AnyArray:
    """The numbers of two arrays, the second one's where the condition holds: in its type, or as objects of Python's."""
    if test.all():
        return high
    if not test.any():
        return low
    found = low.astype(object)
    more = high[test]
    narrow = more.dtype == np.float32  # of which there is no kind among Python's own
    found[test] = np.fromiter(more, object, len(more)) if narrow else more.astype(object)
    return found


def item(value: Any) -> Any:
    """An element of an array as Python has it: its own number, one of NumPy's that is narrower, or a tuple of them."""
    if isinstance(value, np.void):
        fields: Any = value
        return tuple(item(fields[name]) for name in fields.dtype.names or ())
    return value if type(value) in (np.float32, np.complex64) else value.item()


def assembled(value: object, parts: Sequence[AnyArray]) -> AnyArray:
    """One array of the arrays of an element's parts, which are those of the value."""
    match value:
        case Complex():
            return paired(*parts)
        case Either():
            return either(*parts)
        case _:
            return structured(parts)


def fold(
    kind: str, type_: ScalarType, partials: AnyArray, counts: AnyArray, weights: Sequence[int] = ()
) -> object:
    """The result of a reduction.

    kind      the sink's name
    partials  shape (blocks, words)
    counts    elements that took part, per block; blocks without any are left out of min and max
    weights   of the parts of a sum, if it has parts (`exact_sum`); any, if an extreme is folded in two words
    """
    count = int(counts.sum())
    floats = type_.is_float
    match kind:
        case "count":
            return count
        case "any":
            return bool(partials.any())
        case "all":
            return bool(partials.all())
        case "sum" | "reduce_add" | "var" | "std":
            return _sum(type_, partials, count, weights)
        case "mean":
            if not count:
                raise statistics.StatisticsError("mean requires at least one data point")
            total = _sum(type_, partials, count, weights)
            assert isinstance(total, (int, float))
            return total / count
        case "prod" | "reduce_mul":
            if not floats:
                return exact_product(partials)
            return float(tree_prod(_typed(type_, partials))) if count else 1
        case "min" | "reduce_min" | "max" | "reduce_max":
            least = kind.endswith("min")
            if not count:
                return min(_EMPTY) if least else max(_EMPTY)
            if weights:
                live = partials[counts > 0]
                return integers(live[[first_best(live, least)]])[0]
            live = partials[:, 0][counts > 0]
            best = live.min() if least else live.max()
            return float(best) if floats else bool(best) if type_ is BOOL else int(best)
        case "first_index" | "last_index":
            live = partials[:, 0][counts > 0]
            return int(live.min() if kind == "first_index" else live.max()) if count else None
        case "reduce_and" | "reduce_or" | "reduce_xor":
            return int(_BITWISE[kind].reduce(partials[:, 0]))
        case _:
            raise AssertionError(kind)


def _typed(type_: ScalarType, partials: AnyArray) -> AnyArray:
    return partials[:, 0].astype(np.float32) if type_ is FLOAT32 else partials[:, 0]


def _sum(type_: ScalarType, partials: AnyArray, count: int, weights: Sequence[int]) -> int | float:
    if not type_.is_float:
        return exact_sum(partials, weights)
    return float_sum(_typed(type_, partials), count > 0)
