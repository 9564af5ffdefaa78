"""Running sums of floats one element after the other, for results that are not finite.

What overflows in rows need not in order, and the other way round: (-1e308, 1e308, 1e308) comes to 1e308, and the last
two to infinity.
"""

from __future__ import annotations

import itertools
from dataclasses import replace

from hastega_magic.ir.expr import const, flatten, leaf, make, map_value
from hastega_magic.ir.fused import Fused, Output
from hastega_magic.ir.pipeline import Fn, Sink


def in_order(loop: Fused) -> Fused:
    """The loop with `scan` for its running sums of floats; the loop itself where it has none."""
    outputs = tuple(map(_scanned, loop.outputs))
    return loop if outputs == loop.outputs else replace(loop, outputs=outputs)


def _scanned(output: Output) -> Output:
    sink = output.sink
    if sink.kind != "cumsum" or not flatten(output.value)[0].type.is_float:
        return output
    # A sum begins with 0: a first element of -0.0 becomes 0.0.
    value = map_value(lambda node: make("add", node, const(0.0, node.type)), output.value)
    numbers = itertools.count()
    total, element = (
        map_value(lambda node: leaf("param", node.type, next(numbers)), value) for _ in range(2)
    )
    sums = iter([make("add", *pair) for pair in zip(flatten(total), flatten(element), strict=True)])
    fn = Fn((total, element), map_value(lambda _: next(sums), value), (), sink.text, sink.span)
    return replace(output, value=value, sink=Sink("scan", sink.text, sink.span, fn=fn))
