"""Rows over whole columns of numbers: the bits of the row's own function, without a step of Python for each number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hastega_magic.interval import INT64, Interval
from hastega_magic.ops.functions.kit import PRIMITIVES
from hastega_magic.ops.row import Op
from hastega_magic.records import dataclass
from hastega_magic.types import FLOAT32, ScalarType, type_of_constant


@dataclass(frozen=True, slots=True)
class _Column:
    type: ScalarType
    values: Any


class _ColumnBuilder:
    """Computes with NumPy's arrays where other builders make nodes."""

    estimates = False
    serial = False

    def op(self, name: str, *args: _Column) -> _Column:
        row = PRIMITIVES[name]
        assert row.numpy is not None
        result = row.signature(tuple(arg.type for arg in args)).result
        return _Column(result, row.numpy(*(arg.values for arg in args)))

    def const(self, value: Any, type_: ScalarType | None = None) -> _Column:
        return _Column(type_ or type_of_constant(value), value)

    def range_of(self, term: _Column) -> Interval:
        return INT64


def over_columns(row: Op, types: Sequence[ScalarType], columns: Sequence[Sequence[Any]]) -> list[Any]:
    """What the row's `python` gives for the numbers of the columns, which are of `types`; raises what that raises.

    The row has an expansion. Numbers at which it reports trouble are left to `python`, one by one.
    """
    operands = row.signature(tuple(types)).operands
    args = [
        _Column(type_, np.array(column, np.float32 if type_ is FLOAT32 else np.float64))
        for type_, column in zip(operands, columns, strict=True)
    ]
    builder = _ColumnBuilder()
    assert row.expand is not None
    with np.errstate(all="ignore"):
        found = row.expand(builder, args).values
        wrong = False if row.trouble is None else row.trouble(builder, args).values
    values = list(found) if found.dtype == np.float32 else found.tolist()
    for place in np.flatnonzero(np.broadcast_to(wrong, len(values))).tolist():
        values[place] = row.python(*(column[place] for column in columns))
    return values


__all__ = ["over_columns"]
