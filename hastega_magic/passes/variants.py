"""Variants of a loop: bodies for narrower assumptions on the sources, each cheaper than the one behind it.

    %2 = mul %0, %0    %0: any int64       [-2^31, 2^31)  no check;     any  overflow of %2 guarded

A loop over an array whose values are unknown gets up to four bodies. The first assumes the widest source interval in
which divisions are cheap, the next the widest in which nothing can overflow; blocks outside are run by the next body.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from hastega_magic.errors import WideConstant
from hastega_magic.interval import INT64_MAX, NOT_NEGATIVE, Interval
from hastega_magic.ir.expr import Expr, flatten, is_const, leaf
from hastega_magic.ir.fused import Fused
from hastega_magic.ir.kernel import TROUBLE, VIOLATED, Assume
from hastega_magic.ir.loop import everything, iteration, loops_in, of_functions
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.ops import OPS
from hastega_magic.ops.convert import EXACT_FLOAT
from hastega_magic.ops.integer_division import EXACT
from hastega_magic.passes.guard import Variant, guarded
from hastega_magic.passes.infer import Leaves, inference
from hastega_magic.passes.infer_loops import Inference
from hastega_magic.passes.modular import SMALL
from hastega_magic.passes.residues import split_constant
from hastega_magic.records import dataclass
from hastega_magic.types import INT


@dataclass(frozen=True)
class Variants:
    """The loop's bodies, the cheapest first. `fits`: no int64 can overflow, whatever the data.

    `ordered`: the last body computes floats in another order than the others, and is there for data that need it.
    """

    bodies: tuple[Variant, ...]
    fits: bool
    ordered: bool = False

    @property
    def proved(self) -> bool:
        """Whether no integer needs a check at run time."""
        return self.fits and not any(map(is_held, self.bodies))


def is_held(body: Variant) -> bool:
    """Whether the body checks at run time that pairs of words hold its integers."""
    return any(guard.reason == OPS["held128"].reason for guard in body.guards)


def variants(fused: Fused, leaves: Leaves, mode: str) -> Variants:
    """The bodies for an integer mode ("wrap" guards the overflow in loops of functions of Python's alone)."""
    roots = list(fused.roots())
    steps = [root for each in fused.outputs if each.sink.fn is not None for root in each.sink.fn.roots()]
    for node in everything([*roots, *steps]):
        if is_const(node) and isinstance(node.value, int) and not -(1 << 63) <= node.value < 1 << 63:
            raise WideConstant(f"the constant {node.value} does not fit in 64 bits")
    if mode == "wrap":
        body = guarded(fused, leaves, _Analysis(roots, leaves)(), (), check=of_functions(roots))
        return Variants((body,), not body.overflow_checked)
    infer = _Analysis(roots, leaves)
    infer.limit = _state_limit(infer)
    found = infer()
    read = _read_as_int64(roots)
    unsigned = [
        slot
        for slot, each in enumerate(leaves.sources)
        if each is not None and not each.fits_int64 and slot in read
    ]
    overflowing = _leaves_int64(found)
    last = tuple(Assume(leaf("load", INT, slot), NOT_NEGATIVE, TROUBLE) for slot in unsigned)
    checked = guarded(fused, leaves, found, last)
    if not overflowing and not unsigned:
        cheap = [
            _narrow_body(fused, leaves, infer, {}),
            _narrow_body(fused, leaves, infer, {}, dict(_excesses(fused))),
            _positive_body(fused, leaves, infer),
        ]
        return Variants((*(body for body in cheap if body is not None), checked), not found.limited)
    bodies = [checked] if overflowing else []
    safe = _widest(leaves, lambda assumed: not _leaves_int64(infer(assumed)))
    if safe is not None:
        bodies.insert(0, guarded(fused, leaves, infer(safe), _assumptions(safe), check=()))
        narrow = _narrow_body(fused, leaves, infer, safe)
        if narrow is not None:
            bodies.insert(0, narrow)
    if not bodies or not overflowing:
        bodies.append(checked)
    return Variants(tuple(bodies), False)


@dataclass
class _Analysis:
    """Inference over the loop's roots. `limit`: what loops inside it hold their state within."""

    roots: list[Expr]
    leaves: Leaves
    limit: int | None = None

    def __call__(self, assumed: Mapping[int, Interval] | None = None, more: Iterable[Expr] = ()) -> Inference:
        """Ranges under assumptions on sources, also of `more` nodes."""
        return inference([*self.roots, *more], self.leaves, assumed, self.limit)


def _state_limit(infer: _Analysis) -> int | None:
    """The widest limit on the state of loops under which no turn overflows: one comparison instead of many checks."""
    inside = set(everything(root for loop in loops_in(infer.roots) for root in iteration(loop).roots()))
    if not inside or not any(node in inside for node in infer().overflowing):
        return None

    def good(bits: int) -> bool:
        return not any(node in inside for node in replace(infer, limit=(1 << bits) - 1)().overflowing)

    low, high = _FEWEST_BITS - 1, 63  # good at low, if that is enough, and not good at high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if good(middle) else (low, middle)
    return (1 << low) - 1 if low >= _FEWEST_BITS else None


def _read_as_int64(roots: list[Expr]) -> set[object]:
    """Sources whose elements are used as values of int64, not only for their bits."""
    users = [node for node in everything(roots) if node.op != "int64_bits"]
    return {
        node.value for node in (*roots, *(arg for user in users for arg in user.args)) if node.op == "load"
    }


_FEWEST_BITS = 16
"""A loop's state is not held within less."""


def _leaves_int64(found: Inference) -> bool:
    return any(node.op != "load" for node in found.overflowing)


def _assumptions(assumed: Mapping[int, Interval]) -> tuple[Assume, ...]:
    return tuple(Assume(leaf("load", INT, slot), each, VIOLATED) for slot, each in assumed.items())


def _narrow_body(
    fused: Fused,
    leaves: Leaves,
    infer: _Analysis,
    known: Mapping[int, Interval],
    limits: Mapping[Expr, int] | None = None,
) -> Variant | None:
    """A body for small sources, where that makes divisions cheap, or lets a block's sum fit int64.

    `limits`: of which nodes the magnitude is to be at most what, if not for these reasons.
    """
    limits = dict(_narrow_limits(fused, infer.roots)) if limits is None else limits

    def fits(found: Inference) -> bool:
        return all(found.ranges[node].at_most(limit) for node, limit in limits.items())

    if fits(infer(known, limits)):
        return None

    def small(assumed: Mapping[int, Interval]) -> bool:
        found = infer(assumed, limits)
        return not _leaves_int64(found) and fits(found)

    assumed = _widest(leaves, small, least=12)
    if assumed is None:
        return None
    return guarded(fused, leaves, infer(assumed), _assumptions(assumed), check=())


def _positive_body(fused: Fused, leaves: Leaves, infer: _Analysis) -> Variant | None:
    """A body for sources that are not negative, where divisions are of 64 bits and signs would cost a third more."""
    divisions = [
        node
        for node in everything(infer.roots)
        if node.op in ("mod", "floordiv") and node.type is INT and not is_const(node.args[1])
    ]
    signed = {
        slot: NOT_NEGATIVE
        for slot, each in enumerate(leaves.sources)
        if each is not None and each.lo is not None and each.lo < 0 and not each.at_most(EXACT)
    }
    if not divisions or not signed:
        return None
    found = infer(signed)
    better = any(
        found.ranges[arg].within(NOT_NEGATIVE) and not found.ranges[arg].at_most(EXACT)
        for node in divisions
        for arg in node.args
    )
    if not better or _leaves_int64(found):
        return None
    return guarded(fused, leaves, found, _assumptions(signed), check=())


def _narrow_limits(fused: Fused, roots: list[Expr]) -> Iterator[tuple[Expr, int]]:
    """Nodes that are cheaper to handle up to some magnitude."""
    for node in everything(roots):
        if node.op in ("mod", "floordiv") and node.type is INT:
            yield _essential(node), (SMALL if is_const(node.args[1]) else EXACT + 1) - 1
        elif node.op == "int_truediv":
            yield node.args[0], EXACT_FLOAT
    for output in fused.outputs:
        value = output.value
        summed = output.sink.kind in ("sum", "mean", "reduce_add")
        if summed and isinstance(value, Expr) and value.op == "mul" and value.type is INT:
            yield value, INT64_MAX // BLOCK
        for part in flatten(value) if output.weights else ():
            if part.op in ("mul", "wrapping_mul"):
                yield part, INT64_MAX // BLOCK


def _excesses(fused: Fused) -> Iterator[tuple[Expr, int]]:
    """What products have beyond 64 bits: nothing is to be added up where that is nothing."""
    for node in everything(fused.roots()):
        if node.op == "mul_excess":
            yield node, 0


def _essential(division: Expr) -> Expr:
    """What must be small for a cheap division: k · x % p only needs x and k · p to be."""
    dividend, divisor = division.args
    factor, rest = split_constant(dividend)
    modulus = divisor.value
    if (
        division.op == "mod"
        and rest is not None
        and is_const(divisor)
        and isinstance(modulus, int)
        and modulus > 0
    ):
        return rest if (factor % modulus) * modulus < SMALL else dividend
    return dividend


def _widest(
    leaves: Leaves, good: Callable[[Mapping[int, Interval]], bool], least: int = 1
) -> dict[int, Interval] | None:
    """The widest power-of-two interval for all unbounded integer sources at once for which `good` holds."""
    slots = [
        slot for slot, each in enumerate(leaves.sources) if each is not None and not each.at_most(1 << 16)
    ]
    if not slots:
        return None

    def assumed(bits: int, signed: bool) -> dict[int, Interval]:
        found: dict[int, Interval] = {}
        for slot in slots:
            own = leaves.sources[slot]
            assert own is not None
            low = -(1 << bits) if signed and own.lo is not None and own.lo < 0 else 0
            each = Interval(low, (1 << bits) - 1)
            if not own.within(each):
                found[slot] = each
        return found

    def search(signed: bool) -> int:
        low, high = 0, 64  # good at low, not good at high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if good(assumed(middle, signed)) else (low, middle)
        return low

    signed_bits = search(signed=True)
    positive_bits = search(signed=False)
    if max(signed_bits, positive_bits) < least:
        return None
    return assumed(signed_bits, True) if signed_bits >= positive_bits - 1 else assumed(positive_bits, False)
