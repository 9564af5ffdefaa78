"""The report's classes as plain JSON data, field by field.

Cells that run again wait for it, so that most values are told by their type alone.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, SupportsFloat, SupportsIndex, cast

from hastega_magic.report import model
from hastega_magic.report.model import Json

_MAX = sys.float_info.max
_PLAIN = frozenset({str, int, bool, type(None)})


def encode(value: object) -> Json:
    """A value as plain JSON data.

    Floats that JSON cannot say become 0.0; objects of other types their `str`.
    """
    kind = type(value)
    if kind in _PLAIN:  # most values by far, and checks against protocols are slow
        return cast("Json", value)
    if kind is tuple or kind is list:
        # The same questions as above and below, without a call: lists are mostly of plain values and of numbers.
        items = cast("Sequence[Any]", value)
        if items and type(items[0]) is tuple and all(map(_is_pair, items)):  # points of curves
            return [[first, second] for first, second in items]
        return [each if type(each) in _PLAIN or _is_finite(each) else encode(each) for each in items]
    if isinstance(value, model.GraphEdge):
        return [value.source, value.target, value.label]
    if (names := _names(kind)) is not None:
        parts = vars(value)
        return {
            key: each if type(each) in _PLAIN or _is_finite(each) else encode(each)
            for name, key in names
            if (each := parts[name]) is not None
        }
    if kind is dict or isinstance(value, Mapping):
        return {
            str(key): each if type(each) in _PLAIN or _is_finite(each) else encode(each)
            for key, each in cast("Mapping[Any, Any]", value).items()
        }
    if isinstance(value, (list, tuple, set, frozenset)):
        return [encode(v) for v in cast("Sequence[object]", value)]
    return _scalar(value)


def _is_pair(value: object) -> bool:
    if type(value) is not tuple or len(pair := cast("tuple[Any, ...]", value)) != 2:
        return False
    first, second = pair
    return type(first) is type(second) is float and -_MAX <= first <= _MAX and -_MAX <= second <= _MAX


def _is_finite(value: object) -> bool:
    return type(value) is float and -_MAX <= value <= _MAX


@cache
def _names(kind: type) -> tuple[tuple[str, str], ...] | None:
    """The fields of a dataclass with their keys in JSON; None for other classes."""
    if not is_dataclass(kind):
        return None
    return tuple((each.name, str(each.metadata.get("key", each.name))) for each in fields(kind))


def _scalar(value: object) -> Json:
    if type(value) is float:
        return value if math.isfinite(value) else 0.0
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, SupportsIndex):
        return value.__index__()
    if isinstance(value, SupportsFloat):
        number = float(value)
        return number if math.isfinite(number) else 0.0
    return str(value)


__all__ = ["encode"]
