"""Rows: cbrt, by a polynomial and one step of Halley's with what the cube lacks computed exactly."""

from __future__ import annotations

import math

import numpy as np

from hastega_magic.ops.functions.exp import power_of_two
from hastega_magic.ops.functions.kit import SHIFT, Real, polynomial, rows, where
from hastega_magic.ops.functions.log import split

_CBRT = (
    0.9999998643869978, 0.3333354088502607, -0.1110843320816401, 0.061574737608532465, -0.04186235456793218,
    0.033349882259707336, -0.020054301416090266,
)  # fmt: skip
"""The cube root of 1 + f, f from √½ - 1 to √2 - 1: tools/minimax.py cbrt, to 2^-22.5, of which a step makes 2^-66."""
_CBRT_2, _CBRT_HALF = 1.2599210498948732, 0.7937005259840998


def cbrt(x: Real) -> Real:
    """2^k · ∛m for x = 2^(3·k) · m."""
    size = abs(x)
    usual = (size > 0.0) & (size < math.inf)
    parts = split(where(usual, size, 1.0))
    thirds = parts.exponent.fma(1 / 3, SHIFT)
    left = (thirds - SHIFT).fma(-3.0, parts.exponent)
    more, less = left > 0.5, left < -0.5
    m = (1.0 + parts.fraction) * where(more, 2.0, where(less, 0.5, 1.0))
    root = polynomial(parts.fraction, _CBRT) * where(more, _CBRT_2, where(less, _CBRT_HALF, 1.0))
    square = root * root
    square_low = root.fma(root, -square)
    lacking = square.fma(root, -m) + square_low * root
    root = root - root * lacking / ((square + square).fma(root, m))
    return where(usual, (root * power_of_two(thirds, 1023)).with_sign_of(x), x)


ROWS = rows("cbrt", cbrt, math.cbrt, np.cbrt)
