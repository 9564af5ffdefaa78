"""Rows: erf and erfc of the math module.

Below a half the odd series of erf; beyond, erfc(x) = exp(-x²) · h(x) / (1 + 2·x), where h hardly varies (Shepherd and
Laframboise, Mathematics of Computation 36, 1981), and products and quotients keep their rounding errors.
"""

from __future__ import annotations

import math

from hastega_magic.ops.functions.exp import Reduced, clamped, power_of_two
from hastega_magic.ops.functions.kit import (
    Real,
    divided,
    fast_two_sum,
    math_row,
    polynomial,
    two_product,
    two_sum,
    where,
)
from hastega_magic.records import dataclass

_TWO_BY_ROOT_PI = 1.1283791670955126, 1.533545961316588e-17
_ERF = (
    -0.37612638903183754, 0.11283791670955219, -0.026866170645138, 0.00522397762474698, -0.0008548326814586778,
    0.00012055306155516184, -1.492377006543664e-05, 1.6387175424932925e-06, -1.4759413913731936e-07,
)  # fmt: skip
"""erf(x) = x·(2/√π + z·p(z)), z = x² ≤ 1/4: tools/minimax.py erf, z·p to 2^-63.5."""

_CENTRE = 3.0
_H = 1.2530080582697296
_ERFC = (
    4.5212206465317664e-17, -0.1356211061245812, -0.047562294353451155, 0.1296451587027638, -0.11927366341527673,
    0.06830802734386444, -0.02377051491956878, 0.0025293918180533596, 0.0018886903719794812, -0.0007798322926344185,
    -0.00010515989724085551, 0.00012509949054087557, 4.94992464667377e-06, -2.0101198804949506e-05,
    -7.327144081359228e-07, 3.4743796068261193e-06, 3.587333421024753e-07, -6.207471870184476e-07,
    -1.4285562365269786e-07, 1.0732333716860915e-07, 4.1056630211972645e-08, -1.750295899491671e-08,
    -6.68621157524056e-09, 2.3869180601832138e-09,
)  # fmt: skip
"""h(x) = (1 + 2·x)·exp(x²)·erfc(x) = h(3) + p(t), t = (x - 3)/(x + 3), x from 0.499 to 27.3: tools/minimax.py erfc, to
2^-59."""
_SLOPE = -0.149, -0.098, 0.582, -0.514
"""About the derivative of p, for what t has lost."""

_HALF = 0.5
_MOST, _ENOUGH = 28.0, 6.0
"""From the first on erfc is zero, from the second on nothing beside 1."""


@dataclass(frozen=True)
class _Tail:
    """erfc(size) = 2^n · (high + low)."""

    exponential: Reduced
    high: Real
    low: Real

    def scaled(self) -> tuple[Real, Real]:
        """The number, and a much smaller one; no subnormal ones."""
        scale = power_of_two(self.exponential.shifted, 1023)
        return self.high * scale, self.low * scale

    def rounded(self) -> Real:
        """The number, which may be subnormal."""
        return self.exponential.times(self.high + self.low)


def _tail(size: Real) -> _Tail:
    """For a size from 1/2 to 28."""
    square, square_low = two_product(size, size)
    parts = Reduced(-square, -square_low)
    power = 1.0 + parts.r
    power_low = (parts.r - (power - 1.0)) + parts.tail()
    t, t_low = divided(*two_sum(size, -_CENTRE), *two_sum(size, _CENTRE))
    h, h_low = fast_two_sum(size.constant(_H), polynomial(t, _ERFC))
    h_low = t_low.fma(polynomial(t, _SLOPE), h_low)
    bottom, bottom_low = two_sum(size + size, 1.0)
    top, top_low = two_product(power, h)
    top_low = top_low + power.fma(h_low, power_low * h)
    return _Tail(parts, *divided(top, top_low, bottom, bottom_low))


def _near_zero(x: Real) -> tuple[Real, Real]:
    """erf(x) as a number and a much smaller one, for |x| up to 1/2."""
    z = x * x
    high, low = two_product(x, _TWO_BY_ROOT_PI[0])
    return high, x.fma(z.fma(polynomial(z, _ERF), _TWO_BY_ROOT_PI[1]), low)


def erf(x: Real) -> Real:
    """1 - erfc(|x|) with the sign of x."""
    size = abs(x)
    high, low = _near_zero(x)
    tail, tail_low = _tail(clamped(size, _HALF, _ENOUGH)).scaled()
    rest, lost = fast_two_sum(x.constant(1.0), -tail)
    return where(size < _HALF, high + low, rest + (lost - tail_low)).with_sign_of(x)  # -0.0's too


def erfc(x: Real) -> Real:
    """What erf lacks of 1; of negative numbers by symmetry."""
    size = abs(x)
    high, low = _near_zero(x)
    middle, lost = fast_two_sum(x.constant(1.0), -high)
    negative = x < 0.0
    raised = where(size < _HALF, _HALF, size)
    most = where(negative, _ENOUGH, _MOST)
    found = _tail(where(raised > most, most, raised))
    tail, tail_low = found.scaled()
    left, left_lost = fast_two_sum(x.constant(1.0) + 1.0, -tail)
    outer = where(negative, left + (left_lost - tail_low), found.rounded())
    return where(size < _HALF, middle + (lost - low), outer)


ROWS = (math_row("erf", erf, math.erf), math_row("erfc", erfc, math.erfc))
