"""The fixed tree of floating-point reductions: the same bits whatever the vector width, threads or back end.

A block of 4096 elements is folded into 64 virtual lanes, acc[l] = acc[l] ∘ x[64·i + l], which are then
combined by halves (acc[l] ∘ acc[l + h] for h = 32, 16, ... 1). The results of the blocks, as one array, go
through the same fold. Missing elements count as the neutral one: -0.0 for sums (0.0 would turn -0.0 into
0.0), 1.0 for products.
"""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from hastega_magic.ir.schedule import BLOCK, VIRTUAL_LANES

Floats = npt.NDArray[np.floating[Any]]

SUM_NEUTRAL, PROD_NEUTRAL = -0.0, 1.0


def block_sums(values: Floats) -> Floats:
    """The sum of each block of 4096: a float array of n elements in, ceil(n / 4096) of its dtype out."""
    return _per_block(values, np.add, SUM_NEUTRAL)


def block_prods(values: Floats) -> Floats:
    """The product of each block of 4096; shapes and dtypes as in `block_sums`."""
    return _per_block(values, np.multiply, PROD_NEUTRAL)


def tree_sum(partial: Floats) -> float | np.float32:
    """The sum of block sums, by one fold. -0.0 becomes 0.0, as in 0 + x; an empty array gives 0.0.

    A Python float for float64, np.float32 for float32.
    """
    return _scalar(_fold(partial, np.add, SUM_NEUTRAL) + partial.dtype.type(0))


def tree_prod(partial: Floats) -> float | np.float32:
    """The product of block products, by one fold; an empty array gives 1.0. Types as in `tree_sum`."""
    return _scalar(_fold(partial, np.multiply, PROD_NEUTRAL))


def tree_lanes(partial: Floats, product: bool = False) -> Floats:
    """The 64 lanes of either fold: in front of the results of further blocks they stand for those before.

    These must be so many that a multiple of 64 blocks is before the further ones.
    """
    return (
        _lanes_of(partial, np.multiply, PROD_NEUTRAL) if product else _lanes_of(partial, np.add, SUM_NEUTRAL)
    )


def complex_product(values: Any) -> complex | np.complex64:
    """The product of complex numbers by a fixed tree of halves, each step as Python multiplies; 1 of no elements.

    A complex128 array in, a Python complex out; of complex64 a numpy.complex64. One that comes out as zero, infinite or
    NaN is computed from left to right, as products of halves may overflow or vanish where Python's do not.
    """
    joined: Any = np.concatenate
    real, imag = values.real, values.imag
    if not len(values):
        return 1
    with np.errstate(all="ignore"):
        while len(real) > 1:
            half = len(real) // 2
            a, b, c, d = real[:half], imag[:half], real[half : 2 * half], imag[half : 2 * half]
            odd_real, odd_imag = real[2 * half :], imag[2 * half :]
            real = joined([a * c - b * d, odd_real])
            imag = joined([a * d + b * c, odd_imag])
        kind = np.complex64 if values.dtype == np.complex64 else complex
        found = complex(real[0], imag[0])
        if found and cmath.isfinite(found):
            return kind(found)
        return kind(math.prod(values if kind is np.complex64 else values.tolist()))


def _scalar(number: Any) -> float | np.float32:
    return np.float32(number) if number.dtype == np.float32 else float(number)


def _per_block(values: Floats, combine: np.ufunc, neutral: float) -> Floats:
    blocks = -(-len(values) // BLOCK)
    whole = len(values) // BLOCK
    result = np.empty(blocks, values.dtype)
    if whole:
        grid = values[: whole * BLOCK].reshape(whole, BLOCK // VIRTUAL_LANES, VIRTUAL_LANES)
        result[:whole] = _lanes(grid, combine, neutral)
    if blocks > whole:
        result[whole] = _fold(values[whole * BLOCK :], combine, neutral)
    return result


def _fold(values: Floats, combine: np.ufunc, neutral: float) -> Any:
    with np.errstate(all="ignore"):
        return _halves(_lanes_of(values, combine, neutral)[np.newaxis], combine)[0]


def _lanes_of(values: Floats, combine: np.ufunc, neutral: float) -> Floats:
    """One row of lanes."""
    rows = -(-len(values) // VIRTUAL_LANES)
    grid = np.full((rows, VIRTUAL_LANES), neutral, values.dtype)
    grid.reshape(-1)[: len(values)] = values
    with np.errstate(all="ignore"):
        # NumPy sums pairs of elements only along the axis whose elements are neighbours: here row follows row.
        return combine.reduce(grid, axis=0, initial=neutral)


def _lanes(grid: Floats, combine: np.ufunc, neutral: float) -> Floats:
    """Each (rows, 64) plane of the grid folded, row after row, then by halves."""
    with np.errstate(all="ignore"):
        lanes = np.full((grid.shape[0], VIRTUAL_LANES), neutral, grid.dtype)
        for row in range(grid.shape[1]):
            combine(lanes, grid[:, row, :], out=lanes)
        return _halves(lanes, combine)


def _halves(lanes: Floats, combine: np.ufunc) -> Floats:
    width = VIRTUAL_LANES // 2
    while width:
        lanes = combine(lanes[:, :width], lanes[:, width : 2 * width])
        width //= 2
    return lanes[:, 0]
