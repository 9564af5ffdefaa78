"""Reductions of ints and floats among each other, which the kernel has reduced by themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from hastega_magic.compiler.python.elements import Element
from hastega_magic.ir.reduction import SUM_NEUTRAL, block_sums
from hastega_magic.runtime import results
from hastega_magic.runtime.sources import AnyArray
from hastega_magic.types import FLOAT, INT

_BEST: Mapping[str, Callable[..., Any]] = {"min": min, "max": max}


class Blocks(Protocol):
    """What evaluates a block's elements: the recovery."""

    def block(self, number: int) -> Iterator[Element]:
        """The elements of a block, evaluated one after the other."""
        ...


def reduction(
    kind: str, partials: Sequence[AnyArray], blocks: Mapping[int, Sequence[Element]], source: Blocks
) -> object:
    """The result of a sink of MIXED_SINKS.

    partials  of the ints, of how many there are in each block, of the floats, and of how many these are
    blocks    those that Python evaluated, whose partial results count for nothing
    """
    low, ints, high, floats = (each.copy() for each in partials)
    for number in blocks:
        low[number] = ints[number] = floats[number] = 0
        high[number] = SUM_NEUTRAL
    if kind in _BEST:
        return _extreme(kind, (low[:, 0], high[:, 0]), (ints[:, 0], floats[:, 0]), blocks, source)
    return _total(kind, (low, ints, high, floats), blocks)


def _total(kind: str, partials: Sequence[AnyArray], blocks: Mapping[int, Sequence[Element]]) -> object:
    """Ints are added exactly, floats in the tree of all float sums; then Python adds both."""
    low, ints, high, floats = partials
    more: list[int] = []
    for number, elements in blocks.items():
        more += [each.value for each in elements if each.kept and type(each.value) is not float]
        there = [each.kept and type(each.value) is float for each in elements]
        pairs = zip(elements, there, strict=True)
        column = np.array([each.value if taken else SUM_NEUTRAL for each, taken in pairs], np.float64)
        high[number], floats[number] = block_sums(column)[0], sum(there)
    count = int(ints.sum()) + len(more) + int(floats.sum())
    if not count:
        return results.fold(kind, INT, low, ints)
    total: Any = results.exact_sum(low) + sum(more)
    if floats.any():
        total += results.fold("sum", FLOAT, high, floats)
    return total / count if kind == "mean" else total


def _extreme(
    kind: str,
    partials: Sequence[AnyArray],
    counts: Sequence[AnyArray],
    blocks: Mapping[int, Sequence[Element]],
    source: Blocks,
) -> object:
    """The first of the smallest or largest, as Python compares ints with floats; a NaN if it comes first."""
    live = [np.flatnonzero(count > 0) for count in counts]
    kept = {number: [each.value for each in elements if each.kept] for number, elements in blocks.items()}
    kept = {number: values for number, values in kept.items() if values}
    filled = {*kept, *(int(numbers[0]) for numbers in live if len(numbers))}
    if not filled:
        return _BEST[kind](())
    first = next(each.value for each in blocks.get(min(filled)) or source.block(min(filled)) if each.kept)
    if first != first:
        return first
    found: list[tuple[Any, set[int]]] = []
    for column, numbers in zip(partials, live, strict=True):
        if len(numbers):
            best = _BEST[kind](column[numbers].tolist())
            found.append((best, set(numbers[column[numbers] == best].tolist())))
    for number, values in kept.items():
        numbers = [value for value in values if value == value]
        if numbers:
            found.append((_BEST[kind](numbers), {number}))
    best = _BEST[kind](value for value, _ in found)
    places = [numbers for value, numbers in found if value == best]
    if len(places) == 1 and best != 0:
        return best
    number = min(set[int]().union(*places))
    return next(
        each.value for each in blocks.get(number) or source.block(number) if each.kept and each.value == best
    )
