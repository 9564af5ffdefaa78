"""Numbers for people: two or three digits, a unit, and narrow spaces between groups of thousands; names in a row."""

from __future__ import annotations

import math
from collections.abc import Sequence

THIN = "\u202f"  # narrow no-break space: groups digits and never breaks a line


def grouped(value: int) -> str:
    """An int with its digits in groups of three: 33 554 432."""
    return f"{value:,}".replace(",", THIN)


_THREE = ((1.0, 9.99, 2), (10.0, 99.9, 1), (100.0, 999.0, 0))
"""From where to where three digits have so many behind the point, whatever is rounded: what most numbers are."""


def digits(value: float, count: int = 3) -> str:
    """A non-negative number rounded to `count` significant digits, no exponent: 1 630, 21.0, 0.0142."""
    if not math.isfinite(value) or value <= 0:
        return "0"
    if count == 3:
        for least, limit, decimals in _THREE:
            if least <= value < limit:
                return f"{value:.{decimals}f}"
    exponent = math.floor(math.log10(value))
    rounded = round(value, count - 1 - exponent)
    exponent = math.floor(math.log10(rounded))  # 9.996 rounds up to 10.0
    decimals = max(0, count - 1 - exponent)
    return f"{rounded:,.{decimals}f}".replace(",", THIN)


def seconds(value: float) -> str:
    """A duration in seconds as 14.8 ms, 24.1 s, 3.20 min."""
    if value < 1e-15:  # no clock tells it from nothing
        return "0 s"
    for limit, factor, unit in (
        (999.5e-9, 1e9, "ns"),
        (999.5e-6, 1e6, "µs"),
        (999.5e-3, 1e3, "ms"),
        (119.5, 1.0, "s"),
        (7170.0, 1 / 60, "min"),
    ):
        if value < limit:
            return f"{digits(value * factor)} {unit}"
    return f"{digits(value / 3600)} h"


def size(value: int) -> str:
    """A number of bytes in decimal units: 268 MB."""
    if value < 1000:
        return f"{max(value, 0)} B"
    scaled = float(value)
    for unit in ("kB", "MB", "GB", "TB", "PB"):
        scaled /= 1000
        if scaled < 999.5:
            return f"{digits(scaled)} {unit}"
    return f"{digits(scaled)} PB"


def rate(count: int, duration: float) -> str:
    """Bytes per second: 18.1 GB/s; "" where either is not known, or a few bytes make no rate."""
    return f"{size(round(count / duration))}/s" if count >= 1000 and duration > 0 else ""


def times(factor: float) -> str:
    """A ratio: 1 630, 21, 4.2."""
    return digits(factor, 3 if factor >= 99.5 else 2)


def plural(count: int, noun: str) -> str:
    """1 loop, 2 loops."""
    return f"{grouped(count)} {noun}" if count == 1 else f"{grouped(count)} {noun}s"


def listed(names: Sequence[str]) -> str:
    """One name or more in a row: a, b and c."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def decade(power: int) -> str:
    """A power of ten of seconds: 100 µs."""
    unit = ("s", "ms", "µs", "ns")[min(3, max(0, math.ceil(-power / 3)))]
    shift = {"s": 0, "ms": 3, "µs": 6, "ns": 9}[unit]
    value = 10.0 ** (power + shift)
    return f"{value:,.0f}".replace(",", THIN) + f" {unit}" if value >= 1 else f"{value:g} {unit}"
