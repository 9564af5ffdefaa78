"""Minimax polynomials for the elementary functions of hastega_magic/ops: prints coefficients as float64.

    python tools/minimax.py [NAME ...]

Remez' exchange in 80 digits. On [0, b] the lowest coefficient is the function's value at 0; all are rounded to
float64 (they belong to correction terms, so that this costs little). The error printed is that of the rounded
polynomial, as log2 of the largest weighted error.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

mp: Any = importlib.import_module("mpmath").mp  # which has no type stubs
mp.dps = 80
Real = Any
Function = Callable[[Real], Real]


@dataclass(frozen=True)
class Problem:
    """Approximate `function` by a polynomial of the degree on [low, high]; the error is times `weight`."""

    function: Function
    weight: Function
    low: Real
    high: Real
    degree: int


def _series(terms: Function, first: int) -> Function:
    """The power series with these coefficients, summed until it no longer changes (for small arguments)."""

    def value(z: Real) -> Real:
        total, power, index = mp.mpf(0), mp.mpf(1), first
        while index < first + 400:
            step = terms(index) * power
            total += step
            if index > first + 3 and abs(step) < mp.mpf(10) ** -75:
                break
            power *= z
            index += 1
        return total

    return value


def _one(x: Real) -> Real:
    return mp.mpf(1)


def _centred(x: Real) -> Real:
    return (x - 3) / (x + 3)


def _erfc_scaled(t: Real) -> Real:
    def value(x: Real) -> Real:
        return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)

    return value(3 * (1 + t) / (1 - t)) - mp.mpf(float(value(mp.mpf(3))))


_HALF_LN2 = mp.log(2) / 2 * mp.mpf("1.002")
_ATANH = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * mp.mpf("1.0001")
_QUARTER_PI = (mp.pi / 4) ** 2 * mp.mpf("1.001")
_EIGHTH_PI = (mp.sqrt(2) - 1) ** 2 * mp.mpf("1.0001")

PROBLEMS: dict[str, Problem] = {
    # exp(r) = 1 + r + r²·p(r)
    "exp": Problem(_series(lambda k: 1 / mp.factorial(k), 2), lambda r: mp.mpf(1), -_HALF_LN2, _HALF_LN2, 10),
    # 2·atanh(s) = 2·s + s·z·p(z), z = s²
    "log": Problem(_series(lambda k: mp.mpf(2) / (2 * k + 1), 1), lambda z: z, mp.mpf(0), _ATANH, 6),
    # 2·atanh(s) = 2·s + s·z·(2/3 + z·p(z))
    "pow": Problem(_series(lambda k: mp.mpf(2) / (2 * k + 1), 2), lambda z: z, mp.mpf(0), _ATANH, 7),
    # sin(r) = r + r·z·p(z), cos(r) = 1 - z/2 + z²·p(z), z = r²
    "sin": Problem(_series(lambda k: (-1) ** k / mp.factorial(2 * k + 1), 1), lambda z: z,
                   mp.mpf(0), _QUARTER_PI, 5),
    "cos": Problem(_series(lambda k: (-1) ** k / mp.factorial(2 * k), 2), lambda z: z * z,
                   mp.mpf(0), _QUARTER_PI, 5),
    # atan(t) = t + t·z·p(z), z = t²
    "atan": Problem(_series(lambda k: mp.mpf(-1) ** k / (2 * k + 1), 1), lambda z: z, mp.mpf(0), _EIGHTH_PI, 11),
    # ∛(1 + f)
    "cbrt": Problem(lambda f: mp.cbrt(1 + f), _one, mp.sqrt(0.5) * mp.mpf("0.9999") - 1,
                    mp.sqrt(2) * mp.mpf("1.0001") - 1, 6),
    # erf(x) = x·(2/√π + z·p(z)), z = x²
    "erf": Problem(_series(lambda k: 2 / mp.sqrt(mp.pi) * (-1) ** k / (mp.factorial(k) * (2 * k + 1)), 1),
                   lambda z: z, mp.mpf(0), mp.mpf("0.25") * mp.mpf("1.001"), 8),
    # (1 + 2·x)·exp(x²)·erfc(x) = h(3) + p(t), t = (x - 3)/(x + 3)
    "erfc": Problem(_erfc_scaled, _one, _centred(mp.mpf("0.499")), _centred(mp.mpf("27.3")), 23),
}  # fmt: skip


def minimax(problem: Problem) -> tuple[list[float], float]:
    """Coefficients from the lowest power up, as float64, and log2 of the largest weighted error."""
    low, high = problem.low, problem.high
    fixed = [mp.mpf(float(problem.function(low)))] if low == 0 else []
    known, first = len(fixed), sum(fixed)
    unknown = problem.degree + 1 - known
    middle, reach = (low + high) / 2, (high - low) / 2
    grid = [low + 2 * reach * (mp.mpf(i) + mp.mpf("0.37")) / 800 for i in range(800)]
    grid = [low, *grid[1:-1], high] if problem.weight(low) else [*grid[1:-1], high]
    weights = [problem.weight(x) for x in grid]
    rests = [problem.function(x) - first for x in grid]
    start = [middle + reach * mp.cos(mp.pi * i / unknown) for i in range(unknown, -1, -1)]
    chosen = [min(range(len(grid)), key=lambda k, x=x: abs(grid[k] - x)) for x in start]
    solution: list[Real] = []
    for _ in range(20):
        matrix, right = mp.matrix(unknown + 1, unknown + 1), mp.matrix(unknown + 1, 1)
        for row, k in enumerate(chosen):
            for column in range(unknown):
                matrix[row, column] = weights[k] * grid[k] ** (known + column)
            matrix[row, unknown] = (-1) ** row
            right[row] = weights[k] * rests[k]
        found = mp.lu_solve(matrix, right)
        solution = [found[i] for i in range(unknown)]
        reverse = [*solution[::-1], *(mp.mpf(0) for _ in fixed)]
        errors = [
            w * (rest - mp.polyval(reverse, x)) for w, rest, x in zip(weights, rests, grid, strict=True)
        ]
        extrema = _extrema(errors)
        while len(extrema) > len(chosen):
            extrema.pop(0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1)
        if len(extrema) < len(chosen) or extrema == chosen:
            break
        chosen = extrema
    coefficients = [float(c) for c in (*fixed, *solution)]
    reverse = [mp.mpf(c) for c in reversed(coefficients)]
    worst = max(
        abs(w * (first + rest - mp.polyval(reverse, x)))
        for w, rest, x in zip(weights, rests, grid, strict=True)
    )
    return coefficients, float(mp.log(worst, 2))


def _extrema(errors: list[Real]) -> list[int]:
    """Where the error is largest between two changes of its sign."""
    found: list[int] = []
    for k, error in enumerate(errors):
        if found and (errors[found[-1]] > 0) == (error > 0):
            if abs(error) > abs(errors[found[-1]]):
                found[-1] = k
        else:
            found.append(k)
    return found


def main(names: list[str]) -> None:
    """Print the named polynomials, or all."""
    for name in names or PROBLEMS:
        coefficients, error = minimax(PROBLEMS[name])
        print(f"{name}: 2^{error:.1f}")
        for coefficient in coefficients:
            print(f"    {coefficient!r},")


if __name__ == "__main__":
    main(sys.argv[1:])
