"""Two's complement: with `--int wrap`, what may leave 64 bits becomes the machine's own operation.

    %2 = mul %0, %1         %0, %1: int [-2^63, 2^63 - 1]
    %2 = wrapping_mul %0, %1

Their ranges are all of int64, and no rule that holds for Python's integers alone applies to them. The loops of a
function of Python's (`pow(x, 50, p)`, `math.comb`) divide what they have multiplied, and their integers are not the
user's: these keep their checks, so that Python computes the element where one fires, and what such a function gives
wraps around.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from hastega_magic.errors import WideConstant
from hastega_magic.interval import INT64, TOP, Interval
from hastega_magic.ir.expr import Expr, const, flatten, make, map_value, postorder
from hastega_magic.ir.loop import changed, everything, iteration, of_functions
from hastega_magic.ir.pipeline import RUNNING_SINKS, Pipeline, Sink
from hastega_magic.ops import OPS
from hastega_magic.passes.infer import Leaves, exact_range
from hastega_magic.types import BOOL, INT

_SAME_OPERANDS = {"add": "wrapping_add", "sub": "wrapping_sub", "mul": "wrapping_mul", "pow": "wrapping_pow"}


def check(pipelines: Sequence[Pipeline]) -> None:
    """WideConstant where a stage gives a constant beyond 64 bits: behind others it might not be seen any more."""
    for stage in (each for pipeline in pipelines for each in pipeline.stages):
        for node in flatten(stage.fn.result) if stage.fn is not None else ():
            if node.op == "const" and node.type is INT and cast(int, node.value) not in INT64:
                raise WideConstant(f"the constant {node.value} does not fit in 64 bits")


def signed(leaves: Leaves) -> Leaves:
    """The leaves as int64 holds them: unsigned ones beyond 2^63 - 1 are negative."""
    return Leaves(_signed(leaves.sources), _signed(leaves.tables), leaves.index)


def _signed(intervals: tuple[Interval | None, ...]) -> tuple[Interval | None, ...]:
    return tuple(INT64 if each is not None and not each.fits_int64 else each for each in intervals)


def wrapped(roots: Sequence[Expr], leaves: Leaves) -> Mapping[Expr, Expr]:
    """Maps every node below the roots to the one that wraps where it would leave int64."""
    new: dict[Expr, Expr] = {}
    ranges: dict[Expr, Interval] = {}

    def range_of(node: Expr) -> Interval:
        for each in postorder([node]):
            if each not in ranges:
                exact = exact_range(each, [ranges.get(arg, TOP) for arg in each.args], leaves)
                ranges[each] = exact.meet(INT64)
        return ranges[node]

    def leaves_int64(node: Expr) -> bool:
        if not node.args or node.op not in OPS or node.type not in (INT, BOOL):
            return False
        return not exact_range(node, [range_of(arg) for arg in node.args], leaves).fits_int64

    checked = of_functions(roots)
    for node in everything(roots):
        same = changed(node, tuple(new[arg] for arg in node.args), new)
        if node.op == "result" and node.type is INT and _may_leave(node.args[0], leaves_int64):
            same = _as_int64(same)
        elif node not in checked and leaves_int64(same):
            same = _wrapping(same)
        new[node] = same
    return new


def _may_leave(loop: Expr, leaves_int64: Callable[[Expr], bool]) -> bool:
    """Whether it is a loop of a function of Python's with integers that int64 may not hold."""
    body = iteration(loop)
    return body.inner and any(leaves_int64(node) for node in everything(body.roots()))


def running(sink: Sink, leaves: Leaves) -> Sink:
    """The sink with sums, or steps of its function, that wrap around from one element to the next."""
    if sink.kind not in RUNNING_SINKS:
        return sink
    fn = sink.fn
    if fn is not None:
        new = wrapped(fn.roots(), Leaves((), leaves.tables))
        effects = tuple((None if path is None else new[path], new[node]) for path, node in fn.effects)
        fn = replace(fn, result=map_value(new.__getitem__, fn.result), effects=effects)
    return replace(sink, fn=fn, wraps=True)


def _wrapping(node: Expr) -> Expr:
    if node.op in _SAME_OPERANDS:
        return make(_SAME_OPERANDS[node.op], *node.args)
    return _as_int64(node)  # which keeps what the operator may raise


def _as_int64(node: Expr) -> Expr:
    return make("wrapping_add", node, const(0))
