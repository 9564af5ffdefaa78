"""Ranges of integers: what value-range analysis computes with. Bounds are exact ints or infinite (None)."""

from __future__ import annotations

from hastega_magic.records import dataclass

INT64_MIN, INT64_MAX = -(1 << 63), (1 << 63) - 1


@dataclass(frozen=True)
class Interval:
    """All integers from `lo` to `hi`, both included; None means unbounded on that side."""

    lo: int | None
    hi: int | None

    def __str__(self) -> str:
        return f"[{'-∞' if self.lo is None else self.lo}, {'∞' if self.hi is None else self.hi}]"

    def __contains__(self, value: int) -> bool:
        return (self.lo is None or self.lo <= value) and (self.hi is None or value <= self.hi)

    def within(self, other: Interval) -> bool:
        """Whether every value of this one is in the other."""
        low = other.lo is None or (self.lo is not None and self.lo >= other.lo)
        return low and (other.hi is None or (self.hi is not None and self.hi <= other.hi))

    @property
    def fits_int64(self) -> bool:
        """Whether every value is an int64."""
        return self.within(INT64)

    @property
    def bounded(self) -> bool:
        """Whether both ends are finite."""
        return self.lo is not None and self.hi is not None

    @property
    def magnitude(self) -> int | None:
        """The largest absolute value; None when unbounded."""
        return None if self.lo is None or self.hi is None else max(abs(self.lo), abs(self.hi))

    def at_most(self, bound: int) -> bool:
        """Whether every absolute value is at most `bound`."""
        return self.magnitude is not None and self.magnitude <= bound

    def join(self, other: Interval) -> Interval:
        """The smallest interval around both."""
        return Interval(_least(self.lo, other.lo), _greatest(self.hi, other.hi))

    def meet(self, other: Interval) -> Interval:
        """What both hold; if that is empty, the other (dead code keeps a sound range)."""
        lo = other.lo if self.lo is None else self.lo if other.lo is None else max(self.lo, other.lo)
        hi = other.hi if self.hi is None else self.hi if other.hi is None else min(self.hi, other.hi)
        return other if lo is not None and hi is not None and lo > hi else Interval(lo, hi)


TOP = Interval(None, None)
INT64 = Interval(INT64_MIN, INT64_MAX)
BIT = Interval(0, 1)
NOT_NEGATIVE = Interval(0, INT64_MAX)
"""Of int64."""


def point(value: int) -> Interval:
    """The interval of one value."""
    return Interval(value, value)


def _least(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else min(a, b)


def _greatest(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else max(a, b)


def less(a: Interval, b: Interval) -> bool | None:
    """What x < y is for every x of `a` and y of `b`; None where that depends on them."""
    if a.hi is not None and b.lo is not None and a.hi < b.lo:
        return True
    return False if a.lo is not None and b.hi is not None and a.lo >= b.hi else None


def add(a: Interval, b: Interval) -> Interval:
    """Range of a + b."""
    return Interval(
        None if a.lo is None or b.lo is None else a.lo + b.lo,
        None if a.hi is None or b.hi is None else a.hi + b.hi,
    )


def neg(a: Interval) -> Interval:
    """Range of -a."""
    return Interval(None if a.hi is None else -a.hi, None if a.lo is None else -a.lo)


def sub(a: Interval, b: Interval) -> Interval:
    """Range of a - b."""
    return add(a, neg(b))


def mul(a: Interval, b: Interval) -> Interval:
    """Range of a · b; unbounded operands give an unbounded product unless both signs are known."""
    if a.lo is None or a.hi is None or b.lo is None or b.hi is None:
        if a.lo is not None and b.lo is not None and a.lo >= 0 and b.lo >= 0:
            return Interval(a.lo * b.lo, None)
        return TOP
    corners = (a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi)
    return Interval(min(corners), max(corners))


def square(a: Interval) -> Interval:
    """Range of a · a, which is never negative."""
    product = mul(a, a)
    lo = 0 if 0 in a or a.lo is None or a.hi is None else min(a.lo * a.lo, a.hi * a.hi)
    return Interval(lo, product.hi)


def absolute(a: Interval) -> Interval:
    """Range of |a|."""
    if a.lo is not None and a.lo >= 0:
        return a
    if a.hi is not None and a.hi <= 0:
        return neg(a)
    return Interval(0, a.magnitude)


def floordiv(a: Interval, b: Interval) -> Interval:
    """Range of a // b where b is not zero."""
    if a.lo is None or a.hi is None:
        if a.lo is not None and a.lo >= 0 and b.lo is not None and b.lo > 0:
            return Interval(0, None)
        return TOP
    divisors = _nonzero_corners(b)
    if not divisors:
        return INT64
    corners = [x // d for x in (a.lo, a.hi) for d in divisors]
    if b.lo is None or b.hi is None:
        corners += [0, -1]
    return Interval(min(corners), max(corners))


def mod(a: Interval, b: Interval) -> Interval:
    """Range of a % b where b is not zero; the sign is the divisor's."""
    lo = 0 if b.lo is not None and b.lo >= 0 else None if b.lo is None else b.lo + 1
    hi = 0 if b.hi is not None and b.hi <= 0 else None if b.hi is None else b.hi - 1
    if b.lo is not None and b.lo > 0 and a.lo is not None and a.lo >= 0 and a.hi is not None:
        if a.hi < b.lo:
            return a
        hi = a.hi if hi is None else min(hi, a.hi)
    return Interval(lo, hi)


def _nonzero_corners(b: Interval) -> list[int]:
    ends = [end for end in (b.lo, b.hi) if end is not None and end != 0]
    return ends + [one for one in (-1, 1) if one in b]


def power(a: Interval, exponent: int) -> Interval:
    """Range of a ** exponent for a constant exponent of zero or more."""
    if exponent == 0:
        return point(1)
    if a.lo is None or a.hi is None:
        return TOP if exponent % 2 else Interval(0, None)
    ends = (a.lo**exponent, a.hi**exponent)
    lo = 0 if exponent % 2 == 0 and 0 in a else min(ends)
    return Interval(lo, max(ends))


def minimum(a: Interval, b: Interval) -> Interval:
    """Range of min(a, b)."""
    hi = b.hi if a.hi is None else a.hi if b.hi is None else min(a.hi, b.hi)
    return Interval(_least(a.lo, b.lo), hi)


def maximum(a: Interval, b: Interval) -> Interval:
    """Range of max(a, b)."""
    lo = b.lo if a.lo is None else a.lo if b.lo is None else max(a.lo, b.lo)
    return Interval(lo, _greatest(a.hi, b.hi))


def _all_bits(a: Interval) -> int | None:
    return None if a.hi is None or a.lo is None else (1 << max(a.hi.bit_length(), (~a.lo).bit_length())) - 1


def bit_and(a: Interval, b: Interval) -> Interval:
    """Range of a & b: a non-negative operand bounds it from above."""
    caps = [x.hi for x in (a, b) if x.lo is not None and x.lo >= 0 and x.hi is not None]
    if caps or any(x.lo is not None and x.lo >= 0 for x in (a, b)):
        return Interval(0, min(caps) if caps else None)
    return _signed_bits(a, b)


def bit_or(a: Interval, b: Interval) -> Interval:
    """Range of a | b and of a ^ b."""
    if a.lo is not None and b.lo is not None and a.lo >= 0 and b.lo >= 0:
        if a.hi is None or b.hi is None:
            return Interval(0, None)
        return Interval(0, (1 << max(a.hi, b.hi).bit_length()) - 1)
    return _signed_bits(a, b)


def _signed_bits(a: Interval, b: Interval) -> Interval:
    bits_a, bits_b = _all_bits(a), _all_bits(b)
    if bits_a is None or bits_b is None:
        return TOP
    bits = max(bits_a, bits_b)
    return Interval(-bits - 1, bits)


def invert(a: Interval) -> Interval:
    """Range of ~a."""
    return sub(point(-1), a)


def shift_left(a: Interval, b: Interval) -> Interval:
    """Range of a << b for b of zero or more; shifts beyond 128 bits count as unbounded."""
    if b.hi is None or b.hi > 128 or a.lo is None or a.hi is None:
        return Interval(0, None) if a.lo is not None and a.lo >= 0 else TOP
    low_shift, high_shift = max(b.lo or 0, 0), max(b.hi, 0)
    corners = [x << s for x in (a.lo, a.hi) for s in (low_shift, high_shift)]
    return Interval(min(corners), max(corners))


def shift_right(a: Interval, b: Interval) -> Interval:
    """Range of a >> b for b of zero or more."""
    if a.lo is None or a.hi is None:
        return Interval(0, None) if a.lo is not None and a.lo >= 0 else TOP
    low_shift = max(b.lo or 0, 0)
    enough = max(a.lo.bit_length(), a.hi.bit_length())
    high_shift = enough if b.hi is None else min(max(b.hi, 0), enough)
    low_shift = min(low_shift, enough)
    corners = [x >> s for x in (a.lo, a.hi) for s in (low_shift, high_shift)]
    return Interval(min(corners), max(corners))
