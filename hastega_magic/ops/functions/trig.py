"""Rows: sin, cos, tan.

x = n·π/2 + r + low with π/2 in three parts of 53 bits, which gives r its full precision up to |x| = 2^40, also
next to multiples of π/2 (no float64 below 2^40 is nearer to one than about 2^-60). A block with a number beyond is
evaluated by Python: that number by the C library's float64 function, which float32 rounds once, the others by the same
operations as elsewhere, so that no element's bits depend on what stands beside it.
"""

from __future__ import annotations

import math

import numpy as np

from hastega_magic.ops.functions.kit import (
    SHIFT,
    Flag,
    Real,
    Whole,
    fast_two_sum,
    finite,
    polynomial,
    quotient,
    rows,
    where,
)

_TWO_OVER_PI = 0.6366197723675814
_HALF_PI = 1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33
LIMIT = 2.0**40

_SIN = (
    -0.16666666666666666, 0.008333333333328823, -0.00019841269834026463, 2.7557314947008095e-06,
    -2.5050931313312076e-08, 1.590581526306197e-10,
)  # fmt: skip
"""sin(r) = r + r·z·p(z), z = r², |r| ≤ π/4: tools/minimax.py sin, z·p to 2^-57.4."""
_COS = (
    0.041666666666666664, -0.0013888888888883867, 2.4801587294897385e-05, -2.755731576993345e-07,
    2.087590019874905e-09, -1.1368143703188653e-11,
)  # fmt: skip
"""cos(r) = 1 - z/2 + z²·p(z): tools/minimax.py cos, z²·p to 2^-63."""


class Angle:
    """Sine and cosine of r, each as a number and a correction, and the quadrant n of x."""

    def __init__(self, x: Real) -> None:
        shifted = x.fma(_TWO_OVER_PI, SHIFT)
        n = shifted - SHIFT
        self.quadrant: Whole = shifted.bits()
        near = n.fma(-_HALF_PI[0], x)  # exact: at most 53 bits remain
        second = n * _HALF_PI[1]
        below = n.fma(_HALF_PI[1], -second)
        r, low = fast_two_sum(near, -second)  # exact: near is a multiple of the last place of second
        self.r, self.low = fast_two_sum(r, low - n.fma(_HALF_PI[2], below))
        self.z = self.r * self.r
        self.half = self.z * 0.5

    def sine(self) -> tuple[Real, Real]:
        """sin(r + low) as r and a correction."""
        bent = (-self.half).fma(self.low, self.low)
        return self.r, (self.z * self.r).fma(polynomial(self.z, _SIN), bent)

    def cosine(self) -> tuple[Real, Real]:
        """cos(r + low) as 1 - z/2 rounded and a correction."""
        lost = (self.r + self.r).fma(self.low, self.r.fma(self.r, -self.z))
        high = 1.0 - self.half
        error = (1.0 - high) - self.half
        return high, error + (self.z * self.z).fma(polynomial(self.z, _COS), lost * -0.5)

    def odd(self) -> Flag:
        """Whether n is odd."""
        return (self.quadrant & 1).differs(0)


def _turned(value: Real, quadrant: Whole) -> Real:
    """Negated in quadrants 2 and 3."""
    return (value.bits() ^ ((quadrant & 2) << 62)).real()


def sin(x: Real) -> Real:
    """±sin(r) or ±cos(r); x itself where it is so small that the rest is nothing."""
    angle = Angle(x)
    (sine, sine_low), (cosine, cosine_low) = angle.sine(), angle.cosine()
    value = where(angle.odd(), cosine + cosine_low, sine + sine_low)
    return where(abs(x) < 2.0**-27, x, _turned(value, angle.quadrant))


def cos(x: Real) -> Real:
    """±cos(r) or ±sin(r)."""
    angle = Angle(x)
    (sine, sine_low), (cosine, cosine_low) = angle.sine(), angle.cosine()
    value = where(angle.odd(), sine + sine_low, cosine + cosine_low)
    return _turned(value, angle.quadrant + 1)


def tan(x: Real) -> Real:
    """sin(r) / cos(r) or -cos(r) / sin(r), the quotient corrected for the low parts."""
    angle = Angle(x)
    sine, sine_low = fast_two_sum(*angle.sine())
    cosine, cosine_low = fast_two_sum(*angle.cosine())
    odd = angle.odd()
    top, bottom = where(odd, -cosine, sine), where(odd, sine, cosine)
    top_low, bottom_low = where(odd, -cosine_low, sine_low), where(odd, sine_low, cosine_low)
    return where(abs(x) < 2.0**-27, x, quotient(top, top_low, bottom, bottom_low))


def _infinite(x: Real) -> Flag:
    return abs(x).equals(math.inf)


def _beyond(x: Real) -> Flag:
    return (abs(x) > LIMIT) & finite(x)


ROWS = (
    *rows("sin", sin, math.sin, np.sin, _infinite, _beyond),
    *rows("cos", cos, math.cos, np.cos, _infinite, _beyond),
    *rows("tan", tan, math.tan, np.tan, _infinite, _beyond),
)
