"""The smallest or largest element, or its number, from what blocks left; where no element has to be computed again.

Kernels leave NaNs out and do not tell zeros apart. Python keeps a NaN that comes first, and the first of equals: of
floats that are a source's own elements, these are looked at there; of others the stages' functions are asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from hastega_magic.compiler.execute import Execution
from hastega_magic.compiler.fastpath.guards import Display
from hastega_magic.compiler.fastpath.slots import DoesNotFit
from hastega_magic.compiler.statement import Loop
from hastega_magic.ir.expr import Expr, flatten
from hastega_magic.ir.fused import Output
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.records import dataclass
from hastega_magic.runtime import python
from hastega_magic.runtime.sources import AnyArray
from hastega_magic.syntax.loops.loop import View
from hastega_magic.types import BOOL, FLOAT32

_KINDS = {
    "min": min, "max": max, "reduce_min": min, "reduce_max": max, "argmin": min, "argmax": max,
}  # fmt: skip

FUNCTIONS = {"map", "filter", "zip", "enumerate"}
"""Stages that Python may be asked what their first element is, whatever the source."""

_OTHERS = {"zip", "window", "chunk"}
"""Stages behind which a source's element may be that of another place, or of another source."""

_HEADS = 1, 64, BLOCK
"""Elements of the sources among which it is looked for."""


@dataclass(frozen=True)
class Extreme:
    """What is sought: the least or greatest by `pick`, as a number of that type, or the first such element's number.

    `own`: the elements are those of the first source; otherwise what the stages of these names make of them.
    """

    pick: Callable[[Sequence[Any]], Any]
    type: type[int | float | bool | np.float32]
    numbered: bool
    own: bool
    stages: tuple[str, ...]

    def of(
        self,
        found: Sequence[Any],
        counts: Sequence[int],
        operands: Sequence[Any],
        displays: Sequence[Display],
        view: View | None = None,
    ) -> object:
        """From each block's own and how many elements took part in it; DoesNotFit where that does not tell.

        `view`: which elements of its sources the loop used, if not the first ones.
        """
        live = [each for each, count in zip(found, counts, strict=True) if count]
        if not live:
            raise DoesNotFit
        best = self.pick(live)
        if self.type in (int, bool) and not self.numbered:
            return self.type(best)
        data = operands[0] if view is None else view.of(operands[0])
        first = data[0] if self.own else self._first_made(operands, displays)
        if self.numbered:
            return 0 if first != first else _first(data, best, BLOCK * list(found).index(best))
        if first != first:
            return self.type(first)
        if best == 0 and not self.own:
            raise DoesNotFit
        return self.type(data[_first(data, 0, 0)] if best == 0 else best)

    def _first_made(self, operands: Sequence[Any], displays: Sequence[Display]) -> Any:
        for head in _HEADS:
            for value in made(self.stages, operands, displays, head):
                return value
        raise DoesNotFit


def made(
    stages: Sequence[str], operands: Sequence[Any], displays: Sequence[Display], head: int | None = None
) -> Any:
    """What stages, of those in `FUNCTIONS`, make of the first elements of the sources, or of all, in Python's hands."""
    places = iter(operands)
    values: Any = next(places)[:head]
    for name, (_, args, kwargs) in zip(stages, displays, strict=False):
        given = [next(places)[:head] for _ in args] if name == "zip" else args
        values = python.apply(name, values, given, kwargs)
    return values


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
    raise DoesNotFit


def extreme_of(execution: Execution, output: Output, loop: Loop) -> Extreme | None:
    """What is sought; None where elements would have to be computed for it, or it is something else."""
    kind, type_ = output.sink.kind, flatten(output.value)[0].type
    written = execution.compiled.fused.outputs[0]
    if kind not in _KINDS or written.weights or (kind.startswith("reduce") and type_.is_float):
        return None
    numbered = kind.startswith("arg")
    *stages, _ = (stage.name for stage in loop.bound.site.stages)
    own = output.mask is None and _is_source(output.value, execution) and _OTHERS.isdisjoint(stages)
    if not own and (numbered or (type_.is_float and not FUNCTIONS.issuperset(stages))):
        return None
    found = bool if type_ is BOOL else np.float32 if type_ is FLOAT32 else float if type_.is_float else int
    return Extreme(_KINDS[kind], found, numbered, own, tuple(stages))


def _is_source(value: object, execution: Execution) -> bool:
    """Whether it is an element of a source, and no captured number that the loop is given."""
    if not isinstance(value, Expr) or value.op != "load":
        return False
    return execution.fused.sources[cast(int, value.value)].layout != "scalar"


__all__ = ["FUNCTIONS", "Extreme", "extreme_of", "made"]
