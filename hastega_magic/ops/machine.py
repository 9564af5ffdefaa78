"""Rows that users never write: the machine's own operations, which lowering makes of the others."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from hastega_magic import interval
from hastega_magic.interval import BIT, INT64, INT64_MIN, Interval
from hastega_magic.ops.convert import halves_to_int
from hastega_magic.ops.row import Builder, Function, Op, division, fixed, ufunc_float
from hastega_magic.types import BOOL, FLOAT, INT

_MASK52 = (1 << 52) - 1
_MASK64 = (1 << 64) - 1


def wrap64(value: int) -> int:
    """The int64 with the same low 64 bits."""
    return ((value - INT64_MIN) & _MASK64) + INT64_MIN


def _fma(a: Any, b: Any, c: Any) -> Any:
    """Compute a · b + c rounded once, to float32 where all are NumPy's float32."""
    single = all(type(x) is np.float32 for x in (a, b, c))
    x, y, z = float(a), float(b), float(c)
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        rounded = float(np.float64(x) * np.float64(y) + np.float64(z))
    else:
        (x_top, x_bottom), (y_top, y_bottom), (z_top, z_bottom) = (
            each.as_integer_ratio() for each in (x, y, z)
        )
        top, bottom = x_top * y_top * z_bottom + z_top * x_bottom * y_bottom, x_bottom * y_bottom * z_bottom
        if top == 0:
            rounded = x * y + z
        elif single:
            return _nearest_float32(Fraction(top, bottom))
        else:
            try:
                rounded = top / bottom  # of ints: rounded once
            except OverflowError:
                rounded = math.inf if top > 0 else -math.inf
    return np.float32(rounded) if single else rounded


def _nearest_float32(exact: Fraction) -> np.float32:
    """Rounded once: the detour over float64 can be off by one place, so its neighbours compete."""
    guess = np.float32(float(exact))
    around = (np.nextafter(guess, np.float32(-math.inf)), guess, np.nextafter(guess, np.float32(math.inf)))
    finite = [number for number in around if np.isfinite(number)]
    if len(finite) < 3:  # at the edge of the format the detour cannot matter: overflow rounds the same way
        return guess
    return min(
        finite, key=lambda number: (abs(Fraction(float(number)) - exact), int(number.view(np.uint32)) & 1)
    )


_SPLITTING = 2.0**27 + 1
_MIDDLE = 2.0**-900, 2.0**900
"""Magnitudes of factors, products and summands of which no step below loses a bit at an end of the format."""


def _fma_columns(a: Any, b: Any, c: Any) -> Any:
    """The same over arrays. Source: Boldo and Melquiond, Emulation of a FMA and Correctly Rounded Sums, 2008.

    The product and the sum are numbers of two parts; what is left of these is rounded to odd, so that the last
    addition rounds what is exact. Numbers near the ends of the format are computed one by one.
    """
    x, y, z = np.broadcast_arrays(a, b, c)
    if x.dtype == y.dtype == z.dtype == np.float32:
        return np.array(list(map(_fma, x, y, z)), np.float32)
    product = x * y
    small, large = _MIDDLE
    size, summand = np.abs(product), np.abs(z)
    exact = (np.abs(x) < large) & (np.abs(y) < large) & (small < size) & (size < large)
    exact &= (summand == 0) | ((small < summand) & (summand < large))
    (x_top, x_low), (y_top, y_low) = map(_halves, (x, y))
    rest = ((x_top * y_top - product) + x_top * y_low + x_low * y_top) + x_low * y_low
    low, lower = two_sum(z, rest)
    total, error = two_sum(product, low)
    odd, left = two_sum(error, lower)
    bits = np.asarray(odd).view(np.int64)
    step = np.where((left > 0) == (odd > 0), 1, -1)
    odd = np.where((left != 0) & (bits & 1 == 0), bits + step, bits).view(np.float64)
    found = np.where(exact, total + odd, product + z)
    for place in np.flatnonzero(~exact & np.isfinite(x) & np.isfinite(y) & np.isfinite(z)):
        found[place] = _fma(float(x[place]), float(y[place]), float(z[place]))
    return found


def _halves(x: Any) -> tuple[Any, Any]:
    """Two numbers of 26 bits whose sum it is (Veltkamp)."""
    scaled = _SPLITTING * x
    top = scaled - (scaled - x)
    return top, x - top


def two_sum(x: Any, y: Any) -> tuple[Any, Any]:
    """The rounded sum and its rounding error (Knuth), of arrays or of whatever is added and subtracted like them."""
    total = x + y
    other = total - x
    return total, (x - (total - other)) + (y - other)


def _bits(value: float) -> int:
    return int(np.float64(value).view(np.int64))


def _float_of_bits(bits: int) -> float:
    return float(np.int64(bits).view(np.float64))


def _madd52lo(a: int, b: int, c: int) -> int:
    return wrap64(a + ((b & _MASK52) * (c & _MASK52) & _MASK52))


def _madd52hi(a: int, b: int, c: int) -> int:
    return wrap64(a + ((b & _MASK52) * (c & _MASK52) >> 52))


def _below(a: Any, b: Any) -> Any:
    """Whether a < b, for arrays that are taken for unsigned."""
    return np.less(a ^ INT64_MIN, b ^ INT64_MIN)


def _lesser(a: Any, b: Any) -> Any:
    return np.minimum(a ^ INT64_MIN, b ^ INT64_MIN) ^ INT64_MIN


def _anywhere(*operands: Interval) -> Interval:
    return INT64


def _shifted(a: Interval, b: Interval) -> Interval:
    counts = Interval(0, 63)
    return interval.shift_right(a, b if b.within(counts) else counts)


def _estimated(x: float) -> float:
    """1 / x cut off after 14 bits: as far from it as machines may be."""
    exact = 1 / x if x else math.copysign(math.inf, x)
    if not math.isfinite(exact):
        return exact
    mantissa, exponent = math.frexp(exact)
    return math.ldexp(math.trunc(math.ldexp(mantissa, 15)), exponent - 15)


def _not_in_uint64(b: Builder, args: Sequence[Any]) -> Any:
    (x,) = args
    return b.op("not", b.op("and", b.op("ge", x, b.const(0.0)), b.op("lt", x, b.const(2.0**64))))


def _int_op(
    name: str, arity: int, python: Function, llvm: str, opencl: str, numpy: Function | None = None
) -> Op:
    return Op(
        name,
        arity,
        python,
        fixed((INT,) * arity, INT),
        "",
        numpy,
        _anywhere,
        llvm={"int": llvm},
        opencl={"int": opencl},
    )


def _product(a: Interval, b: Interval) -> Interval:
    found = interval.mul(a, b)
    return found if found.fits_int64 else INT64


def _excess(a: Interval, b: Interval) -> Interval:
    found = interval.mul(a, b)
    if found.lo is None or found.hi is None:
        return interval.TOP
    return Interval((found.lo - INT64_MIN) >> 64, (found.hi - INT64_MIN) >> 64)


def _expand_excess(b: Builder, args: Sequence[Any]) -> Any:
    """The high half, one more where the low 64 bits count as negative."""
    found = _excess(*map(b.range_of, args))
    if found.lo == found.hi:
        return b.const(found.lo or 0)
    low = b.op("wrapping_mul", *args)
    return b.op("wrapping_sub", b.op("mul_hi", *args), b.op("ashr", low, b.const(63)))


def _expand_unsigned_high(b: Builder, args: Sequence[Any]) -> Any:
    """Four products of 32-bit halves, without signs, as vectors multiply these in one step."""
    half, mask = b.const(32), b.const((1 << 32) - 1)
    (low, high), (other_low, other_high) = ((b.op("and", x, mask), b.op("lshr", x, half)) for x in args)
    carry = b.op("lshr", b.op("wrapping_mul", low, other_low), half)
    middle = b.op("wrapping_add", b.op("wrapping_mul", high, other_low), carry)
    last = b.op("wrapping_add", b.op("wrapping_mul", low, other_high), b.op("and", middle, mask))
    top = b.op("wrapping_mul", high, other_high)
    for part in (middle, last):
        top = b.op("wrapping_add", top, b.op("lshr", part, half))
    return top


def _expand_high(b: Builder, args: Sequence[Any]) -> Any:
    """The same, taken for unsigned, counts 2^64 too much for each factor that is negative."""
    top = _expand_unsigned_high(b, args)
    for x, y in (args, args[::-1]):
        top = b.op("wrapping_sub", top, b.op("and", b.op("ashr", x, b.const(63)), y))
    return top


ROWS = (
    _int_op("wrapping_add", 2, lambda a, b: wrap64(a + b), "add {r} {0}, {1}",
            "as_long(as_ulong({0}) + as_ulong({1}))", np.add),
    _int_op("wrapping_sub", 2, lambda a, b: wrap64(a - b), "sub {r} {0}, {1}",
            "as_long(as_ulong({0}) - as_ulong({1}))", np.subtract),
    Op("wrapping_mul", 2, lambda a, b: wrap64(a * b), fixed((INT, INT), INT), "", np.multiply, _product,
       llvm={"int": "mul {r} {0}, {1}"}, opencl={"int": "as_long(as_ulong({0}) * as_ulong({1}))"}),
    # The product without its low 64 bits: these as they are (mul_hi), or taken for an int64 (mul_excess).
    Op("mul_hi", 2, lambda a, b: (a * b) >> 64, fixed((INT, INT), INT), "", None, _anywhere,
       opencl={"int": "mul_hi({0}, {1})"}, expand=_expand_high),
    Op("umul_hi", 2, lambda a, b: wrap64((a & _MASK64) * (b & _MASK64) >> 64), fixed((INT, INT), INT), "", None,
       _anywhere, opencl={"int": "as_long(mul_hi(as_ulong({0}), as_ulong({1})))"}, expand=_expand_unsigned_high),
    Op("mul_excess", 2, lambda a, b: (a * b - INT64_MIN) >> 64, fixed((INT, INT), INT), "", None, _excess,
       expand=_expand_excess),
    # The high word of an integer of 128 bits, where it has no more.
    Op("held128", 2, lambda a, sure: a, fixed((INT, BOOL), INT), "", lambda a, sure: a, lambda a, sure: a,
       expand=lambda b, args: args[0], trouble=lambda b, args: b.op("not", args[1]),
       reason="integers beyond 128 bits"),
    # A word of a divisor, where that is not zero.
    Op("nonzero", 2, lambda a, sure: a, fixed((INT, BOOL), INT), "", lambda a, sure: a, lambda a, sure: a,
       expand=lambda b, args: args[0], trouble=lambda b, args: b.op("not", args[1]),
       reason="divisions by zero"),
    Op("int64_bits", 1, wrap64, fixed((INT,), INT), "", None, _anywhere,
       llvm={"int": "or {r} {0}, zeroinitializer"}, opencl={"int": "{0}"}),
    # Counts from 0 to 63 only: beyond, machines differ and LLVM gives poison.
    _int_op("wrapping_shl", 2, lambda a, b: wrap64(a << (b & 63)), "shl {r} {0}, {1}",
            "as_long(as_ulong({0}) << as_ulong({1}))", lambda a, b: np.left_shift(a, b & 63)),
    Op("ashr", 2, lambda a, b: a >> (b & 63), fixed((INT, INT), INT), "",
       lambda a, b: np.right_shift(a, b & 63), _shifted,
       llvm={"int": "ashr {r} {0}, {1}"}, opencl={"int": "{0} >> {1}"}),
    _int_op("madd52lo", 3, _madd52lo,
            "call {r} @llvm.x86.avx512.vpmadd52l.uq.{bits}({t} {0}, {t} {1}, {t} {2})", ""),
    _int_op("madd52hi", 3, _madd52hi,
            "call {r} @llvm.x86.avx512.vpmadd52h.uq.{bits}({t} {0}, {t} {1}, {t} {2})", ""),
    _int_op("umin", 2, lambda a, b: min(a, b, key=lambda v: v & _MASK64),
            "call {r} @llvm.umin.{m}({t} {0}, {t} {1})", "as_long(min(as_ulong({0}), as_ulong({1})))",
            _lesser),
    Op("ult", 2, lambda a, b: (a & _MASK64) < (b & _MASK64), fixed((INT, INT), BOOL), "",
       _below, lambda a, b: BIT,
       llvm={"int": "icmp ult {t} {0}, {1}"}, opencl={"int": "as_ulong({0}) < as_ulong({1})"}),
    Op("uint_to_float", 1, lambda a: float(a & _MASK64), fixed((INT,), FLOAT), "", None,
       llvm={"int": "uitofp {t} {0} to {r}"}, opencl={"int": "convert_double(as_ulong({0}))"}),
    Op("float_to_uint", 1, lambda a: wrap64(int(a)), fixed((FLOAT,), INT), "", None, _anywhere,
       llvm={"float": "fptoui {t} {0} to {r}"}, opencl={"float": "as_long(convert_ulong({0}))"},
       expand=lambda b, args: halves_to_int(b, b.op("trunc", args[0])), trouble=_not_in_uint64,
       written="int"),
    Op("fma", 3, _fma, ufunc_float, "", _fma_columns,
       llvm={"float": "call {r} @llvm.fma.{m}({t} {0}, {t} {1}, {t} {2})"},
       opencl={"float": "fma({0}, {1}, {2})"}),
    # By a constant, for vectors whose target multiplies in its place.
    Op("divided_by", 2, lambda a, b: float(np.float64(a) / np.float64(b)), division, "/", np.true_divide,
       llvm={"float": "fdiv {r} {0}, {1}"}, opencl={"float": "{0} / {1}"}),
    # Within 2^-14 of 1 / x, by no rule in particular: only what comes out the same by all of them may be made of it.
    Op("reciprocal_estimate", 1, _estimated, fixed((FLOAT,), FLOAT), "", None,
       llvm={"float": "call {r} @llvm.x86.avx512.rcp14.pd.{bits}({t} {0}, {t} zeroinitializer, i8 -1)"},
       opencl={"float": "1.0 / {0}"}),
    # Counts from 0 to 63 only, as for the other shifts.
    _int_op("lshr", 2, lambda a, b: wrap64((a & _MASK64) >> (b & 63)),
            "lshr {r} {0}, {1}", "as_long(as_ulong({0}) >> as_ulong({1}))",
            lambda a, b: np.right_shift(np.asarray(a).view(np.uint64), np.uint64(b & 63)).view(np.int64)),
    Op("leading_zeros", 1, lambda a: 64 - (a & _MASK64).bit_length(), fixed((INT,), INT), "", None,
       lambda a: Interval(0, 64),
       llvm={"int": "call {r} @llvm.ctlz.{m}({t} {0}, i1 false)"}, opencl={"int": "clz({0})"}),
    Op("ones", 1, lambda a: (a & _MASK64).bit_count(), fixed((INT,), INT), "", None, lambda a: Interval(0, 64),
       llvm={"int": "call {r} @llvm.ctpop.{m}({t} {0})"}, opencl={"int": "popcount({0})"}),
    Op("float_bits", 1, _bits, fixed((FLOAT,), INT), "", lambda a: np.asarray(a, np.float64).view(np.int64), _anywhere,
       llvm={"float": "bitcast {t} {0} to {r}"}, opencl={"float": "as_long({0})"}),
    Op("bits_float", 1, _float_of_bits, fixed((INT,), FLOAT), "", lambda a: np.asarray(a, np.int64).view(np.float64),
       llvm={"int": "bitcast {t} {0} to {r}"}, opencl={"int": "as_double({0})"}),
    Op("gather", 2, operator.getitem, lambda types: fixed((types[0], INT), types[0])(types), ""),
)  # fmt: skip
