"""From the partial results of a directly called loop (`cpu/direct.py`) to the value that the statement gives."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.execute import Execution
from hastega_magic.compiler.fastpath.direct_result import DirectResult, Gather
from hastega_magic.compiler.fastpath.extremes import FUNCTIONS, Extreme, extreme_of, made
from hastega_magic.compiler.fastpath.slots import DoesNotFit
from hastega_magic.compiler.fastpath.storing import storing
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.python.recover import Recovery
from hastega_magic.compiler.scan_values import doubtful, is_doubtful
from hastega_magic.compiler.statement import Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.ir.expr import Expr, flatten
from hastega_magic.ir.fused import Output, slots_of
from hastega_magic.ir.reduction import tree_prod, tree_sum
from hastega_magic.ir.sinks import spread
from hastega_magic.passes.schedule import folds_of
from hastega_magic.runtime import python
from hastega_magic.runtime.loop_result import LoopResult
from hastega_magic.types import FLOAT32, Complex, Composite, Either

_EVERY = frozenset(
    {"reduce_mul", "reduce_and", "reduce_or", "reduce_xor", "prod", "sum", "mean", "var", "std"}
)
"""Reductions that the usual way, too, makes of partial results alone."""

_NO_COUNTS = np.zeros((0, 0), np.int64)


def gathering(execution: Execution, options: Options, loop: Loop) -> Gather | None:
    """How the loop's result is put together; None for kinds that are left to the usual way."""
    (output,) = execution.fused.outputs
    if options.int_mode == "wrap" or (loop.built.tail and options.int_mode != "exact"):
        return None
    if slots_of(output):
        return storing(output, loop, execution.compiled.variants.bodies)
    (folds,) = folds_of(execution.compiled.fused)
    output = replace(output, weights=execution.compiled.fused.outputs[0].weights)
    found = _common(output, folds, loop)
    if found is not None:
        return found
    if output.sink.kind in _EVERY or (loop.built.initial and not isinstance(output.value, Composite)):
        return _reduction(output, folds, loop, options)
    if isinstance(output.value, Composite):
        return None
    extreme = extreme_of(execution, output, loop)
    return None if extreme is None else _extreme(extreme, folds)


def _common(output: Output, folds: Sequence[int], loop: Loop) -> Gather | None:
    """A form of its own for what is common."""
    kind, value, type_ = output.sink.kind, output.value, flatten(output.value)[0].type
    match kind:
        case "any" | "all":
            return _any if kind == "any" else _all
        case "count":
            return _counted
        case "first_index" | "last_index":
            return _index(min if kind == "first_index" else max, folds)
        case "sum" | "mean" if (
            type_ is FLOAT32 and not loop.built.initial and isinstance(value, (Expr, Complex))
        ):
            return _single(value, folds, mean=kind == "mean")
        case _ if type_ is FLOAT32 or (loop.built.initial and kind not in ("reduce_add", "reduce_mul")):
            return None
        case "sum" | "mean" if isinstance(value, Complex):
            return _complex(folds, mean=kind == "mean")
        case "sum" | "mean" if isinstance(value, Either):
            return _mixed(folds, mean=kind == "mean")
        case _ if isinstance(value, Composite):
            return None
        case "sum":
            return _total(output, folds)
        case "mean" | "reduce_add":
            return _of_some(_total(output, folds), folds[-1], loop.built.initial, mean=kind == "mean")
        case "reduce_mul" if not type_.is_float:
            return _of_some(_int_prod(folds[0]), folds[-1], loop.built.initial, operator.mul, mean=False)
        case "var" | "std":
            return _spread(kind, folds, output.sink.ddof)
        case "prod":
            return _float_prod(folds, loop) if type_.is_float else _int_prod(folds[0])
        case _:
            return None


def _total(output: Output, folds: Sequence[int]) -> Gather:
    is_float = flatten(output.value)[0].type.is_float
    return _float_sum(folds) if is_float else _int_sum(folds, output.weights)


def _reduction(output: Output, folds: Sequence[int], loop: Loop, options: Options) -> Gather:
    """A reduction that needs no element again, as of any number of blocks."""

    def found(left: DirectResult) -> object:
        blocks, partials = left.direct.blocks, left.direct.folded()
        status = np.zeros(blocks, np.uint8)
        result = LoopResult(left.direct.length, [], partials, status, _NO_COUNTS, (), blocks_run=blocks)
        value = Recovery(loop, nothing, (), result, options).reduction(output, folds)
        if is_doubtful(output, value):
            raise DoesNotFit
        return value

    nothing = Workspace("")  # is left to Python
    return found


def _counted(left: DirectResult) -> object:
    direct = left.direct
    return sum(direct.partials[0][: direct.blocks])


def _any(left: DirectResult) -> object:
    direct = left.direct
    return any(direct.partials[0][: direct.blocks])


def _all(left: DirectResult) -> object:
    direct = left.direct
    return all(direct.partials[0][: direct.blocks])


def _int_sum(folds: Sequence[int], weights: Sequence[int]) -> Gather:
    parts = list(zip(folds, weights or (1,), strict=False))

    def total(left: DirectResult) -> Any:
        direct, found = left.direct, 0
        for number, weight in parts:
            words = direct.partials[number][: 2 * direct.blocks]
            found += weight * ((sum(words[::2]) << 32) + sum(words[1::2]))
        return found

    return total


def _single(value: Expr | Complex, folds: Sequence[int], *, mean: bool) -> Gather:
    """A sum or mean of numpy.float32 or numpy.complex64, which is one, too."""
    type_: Callable[[Any], object] = np.complex64 if isinstance(value, Complex) else np.float32
    if isinstance(value, Complex):
        total = _complex(folds, mean=mean, dtype=np.float32)
    else:
        total = _float_sum(folds, np.float32)
        total = _of_some(total, folds[-1], mean=True) if mean else total

    def found(left: DirectResult) -> object:
        number: Any = total(left)
        return number if type(number) is int else type_(number)  # of no elements Python has an int

    return found


def _float_sum(folds: Sequence[int], dtype: type[np.floating[Any]] = np.float64) -> Gather:
    """`dtype`: of the elements, in which partial results are added up, too."""
    value, count = folds  # of which every kind has both

    def total(left: DirectResult) -> Any:
        direct = left.direct
        blocks = direct.blocks
        if not any(direct.partials[count][:blocks]):
            return 0  # Python's own start
        if blocks == 1:
            return 0.0 + direct.partials[value][0]
        return 0 + float(tree_sum(np.array(direct.partials[value][:blocks], dtype)))

    return total


def _float_prod(folds: Sequence[int], loop: Loop) -> Gather:
    value, count = folds
    *stages, _ = (stage.name for stage in loop.bound.site.stages)
    python_too = FUNCTIONS.issuperset(stages)

    def product(left: DirectResult) -> object:
        direct = left.direct
        blocks = direct.blocks
        if not any(direct.partials[count][:blocks]):
            return 1
        parts = direct.partials[value][:blocks]
        found = parts[0] if blocks == 1 else float(tree_prod(np.array(parts)))
        if not doubtful(found):
            return found
        if blocks > 1 or left.view is not None or not python_too:
            raise DoesNotFit
        exact: Any = python.apply("prod", made(stages, left.operands, left.displays))
        return float(exact) if type(exact) is np.float64 else exact

    return product


def _int_prod(number: int) -> Gather:
    def product(left: DirectResult) -> object:
        direct = left.direct
        words = direct.partials[number][: 2 * direct.blocks]
        pairs = zip(words[::2], words[1::2], strict=True)
        return math.prod((excess << 64) + low for excess, low in pairs)

    return product


def _of_some(
    total: Callable[..., Any],
    counts: int,
    initial: tuple[Any, ...] = (),
    combine: Callable[[Any, Any], Any] = operator.add,
    *,
    mean: bool,
) -> Gather:
    """A total of one element at least or behind an initial value, or the mean."""

    def found(left: DirectResult) -> object:
        direct = left.direct
        count = sum(direct.partials[counts][: direct.blocks])
        if not count:
            if initial:
                return initial[0]
            raise DoesNotFit
        value = total(left)
        return value / count if mean else combine(initial[0], value) if initial else value

    return found


def _index(pick: Callable[[list[Any]], Any], folds: Sequence[int]) -> Gather:
    """The number of an element; None where there is none."""
    value, count = folds

    def found(left: DirectResult) -> object:
        blocks, partials = left.direct.blocks, left.direct.partials
        if blocks == 1:
            return partials[value][0] if partials[count][0] else None
        pairs = zip(partials[value][:blocks], partials[count][:blocks], strict=True)
        live = [each for each, some in pairs if some]
        return pick(live) if live else None

    return found


def _complex(folds: Sequence[int], *, mean: bool, dtype: type[np.floating[Any]] = np.float64) -> Gather:
    """Each part by itself. `dtype`: of the parts."""
    *parts, counts = folds
    real, imag = (_float_sum((part, counts), dtype) for part in parts)

    def found(left: DirectResult) -> object:
        count = sum(left.direct.partials[counts][: left.direct.blocks])
        if not count:
            raise DoesNotFit
        total = complex(cast(Any, real(left)), cast(Any, imag(left)))
        return total / count if mean else total

    return found


def _mixed(folds: Sequence[int], *, mean: bool) -> Gather:
    """Ints exactly, floats in their tree; then Python adds both."""
    low, ints, high, floats = folds
    of_ints, of_floats = _int_sum((low,), ()), _float_sum((high, floats))

    def found(left: DirectResult) -> object:
        blocks, partials = left.direct.blocks, left.direct.partials
        real = sum(partials[floats][:blocks])
        count = real + sum(partials[ints][:blocks])
        if not count:
            raise DoesNotFit
        total: Any = of_ints(left)
        if real:
            total += of_floats(left)
        return total / count if mean else total

    return found


def _spread(kind: str, folds: Sequence[int], ddof: float) -> Gather:
    """Var or std, of squared distances from the mean."""
    total, counts = _float_sum(folds), folds[-1]

    def found(left: DirectResult) -> object:
        count = sum(left.direct.partials[counts][: left.direct.blocks])
        if count <= ddof:
            raise DoesNotFit
        return float(spread(kind, total(left), count, ddof))

    return found


def _extreme(extreme: Extreme, folds: Sequence[int]) -> Gather:
    value, count = folds

    def found(left: DirectResult) -> object:
        blocks, partials = left.direct.blocks, left.direct.partials
        return extreme.of(
            partials[value][:blocks], partials[count][:blocks], left.operands, left.displays, left.view
        )

    return found


__all__ = ["gathering"]
