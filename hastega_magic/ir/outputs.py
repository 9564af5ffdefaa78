"""What the interpreter makes of the elements: an output in the making, element by element."""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from hastega_magic.ir.reduction import (
    PROD_NEUTRAL,
    SUM_NEUTRAL,
    block_prods,
    block_sums,
    complex_product,
    tree_prod,
    tree_sum,
)
from hastega_magic.ir.sinks import bincount, end, extreme, spread
from hastega_magic.ops import OPS
from hastega_magic.types import FLOAT, FLOAT32, ScalarType


class Elements:
    """An output in the making: the values that take part."""

    decided = False

    def __init__(self) -> None:
        self.values: list[Any] = []

    def add(self, value: Any, taken: bool) -> None:
        """The next element; a value that is not taken is not there."""
        if taken:
            self.values.append(value)

    def value(self) -> object:
        """The result."""
        return self.values


class Fold(Elements):
    """A reduction by a function of the list of values."""

    def __init__(self, fold: Callable[[list[Any]], object]) -> None:
        super().__init__()
        self._fold = fold

    def value(self) -> object:
        """The result."""
        return self._fold(self.values)


class Decision(Elements):
    """`any` (until True) or `all` (until False)."""

    def __init__(self, until: bool) -> None:
        super().__init__()
        self._until = until

    def add(self, value: Any, taken: bool) -> None:
        """The next element."""
        self.decided = self.decided or (taken and bool(value) is self._until)

    def value(self) -> object:
        """The result."""
        return self._until if self.decided else not self._until


class FloatTree(Elements):
    """A float sum, product or mean: elements keep their places in the tree, others are neutral there."""

    def __init__(self, kind: str, type_: ScalarType, ddof: float = 0.0) -> None:
        super().__init__()
        self._kind = kind
        self._ddof = ddof
        self._dtype = np.float32 if type_ is FLOAT32 else np.float64
        self._count = 0

    def add(self, value: Any, taken: bool) -> None:
        """The next element."""
        self._count += taken
        self.values.append(value if taken else PROD_NEUTRAL if self._kind == "prod" else SUM_NEUTRAL)

    def value(self) -> object:
        """The result."""
        if not self._count:
            return FOLDS["mean" if self._kind in ("var", "std") else self._kind]([])
        array = np.array(self.values, self._dtype)
        found: Any = tree_prod(block_prods(array)) if self._kind == "prod" else tree_sum(block_sums(array))
        if self._kind in ("var", "std"):
            found = spread(self._kind, found, self._count, self._ddof)
        elif self._kind == "mean":
            found /= self._count
        return np.float32(found) if self._dtype is np.float32 else found


class ComplexTree(Elements):
    """A sum or mean of complex numbers: of each part by itself."""

    def __init__(self, kind: str, type_: ScalarType) -> None:
        super().__init__()
        self._kind = kind
        self._type = np.complex64 if type_ is FLOAT32 else complex
        self._parts = FloatTree("sum", type_), FloatTree("sum", type_)

    def add(self, value: Any, taken: bool) -> None:
        """The next element."""
        super().add(value, taken)
        for part, place in zip(self._parts, ("real", "imag"), strict=True):
            part.add(getattr(value, place) if taken else None, taken)

    def value(self) -> object:
        """The result."""
        if not self.values:
            return FOLDS[self._kind]([])
        total = complex(*(cast("float", part.value()) for part in self._parts))
        return self._type(total / len(self.values) if self._kind == "mean" else total)


class MixedTree(Elements):
    """A sum or mean of ints and floats among each other: ints exactly, floats in their tree, then both."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self._kind = kind
        self._floats = FloatTree("sum", FLOAT)

    def add(self, value: Any, taken: bool) -> None:
        """The next element."""
        super().add(value, taken)
        self._floats.add(value, taken and isinstance(value, float))

    def value(self) -> object:
        """The result."""
        if not self.values:
            return FOLDS[self._kind]([])
        ints = [value for value in self.values if not isinstance(value, float)]
        total: Any = sum(ints)
        if len(ints) < len(self.values):
            total += cast("float", self._floats.value())
        return total / len(self.values) if self._kind == "mean" else total


def mean(values: Sequence[Any]) -> Any:
    """The sum divided by the number of elements, ints exactly; StatisticsError without elements."""
    if not values:
        raise statistics.StatisticsError("mean requires at least one data point")
    return sum(values) / len(values)


def _reduced(function: Callable[..., Any], values: list[Any]) -> object:
    return functools.reduce(function, values)


FOLDS: Mapping[str, Callable[[list[Any]], object]] = {
    "sum": sum,
    "prod": math.prod,
    "min": min,
    "max": max,
    "count": len,
    "mean": mean,
    "bincount": bincount,
    "complex_prod": lambda values: complex_product(np.array(values)),
    "first_index": lambda values: min(values, default=None),
    "last_index": lambda values: max(values, default=None),
    **{kind: functools.partial(extreme, kind) for kind in ("argmin", "argmax")},
    **{kind: functools.partial(end, kind) for kind in ("first", "last")},
    **{
        f"reduce_{name}": functools.partial(_reduced, OPS[name].python)
        for name in ("add", "mul", "min", "max", "and", "or", "xor")
    },
}
