"""What a directly called loop left in its memory, made a statement's value: for kinds of results that are common.

Every other kind goes the way of all loops.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hastega_magic.compiler.execute import Execution
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.repeating.alike import Display
from hastega_magic.compiler.repeating.extremes import Extreme, extreme_of
from hastega_magic.compiler.repeating.slots import Again
from hastega_magic.compiler.statement import Loop
from hastega_magic.ir.expr import Expr, flatten
from hastega_magic.ir.reduction import tree_prod, tree_sum
from hastega_magic.passes.schedule import folds_of, slots_of
from hastega_magic.runtime.boxes import listed
from hastega_magic.runtime.direct import Direct
from hastega_magic.runtime.sources import AnyArray
from hastega_magic.types import FLOAT32, Composite

Gather = Callable[[Direct, list[AnyArray], Sequence[Any], Sequence[Display]], object]
"""From a run's memory, result arrays, sources and stages to its value; Again where another way has to find that."""


def gathering(execution: Execution, options: Options, loop: Loop) -> Gather | None:
    """How the loop's result is put together; None for kinds that are left to the usual way."""
    (output,) = execution.fused.outputs
    kind = output.sink.kind
    if options.int_mode == "wrap" or (loop.built.initial and kind != "reduce_add"):
        return None
    if slots_of(output):
        if not isinstance(output.value, Expr):
            return None
        return _listed if kind == "to_list" else _array if kind in ("array", "cumsum") else None
    if isinstance(output.value, Composite) and kind != "count":
        return None
    (folds,) = folds_of(execution.compiled.fused)
    weights = execution.compiled.fused.outputs[0].weights
    type_ = flatten(output.value)[0].type
    if type_ is FLOAT32:
        return None
    if kind == "count":
        return _counted
    if kind in ("sum", "mean", "reduce_add"):
        total = _float_sum(folds) if type_.is_float else _int_sum(folds, weights)
        return total if kind == "sum" else _of_some(total, folds[-1], loop.built.initial, mean=kind == "mean")
    if kind == "prod":
        return _float_prod(folds) if type_.is_float else _int_prod(folds[0])
    if kind in ("any", "all"):
        return _any if kind == "any" else _all
    extreme = extreme_of(execution, output, loop)
    return None if extreme is None else _extreme(extreme, folds)


def _array(direct: Direct, arrays: list[AnyArray], *_: object) -> object:
    return arrays[0]


def _listed(direct: Direct, arrays: list[AnyArray], *_: object) -> object:
    return listed(arrays[0])


def _counted(direct: Direct, arrays: list[AnyArray], *_: object) -> object:
    return sum(direct.partials[0][: direct.blocks])


def _any(direct: Direct, arrays: list[AnyArray], *_: object) -> object:
    return any(direct.partials[0][: direct.blocks])


def _all(direct: Direct, arrays: list[AnyArray], *_: object) -> object:
    return all(direct.partials[0][: direct.blocks])


def _int_sum(folds: Sequence[int], weights: Sequence[int]) -> Gather:
    parts = list(zip(folds, weights or (1,), strict=False))

    def total(direct: Direct, arrays: list[AnyArray], *_: object) -> Any:
        found = 0
        for number, weight in parts:
            words = direct.partials[number][: 2 * direct.blocks]
            found += weight * ((sum(words[::2]) << 32) + sum(words[1::2]))
        return found

    return total


def _float_sum(folds: Sequence[int]) -> Gather:
    value, count = folds  # of which every kind has both

    def total(direct: Direct, arrays: list[AnyArray], *_: object) -> Any:
        blocks = direct.blocks
        if not any(direct.partials[count][:blocks]):
            return 0  # Python's own start
        if blocks == 1:
            return 0.0 + direct.partials[value][0]
        return 0 + float(tree_sum(np.array(direct.partials[value][:blocks])))

    return total


def _float_prod(folds: Sequence[int]) -> Gather:
    value, count = folds

    def product(direct: Direct, arrays: list[AnyArray], *_: object) -> object:
        blocks = direct.blocks
        some = any(direct.partials[count][:blocks])
        return float(tree_prod(np.array(direct.partials[value][:blocks]))) if some else 1

    return product


def _int_prod(number: int) -> Gather:
    def product(direct: Direct, arrays: list[AnyArray], *_: object) -> object:
        words = direct.partials[number][: 2 * direct.blocks]
        pairs = zip(words[::2], words[1::2], strict=True)
        return math.prod((excess << 64) + low for excess, low in pairs)

    return product


def _of_some(total: Callable[..., Any], counts: int, initial: tuple[Any, ...] = (), *, mean: bool) -> Gather:
    """A total of one element at least or behind an initial value, or the mean."""

    def found(direct: Direct, arrays: list[AnyArray], *_: object) -> object:
        count = sum(direct.partials[counts][: direct.blocks])
        if not count:
            raise Again
        value = total(direct, arrays)
        return value / count if mean else initial[0] + value if initial else value

    return found


def _extreme(extreme: Extreme, folds: Sequence[int]) -> Gather:
    value, count = folds

    def found(
        direct: Direct, arrays: list[AnyArray], operands: Sequence[Any], displays: Sequence[Display]
    ) -> object:
        blocks, partials = direct.blocks, direct.partials
        return extreme.of(partials[value][:blocks], partials[count][:blocks], operands, displays)

    return found


__all__ = ["Gather", "gathering"]
