"""Rows: powers of floats, as exp(y · log|x|) with the logarithm to about 2^-66."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from hastega_magic.ops.functions.exp import exp_of_sum
from hastega_magic.ops.functions.kit import (
    Flag,
    Real,
    condition,
    expansion,
    fast_two_sum,
    finite,
    over_scalars,
    polynomial,
    two_product,
    where,
)
from hastega_magic.ops.functions.log import LN2_HIGH, LN2_LOW, split
from hastega_magic.ops.row import Builder, Op, math_float, ufunc_float
from hastega_magic.types import FLOAT32

_TWO_THIRDS = 0.6666666666666666, 3.700743415417188e-17
_POW = (
    0.4, 0.28571428571428836, 0.22222222221506524, 0.18181818387170096, 0.15384589331050608,
    0.1333509312052699, 0.11699113077438722, 0.11791578884567068,
)  # fmt: skip
"""log(1 + f) = 2·s + s·z·(2/3 + z·p(z)) for s = f/(2 + f), z = s²: tools/minimax.py pow, z·p to 2^-65."""
_EDGE = 800.0
"""Beyond ±800 the result of exp is infinite or zero."""


def precise_log(x: Real) -> tuple[Real, Real]:
    """log(x) of a positive finite number, as a number and a much smaller one."""
    parts = split(x)
    f = parts.fraction
    bottom = f + 2.0
    inverse = 1.0 / bottom
    s = f * inverse
    s_low = ((-s).fma(bottom, f) - s * (f - (bottom - 2.0))) * inverse
    z, z_low = two_product(s, s)
    z_low = (s + s).fma(s_low, z_low)
    series = z * polynomial(z, _POW)
    factor = series + _TWO_THIRDS[0]
    factor_low = ((_TWO_THIRDS[0] - factor) + series) + _TWO_THIRDS[1]
    cube, cube_low = two_product(z, s)
    cube_low = cube_low + z_low.fma(s, z * s_low)
    term, term_low = two_product(cube, factor)
    term_low = term_low + cube_low.fma(factor, cube * factor_low)
    high, low = fast_two_sum(s + s, term)
    low = low + ((s_low + s_low) + term_low)
    total, lost = fast_two_sum(parts.exponent * LN2_HIGH, high)
    return fast_two_sum(total, lost + parts.exponent.fma(LN2_LOW, low))


def power(x: Real, y: Real) -> Real:
    """The value of IEEE's pow: NaN for a negative x and a y that is no integer, infinities where it overflows."""
    size = abs(x)
    high, low = precise_log(size)
    high = where(size.equals(0.0), -math.inf, where(size.equals(math.inf), math.inf, high))
    product, product_low = two_product(high, y)
    product_low = low.fma(y, product_low)
    inside = abs(product) < _EDGE
    # 1 to an infinite power is NaN here, and 1 in IEEE's pow.
    outside = where(product > 0.0, _EDGE, where(product < 0.0, -_EDGE, 0.0))
    magnitude = exp_of_sum(where(inside, product, outside), where(inside, product_low, 0.0))
    half = y * 0.5
    integral = y.unary("rint").equals(y)
    odd = integral & half.unary("rint").differs(half)
    signed = where(odd, magnitude.with_sign_of(x), magnitude)
    negative = (x < 0.0) & finite(x)
    undefined = x.differs(x) | y.differs(y)
    value = where(negative & y.unary("rint").differs(y), math.nan, where(undefined, math.nan, signed))
    return where(y.equals(0.0) | x.equals(1.0), 1.0, value)


def _fails(x: Real, y: Real) -> Flag:
    """A zero to a negative power, a negative base to a fraction, an overflow: no finite value of finite operands."""
    infinite = abs(power(x, y)) < math.inf
    failed = Flag(x.builder, x.builder.op("not", infinite.term))
    return finite(x) & finite(y) & failed


def half_power(x: Real) -> Real:
    """X to the power of 0.5: its root, with the sign of zero and the infinity that a power has."""
    return where(x.equals(-math.inf), math.inf, (x + 0.0).unary("fsqrt"))


_scalar_power = over_scalars(power)
_scalar_half_power = over_scalars(half_power)


def _operator_trouble(b: Builder, args: Sequence[Any]) -> Any:
    if args[0].type is FLOAT32:  # NumPy's scalars raise nothing
        return b.const(False)
    return condition(_fails)(b, args)


def _operator(a: float, b: float) -> Any:
    """Python's a ** b, which raises, or is complex, where ours is not finite."""
    by_python = a**b
    return by_python if isinstance(by_python, complex) else _scalar_power(a, b)


def _half_trouble(b: Builder, args: Sequence[Any]) -> Any:
    return b.const(False) if args[0].type is FLOAT32 else b.op("lt", args[0], b.const(0.0))


def _half_operator(a: float) -> Any:
    by_python: Any = a**0.5
    return by_python if isinstance(by_python, complex) else type(by_python)(_scalar_half_power(a))


def _half_columns(x: Any) -> Any:
    """Not `x ** 0.5`, which is the root of a negative zero or infinity, too."""
    root: Any = np.sqrt(x + 0.0)
    return cast("Any", np.where(x == -math.inf, root.dtype.type(math.inf), root))


def _columns(x: Any, y: Any) -> Any:
    """NumPy's power but for the exponent 0.5, for which it takes roots."""
    return _half_columns(x) if np.ndim(y) == 0 and y == 0.5 else np.power(x, y)


def _math(a: float, b: float) -> Any:
    math.pow(a, b)
    return _scalar_power(a, b)


_APPROXIMATE = frozenset({"approximate"})

ROWS = (
    Op("power", 2, _scalar_power, ufunc_float, numpy=_columns, expand=expansion(power), traits=_APPROXIMATE),
    Op("float_pow", 2, _operator, ufunc_float, "**", _columns, expand=expansion(power), trouble=_operator_trouble,
       traits=_APPROXIMATE),
    Op("half_power", 1, _half_operator, ufunc_float, "", _half_columns, expand=expansion(half_power),
       trouble=_half_trouble, written="** 0.5", traits=_APPROXIMATE),
    Op("math_pow", 2, _math, math_float, numpy=_columns, expand=expansion(power), trouble=condition(_fails),
       spellings=(math.pow,), traits=_APPROXIMATE),
)  # fmt: skip
