"""What running values compute from one element to the next, in the last form of a loop: steps, factors, products."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import cast

from hastega_magic.ir.expr import Expr, Value, const, flatten, leaf, make
from hastega_magic.ir.fused import Effect, Fused, Output, slots_of
from hastega_magic.ir.kernel import Accumulate, Factor, Product, Statement, Step, Store
from hastega_magic.ir.pipeline import Fn, Sink
from hastega_magic.ir.target import Target
from hastega_magic.passes.guard import Variant
from hastega_magic.passes.infer import Leaves
from hastega_magic.passes.lower import lower
from hastega_magic.passes.variants import variants
from hastega_magic.types import INT


def stepping(statement: Statement, fused: Fused, leaves: Leaves, target: Target) -> Statement:
    """A statement with what a step from one element to the next computes, where that is more than an operator.

    Of running values, devices store the elements, and the CPU does the rest.
    """
    if isinstance(statement, Accumulate) and statement.kind == "mul" and statement.value.type is INT:
        return replace(statement, product=_product(target))
    if not isinstance(statement, Store) or not statement.running:
        return statement
    if target.spelling == "opencl":
        return replace(statement, running="")
    slot = 0
    for output in fused.outputs:
        part, slots = statement.slot - slot, slots_of(output)
        if 0 <= part < slots and output.sink.wraps:
            statement = replace(statement, wraps=True)
        if 0 <= part < slots and output.sink.fn is not None:
            return replace(statement, step=_step(output, fused, leaves, target), part=part)
        if 0 <= part < slots and output.sink.factor is not None:
            factor = _factor(output, output.sink.factor, fused, leaves, target)
            return replace(statement, factor=replace(factor, doubtful=output.sink.doubtful))
        slot += slots
    return statement


def carried_fit(fused: Fused, leaves: Leaves) -> bool:
    """Whether no integer that goes from one element to the next is checked for leaving int64."""
    for output in fused.outputs:
        if (
            output.sink.kind == "cumsum"
            and not output.sink.wraps
            and any(node.type is INT for node in flatten(output.value))
        ):
            return False
        if output.sink.kind in ("scan", "fold"):
            fn = output.sink.fn
            assert fn is not None
            if _alone(fn, fused, Leaves((), leaves.tables)).guards_overflow:
                return False
    return True


def _alone(fn: Fn, fused: Fused, leaves: Leaves) -> Variant:
    """A step without the loop around it: whatever the value so far and the element are."""
    effects = tuple(Effect(node, condition) for condition, node in fn.effects)
    alone = Fused((), fused.tables, (Output("", Sink("array"), fn.result),), effects)
    return variants(alone, leaves, "exact").bodies[-1]


def _lowered(
    fn: Fn, fused: Fused, leaves: Leaves, target: Target
) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
    """A function's results over single values, and when Python must compute them."""
    own = Leaves((), leaves.tables)
    variant = _alone(fn, fused, own)
    results, guards = flatten(fn.result), [guard.condition for guard in variant.guards]
    found = lower(
        [*results, *guards], own, variant.ranges, target, 1, variant.troubles, guards=guards, serial=True
    )
    return tuple(found.nodes[node] for node in results), tuple(found.nodes[node] for node in guards)


def _slots(output: Output) -> tuple[tuple[Expr, int], ...]:
    """Captured numbers, as leaves, and the slots of the sources that hold them."""
    return tuple((leaf, cast(int, load.value)) for leaf, load in output.given)


def _step(output: Output, fused: Fused, leaves: Leaves, target: Target) -> Step:
    fn = output.sink.fn
    assert fn is not None
    results, guards = _lowered(fn, fused, leaves, target)
    total, element = cast("tuple[Value, Value]", fn.params)
    init = () if output.init is None else tuple(cast(int, node.value) for node in flatten(output.init))
    return Step(flatten(total), flatten(element), results, guards, init, _slots(output))


def _factor(output: Output, value: Expr, fused: Fused, leaves: Leaves, target: Target) -> Factor:
    if value.op == "const":
        return Factor(value)
    (found,), guards = _lowered(Fn((), value), fused, leaves, target)
    return Factor(found, guards, _slots(output))


@cache
def _product(target: Target) -> Product:
    low, excess, factor = (leaf("param", INT, number) for number in range(3))
    so_far = make("add", make("mul", make("int_to_float", excess), const(2.0**64)), make("int_to_float", low))
    size = make("fabs", make("mul", so_far, make("int_to_float", factor)))
    nodes = [
        make("wrapping_mul", low, factor),
        make("wrapping_add", make("wrapping_mul", excess, factor), make("mul_excess", low, factor)),
        make("ge", size, const(2.0**127 * (1 - 2.0**-40))),  # what is computed here errs by far less
    ]
    found = lower(nodes, Leaves(()), {}, target)
    return Product(low, excess, factor, *(found.nodes[node] for node in nodes))
