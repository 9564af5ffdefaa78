"""The smallest or largest element, or its number, from what blocks left; where no element has to be computed again.

Kernels leave NaNs out and do not tell zeros apart. Python keeps a NaN that comes first, and the first of equals: of
floats that are a source's own elements, these are looked at there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.execute import Execution
from hastega_magic.compiler.repeating.slots import Again
from hastega_magic.ir.expr import flatten
from hastega_magic.ir.fused import Output
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.runtime.sources import AnyArray
from hastega_magic.types import BOOL

_KINDS = {
    "min": min, "max": max, "reduce_min": min, "reduce_max": max, "argmin": min, "argmax": max,
}  # fmt: skip


@dataclass(frozen=True)
class Extreme:
    """What is sought: the least or greatest by `pick`, as a number of that type, or the first such element's number."""

    pick: Callable[[Sequence[Any]], Any]
    type: type[int | float | bool]
    numbered: bool

    def of(self, found: Sequence[Any], counts: Sequence[int], data: Any) -> object:
        """From each block's own and how many elements took part in it; Again where there are none.

        `data`: the source's elements.
        """
        live = [each for each, count in zip(found, counts, strict=True) if count]
        if not live:
            raise Again
        best = self.pick(live)
        if self.numbered:
            return 0 if data[0] != data[0] else _first(data, best, BLOCK * list(found).index(best))
        if self.type is float:
            if data[0] != data[0]:
                return float(data[0])
            if best == 0:
                return float(data[_first(data, 0, 0)])
        return self.type(best)


def _first(data: Any, value: object, start: int) -> int:
    """The number of the first element from `start` on that is equal to the value, which one is."""
    for begin in range(start, len(data), BLOCK):
        some = data[begin : begin + BLOCK]
        if isinstance(some, np.ndarray):
            places = np.flatnonzero(cast("AnyArray", some) == value)
            if len(places):
                return begin + int(places[0])
        elif value in some:
            return begin + some.index(value)
    raise Again


def extreme_of(execution: Execution, output: Output) -> Extreme | None:
    """What is sought; None where elements would have to be computed for it, or it is something else."""
    kind, type_ = output.sink.kind, flatten(output.value)[0].type
    written = execution.compiled.fused.outputs[0]
    if kind not in _KINDS or written.weights or (kind.startswith("reduce") and type_.is_float):
        return None
    numbered = kind.startswith("arg")
    own = output.mask is None and output.value == written.value and _is_source(output.value)
    if (numbered or type_.is_float) and not (own and len(execution.fused.sources) == 1):
        return None
    return Extreme(_KINDS[kind], bool if type_ is BOOL else float if type_.is_float else int, numbered)


def _is_source(value: object) -> bool:
    return getattr(value, "op", "") == "load"


__all__ = ["Extreme", "extreme_of"]
