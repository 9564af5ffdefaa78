"""Loops whose integers may leave 64 bits while their results do not need Python for it: the order of what is tried.

    total = sum %1     %1 = mul %0, %0               sums in parts (wide_sums.py)
    n = count where gt %1, 10^20                     values in pairs of words (int128.py)

Where values are paired, the loop as it was written stays for sources so small that nothing overflows (`plain`).
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import replace

from hastega_magic.interval import INT64, Interval
from hastega_magic.ir.expr import Expr, const, is_const, make, map_value, postorder
from hastega_magic.ir.fused import Effect, Fused, Output
from hastega_magic.ir.sinks import EXTREMES, SUMS
from hastega_magic.passes import int128_words, wide_sums
from hastega_magic.passes.exact import exact_ranges
from hastega_magic.passes.infer import Leaves, inference
from hastega_magic.passes.infer_loops import Inference
from hastega_magic.passes.int128 import DIVISIONS, Pairs, is_paired
from hastega_magic.passes.schedule import folds_of
from hastega_magic.records import dataclass
from hastega_magic.types import INT

_TRUTHS = frozenset({"any", "all"})


@dataclass(frozen=True)
class Widened:
    """The loop with such values in another form, and the loop without, where it accumulates alike.

    form: "parts" of sums, "pairs" of words, "remainders" alone of values that are not computed, or "".
    """

    loop: Fused
    plain: Fused | None = None
    form: str = ""


def widened(loop: Fused, leaves: Leaves, found: Inference) -> Widened:
    """`found`: what was inferred of the loop."""
    if not _troubled(loop, found):
        return Widened(loop)
    parts = wide_sums.widened(loop, leaves)
    summed = parts is not loop
    if summed and not _troubled(parts, _inferred(parts, leaves)):
        return Widened(parts, form="parts")
    for written in (parts, loop):  # sums in parts have no limit of 128 bits, but not all sums have parts
        pairs = _pairs_of(written, leaves)
        paired = _paired(written, pairs)
        if not _troubled(paired, _inferred(paired, leaves)):
            plain = _like(paired, written)
            others = "parts" if summed and written is parts else "remainders"
            form = "pairs" if pairs.any_wide else others
            return Widened(paired, plain if folds_of(plain) == folds_of(paired) else None, form)
    return Widened(parts)


def _inferred(loop: Fused, leaves: Leaves) -> Inference:
    return inference(loop.roots(), leaves)


def _troubled(loop: Fused, found: Inference) -> bool:
    """Whether Python must do elements whose integers leave int64."""
    return any(True for _ in _beyond(loop, found.overflowing))


def _beyond(loop: Fused, overflowing: Container[Expr]) -> Iterator[Expr]:
    nodes = list(postorder(loop.roots()))
    as_values = {arg for node in nodes if node.op != "int64_bits" for arg in node.args}
    as_values.update(loop.roots())
    for node in nodes:
        if is_const(node):
            if isinstance(node.value, int) and node.value not in INT64:
                yield node
        elif node in overflowing and (node.op != "load" or node in as_values):
            yield node


def _pairs_of(loop: Fused, leaves: Leaves) -> Pairs:
    roots = list(loop.roots())

    wide: set[Expr] = set()

    def clamped(node: Expr, exact: Interval) -> Interval:
        if node.type is not INT:
            return exact
        short = node.op in DIVISIONS and wide.isdisjoint(node.args)  # one check costs less than a pair
        found = exact if is_paired(node) and not short else exact.meet(INT64)
        if not found.fits_int64:
            wide.add(node)
        return found

    return Pairs(exact_ranges(roots, leaves, _inferred(loop, leaves), clamped))


def _paired(loop: Fused, pairs: Pairs) -> Fused:
    outputs = tuple(_output(each, pairs) for each in loop.outputs)
    effects = tuple(
        Effect(_evaluated(each.node, pairs), None if each.mask is None else pairs.narrow(each.mask))
        for each in loop.effects
    )
    return replace(loop, outputs=outputs, effects=effects)


def _output(output: Output, pairs: Pairs) -> Output:
    mask = None if output.mask is None else pairs.narrow(output.mask)
    value = output.value
    if isinstance(value, Expr) and pairs.is_wide(value):
        if output.sink.kind in SUMS | EXTREMES:
            pair = pairs.pair(value)
            parts = (int128_words.excess(pair), pair.low)
            return replace(output, value=parts, weights=(1 << 64, 1), mask=mask)
        if output.sink.kind in _TRUTHS:
            truth = int128_words.compared("ne", pairs.pair(value), int128_words.of_constant(0))
            return replace(output, value=truth, mask=mask)
        if output.sink.kind == "count":
            return replace(output, value=_evaluated(value, pairs), mask=mask)
    return replace(output, value=map_value(pairs.narrow, value), mask=mask)


def _evaluated(node: Expr, pairs: Pairs) -> Expr:
    """A node that raises what this one raises."""
    return pairs.raw(node).low if pairs.is_wide(node) else pairs.narrow(node)


def _like(paired: Fused, plain: Fused) -> Fused:
    """The loop without pairs, with as many accumulators for each output as the one with them."""
    outputs = tuple(
        replace(old, value=(make("mul_excess", old.value, const(1)), old.value), weights=new.weights)
        if new.weights and not old.weights and isinstance(old.value, Expr)
        else old
        for new, old in zip(paired.outputs, plain.outputs, strict=True)
    )
    return replace(plain, outputs=outputs)
