"""What graphs mean, for many elements at once: as the interpreter has it, one node after the other.

A node is computed for those elements alone that need it: of a select the condition for all, and each branch for the
elements that take it. Functions whose last bit need not be Python's go over columns of numbers (`ops/functions`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from hastega_magic.interval import INT64_MAX, INT64_MIN
from hastega_magic.ir.expr import UNROUNDED, Expr
from hastega_magic.ir.interpreter import SCALAR, apply
from hastega_magic.ops import OPS
from hastega_magic.ops.functions.columns import over_columns
from hastega_magic.types import FLOAT64, INT


class NotInColumns(Exception):
    """A graph holds what goes turn by turn."""


class Columns:
    """The nodes' values by the number of the element, for elements that `given` has.

    `given`: by leaf its values; `leaves`: the value of any other leaf that is no constant, one for all elements.
    Integers may have any size. What operators raise propagates, for whichever element: Python may raise for another
    one first.
    """

    def __init__(self, given: Mapping[Expr, Mapping[int, Any]], leaves: Callable[[Expr], object]) -> None:
        self._leaves = leaves
        self._given = given
        self._known: dict[Expr, dict[int, Any]] = {}

    def of(self, node: Expr, places: Sequence[int]) -> list[Any]:
        """The node's values for these elements."""
        if not node.args:
            return self._leaf(node, places)
        known = self._known.setdefault(node, {})
        missing = [place for place in places if place not in known] if known else places
        if missing:
            with np.errstate(all="ignore"):
                known.update(zip(missing, map(SCALAR[node.type], self._computed(node, missing)), strict=True))
        return list(map(known.__getitem__, places))

    def beyond(self) -> int | None:
        """The first element that needs an integer which no int64 holds, as far as nodes were computed."""
        found: list[int] = []
        for node, values in self._known.items():
            if node.type is not INT or not values:
                continue
            if min(values.values()) >= INT64_MIN and max(values.values()) <= INT64_MAX:
                continue
            beyond = (place for place, value in values.items() if not INT64_MIN <= value <= INT64_MAX)
            found.append(min(beyond))
        return min(found, default=None)

    def _may_be_numpys(self, node: Expr) -> bool:
        """Whether it may be a float of NumPy's, which rounds the int that it is compared with."""
        return node.type is FLOAT64 and node not in self._given

    def _leaf(self, node: Expr, places: Sequence[int]) -> list[Any]:
        if node in self._given:
            return list(map(self._given[node].__getitem__, places))
        found = node.value if node.op == "const" else self._leaves(node)
        return [found if node.op == "table" else SCALAR[node.type](found)] * len(places)

    def _computed(self, node: Expr, places: Sequence[int]) -> Sequence[Any]:
        if node.op in ("turns", "result"):
            raise NotInColumns
        if node.op == "select":
            condition, yes, no = node.args
            taken = self.of(condition, places)
            parted = (yes, taken), (no, [not each for each in taken])
            found = dict[int, Any]()
            for branch, mask in parted:
                there = list(itertools.compress(places, mask))
                found.update(zip(there, self.of(branch, there), strict=True))
            return [found[place] for place in places]
        unrounded = node.op in UNROUNDED and not any(map(self._may_be_numpys, node.args))
        operands = [
            self.of(arg.args[0] if unrounded and arg.op == "exact_float" else arg, places)
            for arg in node.args
        ]
        row = OPS[node.op]
        if node.type.is_float and "approximate" in row.traits and row.expand is not None:
            return over_columns(row, [arg.type for arg in node.args], operands)
        if node.op == "gather":
            return [apply(node.op, each) for each in zip(*operands, strict=True)]
        return list(map(row.python, *operands))


__all__ = ["Columns", "NotInColumns"]
