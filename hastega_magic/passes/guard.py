"""Guards: under which condition an element is troublesome, and the variants of the loop that make guards cheap.

    %2 = floordiv 100, %1        guard %1 == 0              (unless %1's range excludes zero)
    %3 = mul %0, %0              guard overflow of %3       (unless its range is within int64)

A node counts only where Python would evaluate it: the demand of a node is the disjunction, over its uses,
of the user's demand
and the select's condition. A loop over an array whose values are unknown gets variants: the first assumes
the widest source
interval in which nothing can overflow, and has no overflow guard; blocks outside it are run by the next
variant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from hastega_magic.errors import BeyondInt64
from hastega_magic.interval import INT64_MAX, Interval
from hastega_magic.ir.expr import Expr, flatten, is_const, leaf, make, postorder
from hastega_magic.ir.fused import Fused
from hastega_magic.ir.kernel import TROUBLE, VIOLATED, Assume, Guard
from hastega_magic.ir.schedule import BLOCK
from hastega_magic.ops import OPS
from hastega_magic.passes.builder import GraphBuilder
from hastega_magic.passes.infer import Leaves, infer
from hastega_magic.passes.modular import SMALL, split_constant
from hastega_magic.passes.simplify import may_raise, simplify_node
from hastega_magic.types import FLOAT32, INT


@dataclass(frozen=True)
class Variant:
    """One body of the loop: what it assumes of the sources, what it checks, and the ranges that then hold."""

    fused: Fused
    assumes: tuple[Assume, ...]
    guards: tuple[Guard, ...]
    ranges: Mapping[Expr, Interval]
    overflow_checked: bool


@dataclass(frozen=True)
class Variants:
    """The loop's bodies, the cheapest first. `proved`: no integer can overflow, whatever the data."""

    bodies: tuple[Variant, ...]
    proved: bool

    @property
    def guarded(self) -> bool:
        """Whether some body checks its integers at run time."""
        return not self.proved


def variants(fused: Fused, leaves: Leaves, mode: str) -> Variants:
    """The bodies for an integer mode ("exact" and "checked" guard overflow, "wrap" does not)."""
    roots = list(fused.roots())
    ranges, overflowing = infer(roots, leaves)
    for node in postorder(roots):
        if is_const(node) and isinstance(node.value, int) and not -(1 << 63) <= node.value < 1 << 63:
            raise BeyondInt64(f"the constant {node.value} does not fit in 64 bits")
    unsigned = [slot for slot, each in enumerate(leaves.sources) if each is not None and not each.fits_int64]
    overflowing = [node for node in overflowing if node.op != "load"]
    if mode == "wrap":
        return Variants((_body(fused, leaves, ranges, (), frozenset()),), True)
    last = tuple(Assume(leaf("load", INT, slot), _INT63, TROUBLE) for slot in unsigned)
    checked = _body(fused, leaves, ranges, last, frozenset(overflowing))
    if not overflowing and not unsigned:
        narrow = _narrow_body(fused, leaves, roots, {})
        return Variants((checked,) if narrow is None else (narrow, checked), True)
    bodies = [checked] if overflowing else []
    safe = _widest(leaves, lambda assumed: not _leaves_int64(infer(roots, leaves, assumed)[1]))
    if safe is not None:
        safe_ranges = infer(roots, leaves, safe)[0]
        bodies.insert(0, _body(fused, leaves, safe_ranges, _assumptions(safe), frozenset()))
        narrow = _narrow_body(fused, leaves, roots, safe)
        if narrow is not None:
            bodies.insert(0, narrow)
    if not bodies or not overflowing:
        bodies.append(checked)
    return Variants(tuple(bodies), False)


_INT63 = Interval(0, (1 << 63) - 1)


def _leaves_int64(overflowing: list[Expr]) -> bool:
    return any(node.op != "load" for node in overflowing)


def _assumptions(assumed: Mapping[int, Interval]) -> tuple[Assume, ...]:
    return tuple(Assume(leaf("load", INT, slot), each, VIOLATED) for slot, each in assumed.items())


def _narrow_body(
    fused: Fused, leaves: Leaves, roots: list[Expr], known: Mapping[int, Interval]
) -> Variant | None:
    """A body for small sources, where that makes divisions cheap, or lets a block's sum fit int64."""
    limits = dict(_narrow_limits(fused, roots))
    needed = [*roots, *limits]

    def fits(ranges: Mapping[Expr, Interval]) -> bool:
        return all(ranges[node].at_most(limit) for node, limit in limits.items())

    if fits(infer(needed, leaves, known)[0]):
        return None

    def small(assumed: Mapping[int, Interval]) -> bool:
        inferred, overflowing = infer(needed, leaves, assumed)
        return not _leaves_int64(overflowing) and fits(inferred)

    assumed = _widest(leaves, small, least=12)
    if assumed is None:
        return None
    return _body(fused, leaves, infer(roots, leaves, assumed)[0], _assumptions(assumed), frozenset())


def _narrow_limits(fused: Fused, roots: list[Expr]) -> Iterator[tuple[Expr, int]]:
    """Nodes that are cheaper to handle up to some magnitude."""
    for node in postorder(roots):
        if node.op in ("mod", "floordiv") and node.type is INT:
            yield _essential(node), SMALL - 1
    for output in fused.outputs:
        value = output.value
        summed = output.sink.kind in ("sum", "mean", "reduce_add")
        if summed and isinstance(value, Expr) and value.op == "mul" and value.type is INT:
            yield value, INT64_MAX // BLOCK


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


def _body(
    fused: Fused,
    leaves: Leaves,
    ranges: Mapping[Expr, Interval],
    assumes: tuple[Assume, ...],
    overflowing: frozenset[Expr],
) -> Variant:
    builder = GraphBuilder(leaves, ranges)
    raising: dict[Expr, bool] = {}
    guards: dict[Expr, str] = {}
    origins = dict(fused.origins)
    interesting = overflowing | {
        node for node in postorder(fused.roots()) if node.op in OPS and may_raise(node, raising)
    }
    for node, demand in demands(fused, interesting).items():
        for condition, reason in _conditions(builder, node, node in overflowing):
            simple = _simplified(
                builder, condition if demand is None else make("and", demand, condition), raising
            )
            if not is_const(simple, False):
                guards.setdefault(simple, reason)
                guarded = dict.fromkeys((*origins.get(simple, ()), *fused.origins.get(node, ())))
                origins[simple] = tuple(guarded)
    return Variant(
        replace(fused, ranges=ranges, origins=origins),
        assumes,
        tuple(Guard(condition, reason) for condition, reason in guards.items()),
        builder.ranges,
        bool(overflowing),
    )


def _simplified(builder: GraphBuilder, condition: Expr, raising: dict[Expr, bool]) -> Expr:
    new: dict[Expr, Expr] = {}
    for node in postorder([condition]):
        args = tuple(new[arg] for arg in node.args)
        rebuilt = node if args == node.args else make(node.op, *args)
        # Operands of guards may raise by themselves (a division under a comparison); their own guards see to that.
        new[node] = simplify_node(rebuilt, builder.range_of, dict.fromkeys(postorder([rebuilt]), False))
    return new[condition]


def _conditions(builder: GraphBuilder, node: Expr, overflows: bool) -> list[tuple[Expr, str]]:
    found: list[tuple[Expr, str]] = []
    if node.op == "gather":
        length = leaf("length", INT, node.args[0].value)
        found.append((make("not", make("ult", node.args[1], length)), "index out of range"))
        return found
    row = OPS.get(node.op)
    if row is None:
        return found
    if row.trouble is not None and not (node.op == "truediv" and node.type is FLOAT32):
        found.append((row.trouble(builder, node.args), f"{row.name} of such operands"))
    if overflows and row.overflow is not None:
        found.append((row.overflow(builder, node.args), f"{row.name} beyond 64 bits"))
    return found


def demands(fused: Fused, interesting: frozenset[Expr] | set[Expr]) -> dict[Expr, Expr | None]:
    """For each interesting node the condition under which Python evaluates it; None: for every element."""
    order = list(postorder(fused.roots()))
    leads_to: set[Expr] = set()
    for node in order:
        if node in interesting or any(arg in leads_to for arg in node.args):
            leads_to.add(node)
    found: dict[Expr, Expr | None] = {}

    def need(node: Expr, condition: Expr | None) -> None:
        if node in leads_to:
            if node not in found:
                found[node] = condition
            elif found[node] is not None:
                known = found[node]
                assert known is not None
                found[node] = (
                    None
                    if condition is None
                    else known
                    if known is condition
                    else make("or", known, condition)
                )

    for node, condition in _needed(fused):
        need(node, condition)
    for node in reversed(order):
        if node not in found:
            continue
        demand = found[node]
        if node.op == "select":
            condition, yes, no = node.args
            need(condition, demand)
            need(yes, _and(demand, condition))
            need(no, _and(demand, make("not", condition)))
        else:
            for arg in node.args:
                need(arg, demand)
    return {node: demand for node, demand in found.items() if node in interesting}


def _needed(fused: Fused) -> Iterator[tuple[Expr, Expr | None]]:
    """The loop's roots, each with the mask under which it is evaluated."""
    for output in fused.outputs:
        if output.mask is not None:
            yield output.mask, None
        for node in flatten(output.value):
            yield node, output.mask
    for effect in fused.effects:
        yield effect.node, effect.mask
        if effect.mask is not None:
            yield effect.mask, None


def _and(demand: Expr | None, condition: Expr) -> Expr:
    return condition if demand is None else make("and", demand, condition)
