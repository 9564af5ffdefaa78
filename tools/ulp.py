"""Measures the largest error of the elementary functions, as compiled, in units in the last place.

    python tools/ulp.py [--count N] [--seed S] [--type float64|float32] [NAME ...]

Arguments: random bit patterns, uniform ones over the interesting interval, small ones, and, for pow, pairs whose
result is finite. The machine's 80-bit long double screens them; the figures are of mpmath in 300 bits, over
the 40 worst of every set.
"""

from __future__ import annotations

import argparse
import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hastega_magic.compiler.options import Options
from hastega_magic.session import Session

Array = Any
mp: Any = importlib.import_module("mpmath").mp  # which has no type stubs
mp.prec = 300


@dataclass(frozen=True)
class Function:
    """What a cell writes, the reference in long double, the exact value, and the interesting interval."""

    ufunc: str
    screen: Callable[..., Any]
    exact: Callable[..., Any]
    low: float
    high: float
    arity: int = 1


def _power_of_two(x: Any) -> Any:
    return mp.mpf(2) ** x


def _cube_root(x: Any) -> Any:
    return mp.sign(x) * mp.cbrt(abs(x))


def _log2(x: Any) -> Any:
    return mp.log(x) / mp.log(2)


def _log10(x: Any) -> Any:
    return mp.log(x) / mp.log(10)


def _one(ufunc: str, exact: Callable[..., Any], low: float, high: float) -> Function:
    return Function(f"np.{ufunc}", getattr(np, ufunc), exact, low, high)


def _logaddexp(x: Any, y: Any) -> Any:
    return mp.log(mp.exp(x) + mp.exp(y))


def _by_mpmath(function: Callable[..., Any]) -> Callable[..., Any]:
    """A screen for what NumPy has not: slow. Of numbers beyond 50 only the sign counts."""

    def one(x: Any) -> Any:
        if np.isnan(x):
            return np.longdouble(x)
        with mp.workprec(80):
            return np.longdouble(mp.nstr(function(mp.mpf(float(min(max(x, -50), 50)))), 22))

    def screen(xs: Array) -> Array:
        return np.array([one(x) for x in xs], np.longdouble)

    return screen


FUNCTIONS: dict[str, Function] = {
    "exp": _one("exp", mp.exp, -745.2, 709.8),
    "expm1": _one("expm1", mp.expm1, -40.0, 709.8),
    "exp2": _one("exp2", _power_of_two, -1075.0, 1024.0),
    "sinh": _one("sinh", mp.sinh, -710.5, 710.5),
    "cosh": _one("cosh", mp.cosh, -710.5, 710.5),
    "tanh": _one("tanh", mp.tanh, -20.0, 20.0),
    "log": _one("log", mp.log, 0.4, 4.0),
    "log1p": _one("log1p", mp.log1p, -1.0, 4.0),
    "log2": _one("log2", _log2, 0.4, 4.0),
    "log10": _one("log10", _log10, 0.4, 4.0),
    "sin": _one("sin", mp.sin, -20.0, 20.0),
    "cos": _one("cos", mp.cos, -20.0, 20.0),
    "tan": _one("tan", mp.tan, -20.0, 20.0),
    "asin": _one("arcsin", mp.asin, -1.0, 1.0),
    "acos": _one("arccos", mp.acos, -1.0, 1.0),
    "atan": _one("arctan", mp.atan, -5.0, 5.0),
    "atan2": Function("np.arctan2", np.arctan2, mp.atan2, -5.0, 5.0, 2),
    "pow": Function("np.power", np.power, mp.power, 0.0, 10.0, 2),
    "asinh": _one("arcsinh", mp.asinh, -5.0, 5.0),
    "acosh": _one("arccosh", mp.acosh, 1.0, 5.0),
    "atanh": _one("arctanh", mp.atanh, -1.0, 1.0),
    "cbrt": _one("cbrt", _cube_root, -10.0, 10.0),
    "hypot": Function("np.hypot", np.hypot, mp.hypot, -10.0, 10.0, 2),
    "erf": Function("math.erf", _by_mpmath(mp.erf), mp.erf, -6.0, 6.0),
    "erfc": Function("math.erfc", _by_mpmath(mp.erfc), mp.erfc, -3.0, 27.2),
    "logaddexp": Function("np.logaddexp", np.logaddexp, _logaddexp, 0.5, 40.0, 2),
}
_LARGEST_ANGLE = 2.0**40


def arguments(
    name: str, function: Function, dtype: Any, count: int, rng: Any
) -> list[tuple[str, list[Array]]]:
    """Named sets of operands."""
    word = np.uint64 if dtype is np.float64 else np.uint32
    top = int(np.iinfo(word).max)

    def patterns() -> Array:
        return rng.integers(0, top, count, word, endpoint=True).view(dtype)

    def uniform(low: float, high: float) -> Array:
        return rng.uniform(low, high, count).astype(dtype)

    def sized(low: float, high: float) -> Array:
        return (np.exp2(rng.uniform(low, high, count)) * rng.choice([-1.0, 1.0], count)).astype(dtype)

    if name == "pow":
        base = np.exp2(rng.uniform(-1000, 1000, count))
        near = 1.0 + sized(-30, -1).astype(float)
        return [
            (
                "any size",
                [base.astype(dtype), (rng.uniform(-1070, 1020, count) / np.log2(base)).astype(dtype)],
            ),
            ("near 1", [near.astype(dtype), (rng.uniform(-740, 705, count) / np.log(near)).astype(dtype)]),
            ("ordinary", [uniform(0, 10), uniform(-20, 20)]),
            ("whole", [uniform(-10, 10), rng.integers(-20, 20, count).astype(dtype)]),
        ]

    def inside(x: Array) -> Array:
        return (x >= 1 if name == "acosh" else abs(x) < 1) & np.isfinite(x)

    sets = [
        ("bit patterns", [patterns() for _ in range(function.arity)]),
        ("interval", [uniform(function.low, function.high) for _ in range(function.arity)]),
        ("small", [sized(-30, 2) for _ in range(function.arity)]),
    ]
    if name in ("sin", "cos", "tan"):
        turns = rng.integers(1, 1 << 40, count) >> rng.integers(0, 40, count)
        sets.append(("up to 2^40", [sized(2, 39.9)]))
        sets.append(("near multiples of π/2", [(turns * np.longdouble(mp.pi / 2)).astype(dtype)]))
        sets = [(label, [np.where(abs(x) <= _LARGEST_ANGLE, x, dtype(1)) for x in xs]) for label, xs in sets]
    if name in ("acosh", "atanh"):
        top = np.nextafter(dtype(1), dtype(0 if name == "atanh" else 2))
        sets = [(label, [np.where(inside(x), x, top) for x in xs]) for label, xs in sets]
        sets.append(
            (
                "near 1",
                [np.where(inside(near := (1.0 + sized(-40, -1).astype(float)).astype(dtype)), near, top)],
            )
        )
    if name == "logaddexp":  # elsewhere the result may be the difference of two
        sets = [
            (label, [np.where((abs(x) < 1e4) & (abs(x) > 1e-4), abs(x), dtype(1)) for x in xs])
            for label, xs in sets
        ]
    if name in ("log", "log1p", "log2", "log10"):
        centre = 0.0 if name == "log1p" else 1.0
        sets.append(("near 1", [(centre + sized(-40, -1).astype(float)).astype(dtype)]))
    return sets


def computed(function: Function, operands: list[Array], width: int = 0) -> Array:
    """What the compiled cell gives."""
    namespace: dict[str, Any] = {"np": np, "math": math, "xs": operands[0], "ys": operands[-1]}
    cell = f"xs |> map(lambda x: {function.ufunc}(x))"
    if function.arity == 2:
        cell = f"xs |> zip(ys) |> map(lambda x, y: {function.ufunc}(x, y))"
    return Session(namespace, Options(baseline=False, strict=True, width=width)).run_cell(cell).value


def _place(value: Any, dtype: Any) -> Any:
    """The unit in the last place of numbers of this size."""
    info = np.finfo(dtype)
    exponent = np.frexp(value)[1] - 1
    return np.ldexp(np.longdouble(1), np.maximum(exponent, info.minexp) - info.nmant)


def worst(function: Function, operands: list[Array], dtype: Any) -> tuple[float, tuple[float, ...]]:
    """The largest error in ulp and its operands; infinite where one is finite and the other is not."""
    with np.errstate(all="ignore"):
        found = computed(function, operands)
        wide = [operand.astype(np.longdouble) for operand in operands]
        reference = function.screen(*wide)
        inside = np.isfinite(reference) & (abs(reference) < np.longdouble(np.finfo(dtype).max))
        both = inside & np.isfinite(found)
        error = np.where(both, abs(found.astype(np.longdouble) - reference) / _place(reference, dtype), 0)
        wrong = (inside & ~np.isfinite(found)) | (np.isnan(reference) != np.isnan(found))
    if wrong.any():
        index = int(np.argmax(wrong))
        return float("inf"), tuple(float(operand[index]) for operand in operands)
    result: tuple[float, tuple[float, ...]] = (0.0, ())
    for index in np.argsort(error)[-40:]:
        values = tuple(float(operand[index]) for operand in operands)
        true = function.exact(*(mp.mpf(value) for value in values))
        if true == 0:
            continue
        exponent = max(int(mp.frexp(true)[1]) - 1, int(np.finfo(dtype).minexp)) - int(np.finfo(dtype).nmant)
        ulps = float(abs(mp.mpf(float(found[index])) - true) / mp.mpf(2) ** exponent)
        result = max(result, (ulps, values))
    return result


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--type", choices=["float64", "float32"], default="float64")
    options = parser.parse_args()
    dtype = {"float64": np.float64, "float32": np.float32}[options.type]
    rng = np.random.default_rng(options.seed)
    for name in options.names or FUNCTIONS:
        function = FUNCTIONS[name]
        for label, operands in arguments(name, function, dtype, options.count, rng):
            ulps, values = worst(function, operands, dtype)
            print(f"{name:6} {label:22} {ulps:.4f}  at {', '.join(map(repr, values))}", flush=True)


if __name__ == "__main__":
    main()
