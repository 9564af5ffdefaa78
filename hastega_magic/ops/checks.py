"""Rows that change no value: what NumPy's scalars and Python's numbers do not have in common is found by them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from hastega_magic.interval import Interval
from hastega_magic.ops.row import Builder, Op, Signature, fixed
from hastega_magic.types import BOOL, FLOAT, INT, ScalarType


def _fits(value: int, least: int, most: int) -> int:
    if not least <= value <= most:
        raise OverflowError(f"{value} is beyond [{least}, {most}]")
    return value


def _beyond(b: Builder, args: Sequence[Any]) -> Any:
    value, least, most = args
    return b.op("or", b.op("lt", value, least), b.op("gt", value, most))


def _between(value: Interval, least: Interval, most: Interval) -> Interval:
    return Interval(least.lo, most.hi).meet(value)


def _finite(value: float, excused: bool) -> float:
    if not excused and not math.isfinite(value):
        raise OverflowError(f"{value} is not finite")
    return value


def _finite_signature(types: tuple[ScalarType, ...]) -> Signature:
    value = types[0] if types[0].is_float else FLOAT
    return Signature((value, BOOL), value)


def _infinite(b: Builder, args: Sequence[Any]) -> Any:
    value, excused = args
    return b.op("not", b.op("or", b.op("isfinite", value), excused))


ROWS = (
    Op("own", 1, lambda a: a, lambda types: Signature(types, types[0]), "", lambda a: a, lambda a: a,
       expand=lambda b, args: args[0]),
    Op("fits", 3, _fits, fixed((INT, INT, INT), INT), "", None, _between,
       expand=lambda b, args: args[0], trouble=_beyond,
       reason="integers beyond their type"),
    Op("finite", 2, _finite, _finite_signature, "", None,
       expand=lambda b, args: args[0], trouble=_infinite,
       reason="results that are not finite"),
)  # fmt: skip
