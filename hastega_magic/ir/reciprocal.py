"""Quotients of float64 by a constant c: a product with two parts of its reciprocal, where that is proved to be exact.

    h     1 / c, rounded towards zero        l     what is missing, rounded        q = x · h + (x · l), rounded once

x · l is rounded as well, and l is off by up to 2^-53 of itself: so what is rounded last is off x / c by at most 2^-52
· l · c of it. q is x / c rounded unless a number half way between two floats lies between. With X and C the two as
whole numbers in [2^52, 2^53), such numbers are odd multiples of 2^-p, p = 53 where X >= C, else 54; x / c is j / (C ·
2^p) away from one, with j = |2^p · X − C · (2M + 1)| a whole number and no zero, as no quotient is half way. So only
j <= 2^(p − 52) · l · c · X < 8 matters. Twos that C and 2^p share are in j, too: no divisor that ends in three binary
zeros has such a dividend. Others have a few, found by an inverse modulo C, which are computed both ways. (N.
Brisebarre, J.-M. Muller, S. Raina, Accelerating correctly rounded floating-point division when the divisor is known
in advance, 2004, with h rounded to nearest.) Both parts have the sign of c, so that zeros and infinities come out as
they do of a division; the products must not be so small that floats lose places.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from fractions import Fraction

_PLACES = 53
"""Binary digits of a float64."""


@functools.lru_cache(256)
def reciprocal(divisor: float) -> tuple[float, float] | None:
    """The two parts for an ordinary divisor; None for powers of two, and where a quotient would not be rounded right.

    >>> reciprocal(5.0)
    (0.19999999999999998, 1.6653345369377347e-17)
    """
    size = abs(divisor)
    exact = 1 / Fraction(size)
    high = float(exact)
    if high > exact:
        high = math.nextafter(high, 0.0)
    low = float(exact - Fraction(high))
    if low == 0 or any(_product(x, high, low) != x / size for x in doubtful(size, low)):
        return None
    return math.copysign(high, divisor), math.copysign(low, divisor)


def _product(x: float, high: float, low: float) -> float:
    return float(Fraction(x) * Fraction(high) + Fraction(x * low))


def doubtful(size: float, low: float) -> Iterator[float]:
    """The dividends, as whole numbers, whose quotients lie so near to the middle of two floats that it may matter."""
    divisor = int(math.ldexp(math.frexp(size)[0], _PLACES))
    twos = (divisor & -divisor).bit_length() - 1
    odd, off = divisor >> twos, Fraction(low) * Fraction(size)
    middle, end = 1 << (_PLACES - 1), 1 << _PLACES
    for power, first, last in ((_PLACES, divisor, end), (_PLACES + 1, middle, divisor)):
        most = int(off * (last << (power - _PLACES + 1)))
        for away in range(1 << twos, most + 1, 2 << twos):
            for signed in (away >> twos, -(away >> twos)):
                least = signed * pow(2, twos - power, odd) % odd
                yield from map(float, range(least + -((least - first) // odd) * odd, last, odd))
