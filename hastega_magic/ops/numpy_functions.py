"""Rows: functions of NumPy that Python's own do not mean: extremes in which NaN wins, and signs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hastega_magic import interval
from hastega_magic.errors import NotCompilable
from hastega_magic.interval import Interval
from hastega_magic.ops.row import Builder, Op, Signature
from hastega_magic.types import BOOL, ScalarType, promote

_UNIT = Interval(-1, 1)


def _common(types: tuple[ScalarType, ...]) -> Signature:
    """Operands of any kind, which become one."""
    result = promote(*types)
    return Signature((result,) * len(types), result)


def _number(types: tuple[ScalarType, ...]) -> Signature:
    """The same of one number; NumPy has no signs of bools."""
    if types == (BOOL,):
        raise NotCompilable("`np.sign` of a bool: NumPy raises TypeError")
    return _common(types)


def _of(ufunc: np.ufunc) -> Callable[..., Any]:
    """What it gives over Python's numbers, as one of these."""

    def python(*args: Any) -> Any:
        found: Any = ufunc(*args)
        # Of integers beyond 64 bits NumPy makes Python's own.
        return found if type(found) in (np.float32, int) else found.item()

    return python


def _extremum(op: str, better: str) -> Callable[[Builder, Sequence[Any]], Any]:
    """The better of two; of equal ones the second, which zeros of two signs tell."""

    def expand(b: Builder, args: Sequence[Any]) -> Any:
        x, y = args
        if x.type is BOOL:
            return b.op("or" if op == "max" else "and", x, y)
        if not x.type.is_float:
            return b.op(op, x, y)
        first = b.op("or", b.op(better, x, y), b.op("isnan", x))
        return b.op("select", first, x, y)

    return expand


def _sign(b: Builder, args: Sequence[Any]) -> Any:
    (x,) = args
    zero, one, minus = (b.const(float(each) if x.type.is_float else each, x.type) for each in (0, 1, -1))
    of_zero = b.op("select", b.op("eq", x, zero), zero, x) if x.type.is_float else zero  # NaN stays
    return b.op("select", b.op("gt", x, zero), one, b.op("select", b.op("lt", x, zero), minus, of_zero))


ROWS = (
    Op("np_maximum", 2, _of(np.maximum), _common, "", np.maximum, interval.maximum,
       expand=_extremum("max", "gt"), spellings=(np.maximum,)),
    Op("np_minimum", 2, _of(np.minimum), _common, "", np.minimum, interval.minimum,
       expand=_extremum("min", "lt"), spellings=(np.minimum,)),
    Op("np_sign", 1, _of(np.sign), _number, "", np.sign, lambda a: _UNIT, expand=_sign, spellings=(np.sign,)),
)  # fmt: skip
