"""The number of the smallest or largest of computed elements: a loop over few of them that stores them all.

What blocks leave of such a loop is the element, and not where it is: that would be computed again, by Python.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from hastega_magic.compiler.execute import Execution
from hastega_magic.compiler.fastpath.direct_result import DirectResult, Gather
from hastega_magic.compiler.fastpath.slots import DoesNotFit
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.run import run_loops
from hastega_magic.compiler.statement import Loop
from hastega_magic.compiler.workspace import Workspace
from hastega_magic.errors import NotCompilable
from hastega_magic.ir.fused import Fused
from hastega_magic.records import changed
from hastega_magic.runtime.cpu.direct import MOST
from hastega_magic.runtime.signals import with_signals
from hastega_magic.runtime.sources import AnyArray
from hastega_magic.trace import Trace

_NUMBERED = {"argmin": np.argmin, "argmax": np.argmax}


OFTEN = 8
"""After so many runs the other loop is worth compiling, where each run takes a tenth of what that does."""

Sought = tuple[Execution, Gather]
"""The loop that stores the elements, and what is made of them."""


def is_sought(loop: Loop) -> bool:
    """Whether the loop gives the number of an element of few."""
    fewest = min(each.length for each in loop.pipeline.sources)
    return loop.pipeline.sink.kind in _NUMBERED and fewest <= MOST


def searched(loop: Loop, fused: Fused, workspace: Workspace, options: Options) -> Sought | None:
    """The same loop as it stores its elements, compiled and run; None for other loops.

    `fused`: with the loop's own sources, which the other loop has to have in the same order.
    """
    if not is_sought(loop) or options.int_mode == "wrap":
        return None
    sink = loop.pipeline.sink
    stored = changed(loop, pipeline=changed(loop.pipeline, sink=changed(sink, kind="array")))
    try:
        execution = with_signals(lambda: run_loops([stored], workspace, options, Trace()))
    except NotCompilable:
        return None
    if execution.fell_back or _places(execution.fused) != _places(fused):
        return None
    return execution, _place(_NUMBERED[sink.kind])


def _places(fused: Fused) -> Sequence[tuple[str, int, str]]:
    return [(each.kind, each.key, each.layout) for each in fused.sources]


def _place(pick: Callable[[AnyArray], np.intp]) -> Gather:
    def found(left: DirectResult) -> object:
        (array,) = left.arrays
        if not len(array):
            raise DoesNotFit
        place = int(pick(array))
        if array[place] == array[place]:
            return place
        # NumPy gives the first NaN, which Python keeps only where nothing comes before it.
        if not place:
            return 0
        real = np.flatnonzero(array == array)
        return int(real[pick(array[real])])

    return found


__all__ = ["OFTEN", "Sought", "is_sought", "searched"]
