"""Reductions of ints and floats among each other, which the kernel has reduced by themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from hastega_magic.compiler.python.blocks import Blocks, Combined
from hastega_magic.compiler.python.elements import Element
from hastega_magic.ir.reduction import SUM_NEUTRAL, block_sums
from hastega_magic.runtime import results
from hastega_magic.runtime.sources import AnyArray
from hastega_magic.types import FLOAT, INT

_BEST: Mapping[str, Callable[..., Any]] = {"min": min, "max": max}


class Source(Protocol):
    """What evaluates a block's elements: the recovery."""

    def block(self, row: int) -> Iterator[Element]:
        """The elements of a row's block, evaluated one after the other."""
        ...


def reduction(kind: str, partials: Sequence[AnyArray], blocks: Blocks, source: Source) -> object:
    """The result of a sink of MIXED_SINKS.

    partials  of the ints, of how many there are in each block, of the floats, and of how many these are
    blocks    those that Python evaluates, whose partial results count for nothing
    """
    low, ints, high, floats = (each.copy() for each in partials)
    if kind in _BEST:
        return _extreme(kind, (low[:, 0], high[:, 0]), (ints[:, 0], floats[:, 0]), blocks, source)
    return _total(kind, (low, ints, high, floats), blocks)


def _total(kind: str, partials: Sequence[AnyArray], blocks: Blocks) -> object:
    """Ints are added exactly, floats in the tree of all float sums; then Python adds both."""
    low, ints, high, floats = partials
    more = Combined("sum")
    for number, kept in blocks:
        low[number] = ints[number] = 0
        there = [type(each) is float for each in kept.values]
        more.take([each for each in kept.values if type(each) is not float])
        column = [each if taken else SUM_NEUTRAL for each, taken in zip(kept.values, there, strict=True)]
        high[number] = block_sums(kept._replace(values=column).column(SUM_NEUTRAL, np.float64))[0]
        floats[number] = sum(there)
    count = int(ints.sum()) + more.count + int(floats.sum())
    if not count:
        return results.fold(kind, INT, low, ints)
    total: Any = results.exact_sum(low) + (more.value or 0)
    if floats.any():
        total += results.fold("sum", FLOAT, high, floats)
    return total / count if kind == "mean" else total


def _extreme(
    kind: str,
    partials: Sequence[AnyArray],
    counts: Sequence[AnyArray],
    blocks: Blocks,
    source: Source,
) -> object:
    """The first of the smallest or largest, as Python compares ints with floats; a NaN if it comes first."""
    found: list[tuple[Any, set[int]]] = []
    filled = set[int]()
    for number, kept in blocks:
        for count in counts:
            count[number] = 0
        filled |= {number} if kept.values else set()
        values = [value for value in kept.values if value == value]
        if values:
            found.append((_BEST[kind](values), {number}))
    live = [np.flatnonzero(count > 0) for count in counts]
    filled |= {int(numbers[0]) for numbers in live if len(numbers)}
    if not filled:
        return _BEST[kind](())
    first = next(each.value for each in source.block(min(filled)) if each.kept)
    if first != first:
        return first
    for column, numbers in zip(partials, live, strict=True):
        if len(numbers):
            best = _BEST[kind](column[numbers].tolist())
            found.append((best, set(numbers[column[numbers] == best].tolist())))
    best = _BEST[kind](value for value, _ in found)
    places = [numbers for value, numbers in found if value == best]
    if len(places) == 1 and best != 0:
        return best
    number = min(set[int]().union(*places))
    return next(each.value for each in source.block(number) if each.kept and each.value == best)
