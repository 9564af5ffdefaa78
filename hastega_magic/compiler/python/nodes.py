"""What a stage's function is to whoever evaluates it: which nodes it has, and an element as its numbers and back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, cast

import numpy as np

from hastega_magic.interval import INT64
from hastega_magic.ir.expr import Expr, Value, flatten, postorder
from hastega_magic.ir.loop import everything
from hastega_magic.ir.pipeline import Fn
from hastega_magic.ops import OPS
from hastega_magic.types import BOOL, Complex, Either

_FUNCTIONS = 256
"""Functions of which is remembered what they have: elements that need Python may come in every turn of a loop."""


@lru_cache(_FUNCTIONS)
def has_turns(fn: Fn | None) -> bool:
    """Whether a function has a loop of its own."""
    return fn is not None and any(node.op == "turns" for node in postorder(roots(fn)))


@lru_cache(_FUNCTIONS)
def tables_read(fn: Fn | None) -> frozenset[object]:
    """The numbers of the captured arrays that a function reads."""
    nodes = () if fn is None else everything(roots(fn))
    return frozenset(node.value for node in nodes if node.op == "table")


@lru_cache(_FUNCTIONS)
def is_approximate(fn: Fn | None) -> bool:
    """Whether a function computes something whose last bit need not be CPython's."""
    nodes = () if fn is None else postorder(roots(fn))
    floats = (node for node in nodes if node.op in OPS and node.type.is_float)
    return any("approximate" in OPS[node.op].traits for node in floats)


@lru_cache(_FUNCTIONS)
def computed(fn: Fn) -> tuple[Expr, ...]:
    """The nodes that are no leaves, and constants beyond 64 bits that are (parts of) what it gives."""
    return (*wide_constants(fn), *(node for node in postorder(roots(fn)) if node.args))


@lru_cache(_FUNCTIONS)
def wide_constants(fn: Fn) -> tuple[Expr, ...]:
    """What it gives, whatever the element is, that no int64 holds."""
    constants = (node for node in roots(fn) if node.op == "const")
    return tuple(node for node in constants if isinstance(node.value, int) and node.value not in INT64)


def roots(fn: Fn) -> Sequence[Expr]:
    """What its result is made of."""
    return flatten(fn.result)


def scalars(value: Any) -> tuple[Any, ...]:
    """The numbers of an element, the halves of complex ones each by itself."""
    if type(value) in (complex, np.complex64):
        number = cast("complex", value)
        return number.real, number.imag
    if not isinstance(value, tuple):
        return (value,)
    return tuple(part for each in cast("tuple[Any, ...]", value) for part in scalars(each))


def of_params(params: Value, value: Any) -> tuple[Any, ...]:
    """The numbers of an element as the parameters have them."""
    if isinstance(params, Either):
        low = bool if params.low.type is BOOL else int
        return (False, value, 0) if type(value) is low else (True, 0, value)
    if isinstance(params, (Expr, Complex)):
        return scalars(value)
    return tuple(part for pair in zip(params, value, strict=True) for part in of_params(*pair))


def filled(value: Value, values: dict[Expr, Any]) -> Any:
    """An element, from what its nodes are."""
    if isinstance(value, Expr):
        return values[value]
    if isinstance(value, Either):
        return values[value.high if values[value.test] else value.low]
    parts = [filled(part, values) for part in value]
    if not isinstance(value, Complex):
        return tuple(parts)
    return np.complex64(complex(*parts)) if type(parts[0]) is np.float32 else complex(*parts)


__all__ = [
    "computed",
    "filled",
    "has_turns",
    "is_approximate",
    "of_params",
    "roots",
    "scalars",
    "tables_read",
    "wide_constants",
]
