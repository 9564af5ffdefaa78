"""Whether results of two back ends are the same: equal, or within what rounding in another order makes of floats."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from hastega_magic.ir.expr import flatten, make, map_value
from hastega_magic.ir.fused import Fused, Output
from hastega_magic.ir.sinks import EXTREMES, SUMS
from hastega_magic.records import changed
from hastega_magic.runtime.numpy import NoNumpyForm, run_fused_numpy
from hastega_magic.types import FLOAT32

_Array = npt.NDArray[Any]


def rounded(error: float, running: bool, added: bool = False) -> str:
    """The note on a difference by rounding.

    `running`: it is one of running values (see `difference`); `added`: of sums (see `of_terms`).
    """
    if error == 0:
        return ""
    of = " of the terms' magnitudes" if added else " of the largest element" if running else ""
    return f"equal to {error:.0e}{of}"


def _of_objects(own: list[Any], other: list[Any], approximate: bool) -> float | None:
    """The same of lists, whose elements may be of several types."""
    if own == other:
        return 0.0
    if len(own) != len(other):
        return None
    worst = 0.0
    for a, b in zip(own, other, strict=True):
        error = _of_elements(a, b, approximate)
        if error is None or (error and not approximate):
            return None
        worst = max(worst, error)
    return worst


def _of_elements(a: Any, b: Any, approximate: bool) -> float | None:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return _of_objects(list(cast("tuple[Any, ...]", a)), list(cast("tuple[Any, ...]", b)), approximate)
    floats = isinstance(a, FLOATS) and isinstance(b, FLOATS)
    return difference(a, b) if floats else 0.0 if a == b else None


FLOATS: Any = (float, np.floating)
_COMPLEX: Any = (complex, np.complexfloating)

TOLERANCE = 1e-9
"""Relative difference up to which float reductions in another order count as equal."""

_TOLERANCE_32 = 1e-2
"""The same for float32 at most: Python adds one element after the other, and each time rounds to 24 bits."""


def tolerance_of(output: Output, length: int) -> float:
    """Of a reduction over so many elements; as many roundings of float32 may all go one way."""
    if output.sink.kind in EXTREMES or all(part.type is not FLOAT32 for part in flatten(output.value)):
        return TOLERANCE
    return tolerance_32(length)


def tolerance_32(length: int) -> float:
    """Of a reduction of so many elements of float32."""
    return max(TOLERANCE, min(_TOLERANCE_32, length * 2.0**-24))


def _largest(parts: Sequence[float | None]) -> float | None:
    """The largest of some differences; None where one of them is none."""
    return None if None in parts else max(part for part in parts if part is not None)


def _as_arrays(both: tuple[Any, Any]) -> tuple[Any, Any]:
    """Two lists of floats, as `cumsum |> to_list` gives, as arrays; anything else as it is."""
    lists = all(isinstance(values, list) for values in both)
    if not lists or any(type(each) is not float for values in both for each in values):
        return both
    return np.array(both[0]), np.array(both[1])


def difference(
    own: Any, other: Any, approximate: bool = False, running: bool = False, tolerance: float = TOLERANCE
) -> float | None:
    """0.0 if equal (NaN is NaN), the relative difference of float results within rounding, None if different.

    Elements of arrays have to be equal, unless an `approximate` operator (off by at most 1 ulp) took part, or they are
    `running` values, which may differ by roundings of the largest: the difference is then relative to that one, as an
    element that came near zero on the way has lost the same digits.
    """
    if running:
        own, other = _as_arrays((own, other))
    if isinstance(own, np.ndarray):
        return _of_arrays(cast(_Array, own), other, approximate, running, tolerance)
    if isinstance(own, list):
        return _of_objects(cast("list[Any]", own), list(other), approximate)
    if isinstance(own, _COMPLEX) or isinstance(other, _COMPLEX):
        parts = ((getattr(own, each), getattr(other, each)) for each in ("real", "imag"))
        return _largest([difference(*pair, tolerance=tolerance) for pair in parts])
    if isinstance(own, FLOATS) or isinstance(other, FLOATS):
        return _of_floats(float(own), float(other), tolerance)
    return 0.0 if own == other else None


def _of_arrays(mine: _Array, other: Any, approximate: bool, running: bool, tolerance: float) -> float | None:
    if mine.dtype.names or mine.dtype == object:
        others = other.tolist() if isinstance(other, np.ndarray) else list(other)
        return _of_objects(mine.tolist(), others, approximate)
    if isinstance(other, np.ndarray):
        theirs = cast(_Array, other)
    else:
        try:
            theirs = np.array(other, dtype=mine.dtype) if len(other) else np.empty(0, mine.dtype)
        except OverflowError:  # Python's ints beyond what wrapped around
            return None
    if mine.shape != theirs.shape:
        return None
    if np.array_equal(mine, theirs, equal_nan=mine.dtype.kind in "fc"):
        return 0.0
    if running and mine.dtype.kind == "c":
        pairs: list[tuple[Any, Any]] = [(np.real(mine), np.real(theirs)), (np.imag(mine), np.imag(theirs))]
        return _largest([difference(*pair, running=True, tolerance=tolerance) for pair in pairs])
    if running and mine.dtype.kind == "f":  # elements differ, so there are some
        most = float(np.max(np.abs(mine[np.isfinite(mine)]), initial=1e-300))
        close = np.allclose(mine, theirs, rtol=tolerance, atol=tolerance * most, equal_nan=True)
        return float(np.nanmax(np.abs(mine - theirs))) / most if close else None
    close = approximate and np.allclose(mine, theirs, rtol=TOLERANCE, atol=0, equal_nan=True)
    return float(np.nanmax(np.abs(mine - theirs) / np.maximum(np.abs(mine), 1e-300))) if close else None


def _of_floats(a: float, b: float, tolerance: float) -> float | None:
    if a == b or (math.isnan(a) and math.isnan(b)):
        return 0.0
    if not (math.isfinite(a) and math.isfinite(b)):
        return None
    error = abs(a - b) / max(abs(a), abs(b), 1e-300)
    return error if error <= tolerance else None


_ROUNDINGS = 16 * 2.0**-52
"""Relative to the terms' magnitudes: what roundings of n additions come to is this times the root of n at most."""


def of_terms(own: Any, other: Any, magnitude: Any, count: int, tolerance: float) -> float | None:
    """The difference of two sums relative to the sum of their `count` terms' magnitudes, where these cancelled.

    Sums of floats near zero are what roundings on the way have left. None where the difference is no such one.

    N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, 4.2: the error of a sum in any order
    is bounded by a multiple of the sum of magnitudes.
    """
    if isinstance(magnitude, complex):
        parts = [[getattr(each, part) for each in (own, other, magnitude)] for part in ("real", "imag")]
        found = [of_terms(a, b, terms, count, tolerance) for a, b, terms in parts]
        return None if None in found else max(part for part in found if part is not None)
    if tolerance == TOLERANCE:  # of float64
        tolerance = min(tolerance, _ROUNDINGS * math.sqrt(max(count, 1)))
    error = abs(float(own) - float(other))
    if not error <= tolerance * float(magnitude) < math.inf:  # NaN is none
        return None
    return error / float(magnitude) if magnitude else 0.0


def out_of_range(own: Any, other: Any) -> bool:
    """Whether one of two results, or both, left the floats, and they did not do so alike."""
    values = [part for each in (own, other) for part in (complex(each).real, complex(each).imag)]
    return not all(map(math.isfinite, values))


def adds_floats(output: Output) -> bool:
    """Whether its result is a sum of floats, or their mean."""
    parts = flatten(output.value)
    return output.sink.kind in SUMS and all(part.type.is_float for part in parts)


def magnitudes(fused: Fused, columns: Sequence[Any], tables: Sequence[Any]) -> dict[int, Any]:
    """By the number of an output that adds floats up the same of their magnitudes; of complex numbers part by part.

    Computed by NumPy; empty where it has no call for a part of the loop.
    """
    outputs = {
        number: changed(each, value=map_value(lambda part: make("abs", part), each.value))
        for number, each in enumerate(fused.outputs)
        if adds_floats(each)
    }
    try:
        found = run_fused_numpy(changed(fused, outputs=tuple(outputs.values())), columns, tables)
    except NoNumpyForm:
        return {}
    return dict(zip(outputs, found, strict=True))


def magnitude_of(elements: Iterable[Any]) -> float | complex:
    """The sum of the magnitudes of some numbers; of complex ones part by part."""
    real, imaginary, parts = 0.0, 0.0, False
    for each in elements:
        parts = parts or isinstance(each, complex)
        real, imaginary = real + abs(each.real), imaginary + abs(each.imag)
    return complex(real, imaginary) if parts else real


__all__ = [
    "TOLERANCE", "adds_floats", "difference", "magnitude_of", "magnitudes", "of_terms", "out_of_range", "rounded",
    "tolerance_32", "tolerance_of",
]  # fmt: skip
