"""Results among whose elements Python has the very objects that it was given, as in `[x for x in xs if x != 3]`.

A loop makes new ones of them. Of numbers that equal themselves nobody can tell. NaN does not, but `in` and `==` over
lists find an object that is the same: such results are left to Python where NaN is among them.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.fastpath.objects import NotExact, holds_nan
from hastega_magic.ir.expr import Expr, flatten
from hastega_magic.ir.fused import Fused, Output
from hastega_magic.ir.pipeline import Pipeline

NAN = "NaN is among the results, and is told from others by its object, which only Python keeps"


class HoldsNan(NotExact):
    """NaN is in the result, and perhaps another object than Python's."""


_ONE_OF = {"select": slice(1, None), "min": slice(None), "max": slice(None)} | dict.fromkeys(
    ("pos", "required", "own", "finite", "complex_finite"), slice(1)
)
"""Operators that give one of their operands, and which of them may be that."""

_SEVERAL = frozenset({list, tuple})

_MADE = frozenset(
    {"sum", "prod", "mean", "var", "std", "count", "any", "all", "bincount", "complex_prod", "cumsum"}
)
"""Sinks whose results are computed."""


def may_give_them(fused: Fused, arrays: bool) -> bool:
    """Whether objects that the code is given, or reads, may be in the loop's result, and be NaN.

    `arrays`: all sources are arrays, which have no objects to give.
    """
    return any(_gives(each, fused, arrays) for each in fused.outputs)


def hands_elements_on(pipeline: Pipeline) -> bool:
    """Whether what comes out is what went in. Python's `x ** 1` is a new object, though the loop computes nothing."""
    return all(stage.kind == "filter" for stage in pipeline.stages)


def _gives(output: Output, fused: Fused, arrays: bool) -> bool:
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
            waiting += node.args[_ONE_OF[node.op]]
        elif node.op == "const":
            if math.isnan(cast("float", node.value)):
                return True
        elif node.op == "load":
            source = fused.sources[cast("int", node.value)]
            if not arrays or source.layout == "scalar":  # a captured number
                return True
        elif node.op in ("gather", "result", "carry", "outer", "param"):
            return True
    return False


def exact(made: object) -> object:
    """The loop's result; HoldsNan where it is NaN, or has NaN among its elements, in tuples too."""
    if isinstance(made, np.ndarray):
        odd = _in_array(cast("np.ndarray[Any, Any]", made))
    else:
        odd = holds_nan(cast("Collection[object]", made)) if type(made) in _SEVERAL else made != made
    if odd:
        raise HoldsNan(NAN)
    return cast(object, made)


def _in_array(made: np.ndarray[Any, Any]) -> bool:
    columns = [made[name] for name in made.dtype.names or ()] or [made]
    return any(bool(np.any(each != each)) for each in columns)


__all__ = ["NAN", "HoldsNan", "exact", "hands_elements_on", "may_give_them"]
