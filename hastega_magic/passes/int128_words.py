"""Arithmetic of 128 bits in two's complement on pairs of int64 nodes: what compilers do for __int128, over vectors.

The high word counts 2^64 each and has the sign; the low word counts as unsigned (`ult`, `lshr`, `umul_hi`).
"""

from __future__ import annotations

from collections.abc import Callable

from hastega_magic import interval
from hastega_magic.interval import Interval
from hastega_magic.ir.expr import Expr, const, is_const, make
from hastega_magic.ops.machine import wrap64
from hastega_magic.records import dataclass

RANGES: dict[str, Callable[[Interval, Interval], Interval]] = {
    "add": interval.add,
    "sub": interval.sub,
    "mul": interval.mul,
}
_ZERO = const(0)
LIMB = 1 << 31
"""Residues by less are multiplied in 64 bits, and made of digits of 32 bits."""


@dataclass(frozen=True)
class Pair:
    """The integer high · 2^64 + low."""

    high: Expr
    low: Expr


def of_constant(value: int) -> Pair:
    """The words of an integer modulo 2^128."""
    return Pair(const(wrap64(value >> 64)), const(wrap64(value)))


def extended(node: Expr, found: Interval) -> Pair:
    """An int64 with its sign in the high word; `found`: its range."""
    if is_const(node) and isinstance(node.value, int):
        return of_constant(node.value)
    if found.lo is not None and found.lo >= 0:
        return Pair(_ZERO, node)
    return Pair(make("ashr", node, const(63)), node)


def excess(pair: Pair) -> Expr:
    """What the value has beyond its low word, where that counts as an int64."""
    return make("wrapping_add", pair.high, make("lshr", pair.low, const(63)))


def total(a: Pair, b: Pair) -> Pair:
    """A + b."""
    low = make("wrapping_add", a.low, b.low)
    carry = make("bool_to_int", make("ult", low, a.low))
    return Pair(make("wrapping_add", _plus(a.high, b.high), carry), low)


def difference(a: Pair, b: Pair) -> Pair:
    """A - b."""
    borrow = make("bool_to_int", make("ult", a.low, b.low))
    high = make("wrapping_sub", make("wrapping_sub", a.high, b.high), borrow)
    return Pair(high, make("wrapping_sub", a.low, b.low))


def negative(a: Pair) -> Pair:
    """Minus a."""
    return difference(Pair(_ZERO, _ZERO), a)


def absolute(a: Pair) -> Pair:
    """Its magnitude."""
    return chosen(make("lt", a.high, _ZERO), negative(a), a)


def inverted(a: Pair) -> Pair:
    """All bits turned."""
    return Pair(make("invert", a.high), make("invert", a.low))


def bitwise(op: str) -> Callable[[Pair, Pair], Pair]:
    """The operator on all bits."""
    return lambda a, b: Pair(make(op, a.high, b.high), make(op, a.low, b.low))


def chosen(condition: Expr, yes: Pair, no: Pair) -> Pair:
    """One of two."""
    return Pair(make("select", condition, yes.high, no.high), make("select", condition, yes.low, no.low))


def lesser(a: Pair, b: Pair) -> Pair:
    """The minimum, the first of equals, as Python has it."""
    return chosen(compared("lt", b, a), b, a)


def greater(a: Pair, b: Pair) -> Pair:
    """The maximum."""
    return chosen(compared("lt", a, b), b, a)


def compared(op: str, a: Pair, b: Pair) -> Expr:
    """A comparison: high words first, and where these are equal the low words."""
    match op:
        case "eq":
            return make("and", make("eq", a.high, b.high), make("eq", a.low, b.low))
        case "ne":
            return make("or", make("ne", a.high, b.high), make("ne", a.low, b.low))
        case "lt":
            below = make("and", make("eq", a.high, b.high), make("ult", a.low, b.low))
            return make("or", make("lt", a.high, b.high), below)
        case "gt":
            return compared("lt", b, a)
        case "ge":
            return make("not", compared("lt", a, b))
        case _:
            return make("not", compared("lt", b, a))


def shifted_left(a: Pair, count: int) -> Pair:
    """Times 2^count, for counts from 0 to 127."""
    if count == 0:
        return a
    if count >= 64:
        return Pair(_shl(a.low, count - 64), _ZERO)
    if a.high.op == "ashr" and a.high.args[0] is a.low:
        return Pair(make("ashr", a.low, const(64 - count)), _shl(a.low, count))
    return Pair(_joined(_shl(a.high, count), make("lshr", a.low, const(64 - count))), _shl(a.low, count))


def shifted_right(a: Pair, count: int) -> Pair:
    """Floor of the value over 2^count."""
    if count == 0:
        return a
    sign = make("ashr", a.high, const(63))
    if count >= 64:
        return Pair(sign, make("ashr", a.high, const(min(count - 64, 63))))
    low = _joined(_shl(a.high, 64 - count), make("lshr", a.low, const(count)))
    return Pair(make("ashr", a.high, const(count)), low)


def product_of_words(a: Expr, b: Expr) -> Pair:
    """Of two int64."""
    return Pair(make("mul_hi", a, b), make("wrapping_mul", a, b))


def product_with_word(a: Pair, b: Expr, signed: bool) -> Pair:
    """Of a pair and an int64, which may be negative if `signed`."""
    high = _plus(make("umul_hi", a.low, b), make("wrapping_mul", a.high, b))
    if signed:  # taken for unsigned, a negative one counts 2^64 too much
        high = make("wrapping_sub", high, make("and", make("ashr", b, const(63)), a.low))
    return Pair(high, make("wrapping_mul", a.low, b))


def product_of_unsigned(a: Expr, b: Expr) -> Pair:
    """Of two words without signs."""
    return Pair(make("umul_hi", a, b), make("wrapping_mul", a, b))


def product(a: Pair, b: Pair) -> Pair:
    """The low 128 bits of a product."""
    crossed = _plus(make("wrapping_mul", a.high, b.low), make("wrapping_mul", a.low, b.high))
    return Pair(_plus(make("umul_hi", a.low, b.low), crossed), make("wrapping_mul", a.low, b.low))


def upper_product(a: Pair, b: Pair) -> Pair:
    """Of a product of 256 bits, the factors counting as unsigned, the upper 128."""
    first = make("umul_hi", a.low, b.low)
    one, other = make("wrapping_mul", a.low, b.high), make("wrapping_mul", a.high, b.low)
    part = make("wrapping_add", first, one)
    carries = [make("ult", part, one), make("ult", make("wrapping_add", part, other), other)]
    rest = make("wrapping_add", *(make("bool_to_int", carry) for carry in carries))
    found = product_of_unsigned(a.high, b.high)
    for word in (make("umul_hi", a.low, b.high), make("umul_hi", a.high, b.low), rest):
        found = total(Pair(_ZERO, word), found)
    return found


def quotient(a: Pair, divisor: int) -> Pair:
    """Floor of a / divisor, any but 0 of less than 128 bits: a product with the reciprocal, rounded up.

    Granlund and Montgomery, Division by invariant integers using multiplication, PLDI 1994, theorem 4.2: exact for
    numbers of 127 bits, which the bits of a negative one are when turned; floor(a / d) is then ~floor(~a / d).
    """
    if divisor < 0:
        return quotient(negative(a), -divisor)
    bits = (divisor - 1).bit_length()
    if divisor == 1 << bits:
        return shifted_right(a, bits)
    sign = make("ashr", a.high, const(63))
    turned = bitwise("xor")(a, Pair(sign, sign))
    found = upper_product(turned, of_constant((1 << 127 + bits) // divisor + 1))
    return bitwise("xor")(shifted_right(found, bits - 1), Pair(sign, sign))


def modulo(a: Pair, divisor: int) -> Pair:
    """What floor division by it leaves."""
    if divisor < 0:
        return negative(modulo(negative(a), -divisor))
    if not divisor & (divisor - 1):
        return bitwise("and")(a, of_constant(divisor - 1))
    if divisor < LIMB:
        return Pair(_ZERO, remainder(a, divisor))
    rest = difference(a, product(quotient(a, divisor), of_constant(divisor)))
    return rest if divisor >> 63 else Pair(_ZERO, rest.low)


def remainder(a: Pair, divisor: int) -> Expr:
    """The same for divisors from 1 to 2^31 - 1, as an int64: digit by digit, which is sooner done."""
    half, mask, by = const(32), const((1 << 32) - 1), const(divisor)
    rest = make("mod", make("ashr", a.high, half), by)
    for digit in (make("and", a.high, mask), make("lshr", a.low, half), make("and", a.low, mask)):
        # The digit's range is known to inference only if it is masked.
        rest = make("mod", make("add", make("mul", rest, const(1 << 32)), make("and", digit, mask)), by)
    return rest


def divided(a: Pair, b: Pair) -> tuple[Pair, Pair]:
    """Floor of a / b and what it leaves, for a b that is not 0, of less than 128 bits both.

    The quotient of the magnitudes is estimated in float64, from below, and so is what is left of it: each step leaves
    less than 2^-46 of it and 1, so that after three of them it is at most one too small.
    """
    divisor, rest, found = absolute(b), absolute(a), Pair(_ZERO, _ZERO)
    size = magnitude(divisor)
    size = make("select", make("gt", size, const(0.0)), size, const(1.0))  # where it is 0 nobody looks
    for _ in range(3):
        step = _of_float(make("mul", make("fdiv", magnitude(rest), size), const(1 - 2.0**-48)))
        found, rest = total(found, step), difference(rest, product(divisor, step))
    one_more = compared("ge", rest, divisor)
    found = total(found, Pair(_ZERO, make("bool_to_int", one_more)))
    rest = chosen(one_more, difference(rest, divisor), rest)
    opposed = make("lt", make("xor", a.high, b.high), _ZERO)
    exact = compared("eq", rest, Pair(_ZERO, _ZERO))
    found = chosen(opposed, chosen(exact, negative(found), inverted(found)), found)
    rest = chosen(make("and", opposed, make("not", exact)), difference(divisor, rest), rest)
    return found, chosen(make("lt", b.high, _ZERO), negative(rest), rest)


def _of_float(value: Expr) -> Pair:
    """A float64 from 0 to 2^127, cut off."""
    high = make("float_to_uint", make("mul", value, const(2.0**-64)))
    above = make("mul", make("uint_to_float", high), const(2.0**64))
    return Pair(high, make("float_to_uint", make("sub", value, above)))


def to_float(a: Pair) -> Expr:
    """float(a), rounded once: the upper 64 bits of the magnitude, of which the last stands for all below it."""
    size = absolute(a)
    zeros = make(
        "and", make("leading_zeros", size.high), const(63)
    )  # 64 of a high word of 0, which is not used
    others = make("and", make("wrapping_sub", const(64), zeros), const(63))
    lost = make("bool_to_int", make("ne", make("wrapping_shl", size.low, zeros), _ZERO))
    moved = make("lshr", size.low, others)
    upper = _joined(_joined(make("wrapping_shl", size.high, zeros), moved), lost)
    exponent = make("wrapping_shl", make("wrapping_sub", const(1023 + 64), zeros), const(52))
    large = make("mul", make("uint_to_float", upper), make("bits_float", exponent))
    small = make("eq", size.high, _ZERO)
    found = make("select", small, make("uint_to_float", size.low), large)
    return make("select", make("lt", a.high, _ZERO), make("neg", found), found)


def bit_length(a: Pair) -> Expr:
    """Bits of the magnitude."""
    size = absolute(a)
    large = make("wrapping_sub", const(128), make("leading_zeros", size.high))
    small = make("wrapping_sub", const(64), make("leading_zeros", size.low))
    return make("select", make("eq", size.high, _ZERO), small, large)


def magnitude(a: Pair) -> Expr:
    """About abs(a), in float64: off by a few roundings."""
    high = make("mul", make("int_to_float", a.high), const(2.0**64))
    return make("fabs", make("add", high, make("uint_to_float", a.low)))


def _plus(a: Expr, b: Expr) -> Expr:
    if is_const(a, 0) or is_const(b, 0):
        return b if is_const(a, 0) else a
    return make("wrapping_add", a, b)


def _joined(a: Expr, b: Expr) -> Expr:
    return b if is_const(a, 0) else a if is_const(b, 0) else make("or", a, b)


def _shl(node: Expr, count: int) -> Expr:
    if count == 0 or is_const(node, 0):
        return node
    return make("wrapping_shl", node, const(count))
