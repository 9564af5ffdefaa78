"""Guards: under which condition an element is troublesome; `variants.py` makes the bodies that need few of them.

    %2 = floordiv 100, %1        guard %1 == 0              (unless %1's range excludes zero)
    %3 = mul %0, %0              guard overflow of %3       (unless its range is within int64)

A node counts only where Python would evaluate it: the demand of a node is the disjunction, over its uses, of the
user's demand and the select's condition.
"""

from __future__ import annotations

import functools
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from hastega_magic.interval import Interval
from hastega_magic.ir.expr import Expr, const, flatten, is_const, leaf, make, postorder, rebuild
from hastega_magic.ir.fused import Fused
from hastega_magic.ir.kernel import TURN_NEEDS_PYTHON, Assume, Guard
from hastega_magic.ir.loop import Iteration, Leaving, iteration, loops_in, truths
from hastega_magic.ops import OPS
from hastega_magic.passes.builder import GraphBuilder
from hastega_magic.passes.infer import Leaves
from hastega_magic.passes.infer_loops import Inference
from hastega_magic.passes.simplify import may_raise, simplify_node
from hastega_magic.records import dataclass
from hastega_magic.types import FLOAT32, INT


@dataclass(frozen=True)
class Variant:
    """One body of the loop: what it assumes of the sources, what it checks, and the ranges that then hold.

    `troubles`: for inner loops, by tag, when a turn needs Python.
    """

    fused: Fused
    assumes: tuple[Assume, ...]
    guards: tuple[Guard, ...]
    ranges: Mapping[Expr, Interval]
    overflow_checked: bool
    troubles: Mapping[str, Leaving] = field(default_factory=dict[str, Leaving])

    @property
    def guards_overflow(self) -> bool:
        """Whether there is a check that an operation stays within int64, in a turn of an inner loop perhaps."""
        within = bool(self.troubles) and self.overflow_checked
        return within or any(each.reason.endswith(_BEYOND) for each in self.guards)


_BEYOND = "beyond 64 bits"
OPERANDS = "operands of "
"""How the reasons of checks begin that an operator has of its own, before its name."""


def guarded(
    fused: Fused,
    leaves: Leaves,
    found: Inference,
    assumes: tuple[Assume, ...],
    check: Container[Expr] | None = None,
) -> Variant:
    """The body under what was inferred. `check`: operations that are guarded if they may overflow; None: all."""
    overflowing = {
        node for node in found.overflowing if node.op != "load" and (check is None or node in check)
    }
    builder = GraphBuilder(leaves, found.ranges)
    raising: dict[Expr, bool] = {}
    troubles: dict[str, Leaving] = {}

    def guards_of(needed: Iterable[Needed], known: Mapping[Expr, bool]) -> Iterator[tuple[Expr, str, Expr]]:
        """Conditions, simplified, with their reasons and the nodes that they guard."""
        needed = list(needed)
        simplified = {node: const(value) for node, value in known.items()}
        interesting = {
            node
            for node in postorder(root for pair in needed for root in pair if root is not None)
            if node in overflowing or (node.op in OPS and may_raise(node, raising)) or node.op == "turns"
        }
        for node, demand in demands(needed, interesting).items():
            for condition, reason in _conditions(builder, node, node in overflowing):
                wanted = condition if demand is None else make("and", demand, condition)
                simple = _simplified(builder, wanted, simplified)
                if not is_const(simple, False):
                    yield simple, reason, node

    for loop in loops_in(fused.roots()):
        body = iteration(loop)
        if body.tag not in troubles:
            bad = [simple for simple, _, _ in guards_of(_needed_by_turn(body), truths(body))]
            rare = found.room(body)
            held = {leaf: found.limited[leaf] for leaf in body.state if leaf in found.limited}
            limits = [_outside(leaf, interval) for leaf, interval in (rare or held).items()]
            bad += [] if rare else limits
            troubles[body.tag] = Leaving(_either(bad), _either(limits) if rare else None)
    guards: dict[Expr, str] = {}
    origins = dict(fused.origins)
    for simple, reason, node in guards_of(_needed(fused), {}):
        guards.setdefault(simple, reason)
        guarded = dict.fromkeys((*origins.get(simple, ()), *fused.origins.get(node, ())))
        origins[simple] = tuple(guarded)
    return Variant(
        replace(fused, ranges=found.ranges, origins=origins),
        assumes,
        tuple(Guard(condition, reason) for condition, reason in guards.items()),
        builder.ranges,
        bool(overflowing),
        troubles,
    )


class _Harmless(dict[Expr, bool]):
    """Operands of guards may raise by themselves (a division under a comparison); their own guards see to that."""

    def __contains__(self, node: object) -> bool:
        return True

    def __missing__(self, node: Expr) -> bool:
        return False


_HARMLESS = _Harmless()


def _either(conditions: Iterable[Expr]) -> Expr | None:
    found = list(dict.fromkeys(conditions))
    return functools.reduce(lambda a, b: make("or", a, b), found) if found else None


def _outside(node: Expr, interval: Interval) -> Expr:
    """Whether a value, of which int64 is all that is known, is not in the interval."""
    assert interval.lo is not None
    assert interval.hi is not None
    above = make("gt", node, const(interval.hi))
    return above if interval.lo >= 0 else make("or", above, make("lt", node, const(interval.lo)))


def _simplified(builder: GraphBuilder, condition: Expr, new: dict[Expr, Expr]) -> Expr:
    """The condition in simpler nodes; `new` holds those known from earlier ones."""
    for node in postorder([condition], new):
        args = tuple(new[arg] for arg in node.args)
        rebuilt = rebuild(node, args)
        new[node] = simplify_node(rebuilt, builder.range_of, _HARMLESS)
    return new[condition]


def _conditions(builder: GraphBuilder, node: Expr, overflows: bool) -> list[tuple[Expr, str]]:
    found: list[tuple[Expr, str]] = []
    if node.op == "gather":
        length = leaf("length", INT, node.args[0].value)
        found.append((make("not", make("ult", node.args[1], length)), "indices out of range"))
        return found
    if node.op == "turns":
        return [(node, TURN_NEEDS_PYTHON)]
    row = OPS.get(node.op)
    if row is None:
        return found
    if row.trouble is not None and not (node.op == "truediv" and node.type is FLOAT32):
        found.append((row.trouble(builder, node.args), row.reason or f"{OPERANDS}`{row.as_written}`"))
    if overflows and row.overflow is not None:
        found.append((row.overflow(builder, node.args), f"`{row.as_written}` {_BEYOND}"))
    return found


Needed = tuple[Expr, Expr | None]
"""A node, and the condition under which Python evaluates it (None: always)."""


def demands(needed: Sequence[Needed], interesting: Container[Expr]) -> dict[Expr, Expr | None]:
    """For each interesting node the condition under which Python evaluates it; None: for every element."""
    order = list(postorder(root for pair in needed for root in pair if root is not None))
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

    for node, condition in needed:
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


def _needed(fused: Fused) -> Iterator[Needed]:
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


def _needed_by_turn(body: Iteration) -> Iterator[Needed]:
    """What a turn of a loop evaluates, given that there is one."""
    for node in body.step:
        yield node, None
    for condition, node in body.effects:
        yield node, condition
        if condition is not None:
            yield condition, None


def _and(demand: Expr | None, condition: Expr) -> Expr:
    return condition if demand is None else make("and", demand, condition)
