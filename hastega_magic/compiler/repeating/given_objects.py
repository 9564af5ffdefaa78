"""Results among whose elements Python has the very objects that it was given, as in `[x for x in xs if x != 3]`.

A loop makes new ones of them. Of numbers that equal themselves nobody can tell. NaN does not, but `in` and `==` over
lists find an object that is the same: such results are left to Python where NaN is among them.
"""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.repeating.objects import NotExact, holds_nan
from hastega_magic.ir.expr import Expr, flatten
from hastega_magic.ir.fused import Fused, Output

NAN = "NaN is among the results, and is told from others by its object, which only Python keeps"

_ONE_OF = {"select": 1, "min": 0, "max": 0, "pos": 0}
"""Operators that give one of their operands, and from which on those are."""

_MADE = frozenset(
    {"sum", "prod", "mean", "var", "std", "count", "any", "all", "bincount", "complex_prod", "cumsum"}
)
"""Sinks whose results are computed."""


def may_give_them(fused: Fused, arrays: bool) -> bool:
    """Whether objects that the code is given, or reads, may be in the loop's result, and be NaN.

    `arrays`: all sources are arrays, which have no objects to give.
    """
    return any(_gives(each, arrays) for each in fused.outputs)


def _gives(output: Output, arrays: bool) -> bool:
    if output.sink.kind in _MADE:
        return False
    if output.sink.fn is not None:
        return not arrays or any(node.type.is_float for node in flatten(output.sink.fn.result))
    seen: set[Expr] = set()
    waiting = [*flatten(output.value)]
    while waiting:
        node = waiting.pop()
        if node in seen or not node.type.is_float:
            continue
        seen.add(node)
        if node.op in _ONE_OF:
            waiting += node.args[_ONE_OF[node.op] :]
        elif node.op == "const":
            if math.isnan(cast("float", node.value)):
                return True
        elif node.op == "load":
            if not arrays:
                return True
        elif node.op in ("gather", "result", "carry", "outer", "param"):
            return True
    return False


def exact(made: object) -> object:
    """The loop's result; NotExact where it is NaN, or has NaN among its elements, in tuples too."""
    if isinstance(made, np.ndarray):
        odd = _in_array(cast("np.ndarray[Any, Any]", made))
    else:
        odd = _in_list(cast("list[Any]", made)) if isinstance(made, list) else made != made
    if odd:
        raise NotExact(NAN)
    return cast(object, made)


def _in_array(made: np.ndarray[Any, Any]) -> bool:
    columns = [made[name] for name in made.dtype.names or ()] or [made]
    return any(bool(np.any(each != each)) for each in columns)


def _in_list(made: list[Any]) -> bool:
    try:
        total = sum(made)  # in a tenth of the time; that of inf and -inf is NaN, too
    except (TypeError, OverflowError):
        return holds_nan(made)
    return total != total and holds_nan(made)


__all__ = ["NAN", "exact", "may_give_them"]
