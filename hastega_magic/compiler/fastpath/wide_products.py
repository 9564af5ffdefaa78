"""`xs |> prod` where the product needs more than 128 bits: multiplied here from the elements, without a full run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hastega_magic.compiler.execute import Execution
from hastega_magic.compiler.options import Options
from hastega_magic.compiler.statement import Loop
from hastega_magic.ir.fused import is_product
from hastega_magic.runtime.results import product
from hastega_magic.syntax.loops.loop import View

Beyond = Callable[[Any, int, "View | None"], "int | None"]
"""From the source, how many of its elements there are and which to the value; None where that is not known so."""


def product_beyond(execution: Execution, options: Options, loop: Loop) -> Beyond | None:
    """How such a product is found; None where stages make the elements, of which Python has to be told more."""
    (output,) = execution.fused.outputs
    if options.int_mode != "exact" or loop.pipeline.stages or not is_product(output):
        return None
    initial: tuple[Any, ...] = loop.built.initial

    def found(source: Any, length: int, view: View | None) -> int | None:
        data = (source if view is None else view.of(source))[:length]
        values = data.tolist() if isinstance(data, np.ndarray) else data
        if {*map(type, values)} != {int}:  # numbers of NumPy's wrap around
            return None
        value = 0 if 0 in values else product(values)
        return initial[0] * value if initial else value

    return found


__all__ = ["Beyond", "product_beyond"]
