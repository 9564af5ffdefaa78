"""Captured numbers that compiled code has as constants, or is given where they keep changing."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np

_COUNTED = {np.float64: float, **{np.dtype(code).type: int for code in "bBhHiIlLqQ"}}
"""What those of NumPy's count as."""
SCALARS = frozenset({np.float32, *_COUNTED})
"""Those of NumPy's that are computed with as captured numbers are."""
PARAMETERS = frozenset({int, float, complex, *SCALARS})
"""Types of captured numbers of which one that keeps changing is a parameter of compiled code."""
_NUMBERS = frozenset({bool, np.bool_, *PARAMETERS})

Number = bool | int | float | complex | np.float32
"""What compiled code may have as a constant, or as a parameter."""


def counted(number: Any) -> Any:
    """One of `PARAMETERS` as compiled code is given it: a Python number, or a numpy.float32."""
    made = _COUNTED.get(cast("type[Any]", type(number)))
    return number if made is None else made(number)


def same_number(a: Any, b: Any) -> bool:
    """Whether both are numbers of one type, equal, and of one sign if they are zeros."""
    if type(a) is not type(b) or type(a) not in _NUMBERS or a != b:
        return False
    if type(a) is complex:
        return same_number(a.real, b.real) and same_number(a.imag, b.imag)
    return bool(a) or isinstance(a, int) or math.copysign(1.0, a) == math.copysign(1.0, b)


__all__ = ["PARAMETERS", "SCALARS", "Number", "counted", "same_number"]
