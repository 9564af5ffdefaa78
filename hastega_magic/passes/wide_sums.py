"""Sums of integers beyond 64 bits: what an element is made of is summed part by part, each part an int64.

    total = sum %1      %1 = mul %0, %0, beyond int64
    total = sum 2^64 · %1 + %2      %1 = mul_excess %0, %0      %2 = wrapping_mul %0, %0

A sum is linear, so that it does not matter what becomes of one element: differences, constant factors and branches are
sums of parts as well, and a product of two parts is two parts. Nothing is left that could overflow.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hastega_magic import interval
from hastega_magic.interval import Interval
from hastega_magic.ir.expr import Expr, const, is_const, make
from hastega_magic.ir.fused import Fused, Output
from hastega_magic.ir.sinks import SUMS
from hastega_magic.passes.infer import Leaves, inference
from hastega_magic.records import dataclass
from hastega_magic.types import INT

_LINEAR = frozenset({"add", "sub", "mul", "neg", "pos", "shl", "select"})
_MOST_PARTS = 8
"""A sum of more is left to checks: they cost less than so many accumulators."""

Parts = dict[Expr, int]
"""Int64 nodes with their weights: what they stand for is the sum of the products."""


class _NoParts(Exception):
    """The value is no sum of few parts."""


def widened(loop: Fused, leaves: Leaves) -> Fused:
    """The loop with the values of sums in parts, where these would leave int64 and the parts do not."""
    outputs = tuple(_widened(output, loop, leaves) for output in loop.outputs)
    return loop if outputs == loop.outputs else replace(loop, outputs=outputs)


def _widened(output: Output, loop: Fused, leaves: Leaves) -> Output:
    value = output.value
    if output.sink.kind not in SUMS or not isinstance(value, Expr) or value.type is not INT:
        return output
    found = inference(loop.roots(), leaves)
    split = _Split(found.ranges, frozenset(found.overflowing))
    if not split.is_wide(value):
        return output
    try:
        parts = split.parts(value)
    except _NoParts:
        return output
    changed = replace(output, value=tuple(parts), weights=tuple(parts.values()))
    others = (changed if each is output else each for each in loop.outputs)
    again = inference(replace(loop, outputs=tuple(others)).roots(), leaves).overflowing
    # If the value is needed by something else as well, its checks stay, and parts would cost more for nothing.
    left = set(again) & {node for node in split.seen if node.op != "load"}
    return output if left or any(part in again for part in parts) else changed


@dataclass
class _Split:
    """Takes values apart. `ranges` are those of all nodes, `overflowing` the nodes that may leave int64."""

    ranges: dict[Expr, Interval]
    overflowing: frozenset[Expr]

    def __post_init__(self) -> None:
        self.seen: dict[Expr, bool] = {}

    def is_wide(self, node: Expr) -> bool:
        """Whether the value may need more than 64 bits, the values that it is made of included."""
        if node not in self.seen:
            terms = node.args[1:] if node.op == "select" else node.args if node.op in _LINEAR else ()
            large = is_const(node) and not self.range_of(node).fits_int64
            wide = [self.is_wide(term) for term in terms if term.type is INT]
            self.seen[node] = large or node in self.overflowing or any(wide)
        return self.seen[node]

    def range_of(self, node: Expr) -> Interval:
        """What an int64 node may be."""
        if is_const(node) and isinstance(node.value, int):
            return interval.point(node.value)
        return self.ranges.get(node, interval.INT64)

    def parts(self, node: Expr) -> Parts:
        """The value's parts; _NoParts where it has none, or too many."""
        found = dict(self._parts(node))
        found = {part: weight for part, weight in found.items() if weight}
        if not 0 < len(found) <= _MOST_PARTS:
            raise _NoParts
        return found

    def _parts(self, node: Expr) -> Parts:
        if is_const(node) and isinstance(node.value, int):
            return {const(1): node.value}
        if not self.is_wide(node):
            return {node: 1}
        match node.op, node.args:
            case "load", _:
                bits = make("int64_bits", node)
                return {bits: 1, make("lshr", bits, const(63)): 1 << 64}
            case "add", (left, right):
                return _sum((1, self.parts(left)), (1, self.parts(right)))
            case "sub", (left, right):
                return _sum((1, self.parts(left)), (-1, self.parts(right)))
            case "neg", (value,):
                return _sum((-1, self.parts(value)))
            case "pos", (value,):
                return self.parts(value)
            case "mul", (left, right):
                return self._product(self.parts(left), self.parts(right))
            case "shl", (value, count) if (
                is_const(count) and isinstance(count.value, int) and count.value >= 0
            ):
                return _sum((1 << count.value, self.parts(value)))
            case "select", (condition, yes, no):
                return _chosen(condition, self.parts(yes), self.parts(no))
            case _:
                raise _NoParts

    def _product(self, left: Parts, right: Parts) -> Parts:
        terms: list[tuple[int, Parts]] = []
        for one, weight in left.items():
            for other, factor in right.items():
                terms.append((weight * factor, dict(self._of_two(one, other))))
        return _sum(*terms)

    def _of_two(self, one: Expr, other: Expr) -> Iterator[tuple[Expr, int]]:
        """The product of two int64 nodes: one part where it fits, else its low 64 bits and what is beyond them."""
        if is_const(one, 1) or is_const(other, 1):
            yield (other if is_const(one, 1) else one), 1
        elif interval.mul(self.range_of(one), self.range_of(other)).fits_int64:
            yield make("mul", one, other), 1
        else:
            yield make("mul_excess", one, other), 1 << 64
            yield make("wrapping_mul", one, other), 1


def _sum(*terms: tuple[int, Parts]) -> Parts:
    found: Parts = {}
    for factor, parts in terms:
        for part, weight in parts.items():
            found[part] = found.get(part, 0) + factor * weight
    return found


def _chosen(condition: Expr, yes: Parts, no: Parts) -> Parts:
    """Parts of one weight share a place; where a side has none, it is 0."""
    found: Parts = {}
    left, right = _by_weight(yes), _by_weight(no)
    for weight in dict.fromkeys((*left, *right)):
        mine, others = left.get(weight, []), right.get(weight, [])
        for place in range(max(len(mine), len(others))):
            pair = (each[place] if place < len(each) else const(0) for each in (mine, others))
            part = make("select", condition, *pair)
            found[part] = found.get(part, 0) + weight
    return found


def _by_weight(parts: Parts) -> dict[int, list[Expr]]:
    found: dict[int, list[Expr]] = {}
    for part, weight in parts.items():
        found.setdefault(weight, []).append(part)
    return found
