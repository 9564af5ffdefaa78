"""Rows: np.logaddexp and np.logaddexp2, as NumPy computes them: the larger number, and the rest by log1p."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hastega_magic.ops.functions.exp import LN2_HIGH, LOG2_E, exp, exp2
from hastega_magic.ops.functions.kit import Real, ufunc_row, where
from hastega_magic.ops.functions.log import log1p


def _added(x: Real, y: Real, power: Callable[[Real], Real], factor: float, of_two: float) -> Real:
    """The logarithm of two powers' sum; `of_two`: that of 2, which equal ones have more, infinite ones too."""
    apart = x - y
    more = log1p(power(-abs(apart)))
    found = where(apart > 0.0, x, y) + (more if factor == 1.0 else more * factor)
    return where(x.equals(y), x + of_two, where(apart.differs(apart), apart, found))


def logaddexp(x: Real, y: Real) -> Real:
    """log(exp(x) + exp(y))."""
    return _added(x, y, exp, 1.0, LN2_HIGH)


def logaddexp2(x: Real, y: Real) -> Real:
    """log2(2^x + 2^y)."""
    return _added(x, y, exp2, LOG2_E, 1.0)


ROWS = (
    ufunc_row("logaddexp", logaddexp, np.logaddexp, arity=2),
    ufunc_row("logaddexp2", logaddexp2, np.logaddexp2, arity=2),
)
